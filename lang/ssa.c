// SPDX-License-Identifier: Apache-2.0
// Structured control flow in one pass. The body of a branch or loop is emitted into a block of its
// own before its scf operation exists; what the operation must carry is known exactly when the
// body is done, and only then it is built. Variables that turn out unchanged are not carried.
#include "lang/consteval.h"

struct leaves {
  MlirValue *at;
  size_t len, cap;
};

static const MlirOperation no_operation = {NULL};

static struct value boolean(struct emitter *e, bool b) {
  struct type t = type_scalar(DTYPE_I1);
  return value_rt(build_const_int(&e->b, type_to_mlir(e->c, t), b), t);
}

static void enter_block(struct emitter *e, MlirBlock block) {
  e->b.block = block;
  e->b.before = no_operation;
}

// ---- values as lists of run-time leaves: tuples may hold several ----

static void flatten(struct emitter *e, struct value v, struct leaves *out) {
  if (v.kind == VALUE_RT)
    vec_push(e->a, out, v.rt);
  else if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      flatten(e, v.tuple.at[i], out);
}

// The same value with its leaves taken from `at`, in order.
static struct value rebuild(struct emitter *e, struct value v, const MlirValue *at, size_t *k) {
  if (v.kind == VALUE_RT)
    v.rt = at[(*k)++];
  if (v.kind == VALUE_TUPLE) {
    struct value *t = arena_array(e->a, struct value, v.tuple.len ? v.tuple.len : 1);
    for (size_t i = 0; i < v.tuple.len; i++)
      t[i] = rebuild(e, v.tuple.at[i], at, k);
    v.tuple.at = t;
  }
  return v;
}

// Numbers known at compile time as run-time values; everything else as it is.
static struct value materialize(struct emitter *e, struct value v, struct span at) {
  if (value_is_number(v))
    return to_runtime(e, (struct operand){v, at}, "a variable changed by control flow");
  if (v.kind != VALUE_TUPLE)
    return v;
  struct value *t = arena_array(e->a, struct value, v.tuple.len ? v.tuple.len : 1);
  for (size_t i = 0; i < v.tuple.len; i++)
    t[i] = materialize(e, v.tuple.at[i], at);
  return value_tuple(t, v.tuple.len);
}

// A literal may take the type of a scalar that it meets on another path.
static bool literal_adopts(struct value literal, struct type t) {
  if (!value_is_number(literal) || t.rank || t.ptr)
    return false;
  if (literal.kind == VALUE_BOOL)
    return type_is_bool(t);
  return type_is_float(t) || (literal.kind == VALUE_INT && !type_is_bool(t));
}

// Appends the leaves of `v` in the form of `like`; false if it has another form.
static bool match(struct emitter *e, struct value like, struct operand x, struct leaves *out) {
  struct value v = x.v;
  if (like.kind == VALUE_RT) {
    if (literal_adopts(v, like.type))
      v = literal_as(e, x, like.type);
    if (v.kind != VALUE_RT || !type_eq(v.type, like.type))
      return false;
    vec_push(e->a, out, v.rt);
    return true;
  }
  if (like.kind == VALUE_TUPLE) {
    if (v.kind != VALUE_TUPLE || v.tuple.len != like.tuple.len)
      return false;
    for (size_t i = 0; i < v.tuple.len; i++)
      if (!match(e, like.tuple.at[i], (struct operand){v.tuple.at[i], x.at}, out))
        return false;
    return true;
  }
  return const_equal(like, v);
}

static bool has_poison(struct value v) {
  if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      if (has_poison(v.tuple.at[i]))
        return true;
  return v.kind == VALUE_POISON;
}

static void set_mismatch(struct emitter *e, struct variable *v, const struct variable *a,
                         const struct variable *b) {
  const char *ta = value_type_text(e, a->value), *tb = value_type_text(e, b->value);
  v->value = value_of_kind(VALUE_ABSENT);
  v->why = ABSENT_MISMATCH;
  v->places[0] = a->span, v->places[1] = b->span;
  v->texts[0] = ta, v->texts[1] = tb;
}

struct variable_list scope_collect(struct emitter *e, const struct name_list *names) {
  struct variable_list l = {0};
  for (size_t i = 0; i < names->len; i++)
    vec_push(e->a, &l, scope_variable(e, names->at[i]));
  return l;
}

static struct variable *snapshot(struct emitter *e, const struct variable_list *l) {
  struct variable *s = arena_array(e->a, struct variable, l->len ? l->len : 1);
  for (size_t i = 0; i < l->len; i++)
    s[i] = *l->at[i];
  return s;
}

static void restore(const struct variable_list *l, const struct variable *s) {
  for (size_t i = 0; i < l->len; i++)
    *l->at[i] = s[i];
}

static MlirOperation make_op(struct builder *b, const char *name, size_t operand_count,
                             const MlirValue *operands, size_t result_count,
                             const MlirType *results, size_t block_count, MlirBlock *blocks) {
  MlirOperationState s = mlirOperationStateGet(mlirStringRefCreateFromCString(name), b->loc);
  mlirOperationStateAddOperands(&s, (intptr_t)operand_count, operands);
  mlirOperationStateAddResults(&s, (intptr_t)result_count, results);
  MlirRegion regions[2];
  for (size_t i = 0; i < block_count; i++) {
    regions[i] = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
  }
  mlirOperationStateAddOwnedRegions(&s, (intptr_t)block_count, regions);
  MlirOperation op = mlirOperationCreate(&s);
  mlirBlockAppendOwnedOperation(b->block, op);
  return op;
}

static const MlirType *types_of(struct emitter *e, const struct leaves *l) {
  MlirType *t = arena_array(e->a, MlirType, l->len ? l->len : 1);
  for (size_t i = 0; i < l->len; i++)
    t[i] = mlirValueGetType(l->at[i]);
  return t;
}

static const MlirValue *results_of(struct emitter *e, MlirOperation op, size_t n) {
  MlirValue *r = arena_array(e->a, MlirValue, n ? n : 1);
  for (size_t i = 0; i < n; i++)
    r[i] = mlirOperationGetResult(op, (intptr_t)i);
  return r;
}

// ---- if ----

struct merge {
  struct emitter *e;
  MlirBlock blocks[2];
  struct leaves leaves[2];
};

// A value to stand where a path left the function before it returned: never observed.
static struct value filler(struct emitter *e, struct value like) {
  if (like.kind == VALUE_TUPLE) {
    struct value *t = arena_array(e->a, struct value, like.tuple.len ? like.tuple.len : 1);
    for (size_t i = 0; i < like.tuple.len; i++)
      t[i] = filler(e, like.tuple.at[i]);
    return value_tuple(t, like.tuple.len);
  }
  if (like.kind != VALUE_RT)
    return like;
  struct value zero = value_int(0);
  struct value scalar = emit_convert(e, (struct operand){zero, SPAN_NONE}, type_elem(like.type));
  return emit_splat(e, scalar, like.type);
}

// Both values in one form, converted in their own block; false if they have none in common.
static bool merge_values(struct merge *m, struct operand v[2], struct value *ret) {
  struct emitter *e = m->e;
  if (v[0].v.kind == VALUE_TUPLE && v[1].v.kind == VALUE_TUPLE) {
    size_t n = v[0].v.tuple.len;
    if (n != v[1].v.tuple.len)
      return false;
    struct value *t = arena_array(e->a, struct value, n ? n : 1);
    *ret = value_tuple(t, n);
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
    enter_block(e, m->blocks[i]);
    struct value other = v[1 - i].v;
    if (other.kind == VALUE_RT && literal_adopts(v[i].v, other.type))
      v[i].v = literal_as(e, v[i], other.type);
    else if (value_is_number(v[i].v))
      v[i].v = to_runtime(e, v[i], "a variable changed by control flow");
  }
  if (value_is_poison(v[0].v) || value_is_poison(v[1].v))
    return *ret = VALUE_ERROR, true;
  if (v[0].v.kind != VALUE_RT || v[1].v.kind != VALUE_RT || !type_eq(v[0].v.type, v[1].v.type))
    return false;
  *ret = value_rt((MlirValue){NULL}, v[0].v.type); // take_results fills the handle in
  for (int i = 0; i < 2; i++)
    vec_push(e->a, &m->leaves[i], v[i].v.rt);
  return true;
}

// Gives `v` its value after the branches. Leaves pushed for it: [begin, end).
static void merge_variable(struct merge *m, struct variable *v, struct variable state[2]) {
  struct emitter *e = m->e;
  if (has_poison(state[0].value) || has_poison(state[1].value)) {
    *v = state[0];
    v->value = VALUE_ERROR;
    return;
  }
  for (int i = 0; i < 2; i++) {
    if (state[i].value.kind != VALUE_ABSENT)
      continue;
    int other = 1 - i;
    if (v->is_result && state[other].value.kind != VALUE_ABSENT &&
        state[i].why != ABSENT_MISMATCH) {
      enter_block(e, m->blocks[other]);
      struct value like = materialize(e, state[other].value, state[other].span);
      state[other].value = like;
      enter_block(e, m->blocks[i]);
      state[i].value = filler(e, like);
      state[i].span = state[other].span;
      continue;
    }
    bool both = state[other].value.kind == VALUE_ABSENT;
    *v = state[i];
    if (both || state[i].why == ABSENT_MISMATCH)
      return;
    v->why = ABSENT_BRANCH;
    v->places[0] = state[other].span;
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
  set_mismatch(e, v, &state[0], &state[1]);
}

// Fills in the handles that merge_values left open, in order.
static struct value take_results(struct value v, const MlirValue *results, size_t *k) {
  if (v.kind == VALUE_RT && mlirValueIsNull(v.rt))
    v.rt = results[(*k)++];
  if (v.kind == VALUE_TUPLE)
    for (size_t i = 0; i < v.tuple.len; i++)
      v.tuple.at[i] = take_results(v.tuple.at[i], results, k);
  return v;
}

void ssa_if(struct emitter *e, struct value cond, const struct variable_list *changed,
            emit_branch_fn then, emit_branch_fn otherwise, void *user) {
  struct builder outer = e->b;
  struct span place = e->span;
  struct merge m = {.e = e};
  struct variable *before = snapshot(e, changed);
  struct variable *after[2];
  for (int i = 0; i < 2; i++) {
    m.blocks[i] = mlirBlockCreate(0, NULL, NULL);
    enter_block(e, m.blocks[i]);
    emit_branch_fn fn = i == 0 ? then : otherwise;
    if (fn)
      fn(e, user);
    after[i] = snapshot(e, changed);
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
    enter_block(e, m.blocks[i]);
    build_yield(&e->b, m.leaves[i].len, m.leaves[i].at);
  }
  e->b = outer;
  e->span = place;
  size_t n = m.leaves[0].len;
  MlirOperation op =
      make_op(&e->b, "scf.if", 1, &cond.rt, n, types_of(e, &m.leaves[0]), 2, m.blocks);
  const MlirValue *results = results_of(e, op, n);
  size_t k = 0;
  for (size_t i = 0; i < changed->len; i++)
    if (ends[i] > (i ? ends[i - 1] : 0))
      changed->at[i]->value = take_results(changed->at[i]->value, results, &k);
}

// ---- loops ----

// A variable that the body may change and that has a value before the loop.
struct carried {
  struct variable *var;
  struct variable before;
  struct value head;           // its value at the loop's head: block arguments
  size_t begin, end;           // its leaves
  size_t pass_begin, pass_end; // of a while: its leaves among the values passed on
  bool dropped;
};

struct loop {
  struct carried *at;
  size_t len;
  struct leaves inits, args, yields;
};

static struct loop loop_head(struct emitter *e, const struct variable_list *changed,
                             MlirBlock block) {
  struct loop l = {.at = arena_array(e->a, struct carried, changed->len ? changed->len : 1)};
  for (size_t i = 0; i < changed->len; i++) {
    struct variable *v = changed->at[i];
    if (v->value.kind == VALUE_ABSENT)
      continue;
    struct carried *c = &l.at[l.len++];
    c->var = v;
    c->before = *v;
    c->begin = l.inits.len;
    c->before.value = materialize(e, v->value, v->span);
    flatten(e, c->before.value, &l.inits);
    c->end = l.inits.len;
    for (size_t k = c->begin; k < c->end; k++)
      vec_push(e->a, &l.args,
               mlirBlockAddArgument(block, mlirValueGetType(l.inits.at[k]), e->b.loc));
    size_t k = c->begin;
    c->head = rebuild(e, c->before.value, l.args.at, &k);
    v->value = c->head;
    v->is_constexpr = false;
  }
  return l;
}

static bool unused(MlirValue v) { return mlirOpOperandIsNull(mlirValueGetFirstUse(v)); }

static bool all_unused(const MlirValue *at, size_t begin, size_t end) {
  for (size_t k = begin; k < end; k++)
    if (!unused(at[k]))
      return false;
  return true;
}

static void report_carried(struct emitter *e, const struct carried *c) {
  const char *was = value_type_text(e, c->before.value);
  const char *now = value_type_text(e, c->var->value);
  struct diag *d =
      emit_error(e, c->var->span, E0213, "`%s` is %s before the loop and %s after its body",
                 c->var->name, was, now);
  diag_primary_label(d, "%s", now);
  diag_label(d, c->before.span, "%s", was);
  if (c->before.value.kind == VALUE_RT && c->var->value.kind == VALUE_RT &&
      type_is_tile(c->var->value.type) && !type_is_tile(c->before.value.type))
    diag_help(d, "start with a tile: `%s = tl.zeros(..., dtype=tl.%s)`", c->var->name,
              dtype_language_name(c->var->value.type.dtype));
  else
    diag_help(d, "a variable keeps one type through a loop: start with the type of the body, or "
                 "cast at its end by `.to(...)`");
}

// Collects what the body leaves in each carried variable. `args` is where unused leaves are
// recognised.
static void loop_end(struct emitter *e, struct loop *l, const struct leaves *pass) {
  for (size_t i = 0; i < l->len; i++) {
    struct carried *c = &l->at[i];
    size_t mark = l->yields.len;
    struct variable *v = c->var;
    if (has_poison(v->value) || has_poison(c->before.value)) {
      c->dropped = true;
      v->value = VALUE_ERROR;
    } else if (!match(e, c->head, (struct operand){v->value, v->span}, &l->yields)) {
      l->yields.len = mark;
      c->dropped = true;
      bool never_read = all_unused(l->args.at, c->begin, c->end) && c->end > c->begin &&
                        (!pass || all_unused(pass->at, c->pass_begin, c->pass_end));
      if (v->value.kind == VALUE_ABSENT) {
        if (!never_read) {
          scope_read(e, v, v->places[0]); // says why it has no value
          v->value = VALUE_ERROR;
        }
      } else if (never_read) {
        set_mismatch(e, v, &c->before, v);
      } else {
        report_carried(e, c);
        v->value = VALUE_ERROR;
      }
    }
    for (size_t k = l->yields.len; c->dropped && k < c->end; k++) // keep leaves aligned
      vec_push(e->a, &l->yields, l->args.at[k]);
  }
}

static void substitute(struct leaves *l, MlirValue of, MlirValue with) {
  for (size_t i = 0; i < l->len; i++)
    if (mlirValueEqual(l->at[i], of))
      l->at[i] = with;
}

// Compacts `l` to the leaves that are kept.
static void keep_only(struct leaves *l, const bool *keep) {
  size_t n = 0;
  for (size_t i = 0; i < l->len; i++)
    if (keep[i])
      l->at[n++] = l->at[i];
  l->len = n;
}

// The variables' values after the loop: results for leaves that are kept, initial values for
// unchanged ones. Names first assigned in the body have none.
static void loop_leave(struct emitter *e, const struct loop *l, const struct variable_list *changed,
                       const struct leaves *after) {
  for (size_t i = 0; i < changed->len; i++) {
    struct variable *v = changed->at[i];
    const struct carried *c = NULL;
    for (size_t k = 0; k < l->len && !c; k++)
      if (l->at[k].var == v)
        c = &l->at[k];
    if (!c && v->value.kind != VALUE_ABSENT && v->value.kind != VALUE_POISON) {
      v->value = value_of_kind(VALUE_ABSENT);
      v->why = ABSENT_LOOP;
      v->places[0] = v->span;
    } else if (c && !c->dropped) {
      size_t k = c->begin;
      v->value = rebuild(e, c->before.value, after->at, &k);
    }
  }
}

void ssa_for_loop(struct emitter *e, const struct ssa_for *f, const struct variable_list *changed) {
  struct builder outer = e->b;
  struct span place = e->span;
  MlirType iv_type = type_to_mlir(e->c, f->lower.type);
  MlirBlock block = mlirBlockCreate(1, &iv_type, &outer.loc);
  struct loop l = loop_head(e, changed, block);
  enter_block(e, block);
  f->body(e, value_rt(mlirBlockGetArgument(block, 0), f->lower.type), f->user);
  e->b.loc = outer.loc;
  loop_end(e, &l, NULL);

  size_t n = l.inits.len;
  bool *keep = arena_array(e->a, bool, n ? n : 1);
  struct leaves after = {0}; // each leaf after the loop; results are filled in below
  for (size_t i = 0; i < l.len; i++)
    for (size_t k = l.at[i].begin; k < l.at[i].end; k++)
      keep[k] = !l.at[i].dropped && !mlirValueEqual(l.yields.at[k], l.args.at[k]);
  for (size_t k = n; k-- > 0;)
    if (!keep[k]) {
      substitute(&l.yields, l.args.at[k], l.inits.at[k]);
      value_replace(l.args.at[k], l.inits.at[k]);
      mlirBlockEraseArgument(block, (unsigned)k + 1);
    }
  for (size_t k = 0; k < n; k++)
    vec_push(e->a, &after, l.inits.at[k]);
  keep_only(&l.yields, keep);
  build_yield(&e->b, l.yields.len, l.yields.at);
  e->b = outer;
  e->span = place;
  struct leaves operands = {0};
  vec_push(e->a, &operands, f->lower.rt);
  vec_push(e->a, &operands, f->upper.rt);
  vec_push(e->a, &operands, f->step.rt);
  keep_only(&l.inits, keep);
  for (size_t k = 0; k < l.inits.len; k++)
    vec_push(e->a, &operands, l.inits.at[k]);
  MlirOperation op = make_op(&e->b, "scf.for", operands.len, operands.at, l.inits.len,
                             types_of(e, &l.inits), 1, &block);
  for (size_t k = 0, r = 0; k < n; k++)
    if (keep[k])
      after.at[k] = mlirOperationGetResult(op, (intptr_t)r++);
  loop_leave(e, &l, changed, &after);
}

// What the condition of a while leaves in the carried variables: the values passed on, in the
// order of the initial ones.
static void pass_carried(struct emitter *e, struct loop *l, struct leaves *pass) {
  for (size_t i = 0; i < l->len; i++) {
    struct carried *c = &l->at[i];
    if (has_poison(c->var->value) || has_poison(c->before.value)) {
      c->dropped = true;
    } else if (!match(e, c->head, (struct operand){c->var->value, c->var->span}, pass)) {
      report_carried(e, c);
      c->dropped = true;
    }
    pass->len = c->dropped ? c->begin : pass->len;
    for (size_t k = pass->len; k < c->end; k++)
      vec_push(e->a, pass, l->args.at[k]);
  }
}

// A variable that a walrus in the condition assigns first.
struct fresh {
  struct variable *var;
  struct value value;
};

struct while_state {
  struct loop l;
  MlirBlock before, after;
  struct leaves pass, args; // passed on; the body's arguments for them
  struct fresh *fresh;
  size_t fresh_len;
};

static bool is_carried(const struct loop *l, const struct variable *v) {
  for (size_t k = 0; k < l->len; k++)
    if (l->at[k].var == v)
      return true;
  return false;
}

static void while_enter_body(struct emitter *e, struct while_state *s,
                             const struct variable_list *changed) {
  s->fresh = arena_array(e->a, struct fresh, changed->len ? changed->len : 1);
  for (size_t i = 0; i < changed->len; i++) {
    struct variable *v = changed->at[i];
    if (is_carried(&s->l, v) || v->value.kind == VALUE_ABSENT)
      continue;
    s->fresh[s->fresh_len++] = (struct fresh){v, v->value};
    flatten(e, v->value, &s->pass);
  }
  s->after = mlirBlockCreate(0, NULL, NULL);
  for (size_t k = 0; k < s->pass.len; k++)
    vec_push(e->a, &s->args,
             mlirBlockAddArgument(s->after, mlirValueGetType(s->pass.at[k]), e->b.loc));
  for (size_t i = 0; i < s->l.len; i++) {
    struct carried *c = &s->l.at[i];
    size_t k = c->begin;
    c->pass_begin = c->begin, c->pass_end = c->end;
    c->var->value = c->dropped ? VALUE_ERROR : rebuild(e, c->head, s->args.at, &k);
  }
  size_t k = s->l.inits.len;
  for (size_t i = 0; i < s->fresh_len; i++)
    s->fresh[i].var->value = rebuild(e, s->fresh[i].value, s->args.at, &k);
  enter_block(e, s->after);
}

// Drops unchanged leaves from both blocks. keep[k] for the carried ones; fresh ones all stay.
static void while_prune(struct while_state *s, bool *keep) {
  size_t n = s->l.inits.len;
  for (size_t i = 0; i < s->l.len; i++)
    for (size_t k = s->l.at[i].begin; k < s->l.at[i].end; k++)
      keep[k] = !s->l.at[i].dropped && !(mlirValueEqual(s->pass.at[k], s->l.args.at[k]) &&
                                         mlirValueEqual(s->l.yields.at[k], s->args.at[k]));
  for (size_t k = n; k < s->pass.len; k++)
    keep[k] = true;
  for (size_t k = n; k-- > 0;) {
    if (keep[k])
      continue;
    MlirValue init = s->l.inits.at[k];
    substitute(&s->pass, s->l.args.at[k], init);
    substitute(&s->l.yields, s->args.at[k], init);
    value_replace(s->l.args.at[k], init);
    value_replace(s->args.at[k], init);
    mlirBlockEraseArgument(s->before, (unsigned)k);
    mlirBlockEraseArgument(s->after, (unsigned)k);
  }
}

void ssa_while_loop(struct emitter *e, const struct ssa_while *w,
                    const struct variable_list *changed) {
  struct builder outer = e->b;
  struct span place = e->span;
  struct while_state s = {.before = mlirBlockCreate(0, NULL, NULL)};
  s.l = loop_head(e, changed, s.before);
  enter_block(e, s.before);
  struct value cond = w->condition(e, w->user);
  if (cond.kind != VALUE_RT)
    cond = boolean(e, false);
  e->b.loc = outer.loc;
  pass_carried(e, &s.l, &s.pass);
  struct builder condition_end = e->b;
  while_enter_body(e, &s, changed);
  w->body(e, w->user);
  e->b.loc = outer.loc;
  loop_end(e, &s.l, &s.args);

  size_t n = s.l.inits.len;
  bool *keep = arena_array(e->a, bool, s.pass.len ? s.pass.len : 1);
  struct leaves after = {0};
  while_prune(&s, keep);
  for (size_t k = 0; k < s.pass.len; k++)
    vec_push(e->a, &after, k < n ? s.l.inits.at[k] : s.pass.at[k]);
  keep_only(&s.l.yields, keep);
  build_yield(&e->b, s.l.yields.len, s.l.yields.at);
  keep_only(&s.pass, keep);
  e->b = condition_end;
  build_condition(&e->b, cond.rt, s.pass.len, s.pass.at);
  e->b = outer;
  e->span = place;
  keep_only(&s.l.inits, keep);
  MlirBlock blocks[2] = {s.before, s.after};
  MlirOperation op = make_op(&e->b, "scf.while", s.l.inits.len, s.l.inits.at, s.pass.len,
                             types_of(e, &s.pass), 2, blocks);
  for (size_t k = 0, r = 0; k < after.len; k++)
    if (keep[k])
      after.at[k] = mlirOperationGetResult(op, (intptr_t)r++);
  loop_leave(e, &s.l, changed, &after);
  size_t k = n;
  for (size_t i = 0; i < s.fresh_len; i++)
    s.fresh[i].var->value = rebuild(e, s.fresh[i].value, after.at, &k);
}
