// SPDX-License-Identifier: Apache-2.0
// A product by wgmma may stay in flight if its accumulator is the loop's own and both operands are
// tiles as they were loaded, which it reads from the buffers of the loads. Sums that are promoted
// are added to the accumulator before the next iteration.
#include "lowering/plan/loop_products.h"

#include "layouts/attr.h"
#include "lowering/analysis/dot_promotion.h"
#include "lowering/analysis/loop_accumulator.h"

static bool is_by_wgmma(struct ir_context *c, MlirOperation op) {
  if (!op_is(c, op, OP_TILE_DOT))
    return false;
  const struct encoding *e =
      encoding_of_attr(c, tensor_encoding(mlirValueGetType(mlirOperationGetOperand(op, 2))));
  return e && e->kind == ENC_MMA && e->mma.version == 3;
}

// The load whose tile the operand is, only laid out otherwise; NULL: it is another value.
static struct loop_load *load_of(struct ir_context *c, struct loop_loads *loads, MlirValue v) {
  MlirOperation def = value_def(v);
  while (!mlirOperationIsNull(def) && mlirOperationGetNumOperands(def) == 1 &&
         (op_is(c, def, OP_GPU_CONVERT_LAYOUT) || op_is(c, def, OP_GPU_LOCAL_ALLOC) ||
          op_is(c, def, OP_GPU_LOCAL_TRANS) || op_is(c, def, OP_GPU_LOCAL_LOAD)))
    def = value_def(mlirOperationGetOperand(def, 0));
  for (size_t i = 0; !mlirOperationIsNull(def) && i < loads->at.len; i++)
    if (mlirOperationEqual(loads->at.at[i].op, def))
      return &loads->at.at[i];
  return NULL;
}

void loop_products_in_flight(struct ir_context *c, struct loop_loads *loads, MlirOperation loop) {
  for (MlirOperation op = mlirBlockGetFirstOperation(loop_block(loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!is_by_wgmma(c, op) || loop_accumulator(loop, op) < 0 || dot_promoted_every(op))
      continue;
    struct loop_load *a = load_of(c, loads, mlirOperationGetOperand(op, 0)),
                     *b = load_of(c, loads, mlirOperationGetOperand(op, 1));
    if (!a || !b || a->staging != STAGING_SHARED || b->staging != STAGING_SHARED)
      continue;
    a->read_in_flight = b->read_in_flight = true;
  }
}
