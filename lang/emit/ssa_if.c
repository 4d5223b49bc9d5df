// SPDX-License-Identifier: Apache-2.0
// Branches: both are emitted into detached blocks, then each variable that they may change is
// merged, and scf.if is built with the merged values as results.
#include "lang/emit/control.h"

#include <assert.h>

static struct variable *snapshot(struct eval *e, const struct variable_list *l) {
  struct variable *s = arena_array(e->a, struct variable, l->len ? l->len : 1);
  for (size_t i = 0; i < l->len; i++)
    s[i] = *l->at[i];
  return s;
}

static void restore(const struct variable_list *l, const struct variable *s) {
  for (size_t i = 0; i < l->len; i++)
    *l->at[i] = s[i];
}

static const MlirValue *results_of(struct eval *e, MlirOperation op, size_t n) {
  MlirValue *r = arena_array(e->a, MlirValue, n ? n : 1);
  for (size_t i = 0; i < n; i++)
    r[i] = mlirOperationGetResult(op, (intptr_t)i);
  return r;
}

struct merge {
  struct eval *e;
  MlirBlock blocks[2];
  struct leaves leaves[2];
  bool returned[2]; // the path has left the function: no variable is read after it
};

// A placeholder for a value that is never observed: of the result on a path that has not returned,
// of a variable on one that has.
static struct value filler(struct eval *e, struct value like) {
  if (like.kind == VALUE_TUPLE) {
    struct value *t = arena_array(e->a, struct value, like.tuple.len ? like.tuple.len : 1);
    for (size_t i = 0; i < like.tuple.len; i++)
      t[i] = filler(e, like.tuple.at[i]);
    return value_with_items(like, t);
  }
  if (like.kind != VALUE_RT)
    return like;
  struct value zero = value_int(0);
  struct value scalar = emit_convert(e, (struct operand){zero, SPAN_NONE}, type_elem(like.type));
  return emit_splat(e, scalar, like.type);
}

// Converts both values to one structure, each in its own block; false if there is none.
static bool merge_values(struct merge *m, struct operand v[2], struct value *ret) {
  struct eval *e = m->e;
  if (v[0].v.kind == VALUE_TUPLE && v[1].v.kind == VALUE_TUPLE) {
    size_t n = v[0].v.tuple.len;
    if (n != v[1].v.tuple.len || v[0].v.tuple.record != v[1].v.tuple.record)
      return false;
    struct value *t = arena_array(e->a, struct value, n ? n : 1);
    *ret = value_with_items(v[0].v, t);
    for (size_t i = 0; i < n; i++) {
      struct operand item[2] = {{v[0].v.tuple.at[i], v[0].at}, {v[1].v.tuple.at[i], v[1].at}};
      if (!merge_values(m, item, &t[i]))
        return false;
    }
    return true;
  }
  if (v[0].v.kind == v[1].v.kind && const_equal(v[0].v, v[1].v))
    return *ret = v[0].v, true;
  for (int i = 0; i < 2; i++) {
    ssa_enter(e, m->blocks[i]);
    struct value other = v[1 - i].v;
    if (other.kind == VALUE_RT && ssa_literal_adopts(v[i].v, other.type))
      v[i].v = literal_as(e, v[i], other.type);
    else if (value_is_number(v[i].v))
      v[i].v = to_runtime(e, v[i], "a variable changed by control flow");
  }
  if (value_is_poison(v[0].v) || value_is_poison(v[1].v))
    return *ret = VALUE_ERROR, true;
  if (v[0].v.kind != VALUE_RT || v[1].v.kind != VALUE_RT || !type_eq(v[0].v.type, v[1].v.type) ||
      v[0].v.type.is_const != v[1].v.type.is_const)
    return false;
  *ret = value_rt((MlirValue){NULL}, v[0].v.type); // take_results fills the handle in
  for (int i = 0; i < 2; i++)
    vec_push(e->a, &m->leaves[i], v[i].v.rt);
  return true;
}

// The value of a variable on the path that has not returned, while the other one has.
static bool merge_with_returned(struct merge *m, struct variable *v, struct variable state[2]) {
  int gone = m->returned[0] ? 0 : 1, here = 1 - gone;
  if (m->returned[0] == m->returned[1] || v->is_result || state[here].value.kind == VALUE_ABSENT)
    return false;
  ssa_enter(m->e, m->blocks[gone]);
  struct operand values[2] = {{.at = state[here].span}, {.at = state[here].span}};
  values[here].v = state[here].value;
  values[gone].v = filler(m->e, state[here].value);
  size_t mark = m->leaves[0].len;
  struct value merged;
  if (!merge_values(m, values, &merged)) {
    m->leaves[0].len = m->leaves[1].len = mark;
    return false;
  }
  *v = state[here];
  v->value = merged;
  return true;
}

// Gives `v` its merged value, whose leaves are [begin, end).
static void merge_variable(struct merge *m, struct variable *v, struct variable state[2]) {
  struct eval *e = m->e;
  if (ssa_has_poison(state[0].value) || ssa_has_poison(state[1].value)) {
    *v = state[0];
    v->value = VALUE_ERROR;
    return;
  }
  for (int i = 0; i < 2; i++) {
    if (state[i].value.kind != VALUE_ABSENT)
      continue;
    int other = 1 - i;
    if (merge_with_returned(m, v, state))
      return;
    if (v->is_result && state[other].value.kind != VALUE_ABSENT &&
        state[i].why != ABSENT_MISMATCH) {
      ssa_enter(e, m->blocks[other]);
      struct value like = ssa_materialize(e, state[other].value, state[other].span);
      state[other].value = like;
      ssa_enter(e, m->blocks[i]);
      state[i].value = filler(e, like);
      state[i].span = state[other].span;
      continue;
    }
    bool both = state[other].value.kind == VALUE_ABSENT;
    *v = state[i];
    if (both || state[i].why == ABSENT_MISMATCH)
      return;
    v->why = ABSENT_BRANCH;
    v->sites[0] = state[other].span;
    return;
  }
  struct operand values[2] = {{state[0].value, state[0].span}, {state[1].value, state[1].span}};
  size_t mark = m->leaves[0].len;
  struct value merged;
  *v = state[0];
  v->is_constexpr = state[0].is_constexpr && state[1].is_constexpr;
  if (merge_values(m, values, &merged)) {
    v->value = merged;
    return;
  }
  m->leaves[0].len = m->leaves[1].len = mark;
  if (merge_with_returned(m, v, state))
    return;
  ssa_set_mismatch(e, v, &state[0], &state[1]);
}

// Fills in the handles that merge_values left null, in order.
static struct value take_results(struct value v, const MlirValue *results, size_t *k) {
  if (v.kind == VALUE_RT && mlirValueIsNull(v.rt))
    v.rt = results[(*k)++];
  if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      v.tuple.at[i] = take_results(v.tuple.at[i], results, k);
  return v;
}

void ssa_if(struct eval *e, struct value cond, const struct variable_list *changed, branch_fn then,
            branch_fn otherwise, void *user) {
  struct builder outer = e->b;
  struct span place = e->span;
  struct merge m = {.e = e};
  struct variable *before = snapshot(e, changed);
  struct variable *after[2];
  for (int i = 0; i < 2; i++) {
    m.blocks[i] = mlirBlockCreate(0, NULL, NULL);
    ssa_enter(e, m.blocks[i]);
    branch_fn fn = i == 0 ? then : otherwise;
    if (fn)
      fn(e, user);
    after[i] = snapshot(e, changed);
    struct value left = e->frame->returned.value;
    m.returned[i] = left.kind == VALUE_BOOL && left.b;
    restore(changed, before);
  }
  e->b.loc = outer.loc;
  size_t *ends = arena_array(e->a, size_t, changed->len ? changed->len : 1);
  for (size_t i = 0; i < changed->len; i++) {
    struct variable state[2] = {after[0][i], after[1][i]};
    merge_variable(&m, changed->at[i], state);
    ends[i] = m.leaves[0].len;
  }
  for (int i = 0; i < 2; i++) {
    ssa_enter(e, m.blocks[i]);
    build_yield(&e->b, m.leaves[i].len, m.leaves[i].at);
  }
  e->b = outer;
  e->span = place;
  size_t n = m.leaves[0].len;
  assert(m.leaves[1].len == n && "both branches yield the same variables");
  MlirOperation op =
      ssa_make_op(&e->b, "scf.if", 1, &cond.rt, n, ssa_types_of(e, &m.leaves[0]), 2, m.blocks);
  const MlirValue *results = results_of(e, op, n);
  size_t k = 0;
  for (size_t i = 0; i < changed->len; i++)
    if (ends[i] > (i ? ends[i - 1] : 0))
      changed->at[i]->value = take_results(changed->at[i]->value, results, &k);
  assert(k == n && "every result belongs to a variable");
}
