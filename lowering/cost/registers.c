// SPDX-License-Identifier: Apache-2.0
// Register pressure: every tile is an interval of program points with a number of words; the
// maximum is over points of the sum of live ones.
#include "lowering/cost/registers.h"

#include "layouts/attr.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"
#include "lowering/cost/trips.h"

// The reserves and STRAINED are fitted to measurements of products and attention
// (docs/autotune.md); the others are chosen, not measured.
enum {                  // registers of a thread, unless noted
  RESERVE = 18,         // for scalars, addresses, temporaries
  PRODUCT_RESERVE = 36, // where shared memory is addressed too
  WORD_BITS = 32,
  DEEPEST = 12,      // operations: depth of the search through operands
  STRAINED = 12,     // added where registers are full
  SELDOM = 8,        // times less often than what runs most often
  TWO_SLICES = 32,   // of K, in elements
  PROMOTED_SUMS = 64 // at most at a time (warp_group_products.c)
};

// Cheap to recompute from scalars: ranges, and pure ops on them.
static bool is_cheap(struct ir_context *c, MlirValue v, unsigned depth) {
  MlirOperation def = value_def(v);
  if (mlirOperationIsNull(def) || !type_is_tensor(mlirValueGetType(v)))
    return !type_is_tensor(mlirValueGetType(v));
  if (depth == 0 || !(op_flags(c, def) & OP_PURE) || (op_flags(c, def) & OP_ANCHOR))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
    if (!is_cheap(c, mlirOperationGetOperand(def, i), depth - 1))
      return false;
  return true;
}

unsigned tile_words(struct ir_context *c, MlirType tile) {
  return (layout_registers(c, tile) * type_bits(c, element_type(tile)) + WORD_BITS - 1) / WORD_BITS;
}

unsigned register_words(struct ir_context *c, MlirValue v) {
  MlirType type = mlirValueGetType(v);
  MlirOperation def = value_def(v);
  if (!type_is_tensor(type) || !linear_of_type(c, type) || is_cheap(c, v, DEEPEST))
    return 0;
  enum op_id id = mlirOperationIsNull(def) ? OP_UNKNOWN : op_id(c, def);
  if (id == OP_TILE_BROADCAST || id == OP_TILE_EXPAND_DIMS)
    return 0;
  return tile_words(c, type);
}

// ---- tiles of addresses and numbers ----

// Does the step of one register bit stay among neighbours or equals?
static bool is_near(const struct axis_info *x, const uint32_t *step, unsigned rank) {
  for (unsigned d = 0; d < rank; d++)
    if (step[d] != 0 && step[d] >= x->contiguity[d] && step[d] >= x->constancy[d])
      return false;
  return true;
}

unsigned registers_apart(struct ir_context *c, struct axis_analysis *axis, MlirValue v) {
  MlirType type = mlirValueGetType(v), element = element_type(type);
  const struct linear_layout *l = type_is_tensor(type) ? linear_of_type(c, type) : NULL;
  if (!l)
    return 1;
  unsigned n = layout_registers(c, type);
  const struct axis_info *x = axis_info_of(axis, v);
  int in = ll_find_in(l, LL_REGISTER);
  if (in < 0 || x->rank != l->out_count ||
      !(type_is_ptr(c, element) || mlirTypeIsAInteger(element)))
    return n;
  uint32_t copies[LL_NO_IN];
  ll_free_masks(l, copies);
  for (unsigned b = 0; b < l->in_bits[in]; b++)
    if (!(copies[LL_REGISTER] >> b & 1) && is_near(x, l->basis[in][b], l->out_count) && n > 1)
      n /= 2;
  return n;
}

// ---- operands that come in slices ----

struct register_census {
  struct ir_context *c;
  struct axis_analysis *axis;
  const struct liveness *live;
  MlirOperation func;
  struct arena *arena;
  int64_t *held, *ahead; // words at a point: of tiles; of two slices of operands
  bool has_products;
};

// The init of a loop-carried `v`; null for other values.
static MlirValue carried_from(struct ir_context *c, MlirValue v) {
  if (!mlirValueIsABlockArgument(v))
    return (MlirValue){NULL};
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  intptr_t at = mlirBlockArgumentGetArgNumber(v);
  if (!op_is(c, loop, OP_SCF_FOR) || at == 0)
    return (MlirValue){NULL};
  return mlirOperationGetOperand(loop, at + 2);
}

static MlirOperation loop_of_value(struct ir_context *c, MlirValue v) {
  if (!mlirValueIsABlockArgument(v))
    return op_loop_around(c, mlirOpResultGetOwner(v));
  MlirOperation around = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  return op_is_loop(c, around) ? around : op_loop_around(c, around);
}

static bool is_elementwise(struct ir_context *c, MlirOperation op) {
  return (op_flags(c, op) & OP_EW) && mlirOperationGetNumResults(op) == 1;
}

// The product that uses `v`, or a chain of elementwise ops on it with single uses.
static MlirOpOperand use_in_product(struct ir_context *c, MlirValue v, unsigned depth) {
  MlirOpOperand use = mlirValueGetFirstUse(v), none = {NULL};
  if (mlirOpOperandIsNull(use) || depth == 0)
    return none;
  MlirOperation user = mlirOpOperandGetOwner(use);
  if (op_is(c, user, OP_TILE_DOT) || op_is(c, user, OP_GPU_WARP_GROUP_DOT))
    return mlirOpOperandGetOperandNumber(use) < 2 ? use : none;
  return is_elementwise(c, user) && value_use_count(v) == 1
             ? use_in_product(c, mlirOperationGetResult(user, 0), depth - 1)
             : none;
}

// Is it read from shared memory in every iteration of that loop, or computed from such a tile?
static bool is_read_in(struct ir_context *c, MlirValue v, MlirOperation loop, unsigned depth) {
  MlirValue first = carried_from(c, v);
  MlirOperation def = value_def(mlirValueIsNull(first) ? v : first);
  if (mlirOperationIsNull(def) || depth == 0 || !mlirOperationEqual(loop_of_value(c, v), loop))
    return false;
  if (op_is(c, def, OP_GPU_LOCAL_LOAD))
    return true;
  bool found = false;
  for (intptr_t i = 0; is_elementwise(c, def) && i < mlirOperationGetNumOperands(def); i++) {
    MlirValue operand = mlirOperationGetOperand(def, i);
    if (is_cheap(c, operand, DEEPEST))
      continue;
    found = is_read_in(c, operand, loop, depth - 1);
    if (!found)
      return false;
  }
  return found;
}

// Operands of products in shared memory are loaded by slices of K, the next one while one is used,
// whatever the IR says; if necessary in parts of a slice. Operands loaded before the loop are held
// whole.
static bool comes_in_slices(struct ir_context *c, MlirValue v, int64_t *ret_k) {
  MlirOpOperand use = use_in_product(c, v, DEEPEST);
  if (mlirOpOperandIsNull(use) ||
      !is_read_in(c, v, op_loop_around(c, mlirOpOperandGetOwner(use)), DEEPEST))
    return false;
  MlirType type = mlirValueGetType(v);
  *ret_k = tensor_dim(type, tensor_rank(type) - (mlirOpOperandGetOperandNumber(use) == 0 ? 1 : 2));
  return true;
}

// ---- what a tile takes ----

// Do the elements differ by compile-time constants? Then they are one address plus constants.
static bool differs_by_constants(struct register_census *s, MlirValue v, unsigned depth) {
  MlirOperation def = value_def(v);
  if (!type_is_tensor(mlirValueGetType(v)) || axis_info_of(s->axis, v)->is_constant)
    return true;
  if (depth == 0)
    return false;
  if (mlirOperationIsNull(def)) {
    MlirValue first = carried_from(s->c, v);
    return !mlirValueIsNull(first) && differs_by_constants(s, first, depth - 1);
  }
  switch (op_id(s->c, def)) {
  case OP_TILE_MAKE_RANGE:
  case OP_TILE_SPLAT: return true;
  case OP_ARITH_MULI:
    if (!axis_info_of(s->axis, mlirOperationGetOperand(def, 0))->is_constant &&
        !axis_info_of(s->axis, mlirOperationGetOperand(def, 1))->is_constant)
      return false;
    break;
  case OP_TILE_ADDPTR:
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_ARITH_ADDI:
  case OP_ARITH_SUBI:
  case OP_ARITH_EXTSI:
  case OP_ARITH_EXTUI: break;
  default: return false;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
    if (!differs_by_constants(s, mlirOperationGetOperand(def, i), depth - 1))
      return false;
  return true;
}

// Parts and renamed registers take no registers of their own.
static bool is_alias(struct ir_context *c, MlirOperation op) {
  enum op_id id = op_id(c, op);
  if (id == OP_GPU_PART)
    return true;
  return id == OP_GPU_CONVERT_LAYOUT &&
         layout_convert_kind(c, mlirValueGetType(mlirOperationGetOperand(op, 0)),
                             tensor_encoding(mlirValueGetType(mlirOperationGetResult(op, 0)))) <=
             CONVERT_REGISTERS;
}

struct words {
  unsigned held, ahead;
};

static struct words words_of(struct register_census *s, MlirValue v) {
  MlirOperation def = value_def(v);
  unsigned words = register_words(s->c, v);
  int64_t k;
  if (words == 0 || (!mlirOperationIsNull(def) && is_alias(s->c, def)))
    return (struct words){0};
  if (type_is_ptr(s->c, element_type(mlirValueGetType(v))))
    return (struct words){
        .held = differs_by_constants(s, v, DEEPEST) ? 2 : 2 * registers_apart(s->c, s->axis, v)};
  if (comes_in_slices(s->c, v, &k))
    return (struct words){.ahead = k > TWO_SLICES ? (unsigned)(words * TWO_SLICES / k) : words};
  return (struct words){.held = words};
}

// ---- the census ----

// The last use, those of its aliases among them.
static uint32_t end_of(struct register_census *s, MlirValue v) {
  uint32_t end = liveness_range(s->live, v).end;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    uint32_t last = is_alias(s->c, user) ? end_of(s, mlirOperationGetResult(user, 0)) : 0;
    end = last > end ? last : end;
  }
  return end;
}

// Adds the words at the begin and subtracts them at the end of the range: a range that ends where
// another begins frees its registers first.
static void take(struct register_census *s, MlirValue v) {
  struct words words = words_of(s, v);
  if (words.held + words.ahead == 0)
    return;
  uint32_t begin = liveness_range(s->live, v).begin, end = end_of(s, v);
  if (end == begin)
    return;
  s->held[begin] += words.held;
  s->held[end] -= words.held;
  s->ahead[begin] += words.ahead;
  s->ahead[end] -= words.ahead;
}

// Promoted sums have registers of their own while the product runs.
static void take_sums(struct register_census *s, MlirOperation op) {
  if (!op_is(s->c, op, OP_GPU_WARP_GROUP_DOT) || mlirAttributeIsNull(op_attr(op, "promoted_every")))
    return;
  unsigned words = tile_words(s->c, mlirValueGetType(mlirOperationGetOperand(op, 2)));
  uint32_t at = liveness_point(s->live, op);
  words = words < PROMOTED_SUMS ? words : PROMOTED_SUMS;
  s->held[at] += words;
  s->held[at + 1] -= words;
}

static bool see(MlirOperation op, void *user) {
  struct register_census *s = user;
  take_sums(s, op);
  s->has_products |= op_is(s->c, op, OP_TILE_DOT) || op_is(s->c, op, OP_GPU_WARP_GROUP_DOT);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    take(s, mlirOperationGetResult(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); i++)
      take(s, mlirBlockGetArgument(block, i));
  }
  return true;
}

struct register_census *register_census_of(struct ir_context *c, struct axis_analysis *axis,
                                           const struct liveness *live, MlirOperation func,
                                           struct arena *a) {
  struct register_census *s = arena_new(a, struct register_census);
  uint32_t points = liveness_count(live) + 1;
  *s = (struct register_census){.c = c,
                                .axis = axis,
                                .live = live,
                                .func = func,
                                .arena = a,
                                .held = arena_array(a, int64_t, points),
                                .ahead = arena_array(a, int64_t, points)};
  ir_walk(func, see, s);
  for (uint32_t i = 1; i < points; i++) {
    s->held[i] += s->held[i - 1];
    s->ahead[i] += s->ahead[i - 1];
  }
  return s;
}

// ---- the maximum ----

struct times {
  const struct register_census *census;
  const struct trip_counts *trips;
  double *at, most; // how often the op at a point runs
};

static bool see_times(MlirOperation op, void *user) {
  struct times *t = user;
  double times = trips_of_op(t->trips, op);
  t->at[liveness_point(t->census->live, op)] = times;
  t->most = times > t->most ? times : t->most;
  return true;
}

unsigned registers_reserved(const struct register_census *r) {
  return r->has_products ? PRODUCT_RESERVE : RESERVE;
}

struct register_need registers_needed(const struct register_census *r,
                                      const struct trip_counts *trips) {
  uint32_t points = liveness_count(r->live);
  struct times t = {r, trips, .at = arena_array(r->arena, double, points)};
  ir_walk(r->func, see_times, &t);
  int64_t wanted = 0, least = 0;
  for (uint32_t i = 0; i < points; i++) {
    int64_t want = r->held[i] + r->ahead[i], need = r->held[i] + (r->ahead[i] + 3) / 4;
    wanted = want > wanted ? want : wanted;
    least = need > least && t.at[i] >= t.most / SELDOM ? need : least;
  }
  unsigned reserve = registers_reserved(r);
  return (struct register_need){(unsigned)wanted + reserve, (unsigned)least + reserve + STRAINED};
}

unsigned registers_in_loop(const struct register_census *r, MlirOperation loop) {
  int64_t most = 0;
  for (uint32_t i = liveness_point(r->live, loop); i < liveness_end(r->live, loop); i++)
    most = r->held[i] > most ? r->held[i] : most;
  return (unsigned)most;
}
