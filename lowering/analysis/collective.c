// SPDX-License-Identifier: Apache-2.0
// See collective.h.
#include "lowering/analysis/collective.h"

#include "layouts/attr.h"
#include "lowering/analysis/convert_scratch.h"

// ---- the function ----

bool combine_is_free(enum op_id id) {
  switch (id) {
  case OP_ARITH_ADDI:
  case OP_ARITH_MULI:
  case OP_ARITH_ANDI:
  case OP_ARITH_ORI:
  case OP_ARITH_XORI:
  case OP_ARITH_MAXSI:
  case OP_ARITH_MAXUI:
  case OP_ARITH_MINSI:
  case OP_ARITH_MINUI:
  case OP_ARITH_ADDF:
  case OP_ARITH_MULF:
  case OP_ARITH_MAXNUMF:
  case OP_ARITH_MINNUMF:
  case OP_ARITH_MAXIMUMF:
  case OP_ARITH_MINIMUMF: return true;
  default: return false;
  }
}

// The operation that computes `v` from arguments i and i + n of the block, in either order.
static enum op_id simple_operation(struct ir_context *c, MlirBlock block, MlirValue v, unsigned i,
                                   unsigned n) {
  MlirOperation op = value_def(v);
  if (mlirOperationIsNull(op) || !combine_is_free(op_id(c, op)))
    return OP_UNKNOWN;
  MlirValue a = mlirBlockGetArgument(block, i), b = mlirBlockGetArgument(block, i + n);
  MlirValue x = mlirOperationGetOperand(op, 0), y = mlirOperationGetOperand(op, 1);
  bool straight = mlirValueEqual(x, a) && mlirValueEqual(y, b);
  bool swapped = mlirValueEqual(x, b) && mlirValueEqual(y, a);
  return straight || swapped ? op_id(c, op) : OP_UNKNOWN;
}

static bool count_operation(MlirOperation op, void *user) {
  (void)op;
  ++*(unsigned *)user;
  return true;
}

struct combine_info combine_info_of(struct ir_context *c, MlirOperation op) {
  struct combine_info info = {.function = op_function(c, op, "combine"),
                              .count = (unsigned)mlirOperationGetNumResults(op)};
  if (mlirOperationIsNull(info.function))
    return info;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(info.function, 0));
  MlirOperation end = mlirBlockGetTerminator(body);
  info.commutative = true;
  for (unsigned i = 0; i < info.count; i++) {
    info.simple[i] =
        simple_operation(c, body, mlirOperationGetOperand(end, (intptr_t)i), i, info.count);
    info.commutative &= info.simple[i] != OP_UNKNOWN;
  }
  info.commutative |= !mlirAttributeIsNull(op_attr(info.function, "tile.commutative"));
  ir_walk(info.function, count_operation, &info.operations);
  info.operations -= info.operations > 2 ? 2 : 0; // the function itself and its return
  return info;
}

// ---- plans ----

// Integers of up to 32 bits, by one of the operations that a warp has an instruction for.
static bool by_warp(struct ir_context *c, MlirOperation op, const struct combine_info *info) {
  for (unsigned i = 0; i < info->count; i++) {
    MlirType t = element_type(mlirValueGetType(mlirOperationGetOperand(op, (intptr_t)i)));
    switch (info->simple[i]) {
    case OP_ARITH_ADDI:
    case OP_ARITH_ANDI:
    case OP_ARITH_ORI:
    case OP_ARITH_XORI:
    case OP_ARITH_MAXSI:
    case OP_ARITH_MAXUI:
    case OP_ARITH_MINSI:
    case OP_ARITH_MINUI: break;
    default: return false;
    }
    if (!mlirTypeIsAInteger(t) || type_bits(c, t) > 32)
      return false;
  }
  return true;
}

static struct reduce_request request_of(struct ir_context *c, MlirOperation op) {
  struct combine_info info = combine_info_of(c, op);
  struct reduce_request q = {.count = info.count,
                             .ordered = !info.commutative,
                             .by_warp = by_warp(c, op, &info),
                             .combines = info.operations};
  for (unsigned i = 0; i < info.count; i++)
    q.bits[i] =
        memory_bits(c, element_type(mlirValueGetType(mlirOperationGetOperand(op, (intptr_t)i))));
  return q;
}

// The layout that all operands share.
static const struct linear_layout *operand_layout(struct ir_context *c, MlirOperation op) {
  const struct linear_layout *first = NULL;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, i));
    const struct linear_layout *l = type_is_tensor(t) ? linear_of_type(c, t) : NULL;
    if (!l || (first && !ll_equal(first, l)))
      return NULL;
    first = first ? first : l;
  }
  return first;
}

bool reduce_plan_of(struct ir_context *c, MlirOperation op, struct reduce_plan *ret) {
  const struct linear_layout *from = operand_layout(c, op), *to = NULL;
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (type_is_tensor(result))
    to = linear_of_type(c, result);
  if (!from || (type_is_tensor(result) && !to))
    return false;
  struct reduce_request q = request_of(c, op);
  return reduce_plan_make(from, (unsigned)op_attr_int(op, "axis", 0), to, &q, ret);
}

bool scan_plan_of(struct ir_context *c, MlirOperation op, struct scan_plan *ret) {
  const struct linear_layout *from = operand_layout(c, op);
  struct reduce_request q = request_of(c, op);
  return from && scan_plan_make(from, (unsigned)op_attr_int(op, "axis", 0), q.count, q.bits, ret);
}

// ---- shared memory ----

// The maximum over the op's results of the scratch of converting between two layouts.
static uint32_t conversion_bytes(struct ir_context *c, MlirOperation op,
                                 const struct linear_layout *from, const struct linear_layout *to) {
  uint32_t most = 0;
  if (!converts_through_shared(from, to))
    return 0;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(op, i));
    uint32_t bytes = convert_bytes(from, to, memory_bits(c, element_type(t)));
    most = bytes > most ? bytes : most;
  }
  return most;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

uint32_t reduce_scratch_bytes(struct ir_context *c, MlirOperation op) {
  struct reduce_plan p;
  MlirType t = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!reduce_plan_of(c, op, &p))
    return 0;
  uint32_t convert =
      type_is_tensor(t) ? conversion_bytes(c, op, &p.result, linear_of_type(c, t)) : 0;
  return larger(p.scratch_bytes, convert);
}

uint32_t scan_scratch_bytes(struct ir_context *c, MlirOperation op) {
  struct scan_plan p;
  if (!scan_plan_of(c, op, &p))
    return 0;
  const struct linear_layout *l = operand_layout(c, op);
  return larger(p.scratch_bytes, larger(conversion_bytes(c, op, l, &p.layout),
                                        conversion_bytes(c, op, &p.layout, l)));
}
