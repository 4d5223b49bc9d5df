// SPDX-License-Identifier: Apache-2.0
// remove-layout-conversions: forgets all conversions, chooses one layout a tile anew
// (analysis/layout_choice.h), and then satisfies each use that still wants another layout the
// cheapest way: by recomputing the value in that layout, by converting it, or by converting
// something smaller it is computed from.
//
//   %r : slice<1>, wanted as slice<0>          %r' = tile.make_range : slice<0>
//   %h = load f16, %f = extf %h, wanted as B    %h' = convert_layout %h : B, %f' = extf %h'
//
// What is made for a use stands right after the original's definition, so loop-invariant work stays
// outside of loops and equal wishes share it.
#include "base/vec.h"
#include "lowering/analysis/layout_choice.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/pass.h"
#include "mlir-dialects/build.h"

enum {
  MAX_DEPTH = 24,    // of recomputed expressions
  CONVERT_SCALE = 4, // recomputed address arithmetic mostly folds into constants: a quarter each
};

// A tile in another layout than its own.
struct version {
  MlirAttribute encoding;
  int64_t cost;   // of getting it; 0 once it is there
  bool recompute; // rather than convert
  MlirValue value;
  struct version *next;
};

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
  struct map versions; // MlirValue.ptr -> struct version *
};

static MlirAttribute layout_of(MlirValue v) { return tensor_encoding(mlirValueGetType(v)); }

// ---- forgetting ----

static bool collect_conversion(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_GPU_CONVERT_LAYOUT))
    vec_push(s->p->scratch, &s->conversions, op);
  return true;
}

// Users that say which layout they want; others keep the conversion they were given.
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

// ---- satisfying demands ----

// A value that a conversion has been put before already: what was converted.
static MlirValue source_of(struct state *s, MlirValue v) {
  MlirOperation def = value_def(v);
  while (!mlirOperationIsNull(def) && op_is(s->c, def, OP_GPU_CONVERT_LAYOUT)) {
    v = mlirOperationGetOperand(def, 0);
    def = value_def(v);
  }
  return v;
}

static struct version *find_version(struct state *s, MlirValue v, MlirAttribute encoding) {
  for (struct version *e = ptrmap_get(&s->versions, v.ptr); e; e = e->next)
    if (mlirAttributeEqual(e->encoding, encoding))
      return e;
  return NULL;
}

static struct version *add_version(struct state *s, MlirValue v, MlirAttribute encoding) {
  struct version *e = arena_new(s->p->scratch, struct version);
  e->encoding = encoding;
  e->next = ptrmap_get(&s->versions, v.ptr);
  ptrmap_put(s->p->scratch, &s->versions, v.ptr, e);
  return e;
}

// Instructions for one element; a quarter of an instruction is the unit. -1: not to be repeated.
static int64_t element_cost(struct ir_context *c, MlirOperation op) {
  enum { CHEAP = 1, FLOAT = CONVERT_SCALE, SLOW = 4 * CONVERT_SCALE, DIVIDE = 20 };
  switch (op_id(c, op)) {
  case OP_ARITH_CONSTANT:
  case OP_TILE_SPLAT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS:
  case OP_TILE_JOIN:
  case OP_TILE_BITCAST:
  case OP_ARITH_BITCAST: return 0;
  case OP_TILE_MAKE_RANGE: return CHEAP;
  case OP_TILE_MAP:
  case OP_TILE_INLINE_ASM: return -1;
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI:
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI: return DIVIDE;
  case OP_ARITH_DIVF:
  case OP_ARITH_REMF:
  case OP_TILE_PRECISE_DIVF:
  case OP_TILE_PRECISE_SQRT:
  case OP_MATH_EXP2:
  case OP_MATH_LOG2:
  case OP_MATH_SQRT:
  case OP_MATH_RSQRT:
  case OP_MATH_TANH: return SLOW;
  default: break;
  }
  if (!(op_flags(c, op) & OP_EW))
    return -1;
  MlirType element = element_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return type_is_ptr(c, element) || mlirTypeIsAInteger(element) ? CHEAP : FLOAT;
}

// Can the op that defines `v` be repeated for another layout of its result?
static bool is_repeatable(struct state *s, MlirOperation def) {
  if (mlirOperationIsNull(def) || mlirOperationGetNumResults(def) != 1)
    return false;
  return element_cost(s->c, def) >= 0;
}

static const struct version *plan(struct state *s, MlirValue v, MlirAttribute encoding,
                                  unsigned depth);

static int64_t recompute_cost(struct state *s, MlirValue v, MlirAttribute encoding,
                              unsigned depth) {
  MlirOperation def = value_def(v);
  MlirType type = type_with_encoding(mlirValueGetType(v), encoding);
  int64_t cost = element_cost(s->c, def) * layout_registers(s->c, type);
  cost *= layout_loop_factor(s->c, mlirOperationGetBlock(def));
  if (!layout_flows_through(s->c, def))
    return cost; // make_range, splat, constant
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
    MlirValue operand = source_of(s, mlirOperationGetOperand(def, i));
    if (!layout_ties_operand(s->c, def, i))
      continue;
    MlirAttribute need = layout_of_operand(s->c, def, encoding, layout_of(operand));
    if (mlirAttributeIsNull(need))
      return INT64_MAX / 4;
    if (!mlirAttributeEqual(need, layout_of(operand)))
      cost += plan(s, operand, need, depth + 1)->cost;
    if (cost > INT64_MAX / 8)
      return INT64_MAX / 4;
  }
  return cost;
}

static MlirBlock block_of(MlirValue v) {
  return mlirValueIsABlockArgument(v) ? mlirBlockArgumentGetOwner(v)
                                      : mlirOperationGetBlock(mlirOpResultGetOwner(v));
}

// The cheapest way to `v` in another layout than its own.
static const struct version *plan(struct state *s, MlirValue v, MlirAttribute encoding,
                                  unsigned depth) {
  struct version *e = find_version(s, v, encoding);
  if (e)
    return e;
  e = add_version(s, v, encoding);
  e->cost = CONVERT_SCALE * (int64_t)layout_convert_cost(s->c, mlirValueGetType(v), encoding);
  e->cost *= layout_loop_factor(s->c, block_of(v));
  if (depth >= MAX_DEPTH || !is_repeatable(s, value_def(v)))
    return e;
  int64_t recompute = recompute_cost(s, v, encoding, depth);
  if (recompute <= e->cost) {
    e->cost = recompute;
    e->recompute = true;
  }
  return e;
}

static MlirValue satisfy(struct state *s, MlirValue v, MlirAttribute encoding);

static MlirValue recompute(struct state *s, MlirValue v, MlirAttribute encoding) {
  MlirOperation def = value_def(v);
  MlirOperation copy = mlirOperationClone(def);
  if (layout_flows_through(s->c, def))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
      MlirValue operand = source_of(s, mlirOperationGetOperand(def, i));
      if (!layout_ties_operand(s->c, def, i))
        continue;
      MlirAttribute need = layout_of_operand(s->c, def, encoding, layout_of(operand));
      mlirOperationSetOperand(copy, i, satisfy(s, operand, need));
    }
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(def), def, copy);
  MlirValue result = mlirOperationGetResult(copy, 0);
  layout_set(s->c, result, encoding);
  return result;
}

static MlirValue convert(struct state *s, MlirValue v, MlirAttribute encoding) {
  MlirOperation def = value_def(v);
  struct builder b;
  if (!mlirOperationIsNull(def))
    b = builder_after(s->c, def);
  else
    b = builder_before(s->c, mlirBlockGetFirstOperation(block_of(v)));
  return build_convert_layout(&b, v, encoding);
}

static MlirValue satisfy(struct state *s, MlirValue v, MlirAttribute encoding) {
  v = source_of(s, v);
  if (mlirAttributeEqual(layout_of(v), encoding))
    return v;
  plan(s, v, encoding, 0);
  struct version *e = find_version(s, v, encoding);
  if (!mlirValueIsNull(e->value))
    return e->value;
  MlirValue made = e->recompute ? recompute(s, v, encoding) : convert(s, v, encoding);
  e->value = made;
  e->cost = 0;
  return made;
}

// ---- cleaning ----

static bool erase_if_dead(MlirOperation op, void *user) {
  struct state *s = user;
  if (mlirOperationGetNumResults(op) == 0 || !op_is_pure(s->c, op))
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (value_has_uses(mlirOperationGetResult(op, i)))
      return true;
  op_erase(op);
  return true;
}

// What is left: conversions that keep the layout vanish, those through memory are reported.
static bool finish_conversion(MlirOperation op, void *user) {
  struct state *s = user;
  if (!op_is(s->c, op, OP_GPU_CONVERT_LAYOUT))
    return true;
  MlirValue from = mlirOperationGetOperand(op, 0), to = mlirOperationGetResult(op, 0);
  if (mlirAttributeEqual(layout_of(from), layout_of(to))) {
    value_replace(to, from);
    op_erase(op);
    return true;
  }
  MlirType type = mlirValueGetType(from);
  if (layout_convert_kind(s->c, type, layout_of(to)) == CONVERT_SHARED)
    pass_remark(s->p, op, "layout",
                "a tile of %lld elements changes its layout here through shared memory",
                (long long)tensor_numel(type));
  return true;
}

enum pass_result pass_remove_layout_conversions(struct pass_context *p) {
  MlirOperation module = mlirModuleGetOperation(p->module);
  struct state s = {.p = p, .c = p->c};
  ir_walk(module, collect_conversion, &s);
  if (s.conversions.len == 0)
    return PASS_UNCHANGED;
  s.choice = layout_choice_begin(p->c, module, p->target, p->scratch);
  forget_conversions(&s);
  layout_choice_solve(s.choice);
  ir_walk(module, collect_tiles, &s);
  ir_walk(module, collect_demands, &s);
  for (size_t i = 0; i < s.tiles.len; i++) {
    MlirAttribute chosen = layout_chosen(s.choice, s.tiles.at[i]);
    if (!mlirAttributeEqual(chosen, layout_of(s.tiles.at[i])))
      layout_set(p->c, s.tiles.at[i], chosen);
  }
  for (size_t i = 0; i < s.demands.len; i++) {
    struct demand d = s.demands.at[i];
    MlirValue operand = mlirOperationGetOperand(d.op, d.operand);
    mlirOperationSetOperand(d.op, d.operand, satisfy(&s, operand, d.encoding));
  }
  ir_walk_post(module, erase_if_dead, &s);
  ir_walk(module, finish_conversion, &s);
  return PASS_CHANGED;
}
