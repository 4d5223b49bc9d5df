// SPDX-License-Identifier: Apache-2.0
// licm: moves pure operations whose operands are defined outside a loop in front of it, inner loops
// first. A division moves only if its divisor is a constant other than 0 and -1: the loop may not
// run at all, and then nothing may divide.
//
//   scf.for ... { %1 = arith.muli %n, %s }   ->   %1 = arith.muli %n, %s
//                                                 scf.for ... { }
//
// A load moves out of an scf.for that writes nothing. If the loop may not run, its mask has the
// condition. An scf.while may wait for what other programs write, and keeps its loads.
//
//   scf.for %i = %l to %u ... { %v = load %p }   ->   %v = load %p, %l < %u
#include "lowering/analysis/speculation.h"
#include "lowering/pass.h"
#include "lowering/passes/loop_rewrite.h"
#include "mlir-dialects/build.h"

struct licm {
  struct pass_context *p;
  struct ir_context *c;
  bool changed;
};

static bool is_invariant(MlirOperation op, MlirOperation loop) {
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(op); i < n; i++)
    if (loop_defines(loop, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

// An extended tile would occupy registers through the whole loop, the narrow one half of them: it
// is extended in every iteration.
static bool widens_tile(struct ir_context *c, MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumOperands(op) != 1)
    return false;
  MlirType to = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
  return type_is_tensor(to) && type_is_tensor(from) && tensor_numel(to) == tensor_numel(from) &&
         type_bits(c, element_type(to)) > type_bits(c, element_type(from)) &&
         type_bits(c, element_type(from)) >= 8;
}

static bool can_move(struct ir_context *c, MlirOperation op, MlirOperation loop) {
  return !widens_tile(c, op) && (op_flags(c, op) & OP_PURE) &&
         mlirOperationGetNumRegions(op) == 0 && !op_may_have_no_value(c, op) &&
         is_invariant(op, loop);
}

// ---- loads ----

struct writes {
  struct ir_context *c;
  bool any;
};

static bool note_write(MlirOperation op, void *user) {
  struct writes *w = user;
  w->any |= !op_is(w->c, op, OP_TILE_ASSUME) && (op_flags(w->c, op) & (OP_WRITE | OP_EFFECT));
  return !w->any;
}

static bool has_effects(struct ir_context *c, MlirOperation loop) {
  struct writes w = {c, false};
  ir_walk(loop, note_write, &w);
  return w.any;
}

static bool surely_runs(struct ir_context *c, MlirOperation loop) {
  int64_t lower, upper;
  return value_const_int(c, mlirOperationGetOperand(loop, 0), &lower) &&
         value_const_int(c, mlirOperationGetOperand(loop, 1), &upper) && lower < upper;
}

// The condition that the loop runs, as a tile of the shape of `ptr`, and `mask`.
static MlirValue guarded(struct builder *b, MlirOperation loop, MlirValue ptr, MlirValue mask) {
  MlirValue lower = mlirOperationGetOperand(loop, 0), upper = mlirOperationGetOperand(loop, 1);
  MlirValue runs = build_cmpi(b, 2, lower, upper);
  MlirType type = mlirValueGetType(ptr);
  if (type_is_tensor(type)) {
    MlirType i1 = type_with_element(type, mlirValueGetType(runs));
    runs = mlirOperationGetResult(build_op(b, OP_TILE_SPLAT, 1, &runs, 1, &i1, 0, NULL), 0);
  }
  return mlirValueIsNull(mask) ? runs : build_binary(b, OP_ARITH_ANDI, mask, runs);
}

static const char *text_attr(struct licm *l, MlirOperation op, const char *name) {
  struct str s = op_attr_str(op, name);
  return arena_strndup(l->p->scratch, s.ptr, s.len);
}

static void hoist_guarded(struct licm *l, MlirOperation load, MlirOperation loop) {
  int32_t sizes[3] = {1, 0, 0};
  MlirValue ptr = mlirOperationGetOperand(load, 0), mask = {NULL}, other = {NULL};
  op_attr_i32_array(load, "operandSegmentSizes", 3, sizes);
  if (sizes[1])
    mask = mlirOperationGetOperand(load, 1);
  if (sizes[2])
    other = mlirOperationGetOperand(load, 1 + sizes[1]);
  struct builder b = builder_before(l->c, loop);
  b.loc = mlirOperationGetLocation(load);
  mask = guarded(&b, loop, ptr, mask);
  MlirValue v = build_load(&b, ptr, mask, other, text_attr(l, load, "cache"),
                           text_attr(l, load, "evict"), false);
  value_replace(mlirOperationGetResult(load, 0), v);
  op_erase(load);
}

static void hoist_load(struct licm *l, MlirOperation load, MlirOperation loop) {
  if (!op_is(l->c, loop, OP_SCF_FOR) || op_attr_bool(load, "is_volatile") ||
      !is_invariant(load, loop))
    return;
  if (has_effects(l->c, loop)) {
    pass_remark(
        l->p, load, "licm",
        "loads the same in every iteration: the loop has effects, after which it may differ");
    return;
  }
  if (surely_runs(l->c, loop))
    mlirOperationMoveBefore(load, loop);
  else
    hoist_guarded(l, load, loop);
  l->changed = true;
}

// ---- loops ----

// Operations inside nested scf.if and loops stay: what can leave an inner loop has left it before,
// and a branch may not be taken.
static void hoist_from(struct licm *l, MlirOperation loop, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (op_is(l->c, op, OP_TILE_LOAD))
      hoist_load(l, op, loop);
    else if (can_move(l->c, op, loop)) {
      mlirOperationMoveBefore(op, loop);
      l->changed = true;
    }
  }
}

static bool visit(MlirOperation op, void *user) {
  struct licm *l = user;
  enum op_id id = op_id(l->c, op);
  if ((id == OP_SCF_FOR || id == OP_SCF_WHILE) && !op_attr_bool(op, "tile.disable_licm"))
    for (intptr_t r = 0, n = mlirOperationGetNumRegions(op); r < n; r++)
      hoist_from(l, op, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)));
  return true;
}

enum pass_result pass_licm(struct pass_context *p) {
  struct licm l = {p, p->c, false};
  ir_walk_post(p->scratch, mlirModuleGetOperation(p->module), visit, &l);
  return l.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
