// SPDX-License-Identifier: Apache-2.0
// canonicalize: folds constants and identities, simplifies shapes, conversions, masks and control
// flow with known conditions, until nothing changes.
//
//   %2 = arith.muli %x, %c1                     ->  %x
//   %3 = tile.broadcast(tile.splat %s)          ->  tile.splat %s
//   %4 = arith.addi (splat %a), (splat %b)      ->  splat (arith.addi %a, %b)
//   scf.if %true { A } else { B }               ->  A
#include "lowering/passes/canonicalize.h"

#include "lowering/pass.h"

#define MAX_SWEEPS 64 // rules shrink the IR, so this is never reached; a net under a faulty rule

struct sweep {
  struct canon k;
  bool changed;
};

static bool is_dead(struct ir_context *c, MlirOperation op) {
  if (!(op_flags(c, op) & OP_PURE))
    return false;
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op); i < n; i++)
    if (value_has_uses(mlirOperationGetResult(op, i)))
      return false;
  return true;
}

static MlirValue simplify(struct canon *k, MlirOperation op, enum op_id id) {
  MlirValue v = canon_fold(k, op, id);
  if (mlirValueIsNull(v))
    v = canon_int(k, op, id);
  if (mlirValueIsNull(v))
    v = canon_float(k, op, id);
  if (mlirValueIsNull(v))
    v = canon_shape(k, op, id);
  return v;
}

static bool visit(MlirOperation op, void *user) {
  struct sweep *s = user;
  enum op_id id = op_id(s->k.c, op);
  if (is_dead(s->k.c, op)) {
    op_erase(op);
    s->changed = true;
    return true;
  }
  if (!(op_flags(s->k.c, op) & OP_PURE)) {
    s->changed |= canon_control(&s->k, op, id);
    return true;
  }
  MlirValue v = simplify(&s->k, op, id);
  if (mlirValueIsNull(v))
    return true;
  s->changed = true;
  if (!mlirValueEqual(v, mlirOperationGetResult(op, 0))) { // equal: changed in place
    value_replace(mlirOperationGetResult(op, 0), v);
    op_erase(op);
  }
  return true;
}

enum pass_result pass_canonicalize(struct pass_context *p) {
  struct sweep s = {.k = {p->c, p->scratch}};
  bool any = false;
  for (int i = 0; i < MAX_SWEEPS; i++) {
    s.changed = false;
    ir_walk(mlirModuleGetOperation(p->module), visit, &s);
    if (!s.changed)
      break;
    any = true;
  }
  return any ? PASS_CHANGED : PASS_UNCHANGED;
}
