// SPDX-License-Identifier: Apache-2.0
// What deferred values cost, and who needs them later: decides which values are kept in buffers.
// Recursion is the algorithm: values are graphs.
#include "lowering/processor/strips.h"

enum { CHEAP = 1, LOAD = 2, GATHER = 24, FUNCTION = 12, DIVISION = 6, CALL = 40, MOST_SEEN = 256 };

// ---- users ----

// The op of v's block that uses it, itself or in its regions; null: another block's.
static MlirOperation user_in_block(MlirOperation user, MlirBlock block) {
  while (!mlirOperationIsNull(user) && !mlirBlockEqual(mlirOperationGetBlock(user), block))
    user = mlirOperationGetParentOperation(user);
  return user;
}

static bool is_open(struct strip_emitter *e, MlirOperation op) {
  for (size_t i = 0; i < e->open.len; i++)
    if (mlirOperationEqual(e->open.at[i]->op, op))
      return true;
  return false;
}

static bool is_needed(struct strip_emitter *e, MlirValue v, const struct map *kept,
                      struct map *seen) {
  if (ptrmap_get(seen, v.ptr))
    return ptrmap_get(seen, v.ptr) != seen;
  ptrmap_put(e->arena, seen, v.ptr, seen); // not needed
  MlirOperation def = value_def(v);
  MlirBlock block =
      mlirOperationIsNull(def) ? mlirBlockArgumentGetOwner(v) : mlirOperationGetBlock(def);
  bool needed = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !needed && !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = user_in_block(mlirOpOperandGetOwner(use), block);
    if (mlirOperationIsNull(user) || ptrmap_get(&e->done, user.ptr) || is_open(e, user))
      continue;
    if (!is_deferred(e, user)) {
      needed = true;
      continue;
    }
    for (unsigned r = 0; !needed && r < (unsigned)mlirOperationGetNumResults(user); r++) {
      MlirValue out = result(user, r);
      needed = !known_value(e, out) && !ptrmap_get(kept, out.ptr) && is_needed(e, out, kept, seen);
    }
  }
  if (needed)
    ptrmap_put(e->arena, seen, v.ptr, &e->values);
  return needed;
}

bool is_needed_later(struct strip_emitter *e, MlirValue v, const struct map *kept,
                     struct map *seen) {
  struct map own = {0};
  return is_needed(e, v, kept, seen ? seen : &own);
}

// ---- what a value is computed from ----

struct walk {
  struct strip_emitter *e;
  size_t most; // values; it stops behind them
  struct map seen;
  VEC(MlirValue) order; // operands before users
};

static void visit(struct walk *w, MlirValue v) {
  MlirOperation op = deferred_op(w->e, v);
  struct value *known = known_value(w->e, v);
  if (ptrmap_get(&w->seen, v.ptr) || w->order.len > w->most)
    return;
  ptrmap_put(w->e->arena, &w->seen, v.ptr, w);
  if (known && known->kind == VALUE_ADVANCED)
    visit(w, known->from);
  if (mlirOperationIsNull(op))
    return;
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    visit(w, operand(op, i));
  vec_push(w->e->arena, &w->order, v);
}

struct deferred deferred_of(struct strip_emitter *e, const MlirValue *roots, size_t count) {
  struct walk w = {.e = e, .most = SIZE_MAX};
  struct deferred l = {0};
  for (size_t i = 0; i < count; i++)
    if (!mlirValueIsNull(roots[i]))
      visit(&w, roots[i]);
  for (size_t i = w.order.len; i-- > 0;)
    vec_push(e->arena, &l.at, w.order.at[i]);
  return l;
}

// ---- costs ----

static unsigned own_cost(struct strip_emitter *e, MlirOperation op) {
  switch (op_id(e->c, op)) {
  case OP_ARITH_CONSTANT:
  case OP_TILE_MAKE_RANGE:
  case OP_TILE_SPLAT:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_TRANS: return 0;
  case OP_TILE_LOAD: return LOAD;
  case OP_TILE_SPLIT: return LOAD;
  case OP_TILE_GATHER: return GATHER;
  case OP_TILE_MAP: return CALL;
  case OP_ARITH_DIVF:
  case OP_MATH_SQRT:
  case OP_MATH_RSQRT:
  case OP_TILE_PRECISE_DIVF:
  case OP_TILE_PRECISE_SQRT: return DIVISION;
  case OP_MATH_EXP2:
  case OP_MATH_LOG2:
  case OP_MATH_TANH: return FUNCTION;
  case OP_ARITH_REMF: return CALL;
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI:
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI: return FUNCTION;
  default: return CHEAP;
  }
}

// Addresses and masks cost little: they are computed for a vector as a whole.
static bool is_address(struct strip_emitter *e, MlirValue v) {
  MlirType element = element_type(mlirValueGetType(v));
  return type_is_ptr(e->c, element) || dtype_of_mlir(element) == DTYPE_I64;
}

// So many values that it stopped count as much, and as reading memory.
unsigned cost_of(struct strip_emitter *e, MlirValue v) {
  struct walk w = {.e = e, .most = MOST_SEEN};
  unsigned total = 0;
  visit(&w, v);
  for (size_t i = 0; i < w.order.len; i++)
    total += is_address(e, w.order.at[i]) ? 0 : own_cost(e, deferred_op(e, w.order.at[i]));
  return total + (w.order.len > MOST_SEEN ? MOST_SEEN : 0);
}

bool reads_memory(struct strip_emitter *e, MlirValue v) {
  struct walk w = {.e = e, .most = MOST_SEEN};
  visit(&w, v);
  for (size_t i = 0; i < w.order.len; i++)
    if (op_is(e->c, deferred_op(e, w.order.at[i]), OP_TILE_LOAD))
      return true;
  return w.order.len > MOST_SEEN;
}

// ---- open sinks ----

static bool is_made_by_open(struct strip_emitter *e, MlirValue v) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && is_open(e, def);
}

bool depends_on_open(struct strip_emitter *e, MlirValue v) {
  if (is_made_by_open(e, v))
    return true;
  struct deferred l = deferred_of(e, &v, 1);
  for (size_t i = 0; i < l.at.len; i++) {
    MlirOperation op = deferred_op(e, l.at.at[i]);
    for (unsigned k = 0; k < (unsigned)mlirOperationGetNumOperands(op); k++)
      if (is_made_by_open(e, operand(op, k)))
        return true;
  }
  return false;
}
