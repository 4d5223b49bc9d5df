// SPDX-License-Identifier: Apache-2.0
// Reference numbers: types, promotion, rounding, comparison.
#include "num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char num_kind(enum dtype t) {
  if (t == DTYPE_I1)
    return 'b';
  if (!dtype_is_float(t))
    return dtype_is_signed(t) ? 'i' : 'u';
  return dtype_bits(t) == 8 ? '8' : 'f';
}

struct num num_int(enum dtype type, int64_t bits) {
  unsigned drop = 64 - dtype_bits(type);
  uint64_t high = (uint64_t)bits << drop;
  int64_t value = dtype_is_signed(type) ? (int64_t)high >> drop : (int64_t)(high >> drop);
  return (struct num){.type = type, .i = value};
}

struct num num_float(enum dtype type, double value) {
  return (struct num){.type = type, .f = value};
}

struct num num_number(enum dtype type, double value) {
  if (dtype_is_float(type))
    return num_round(num_float(type, value));
  if (type == DTYPE_I1)
    return num_int(type, value != 0);
  return num_int(type, type == DTYPE_U64 ? (int64_t)(uint64_t)value : (int64_t)value);
}

struct num num_load(enum dtype type, const void *p) {
  if (dtype_is_float(type))
    return num_float(type, dtype_load(type, p));
  int64_t bits = 0;
  memcpy(&bits, p, dtype_bytes(type)); // little-endian
  if (type == DTYPE_I1)
    return (struct num){.type = type, .i = bits}; // another byte than 0 and 1 shows
  return num_int(type, bits);
}

void num_store(void *p, struct num v) {
  if (dtype_is_float(v.type))
    dtype_store(v.type, p, v.f);
  else
    memcpy(p, &v.i, dtype_bytes(v.type));
}

struct num num_round(struct num v) {
  char bytes[8];
  if (!dtype_is_float(v.type))
    return v;
  num_store(bytes, v);
  return num_load(v.type, bytes);
}

double num_double(struct num v) {
  if (dtype_is_float(v.type))
    return v.f;
  return v.type == DTYPE_U64 ? (double)(uint64_t)v.i : (double)v.i;
}

struct num num_cast(struct num v, enum dtype to) {
  bool from_float = dtype_is_float(v.type);
  if (to == DTYPE_I1)
    return num_int(to, from_float ? v.f != 0 : v.i != 0);
  if (dtype_is_float(to)) {
    if (!from_float && to == DTYPE_F32) // once, from 64 bits
      return num_float(to, v.type == DTYPE_U64 ? (double)(float)(uint64_t)v.i : (double)(float)v.i);
    return num_round(num_float(to, num_double(v)));
  }
  if (!from_float)
    return num_int(to, v.i);
  return num_int(to, to == DTYPE_U64 ? (int64_t)(uint64_t)v.f : (int64_t)v.f);
}

static enum dtype promote_floats(enum dtype a, enum dtype b, bool divides) {
  if (a == DTYPE_F64 || b == DTYPE_F64)
    return DTYPE_F64;
  if (a == DTYPE_F32 || b == DTYPE_F32)
    return DTYPE_F32;
  if (a == DTYPE_F16 || b == DTYPE_F16)
    return divides ? DTYPE_F32 : DTYPE_F16;
  if (a == DTYPE_BF16 || b == DTYPE_BF16)
    return a == b && !divides ? DTYPE_BF16 : DTYPE_F32;
  return a == b ? a : DTYPE_F16;
}

enum dtype num_promote(enum dtype a, enum dtype b, bool divides) {
  bool fa = dtype_is_float(a), fb = dtype_is_float(b);
  if (fa && fb)
    return promote_floats(a, b, divides);
  if (fa || fb) {
    enum dtype f = fa ? a : b;
    if (num_kind(f) == '8')
      return DTYPE_NONE;
    return f == DTYPE_BF16 || (divides && f == DTYPE_F16) ? DTYPE_F32 : f;
  }
  unsigned wa = dtype_bits(a), wb = dtype_bits(b);
  if (divides && dtype_is_signed(a) != dtype_is_signed(b))
    return DTYPE_NONE;
  if (wa != wb)
    return wa > wb ? a : b;
  return dtype_is_signed(a) ? b : a;
}

// ---- floating-point formats ----

struct format {
  int mantissa, smallest; // bits after the point; exponent of the smallest normal number
  double largest;
};

static struct format format_of(enum dtype t) {
  switch (t) {
  case DTYPE_F64: return (struct format){52, -1022, 1.7976931348623157e308};
  case DTYPE_F16: return (struct format){10, -14, 65504};
  case DTYPE_BF16: return (struct format){7, -126, 0x1.fep127};
  case DTYPE_F8E5: return (struct format){2, -14, 57344};
  case DTYPE_F8E4NV: return (struct format){3, -6, 448};
  case DTYPE_F8E4B15: return (struct format){3, -14, 1.75};
  default: return (struct format){23, -126, 0x1.fffffep127};
  }
}

double num_ulp(enum dtype t, double v) {
  struct format f = format_of(t);
  int e = v == 0 || !isfinite(v) ? f.smallest : ilogb(v);
  return ldexp(1, (e < f.smallest ? f.smallest : e) - f.mantissa);
}

double num_largest(enum dtype t) { return format_of(t).largest; }

int64_t num_min(enum dtype t) {
  return dtype_is_signed(t) ? (int64_t)(UINT64_MAX << (dtype_bits(t) - 1)) : 0;
}

int64_t num_max(enum dtype t) {
  unsigned bits = dtype_bits(t) - dtype_is_signed(t);
  return (int64_t)(UINT64_MAX >> (64 - bits));
}

bool num_agrees(struct num got, struct num want, double ulps, double atol) {
  if (!dtype_is_float(want.type))
    return got.i == want.i;
  double rounded = num_round(want).f;
  if (isnan(want.f) || isnan(got.f))
    return isnan(got.f) && isnan(rounded);
  if (got.f == rounded)
    return ulps > 0 || got.f != 0 || signbit(got.f) == signbit(rounded);
  return fabs(got.f - want.f) <= ulps * num_ulp(want.type, want.f) + atol;
}

void num_text(struct num v, char *text, size_t size) {
  if (dtype_is_float(v.type))
    snprintf(text, size, "%.17g (%a)", v.f, v.f);
  else if (dtype_is_signed(v.type))
    snprintf(text, size, "%" PRId64, v.i);
  else
    snprintf(text, size, "%" PRIu64, (uint64_t)v.i);
}
