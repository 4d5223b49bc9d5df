// SPDX-License-Identifier: Apache-2.0
// Shared by branches and loops: values as lists of run-time leaves, the common structure of two
// values, and building scf operations from finished blocks.
#include "lang/ops/ssa.h"

#include <assert.h>

static const MlirOperation no_operation = {NULL};

void ssa_enter(struct eval *e, MlirBlock block) {
  e->b.block = block;
  e->b.before = no_operation;
}

// ---- values as lists of run-time leaves: tuples may contain several ----

void ssa_flatten(struct eval *e, struct value v, struct leaves *out) {
  if (v.kind == VALUE_RT)
    vec_push(e->a, out, v.rt);
  else if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      ssa_flatten(e, v.tuple.at[i], out);
}

// The same value with its leaves taken from `at`, in order.
struct value ssa_rebuild(struct eval *e, struct value v, const MlirValue *at, size_t *k) {
  if (v.kind == VALUE_RT)
    v.rt = at[(*k)++];
  if (v.kind == VALUE_TUPLE) {
    struct value *t = arena_array(e->a, struct value, v.tuple.len ? v.tuple.len : 1);
    for (size_t i = 0; i < v.tuple.len; i++)
      t[i] = ssa_rebuild(e, v.tuple.at[i], at, k);
    v.tuple.at = t;
  }
  return v;
}

// Compile-time numbers become run-time values; other values are unchanged.
struct value ssa_materialize(struct eval *e, struct value v, struct span at) {
  if (value_is_number(v))
    return to_runtime(e, (struct operand){v, at}, "a variable changed by control flow");
  if (v.kind != VALUE_TUPLE)
    return v;
  struct value *t = arena_array(e->a, struct value, v.tuple.len ? v.tuple.len : 1);
  for (size_t i = 0; i < v.tuple.len; i++)
    t[i] = ssa_materialize(e, v.tuple.at[i], at);
  return value_with_items(v, t);
}

// A literal takes the type of the scalar that it is merged with.
bool ssa_literal_adopts(struct value literal, struct type t) {
  if (!value_is_number(literal) || t.rank || t.ptr)
    return false;
  if (literal.kind == VALUE_BOOL)
    return type_is_bool(t);
  return type_is_float(t) || (literal.kind == VALUE_INT && !type_is_bool(t));
}

// Appends the leaves of `v`, converted to the structure of `like`; false if it differs.
bool ssa_match(struct eval *e, struct value like, struct operand x, struct leaves *out) {
  struct value v = x.v;
  if (like.kind == VALUE_RT) {
    if (ssa_literal_adopts(v, like.type))
      v = literal_as(e, x, like.type);
    if (v.kind != VALUE_RT || !type_eq(v.type, like.type))
      return false;
    vec_push(e->a, out, v.rt);
    return true;
  }
  if (like.kind == VALUE_TUPLE) {
    if (v.kind != VALUE_TUPLE || v.tuple.len != like.tuple.len ||
        v.tuple.record != like.tuple.record)
      return false;
    for (size_t i = 0; i < v.tuple.len; i++)
      if (!ssa_match(e, like.tuple.at[i], (struct operand){v.tuple.at[i], x.at}, out))
        return false;
    return true;
  }
  return const_equal(like, v);
}

bool ssa_has_poison(struct value v) {
  if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      if (ssa_has_poison(v.tuple.at[i]))
        return true;
  return v.kind == VALUE_POISON;
}

void ssa_set_mismatch(struct eval *e, struct variable *v, const struct variable *a,
                      const struct variable *b) {
  const char *ta = value_type_text(e, a->value), *tb = value_type_text(e, b->value);
  v->value = value_of_kind(VALUE_ABSENT);
  v->why = ABSENT_MISMATCH;
  v->sites[0] = a->span, v->sites[1] = b->span;
  v->texts[0] = ta, v->texts[1] = tb;
}

MlirOperation ssa_make_op(struct builder *b, const char *name, size_t operand_count,
                          const MlirValue *operands, size_t result_count, const MlirType *results,
                          size_t block_count, MlirBlock *blocks) {
  MlirOperationState s = mlirOperationStateGet(mlirStringRefCreateFromCString(name), b->loc);
  mlirOperationStateAddOperands(&s, (intptr_t)operand_count, operands);
  mlirOperationStateAddResults(&s, (intptr_t)result_count, results);
  MlirRegion regions[2];
  assert(block_count <= COUNT_OF(regions));
  for (size_t i = 0; i < block_count; i++) {
    regions[i] = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
  }
  mlirOperationStateAddOwnedRegions(&s, (intptr_t)block_count, regions);
  MlirOperation op = mlirOperationCreate(&s);
  mlirBlockAppendOwnedOperation(b->block, op);
  return op;
}

const MlirType *ssa_types_of(struct eval *e, const struct leaves *l) {
  MlirType *t = arena_array(e->a, MlirType, l->len ? l->len : 1);
  for (size_t i = 0; i < l->len; i++)
    t[i] = mlirValueGetType(l->at[i]);
  return t;
}
