// SPDX-License-Identifier: Apache-2.0
// tile.gather. Where source and index keep every column of the axis in one warp, lanes fetch their
// elements by shuffles, one for each register among which the index chooses; else the source goes
// to shared memory and each thread reads from there. Indices are modulo the source's size.
#include "lowering/analysis/convert_scratch.h"
#include "lowering/analysis/gather_plan.h"
#include "lowering/llvm/emit.h"

enum { OUT_REGISTER, OUT_LANE, MAX_CANDIDATES = 8, MAX_VECTOR = 16 };

// The index as an i32 within the axis.
static LLVMValueRef wrapped(struct emitter *e, const struct gather_plan *p, LLVMValueRef index) {
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(index));
  LLVMValueRef i = bits < 32   ? LLVMBuildSExt(e->b, index, e->i32, "")
                   : bits > 32 ? LLVMBuildTrunc(e->b, index, e->i32, "")
                               : index;
  return LLVMBuildAnd(e->b, i, const_i32(e, (1u << p->axis_bits) - 1), "");
}

// ---- in the warp ----

// The lane that holds the element, as moved by the index: the xor of the flips of its bits.
static LLVMValueRef lane_of(struct emitter *e, const struct gather_plan *p, LLVMValueRef base,
                            LLVMValueRef index) {
  LLVMValueRef lane = base;
  for (int left = LANE_BITS - 1; left > -LL_MAX_BITS; left--) {
    uint32_t bits = 0;
    for (int b = 0; b < (int)p->axis_bits; b++)
      if (b + left >= 0 && b + left < LANE_BITS && (p->axis_lane[b] >> (b + left) & 1))
        bits |= 1u << b;
    if (!bits)
      continue;
    LLVMValueRef term = LLVMBuildAnd(e->b, index, const_i32(e, bits), "");
    term = left >= 0 ? LLVMBuildShl(e->b, term, const_i32(e, (uint32_t)left), "")
                     : LLVMBuildLShr(e->b, term, const_i32(e, (uint32_t)-left), "");
    lane = LLVMBuildXor(e->b, lane, term, "");
  }
  return lane;
}

// Selects among the candidates, by one bit of the index after the other.
static LLVMValueRef choose(struct emitter *e, const struct gather_plan *p, LLVMValueRef index,
                           LLVMValueRef *got) {
  unsigned bits[LL_MAX_BITS], n = 0;
  for (unsigned b = 0; b < p->axis_bits; b++)
    if (p->axis_register[b])
      bits[n++] = b;
  for (unsigned i = n; i-- > 0;) {
    LLVMValueRef bit = LLVMBuildAnd(e->b, index, const_i32(e, 1u << bits[i]), "");
    LLVMValueRef set = LLVMBuildICmp(e->b, LLVMIntNE, bit, const_i32(e, 0), "");
    for (unsigned c = 0; c < 1u << i; c++)
      got[c] = LLVMBuildSelect(e->b, set, got[c | 1u << i], got[c], "");
  }
  return got[0];
}

// The registers of the source that an index may name: got[c] has the flips of the bits of c.
static unsigned candidates(const struct gather_plan *p, uint32_t first, uint32_t *ret) {
  unsigned n = 1;
  ret[0] = first;
  for (unsigned b = 0; b < p->axis_bits; b++)
    if (p->axis_register[b]) {
      for (unsigned c = 0; c < n; c++)
        ret[n + c] = ret[c] ^ p->axis_register[b];
      n *= 2;
    }
  return n;
}

static LLVMValueRef own_lanes(struct emitter *e, const struct gather_plan *p) {
  uint32_t image[THREAD_BITS] = {0};
  const struct linear_layout *s = &p->source_of;
  for (unsigned i = 0; i < s->in_count; i++) {
    unsigned first = s->in[i] == LL_LANE ? 0 : LANE_BITS;
    for (unsigned b = 0; s->in[i] != LL_REGISTER && b < s->in_bits[i] && first + b < THREAD_BITS;
         b++)
      image[first + b] = s->basis[i][b][OUT_LANE];
  }
  return linear_of_thread(e, image);
}

static void gather_in_warp(struct emitter *e, const struct gather_plan *p,
                           const LLVMValueRef *source, const struct emitted *index,
                           struct emitted *ret, uint32_t replicas) {
  LLVMValueRef lanes = p->own_lane ? NULL : own_lanes(e, p);
  for (uint32_t r = 0; r < ret->count; r++) {
    if (r & replicas)
      continue;
    uint32_t at[LL_NO_IN] = {[LL_REGISTER] = r}, position[LL_MAX_OUT], from[MAX_CANDIDATES];
    ll_apply(&p->source_of, at, position);
    LLVMValueRef i = wrapped(e, p, index->at[r]), got[MAX_CANDIDATES], lane = NULL;
    if (!p->own_lane) {
      lane = LLVMBuildXor(e->b, lanes, const_i32(e, position[OUT_LANE]), "");
      lane = lane_of(e, p, lane, i);
    }
    unsigned n = candidates(p, position[OUT_REGISTER], from);
    for (unsigned c = 0; c < n; c++)
      got[c] = lane ? shuffle_value(e, source[from[c]], lane) : source[from[c]];
    ret->at[r] = choose(e, p, i, got);
  }
}

// ---- through shared memory ----

// The source in row-major order; neighbouring registers are stored together.
static void put_source(struct emitter *e, const struct linear_layout *l, LLVMTypeRef type,
                       const LLVMValueRef *source, LLVMValueRef base) {
  struct packing one = packing_of(e, type, 1);
  unsigned width = ll_consecutive(l, LL_REGISTER, l->out_count - 1), most = 128 / one.bits;
  struct packing p = packing_of(e, type, width < most ? width : most);
  unsigned count = register_count(l);
  uint32_t copies = owner_registers(l);
  LLVMTypeRef element = LLVMIntTypeInContext(e->llvm, one.bits);
  LLVMValueRef *offsets = arena_array(e->arena, LLVMValueRef, count);
  layout_indices(e, l, -1, offsets);
  for (uint32_t r = 0; r < count; r += p.width) {
    if (r & copies)
      continue;
    LLVMValueRef words[MAX_VECTOR];
    pack_elements(e, &p, source + r, words);
    shared_store(e, join_words(e, p.word_count, words),
                 LLVMBuildGEP2(e->b, element, base, &offsets[r], 1, ""), p.bits / 8 * p.width);
  }
}

static void gather_through_shared(struct emitter *e, MlirOperation op, const struct gather_plan *p,
                                  const struct emitted *index, struct emitted *ret,
                                  uint32_t replicas) {
  const struct linear_layout *l = layout_of(e, operand_type(op, 0));
  LLVMTypeRef type = type_of_mlir(e, element_type(operand_type(op, 0)));
  struct packing one = packing_of(e, type, 1);
  LLVMTypeRef element = LLVMIntTypeInContext(e->llvm, one.bits);
  LLVMValueRef base = scratch_begin(e, op, exchange_bytes(l, one.bits));
  LLVMValueRef owner = owner_predicate(e, l);
  struct branch br;
  if (owner)
    br = branch_begin(e, owner);
  put_source(e, l, type, operand_of(e, op, 0)->at, base);
  if (owner)
    branch_end(e, &br);
  cta_barrier(e);
  unsigned below = 0; // bits of the dimensions after the axis
  for (unsigned d = p->axis + 1; d < l->out_count; d++)
    below += l->out_bits[d];
  LLVMValueRef *columns = arena_array(e->arena, LLVMValueRef, ret->count);
  layout_indices(e, &p->column, -1, columns);
  for (uint32_t r = 0; r < ret->count; r++) {
    if (r & replicas)
      continue;
    LLVMValueRef step = LLVMBuildShl(e->b, wrapped(e, p, index->at[r]), const_i32(e, below), "");
    LLVMValueRef at = LLVMBuildAdd(e->b, columns[r], step, "");
    LLVMValueRef word =
        shared_load(e, element, LLVMBuildGEP2(e->b, element, base, &at, 1, ""), one.bits / 8);
    unpack_elements(e, &one, &word, &ret->at[r]);
  }
  scratch_end(e);
}

bool emit_gather(struct emitter *e, MlirOperation op) {
  struct gather_plan p;
  const struct linear_layout *l = layout_of(e, result_type(op, 0));
  if (!gather_plan_of(e->c, op, &p))
    return emit_unsupported(e, op, "a gather between tiles without layouts");
  const struct emitted *source = operand_of(e, op, 0), *index = operand_of(e, op, 1);
  struct emitted *ret = result_of(e, op, 0);
  if (p.in_warp)
    gather_in_warp(e, &p, source->at, index, ret, register_replicas(l));
  else
    gather_through_shared(e, op, &p, index, ret, register_replicas(l));
  fill_replicas(l, ret);
  return true;
}
