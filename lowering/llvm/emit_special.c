// SPDX-License-Identifier: Apache-2.0
// Special registers, and programmatic dependent launch.
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

// A time that control flow depends on is that of one thread.
static bool emit_register(struct emitter *e, MlirOperation op) {
  struct emitted *ret = result_of(e, op, 0);
  ret->at[0] = e->target->hooks->special_register(e, op_attr_str(op, "name"));
  if (scratch_bytes(e->c, op, e->num_warps) == 0)
    return true;
  LLVMValueRef owner = owner_predicate(e, NULL);
  return exchange_through_shared(e, LLVMTypeOf(ret->at[0]), NULL, NULL, owner, ret->at, ret->at);
}

bool emit_special(struct emitter *e, MlirOperation op) {
  if (op_id(e->c, op) != OP_TILE_GRID_DEPENDENCY)
    return emit_register(e, op);
  e->target->hooks->grid_dependency(e, op_attr_str(op, "kind"));
  return true;
}
