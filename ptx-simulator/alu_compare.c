// SPDX-License-Identifier: Apache-2.0
// Comparisons and selections: setp, set, selp, slct (PTX ISA, "Comparison and Selection
// Instructions").
#include "ptx-simulator/alu_internal.h"

#include <assert.h>

// ---- comparing ----

enum order { ORDER_LESS, ORDER_EQUAL, ORDER_GREATER, ORDER_NONE };

static bool holds(enum alu_comparison c, enum order o) {
  bool less = o == ORDER_LESS, equal = o == ORDER_EQUAL, greater = o == ORDER_GREATER;
  bool none = o == ORDER_NONE;
  switch (c) {
  case COMPARE_EQ: return equal;
  case COMPARE_NE: return less || greater;
  case COMPARE_LT:
  case COMPARE_LO: return less;
  case COMPARE_LE:
  case COMPARE_LS: return less || equal;
  case COMPARE_GT:
  case COMPARE_HI: return greater;
  case COMPARE_GE:
  case COMPARE_HS: return greater || equal;
  case COMPARE_EQU: return equal || none;
  case COMPARE_NEU: return !equal;
  case COMPARE_LTU: return less || none;
  case COMPARE_LEU: return !greater;
  case COMPARE_GTU: return greater || none;
  case COMPARE_GEU: return !less;
  case COMPARE_NUM: return !none;
  case COMPARE_NAN: return none;
  case COMPARE_NONE: break;
  }
  assert(false);
  return false;
}

static enum order order_of_integers(enum alu_kind kind, unsigned bits, uint64_t a, uint64_t b) {
  a = alu_extend(a, kind, bits);
  b = alu_extend(b, kind, bits);
  bool less = kind == ALU_SIGNED ? (int64_t)a < (int64_t)b : a < b;
  return a == b ? ORDER_EQUAL : less ? ORDER_LESS : ORDER_GREATER;
}

// Magnitudes of floats have the order of their bits.
static enum order order_of_floats(const struct alu_format *f, bool flush, uint64_t a, uint64_t b) {
  struct number x = number_of(f, a, flush), y = number_of(f, b, flush);
  if (x.class == NUMBER_NAN || y.class == NUMBER_NAN)
    return ORDER_NONE;
  uint64_t sign = (uint64_t)1 << (f->bits - 1);
  uint64_t p = x.class == NUMBER_ZERO ? 0 : a & (sign - 1);
  uint64_t q = y.class == NUMBER_ZERO ? 0 : b & (sign - 1);
  int64_t i = x.negative ? -(int64_t)p : (int64_t)p, j = y.negative ? -(int64_t)q : (int64_t)q;
  return i == j ? ORDER_EQUAL : i < j ? ORDER_LESS : ORDER_GREATER;
}

static bool combined(enum alu_combine how, bool t, bool c) {
  switch (how) {
  case COMBINE_AND: return t && c;
  case COMBINE_OR: return t || c;
  case COMBINE_XOR: return t != c;
  case COMBINE_NONE: break;
  }
  return t;
}

// Compares element i of the operands.
static bool compares(const struct alu_instruction *in, const uint64_t *s, unsigned i) {
  const struct alu_format *f = &in->from;
  uint64_t a = alu_mask(s[0] >> i * f->bits, f->bits);
  uint64_t b = alu_mask(s[1] >> i * f->bits, f->bits);
  enum order o = f->kind == ALU_FLOAT ? order_of_floats(f, in->flags & FLAG_FTZ, a, b)
                                      : order_of_integers(f->kind, f->bits, a, b);
  return holds((enum alu_comparison)in->comparison, o);
}

// setp p|q: q is the result of the negated comparison. For packed types, p is that of the low
// element and q that of the high one.
static void run_setp(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  enum alu_combine how = (enum alu_combine)in->combine;
  bool c = how && s[2] & 1, t = compares(in, s, 0);
  bool other = in->from.elements == 2 ? compares(in, s, 1) : !t;
  r[0] = combined(how, t, c);
  r[1] = combined(how, other, c);
}

// True is all ones; 1.0 for a float result.
static uint64_t truth(const struct alu_format *t, bool value) {
  if (!value)
    return 0;
  return t->kind == ALU_FLOAT ? number_round(number_of_integer(1, false), t, ROUND_NONE, 0)
                              : alu_extend(UINT64_MAX, t->kind, t->bits);
}

static void run_set(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  enum alu_combine how = (enum alu_combine)in->combine;
  bool c = how && s[2] & 1;
  r[0] = truth(&in->type, combined(how, compares(in, s, 0), c));
  if (in->type.elements == 2)
    r[0] |= truth(&in->type, combined(how, compares(in, s, 1), c)) << in->type.bits;
}

// ---- selecting ----

static void run_selp(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  r[0] = alu_extend(s[s[2] & 1 ? 0 : 1], in->type.kind, in->type.bits);
}

static void run_slct(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *f = &in->from;
  enum order o = f->kind == ALU_FLOAT ? order_of_floats(f, in->flags & FLAG_FTZ, s[2], 0)
                                      : order_of_integers(f->kind, f->bits, s[2], 0);
  bool first = o == ORDER_GREATER || o == ORDER_EQUAL;
  r[0] = alu_extend(s[first ? 0 : 1], in->type.kind, in->type.bits);
}

// ---- decoding ----

// Whether this comparison exists for operands of the type.
static bool comparable(enum alu_comparison c, const struct alu_format *f, unsigned flags) {
  if (f->kind == ALU_FLOAT)
    return f->bits >= 16 && !alu_is(f, "tf32") && c != COMPARE_NONE &&
           !(c >= COMPARE_LO && c <= COMPARE_HS) &&
           (!flags || alu_is(f, "f32") || (f->bits == 16 && f->exponent_bits == 5));
  if (flags || f->bits < 16 || f->elements != 1)
    return false;
  if (f->kind == ALU_BITS || (f->kind == ALU_SIGNED && c >= COMPARE_LO))
    return c == COMPARE_EQ || c == COMPARE_NE;
  return c >= COMPARE_EQ && c <= (f->kind == ALU_UNSIGNED ? COMPARE_HS : COMPARE_GE);
}

static void add_compared(struct alu_instruction *in, const struct alu_words *w,
                         const struct alu_format *f) {
  in->from = *f;
  enum alu_kind kind = f->elements == 2 ? ALU_BITS : f->kind;
  alu_add_source(in, kind, f->bits * f->elements);
  alu_add_source(in, kind, f->bits * f->elements);
  if (w->combine)
    alu_add_source(in, ALU_PREDICATE, 1);
}

static bool plain(const struct alu_words *w) {
  return !(w->flags & ~FLAG_FTZ) && !w->rounding && !w->mode;
}

static bool decode_setp(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count != 1 || !plain(w) || !comparable(w->comparison, w->types[0], w->flags))
    return false;
  bool pair = w->types[0]->elements == 2;
  alu_begin(ret, w, w->types[0]);
  add_compared(ret, w, w->types[0]);
  alu_add_result(ret, ALU_PREDICATE, 1);
  alu_add_result(ret, ALU_PREDICATE, 1);
  ret->result_required = pair ? 2 : 1;
  ret->run = run_setp;
  return true;
}

static bool decode_set(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count != 2 || !plain(w) || !comparable(w->comparison, w->types[1], w->flags))
    return false;
  const struct alu_format *to = w->types[0], *from = w->types[1];
  bool word = alu_is(to, "u32") || alu_is(to, "s32") || alu_is(to, "f32");
  bool half = to->bits == 16 && to->elements == 1 && to->kind != ALU_BITS && from->bits == 16;
  bool pair = to->elements == 2 && alu_is(to, from->name);
  if (!pair && (from->elements == 2 || !(word || half)))
    return false;
  alu_begin(ret, w, to);
  add_compared(ret, w, from);
  alu_add_result(ret, pair ? ALU_BITS : to->kind, to->bits * to->elements);
  ret->run = run_set;
  return true;
}

static bool selectable(const struct alu_format *f) {
  return f->bits >= 16 && f->elements == 1 && !alu_is(f, "tf32") &&
         (f->kind != ALU_FLOAT || f->bits >= 32);
}

static bool decode_selp(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count != 1 || !alu_only_flags(w, 0) || !selectable(w->types[0]))
    return false;
  const struct alu_format *f = w->types[0];
  alu_begin(ret, w, f);
  alu_add_source(ret, f->kind, f->bits);
  alu_add_source(ret, f->kind, f->bits);
  alu_add_source(ret, ALU_PREDICATE, 1);
  alu_add_result(ret, f->kind, f->bits);
  ret->run = run_selp;
  return true;
}

static bool decode_slct(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->type_count != 2 || !selectable(w->types[0]))
    return false;
  const struct alu_format *to = w->types[0], *from = w->types[1];
  bool real = alu_is(from, "f32");
  if ((!real && !alu_is(from, "s32")) || !alu_only_flags(w, real ? FLAG_FTZ : 0))
    return false;
  alu_begin(ret, w, to);
  ret->from = *from;
  alu_add_source(ret, to->kind, to->bits);
  alu_add_source(ret, to->kind, to->bits);
  alu_add_source(ret, from->kind, 32);
  alu_add_result(ret, to->kind, to->bits);
  ret->run = run_slct;
  return true;
}

bool alu_decode_compare(const struct alu_words *w, struct alu_instruction *ret) {
  switch (w->operation) {
  case OPERATION_SETP: return decode_setp(w, ret);
  case OPERATION_SET: return decode_set(w, ret);
  case OPERATION_SELP: return decode_selp(w, ret);
  case OPERATION_SLCT: return decode_slct(w, ret);
  default: return false;
  }
}
