// SPDX-License-Identifier: Apache-2.0
// The search follows elementwise ops and conversions of layout from value to value.
#include "lowering/analysis/chained_dots.h"

struct search {
  struct ir_context *c;
  struct arena *scratch;
  MlirBlock block;
  struct map seen; // MlirValue.ptr -> non-NULL
};

static bool is_seen(struct search *s, MlirValue v) {
  if (ptrmap_get(&s->seen, v.ptr))
    return true;
  ptrmap_put(s->scratch, &s->seen, v.ptr, s);
  return false;
}

static bool keeps_elements(struct search *s, MlirOperation op) {
  return (op_flags(s->c, op) & OP_EW) || op_is(s->c, op, OP_GPU_CONVERT_LAYOUT);
}

// Does `v` become operand A of a product in the block?
static bool feeds_product(struct search *s, MlirValue v) {
  if (is_seen(s, v))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!mlirBlockEqual(mlirOperationGetBlock(user), s->block))
      continue;
    if (op_is(s->c, user, OP_TILE_DOT) && mlirOpOperandGetOperandNumber(use) == 0)
      return true;
    for (intptr_t i = 0; keeps_elements(s, user) && i < mlirOperationGetNumResults(user); i++)
      if (feeds_product(s, mlirOperationGetResult(user, i)))
        return true;
  }
  return false;
}

// Is `v` computed from a product in the block?
static bool is_fed(struct search *s, MlirValue v) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || is_seen(s, v) ||
      !mlirBlockEqual(mlirOperationGetBlock(def), s->block))
    return false;
  if (op_is(s->c, def, OP_TILE_DOT))
    return true;
  for (intptr_t i = 0; keeps_elements(s, def) && i < mlirOperationGetNumOperands(def); i++)
    if (is_fed(s, mlirOperationGetOperand(def, i)))
      return true;
  return false;
}

bool dot_is_chained(struct ir_context *c, MlirOperation dot, struct arena *scratch) {
  struct search s = {.c = c, .scratch = scratch, .block = mlirOperationGetBlock(dot)};
  if (feeds_product(&s, mlirOperationGetResult(dot, 0)))
    return true;
  s.seen = (struct map){0};
  return is_fed(&s, mlirOperationGetOperand(dot, 0));
}
