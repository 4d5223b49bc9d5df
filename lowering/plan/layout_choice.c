// SPDX-License-Identifier: Apache-2.0
// Chooses layouts by relaxation: a queue of tiles whose preference has grown, each propagating it
// to its neighbours. Preferences only grow, in (weight, votes): weights are those of anchors, votes
// at most the number of anchors A, so a tile enters the queue at most A * A times.
#include "lowering/plan/layout_choice.h"

#include "base/vec.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/cost/access_cost.h"
#include "lowering/plan/loop_loads.h"

enum {               // in bytes of an access; chosen, not measured
  LIGHT = 1,         // the weight of a preference that recomputable tiles pass on to their users
  PRODUCT = 1 << 16, // how much more an accumulator weighs than an access of its size
};

struct anchor {
  MlirOperation op;
  MlirAttribute encoding;
  int64_t weight;
  bool is_dot;
  bool is_copied;                // to shared memory, iterations ahead
  MlirAttribute dot_operands[2]; // in which layouts a matrix product takes A and B
};

// A tile; the values a loop carries through one slot are one tile.
struct tile {
  MlirValue value;        // its representative
  MlirAttribute encoding; // null: no preference yet
  int64_t weight, votes;
  struct anchor *load; // the access or product it is the result of
  bool fixed;          // not to be changed
  bool follows;        // the result of a reduction: a slice of the operands' layout
  bool cheap;          // can be recomputed anywhere: no memory, no loop behind it
  bool queued;
};

struct layout_choice {
  struct ir_context *c;
  MlirOperation root;
  const struct target *target;
  struct arena *arena;
  struct axis_analysis *axis;
  unsigned stages;    // of loops without tile.num_stages
  struct map anchors; // MlirOperation.ptr -> struct anchor *
  struct map tiles;   // MlirValue.ptr -> struct tile *
  struct map votes;   // MlirAttribute.ptr -> int64_t *: elements accessed in that layout
  VEC(struct anchor *) order;
  VEC(struct tile *) queue;
};

int64_t layout_loop_factor(struct ir_context *c, MlirBlock block) {
  unsigned depth = 0;
  MlirOperation op = mlirBlockGetParentOperation(block);
  while (!mlirOperationIsNull(op)) {
    depth += op_is(c, op, OP_SCF_FOR) || op_is(c, op, OP_SCF_WHILE);
    op = mlirOperationGetParentOperation(op);
  }
  return (int64_t)1 << (2 * (depth > 4 ? 4 : depth));
}

static MlirBlock region_block(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// The representative of a loop's result is the carried value; of other results, the op's first one.
static MlirValue representative(struct ir_context *c, MlirValue v) {
  if (mlirValueIsABlockArgument(v))
    return v;
  MlirOperation op = mlirOpResultGetOwner(v);
  intptr_t at = mlirOpResultGetResultNumber(v);
  if (op_is(c, op, OP_SCF_FOR))
    return mlirBlockGetArgument(region_block(op, 0), at + 1);
  if (op_is(c, op, OP_SCF_WHILE))
    return mlirBlockGetArgument(region_block(op, 1), at);
  return layout_flows_through(c, op) ? mlirOperationGetResult(op, 0) : v; // all are laid out alike
}

static bool is_cheap(struct layout_choice *x, MlirValue v) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def))
    return false;
  switch (op_id(x->c, def)) {
  case OP_TILE_MAKE_RANGE:
  case OP_TILE_SPLAT:
  case OP_ARITH_CONSTANT: return true;
  case OP_TILE_MAP:
  case OP_TILE_INLINE_ASM: return false;
  default: break;
  }
  if (!layout_flows_through(x->c, def) || (op_flags(x->c, def) & OP_ANCHOR) ||
      mlirOperationGetNumResults(def) != 1)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
    MlirValue operand = mlirOperationGetOperand(def, i);
    const struct tile *t = ptrmap_get(&x->tiles, representative(x->c, operand).ptr);
    if (type_is_tensor(mlirValueGetType(operand)) && (!t || !t->cheap))
      return false;
  }
  return true;
}

static struct tile *tile_of(struct layout_choice *x, MlirValue v) {
  v = representative(x->c, v);
  struct tile *t = ptrmap_get(&x->tiles, v.ptr);
  if (t)
    return t;
  t = arena_new(x->arena, struct tile);
  t->value = v;
  t->cheap = is_cheap(x, v);
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def)) {
    MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
    t->fixed = op_is(x->c, parent, OP_FUNC_FUNC); // part of the function's type
  } else {
    struct anchor *a = ptrmap_get(&x->anchors, def.ptr);
    t->load = a;
    t->fixed = a && !op_is(x->c, def, OP_TILE_LOAD);
    t->follows = op_is(x->c, def, OP_TILE_REDUCE);
  }
  ptrmap_put(x->arena, &x->tiles, v.ptr, t);
  return t;
}

// ---- anchors ----

// The operand whose type has the layout of the anchor; -1: `op` is no anchor.
static intptr_t anchoring_operand(struct ir_context *c, MlirOperation op) {
  if (op_is(c, op, OP_TILE_DOT))
    return 2;
  return mlirAttributeIsNull(layout_of_access(c, op)) ? -1 : 0;
}

static bool note_anchor(MlirOperation op, void *user) {
  struct layout_choice *x = user;
  intptr_t at = anchoring_operand(x->c, op);
  if (at < 0)
    return true;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, at));
  MlirAttribute encoding = tensor_encoding(type);
  struct anchor *a = arena_new(x->arena, struct anchor);
  a->op = op;
  a->encoding = encoding;
  a->weight = tensor_numel(type) * layout_loop_factor(x->c, mlirOperationGetBlock(op));
  ptrmap_put(x->arena, &x->anchors, op.ptr, a);
  vec_push(x->arena, &x->order, a);
  if (op_is(x->c, op, OP_TILE_DOT)) {
    a->is_dot = true;
    a->weight *= PRODUCT;
    for (intptr_t i = 0; i < 2; i++)
      a->dot_operands[i] = tensor_encoding(mlirValueGetType(mlirOperationGetOperand(op, i)));
    return true;
  }
  int64_t *votes = ptrmap_get(&x->votes, encoding.ptr);
  if (!votes) {
    votes = arena_new(x->arena, int64_t);
    ptrmap_put(x->arena, &x->votes, encoding.ptr, votes);
  }
  *votes += a->weight;
  return true;
}

// Loads that the loop's pipeline will copy to shared memory.
static bool note_copied(MlirOperation op, void *user) {
  struct layout_choice *x = user;
  bool asked;
  if (!op_is(x->c, op, OP_SCF_FOR) || loop_stages(x->c, op, x->stages, &asked) < 2)
    return true;
  struct loop_loads loads = loop_loads_of(x->c, x->axis, x->target, op, asked, x->arena);
  for (size_t i = 0; i < loads.at.len; i++) {
    struct anchor *a = ptrmap_get(&x->anchors, loads.at.at[i].op.ptr);
    if (a && loads.at.at[i].staging == STAGING_SHARED)
      a->is_copied = true;
  }
  return true;
}

struct layout_choice *layout_choice_begin(struct ir_context *c, MlirOperation root,
                                          const struct target *target, unsigned stages,
                                          struct arena *a) {
  struct layout_choice *x = arena_new(a, struct layout_choice);
  x->c = c;
  x->root = root;
  x->target = target;
  x->arena = a;
  x->axis = axis_analyse(c, root, a);
  x->stages = stages;
  ir_walk(root, note_anchor, x);
  ir_walk(root, note_copied, x);
  return x;
}

static int64_t votes_for(const struct layout_choice *x, MlirAttribute encoding) {
  const int64_t *votes = ptrmap_get(&x->votes, encoding.ptr);
  return votes ? *votes : 0;
}

static const struct linear_layout *linear_with(struct layout_choice *x, MlirType type,
                                               MlirAttribute encoding) {
  return linear_of_type(x->c, type_with_encoding(type, encoding));
}

// ---- relaxation ----

// Can the op that defines `v` produce that layout? Elementwise ops always can.
static bool is_possible(struct layout_choice *x, MlirValue v, MlirAttribute encoding) {
  if (!linear_with(x, mlirValueGetType(v), encoding))
    return false;
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || !layout_flows_through(x->c, def) || (op_flags(x->c, def) & OP_EW))
    return true;
  intptr_t tied = layout_ties_operand(x->c, def, 0) ? 0 : 1;
  MlirType operand = mlirValueGetType(mlirOperationGetOperand(def, tied));
  MlirAttribute need = layout_of_operand(x->c, def, encoding, tensor_encoding(operand));
  return !mlirAttributeIsNull(need) && linear_with(x, operand, need);
}

static void enqueue(struct layout_choice *x, struct tile *t) {
  if (!t->queued)
    vec_push(x->arena, &x->queue, t);
  t->queued = true;
}

// Elements of one access in that layout.
static unsigned width_in(struct layout_choice *x, MlirOperation op, MlirAttribute encoding) {
  const struct linear_layout *l =
      linear_with(x, mlirValueGetType(mlirOperationGetOperand(op, 0)), encoding);
  return l ? axis_vector_of(x->axis, op, x->target, l).width : 1;
}

// May the load use another layout than its own?
static bool gives_way(struct layout_choice *x, const struct anchor *a, MlirAttribute other) {
  if (op_attr_bool(a->op, "is_volatile") ||
      (a->is_copied && width_in(x, a->op, other) < width_in(x, a->op, a->encoding)))
    return false;
  return access_gives_way(x->c, x->axis, x->target, a->op, a->encoding, other);
}

static void prefer(struct layout_choice *x, MlirValue v, MlirAttribute encoding, int64_t weight) {
  MlirType type = mlirValueGetType(v);
  if (!type_is_tensor(type) || mlirAttributeIsNull(encoding))
    return;
  struct tile *t = tile_of(x, v);
  int64_t votes = votes_for(x, encoding);
  bool same = mlirAttributeEqual(t->encoding, encoding);
  if (t->fixed || t->follows || weight < t->weight ||
      (weight == t->weight && (same || t->load || votes <= t->votes)))
    return;
  if (!same) {
    if (!is_possible(x, v, encoding))
      return;
    if (t->load) {
      if (!gives_way(x, t->load, encoding))
        return;
      t->load->encoding = encoding;
    }
  }
  t->encoding = encoding;
  t->weight = weight;
  t->votes = votes;
  enqueue(x, t);
}

static void prefer_on_operands(struct layout_choice *x, MlirOperation op, MlirAttribute encoding,
                               int64_t weight) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    prefer(x, mlirOperationGetOperand(op, i), encoding, weight);
}

// The value that operand `at` of a terminator of `op`'s region flows into.
static MlirValue yield_target(struct ir_context *c, MlirOperation terminator, intptr_t at) {
  MlirOperation op = mlirOperationGetParentOperation(terminator);
  MlirValue none = {NULL};
  switch (op_id(c, op)) {
  case OP_SCF_FOR: return mlirBlockGetArgument(region_block(op, 0), at + 1);
  case OP_SCF_IF: return mlirOperationGetResult(op, at);
  case OP_SCF_WHILE:
    if (!op_is(c, terminator, OP_SCF_CONDITION))
      return mlirBlockGetArgument(region_block(op, 0), at);
    return at == 0 ? none : mlirBlockGetArgument(region_block(op, 1), at - 1);
  default: return none;
  }
}

// The value that `op` passes operand `at` to unchanged; null if there is none.
static MlirValue carried_to(struct ir_context *c, MlirOperation op, intptr_t at) {
  MlirValue none = {NULL};
  switch (op_id(c, op)) {
  case OP_SCF_FOR: return at < 3 ? none : mlirBlockGetArgument(region_block(op, 0), at - 2);
  case OP_SCF_WHILE: return mlirBlockGetArgument(region_block(op, 0), at);
  case OP_SCF_YIELD:
  case OP_SCF_CONDITION: return yield_target(c, op, at);
  default: return none;
  }
}

// Operands that must share a layout, of an op without tiles as results: the most expensive one
// decides.
static MlirValue leader_of(struct layout_choice *x, MlirOperation op) {
  MlirValue leader = mlirOperationGetOperand(op, 0);
  for (intptr_t i = mlirOperationGetNumOperands(op); i-- > 0;)
    if (!tile_of(x, mlirOperationGetOperand(op, i))->cheap)
      leader = mlirOperationGetOperand(op, i);
  return leader;
}

// Reductions and histograms accept any layout that all their operands share.
static bool is_led(struct ir_context *c, MlirOperation op) {
  return op_is(c, op, OP_TILE_REDUCE) || op_is(c, op, OP_TILE_HISTOGRAM);
}

static void spread_from_leader(struct layout_choice *x, MlirOperation op, const struct tile *t,
                               int64_t weight) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    prefer(x, mlirOperationGetOperand(op, i), t->encoding, weight);
  if (!op_is(x->c, op, OP_TILE_REDUCE) || !layout_flows_through(x->c, op))
    return;
  struct tile *result = tile_of(x, mlirOperationGetResult(op, 0));
  MlirAttribute slice = layout_of_result(x->c, op, t->encoding);
  if (mlirAttributeEqual(result->encoding, slice) && result->weight >= t->weight)
    return;
  result->encoding = slice;
  result->weight = t->weight;
  result->votes = votes_for(x, slice);
  enqueue(x, result);
}

static void spread_to_users(struct layout_choice *x, const struct tile *t, MlirValue v) {
  int64_t weight = t->cheap ? LIGHT : t->weight;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirValue carried = carried_to(x->c, user, mlirOpOperandGetOperandNumber(use));
    if (!mlirValueIsNull(carried))
      prefer(x, carried, t->encoding, weight);
    else if (is_led(x->c, user)) {
      if (mlirValueEqual(leader_of(x, user), v))
        spread_from_leader(x, user, t, weight);
    } else if (layout_ties_operand(x->c, user, mlirOpOperandGetOperandNumber(use)))
      prefer(x, mlirOperationGetResult(user, 0), layout_of_result(x->c, user, t->encoding), weight);
  }
}

static void spread_to_all_users(struct layout_choice *x, const struct tile *t) {
  MlirOperation def = mlirOpResultGetOwner(t->value);
  intptr_t n = layout_flows_through(x->c, def) ? mlirOperationGetNumResults(def) : 0;
  spread_to_users(x, t, t->value);
  for (intptr_t i = 1; i < n; i++)
    spread_to_users(x, t, mlirOperationGetResult(def, i));
}

static void spread_to_argument(struct layout_choice *x, const struct tile *t) {
  MlirBlock block = mlirBlockArgumentGetOwner(t->value);
  MlirOperation op = mlirBlockGetParentOperation(block);
  intptr_t at = mlirBlockArgumentGetArgNumber(t->value);
  if (op_is(x->c, op, OP_SCF_FOR)) {
    MlirOperation yield = mlirBlockGetTerminator(block);
    prefer(x, mlirOperationGetOperand(op, at + 2), t->encoding, t->weight);
    prefer(x, mlirOperationGetOperand(yield, at - 1), t->encoding, t->weight);
    spread_to_users(x, t, mlirOperationGetResult(op, at - 1));
  } else if (op_is(x->c, op, OP_SCF_WHILE)) {
    MlirBlock before = region_block(op, 0), after = region_block(op, 1);
    if (mlirBlockEqual(block, before)) {
      prefer(x, mlirOperationGetOperand(op, at), t->encoding, t->weight);
      prefer(x, mlirOperationGetOperand(mlirBlockGetTerminator(after), at), t->encoding, t->weight);
    } else {
      prefer(x, mlirOperationGetOperand(mlirBlockGetTerminator(before), at + 1), t->encoding,
             t->weight);
      spread_to_users(x, t, mlirOperationGetResult(op, at));
    }
  }
}

static void spread_to_definition(struct layout_choice *x, const struct tile *t) {
  MlirOperation def = mlirOpResultGetOwner(t->value);
  if (t->load && t->load->is_dot) {
    prefer(x, mlirOperationGetOperand(def, 2), t->encoding, t->weight);
  } else if (t->load) {
    prefer_on_operands(x, def, t->encoding, t->weight);
  } else if (op_is(x->c, def, OP_SCF_IF)) {
    intptr_t at = mlirOpResultGetResultNumber(t->value);
    for (intptr_t r = 0; r < 2; r++) {
      MlirOperation yield = mlirBlockGetTerminator(region_block(def, r));
      prefer(x, mlirOperationGetOperand(yield, at), t->encoding, t->weight);
    }
  } else if (!t->follows) {
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++) {
      MlirValue operand = mlirOperationGetOperand(def, i);
      MlirType type = mlirValueGetType(operand);
      if (layout_ties_operand(x->c, def, i))
        prefer(x, operand, layout_of_operand(x->c, def, t->encoding, tensor_encoding(type)),
               t->weight);
    }
  }
}

// Operands and results of foreign ops keep their layout.
static bool fix_strangers(MlirOperation op, void *user) {
  struct layout_choice *x = user;
  bool known = !layout_is_foreign(x->c, op);
  bool converts =
      op_is(x->c, op, OP_GPU_CONVERT_LAYOUT); // a conversion that the caller left in place
  for (intptr_t i = 0; !known && i < mlirOperationGetNumOperands(op); i++)
    if (type_is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i))))
      tile_of(x, mlirOperationGetOperand(op, i))->fixed = true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    if (!type_is_tensor(mlirValueGetType(result)))
      continue;
    struct tile *t = tile_of(x, result); // also: definitions before uses, for `cheap`
    t->fixed |= !known || converts;
  }
  return true;
}

// A store keeps the encoding of its pointers when it is the same layout as the one wanted.
static void respell(struct layout_choice *x, struct anchor *a) {
  MlirValue ptr = mlirOperationGetOperand(a->op, 0);
  MlirAttribute chosen = layout_chosen(x, ptr);
  if (mlirOperationGetNumResults(a->op) == 0 &&
      layout_same(x->c, mlirValueGetType(ptr), chosen, a->encoding))
    a->encoding = chosen;
}

static void relax(struct layout_choice *x) {
  for (size_t i = 0; i < x->queue.len; i++) {
    struct tile *t = x->queue.at[i];
    t->queued = false;
    if (mlirValueIsABlockArgument(t->value)) {
      spread_to_users(x, t, t->value);
      spread_to_argument(x, t);
    } else {
      spread_to_all_users(x, t);
      spread_to_definition(x, t);
    }
  }
  x->queue.len = 0;
}

// May the access take the layout of the value it writes? Its addresses and mask must be cheap in
// it, and its result unused.
static bool may_give_way(struct layout_choice *x, MlirOperation op) {
  if (!op_is(x->c, op, OP_TILE_STORE) && !op_is(x->c, op, OP_TILE_ATOMIC_RMW))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (i != 1 && !tile_of(x, mlirOperationGetOperand(op, i))->cheap)
      return false;
  return mlirOperationGetNumResults(op) == 0 || !value_has_uses(mlirOperationGetResult(op, 0));
}

// Row sums are stored in the layout of the reduction rather than converted first.
static void let_stores_give_way(struct layout_choice *x) {
  for (size_t i = 0; i < x->order.len; i++) {
    struct anchor *a = x->order.at[i];
    if (!may_give_way(x, a->op))
      continue;
    MlirValue value = mlirOperationGetOperand(a->op, 1);
    MlirAttribute other = layout_chosen(x, value);
    if (tile_of(x, value)->cheap || mlirAttributeEqual(other, a->encoding) ||
        !access_gives_way(x->c, x->axis, x->target, a->op, a->encoding, other))
      continue;
    a->encoding = other;
    if (mlirOperationGetNumResults(a->op) > 0)
      tile_of(x, mlirOperationGetResult(a->op, 0))->encoding = other;
    prefer_on_operands(x, a->op, other, a->weight);
  }
}

// Loads propagate before stores, so that layouts of equal weight meet at the store rather than in
// between.
void layout_choice_solve(struct layout_choice *x) {
  ir_walk(x->root, fix_strangers, x);
  for (size_t i = 0; i < x->order.len; i++) {
    struct anchor *a = x->order.at[i];
    if (mlirOperationGetNumResults(a->op) == 0)
      continue;
    struct tile *t = tile_of(x, mlirOperationGetResult(a->op, 0));
    t->encoding = a->encoding;
    t->weight = a->weight;
    t->votes = votes_for(x, a->encoding);
    enqueue(x, t);
  }
  relax(x);
  for (size_t i = 0; i < x->order.len; i++)
    if (mlirOperationGetNumResults(x->order.at[i]->op) == 0)
      prefer_on_operands(x, x->order.at[i]->op, x->order.at[i]->encoding, x->order.at[i]->weight);
  relax(x);
  let_stores_give_way(x);
  relax(x);
  for (size_t i = 0; i < x->order.len; i++)
    respell(x, x->order.at[i]);
}

// ---- answers ----

MlirAttribute layout_chosen(struct layout_choice *x, MlirValue v) {
  const struct tile *t = tile_of(x, v);
  if (t->follows)
    return layout_of_result(x->c, value_def(v), layout_chosen(x, leader_of(x, value_def(v))));
  return mlirAttributeIsNull(t->encoding) || (t->fixed && !t->load)
             ? tensor_encoding(mlirValueGetType(v))
             : t->encoding;
}

MlirAttribute layout_wanted(struct layout_choice *x, MlirOperation op, intptr_t i) {
  MlirValue operand = mlirOperationGetOperand(op, i);
  if (!type_is_tensor(mlirValueGetType(operand)))
    return mlirAttributeGetNull();
  const struct anchor *a = ptrmap_get(&x->anchors, op.ptr);
  if (a)
    return a->is_dot && i < 2 ? a->dot_operands[i] : a->encoding;
  MlirValue carried = carried_to(x->c, op, i);
  if (!mlirValueIsNull(carried))
    return layout_chosen(x, carried);
  if (is_led(x->c, op))
    return layout_chosen(x, leader_of(x, op));
  if (!layout_ties_operand(x->c, op, i))
    return mlirAttributeGetNull();
  return layout_of_operand(x->c, op, layout_chosen(x, mlirOperationGetResult(op, 0)),
                           layout_chosen(x, operand));
}
