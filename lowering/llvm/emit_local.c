// SPDX-License-Identifier: Apache-2.0
// Buffers in shared memory. A buffer's value is its offset in bytes, an i32, so that loops can
// carry it; its encoding says where each element lies, and accesses are as wide as it and the
// tile's layout allow together.
#include "layouts/exchange_plan.h"
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

// How threads access a buffer by registers of the layout of `tile`.
static bool side_of(struct emitter *e, MlirOperation op, MlirType buffer, MlirType tile,
                    struct exchange_plan *ret) {
  const struct linear_layout *places = layout_of(e, memdesc_tile(e->c, buffer));
  const struct linear_layout *l = layout_of(e, tile);
  return (places && l &&
          exchange_plan_with(l, l, places, memory_bits(e->c, element_type(tile)),
                             e->target->matrix_moves, ret)) ||
         emit_unsupported(e, op, "a buffer whose layout does not fit its tile");
}

// The same of the part that begins at the op's offsets, or of all.
static bool load_side_of(struct emitter *e, MlirOperation op, MlirType buffer, MlirType tile,
                         struct exchange_side *ret) {
  int32_t at[LL_MAX_OUT];
  uint32_t corner[LL_MAX_OUT] = {0};
  struct exchange_plan plan;
  if (mlirAttributeIsNull(op_attr(op, "offsets"))) {
    bool fits = side_of(e, op, buffer, tile, &plan);
    *ret = plan.load;
    return fits;
  }
  unsigned rank = op_attr_i32_array(op, "offsets", LL_MAX_OUT, at);
  for (unsigned d = 0; d < rank; d++)
    corner[d] = (uint32_t)at[d];
  const struct linear_layout *places = layout_of(e, memdesc_tile(e->c, buffer));
  const struct linear_layout *l = layout_of(e, tile);
  return (places && l &&
          exchange_part_with(l, places, corner, memory_bits(e->c, element_type(tile)),
                             e->target->matrix_moves, ret)) ||
         emit_unsupported(e, op, "a buffer whose layout does not fit a part of its tile");
}

static bool store(struct emitter *e, MlirOperation op, MlirValue tile, MlirValue buffer) {
  MlirType type = mlirValueGetType(tile);
  struct exchange_plan plan;
  if (!side_of(e, op, mlirValueGetType(buffer), type, &plan))
    return false;
  LLVMValueRef owner = owner_predicate(e, layout_of(e, type));
  struct branch br;
  if (owner)
    br = branch_begin(e, owner);
  buffer_store(e, &plan.store, type_of_mlir(e, element_type(type)), value_of(e, buffer)->at[0],
               value_of(e, tile)->at);
  if (owner)
    branch_end(e, &br);
  return true;
}

bool emit_local_alloc(struct emitter *e, MlirOperation op) {
  if (e->shared_total < 0)
    return emit_unsupported(e, op, "a buffer has no place before `allocate-shared`");
  MlirValue buffer = mlirOperationGetResult(op, 0);
  value_bind(e, buffer)->at[0] = const_i32(e, scratch_offset(op));
  return mlirOperationGetNumOperands(op) == 0 ||
         store(e, op, mlirOperationGetOperand(op, 0), buffer);
}

static LLVMValueRef without_wrap(LLVMValueRef x) {
  if (LLVMIsABinaryOperator(x)) {
    LLVMSetNUW(x, true);
    LLVMSetNSW(x, true);
  }
  return x;
}

bool emit_local_index(struct emitter *e, MlirOperation op) {
  LLVMValueRef stride = const_i32(e, buffer_stride(e->c, operand_type(op, 0)));
  LLVMValueRef ring = operand_of(e, op, 0)->at[0], number = operand_of(e, op, 1)->at[0];
  LLVMValueRef distance = without_wrap(LLVMBuildMul(e->b, number, stride, ""));
  result_of(e, op, 0)->at[0] = without_wrap(LLVMBuildAdd(e->b, ring, distance, ""));
  return true;
}

// The result's encoding says where the elements lie.
bool emit_local_trans(struct emitter *e, MlirOperation op) {
  LLVMValueRef at = operand_of(e, op, 0)->at[0];
  result_of(e, op, 0)->at[0] = at;
  return true;
}

bool emit_local_store(struct emitter *e, MlirOperation op) {
  return store(e, op, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1));
}

bool emit_local_load(struct emitter *e, MlirOperation op) {
  MlirType type = result_type(op, 0);
  struct exchange_side side;
  if (!load_side_of(e, op, operand_type(op, 0), type, &side))
    return false;
  LLVMValueRef at = operand_of(e, op, 0)->at[0];
  buffer_load(e, &side, type_of_mlir(e, element_type(type)), at, result_of(e, op, 0)->at);
  return true;
}
