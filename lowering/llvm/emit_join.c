// SPDX-License-Identifier: Apache-2.0
// Pairs: join, split, and the one element of a tile. Layout passes choose layouts in which a thread
// holds both of a pair, so that registers are only renamed; other layouts are converted.
#include "lowering/analysis/pair_view.h"
#include "lowering/llvm/emit.h"

// Operand i in the registers of the result: valid where the last coordinate is i.
static bool half_in(struct emitter *e, MlirOperation op, unsigned i,
                    const struct linear_layout *wanted, unsigned count, LLVMValueRef *ret) {
  const struct linear_layout *l = layout_of(e, operand_type(op, i));
  const struct emitted *x = operand_of(e, op, i);
  if (l)
    return convert_values(e, op, l, wanted, x->at, ret);
  for (unsigned r = 0; r < count; r++)
    ret[r] = x->at[0];
  return true;
}

bool emit_join(struct emitter *e, MlirOperation op) {
  const struct linear_layout *l = layout_of(e, result_type(op, 0));
  struct emitted *ret = result_of(e, op, 0);
  struct linear_layout wanted = half_view(l);
  LLVMValueRef *half[2], *last = arena_array(e->arena, LLVMValueRef, ret->count);
  for (unsigned i = 0; i < 2; i++) {
    half[i] = arena_array(e->arena, LLVMValueRef, ret->count);
    if (!half_in(e, op, i, &wanted, ret->count, half[i]))
      return false;
  }
  layout_indices(e, l, (int)l->out_count - 1, last);
  for (unsigned r = 0; r < ret->count; r++) {
    if (LLVMIsAConstantInt(last[r])) {
      ret->at[r] = half[LLVMConstIntGetZExtValue(last[r])][r];
      continue;
    }
    LLVMValueRef second = LLVMBuildICmp(e->b, LLVMIntNE, last[r], const_i32(e, 0), "");
    ret->at[r] = LLVMBuildSelect(e->b, second, half[1][r], half[0][r], "");
  }
  return true;
}

bool emit_split(struct emitter *e, MlirOperation op) {
  const struct linear_layout *l = layout_of(e, operand_type(op, 0));
  struct emitted *first = result_of(e, op, 0), *second = result_of(e, op, 1);
  struct linear_layout pairs = pair_view(layout_of(e, result_type(op, 0)));
  LLVMValueRef *both_halves = arena_array(e->arena, LLVMValueRef, register_count(&pairs));
  if (!convert_values(e, op, l, &pairs, operand_of(e, op, 0)->at, both_halves))
    return false;
  for (unsigned r = 0; r < first->count; r++) {
    first->at[r] = both_halves[2 * r];
    second->at[r] = both_halves[2 * r + 1];
  }
  return true;
}

// All threads hold the element.
bool emit_unsplat(struct emitter *e, MlirOperation op) {
  result_of(e, op, 0)->at[0] = operand_of(e, op, 0)->at[0];
  return true;
}
