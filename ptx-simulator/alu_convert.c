// SPDX-License-Identifier: Apache-2.0
// Conversions between types (PTX ISA, "cvt" and "cvt.pack").
#include "ptx-simulator/alu_internal.h"

#include <assert.h>

// ---- elements ----

static int64_t lowest(const struct alu_format *t) {
  return t->kind == ALU_SIGNED ? INT64_MIN >> (64 - t->bits) : 0;
}
static uint64_t highest(const struct alu_format *t) {
  return alu_mask(UINT64_MAX, t->kind == ALU_SIGNED ? t->bits - 1 : t->bits);
}

static unsigned number_flags(const struct alu_instruction *in) {
  return (in->flags & FLAG_FTZ && in->type.bits == 32 ? NUMBER_FTZ : 0) |
         (in->flags & FLAG_SAT ? NUMBER_SAT : 0) | (in->flags & FLAG_RELU ? NUMBER_RELU : 0) |
         (in->flags & FLAG_SATFINITE ? NUMBER_SATFINITE : 0);
}

// One element of the source; `.ftz` applies to f32 only.
static struct number read_float(const struct alu_instruction *in, uint64_t bits) {
  return number_of(&in->from, bits, in->flags & FLAG_FTZ && in->from.bits == 32);
}

static uint64_t rounded(const struct alu_instruction *in, struct number x) {
  return number_round(x, &in->type, (enum alu_rounding)in->rounding, number_flags(in));
}

// ---- scalars ----

static void run_integers(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *to = &in->type, *from = &in->from;
  uint64_t x = alu_extend(s[0], from->kind, from->bits);
  if (in->flags & FLAG_SAT) {
    bool negative = from->kind == ALU_SIGNED && (int64_t)x < 0;
    if (negative)
      x = (int64_t)x < lowest(to) ? (uint64_t)lowest(to) : x;
    else
      x = x > highest(to) ? highest(to) : x;
  }
  r[0] = alu_extend(x, to->kind, to->bits);
}

static void run_integer_to_float(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  uint64_t x = alu_extend(s[0], in->from.kind, in->from.bits);
  bool negative = in->from.kind == ALU_SIGNED && (int64_t)x < 0;
  r[0] = rounded(in, number_of_integer(negative ? -x : x, negative));
}

// NaN gives 0; only the highest bit is set if one of the types has 64 bits.
static void run_float_to_integer(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *to = &in->type;
  struct number x = number_integral(read_float(in, s[0]), (enum alu_rounding)in->rounding);
  bool wide = to->bits == 64 || in->from.bits == 64;
  if (x.class == NUMBER_NAN)
    r[0] = wide ? alu_extend((uint64_t)1 << (to->bits - 1), to->kind, to->bits) : 0;
  else
    r[0] = number_clamped(x, lowest(to), highest(to));
}

static void run_floats(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  struct number x = read_float(in, s[0]);
  if (in->flags & FLAG_INTEGRAL)
    x = number_integral(x, (enum alu_rounding)in->rounding);
  r[0] = rounded(in, x);
}

// ---- pairs ----

// The first source becomes the high element.
static void run_two(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  r[0] = rounded(in, read_float(in, s[0])) << in->type.bits | rounded(in, read_float(in, s[1]));
}

static void run_pair(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  struct number low = read_float(in, alu_mask(s[0], in->from.bits));
  struct number high = read_float(in, alu_mask(s[0] >> in->from.bits, in->from.bits));
  r[0] = rounded(in, high) << in->type.bits | rounded(in, low);
}

// ---- decoding ----

static bool is_bit8(const struct alu_format *f) { return f->kind == ALU_FLOAT && f->bits == 8; }
static bool is_bit16_pair(const struct alu_format *f) {
  return f->kind == ALU_FLOAT && f->bits == 16 && f->elements == 2;
}

static bool decode_pairs(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *to = w->types[0], *from = w->types[1];
  bool two = alu_is(from, "f32"), nearest = w->rounding == ROUND_NEAREST;
  bool finite = w->flags & FLAG_SATFINITE;
  if (w->flags & ~(FLAG_RELU | FLAG_SATFINITE))
    return false;
  if (is_bit8(to)) {
    if (!nearest || !finite || !(two || alu_is(from, "f16x2")))
      return false;
  } else if (is_bit8(from)) {
    if (!nearest || finite || !alu_is(to, "f16x2"))
      return false;
  } else if (!two || !is_bit16_pair(to) || (!nearest && w->rounding != ROUND_ZERO)) {
    return false;
  }
  alu_begin(ret, w, to);
  ret->from = *from;
  for (unsigned i = 0; i < (two ? 2u : 1u); i++)
    alu_add_source(ret, two ? ALU_FLOAT : ALU_BITS, from->bits * from->elements);
  alu_add_result(ret, ALU_BITS, to->bits * to->elements);
  ret->run = two ? run_two : run_pair;
  return true;
}

static bool decode_tf32(const struct alu_words *w) {
  bool away = w->rounding == ROUND_AWAY;
  unsigned flags = FLAG_SATFINITE | (away ? 0 : FLAG_RELU);
  return alu_is(w->types[1], "f32") && !(w->flags & ~flags) &&
         (away || w->rounding == ROUND_NEAREST || w->rounding == ROUND_ZERO);
}

// Whether the rounding modifier is there exactly when these types need one.
static bool rounds_as_needed(const struct alu_words *w, const struct alu_format *to,
                             const struct alu_format *from) {
  if (w->flags & FLAG_INTEGRAL)
    return alu_is(to, from->name);
  bool exact = to->exponent_bits >= from->exponent_bits && to->mantissa_bits >= from->mantissa_bits;
  return exact == (w->rounding == ROUND_NONE);
}

static alu_run_fn *decode_scalar(const struct alu_words *w) {
  const struct alu_format *to = w->types[0], *from = w->types[1];
  bool to_float = to->kind == ALU_FLOAT, from_float = from->kind == ALU_FLOAT;
  bool f32 = alu_is(to, "f32") || alu_is(from, "f32"), integral = w->flags & FLAG_INTEGRAL;
  bool narrows = to_float && to->bits == 16 && alu_is(from, "f32") &&
                 (w->rounding == ROUND_NEAREST || w->rounding == ROUND_ZERO);
  unsigned flags = FLAG_SAT | FLAG_INTEGRAL | (f32 ? FLAG_FTZ : 0);
  if (w->flags & (FLAG_RELU | FLAG_SATFINITE))
    flags = narrows ? FLAG_RELU | FLAG_SATFINITE : 0;
  if (w->flags & ~flags || w->rounding == ROUND_AWAY)
    return NULL;
  if (to_float && from_float)
    return rounds_as_needed(w, to, from) ? run_floats : NULL;
  if (to_float)
    return w->rounding && !integral ? run_integer_to_float : NULL;
  if (from_float)
    return integral ? run_float_to_integer : NULL;
  return w->rounding ? NULL : run_integers;
}

static bool is_scalar(const struct alu_format *f) {
  bool integer = f->kind == ALU_SIGNED || f->kind == ALU_UNSIGNED;
  return f->elements == 1 && ((integer && f->bits >= 8) || (f->kind == ALU_FLOAT && f->bits >= 16));
}

bool alu_decode_convert(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count != 2 || w->comparison || w->combine || w->mode)
    return false;
  const struct alu_format *to = w->types[0], *from = w->types[1];
  if (to->elements == 2 || from->elements == 2)
    return decode_pairs(w, ret);
  if (!is_scalar(to) || !is_scalar(from) || alu_is(from, "tf32"))
    return false;
  bool tf32 = alu_is(to, "tf32");
  alu_run_fn *run = tf32 ? (decode_tf32(w) ? run_floats : NULL) : decode_scalar(w);
  if (!run)
    return false;
  alu_begin(ret, w, to);
  ret->from = *from;
  alu_add_source(ret, from->kind, from->bits);
  alu_add_result(ret, tf32 ? ALU_BITS : to->kind, to->bits);
  ret->run = run;
  return true;
}

// ---- cvt.pack ----

// Two clamped integers side by side, the first one in the higher bits; above them the low bits of
// c.
static void run_pack(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *to = &in->type;
  uint64_t both = in->source_count == 3 ? s[2] << 2 * to->bits : 0;
  for (unsigned i = 0; i < 2; i++) {
    int64_t x = alu_signed(s[i], 32);
    uint64_t clamped = x < lowest(to)             ? (uint64_t)lowest(to)
                       : x > (int64_t)highest(to) ? highest(to)
                                                  : (uint64_t)x;
    both |= alu_mask(clamped, to->bits) << (i == 0 ? to->bits : 0);
  }
  r[0] = alu_mask(both, 32);
}

bool alu_decode_pack(const struct alu_words *w, struct alu_instruction *ret) {
  bool third = w->type_count == 3;
  if (w->type_count < 2 || w->flags != FLAG_SAT || !alu_only_flags(w, FLAG_SAT))
    return false;
  const struct alu_format *to = w->types[0];
  bool integer = to->elements == 1 && (to->kind == ALU_SIGNED || to->kind == ALU_UNSIGNED);
  if (!integer || !alu_is(w->types[1], "s32") || (third ? to->bits > 8 : to->bits != 16) ||
      (third && !alu_is(w->types[2], "b32")))
    return false;
  alu_begin(ret, w, to);
  alu_add_source(ret, ALU_SIGNED, 32);
  alu_add_source(ret, ALU_SIGNED, 32);
  if (third)
    alu_add_source(ret, ALU_BITS, 32);
  alu_add_result(ret, ALU_BITS, 32);
  ret->run = run_pack;
  return true;
}
