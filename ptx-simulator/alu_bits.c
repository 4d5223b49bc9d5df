// SPDX-License-Identifier: Apache-2.0
// Bit counts, bit fields, and dot products of bytes (PTX ISA, "Integer Arithmetic Instructions").
#include "ptx-simulator/alu_internal.h"

// ---- counting ----

static void run_count(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  unsigned bits = in->type.bits;
  uint64_t x = alu_mask(s[0], bits);
  if (in->operation == OPERATION_POPC)
    r[0] = (uint64_t)__builtin_popcountll(x);
  else
    r[0] = x ? bits - 1 - log2_floor(x) : bits;
}

// The highest bit that differs from the sign bit.
static void run_find(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  unsigned bits = in->type.bits;
  uint64_t x = alu_extend(s[0], in->type.kind, bits);
  if (in->type.kind == ALU_SIGNED && (int64_t)x < 0)
    x = ~x;
  if (x == 0)
    r[0] = UINT32_MAX;
  else
    r[0] = in->flags & FLAG_SHIFTAMT ? bits - 1 - log2_floor(x) : log2_floor(x);
}

static void run_reverse(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  uint64_t x = 0;
  for (unsigned i = 0; i < in->type.bits; i++)
    x |= (s[0] >> i & 1) << (in->type.bits - 1 - i);
  r[0] = x;
}

// The n-th set bit from `base` on, upward or downward.
static void run_nth(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  (void)in;
  uint32_t mask = (uint32_t)s[0];
  int64_t at = (uint32_t)s[1], offset = (int32_t)s[2], step = offset < 0 ? -1 : 1;
  int64_t skip = offset == 0 ? 0 : offset * step - 1;
  r[0] = UINT32_MAX;
  for (; at >= 0 && at < 32; at += step) {
    bool set = mask >> at & 1;
    if (set && skip == 0) {
      r[0] = (uint64_t)at;
      return;
    }
    skip -= set;
    if (offset == 0)
      return;
  }
}

// ---- fields ----

static void run_extract(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  unsigned bits = in->type.bits, at = s[1] & 0xff, length = s[2] & 0xff;
  uint64_t x = alu_mask(s[0], bits);
  unsigned last = at + length - 1 < bits - 1 ? at + length - 1 : bits - 1;
  bool negative = in->type.kind == ALU_SIGNED && length && x >> last & 1;
  uint64_t field = at < bits ? x >> at : 0;
  unsigned taken = at < bits ? bits - at : 0;
  taken = length < taken ? length : taken;
  field = taken ? alu_mask(field, taken) : 0;
  if (negative)
    field |= taken < 64 ? UINT64_MAX << taken : 0;
  r[0] = alu_extend(field, in->type.kind, bits);
}

static void run_insert(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  unsigned bits = in->type.bits, at = s[2] & 0xff, length = s[3] & 0xff;
  uint64_t field = at < bits ? alu_mask(alu_mask(UINT64_MAX, length) << at, bits) : 0;
  r[0] = alu_mask((s[1] & ~field) | (at < bits ? s[0] << at & field : 0), bits);
}

// Sign or zero extends the lowest b bits.
static void run_extend(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  uint32_t a = (uint32_t)s[0], b = (uint32_t)s[1];
  unsigned bits = b & 31;
  if (b >= 32 && in->flags & FLAG_CLAMP)
    r[0] = alu_extend(a, in->type.kind, 32);
  else
    r[0] = bits == 0 ? 0 : alu_extend(alu_extend(a, in->type.kind, bits), in->type.kind, 32);
}

// b ones from bit a on.
static void run_mask(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  bool clamps = in->flags & FLAG_CLAMP;
  uint32_t a = (uint32_t)s[0], b = (uint32_t)s[1];
  uint64_t ones = clamps && b >= 32 ? UINT32_MAX : alu_mask(UINT64_MAX, b & 31);
  r[0] = clamps && a >= 32 ? 0 : alu_mask(ones << (a & 31), 32);
}

// ---- dot products ----

// Part i of a word, extended as its type says.
static uint64_t part(uint64_t word, unsigned i, unsigned bits, enum alu_kind kind) {
  return alu_extend(word >> i * bits, kind, bits);
}

static void run_dot(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  bool is_dp2a = in->operation == OPERATION_DP2A;
  unsigned count = is_dp2a ? 2 : 4, first = in->flags & FLAG_HI ? 2 : 0;
  uint64_t sum = s[2];
  for (unsigned i = 0; i < count; i++)
    sum += part(s[0], i, 32 / count, in->type.kind) * part(s[1], first + i, 8, in->from.kind);
  r[0] = alu_extend(sum, in->results[0].kind, 32);
}

// ---- decoding ----

static bool is_word(const struct alu_format *t) { return t->bits >= 32 && t->elements == 1; }

static bool decode_dot(const struct alu_words *w, struct alu_instruction *ret) {
  unsigned half = w->flags & (FLAG_LO | FLAG_HI);
  bool is_dp2a = w->operation == OPERATION_DP2A;
  if (w->type_count != 2 || !alu_only_flags(w, is_dp2a ? half : 0) || (is_dp2a && !is_pow2(half)))
    return false;
  for (unsigned i = 0; i < 2; i++)
    if (!alu_is(w->types[i], "u32") && !alu_is(w->types[i], "s32"))
      return false;
  alu_begin(ret, w, w->types[0]);
  ret->from = *w->types[1];
  bool is_signed = ret->type.kind == ALU_SIGNED || ret->from.kind == ALU_SIGNED;
  enum alu_kind kind = is_signed ? ALU_SIGNED : ALU_UNSIGNED;
  alu_add_source(ret, ret->type.kind, 32);
  alu_add_source(ret, ret->from.kind, 32);
  alu_add_source(ret, kind, 32);
  alu_add_result(ret, kind, 32);
  ret->run = run_dot;
  return true;
}

// One operand of the type, `counts` more of u32; the result has the type or u32.
static bool one(const struct alu_words *w, unsigned typed, unsigned counts, bool counted,
                alu_run_fn *run, struct alu_instruction *ret) {
  const struct alu_format *t = w->types[0];
  alu_begin(ret, w, t);
  for (unsigned i = 0; i < typed; i++)
    alu_add_source(ret, t->kind, t->bits);
  for (unsigned i = 0; i < counts; i++)
    alu_add_source(ret, ALU_UNSIGNED, 32);
  alu_add_result(ret, counted ? ALU_UNSIGNED : t->kind, counted ? 32 : t->bits);
  ret->run = run;
  return true;
}

bool alu_decode_bits(const struct alu_words *w, struct alu_instruction *ret) {
  if (w->operation == OPERATION_DP4A || w->operation == OPERATION_DP2A)
    return decode_dot(w, ret);
  const struct alu_format *t = w->type_count == 1 ? w->types[0] : NULL;
  if (!t || !is_word(t) || t->kind == ALU_FLOAT)
    return false;
  bool bits = t->kind == ALU_BITS;
  unsigned ends = w->flags & (FLAG_CLAMP | FLAG_WRAP);
  switch (w->operation) {
  case OPERATION_POPC:
  case OPERATION_CLZ: return bits && alu_only_flags(w, 0) && one(w, 1, 0, true, run_count, ret);
  case OPERATION_BFIND:
    return !bits && alu_only_flags(w, FLAG_SHIFTAMT) && one(w, 1, 0, true, run_find, ret);
  case OPERATION_BREV: return bits && alu_only_flags(w, 0) && one(w, 1, 0, false, run_reverse, ret);
  case OPERATION_BFE: return !bits && alu_only_flags(w, 0) && one(w, 1, 2, false, run_extract, ret);
  case OPERATION_BFI: return bits && alu_only_flags(w, 0) && one(w, 2, 2, false, run_insert, ret);
  case OPERATION_FNS:
    return alu_is(t, "b32") && alu_only_flags(w, 0) && one(w, 1, 2, true, run_nth, ret);
  case OPERATION_SZEXT:
    return !bits && t->bits == 32 && is_pow2(ends) && alu_only_flags(w, ends) &&
           one(w, 1, 1, false, run_extend, ret);
  case OPERATION_BMSK:
    return alu_is(t, "b32") && is_pow2(ends) && alu_only_flags(w, ends) &&
           one(w, 0, 2, false, run_mask, ret);
  default: return false;
  }
}
