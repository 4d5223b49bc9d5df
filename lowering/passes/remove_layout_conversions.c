// SPDX-License-Identifier: Apache-2.0
// remove-layout-conversions: removes all conversions, chooses one layout per tile again
// (plan/layout_choice.h), and then gives each use that needs another layout the value in the
// cheapest way: by recomputing the value in that layout, by converting it, or by converting
// something smaller it is computed from.
//
//   %r : slice<1>, wanted as slice<0>          %r' = tile.make_range : slice<0>
//   %h = load f16, %f = extf %h, wanted as B    %h' = convert_layout %h : B, %f' = extf %h'
//
// layout_versions.c does the latter. The pass works on a copy, which replaces the module if its
// conversions cost less than before; this repeats while costs fall. So the pass is idempotent and
// never increases the cost.
#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "lowering/passes/layout_versions.h"
#include "lowering/plan/layout_choice.h"

enum { MAX_ROUNDS = 4 }; // each must lower the cost of conversions; more were not measured

struct demand {
  MlirOperation op;
  intptr_t operand;
  MlirAttribute encoding;
};

struct state {
  struct pass_context *p;
  struct ir_context *c;
  struct layout_choice *choice;
  VEC(MlirOperation) conversions;
  VEC(MlirValue) tiles;
  VEC(struct demand) demands;
};

static MlirAttribute layout_of(MlirValue v) { return tensor_encoding(mlirValueGetType(v)); }

// ---- removing conversions ----

static bool collect_conversion(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_GPU_CONVERT_LAYOUT))
    vec_push(s->p->scratch, &s->conversions, op);
  return true;
}

// Users with a preferred layout; others keep their conversion.
static bool users_are_known(struct ir_context *c, MlirValue v) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (layout_is_foreign(c, mlirOpOperandGetOwner(use)))
      return false;
  return true;
}

static void forget_conversions(struct state *s) {
  for (size_t i = 0; i < s->conversions.len; i++) {
    MlirOperation op = s->conversions.at[i];
    MlirValue result = mlirOperationGetResult(op, 0);
    if (!users_are_known(s->c, result))
      continue;
    value_replace(result, mlirOperationGetOperand(op, 0));
    op_erase(op);
  }
}

// ---- retyping ----

static void collect_tile(struct state *s, MlirValue v) {
  if (type_is_tensor(mlirValueGetType(v)))
    vec_push(s->p->scratch, &s->tiles, v);
}

static bool collect_tiles(MlirOperation op, void *user) {
  struct state *s = user;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    collect_tile(s, mlirOperationGetResult(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); i++)
      collect_tile(s, mlirBlockGetArgument(block, i));
  }
  return true;
}

static bool collect_demands(MlirOperation op, void *user) {
  struct state *s = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirAttribute wanted = layout_wanted(s->choice, op, i);
    if (mlirAttributeIsNull(wanted) ||
        mlirAttributeEqual(wanted, layout_chosen(s->choice, mlirOperationGetOperand(op, i))))
      continue;
    struct demand d = {op, i, wanted};
    vec_push(s->p->scratch, &s->demands, d);
  }
  return true;
}

// ---- cleaning ----

// Removes conversions between equal encodings.
static bool erase_if_idle(MlirOperation op, void *user) {
  struct state *s = user;
  if (!op_is(s->c, op, OP_GPU_CONVERT_LAYOUT))
    return true;
  MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetResult(op, 0);
  if (!mlirAttributeEqual(layout_of(from), layout_of(to)))
    return true;
  value_replace(to, from);
  op_erase(op);
  return true;
}

static void solve(struct pass_context *p, MlirOperation module) {
  struct state s = {.p = p, .c = p->c};
  ir_walk(module, collect_conversion, &s);
  s.choice = layout_choice_begin(p->c, module, p->target, p->num_stages, p->scratch);
  forget_conversions(&s);
  layout_choice_solve(s.choice);
  ir_walk(module, collect_tiles, &s);
  ir_walk(module, collect_demands, &s);
  for (size_t i = 0; i < s.tiles.len; i++) {
    MlirAttribute chosen = layout_chosen(s.choice, s.tiles.at[i]);
    if (!mlirAttributeEqual(chosen, layout_of(s.tiles.at[i])))
      layout_set(p->c, s.tiles.at[i], chosen);
  }
  struct layout_versions *versions = layout_versions_begin(p->c, p->scratch);
  for (size_t i = 0; i < s.demands.len; i++) {
    struct demand d = s.demands.at[i];
    MlirValue operand = mlirOperationGetOperand(d.op, d.operand);
    mlirOperationSetOperand(d.op, d.operand, layout_version(versions, operand, d.encoding));
  }
  layout_versions_finish(versions);
  ir_erase_dead(s.c, module);
  ir_walk(module, erase_if_idle, &s);
}

// ---- rounds ----

struct bill {
  struct pass_context *p;
  int64_t cost;
};

// Plus one per conversion, so that fewer are better even if they are free.
static bool add_conversion(MlirOperation op, void *user) {
  struct bill *b = user;
  if (!op_is(b->p->c, op, OP_GPU_CONVERT_LAYOUT))
    return true;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  int64_t cost = 1 + layout_convert_cost(b->p->c, type, layout_of(mlirOperationGetResult(op, 0)));
  b->cost += cost * layout_loop_factor(b->p->c, mlirOperationGetBlock(op));
  return true;
}

static int64_t bill_of(struct pass_context *p, MlirOperation module) {
  struct bill b = {p, 0};
  ir_walk(module, add_conversion, &b);
  return b.cost;
}

static MlirOperation first_op(MlirOperation module) {
  return mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)));
}

// The functions of `module` get the bodies of those of `solved`.
static void adopt(struct pass_context *p, MlirOperation module, MlirOperation solved) {
  MlirOperation to = first_op(module), from = first_op(solved);
  for (; !mlirOperationIsNull(to); to = mlirOperationGetNextInBlock(to)) {
    if (op_is(p->c, to, OP_FUNC_FUNC))
      mlirRegionTakeBody(mlirOperationGetRegion(to, 0), mlirOperationGetRegion(from, 0));
    from = mlirOperationGetNextInBlock(from);
  }
}

// Operands of products may get buffers, or asynchronous copies.
static bool report(MlirOperation op, void *user) {
  struct pass_context *p = user;
  if (!op_is(p->c, op, OP_GPU_CONVERT_LAYOUT))
    return true;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirAttribute to = layout_of(mlirOperationGetResult(op, 0));
  if (!layout_is_dot_operand(p->c, to) && layout_convert_kind(p->c, type, to) == CONVERT_SHARED)
    pass_remark(p, op, "layout",
                "a tile of %lld elements changes its layout here through shared memory",
                (long long)tensor_numel(type));
  return true;
}

enum pass_result pass_remove_layout_conversions(struct pass_context *p) {
  MlirOperation module = mlirModuleGetOperation(p->module);
  int64_t cost = bill_of(p, module);
  bool changed = false, better = cost > 0;
  for (int round = 0; better && round < MAX_ROUNDS; round++) {
    p->c->unfinished = mlirModuleFromOperation(mlirOperationClone(module));
    MlirOperation solved = mlirModuleGetOperation(p->c->unfinished);
    solve(p, solved);
    int64_t found = bill_of(p, solved);
    better = found < cost;
    if (better)
      adopt(p, module, solved);
    mlirModuleDestroy(p->c->unfinished);
    p->c->unfinished = (MlirModule){NULL};
    cost = found;
    changed |= better;
  }
  ir_walk(module, report, p);
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
