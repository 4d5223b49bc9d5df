// SPDX-License-Identifier: Apache-2.0
// Logic, shifts and byte permutation (PTX ISA, "Logic and Shift Instructions" and `prmt`).
#include "ptx-simulator/alu_internal.h"

#include <assert.h>

static void run_logic(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  unsigned bits = in->type.bits;
  uint64_t x = 0;
  switch (in->operation) {
  case OPERATION_AND: x = s[0] & s[1]; break;
  case OPERATION_OR: x = s[0] | s[1]; break;
  case OPERATION_XOR: x = s[0] ^ s[1]; break;
  case OPERATION_NOT: x = ~s[0]; break;
  default: assert(in->operation == OPERATION_CNOT); x = alu_mask(s[0], bits) == 0;
  }
  r[0] = alu_mask(x, bits);
}

static bool combine(enum alu_combine how, bool a, bool b) {
  switch (how) {
  case COMBINE_AND: return a && b;
  case COMBINE_OR: return a || b;
  case COMBINE_XOR: return a != b;
  case COMBINE_NONE: break;
  }
  return a;
}

// Bit 4 a + 2 b + c of the table is the result for bits a, b, c.
static void run_table(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  uint64_t x = 0;
  for (unsigned i = 0; i < 8; i++)
    if (s[3] >> i & 1)
      x |= (i & 4 ? s[0] : ~s[0]) & (i & 2 ? s[1] : ~s[1]) & (i & 1 ? s[2] : ~s[2]);
  r[0] = alu_mask(x, 32);
  if (in->combine)
    r[1] = combine((enum alu_combine)in->combine, r[0] != 0, s[4] & 1);
}

// Shifts by more than the width are clamped to the width.
static void run_shift(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  const struct alu_format *t = &in->type;
  uint64_t x = alu_extend(s[0], t->kind, t->bits);
  unsigned n = (uint32_t)s[1] > t->bits ? t->bits : (uint32_t)s[1];
  if (in->operation == OPERATION_SHL)
    r[0] = n > 63 ? 0 : alu_mask(x << n, t->bits);
  else if (t->kind == ALU_SIGNED)
    r[0] = (uint64_t)((int64_t)x >> (n > 63 ? 63 : n));
  else
    r[0] = n > 63 ? 0 : x >> n;
}

// b:a shifted; shf.l returns the upper 32 bits, shf.r the lower ones.
static void run_funnel(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  uint64_t both = alu_mask(s[1], 32) << 32 | alu_mask(s[0], 32);
  uint32_t n = (uint32_t)s[2];
  n = in->flags & FLAG_WRAP ? n & 31 : n > 32 ? 32 : n;
  r[0] = alu_mask(in->flags & FLAG_LEFT ? both << n >> 32 : both >> n, 32);
}

// The byte that a mode selects for position i, given the two low bits of the selector.
static unsigned permuted(enum alu_mode mode, unsigned n, unsigned i) {
  switch (mode) {
  case MODE_F4E: return n + i;
  case MODE_B4E: return (n - i) & 7;
  case MODE_RC8: return n;
  case MODE_ECL: return i > n ? i : n;
  case MODE_ECR: return i < n ? i : n;
  default: return (n & 1) * 2 + (i & 1); // rc16
  }
}

static void run_permute(const struct alu_instruction *in, const uint64_t *s, uint64_t *r) {
  uint64_t bytes = alu_mask(s[0], 32) | alu_mask(s[1], 32) << 32, x = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned selector = s[2] >> 4 * i & 15;
    unsigned at = in->mode ? permuted((enum alu_mode)in->mode, s[2] & 3, i) : selector & 7;
    uint64_t byte = bytes >> 8 * at & 0xff;
    if (!in->mode && selector & 8) // replicates the byte's sign
      byte = byte & 0x80 ? 0xff : 0;
    x |= byte << 8 * i;
  }
  r[0] = x;
}

// ---- decoding ----

static bool decode_table(const struct alu_words *w, struct alu_instruction *ret) {
  struct alu_words plain = *w;
  plain.combine = COMBINE_NONE;
  if (!alu_is(w->types[0], "b32") || !alu_only_flags(&plain, 0) || w->combine == COMBINE_XOR)
    return false;
  alu_begin(ret, w, w->types[0]);
  for (unsigned i = 0; i < 3; i++)
    alu_add_source(ret, ALU_BITS, 32);
  alu_add_source(ret, ALU_UNSIGNED, 32);
  alu_add_result(ret, ALU_BITS, 32);
  if (w->combine) {
    alu_add_source(ret, ALU_PREDICATE, 1);
    alu_add_result(ret, ALU_PREDICATE, 1);
  }
  ret->run = run_table;
  return true;
}

static bool decode_shift(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *t = w->types[0];
  if (!alu_only_flags(w, 0) || t->bits < 16 ||
      (w->operation == OPERATION_SHL && t->kind != ALU_BITS))
    return false;
  alu_begin(ret, w, t);
  alu_add_source(ret, t->kind, t->bits);
  alu_add_source(ret, ALU_UNSIGNED, 32);
  alu_add_result(ret, t->kind, t->bits);
  ret->run = run_shift;
  return true;
}

// Three 32-bit operands; the last source is a constant.
static bool decode_words(const struct alu_words *w, alu_run_fn *run, struct alu_instruction *ret) {
  if (!alu_is(w->types[0], "b32"))
    return false;
  alu_begin(ret, w, w->types[0]);
  alu_add_source(ret, ALU_BITS, 32);
  alu_add_source(ret, ALU_BITS, 32);
  alu_add_source(ret, ALU_UNSIGNED, 32);
  alu_add_result(ret, ALU_BITS, 32);
  ret->run = run;
  return true;
}

static bool decode_permute(const struct alu_words *w, struct alu_instruction *ret) {
  struct alu_words plain = *w;
  plain.mode = MODE_NONE;
  return w->mode <= MODE_RC16 && alu_only_flags(&plain, 0) && decode_words(w, run_permute, ret);
}

bool alu_decode_logic(const struct alu_words *w, struct alu_instruction *ret) {
  const struct alu_format *t = w->type_count == 1 ? w->types[0] : NULL;
  if (!t || t->kind == ALU_FLOAT || t->elements != 1)
    return false;
  bool bits = t->kind == ALU_BITS && t->bits >= 16;
  unsigned ends = w->flags & (FLAG_CLAMP | FLAG_WRAP), way = w->flags & (FLAG_LEFT | FLAG_RIGHT);
  switch (w->operation) {
  case OPERATION_CNOT:
    if (!bits)
      return false;
    break;
  case OPERATION_AND:
  case OPERATION_OR:
  case OPERATION_XOR:
  case OPERATION_NOT:
    if (!bits && t->kind != ALU_PREDICATE)
      return false;
    break;
  case OPERATION_LOP3: return decode_table(w, ret);
  case OPERATION_SHL:
  case OPERATION_SHR: return t->kind != ALU_PREDICATE && decode_shift(w, ret);
  case OPERATION_SHF:
    return is_pow2(ends) && is_pow2(way) && alu_only_flags(w, ends | way) &&
           decode_words(w, run_funnel, ret);
  case OPERATION_PRMT: return decode_permute(w, ret);
  default: return false;
  }
  bool unary = w->operation == OPERATION_NOT || w->operation == OPERATION_CNOT;
  if (!alu_only_flags(w, 0))
    return false;
  alu_begin(ret, w, t);
  alu_finish(ret, unary ? 1 : 2, run_logic);
  return true;
}
