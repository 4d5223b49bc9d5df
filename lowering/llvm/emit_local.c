// SPDX-License-Identifier: Apache-2.0
// Buffers in shared memory. A buffer's value is its offset in bytes, an i32, so that loops can
// carry it.
#include "lowering/analysis/buffer_access.h"
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

static bool misfit(struct emitter *e, MlirOperation op) {
  return emit_unsupported(e, op, "a buffer whose layout does not fit its tile");
}

static bool store(struct emitter *e, MlirOperation op, MlirValue tile, MlirValue buffer) {
  MlirType type = mlirValueGetType(tile);
  struct exchange_side side;
  if (!buffer_store_side(e->c, e->target, type, mlirValueGetType(buffer), &side))
    return misfit(e, op);
  LLVMValueRef owner = owner_predicate(e, layout_of(e, type));
  struct branch br;
  if (owner)
    br = branch_begin(e, owner);
  buffer_store(e, &side, type_of_mlir(e, element_type(type)), value_of(e, buffer)->at[0],
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

// The result's encoding gives the offsets of the elements.
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
  if (!buffer_load_side(e->c, e->target, op, &side))
    return misfit(e, op);
  LLVMValueRef at = operand_of(e, op, 0)->at[0];
  buffer_load(e, &side, type_of_mlir(e, element_type(type)), at, result_of(e, op, 0)->at);
  return true;
}
