// SPDX-License-Identifier: Apache-2.0
// Moving a tile from one layout to another, by the plan of layouts/convert_plan.h: registers
// renamed, lanes of a warp exchanged, or through the CTA's scratch memory.
#include "layouts/shuffle_plan.h"
#include "lowering/llvm/emit.h"

// ---- shuffles ----

static void run_stages(struct emitter *e, const struct shuffle_stage *stages, unsigned count,
                       LLVMValueRef *x, unsigned n) {
  for (unsigned s = 0; s < count; s++) {
    LLVMValueRef swap = thread_parity(e, stages[s].thread_mask);
    for (uint32_t i = 0; i < n; i++) {
      uint32_t j = i ^ stages[s].flip;
      if (i > j)
        continue;
      LLVMValueRef a = x[i], b = x[j];
      if (a == b)
        continue;
      x[i] = LLVMBuildSelect(e->b, swap, b, a, "");
      x[j] = LLVMBuildSelect(e->b, swap, a, b, "");
    }
  }
}

// Words of 32 bits from lane `lane`, or, where that is NULL, from lane own ^ mask.
static LLVMValueRef shuffle_word(struct emitter *e, LLVMValueRef word, LLVMValueRef lane,
                                 uint32_t mask) {
  const struct target_hooks *hooks = e->target->hooks;
  return lane ? hooks->shuffle(e, word, lane) : hooks->shuffle_xor(e, word, mask);
}

static LLVMValueRef shuffle_any(struct emitter *e, LLVMValueRef x, LLVMValueRef lane,
                                uint32_t mask) {
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef bits = to_bits(e, x);
  LLVMTypeRef bits_type = LLVMTypeOf(bits);
  unsigned width = LLVMGetIntTypeWidth(bits_type);
  e->uses_collectives = true;
  if (width <= 32) {
    LLVMValueRef word = width < 32 ? LLVMBuildZExt(e->b, bits, e->i32, "") : bits;
    word = shuffle_word(e, word, lane, mask);
    return from_bits(e, width < 32 ? LLVMBuildTrunc(e->b, word, bits_type, "") : word, type);
  }
  LLVMValueRef half = LLVMConstInt(e->i64, 32, false);
  LLVMValueRef low = LLVMBuildTrunc(e->b, bits, e->i32, "");
  LLVMValueRef high = LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, bits, half, ""), e->i32, "");
  low = LLVMBuildZExt(e->b, shuffle_word(e, low, lane, mask), e->i64, "");
  high = LLVMBuildZExt(e->b, shuffle_word(e, high, lane, mask), e->i64, "");
  bits = LLVMBuildOr(e->b, low, LLVMBuildShl(e->b, high, half, ""), "");
  return from_bits(e, bits, type);
}

LLVMValueRef shuffle_value(struct emitter *e, LLVMValueRef x, LLVMValueRef lane) {
  return shuffle_any(e, x, lane, 0);
}

void shuffle_values_xor(struct emitter *e, uint32_t count, LLVMValueRef *values, uint32_t mask) {
  struct packing one = packing_of(e, LLVMTypeOf(values[0]), 1);
  uint32_t together = one.bits < 32 ? 32 / one.bits : 1;
  for (uint32_t r = 0; r < count; r += together) {
    uint32_t n = count - r < together ? count - r : together;
    if (n == 1) {
      values[r] = shuffle_any(e, values[r], NULL, mask);
      continue;
    }
    struct packing p = packing_of(e, one.element, n);
    LLVMValueRef word;
    pack_elements(e, &p, values + r, &word);
    word = shuffle_any(e, word, NULL, mask);
    unpack_elements(e, &p, &word, values + r);
  }
}

static LLVMValueRef base_lane(struct emitter *e, const struct shuffle_plan *s) {
  uint32_t image[THREAD_BITS] = {0};
  for (unsigned b = 0; b < THREAD_BITS; b++)
    for (unsigned i = 0; i < SHUFFLE_LANE_BITS; i++)
      image[b] |= (s->lane_mask[i] >> b & 1) << i;
  return linear_of_thread(e, image);
}

static LLVMValueRef shuffle_choices(struct emitter *e, const struct shuffle_plan *s,
                                    const LLVMValueRef *x, uint32_t send, LLVMValueRef lane) {
  LLVMValueRef got[1 << SHUFFLE_LANE_BITS];
  uint32_t n = 1u << s->choice_count;
  for (uint32_t c = 0; c < n; c++) {
    uint32_t from = send;
    for (unsigned i = 0; i < s->choice_count; i++)
      from ^= c >> i & 1 ? s->choice[i].flip : 0;
    got[c] = shuffle_value(e, x[from], lane);
  }
  // Halves the subsets by selects, the highest bit first.
  for (unsigned i = s->choice_count; i-- > 0;) {
    LLVMValueRef set = thread_parity(e, s->choice[i].thread_mask);
    for (uint32_t c = 0; c < 1u << i; c++)
      got[c] = LLVMBuildSelect(e->b, set, got[c | 1u << i], got[c], "");
  }
  return got[0];
}

static bool convert_by_shuffles(struct emitter *e, const struct convert_plan *p,
                                const LLVMValueRef *values, LLVMValueRef *ret) {
  struct shuffle_plan s;
  if (!shuffle_plan_make(p, &s))
    return false;
  unsigned n = 1u << s.src_bits, m = 1u << s.dst_bits;
  LLVMValueRef *x = arena_dup(e->arena, values, n * sizeof *x, _Alignof(LLVMValueRef));
  run_stages(e, s.pre, s.pre_count, x, n);
  LLVMValueRef base = base_lane(e, &s);
  for (uint32_t r = 0; r < m; r++) {
    struct shuffle_round round = shuffle_plan_round(&s, r);
    if (round.same_as != r) {
      ret[r] = ret[round.same_as];
    } else if (round.is_move) {
      ret[r] = x[round.send];
    } else {
      LLVMValueRef lane = base;
      if (round.lane_flip)
        lane = LLVMBuildXor(e->b, base, const_i32(e, round.lane_flip), "");
      ret[r] = shuffle_choices(e, &s, x, round.send, lane);
    }
  }
  run_stages(e, s.post, s.post_count, ret, m);
  return true;
}

// ---- any of them ----

bool convert_values(struct emitter *e, MlirOperation op, const struct linear_layout *from,
                    const struct linear_layout *to, const LLVMValueRef *values, LLVMValueRef *ret) {
  struct convert_plan p;
  if (!convert_plan_make(from, to, &p))
    return emit_unsupported(e, op, "`%s` between layouts of different tiles",
                            op_info(op_id(e->c, op))->name);
  switch (p.kind) {
  case CONVERT_NOTHING:
  case CONVERT_REGISTERS:
    for (uint32_t r = 0; r < register_count(to); r++) {
      uint32_t index[LL_NO_IN] = {[LL_REGISTER] = r}, source[LL_MAX_OUT];
      ll_apply(&p.source_of, index, source);
      ret[r] = values[source[0]];
    }
    return true;
  case CONVERT_SHUFFLES:
    if (convert_by_shuffles(e, &p, values, ret))
      return true;
    break;
  case CONVERT_SHARED: break;
  }
  return exchange_through_shared(e, LLVMTypeOf(values[0]), from, to, owner_predicate(e, from),
                                 values, ret);
}

bool emit_convert_layout(struct emitter *e, MlirOperation op) {
  const struct emitted *x = operand_of(e, op, 0);
  struct emitted *r = result_of(e, op, 0);
  return convert_values(e, op, layout_of(e, operand_type(op, 0)), layout_of(e, result_type(op, 0)),
                        x->at, r->at);
}
