// SPDX-License-Identifier: Apache-2.0
// What asks the device: special registers, and kernels that follow each other in a stream.
#include "lowering/llvm/emit.h"

bool emit_special(struct emitter *e, MlirOperation op) {
  if (op_id(e->c, op) == OP_TILE_GRID_DEPENDENCY)
    e->target->hooks->grid_dependency(e, op_attr_str(op, "kind"));
  else
    result_of(e, op, 0)->at[0] = e->target->hooks->special_register(e, op_attr_str(op, "name"));
  return true;
}
