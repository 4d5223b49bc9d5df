// SPDX-License-Identifier: Apache-2.0
// Float arithmetic: add, sub, mul, fma, div, min, max, abs, neg, copysign (PTX ISA, "Floating Point
// Instructions", "Half Precision Floating Point Instructions" and the mixed precision ones).
#include "ptx-simulator/alu_internal.h"

#include <assert.h>
#include <math.h>

static unsigned result_flags(const struct alu_instruction *in) {
  return (in->flags & FLAG_FTZ ? NUMBER_FTZ : 0) | (in->flags & FLAG_SAT ? NUMBER_SAT : 0) |
         (in->flags & FLAG_RELU ? NUMBER_RELU : 0);
}

static struct number read(const struct alu_instruction *in, const struct alu_format *f,
                          uint64_t bits) {
  return number_of(f, bits, in->flags & FLAG_FTZ);
}

// Without a rounding modifier: to nearest.
static enum alu_rounding rounding_of(const struct alu_instruction *in) {
  return in->rounding ? (enum alu_rounding)in->rounding : ROUND_NEAREST;
}

static void write(const struct alu_instruction *in, struct number x, uint64_t *r) {
  r[0] = number_round(x, &in->type, rounding_of(in), result_flags(in));
}

// ---- sums, products, quotients ----

static void run_exact(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  // add and sub of mixed types: a has the second type; fma: a and b have it.
  bool fused = in->operation == OPERATION_FMA || in->operation == OPERATION_MAD;
  const struct alu_format *mixed = in->from.name ? &in->from : &in->type;
  struct number a = read(in, mixed, s[0]);
  struct number b = read(in, fused ? mixed : &in->type, s[1]);
  enum alu_rounding rounding = rounding_of(in);
  switch (in->operation) {
  case OPERATION_SUB:
    b.negative = !b.negative;
    write(in, number_sum(a, b, rounding), r);
    break;
  case OPERATION_ADD: write(in, number_sum(a, b, rounding), r); break;
  case OPERATION_MUL: write(in, number_product(a, b), r); break;
  case OPERATION_DIV: write(in, number_quotient(a, b), r); break;
  default:
    assert(fused);
    write(in, number_sum(number_product(a, b), read(in, &in->type, s[2]), rounding), r);
  }
}

static float float_of(const struct alu_instruction *in, uint64_t word) {
  uint32_t bits = (uint32_t)word;
  if (in->flags & FLAG_FTZ && (bits & 0x7f800000) == 0)
    bits &= 0x80000000;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// f32 to nearest: the processor's own arithmetic gives the same.
static void run_f32(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  float a = float_of(in, s[0]), b = float_of(in, s[1]), x;
  switch (in->operation) {
  case OPERATION_ADD: x = a + b; break;
  case OPERATION_SUB: x = a - b; break;
  case OPERATION_MUL: x = a * b; break;
  case OPERATION_DIV: x = a / b; break;
  default: x = fmaf(a, b, float_of(in, s[2]));
  }
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000)
    bits = 0x7fffffff;
  else if (in->flags & FLAG_FTZ && (bits & 0x7f800000) == 0)
    bits &= 0x80000000;
  r[0] = bits;
}

static void run_f64(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  double a, b, c, x;
  memcpy(&a, &s[0], sizeof a);
  memcpy(&b, &s[1], sizeof b);
  switch (in->operation) {
  case OPERATION_ADD: x = a + b; break;
  case OPERATION_SUB: x = a - b; break;
  case OPERATION_MUL: x = a * b; break;
  case OPERATION_DIV: x = a / b; break;
  default: memcpy(&c, &s[2], sizeof c); x = fma(a, b, c);
  }
  memcpy(r, &x, sizeof x);
  if (isnan(x))
    r[0] = number_nan(&in->type);
}

// ---- order ----

static bool is_nan(const struct alu_format *f, uint64_t x) {
  return number_of(f, x, false).class == NUMBER_NAN;
}

static uint64_t sign_of(const struct alu_format *f) { return (uint64_t)1 << (f->bits - 1); }

static uint64_t flushed(const struct alu_instruction *in, uint64_t x) {
  const struct alu_format *f = &in->type;
  uint64_t exponent = (((uint64_t)1 << f->exponent_bits) - 1) << f->mantissa_bits;
  x = alu_mask(x, f->bits);
  return in->flags & FLAG_FTZ && !(x & exponent) ? x & sign_of(f) : x;
}

// Maps bits to integers in the order of the numbers, -0 below +0.
static int64_t rank(const struct alu_format *f, uint64_t x) {
  uint64_t magnitude = x & (sign_of(f) - 1);
  return x & sign_of(f) ? -1 - (int64_t)magnitude : (int64_t)magnitude;
}

static void run_order(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *f = &in->type;
  uint64_t a = flushed(in, s[0]), b = flushed(in, s[1]), sign = (a ^ b) & sign_of(f);
  if (in->flags & FLAG_ABS) {
    a &= ~sign_of(f);
    b &= ~sign_of(f);
  }
  bool a_nan = is_nan(f, a), b_nan = is_nan(f, b);
  if ((a_nan && b_nan) || (in->flags & FLAG_NAN && (a_nan || b_nan))) {
    r[0] = number_nan(f);
    return;
  }
  bool takes_a = b_nan || (!a_nan && (rank(f, a) < rank(f, b)) == (in->operation == OPERATION_MIN));
  r[0] = takes_a ? a : b;
  if (in->flags & FLAG_XORSIGN)
    r[0] |= sign;
}

// ---- signs and properties ----

static void run_sign(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  uint64_t sign = sign_of(&in->type), x = flushed(in, s[0]);
  if (in->operation == OPERATION_COPYSIGN)
    r[0] = (x & sign) | (flushed(in, s[1]) & ~sign);
  else
    r[0] = in->operation == OPERATION_ABS ? x & ~sign : x ^ sign;
}

static void run_test(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  enum number_class class = number_of(&in->type, s[0], false).class;
  bool zero = class == NUMBER_ZERO;
  bool subnormal = !zero && number_of(&in->type, s[0], true).class == NUMBER_ZERO;
  switch (in->mode) {
  case MODE_FINITE: r[0] = class == NUMBER_FINITE || zero; break;
  case MODE_INFINITE: r[0] = class == NUMBER_INFINITE; break;
  case MODE_NUMBER: r[0] = class != NUMBER_NAN; break;
  case MODE_NOTANUMBER: r[0] = class == NUMBER_NAN; break;
  case MODE_NORMAL: r[0] = class == NUMBER_FINITE && !subnormal; break;
  default: r[0] = subnormal;
  }
}

// ---- decoding ----

static bool is_f32(const struct alu_format *f) { return alu_is(f, "f32"); }
static bool is_f64(const struct alu_format *f) { return alu_is(f, "f64"); }
static bool is_half(const struct alu_format *f) { return f->bits == 16 && f->exponent_bits == 5; }
static bool is_bfloat(const struct alu_format *f) { return f->bits == 16 && f->exponent_bits == 8; }
static bool is_arithmetic(const struct alu_format *f) {
  return is_f32(f) || is_f64(f) || is_half(f) || is_bfloat(f);
}

// Flags allowed for sum, product and fma of a type.
static unsigned allowed_flags(const struct alu_words *w, const struct alu_format *f) {
  bool fused = w->operation == OPERATION_FMA;
  if (is_f32(f))
    return FLAG_FTZ | FLAG_SAT;
  if (is_half(f))
    return FLAG_FTZ | (fused && w->flags & FLAG_RELU ? FLAG_RELU : FLAG_SAT);
  return is_bfloat(f) && fused ? FLAG_RELU : 0;
}

static alu_run_fn *exact_run(const struct alu_instruction *in) {
  bool nearest = rounding_of(in) == ROUND_NEAREST && !(in->flags & (FLAG_SAT | FLAG_RELU));
  if (nearest && is_f32(&in->type))
    return run_f32;
  return nearest && is_f64(&in->type) ? run_f64 : run_exact;
}

// `flags` are those that the instruction allows; any other modifier except a rounding is rejected.
static bool plain(const struct alu_words *w, unsigned flags) {
  return !(w->flags & ~flags) && !w->comparison && !w->combine && !w->mode &&
         w->rounding != ROUND_AWAY && !(w->flags & FLAG_INTEGRAL);
}

// add.f32.f16, fma.rn.f32.bf16: 16-bit operands, the rest in f32.
static bool decode_mixed(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *f = w->types[1];
  bool fused = w->operation == OPERATION_FMA;
  bool known = fused || w->operation == OPERATION_ADD || w->operation == OPERATION_SUB;
  if (!known || !is_f32(w->types[0]) || f->elements != 1 || !(is_half(f) || is_bfloat(f)))
    return false;
  if (!plain(w, FLAG_SAT) || (fused && !w->rounding))
    return false;
  alu_begin(ret, w, w->types[0]);
  ret->from = *f;
  alu_add_source(ret, ALU_FLOAT, 16);
  if (fused)
    alu_add_source(ret, ALU_FLOAT, 16);
  alu_add_source(ret, ALU_FLOAT, 32);
  alu_add_result(ret, ALU_FLOAT, 32);
  ret->run = run_exact;
  return true;
}

static bool decode_exact(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count == 2)
    return decode_mixed(w, ret);
  const struct alu_format *f = w->types[0];
  bool fused = w->operation == OPERATION_FMA || w->operation == OPERATION_MAD;
  bool small = is_half(f) || is_bfloat(f);
  if (!plain(w, allowed_flags(w, f)) || (fused && !w->rounding))
    return false;
  if (small && ((w->rounding && w->rounding != ROUND_NEAREST) || w->operation == OPERATION_MAD))
    return false;
  alu_begin(ret, w, f);
  alu_finish(ret, fused ? 3 : 2, exact_run(ret));
  return true;
}

static bool decode_division(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *f = w->types[0];
  unsigned approximate = w->flags & (FLAG_APPROX | FLAG_FULL);
  if (w->type_count != 1 || !(is_f32(f) || is_f64(f)))
    return false;
  if (!plain(w, is_f32(f) ? FLAG_FTZ | approximate : 0))
    return false;
  if (approximate ? !is_pow2(approximate) || w->rounding : !w->rounding)
    return false;
  alu_begin(ret, w, f);
  alu_finish(ret, 2, exact_run(ret));
  return true;
}

static bool decode_order(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *f = w->types[0];
  unsigned flags = is_f64(f) ? 0 : FLAG_NAN | FLAG_XORSIGN | FLAG_ABS;
  flags |= is_f32(f) || is_half(f) ? FLAG_FTZ : 0;
  if (w->type_count != 1 || !alu_only_flags(w, flags))
    return false;
  if (!(w->flags & FLAG_XORSIGN) != !(w->flags & FLAG_ABS))
    return false;
  alu_begin(ret, w, f);
  alu_finish(ret, 2, run_order);
  return true;
}

static bool decode_sign(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *f = w->types[0];
  bool copies = w->operation == OPERATION_COPYSIGN;
  if (w->type_count != 1 || (copies && !is_f32(f) && !is_f64(f)))
    return false;
  if (!alu_only_flags(w, !copies && (is_f32(f) || is_half(f)) ? FLAG_FTZ : 0))
    return false;
  alu_begin(ret, w, f);
  alu_finish(ret, copies ? 2 : 1, run_sign);
  return true;
}

static bool decode_test(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *f = w->types[0];
  struct alu_words words = *w;
  words.mode = MODE_NONE;
  if (w->type_count != 1 || w->mode < MODE_FINITE || !(is_f32(f) || is_f64(f)) ||
      !alu_only_flags(&words, 0))
    return false;
  alu_begin(ret, w, f);
  alu_add_source(ret, ALU_FLOAT, f->bits);
  alu_add_result(ret, ALU_PREDICATE, 1);
  ret->run = run_test;
  return true;
}

bool alu_decode_float(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count == 0 || w->type_count > 2 || !is_arithmetic(w->types[0]) ||
      w->types[0]->kind != ALU_FLOAT)
    return false;
  switch (w->operation) {
  case OPERATION_ADD:
  case OPERATION_SUB:
  case OPERATION_MUL:
  case OPERATION_FMA:
  case OPERATION_MAD: return decode_exact(w, ret);
  case OPERATION_DIV: return decode_division(w, ret);
  case OPERATION_MIN:
  case OPERATION_MAX: return decode_order(w, ret);
  case OPERATION_ABS:
  case OPERATION_NEG:
  case OPERATION_COPYSIGN: return decode_sign(w, ret);
  case OPERATION_TESTP: return decode_test(w, ret);
  default: return false;
  }
}
