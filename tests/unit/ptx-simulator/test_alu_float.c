// SPDX-License-Identifier: Apache-2.0
// Float arithmetic. Oracles: for f32 and f64 the processor's own operations in each rounding mode,
// for f16 and bf16 exact sums and products in 113 digits, rounded by search.
#include "alu_eval.h"
#include "round_oracle.h"
#include "suites.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>

static uint64_t state;
static uint64_t random_bits(void) { // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static void seed_random(void) { state = 14; }

static float as_float(uint64_t x) {
  uint32_t bits = (uint32_t)x;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static uint32_t bits32(float f) {
  uint32_t x;
  memcpy(&x, &f, sizeof x);
  return isnan(f) ? 0x7fffffff : x;
}
static double as_double(uint64_t x) {
  double d;
  memcpy(&d, &x, sizeof d);
  return d;
}
static uint64_t bits64(double d) {
  uint64_t x;
  memcpy(&x, &d, sizeof x);
  return isnan(d) ? 0xfff8000000000000 : x;
}

static const struct {
  const char *name;
  int direction;
} modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// ---- f32 and f64 ----

// Random bits; every other time with close exponents, so that digits overlap and cancel.
static uint64_t operand(unsigned bits, uint64_t other) {
  static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1,
                                     0x807fffff, 0x00800000, 0x7f7fffff, 0x3f800000, 0xbf800000};
  uint64_t x = random_bits();
  if (x % 16 == 0 && bits == 32)
    return special[x / 16 % COUNT_OF(special)];
  if (x % 16 == 1 && bits == 64)
    return bits64((double)as_float(special[x / 16 % COUNT_OF(special)]));
  unsigned mantissa = bits == 32 ? 23 : 52;
  if (x & 16)
    x = (other & ~(((uint64_t)1 << mantissa) - 1)) + (x >> (64 - mantissa)) +
        (x / 64 % 5 << mantissa);
  if (x & 32)
    x ^= (uint64_t)1 << (bits - 1);
  return bits == 32 ? (uint32_t)x : x;
}

static float op32(unsigned op, float x, float y, float z) {
  volatile float a = x, b = y, c = z, r;
  switch (op) {
  case 0: r = a + b; break;
  case 1: r = a - b; break;
  case 2: r = a * b; break;
  case 3: r = a / b; break;
  case 4: r = fmaf(a, b, c); break;
  case 5: r = sqrtf(a); break;
  default: r = 1.0f / a;
  }
  return r;
}
static double op64(unsigned op, double x, double y, double z) {
  volatile double a = x, b = y, c = z, r;
  switch (op) {
  case 0: r = a + b; break;
  case 1: r = a - b; break;
  case 2: r = a * b; break;
  case 3: r = a / b; break;
  case 4: r = fma(a, b, c); break;
  case 5: r = sqrt(a); break;
  default: r = 1.0 / a;
  }
  return r;
}
static const char *const names[] = {"add", "sub", "mul", "div", "fma", "sqrt", "rcp"};

START_TEST(rounded_in_all_directions) {
  unsigned op = (unsigned)_i / 4, mode = (unsigned)_i % 4;
  char opcode[20];
  for (unsigned bits = 32; bits <= 64; bits += 32) {
    snprintf(opcode, sizeof opcode, "%s.%s.f%u", names[op], modes[mode].name, bits);
    struct alu_instruction in = alu_get(opcode);
    for (unsigned i = 0; i < 4000; i++) {
      uint64_t s[3], r[1], expected;
      s[0] = operand(bits, random_bits());
      s[1] = operand(bits, s[0]);
      s[2] = operand(bits, i & 1 ? s[0] : random_bits());
      if (op == 4 && i % 3 == 0) // the sum nearly cancels
        s[2] = bits == 32 ? bits32(-(as_float(s[0]) * as_float(s[1])))
                          : bits64(-(as_double(s[0]) * as_double(s[1])));
      fesetround(modes[mode].direction);
      expected = bits == 32 ? bits32(op32(op, as_float(s[0]), as_float(s[1]), as_float(s[2])))
                            : bits64(op64(op, as_double(s[0]), as_double(s[1]), as_double(s[2])));
      fesetround(FE_TONEAREST);
      in.run(&in, s, r);
      if (r[0] != expected)
        ck_abort_msg("%s %lx %lx %lx: %lx, not %lx", opcode, s[0], s[1], s[2], r[0], expected);
    }
  }
}
END_TEST

// Quotients and roots that are closer to a number of 53 digits than 2^-100: what decides their
// rounding is far beyond the digits that a division keeps.
__extension__ typedef unsigned __int128 wide;

// a / b = r / 2^53 + 1 / (b 2^53), with odd b and r of at most 53 digits.
static void near_quotient(uint64_t *a, uint64_t *b) {
  const uint64_t mask = ((uint64_t)1 << 53) - 1;
  uint64_t divisor = (random_bits() & mask) | 1 | (uint64_t)1 << 52, inverse = divisor;
  for (unsigned i = 0; i < 6; i++) // Newton, modulo 2^64
    inverse *= 2 - divisor * inverse;
  uint64_t r = -inverse & mask;
  *a = bits64((double)(uint64_t)(((wide)r * divisor + 1) >> 53));
  *b = bits64((double)divisor);
}

// (m^2 + 7) / 2^52 is an integer for four m below 2^53: the root is a little above m.
static unsigned near_roots(uint64_t *x) {
  uint64_t k = 1;
  for (unsigned bit = 3; bit < 54; bit++) // a root of -7 modulo 2^(bit + 1)
    if ((k * k + 7) >> bit & 1)
      k |= (uint64_t)1 << (bit - 1);
  unsigned count = 0;
  for (unsigned i = 0; i < 4; i++) {
    uint64_t digits = (i & 1 ? -k : k) + (i & 2 ? (uint64_t)1 << 51 : 0);
    wide m = (digits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52, square = (m * m + 7) >> 52;
    if (square >> 53 == 0)
      x[count++] = bits64((double)(uint64_t)square * 0x1p52);
  }
  return count;
}

START_TEST(nearly_exact) {
  char opcode[20];
  uint64_t s[2] = {0}, r[1], roots[4], expected;
  unsigned count = near_roots(roots);
  ck_assert_uint_gt(count, 0);
  for (unsigned mode = 0; mode < 4; mode++)
    for (unsigned i = 0; i < 100; i++) {
      bool divides = i >= count;
      snprintf(opcode, sizeof opcode, "%s.%s.f64", divides ? "div" : "sqrt", modes[mode].name);
      struct alu_instruction in = alu_get(opcode);
      if (divides)
        near_quotient(&s[0], &s[1]);
      else
        s[0] = roots[i];
      fesetround(modes[mode].direction);
      expected = bits64(op64(divides ? 3 : 5, as_double(s[0]), as_double(s[1]), 0));
      fesetround(FE_TONEAREST);
      in.run(&in, s, r);
      AGREE(r[0], expected);
    }
}
END_TEST

START_TEST(flush_and_saturate) {
  const uint64_t tiny = 1, smallest = 0x00800000, one = 0x3f800000, two = 0x40000000;
  const uint64_t minus = 0x80000000, nan = 0x7fc00001;
  AGREE(alu_run2("add.f32", tiny, tiny), 2);
  AGREE(alu_run2("add.ftz.f32", tiny, tiny), 0);
  AGREE(alu_run2("mul.ftz.f32", smallest | minus, 0x3f000000), minus);
  AGREE(alu_run2("mul.rz.ftz.f32", smallest | minus, 0x3f000000), minus);
  AGREE(alu_run2("sub.ftz.f32", smallest + 1, smallest), 0);
  AGREE(alu_run3("fma.rp.ftz.f32", tiny, two, tiny), 0);
  AGREE(alu_run3("fma.rn.ftz.sat.f32", one, two, minus), one);
  AGREE(alu_run2("add.sat.f32", one | minus, 0), 0);
  AGREE(alu_run2("mul.sat.f32", minus, one), 0);
  AGREE(alu_run2("add.sat.f32", nan, one), 0);
  AGREE(alu_run2("add.rn.sat.f32", 0x3f000000, 0), 0x3f000000);
  AGREE(alu_run2("add.f32", nan, one), 0x7fffffff);
  AGREE(alu_run2("add.f16", 0x7c00, 0xfc00), 0x7fff);
  AGREE(alu_run2("mul.bf16", 0x7f80, 0), 0x7fff);
  AGREE(alu_run2("add.ftz.f16", 0x8001, 0), 0);
  AGREE(alu_run2("mul.ftz.f16", 0x8401, 0x3800), 0x8000);
  AGREE(alu_run3("fma.rn.relu.f16", 0xbc00, 0x3c00, 0), 0);
  AGREE(alu_run3("fma.rn.relu.bf16", 0x7fc0, 0x3f80, 0), 0x7fff);
  AGREE(alu_run3("fma.rn.sat.f16", 0x4000, 0x4000, 0), 0x3c00);
  AGREE(alu_run2("add.rm.f32", one, one | minus), minus); // exact zero
  AGREE(alu_run2("add.rz.f32", one, one | minus), 0);
}
END_TEST

// ---- f16 and bf16 ----

static const struct half {
  const char *name;
  unsigned exponent_bits, mantissa_bits;
} half_types[] = {{"f16", 5, 10}, {"bf16", 8, 7}};

// Finite; of bf16 within 2^-40 .. 2^40 so that 113 digits hold every sum of a product.
static uint64_t finite_half(const struct half *h) {
  for (;;) {
    uint64_t x = random_bits() & 0xffff,
             exponent = x >> h->mantissa_bits & ((1u << h->exponent_bits) - 1);
    if (h->exponent_bits == 5 ? exponent != 31 : exponent > 127 - 25 && exponent < 127 + 25)
      return x;
  }
}

START_TEST(half_precision_is_rounded_once) {
  const struct half *h = &half_types[_i];
  struct oracle o = oracle_make(h->exponent_bits, h->mantissa_bits, true);
  static const char *const ops[] = {"add", "sub", "mul", "fma.rn"};
  char opcode[20], pair[20];
  for (unsigned op = 0; op < 4; op++) {
    snprintf(opcode, sizeof opcode, "%s.%s", ops[op], h->name);
    snprintf(pair, sizeof pair, "%s.%sx2", ops[op], h->name);
    struct alu_instruction in = alu_get(opcode), two = alu_get(pair);
    for (unsigned i = 0; i < 20000; i++) {
      uint64_t s[3] = {finite_half(h), finite_half(h), finite_half(h)}, r[1], both[3], packed[1];
      if (op == 3 && i & 1) // near the product
        s[2] = oracle_round(
            &o, -(quad)oracle_value(&o, (uint32_t)s[0]) * (quad)oracle_value(&o, (uint32_t)s[1]),
            MODE_RN);
      quad a = (quad)oracle_value(&o, (uint32_t)s[0]), b = (quad)oracle_value(&o, (uint32_t)s[1]);
      if (op == 3 && s[2] % 0x8000 >= o.count)
        continue;
      quad exact = op == 0   ? a + b
                   : op == 1 ? a - b
                   : op == 2 ? a * b
                             : a * b + (quad)oracle_value(&o, (uint32_t)s[2]);
      in.run(&in, s, r);
      uint32_t expected = oracle_round(&o, exact, MODE_RN);
      if (exact == 0) // its sign has a test of its own
        AGREE(r[0] & 0x7fff, 0);
      else if (r[0] != expected)
        ck_abort_msg("%s %lx %lx %lx: %lx, not %x", opcode, s[0], s[1], s[2], r[0], expected);
      for (unsigned k = 0; k < 3; k++)
        both[k] = s[k] << 16 | s[(k + 1) % 3];
      if (op < 3) { // lower: s1 op s2, upper: s0 op s1
        uint64_t lower[3] = {s[1], s[2]}, low[1];
        in.run(&in, lower, low);
        two.run(&two, both, packed);
        AGREE(packed[0], r[0] << 16 | low[0]);
      }
    }
  }
  oracle_free(&o);
}
END_TEST

START_TEST(mixed_types) {
  // 1 + 2^-20 does not fit f16 or bf16: the sum is computed in f32.
  AGREE(alu_run2("add.f32.f16", 0x3c00, bits32(0x1p-20f)), bits32(1 + 0x1p-20f));
  AGREE(alu_run2("sub.f32.bf16", 0x3f80, bits32(0x1p-20f)), bits32(1 - 0x1p-20f));
  AGREE(alu_run3("fma.rn.f32.bf16", 0x3f81, 0x3f81, bits32(-1)),
        bits32(fmaf(0x1.02p0f, 0x1.02p0f, -1)));
}
END_TEST

// ---- order, signs, comparisons ----

START_TEST(order) {
  const uint64_t one = 0x3f800000, two = 0x40000000, nan = 0x7fc00000, minus = 0x80000000;
  AGREE(alu_run2("min.f32", one, two | minus), two | minus);
  AGREE(alu_run2("max.f32", one, two | minus), one);
  AGREE(alu_run2("max.f32", minus, 0), 0);
  AGREE(alu_run2("min.f32", 0, minus), minus);
  AGREE(alu_run2("min.f32", nan, one), one);
  AGREE(alu_run2("min.f32", one, nan), one);
  AGREE(alu_run2("max.f32", nan, nan), 0x7fffffff);
  AGREE(alu_run2("max.NaN.f32", one, nan), 0x7fffffff);
  AGREE(alu_run2("min.NaN.f16x2", 0x7e003c00, 0x3c004000), 0x7fff3c00);
  AGREE(alu_run2("max.bf16", 0x7fc0, 0xbf80), 0xbf80);
  AGREE(alu_run2("min.ftz.f32", 1, one), 0);
  AGREE(alu_run2("min.xorsign.abs.f32", one, two | minus), one | minus);
  AGREE(alu_run2("max.xorsign.abs.f32", one | minus, two | minus), two);
  AGREE(alu_run2("max.f64", bits64(-1), bits64(-2)), bits64(-1));
}
END_TEST

START_TEST(signs_and_properties) {
  AGREE(alu_run1("abs.f32", 0xff800000), 0x7f800000);
  AGREE(alu_run1("abs.ftz.f32", 0x80000001), 0);
  AGREE(alu_run1("neg.f16x2", 0x3c00bc00), 0xbc003c00);
  AGREE(alu_run1("neg.f64", 0), 0x8000000000000000);
  AGREE(alu_run2("copysign.f32", 0x80000000, 0x3f800000), 0xbf800000); // sign of a
  static const struct {
    const char *property;
    unsigned holds; // bits for the words below
  } properties[] = {{"finite", 0x7},      {"infinite", 0x8}, {"number", 0xf},
                    {"notanumber", 0x10}, {"normal", 0x4},   {"subnormal", 0x2}};
  static const uint32_t words[] = {0x80000000, 0x00000001, 0xbf800000, 0x7f800000, 0xffc00000};
  char opcode[30];
  for (size_t i = 0; i < COUNT_OF(properties); i++)
    for (size_t k = 0; k < COUNT_OF(words); k++) {
      snprintf(opcode, sizeof opcode, "testp.%s.f32", properties[i].property);
      AGREE(alu_run1(opcode, words[k]), properties[i].holds >> k & 1);
    }
}
END_TEST

static const struct {
  const char *name;
  unsigned holds; // bit 0: less, 1: equal, 2: greater, 3: unordered
} comparisons[] = {{"eq", 2},   {"ne", 5},   {"lt", 1},   {"le", 3},  {"gt", 4},
                   {"ge", 6},   {"equ", 10}, {"neu", 13}, {"ltu", 9}, {"leu", 11},
                   {"gtu", 12}, {"geu", 14}, {"num", 7},  {"nan", 8}};

START_TEST(comparing) {
  static const float values[] = {0,          -0.0f,    1,         -1,  0x1p-149f,
                                 -0x1p-149f, INFINITY, -INFINITY, NAN, 65504};
  char opcode[30];
  for (size_t i = 0; i < COUNT_OF(comparisons); i++)
    for (size_t a = 0; a < COUNT_OF(values); a++)
      for (size_t b = 0; b < COUNT_OF(values); b++) {
        float x = values[a], y = values[b];
        unsigned is = isnan(x) || isnan(y) ? 8 : x < y ? 1 : x == y ? 2 : 4;
        snprintf(opcode, sizeof opcode, "setp.%s.f32", comparisons[i].name);
        AGREE(alu_run2(opcode, bits32(x), bits32(y)), (comparisons[i].holds & is) != 0);
        snprintf(opcode, sizeof opcode, "setp.%s.f64", comparisons[i].name);
        AGREE(alu_run2(opcode, bits64((double)x), bits64((double)y)),
              (comparisons[i].holds & is) != 0);
      }
  AGREE(alu_run2("setp.gt.f32", 1, 0), 1);
  AGREE(alu_run2("setp.gt.ftz.f32", 1, 0), 0);
  struct alu_instruction in = alu_get("setp.lt.and.bf16x2");
  uint64_t s[3] = {0x3f804000, 0x40003f80, 1}, r[2]; // upper: 1 < 2, lower: 2 < 1
  in.run(&in, s, r);
  ck_assert(r[0] == 0 && r[1] == 1);
  AGREE(alu_run2("set.lt.f16x2.f16x2", 0x3c004000, 0x40003c00), 0x3c000000);
  AGREE(alu_run2("set.neu.u32.f32", 0x7fc00000, 0), UINT32_MAX);
}
END_TEST

// ---- functions ----

START_TEST(approximations) {
  AGREE(alu_run1("ex2.approx.f32", bits32(3)), bits32(8));
  AGREE(alu_run1("ex2.approx.f32", bits32(-140)), bits32(0x1p-140f));
  AGREE(alu_run1("ex2.approx.ftz.f32", bits32(-140)), 0);
  AGREE(alu_run1("ex2.approx.ftz.f32", bits32(-INFINITY)), 0);
  AGREE(alu_run1("lg2.approx.f32", bits32(0x1p-149f)), bits32(-149));
  AGREE(alu_run1("lg2.approx.ftz.f32", bits32(0x1p-149f)), bits32(-INFINITY));
  AGREE(alu_run1("lg2.approx.f32", bits32(-1)), 0x7fffffff);
  AGREE(alu_run1("rcp.approx.ftz.f32", 0x80000001), bits32(-INFINITY));
  AGREE(alu_run1("rsqrt.approx.f32", 0x80000000), bits32(-INFINITY));
  AGREE(alu_run1("rsqrt.approx.f32", bits32(0.25f)), bits32(2));
  AGREE(alu_run1("sqrt.approx.ftz.f32", bits32(9)), bits32(3));
  AGREE(alu_run1("sin.approx.f32", bits32(INFINITY)), 0x7fffffff);
  AGREE(alu_run1("cos.approx.ftz.f32", 0), bits32(1));
  AGREE(alu_run1("tanh.approx.f32", bits32(-INFINITY)), bits32(-1));
  AGREE(alu_run1("tanh.approx.bf16x2", 0x7f80ff80), 0x3f80bf80);
  AGREE(alu_run1("ex2.approx.f16x2", 0x40003c00), 0x44004000);
  AGREE(alu_run1("ex2.approx.ftz.bf16", 0x4000), 0x4080);
  AGREE(alu_run1("rcp.approx.ftz.f64", bits64(3)), bits64(1.0 / 3) >> 32 << 32);
  AGREE(alu_run1("rcp.rn.f32", bits32(3)), bits32(1.0f / 3));
  AGREE(alu_run2("div.full.f32", bits32(1), bits32(3)), bits32(1.0f / 3));
}
END_TEST

TCase *alu_float_tests(void) {
  TCase *t = tcase_create("alu_float");
  tcase_add_checked_fixture(t, seed_random, NULL);
  tcase_add_loop_test(t, rounded_in_all_directions, 0, COUNT_OF(names) * COUNT_OF(modes));
  tcase_add_test(t, nearly_exact);
  tcase_add_test(t, flush_and_saturate);
  tcase_add_loop_test(t, half_precision_is_rounded_once, 0, COUNT_OF(half_types));
  tcase_add_test(t, mixed_types);
  tcase_add_test(t, order);
  tcase_add_test(t, signs_and_properties);
  tcase_add_test(t, comparing);
  tcase_add_test(t, approximations);
  return t;
}
