// SPDX-License-Identifier: Apache-2.0
// Values of the old loop in the rounds of its expansion: which copy an op of a stage uses,
// induction variables, and predicates for iterations that may not exist.
#include "lowering/passes/pipeline.h"

struct ring *ring_of(struct expansion *x, MlirValue v) {
  for (size_t i = 0; i < x->rings.len; i++)
    if (mlirValueEqual(mlirOperationGetResult(x->rings.at[i].load, 0), v))
      return &x->rings.at[i];
  return NULL;
}

void expansion_set_at(struct expansion *x, unsigned round, MlirValue of, MlirValue v) {
  MlirValue *slot = arena_new(x->arena, MlirValue);
  *slot = v;
  ptrmap_put(x->arena, &x->rounds[round].values, of.ptr, slot);
}

void expansion_set(struct expansion *x, MlirValue of, MlirValue v) {
  expansion_set_at(x, x->now, of, v);
}

MlirValue expansion_value_at(const struct expansion *x, unsigned round, MlirValue v) {
  const MlirValue *found = ptrmap_get(&x->rounds[round].values, v.ptr);
  return found ? *found : (MlirValue){NULL};
}

// Loads through rings define their value in the last stage.
unsigned expansion_stage_made(struct expansion *x, MlirValue v) {
  return ring_of(x, v) ? x->s->last : schedule_stage_of_value(x->s, v);
}

struct delay *expansion_delay(struct expansion *x, MlirValue v) {
  for (size_t i = 0; i < x->delays.len; i++)
    if (mlirValueEqual(x->delays.at[i].of, v))
      return &x->delays.at[i];
  return NULL;
}

static MlirValue induction(struct expansion *x, unsigned stage) {
  struct round *r = &x->rounds[x->now];
  unsigned iteration = x->now - stage;
  MlirValue *slot = x->now == x->s->last ? &r->inductions[stage] : &x->firsts[iteration];
  MlirValue from = x->now == x->s->last ? mlirBlockGetArgument(x->block, 0) : x->lower;
  if (mlirValueIsNull(*slot))
    *slot = iteration == 0 ? from : build_binary(&x->b, OP_ARITH_ADDI, from, x->ahead[iteration]);
  return *slot;
}

MlirValue expansion_value(struct expansion *x, MlirValue v, unsigned stage) {
  if (!mlirBlockEqual(value_block(v), x->s->body))
    return v;
  if (schedule_is_induction(x->s, v))
    return induction(x, stage);
  unsigned old = stage - expansion_stage_made(x, v);
  if (x->now < x->s->last || old == 0)
    return expansion_value_at(x, x->now - old, v);
  return mlirBlockGetArgument(x->block, expansion_delay(x, v)->first + (intptr_t)old - 1);
}

MlirValue expansion_predicate(struct expansion *x, unsigned stage) {
  bool in_loop = x->now == x->s->last;
  unsigned iteration = x->now - stage;
  if (in_loop ? iteration == 0 : (int64_t)iteration < x->trips)
    return (MlirValue){NULL};
  MlirValue *slot = in_loop ? &x->rounds[x->now].predicates[stage] : &x->starts[iteration];
  if (mlirValueIsNull(*slot))
    *slot = build_cmpi(&x->b, 2, in_loop ? mlirBlockGetArgument(x->block, 0) : x->lower,
                       x->limits[iteration]);
  return *slot;
}

MlirValue expansion_mask(struct expansion *x, MlirValue ptr, MlirValue mask, unsigned stage) {
  MlirValue exists = expansion_predicate(x, stage);
  if (mlirValueIsNull(exists))
    return mask;
  MlirType type = mlirValueGetType(ptr);
  if (type_is_tensor(type)) {
    MlirType i1 = type_with_element(type, mlirValueGetType(exists));
    exists = mlirOperationGetResult(build_op(&x->b, OP_TILE_SPLAT, 1, &exists, 1, &i1, 0, NULL), 0);
  }
  return mlirValueIsNull(mask) ? exists : build_binary(&x->b, OP_ARITH_ANDI, mask, exists);
}

const char *expansion_text(struct expansion *x, MlirOperation op, const char *attribute) {
  struct str s = op_attr_str(op, attribute);
  return arena_strndup(x->arena, s.ptr, s.len);
}
