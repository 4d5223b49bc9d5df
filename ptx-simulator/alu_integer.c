// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
// Arithmetic Instructions").
#include "ptx-simulator/alu_internal.h"

static uint64_t finish(const struct alu_format *t, uint64_t x) {
  return alu_extend(x, t->kind, t->bits);
}

// Operands extended to 64 bits, by the type's sign.
struct operands {
  uint64_t a, b, c;
};

static struct operands read(const struct alu_instruction *in, const uint64_t *s) {
  const struct alu_format *t = &in->type;
  struct operands x = {0};
  x.a = finish(t, s[0]);
  x.b = in->source_count > 1 ? finish(t, s[1]) : 0;
  if (in->source_count > 2) // c of mad.wide is as wide as the result
    x.c = alu_extend(s[2], t->kind, in->sources[2].bits);
  return x;
}

static bool less(const struct alu_format *t, uint64_t a, uint64_t b) {
  return t->kind == ALU_SIGNED ? (int64_t)a < (int64_t)b : a < b;
}

// ---- sums ----

// add.sat and sub.sat exist for s32 only.
static uint64_t clamp_s32(int64_t x) {
  return (uint64_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

static void run_sum(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  struct operands x = read(in, s);
  uint64_t sum = in->operation == OPERATION_ADD ? x.a + x.b : x.a - x.b;
  r[0] = in->flags & FLAG_SAT ? clamp_s32((int64_t)sum) : finish(&in->type, sum);
}

// The carry predicate: the sum overflows, or the difference borrows.
static void run_carry(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  unsigned bits = in->type.bits;
  bool subtracts = in->operation == OPERATION_SUB || in->operation == OPERATION_SUBC;
  alu_wide a = alu_mask(s[0], bits), b = alu_mask(s[1], bits), carry = in->carry_in ? s[2] & 1 : 0;
  alu_wide sum = subtracts ? a - b - carry : a + b + carry;
  r[0] = finish(&in->type, (uint64_t)sum);
  if (in->carry_out)
    r[1] = sum >> bits & 1;
}

static bool decode_sum(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *t = w->types[0];
  bool carries = w->operation == OPERATION_ADDC || w->operation == OPERATION_SUBC;
  if (w->type_count != 1 || !alu_only_flags(w, FLAG_SAT | FLAG_CC) || t->bits < 16)
    return false;
  if ((w->flags & FLAG_SAT && !alu_is(t, "s32")) || w->flags == (FLAG_SAT | FLAG_CC))
    return false;
  alu_begin(ret, w, t);
  if (!carries && !(w->flags & FLAG_CC)) {
    alu_finish(ret, 2, run_sum);
    return true;
  }
  if (t->elements == 2 || t->bits < 32 || w->flags & FLAG_SAT)
    return false;
  alu_finish(ret, 2, run_carry);
  ret->carry_in = carries;
  ret->carry_out = w->flags & FLAG_CC;
  if (carries)
    alu_add_source(ret, ALU_PREDICATE, 1);
  if (ret->carry_out)
    alu_add_result(ret, ALU_PREDICATE, 1);
  return true;
}

// ---- products ----

static alu_wide product(const struct alu_format *t, uint64_t a, uint64_t b) {
  __extension__ typedef __int128 wide_signed;
  return t->kind == ALU_SIGNED ? (alu_wide)((wide_signed)(int64_t)a * (int64_t)b) : (alu_wide)a * b;
}

static void run_product(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *t = &in->type;
  struct operands x = read(in, s);
  unsigned result_bits = in->results[0].bits;
  alu_wide p = product(t, x.a, x.b);
  uint64_t part = (uint64_t)(in->flags & FLAG_HI ? p >> t->bits : p);
  if (in->flags & FLAG_HI)
    part = finish(t, part);
  bool saturates = in->flags & FLAG_SAT; // mad.hi.sat.s32
  r[0] =
      saturates ? clamp_s32((int64_t)(part + x.c)) : alu_extend(part + x.c, t->kind, result_bits);
}

static void run_product24(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *t = &in->type;
  uint64_t a = alu_extend(s[0], t->kind, 24), b = alu_extend(s[1], t->kind, 24);
  uint64_t p = a * b; // 48 bits
  uint64_t part = finish(t, in->flags & FLAG_HI ? p >> 16 : p);
  uint64_t c = in->source_count > 2 ? finish(t, s[2]) : 0;
  r[0] = in->flags & FLAG_SAT ? clamp_s32((int64_t)(part + c)) : finish(t, part + c);
}

static bool decode_product(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *t = w->types[0];
  bool is24 = w->operation == OPERATION_MUL24 || w->operation == OPERATION_MAD24;
  bool adds = w->operation == OPERATION_MAD || w->operation == OPERATION_MAD24;
  unsigned part = w->flags & (FLAG_LO | FLAG_HI | FLAG_WIDE);
  bool carries = w->flags & FLAG_CC; // mad.cc: no known compiler emits it
  if (w->type_count != 1 || !alu_only_flags(w, part | FLAG_SAT) || !is_pow2(part) || carries)
    return false;
  if (t->elements == 2 || t->kind == ALU_BITS || t->bits < 16)
    return false;
  if (w->flags & FLAG_SAT && !(adds && part == FLAG_HI && alu_is(t, "s32")))
    return false;
  if ((part == FLAG_WIDE && (t->bits == 64 || is24)) || (is24 && t->bits != 32))
    return false;
  alu_begin(ret, w, t);
  unsigned bits = part == FLAG_WIDE ? 2 * t->bits : t->bits;
  alu_add_source(ret, t->kind, t->bits);
  alu_add_source(ret, t->kind, t->bits);
  if (adds)
    alu_add_source(ret, t->kind, bits);
  alu_add_result(ret, t->kind, bits);
  ret->run = is24 ? run_product24 : run_product;
  return true;
}

// ---- division ----

static void run_division(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *t = &in->type;
  struct operands x = read(in, s);
  uint64_t quotient, rest;
  if (x.b == 0) {
    quotient = UINT64_MAX;
    rest = x.a;
  } else if (t->kind != ALU_SIGNED) {
    quotient = x.a / x.b;
    rest = x.a % x.b;
  } else if (x.b == UINT64_MAX) { // division by -1: the lowest number is its own negative
    quotient = -x.a;
    rest = 0;
  } else {
    quotient = (uint64_t)((int64_t)x.a / (int64_t)x.b);
    rest = (uint64_t)((int64_t)x.a % (int64_t)x.b);
  }
  r[0] = finish(t, in->operation == OPERATION_DIV ? quotient : rest);
}

// ---- order ----

static void run_order(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *t = &in->type;
  struct operands x = read(in, s);
  bool first = less(t, x.a, x.b) == (in->operation == OPERATION_MIN);
  uint64_t y = x.a == x.b || first ? x.a : x.b;
  r[0] = in->flags & FLAG_RELU && (int64_t)y < 0 ? 0 : y;
}

static void run_magnitude(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  struct operands x = read(in, s);
  bool negates = in->operation == OPERATION_NEG || (int64_t)x.a < 0;
  r[0] = finish(&in->type, negates ? -x.a : x.a);
}

static void run_sad(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  struct operands x = read(in, s);
  r[0] = finish(&in->type, x.c + (less(&in->type, x.a, x.b) ? x.b - x.a : x.a - x.b));
}

static bool simple(const struct alu_words *w, unsigned sources, unsigned flags, alu_run_fn *run,
                   struct alu_instruction *ret) {
  const struct alu_format *t = w->types[0];
  if (w->type_count != 1 || !alu_only_flags(w, flags) || t->kind == ALU_BITS || t->bits < 16)
    return false;
  alu_begin(ret, w, t);
  alu_finish(ret, sources, run);
  return true;
}

static bool decode_order(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *t = w->types[0];
  if (w->flags & FLAG_RELU && !alu_is(t, "s16x2") && !alu_is(t, "s32"))
    return false;
  return simple(w, 2, FLAG_RELU, run_order, ret);
}

bool alu_decode_integer(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *t = w->type_count ? w->types[0] : NULL;
  if (!t || t->kind == ALU_FLOAT || t->kind == ALU_PREDICATE)
    return false;
  bool pair = t->elements == 2;
  switch (w->operation) {
  case OPERATION_ADD:
  case OPERATION_SUB:
    if (pair && w->operation == OPERATION_SUB)
      return false;
    return t->kind != ALU_BITS && decode_sum(w, ret);
  case OPERATION_ADDC:
  case OPERATION_SUBC: return t->kind != ALU_BITS && decode_sum(w, ret);
  case OPERATION_MUL:
  case OPERATION_MAD:
  case OPERATION_MUL24:
  case OPERATION_MAD24: return decode_product(w, ret);
  case OPERATION_DIV:
  case OPERATION_REM: return !pair && simple(w, 2, 0, run_division, ret);
  case OPERATION_MIN:
  case OPERATION_MAX: return decode_order(w, ret);
  case OPERATION_ABS:
  case OPERATION_NEG: return !pair && t->kind == ALU_SIGNED && simple(w, 1, 0, run_magnitude, ret);
  case OPERATION_SAD: return !pair && simple(w, 3, 0, run_sad, ret);
  default: return false;
  }
}
