// SPDX-License-Identifier: Apache-2.0
// Conversions. Oracles: tables of all numbers of a small format (round_oracle.h), and C's own
// conversions in each direction of rounding.
#include "alu_eval.h"
#include "round_oracle.h"
#include "suites.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>

static uint32_t bits32(float f) {
  uint32_t x;
  memcpy(&x, &f, sizeof x);
  return x;
}
static uint64_t bits64(double d) {
  uint64_t x;
  memcpy(&x, &d, sizeof x);
  return x;
}

static const struct format {
  const char *name;
  unsigned exponent_bits, mantissa_bits, bits;
} f16 = {"f16", 5, 10, 16}, bf16 = {"bf16", 8, 7, 16}, tf32 = {"tf32", 8, 10, 19},
  e5m2 = {"e5m2x2", 5, 2, 8}, e4m3 = {"e4m3x2", 4, 3, 8};

// ---- small formats ----

static void run(const char *opcode, const uint64_t *s, uint64_t *r) {
  struct alu_instruction in = alu_get(opcode);
  in.run(&in, s, r);
}

// Every number of f16 and bf16 to f32, f64 and back.
START_TEST(halves_to_wider) {
  const struct format *f = _i ? &bf16 : &f16;
  struct oracle o = oracle_make(f->exponent_bits, f->mantissa_bits, true);
  char up[20], down[20], up64[20];
  snprintf(up, sizeof up, "cvt.f32.%s", f->name);
  snprintf(up64, sizeof up64, "cvt.f64.%s", f->name);
  snprintf(down, sizeof down, "cvt.rn.%s.f32", f->name);
  struct alu_instruction wider = alu_get(up), widest = alu_get(up64), back = alu_get(down);
  for (uint64_t x = 0; x < 65536; x++) {
    uint64_t r[1], again[1];
    wider.run(&wider, &x, r);
    back.run(&back, r, again);
    uint32_t magnitude = x & 0x7fff;
    if (magnitude > o.count) {
      AGREE(r[0], 0x7fffffff);
      AGREE(again[0], 0x7fff);
      continue;
    }
    double value = magnitude == o.count ? (double)INFINITY : oracle_value(&o, magnitude);
    value = x & 0x8000 ? -value : value;
    AGREE(r[0], bits32((float)value));
    AGREE(again[0], x);
    widest.run(&widest, &x, r);
    AGREE(r[0], bits64(value));
  }
  oracle_free(&o);
}
END_TEST

static const struct narrowing {
  const char *opcode;
  const struct format *to;
  int mode;
  bool saturates; // to the largest finite number
} narrowings[] = {
    {"cvt.rn.f16.f32", &f16, MODE_RN, false},
    {"cvt.rz.f16.f32", &f16, MODE_RZ, false},
    {"cvt.rm.f16.f32", &f16, MODE_RM, false},
    {"cvt.rp.f16.f32", &f16, MODE_RP, false},
    {"cvt.rn.bf16.f32", &bf16, MODE_RN, false},
    {"cvt.rz.bf16.f32", &bf16, MODE_RZ, false},
    {"cvt.rna.tf32.f32", &tf32, MODE_RNA, false},
    {"cvt.rn.tf32.f32", &tf32, MODE_RN, false},
    {"cvt.rz.tf32.f32", &tf32, MODE_RZ, false},
    {"cvt.rn.satfinite.f16.f32", &f16, MODE_RN, true},
    {"cvt.rna.satfinite.tf32.f32", &tf32, MODE_RNA, true},
};

// The numbers, the midpoints between neighbours, and the floats next to both.
START_TEST(narrowed) {
  const struct narrowing *n = &narrowings[_i];
  struct oracle o = oracle_make(n->to->exponent_bits, n->to->mantissa_bits, true);
  struct alu_instruction in = alu_get(n->opcode);
  uint32_t step = n->to == &tf32 ? 29 : 5;
  for (uint32_t i = 0; i < o.count; i += step)
    for (unsigned k = 0; k < 12; k++) {
      double middle = (o.values[i] + o.values[i + 1]) / 2;
      float x = (float)(k & 1 ? middle : o.values[i]);
      x = k / 4 == 1 ? nextafterf(x, INFINITY) : k / 4 == 2 ? nextafterf(x, 0) : x;
      x = k & 2 ? -x : x;
      uint64_t s[1] = {bits32(x)}, r[1];
      in.run(&in, s, r);
      uint32_t expected = oracle_round(&o, (quad)(double)x, n->mode);
      if (n->saturates && (expected & ((1u << (n->to->bits - 1)) - 1)) == o.count)
        expected--;
      if (x == 0) // the oracle has no -0
        expected |= signbit(x) ? 1u << (n->to->bits - 1) : 0;
      if (n->to == &tf32)
        expected <<= 13;
      if (x != 0 && expected == 0 && signbit(x))
        continue;
      if (r[0] != expected)
        ck_abort_msg("%s %a: %lx, not %x", n->opcode, (double)x, r[0], expected);
    }
  oracle_free(&o);
}
END_TEST

// Pairs of fp8 from f32 and f16, saturating; all 256 numbers back.
START_TEST(bytes) {
  const struct format *f = _i ? &e4m3 : &e5m2;
  struct oracle o = oracle_make(f->exponent_bits, f->mantissa_bits, _i == 0),
                half = oracle_make(5, 10, true);
  char from32[40], from16[40], to16[40];
  snprintf(from32, sizeof from32, "cvt.rn.satfinite.%s.f32", f->name);
  snprintf(from16, sizeof from16, "cvt.rn.satfinite.%s.f16x2", f->name);
  snprintf(to16, sizeof to16, "cvt.rn.f16x2.%s", f->name);
  uint32_t largest = o.count - 1;
  uint64_t s[2], r[1];
  for (uint32_t x = 0; x < 65536; x++) {
    if ((x & 0x7fff) >= half.count)
      continue;
    double value = oracle_value(&half, x);
    uint32_t expected = oracle_round(&o, (quad)value, MODE_RN) & 0x7f;
    expected = (expected > largest ? largest : expected) | (x >> 8 & 0x80);
    s[0] = x | (uint64_t)(x ^ 0x8000) << 16;
    run(from16, s, r);
    AGREE(r[0], expected | (expected ^ 0x80) << 8);
    s[0] = bits32((float)value); // becomes the high byte
    s[1] = bits32(NAN);
    run(from32, s, r);
    AGREE(r[0], expected << 8 | 0x7f);
  }
  for (uint32_t x = 0; x < 256; x++) {
    s[0] = x | (x ^ 0x80) << 8;
    run(to16, s, r);
    uint32_t expected = 0x7fff, magnitude = x & 0x7f;
    if (magnitude < o.count)
      expected = oracle_round(&half, (quad)o.values[magnitude], MODE_RN) | (x & 0x80) << 8;
    else if (magnitude == o.count && _i == 0)
      expected = 0x7c00 | (x & 0x80) << 8;
    AGREE(r[0] & 0xffff, expected);
    AGREE(r[0] >> 16, expected == 0x7fff ? expected : expected ^ 0x8000);
  }
  s[0] = bits32(INFINITY), s[1] = bits32(-INFINITY);
  run(from32, s, r);
  AGREE(r[0], largest << 8 | 0x80 | largest);
  oracle_free(&o);
  oracle_free(&half);
}
END_TEST

START_TEST(special_floats) {
  AGREE(alu_run2("cvt.rn.f16x2.f32", bits32(1), bits32(2)), 0x3c004000);
  AGREE(alu_run2("cvt.rz.relu.bf16x2.f32", bits32(-1), bits32(NAN)), 0x00007fff);
  AGREE(alu_run2("cvt.rn.relu.satfinite.f16x2.f32", bits32(INFINITY), bits32(-0.0f)), 0x7bff0000);
  AGREE(alu_run2("cvt.rn.satfinite.relu.e4m3x2.f32", bits32(-3), bits32(1000)), 0x007e);
  AGREE(alu_run1("cvt.rn.f32.f64", bits64(1e300)), bits32(INFINITY));
  AGREE(alu_run1("cvt.rz.f32.f64", bits64(-1e300)), bits32(-0x1.fffffep127f));
  AGREE(alu_run1("cvt.rn.ftz.f32.f64", bits64(0x1p-130)), 0);
  AGREE(alu_run1("cvt.rn.f32.f64", bits64(0x1p-130)), bits32(0x1p-130f));
  AGREE(alu_run1("cvt.ftz.f64.f32", bits32(-0x1p-130f)), bits64(-0.0));
  AGREE(alu_run1("cvt.rn.ftz.f16.f32", bits32(0x1p-20f)),
        0x0010); // no f32 is subnormal
  AGREE(alu_run1("cvt.sat.f32.f32", bits32(-2)), 0);
  AGREE(alu_run1("cvt.sat.f32.f32", bits32(NAN)), 0);
  AGREE(alu_run1("cvt.sat.f32.f32", bits32(7)), bits32(1));
  AGREE(alu_run1("cvt.f64.f32", bits32(NAN)), 0xfff8000000000000);
  AGREE(alu_run1("cvt.rn.bf16.f16", 0x3c01), 0x3f80);
}
END_TEST

// ---- integers ----

static const struct {
  const char *frnd, *irnd;
  int direction;
} modes[] = {{"rn", "rni", FE_TONEAREST},
             {"rz", "rzi", FE_TOWARDZERO},
             {"rm", "rmi", FE_DOWNWARD},
             {"rp", "rpi", FE_UPWARD}};

static const double samples[] = {0,
                                 0.25,
                                 0.5,
                                 0.75,
                                 1,
                                 1.5,
                                 2.5,
                                 126.5,
                                 127.5,
                                 128,
                                 255.5,
                                 256,
                                 32767.5,
                                 32768,
                                 65535.5,
                                 1e6,
                                 2147483647.5,
                                 2147483648,
                                 4294967295.5,
                                 4294967296,
                                 1e15,
                                 9223372036854774784.0,
                                 9223372036854775808.0,
                                 18446744073709549568.0,
                                 18446744073709551616.0,
                                 1e30,
                                 INFINITY};

START_TEST(to_integers) {
  static const struct {
    const char *name;
    unsigned bits;
    bool is_signed;
  } types[] = {{"s8", 8, true},   {"u8", 8, false},   {"s16", 16, true}, {"u16", 16, false},
               {"s32", 32, true}, {"u32", 32, false}, {"s64", 64, true}, {"u64", 64, false}};
  char opcode[30];
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (size_t m = 0; m < COUNT_OF(modes); m++)
      for (size_t i = 0; i < 2 * COUNT_OF(samples); i++) {
        double x = i % 2 ? -samples[i / 2] : samples[i / 2];
        fesetround(modes[m].direction);
        double whole = nearbyint(x);
        fesetround(FE_TONEAREST);
        unsigned bits = types[t].bits;
        quad high = (quad)(types[t].is_signed ? INT64_MAX >> (64 - bits) : 0);
        if (!types[t].is_signed)
          high = (quad)(UINT64_MAX >> (64 - bits));
        quad low = types[t].is_signed ? -high - 1 : 0;
        quad clamped = isinf(whole)         ? (whole > 0 ? high : low)
                       : (quad)whole < low  ? low
                       : (quad)whole > high ? high
                                            : (quad)whole;
        uint64_t expected = clamped < 0 ? -(uint64_t)-clamped : (uint64_t)clamped;
        snprintf(opcode, sizeof opcode, "cvt.%s.%s.f64", modes[m].irnd, types[t].name);
        uint64_t got = alu_run1(opcode, bits64(x));
        if (got != expected)
          ck_abort_msg("%s %g: %lx, not %lx", opcode, x, got, expected);
        float y = (float)x;
        if (isinf(x) || (double)y != x)
          continue;
        snprintf(opcode, sizeof opcode, "cvt.%s.%s.f32", modes[m].irnd, types[t].name);
        AGREE(alu_run1(opcode, bits32(y)), expected);
      }
  AGREE(alu_run1("cvt.rzi.s32.f32", bits32(NAN)), 0);
  AGREE(alu_run1("cvt.rzi.u16.f16", 0x7e00), 0);
  AGREE(alu_run1("cvt.rzi.s64.f32", bits32(NAN)), 0x8000000000000000);
  AGREE(alu_run1("cvt.rzi.u64.f64", bits64(NAN)), 0x8000000000000000);
  AGREE(alu_run1("cvt.rzi.u32.f64", bits64(NAN)), 0x80000000);
  AGREE(alu_run1("cvt.rpi.ftz.s32.f32", 1), 0);
  AGREE(alu_run1("cvt.rpi.s32.f32", 1), 1);
}
END_TEST

START_TEST(integral) {
  char opcode[30];
  for (size_t m = 0; m < COUNT_OF(modes); m++)
    for (size_t i = 0; i < 2 * COUNT_OF(samples); i++) {
      double x = i % 2 ? -samples[i / 2] : samples[i / 2];
      float y = (float)x;
      fesetround(modes[m].direction);
      double whole = nearbyint(x);
      float whole32 = nearbyintf(y);
      fesetround(FE_TONEAREST);
      snprintf(opcode, sizeof opcode, "cvt.%s.f64.f64", modes[m].irnd);
      AGREE(alu_run1(opcode, bits64(x)), bits64(whole));
      snprintf(opcode, sizeof opcode, "cvt.%s.f32.f32", modes[m].irnd);
      AGREE(alu_run1(opcode, bits32(y)), bits32(whole32));
    }
  AGREE(alu_run1("cvt.rni.f16.f16", 0x3e00), 0x4000); // 1.5
  AGREE(alu_run1("cvt.rni.sat.f32.f32", bits32(1.75f)), bits32(1));
}
END_TEST

START_TEST(from_integers) {
  static const uint64_t words[] = {0,
                                   1,
                                   2,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0xffffff,
                                   0x1000001,
                                   0x1000003,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x20000000000001,
                                   0x20000000000003,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xfffffffffffffbff,
                                   0xfffffffffffffc00,
                                   0xffffffffffffffff};
  char opcode[30];
  for (size_t m = 0; m < COUNT_OF(modes); m++)
    for (size_t i = 0; i < COUNT_OF(words); i++) {
      volatile uint64_t u64 = words[i];
      volatile int64_t s64 = (int64_t)words[i];
      volatile int32_t s32 = (int32_t)words[i];
      fesetround(modes[m].direction);
      volatile float from_u = (float)u64, from_s = (float)s64, from_s32 = (float)s32;
      volatile double wide_u = (double)u64, wide_s = (double)s64;
      fesetround(FE_TONEAREST);
#define EXPECT(types, value)                                                                       \
  snprintf(opcode, sizeof opcode, "cvt.%s." types, modes[m].frnd);                                 \
  ck_assert_msg(alu_run1(opcode, words[i]) == (value), "%s %lx: %lx", opcode, words[i],            \
                alu_run1(opcode, words[i]))
      EXPECT("f32.s64", bits32(from_s));
      EXPECT("f32.s32", bits32(from_s32));
      EXPECT("f64.s64", bits64(wide_s));
      if (words[i] >> 63 == 0 || modes[m].direction == FE_TONEAREST) { // gcc halves large ones
        EXPECT("f32.u64", bits32(from_u));
        EXPECT("f64.u64", bits64(wide_u));
      }
    }
  AGREE(alu_run1("cvt.rn.f16.s32", (uint32_t)-65520), 0xfc00);
  AGREE(alu_run1("cvt.rz.f16.s32", (uint32_t)-65520), 0xfbff);
  AGREE(alu_run1("cvt.rn.bf16.u16", 257), 0x4380);
  AGREE(alu_run1("cvt.rp.f32.u64", UINT64_MAX), bits32(0x1p64f));
  AGREE(alu_run1("cvt.rz.f32.u64", UINT64_MAX), bits32(0x1.fffffep63f));
}
END_TEST

START_TEST(between_integers) {
  AGREE(alu_run1("cvt.s32.s8", 0x1ff), UINT64_MAX);
  AGREE(alu_run1("cvt.u32.u8", 0x1ff), 0xff);
  AGREE(alu_run1("cvt.u64.s32", 0x80000000), 0xffffffff80000000);
  AGREE(alu_run1("cvt.s64.u32", 0x80000000), 0x80000000);
  AGREE(alu_run1("cvt.u16.u32", 0x12345678), 0x5678);
  AGREE(alu_run1("cvt.s16.s64", 0x18000), 0xffffffffffff8000);
  AGREE(alu_run1("cvt.sat.s8.s32", 200), 127);
  AGREE(alu_run1("cvt.sat.s8.s32", (uint32_t)-200), (uint64_t)-128);
  AGREE(alu_run1("cvt.sat.u8.s32", (uint32_t)-200), 0);
  AGREE(alu_run1("cvt.sat.s32.u32", 0x80000000), 0x7fffffff);
  AGREE(alu_run1("cvt.sat.s64.u64", UINT64_MAX), INT64_MAX);
  AGREE(alu_run1("cvt.sat.u64.s64", UINT64_MAX), 0);
  AGREE(alu_run2("cvt.pack.sat.s16.s32", 70000, (uint32_t)-70000), 0x7fff8000);
  AGREE(alu_run2("cvt.pack.sat.u16.s32", 5, (uint32_t)-5), 0x00050000);
  AGREE(alu_run3("cvt.pack.sat.u8.s32.b32", 300, 7, 0x12345678), 0x5678ff07);
  AGREE(alu_run3("cvt.pack.sat.s4.s32.b32", 7, (uint32_t)-9, 0x12345678), 0x34567878);
}
END_TEST

TCase *alu_convert_tests(void) {
  TCase *t = tcase_create("alu_convert");
  tcase_add_loop_test(t, halves_to_wider, 0, 2);
  tcase_add_loop_test(t, narrowed, 0, COUNT_OF(narrowings));
  tcase_add_loop_test(t, bytes, 0, 2);
  tcase_add_test(t, special_floats);
  tcase_add_test(t, to_integers);
  tcase_add_test(t, integral);
  tcase_add_test(t, from_integers);
  tcase_add_test(t, between_integers);
  return t;
}
