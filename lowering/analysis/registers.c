// SPDX-License-Identifier: Apache-2.0
// Every tile is an interval of program points with a number of words; the sum of those that overlap
// is largest somewhere.
#include "lowering/analysis/registers.h"

#include "layouts/attr.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"
#include "lowering/analysis/trips.h"

enum {
  RESERVE = 18,         // for scalars, addresses, temporaries
  PRODUCT_RESERVE = 36, // where shared memory is addressed too
  WORD_BITS = 32,
  DEEPEST = 12,   // how far back an op's operands are looked at
  STRAINED = 12,  // more of them where everything is full
  SELDOM = 8,     // times less than what runs most often
  TWO_SLICES = 32 // of K, in elements
};

// The same few instructions make it again from scalars: ranges, and what is computed from them.
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

unsigned register_words(struct ir_context *c, MlirValue v) {
  MlirType type = mlirValueGetType(v);
  MlirOperation def = value_def(v);
  if (!type_is_tensor(type) || !linear_of_type(c, type) || is_cheap(c, v, DEEPEST))
    return 0;
  enum op_id id = mlirOperationIsNull(def) ? OP_UNKNOWN : op_id(c, def);
  if (id == OP_TILE_BROADCAST || id == OP_TILE_EXPAND_DIMS)
    return 0;
  return (layout_registers(c, type) * type_bits(c, element_type(type)) + WORD_BITS - 1) / WORD_BITS;
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

// ---- the most crowded point ----

struct census {
  struct ir_context *c;
  struct axis_analysis *axis;
  const struct liveness *live;
  int64_t *wanted, *least; // how the words change at a point
  const struct trip_counts *trips;
  bool has_products;
  double *times, most_times; // how often the op at a point runs
};

// What enters the loop that carries `v`; null for other values.
static MlirValue carried_from(struct ir_context *c, MlirValue v) {
  if (!mlirValueIsABlockArgument(v))
    return (MlirValue){NULL};
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v));
  intptr_t at = mlirBlockArgumentGetArgNumber(v);
  if (!op_is(c, loop, OP_SCF_FOR) || at == 0)
    return (MlirValue){NULL};
  return mlirOperationGetOperand(loop, at + 2);
}

// Operands of products that are read from shared memory come a slice of K at a time, the next one
// while one is used, whatever the IR says; if need be a slice comes in pieces.
static bool is_operand_load(struct census *s, MlirValue v, int64_t *ret_k) {
  MlirOpOperand use = mlirValueGetFirstUse(v);
  MlirValue first = carried_from(s->c, v);
  MlirOperation def = value_def(mlirValueIsNull(first) ? v : first);
  if (mlirOperationIsNull(def) || !op_is(s->c, def, OP_GPU_LOCAL_LOAD) || mlirOpOperandIsNull(use))
    return false;
  unsigned operand = mlirOpOperandGetOperandNumber(use);
  if (!op_is(s->c, mlirOpOperandGetOwner(use), OP_TILE_DOT) || operand > 1)
    return false;
  MlirType type = mlirValueGetType(v);
  *ret_k = tensor_dim(type, tensor_rank(type) - (operand == 0 ? 1 : 2));
  return true;
}

// Do the elements differ by what is known when compiling, whatever the first one is? Then all of
// them are one address and constants beside it.
static bool differs_by_constants(struct census *s, MlirValue v, unsigned depth) {
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

// Parts and renamed registers are no registers of their own.
static bool is_alias(struct ir_context *c, MlirOperation op) {
  enum op_id id = op_id(c, op);
  if (id == OP_GPU_PART)
    return true;
  return id == OP_GPU_CONVERT_LAYOUT &&
         layout_convert_kind(c, mlirValueGetType(mlirOperationGetOperand(op, 0)),
                             tensor_encoding(mlirValueGetType(mlirOperationGetResult(op, 0)))) <=
             CONVERT_REGISTERS;
}

static struct register_need words_of(struct census *s, MlirValue v) {
  MlirOperation def = value_def(v);
  unsigned words = register_words(s->c, v);
  int64_t k;
  if (words == 0 || (!mlirOperationIsNull(def) && is_alias(s->c, def)))
    return (struct register_need){0, 0};
  if (type_is_ptr(s->c, element_type(mlirValueGetType(v))))
    words = differs_by_constants(s, v, DEEPEST) ? 2 : 2 * registers_apart(s->c, s->axis, v);
  else if (is_operand_load(s, v, &k)) {
    unsigned two = k > TWO_SLICES ? (unsigned)(words * TWO_SLICES / k) : words;
    return (struct register_need){two, (two + 3) / 4};
  }
  return (struct register_need){words, words};
}

// The last use, those of its aliases among them.
static uint32_t end_of(struct census *s, MlirValue v) {
  uint32_t end = liveness_range(s->live, v).end;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    uint32_t last = is_alias(s->c, user) ? end_of(s, mlirOperationGetResult(user, 0)) : 0;
    end = last > end ? last : end;
  }
  return end;
}

// What ends where another one begins makes room for it.
static void take(struct census *s, MlirValue v) {
  struct register_need words = words_of(s, v);
  if (words.wanted == 0)
    return;
  uint32_t begin = liveness_range(s->live, v).begin, end = end_of(s, v);
  if (end == begin)
    return;
  s->wanted[begin] += words.wanted;
  s->wanted[end] -= words.wanted;
  s->least[begin] += words.least;
  s->least[end] -= words.least;
}

static bool see(MlirOperation op, void *user) {
  struct census *s = user;
  double times = trips_of_op(s->trips, op);
  s->has_products |= op_is(s->c, op, OP_TILE_DOT);
  s->times[liveness_point(s->live, op)] = times;
  s->most_times = times > s->most_times ? times : s->most_times;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    take(s, mlirOperationGetResult(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); i++)
      take(s, mlirBlockGetArgument(block, i));
  }
  return true;
}

// At points that run at least so often.
static unsigned most_of(const struct census *s, const int64_t *change, double times) {
  int64_t now = 0, most = 0;
  for (uint32_t i = 0; i < liveness_count(s->live); i++) {
    now += change[i];
    most = now > most && s->times[i] >= times ? now : most;
  }
  return (unsigned)most + (s->has_products ? PRODUCT_RESERVE : RESERVE);
}

struct register_need registers_needed(struct ir_context *c, struct axis_analysis *axis,
                                      const struct trip_counts *trips, MlirOperation func,
                                      struct arena *a) {
  struct census s = {.c = c, .axis = axis, .live = liveness_of(c, func, a), .trips = trips};
  uint32_t points = liveness_count(s.live) + 1;
  s.wanted = arena_array(a, int64_t, points);
  s.least = arena_array(a, int64_t, points);
  s.times = arena_array(a, double, points);
  ir_walk(func, see, &s);
  return (struct register_need){most_of(&s, s.wanted, 0),
                                most_of(&s, s.least, s.most_times / SELDOM) + STRAINED};
}
