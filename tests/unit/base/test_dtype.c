// SPDX-License-Identifier: Apache-2.0
// Scalar types: names, and conversions checked on every value of the 8- and 16-bit types against
// their definition by scaling.
#include "base/dtype.h"
#include "suites.h"

#include <math.h>

struct format {
  enum dtype type;
  int exponent_bits, mantissa_bits;
  bool has_infinity;
};
static const struct format formats[] = {{DTYPE_F8E5, 5, 2, true},
                                        {DTYPE_F8E4NV, 4, 3, false},
                                        {DTYPE_F16, 5, 10, true},
                                        {DTYPE_BF16, 8, 7, true}};

// The value of an encoding, from the definition of the format.
static double by_definition(struct format f, unsigned x) {
  unsigned mantissa_mask = (1u << f.mantissa_bits) - 1, top = (1u << f.exponent_bits) - 1;
  unsigned mantissa = x & mantissa_mask, exponent = x >> f.mantissa_bits & top;
  double sign = x >> (f.exponent_bits + f.mantissa_bits) ? -1.0 : 1.0;
  int bias = (1 << (f.exponent_bits - 1)) - 1;
  if (exponent == top && f.has_infinity)
    return mantissa ? (double)NAN : sign * (double)INFINITY;
  if (exponent == top && mantissa == mantissa_mask)
    return NAN;
  if (!exponent)
    return sign * ldexp(mantissa, 1 - bias - f.mantissa_bits);
  return sign * ldexp(1u << f.mantissa_bits | mantissa, (int)exponent - bias - f.mantissa_bits);
}

static unsigned store_bits(enum dtype t, double v) {
  unsigned char bytes[8] = {0};
  dtype_store(t, bytes, v);
  return dtype_bytes(t) == 1 ? bytes[0] : bytes[0] | (unsigned)bytes[1] << 8;
}

static double load_bits(enum dtype t, unsigned x) {
  unsigned char bytes[8] = {(unsigned char)x, (unsigned char)(x >> 8)};
  return dtype_load(t, bytes);
}

START_TEST(small_floats_round_trip) {
  struct format f = formats[_i];
  unsigned n = 1u << dtype_bits(f.type);
  for (unsigned x = 0; x < n; x++) {
    double want = by_definition(f, x), got = load_bits(f.type, x);
    if (isnan(want)) {
      ck_assert_msg(isnan(got), "%s %#x", dtype_name(f.type), x);
      ck_assert_msg(isnan(load_bits(f.type, store_bits(f.type, got))), "%#x", x);
    } else {
      ck_assert_msg(got == want && signbit(got) == signbit(want), "%s %#x: %g, not %g",
                    dtype_name(f.type), x, got, want);
      ck_assert_msg(store_bits(f.type, got) == x, "%s %#x", dtype_name(f.type), x);
    }
  }
}
END_TEST

// Between two neighbours the nearer one is taken, and in the middle the even one.
START_TEST(small_floats_round_to_nearest_even) {
  struct format f = formats[_i];
  unsigned largest = (1u << (dtype_bits(f.type) - 1)) - 1;
  for (unsigned x = 0; x < largest; x++) {
    double low = by_definition(f, x), high = by_definition(f, x + 1);
    if (!isfinite(low) || !isfinite(high))
      continue;
    double middle = low + (high - low) / 2; // exact
    ck_assert_uint_eq(store_bits(f.type, middle), x & 1 ? x + 1 : x);
    ck_assert_uint_eq(store_bits(f.type, nextafter(middle, 0)), x);
    ck_assert_uint_eq(store_bits(f.type, nextafter(middle, INFINITY)), x + 1);
    unsigned sign = largest + 1;
    ck_assert_uint_eq(store_bits(f.type, -nextafter(middle, INFINITY)), (x + 1) | sign);
  }
}
END_TEST

START_TEST(overflow) {
  ck_assert_uint_eq(store_bits(DTYPE_F8E4NV, 448), 0x7e);
  ck_assert_uint_eq(store_bits(DTYPE_F8E4NV, 1e30), 0x7e);
  ck_assert_uint_eq(store_bits(DTYPE_F8E4NV, -INFINITY), 0xfe);
  ck_assert_uint_eq(store_bits(DTYPE_F8E4NV, 470), 0x7e);
  ck_assert_uint_eq(store_bits(DTYPE_F8E5, 57344), 0x7b);
  ck_assert_uint_eq(store_bits(DTYPE_F8E5, 61439.9), 0x7b);
  ck_assert_uint_eq(store_bits(DTYPE_F8E5, 61440), 0x7c); // half way is infinity
  ck_assert_uint_eq(store_bits(DTYPE_F16, 65504), 0x7bff);
  ck_assert_uint_eq(store_bits(DTYPE_F16, 65519.99), 0x7bff);
  ck_assert_uint_eq(store_bits(DTYPE_F16, 65520), 0x7c00);
  ck_assert_uint_eq(store_bits(DTYPE_BF16, 3.4028234663852886e38), 0x7f80);
  ck_assert_uint_eq(store_bits(DTYPE_F16, 1e-30), 0);
  ck_assert_uint_eq(store_bits(DTYPE_F16, -1e-30), 0x8000);
  ck_assert_uint_eq(store_bits(DTYPE_F16, 5e-324), 0);
}
END_TEST

// f8e4b15 is the middle of an f16: every pattern is a number, rounded with halves away from zero,
// and 1.75 is the largest that is stored.
START_TEST(storage_float) {
  for (unsigned x = 0; x < 256; x++) {
    double low = load_bits(DTYPE_F8E4B15, x), sign = x & 0x80 ? -1 : 1;
    unsigned exponent = x >> 3 & 15, mantissa = x & 7;
    double want = exponent ? ldexp(8 + mantissa, (int)exponent - 18) : ldexp(mantissa, -17);
    ck_assert_msg(low == sign * want && !signbit(low) == !(x & 0x80), "%#x: %g", x, low);
    ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, low), (x & 0x7f) == 0x7f ? x - 1 : x);
    if ((x & 0x7f) >= 0x7e)
      continue;
    double middle = (low + load_bits(DTYPE_F8E4B15, x + 1)) / 2;
    unsigned half = store_bits(DTYPE_F16, middle); // exact
    ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, middle), x + 1);
    ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, load_bits(DTYPE_F16, half - 1)), x);
  }
  ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, 1.8125), 0x7e);
  ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, -1e300), 0xfe);
  ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, INFINITY), 0x7e);
  ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, (double)NAN) & 0x7f, 0x7e);
  ck_assert_uint_eq(store_bits(DTYPE_F8E4B15, -0.0), 0x80);
}
END_TEST

// One rounding, not two: this double is just above the middle of two f16 values, but its f32 is
// not.
START_TEST(rounded_once) {
  double above = 1 + ldexp(1, -11) + ldexp(1, -40);
  ck_assert_uint_eq(store_bits(DTYPE_F16, above), 0x3c01);
  ck_assert_uint_eq(half_from_float((float)above), 0x3c00);
}
END_TEST

START_TEST(float_shortcuts_agree) {
  for (unsigned x = 0; x < 65536; x++) {
    double h = load_bits(DTYPE_F16, x), b = load_bits(DTYPE_BF16, x);
    ck_assert(isnan(h) ? isnan(half_to_float((uint16_t)x))
                       : (double)half_to_float((uint16_t)x) == h);
    ck_assert(isnan(b) ? isnan(bfloat_to_float((uint16_t)x))
                       : (double)bfloat_to_float((uint16_t)x) == b);
    if (!isnan(h))
      ck_assert_uint_eq(half_from_float((float)h), x);
    if (!isnan(b))
      ck_assert_uint_eq(bfloat_from_float((float)b), x);
  }
}
END_TEST

START_TEST(integers_round_trip) {
  for (int x = -32768; x < 65536; x++) {
    struct {
      enum dtype t;
      int low, high;
    } types[] = {{DTYPE_I8, -128, 127},
                 {DTYPE_U8, 0, 255},
                 {DTYPE_I16, -32768, 32767},
                 {DTYPE_U16, 0, 65535}};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
      unsigned char bytes[8];
      dtype_store(types[i].t, bytes, x);
      int want = x < types[i].low ? types[i].low : x > types[i].high ? types[i].high : x;
      ck_assert_int_eq((int)dtype_load(types[i].t, bytes), want);
    }
  }
}
END_TEST

START_TEST(integers_saturate_and_truncate) {
  int64_t i;
  uint64_t u;
  int32_t j;
  dtype_store(DTYPE_I64, &i, 1e30);
  ck_assert_int_eq(i, INT64_MAX);
  dtype_store(DTYPE_I64, &i, -INFINITY);
  ck_assert_int_eq(i, INT64_MIN);
  dtype_store(DTYPE_U64, &u, 2e19);
  ck_assert_uint_eq(u, UINT64_MAX);
  dtype_store(DTYPE_U64, &u, -3);
  ck_assert_uint_eq(u, 0);
  dtype_store(DTYPE_I32, &j, -2.9);
  ck_assert_int_eq(j, -2);
  dtype_store(DTYPE_I32, &j, NAN);
  ck_assert_int_eq(j, 0);
  unsigned char b = 9;
  dtype_store(DTYPE_I1, &b, 0.5);
  ck_assert_uint_eq(b, 1);
  dtype_store(DTYPE_I1, &b, 0);
  ck_assert_uint_eq(b, 0);
}
END_TEST

START_TEST(names) {
  for (unsigned i = 0; i < DTYPE_COUNT; i++) {
    enum dtype t = (enum dtype)i, found;
    ck_assert(dtype_parse(str_from(dtype_name(t)), &found) && found == t);
    ck_assert(dtype_parse(str_from(dtype_language_name(t)), &found) && found == t);
    ck_assert_uint_eq(dtype_bytes(t), dtype_bits(t) == 1 ? 1 : dtype_bits(t) / 8);
  }
  enum dtype t;
  ck_assert(dtype_parse(STR("fp32"), &t) && t == DTYPE_F32);
  ck_assert(dtype_parse(STR("fp8e4nv"), &t) && t == DTYPE_F8E4NV);
  ck_assert(dtype_parse(STR("fp8e4b15"), &t) && t == DTYPE_F8E4B15);
  ck_assert(dtype_parse(STR("u1"), &t) && t == DTYPE_I1);
  ck_assert(!dtype_parse(STR("f128"), &t));
  ck_assert(!dtype_parse(STR(""), &t));
  ck_assert(dtype_is_float(DTYPE_BF16) && !dtype_is_int(DTYPE_BF16));
  ck_assert(dtype_is_int(DTYPE_I1) && !dtype_is_signed(DTYPE_I1));
  ck_assert(dtype_is_signed(DTYPE_I8) && !dtype_is_signed(DTYPE_U8) && dtype_is_signed(DTYPE_F32));
  ck_assert_uint_eq(dtype_bits(DTYPE_NONE), 0);
}
END_TEST

TCase *dtype_tests(void) {
  TCase *t = tcase_create("dtype");
  tcase_add_loop_test(t, small_floats_round_trip, 0, COUNT_OF(formats));
  tcase_add_loop_test(t, small_floats_round_to_nearest_even, 0, COUNT_OF(formats));
  tcase_add_test(t, storage_float);
  tcase_add_test(t, overflow);
  tcase_add_test(t, rounded_once);
  tcase_add_test(t, float_shortcuts_agree);
  tcase_add_test(t, integers_round_trip);
  tcase_add_test(t, integers_saturate_and_truncate);
  tcase_add_test(t, names);
  return t;
}
