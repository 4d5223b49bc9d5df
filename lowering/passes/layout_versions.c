// SPDX-License-Identifier: Apache-2.0
// Plans with costs, recursively from uses to definitions, then builds. Address arithmetic that a
// loop carries is also carried in the other layout:
//
//   scf.for iter_args(%p = %p0) {               scf.for iter_args(%p = %p0, %p' = %p0') {
//     use(convert_layout %p)              ->      use(%p')
//     yield addptr %p, %step                      yield addptr %p, %step, addptr %p', %step'
#include "lowering/passes/layout_versions.h"

#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/passes/loop_rewrite.h"
#include "lowering/plan/layout_choice.h"
#include "mlir-dialects/build.h"

enum {               // chosen, not measured
  MAX_DEPTH = 24,    // operations, of recomputed expressions
  CONVERT_SCALE = 4, // recomputed address arithmetic mostly folds into constants: a quarter each
  FORBIDDEN = INT32_MAX
};

// A value in another layout than its own.
struct version {
  MlirAttribute encoding;
  int64_t cost;   // of getting it; 0 once it is there
  bool recompute; // rather than convert
  bool refuted;   // planned under an assumption that did not hold
  MlirValue value;
  struct version *next;
};

// A loop's result in another layout, with a conversion as a placeholder until the loop is rebuilt.
struct promise {
  MlirOperation loop, stand_in;
  intptr_t result;
};

struct layout_versions {
  struct ir_context *c;
  struct arena *arena;
  struct map versions; // MlirValue.ptr -> struct version *
  VEC(struct version *) order;
  VEC(MlirOperation) grown; // loops with more carried values than results
  VEC(struct promise) promises;
};

static MlirAttribute layout_of(MlirValue v) { return tensor_encoding(mlirValueGetType(v)); }

// The source of `v` if it is a conversion.
static MlirValue source_of(struct layout_versions *x, MlirValue v) {
  MlirOperation def = value_def(v);
  while (!mlirOperationIsNull(def) && op_is(x->c, def, OP_GPU_CONVERT_LAYOUT)) {
    v = mlirOperationGetOperand(def, 0);
    def = value_def(v);
  }
  return v;
}

static struct version *find_version(struct layout_versions *x, MlirValue v,
                                    MlirAttribute encoding) {
  for (struct version *e = ptrmap_get(&x->versions, v.ptr); e; e = e->next)
    if (!e->refuted && mlirAttributeEqual(e->encoding, encoding))
      return e;
  return NULL;
}

static struct version *add_version(struct layout_versions *x, MlirValue v, MlirAttribute encoding) {
  struct version *e = arena_new(x->arena, struct version);
  e->encoding = encoding;
  e->next = ptrmap_get(&x->versions, v.ptr);
  ptrmap_put(x->arena, &x->versions, v.ptr, e);
  vec_push(x->arena, &x->order, e);
  return e;
}

// ---- costs ----

// Instructions for one element; a quarter of an instruction is the unit. -1: not to be recomputed.
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

// Can the op that defines `v` be recomputed in another layout? Ops between loads and matrix
// products are left to optimize-dot-operands.
static bool is_repeatable(struct layout_versions *x, MlirOperation def, MlirAttribute encoding) {
  if (mlirOperationIsNull(def) || mlirOperationGetNumResults(def) != 1)
    return false;
  if (layout_is_dot_operand(x->c, encoding))
    return op_is(x->c, def, OP_ARITH_CONSTANT) || op_is(x->c, def, OP_TILE_SPLAT);
  return element_cost(x->c, def) >= 0;
}

static const struct version *plan(struct layout_versions *x, MlirValue v, MlirAttribute encoding,
                                  unsigned depth);

static int64_t cost_of(struct layout_versions *x, MlirValue v, MlirAttribute encoding,
                       unsigned depth) {
  v = source_of(x, v);
  return mlirAttributeEqual(encoding, layout_of(v)) ? 0 : plan(x, v, encoding, depth)->cost;
}

static int64_t recompute_cost(struct layout_versions *x, MlirValue v, MlirAttribute encoding,
                              unsigned depth) {
  MlirOperation def = value_def(v);
  MlirType type = type_with_encoding(mlirValueGetType(v), encoding);
  int64_t registers = layout_registers(x->c, type);
  if (value_use_count(v) == 1) { // its only user needs the other layout: it moves
    int64_t before = layout_registers(x->c, mlirValueGetType(v));
    registers = registers > before ? registers - before : 0;
  }
  int64_t cost = element_cost(x->c, def) * registers;
  cost *= layout_loop_factor(x->c, mlirOperationGetBlock(def));
  if (!layout_flows_through(x->c, def))
    return cost; // make_range, splat, constant
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
    if (!layout_ties_operand(x->c, def, i))
      continue;
    MlirValue operand = source_of(x, mlirOperationGetOperand(def, i));
    MlirAttribute need = layout_of_operand(x->c, def, encoding, layout_of(operand));
    if (mlirAttributeIsNull(need))
      return FORBIDDEN;
    cost += cost_of(x, operand, need, depth + 1);
    if (cost >= FORBIDDEN)
      return FORBIDDEN;
  }
  return cost;
}

static MlirBlock block_of(MlirValue v) {
  return mlirValueIsABlockArgument(v) ? mlirBlockArgumentGetOwner(v)
                                      : mlirOperationGetBlock(mlirOpResultGetOwner(v));
}

// ---- values that loops carry ----

// The scf.for of which `v` is a carried argument, and its index; null if none.
static MlirOperation carrier_of(struct ir_context *c, MlirValue v, intptr_t *ret_at) {
  MlirOperation none = {NULL};
  if (!mlirValueIsABlockArgument(v) || mlirBlockArgumentGetArgNumber(v) == 0)
    return none;
  MlirOperation op = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  *ret_at = mlirBlockArgumentGetArgNumber(v) - 1;
  return op_is(c, op, OP_SCF_FOR) ? op : none;
}

// Offsets and pointers are carried twice rather than converted in every iteration; data is not.
static bool is_address(struct layout_versions *x, MlirValue v) {
  MlirType element = element_type(mlirValueGetType(v));
  return type_is_ptr(x->c, element) || mlirTypeIsAInteger(element);
}

// Costs of carrying `v` in that layout too. If converting is no more expensive, what was planned
// under that assumption is discarded.
static void plan_carried(struct layout_versions *x, struct version *e, MlirOperation loop,
                         intptr_t at, unsigned depth) {
  int64_t convert = e->cost;
  size_t mark = x->order.len;
  MlirValue arg = mlirBlockGetArgument(loop_body(loop), at + 1);
  e->cost = 0;
  e->recompute = true;
  int64_t carry = layout_registers(x->c, type_with_encoding(mlirValueGetType(arg), e->encoding));
  carry += cost_of(x, mlirOperationGetOperand(loop, at + 3), e->encoding, depth + 1);
  MlirOperation yield = mlirBlockGetTerminator(loop_body(loop));
  carry += cost_of(x, mlirOperationGetOperand(yield, at), e->encoding, depth + 1);
  if (carry < convert) {
    e->cost = carry;
    return;
  }
  e->cost = convert;
  e->recompute = false;
  for (size_t i = mark; i < x->order.len; i++)
    x->order.at[i]->refuted = true;
  x->order.len = mark;
}

static void plan_result(struct layout_versions *x, struct version *e, MlirValue v, unsigned depth) {
  MlirOperation loop = mlirOpResultGetOwner(v);
  MlirValue arg = mlirBlockGetArgument(loop_body(loop), mlirOpResultGetResultNumber(v) + 1);
  const struct version *carried = plan(x, arg, e->encoding, depth + 1);
  if (!carried->recompute || carried->cost >= e->cost)
    return;
  e->cost = carried->cost;
  e->recompute = true;
}

static bool is_loop_result(struct ir_context *c, MlirValue v) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && op_is(c, def, OP_SCF_FOR);
}

// The cheapest way to `v` in another layout than its own.
static const struct version *plan(struct layout_versions *x, MlirValue v, MlirAttribute encoding,
                                  unsigned depth) {
  struct version *e = find_version(x, v, encoding);
  if (e)
    return e;
  e = add_version(x, v, encoding);
  e->cost = CONVERT_SCALE * (int64_t)layout_convert_cost(x->c, mlirValueGetType(v), encoding);
  e->cost *= layout_loop_factor(x->c, block_of(v));
  if (depth >= MAX_DEPTH)
    return e;
  intptr_t at;
  MlirOperation loop = carrier_of(x->c, v, &at);
  if (!mlirOperationIsNull(loop) && is_address(x, v)) {
    plan_carried(x, e, loop, at, depth);
  } else if (is_loop_result(x->c, v) && is_address(x, v)) {
    plan_result(x, e, v, depth);
  } else if (is_repeatable(x, value_def(v), encoding)) {
    int64_t recompute = recompute_cost(x, v, encoding, depth);
    if (recompute < e->cost || (recompute == e->cost && is_address(x, v))) {
      e->cost = recompute;
      e->recompute = true;
    }
  }
  return e;
}

// ---- building ----

static MlirValue recompute(struct layout_versions *x, MlirValue v, MlirAttribute encoding) {
  MlirOperation def = value_def(v);
  MlirOperation copy = mlirOperationClone(def);
  if (layout_flows_through(x->c, def))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
      if (!layout_ties_operand(x->c, def, i))
        continue;
      MlirValue operand = source_of(x, mlirOperationGetOperand(def, i));
      MlirAttribute need = layout_of_operand(x->c, def, encoding, layout_of(operand));
      mlirOperationSetOperand(copy, i, layout_version(x, operand, need));
    }
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(def), def, copy);
  MlirValue result = mlirOperationGetResult(copy, 0);
  layout_set(x->c, result, encoding);
  return result;
}

static MlirValue convert(struct layout_versions *x, MlirValue v, MlirAttribute encoding) {
  MlirOperation def = value_def(v);
  struct builder b;
  if (!mlirOperationIsNull(def))
    b = builder_after(x->c, def);
  else
    b = builder_before(x->c, mlirBlockGetFirstOperation(block_of(v)));
  return build_convert_layout(&b, v, encoding);
}

static void note_grown(struct layout_versions *x, MlirOperation loop) {
  for (size_t i = 0; i < x->grown.len; i++)
    if (mlirOperationEqual(x->grown.at[i], loop))
      return;
  vec_push(x->arena, &x->grown, loop);
}

// The new argument is added before the value that is yielded for it is built.
static void carry(struct layout_versions *x, struct version *e, MlirOperation loop, intptr_t at) {
  MlirBlock body = loop_body(loop);
  MlirType type =
      type_with_encoding(mlirValueGetType(mlirBlockGetArgument(body, at + 1)), e->encoding);
  e->value = mlirBlockAddArgument(body, type, mlirOperationGetLocation(loop));
  e->cost = 0;
  MlirOperation yield = mlirBlockGetTerminator(body);
  intptr_t index = mlirBlockArgumentGetArgNumber(e->value) - 1;
  // Adds argument and init together: building their values may add more to the same loop. The first
  // values are placeholders until the final ones exist.
  op_append_operand(loop, mlirOperationGetOperand(loop, at + 3), x->arena);
  op_append_operand(yield, mlirOperationGetOperand(yield, at), x->arena);
  note_grown(x, loop);
  MlirValue init = layout_version(x, mlirOperationGetOperand(loop, at + 3), e->encoding);
  mlirOperationSetOperand(loop, index + 3, init);
  MlirValue next = layout_version(x, mlirOperationGetOperand(yield, at), e->encoding);
  mlirOperationSetOperand(yield, index, next);
}

static MlirValue promise_result(struct layout_versions *x, MlirValue v, MlirAttribute encoding) {
  MlirOperation loop = mlirOpResultGetOwner(v);
  MlirValue arg = mlirBlockGetArgument(loop_body(loop), mlirOpResultGetResultNumber(v) + 1);
  MlirValue carried = layout_version(x, arg, encoding);
  MlirValue stand_in = convert(x, v, encoding);
  struct promise p = {loop, value_def(stand_in), mlirBlockArgumentGetArgNumber(carried) - 1};
  vec_push(x->arena, &x->promises, p);
  return stand_in;
}

MlirValue layout_version(struct layout_versions *x, MlirValue v, MlirAttribute encoding) {
  v = source_of(x, v);
  if (mlirAttributeEqual(layout_of(v), encoding))
    return v;
  plan(x, v, encoding, 0);
  struct version *e = find_version(x, v, encoding);
  if (!mlirValueIsNull(e->value))
    return e->value;
  intptr_t at;
  MlirOperation loop = carrier_of(x->c, v, &at);
  if (!e->recompute)
    e->value = convert(x, v, encoding);
  else if (!mlirOperationIsNull(loop))
    carry(x, e, loop, at);
  else if (is_loop_result(x->c, v))
    e->value = promise_result(x, v, encoding);
  else
    e->value = recompute(x, v, encoding);
  e->cost = 0;
  return e->value;
}

// ---- loops with more results ----

void layout_versions_finish(struct layout_versions *x) {
  for (size_t i = 0; i < x->grown.len; i++) {
    MlirOperation old = x->grown.at[i], loop = loop_rebuild(old, x->arena);
    for (size_t k = 0; k < x->promises.len; k++) {
      struct promise p = x->promises.at[k];
      if (!mlirOperationEqual(p.loop, old))
        continue;
      value_replace(mlirOperationGetResult(p.stand_in, 0), mlirOperationGetResult(loop, p.result));
      op_erase(p.stand_in);
    }
  }
}

struct layout_versions *layout_versions_begin(struct ir_context *c, struct arena *a) {
  struct layout_versions *x = arena_new(a, struct layout_versions);
  x->c = c;
  x->arena = a;
  return x;
}
