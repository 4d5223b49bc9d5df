// SPDX-License-Identifier: Apache-2.0
// Buffers in shared memory. A buffer's value is its offset in bytes, an i32, so that loops can
// carry it; its encoding says where each element lies, and accesses are as wide as it and the
// tile's layout allow together.
#include "layouts/exchange_plan.h"
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

static LLVMValueRef buffer_pointer(struct emitter *e, MlirValue buffer) {
  LLVMValueRef at = value_of(e, buffer)->at[0];
  return LLVMBuildGEP2(e->b, e->i8, e->target->hooks->shared_base(e), &at, 1, "");
}

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

static bool store(struct emitter *e, MlirOperation op, MlirValue tile, MlirValue buffer) {
  MlirType type = mlirValueGetType(tile);
  struct exchange_plan plan;
  if (!side_of(e, op, mlirValueGetType(buffer), type, &plan))
    return false;
  LLVMValueRef owner = owner_predicate(e, layout_of(e, type)), base = buffer_pointer(e, buffer);
  struct branch br;
  if (owner)
    br = branch_begin(e, owner);
  exchange_store(e, &plan.store, type_of_mlir(e, element_type(type)), base, value_of(e, tile)->at);
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

bool emit_local_store(struct emitter *e, MlirOperation op) {
  return store(e, op, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1));
}

bool emit_local_load(struct emitter *e, MlirOperation op) {
  MlirValue buffer = mlirOperationGetOperand(op, 0);
  MlirType type = result_type(op, 0);
  struct exchange_plan plan;
  if (!side_of(e, op, mlirValueGetType(buffer), type, &plan))
    return false;
  exchange_load(e, &plan.load, type_of_mlir(e, element_type(type)), buffer_pointer(e, buffer),
                result_of(e, op, 0)->at);
  return true;
}
