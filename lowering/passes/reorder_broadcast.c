// SPDX-License-Identifier: Apache-2.0
// reorder-broadcast: an elementwise operation on broadcast tiles of one shape, and on uniform
// tiles, is computed on the small tiles and then broadcast.
//
//   addi(broadcast %a, broadcast %b)    ->   broadcast(addi %a, %b)
//   mulf(broadcast %a, splat %s)        ->   broadcast(mulf %a, splat %s)
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

#include <mlir-c/BuiltinAttributes.h>

enum { MAX_OPERANDS = 3 };

struct reorder {
  struct ir_context *c;
  struct arena *scratch;
  bool changed;
};

static MlirOperation def_of(struct ir_context *c, MlirValue v, enum op_id id) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && op_is(c, def, id) ? def : (MlirOperation){NULL};
}

static bool is_uniform(struct ir_context *c, MlirValue v) {
  int64_t i;
  double f;
  return !mlirOperationIsNull(def_of(c, v, OP_TILE_SPLAT)) || value_const_int(c, v, &i) ||
         value_const_float(c, v, &f);
}

// The shape of `shaped` with the element type of `v`.
static MlirType small_type(MlirType shaped, MlirType element) {
  return type_with_element(shaped, element);
}

// The small tile that all broadcast operands come from: its type, or null when operands do not
// match.
static MlirType source_type(struct reorder *r, MlirOperation op, intptr_t n) {
  MlirType found = {NULL};
  for (intptr_t i = 0; i < n; i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    MlirOperation b = def_of(r->c, v, OP_TILE_BROADCAST);
    if (mlirOperationIsNull(b)) {
      if (!type_is_tensor(mlirValueGetType(v)) || !is_uniform(r->c, v))
        return (MlirType){NULL};
      continue;
    }
    MlirType from = mlirValueGetType(mlirOperationGetOperand(b, 0));
    if (mlirTypeIsNull(found))
      found = from;
    else if (!mlirTypeEqual(found, small_type(from, element_type(found))))
      return (MlirType){NULL};
  }
  return found;
}

// The operand as a tile of the small shape.
static MlirValue small_operand(struct reorder *r, struct builder *b, MlirValue v, MlirType shaped) {
  MlirOperation broadcast = def_of(r->c, v, OP_TILE_BROADCAST);
  if (!mlirOperationIsNull(broadcast))
    return mlirOperationGetOperand(broadcast, 0);
  MlirType type = small_type(shaped, element_type(mlirValueGetType(v)));
  MlirOperation def = value_def(v), small;
  if (op_is(r->c, def, OP_TILE_SPLAT)) {
    MlirValue scalar = mlirOperationGetOperand(def, 0);
    small = build_op(b, OP_TILE_SPLAT, 1, &scalar, 1, &type, 0, NULL);
  } else {
    MlirAttribute lane = mlirDenseElementsAttrGetSplatValue(op_attr(def, "value"));
    MlirNamedAttribute a = named_attr(r->c, "value", mlirDenseElementsAttrSplatGet(type, lane));
    small = build_op(b, OP_ARITH_CONSTANT, 0, NULL, 1, &type, 1, &a);
  }
  return mlirOperationGetResult(small, 0);
}

// An op on groups of elements is different on tiles of another shape.
static bool packs(MlirOperation op) { return op_attr_int(op, "pack", 1) != 1; }

static bool visit(MlirOperation op, void *user) {
  struct reorder *r = user;
  intptr_t n = mlirOperationGetNumOperands(op);
  unsigned flags = op_flags(r->c, op);
  if (!(flags & OP_EW) || !(flags & OP_PURE) || n < 1 || n > MAX_OPERANDS ||
      mlirOperationGetNumResults(op) != 1 || packs(op))
    return true;
  MlirType shaped = source_type(r, op, n);
  if (mlirTypeIsNull(shaped))
    return true;
  struct builder b = builder_before(r->c, op);
  MlirValue operands[MAX_OPERANDS];
  for (intptr_t i = 0; i < n; i++)
    operands[i] = small_operand(r, &b, mlirOperationGetOperand(op, i), shaped);
  intptr_t attr_count = mlirOperationGetNumAttributes(op);
  MlirNamedAttribute *attrs = arena_array(r->scratch, MlirNamedAttribute, (size_t)attr_count + 1);
  for (intptr_t i = 0; i < attr_count; i++)
    attrs[i] = mlirOperationGetAttribute(op, i);
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType type = small_type(shaped, element_type(result));
  MlirOperation small =
      build_op(&b, op_id(r->c, op), (size_t)n, operands, 1, &type, (size_t)attr_count, attrs);
  MlirValue v = mlirOperationGetResult(small, 0);
  MlirOperation wide = build_op(&b, OP_TILE_BROADCAST, 1, &v, 1, &result, 0, NULL);
  value_replace(mlirOperationGetResult(op, 0), mlirOperationGetResult(wide, 0));
  op_erase(op);
  r->changed = true;
  return true;
}

enum pass_result pass_reorder_broadcast(struct pass_context *p) {
  struct reorder r = {p->c, p->scratch, false};
  ir_walk(mlirModuleGetOperation(p->module), visit, &r);
  return r.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
