// SPDX-License-Identifier: Apache-2.0
// Scalar types: the table and the conversions. All floats below f32 go through one exact integer
// routine that takes the format's exponent and mantissa widths; the value is rounded once.
#include "base/dtype.h"

#include <math.h>

struct dtype_row {
  const char *name, *language_name;
  unsigned bits;
  char kind;
};

static const struct dtype_row rows[DTYPE_COUNT] = {
#define X(id, name, language_name, bits, kind) {name, language_name, bits, kind},
    DTYPES(X)
#undef X
};

const char *dtype_name(enum dtype t) { return t < DTYPE_COUNT ? rows[t].name : "none"; }
const char *dtype_language_name(enum dtype t) {
  return t < DTYPE_COUNT ? rows[t].language_name : "none";
}
unsigned dtype_bits(enum dtype t) { return t < DTYPE_COUNT ? rows[t].bits : 0; }
unsigned dtype_bytes(enum dtype t) { return (dtype_bits(t) + 7) / 8; }
bool dtype_is_float(enum dtype t) { return t < DTYPE_COUNT && rows[t].kind == 'f'; }
bool dtype_is_int(enum dtype t) { return t < DTYPE_COUNT && rows[t].kind != 'f'; }
bool dtype_is_signed(enum dtype t) {
  return t < DTYPE_COUNT && (rows[t].kind == 'i' || rows[t].kind == 'f');
}

bool dtype_parse(struct str name, enum dtype *ret) {
  static const struct {
    const char *name;
    enum dtype type;
  } more[] = {{"fp16", DTYPE_F16},        {"fp32", DTYPE_F32},   {"fp64", DTYPE_F64},
              {"u1", DTYPE_I1},           {"fp8e5", DTYPE_F8E5}, {"fp8e4nv", DTYPE_F8E4NV},
              {"fp8e4b15", DTYPE_F8E4B15}};
  for (unsigned i = 0; i < DTYPE_COUNT; i++)
    if (str_is(name, rows[i].name) || str_is(name, rows[i].language_name)) {
      *ret = (enum dtype)i;
      return true;
    }
  for (size_t i = 0; i < COUNT_OF(more); i++)
    if (str_is(name, more[i].name)) {
      *ret = more[i].type;
      return true;
    }
  return false;
}

const char *dtype_of_other_language(struct str name) {
  static const char *const others[][2] = {{"float", "f32"},
                                          {"single", "f32"},
                                          {"double", "f64"},
                                          {"half", "f16"},
                                          {"int", "i32"},
                                          {"long", "i64"},
                                          {"short", "i16"},
                                          {"char", "i8"},
                                          {"byte", "u8"},
                                          {"bool", "i1"},
                                          {"bool_", "i1"},
                                          {"uint", "u32"},
                                          {"size_t", "u64"},
                                          {"unsigned", "u32"},
                                          {"int32_t", "i32"},
                                          {"int64_t", "i64"},
                                          {"uint8_t", "u8"},
                                          {"uint32_t", "u32"},
                                          {"__half", "f16"},
                                          {"fp8", "f8e4nv"},
                                          {"int8_t", "i8"},
                                          {"int16_t", "i16"},
                                          {"uint16_t", "u16"},
                                          {"uint64_t", "u64"},
                                          {"__nv_bfloat16", "bf16"},
                                          {"nv_bfloat16", "bf16"},
                                          {"void", "i8"}};
  for (size_t i = 0; i < COUNT_OF(others); i++)
    if (str_is(name, others[i][0]))
      return others[i][1];
  return NULL;
}

// ---- small floats ----

struct float_format {
  unsigned exponent_bits, mantissa_bits;
  bool has_infinity; // otherwise the top exponent encodes numbers, all ones is NaN, and conversion
                     // saturates
};

static const struct float_format f8e5 = {5, 2, true}, f8e4nv = {4, 3, false}, f16 = {5, 10, true},
                                 bf16 = {8, 7, true};

// x / 2^n rounded to nearest, ties to even.
static uint64_t shift_rounded(uint64_t x, unsigned n) {
  if (n == 0)
    return x;
  if (n > 63)
    return 0;
  uint64_t half = (uint64_t)1 << (n - 1), rest = x & (2 * half - 1), q = x >> n;
  return q + (rest > half || (rest == half && (q & 1)));
}

static uint32_t encode(struct float_format f, double value) {
  const unsigned m = f.mantissa_bits, e = f.exponent_bits;
  const uint32_t top = ((1u << e) - 1) << m; // exponent all ones
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t sign = (uint32_t)(bits >> 63) << (e + m);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
  uint32_t overflow = f.has_infinity ? top : top | ((1u << m) - 2); // infinity or largest finite
  if (exponent == 0x7ff && mantissa) {
    if (!f.has_infinity)
      return sign | top | ((1u << m) - 1);
    uint32_t payload = (uint32_t)(mantissa >> (52 - m));
    return sign | top | (payload ? payload : 1u << (m - 1));
  }
  if (exponent == 0x7ff)
    return sign | overflow;
  if (exponent == 0)
    return sign; // a double's subnormals are far below half of any format's smallest
  int biased = exponent - 1023 + ((1 << (e - 1)) - 1);
  mantissa |= (uint64_t)1 << 52;
  // A subnormal result loses the bits below its fixed exponent; rounding may carry it into the
  // normal range, and the encoding of the sum is right in every case.
  unsigned drop = 52 - m;
  uint32_t r;
  if (biased <= 0)
    r = (uint32_t)shift_rounded(mantissa, drop + (unsigned)(1 - biased));
  else if (biased > 1 << e)
    return sign | overflow;
  else
    r = (uint32_t)(((uint64_t)(biased - 1) << m) + shift_rounded(mantissa, drop));
  return sign | (r > overflow ? overflow : r);
}

static double decode(struct float_format f, uint32_t x) {
  const unsigned m = f.mantissa_bits, e = f.exponent_bits;
  const int bias = (1 << (e - 1)) - 1;
  uint64_t sign = (uint64_t)(x >> (e + m) & 1) << 63;
  uint32_t exponent = x >> m & ((1u << e) - 1), mantissa = x & ((1u << m) - 1);
  bool special = exponent == (1u << e) - 1 && (f.has_infinity || mantissa == (1u << m) - 1);
  uint64_t bits;
  if (special) {
    bits = sign | (uint64_t)0x7ff << 52 | (uint64_t)mantissa << (52 - m);
  } else if (exponent) {
    bits = sign | (uint64_t)((int)exponent - bias + 1023) << 52 | (uint64_t)mantissa << (52 - m);
  } else if (mantissa) {
    unsigned lead = log2_floor(mantissa);
    uint64_t fraction = (uint64_t)(mantissa - (1u << lead)) << (52 - lead);
    bits = sign | (uint64_t)((int)lead - (int)m + 1 - bias + 1023) << 52 | fraction;
  } else {
    bits = sign;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

float half_to_float(uint16_t h) { return (float)decode(f16, h); }
uint16_t half_from_float(float x) { return (uint16_t)encode(f16, (double)x); }

float bfloat_to_float(uint16_t b) {
  uint32_t bits = (uint32_t)b << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint16_t bfloat_from_float(float x) { return (uint16_t)encode(bf16, (double)x); }

// f8e4b15 is f16 without the top bit of the exponent and the last 7 digits; lang/std/float8.tile
// computes the same.
enum { F8E4B15_LARGEST = 0x3f00, F8E4B15_DROPS = 7 };

static double f8e4b15_load(uint8_t x) {
  return decode(f16, (uint32_t)(x & 0x80) << 8 | (uint32_t)(x & 0x7f) << F8E4B15_DROPS);
}

static uint8_t f8e4b15_store(double v) {
  uint32_t half = encode(f16, v), magnitude = half & 0x7fff;
  if (magnitude > F8E4B15_LARGEST)
    magnitude = F8E4B15_LARGEST;
  return (uint8_t)((half >> 8 & 0x80) | (magnitude + (1 << (F8E4B15_DROPS - 1))) >> F8E4B15_DROPS);
}

// ---- any type ----

// The nearest integer toward zero within [low, high]; NaN is 0.
static int64_t to_signed(double v, int64_t low, int64_t high) {
  if (isnan(v))
    return 0;
  if (v <= (double)low)
    return low;
  return v >= (double)high ? high : (int64_t)v;
}

static uint64_t to_unsigned(double v, uint64_t high) {
  if (isnan(v) || v <= 0)
    return 0;
  return v >= (double)high ? high : (uint64_t)v;
}

#define LOAD(T)                                                                                    \
  do {                                                                                             \
    T x;                                                                                           \
    memcpy(&x, p, sizeof x);                                                                       \
    return (double)x;                                                                              \
  } while (0)
#define STORE(T, value_of_type)                                                                    \
  do {                                                                                             \
    T x = (T)(value_of_type);                                                                      \
    memcpy(p, &x, sizeof x);                                                                       \
    return;                                                                                        \
  } while (0)

static uint16_t load_u16(const void *p) {
  uint16_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

double dtype_load(enum dtype t, const void *p) {
  switch (t) {
  case DTYPE_I1: return *(const uint8_t *)p != 0;
  case DTYPE_I8: LOAD(int8_t);
  case DTYPE_I16: LOAD(int16_t);
  case DTYPE_I32: LOAD(int32_t);
  case DTYPE_I64: LOAD(int64_t);
  case DTYPE_U8: LOAD(uint8_t);
  case DTYPE_U16: LOAD(uint16_t);
  case DTYPE_U32: LOAD(uint32_t);
  case DTYPE_U64: LOAD(uint64_t);
  case DTYPE_F8E5: return decode(f8e5, *(const uint8_t *)p);
  case DTYPE_F8E4NV: return decode(f8e4nv, *(const uint8_t *)p);
  case DTYPE_F16: return decode(f16, load_u16(p));
  case DTYPE_BF16: return decode(bf16, load_u16(p));
  case DTYPE_F32: LOAD(float);
  case DTYPE_F64: LOAD(double);
  case DTYPE_F8E4B15: return f8e4b15_load(*(const uint8_t *)p);
  case DTYPE_NONE: break;
  }
  return 0;
}

void dtype_store(enum dtype t, void *p, double v) {
  switch (t) {
  case DTYPE_I1: STORE(uint8_t, v != 0);
  case DTYPE_I8: STORE(int8_t, to_signed(v, INT8_MIN, INT8_MAX));
  case DTYPE_I16: STORE(int16_t, to_signed(v, INT16_MIN, INT16_MAX));
  case DTYPE_I32: STORE(int32_t, to_signed(v, INT32_MIN, INT32_MAX));
  case DTYPE_I64: STORE(int64_t, to_signed(v, INT64_MIN, INT64_MAX));
  case DTYPE_U8: STORE(uint8_t, to_unsigned(v, UINT8_MAX));
  case DTYPE_U16: STORE(uint16_t, to_unsigned(v, UINT16_MAX));
  case DTYPE_U32: STORE(uint32_t, to_unsigned(v, UINT32_MAX));
  case DTYPE_U64: STORE(uint64_t, to_unsigned(v, UINT64_MAX));
  case DTYPE_F8E5: STORE(uint8_t, encode(f8e5, v));
  case DTYPE_F8E4NV: STORE(uint8_t, encode(f8e4nv, v));
  case DTYPE_F16: STORE(uint16_t, encode(f16, v));
  case DTYPE_BF16: STORE(uint16_t, encode(bf16, v));
  case DTYPE_F32: STORE(float, v);
  case DTYPE_F64: STORE(double, v);
  case DTYPE_F8E4B15: STORE(uint8_t, f8e4b15_store(v));
  case DTYPE_NONE: break;
  }
}
