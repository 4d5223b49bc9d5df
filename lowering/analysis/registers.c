// SPDX-License-Identifier: Apache-2.0
// Every tile is an interval of program points with a number of words; the sum of those that overlap
// is largest somewhere.
#include "lowering/analysis/registers.h"

#include "layouts/attr.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"

enum {
  WORD_BITS = 32,
  DEEPEST = 8, // how far back an op's operands are looked at
  RESERVE = 24 // for scalars, addresses of shared memory, temporaries
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
  int64_t *change; // of the words from a point on
};

static unsigned words_of(struct census *s, MlirValue v) {
  unsigned words = register_words(s->c, v);
  if (words == 0 || !type_is_ptr(s->c, element_type(mlirValueGetType(v))))
    return words;
  return 2 * registers_apart(s->c, s->axis, v);
}

// What ends where another one begins makes room for it.
static void take(struct census *s, MlirValue v) {
  unsigned words = words_of(s, v);
  struct live_range live = liveness_range(s->live, v);
  if (words == 0 || live.end == live.begin)
    return;
  s->change[live.begin] += words;
  s->change[live.end] -= words;
}

static bool see(MlirOperation op, void *user) {
  struct census *s = user;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    take(s, mlirOperationGetResult(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    for (intptr_t i = 0; !mlirBlockIsNull(block) && i < mlirBlockGetNumArguments(block); i++)
      take(s, mlirBlockGetArgument(block, i));
  }
  return true;
}

unsigned registers_needed(struct ir_context *c, struct axis_analysis *axis, MlirOperation func,
                          struct arena *a) {
  struct census s = {.c = c, .axis = axis, .live = liveness_of(c, func, a)};
  uint32_t points = liveness_count(s.live);
  s.change = arena_array(a, int64_t, points + 1);
  for (uint32_t i = 0; i <= points; i++)
    s.change[i] = 0;
  ir_walk(func, see, &s);
  int64_t now = 0, most = 0;
  for (uint32_t i = 0; i <= points; i++) {
    now += s.change[i];
    most = now > most ? now : most;
  }
  return (unsigned)most + RESERVE;
}
