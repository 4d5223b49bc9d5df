// SPDX-License-Identifier: Apache-2.0
// tile.histogram: counters in shared memory, set to zero, counted up by atomic additions, read in
// the result's layout. Numbers are taken as unsigned, so that one comparison finds those outside.
#include "lowering/analysis/convert_scratch.h"
#include "lowering/llvm/emit.h"

enum { COUNTER_BYTES = 4 };

static LLVMValueRef counter(struct emitter *e, LLVMValueRef base, LLVMValueRef number) {
  return LLVMBuildGEP2(e->b, e->i32, base, &number, 1, "");
}

// Counters of neighbouring registers are adjacent.
static unsigned width_of(const struct linear_layout *l) {
  unsigned width = ll_consecutive(l, LL_REGISTER, 0);
  return width < 4 ? width : 4;
}

static void clear(struct emitter *e, const struct linear_layout *l, const LLVMValueRef *numbers,
                  LLVMValueRef base) {
  LLVMValueRef owner = owner_predicate(e, l);
  unsigned width = width_of(l);
  struct branch br;
  if (owner)
    br = branch_begin(e, owner);
  for (uint32_t r = 0; r < register_count(l); r += width)
    if (!(r & owner_registers(l)))
      shared_store(e, LLVMConstNull(words_type(e, width, 32)), counter(e, base, numbers[r]),
                   COUNTER_BYTES * width);
  if (owner)
    branch_end(e, &br);
}

static void count_one(struct emitter *e, LLVMValueRef base, LLVMValueRef x, LLVMValueRef pred,
                      uint64_t bins) {
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(x));
  LLVMValueRef wide = bits < 32 ? LLVMBuildZExt(e->b, x, e->i32, "") : x;
  LLVMValueRef in_range =
      LLVMBuildICmp(e->b, LLVMIntULT, wide, const_int(LLVMTypeOf(wide), bins), "");
  struct branch br = branch_begin(e, both(e, in_range, pred));
  LLVMValueRef number = bits > 32 ? LLVMBuildTrunc(e->b, wide, e->i32, "") : wide;
  const char *scope = e->target->is_cpu ? "" : "block";
  LLVMBuildAtomicRMWSyncScope(e->b, LLVMAtomicRMWBinOpAdd, counter(e, base, number),
                              const_i32(e, 1), LLVMAtomicOrderingMonotonic,
                              LLVMGetSyncScopeID(e->llvm, scope, strlen(scope)));
  branch_end(e, &br);
}

static void read(struct emitter *e, const struct linear_layout *l, const LLVMValueRef *numbers,
                 LLVMValueRef base, struct emitted *ret) {
  unsigned width = width_of(l);
  uint32_t replicas = register_replicas(l);
  for (uint32_t r = 0; r < ret->count; r += width) {
    if (r & replicas)
      continue;
    LLVMValueRef v = shared_load(e, words_type(e, width, 32), counter(e, base, numbers[r]),
                                 COUNTER_BYTES * width);
    split_words(e, width, v, ret->at + r);
  }
  fill_replicas(l, ret);
}

bool emit_histogram(struct emitter *e, MlirOperation op) {
  const struct linear_layout *from = layout_of(e, operand_type(op, 0));
  const struct linear_layout *to = layout_of(e, result_type(op, 0));
  const struct emitted *x = operand_of(e, op, 0), *mask = optional_operand(e, op, 1);
  struct emitted *ret = result_of(e, op, 0);
  LLVMValueRef base = scratch_begin(e, op, exchange_bytes(to, 8 * COUNTER_BYTES));
  LLVMValueRef *numbers = arena_array(e->arena, LLVMValueRef, ret->count);
  layout_indices(e, to, 0, numbers);
  clear(e, to, numbers, base);
  cta_barrier(e);
  LLVMValueRef owner = owner_predicate(e, from);
  uint64_t bins = (uint64_t)tensor_numel(result_type(op, 0));
  for (uint32_t r = 0; r < x->count; r++)
    if (!(r & owner_registers(from)))
      count_one(e, base, x->at[r], both(e, mask_at(mask, r), owner), bins);
  cta_barrier(e);
  read(e, to, numbers, base, ret);
  scratch_end(e);
  return true;
}
