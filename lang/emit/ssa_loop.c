// SPDX-License-Identifier: Apache-2.0
// Loops: the body is emitted once, into a block with an argument for every variable that it may
// change; arguments of unchanged variables are dropped when scf.for or scf.while is built.
#include "lang/emit/control.h"

#include <assert.h>

static struct value boolean(struct eval *e, bool b) {
  struct type t = type_scalar(DTYPE_I1);
  return value_rt(build_const_int(&e->b, type_to_mlir(e->c, t), b), t);
}

// A variable that the body may change and that has a value before the loop.
struct carried {
  struct variable *var;
  struct variable before;
  struct value head;           // its value at the start of an iteration: block arguments
  size_t begin, end;           // its leaves
  size_t pass_begin, pass_end; // of a while: its leaves among the values passed on
  bool dropped;
};

struct loop {
  struct carried *at;
  size_t len;
  struct leaves inits, args, yields;
};

static struct loop loop_head(struct eval *e, const struct variable_list *changed, MlirBlock block) {
  struct loop l = {.at = arena_array(e->a, struct carried, changed->len ? changed->len : 1)};
  for (size_t i = 0; i < changed->len; i++) {
    struct variable *v = changed->at[i];
    if (v->value.kind == VALUE_ABSENT)
      continue;
    struct carried *c = &l.at[l.len++];
    c->var = v;
    c->before = *v;
    c->begin = l.inits.len;
    c->before.value = ssa_materialize(e, v->value, v->span);
    ssa_flatten(e, c->before.value, &l.inits);
    c->end = l.inits.len;
    for (size_t k = c->begin; k < c->end; k++)
      vec_push(e->a, &l.args,
               mlirBlockAddArgument(block, mlirValueGetType(l.inits.at[k]), e->b.loc));
    size_t k = c->begin;
    c->head = ssa_rebuild(e, c->before.value, l.args.at, &k);
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

static void report_carried(struct eval *e, const struct carried *c) {
  const char *was = value_type_text(e, c->before.value);
  const char *now = value_type_text(e, c->var->value);
  struct diag *d =
      eval_error(e, c->var->span, E0213, "`%s` is %s before the loop and %s after its body",
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

static bool has_leaf(const struct leaves *l, size_t begin, size_t end, MlirValue v) {
  for (size_t k = begin; k < end; k++)
    if (mlirValueEqual(l->at[k], v))
      return true;
  return false;
}

// Collects the value of each carried variable at the end of the body. Of a while: the body's
// arguments and the condition, whose operation is not built yet, to detect unused leaves.
static void loop_end(struct eval *e, struct loop *l, const struct leaves *pass,
                     const MlirValue *cond) {
  for (size_t i = 0; i < l->len; i++) {
    struct carried *c = &l->at[i];
    size_t mark = l->yields.len;
    struct variable *v = c->var;
    if (ssa_has_poison(v->value) || ssa_has_poison(c->before.value)) {
      c->dropped = true;
      v->value = VALUE_ERROR;
    } else if (!ssa_match(e, c->head, (struct operand){v->value, v->span}, &l->yields)) {
      l->yields.len = mark;
      c->dropped = true;
      bool never_read = all_unused(l->args.at, c->begin, c->end) && c->end > c->begin &&
                        (!pass || all_unused(pass->at, c->pass_begin, c->pass_end)) &&
                        (!cond || !has_leaf(&l->args, c->begin, c->end, *cond));
      if (v->value.kind == VALUE_ABSENT) {
        if (!never_read) {
          scope_read(e, v, v->sites[0]); // reports why it has no value
          v->value = VALUE_ERROR;
        }
      } else if (never_read) {
        ssa_set_mismatch(e, v, &c->before, v);
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

// The variables' values after the loop: results for kept leaves, initial values for unchanged ones.
// A variable first assigned in the body has none.
static void loop_leave(struct eval *e, const struct loop *l, const struct variable_list *changed,
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
      v->sites[0] = v->span;
    } else if (c && !c->dropped) {
      size_t k = c->begin;
      v->value = ssa_rebuild(e, c->before.value, after->at, &k);
    }
  }
}

// Which leaves the body changes; the block arguments of the others are erased.
static bool *drop_unchanged(struct eval *e, struct loop *l, MlirBlock block) {
  size_t n = l->inits.len;
  assert(l->yields.len == n && l->args.len == n);
  bool *keep = arena_array(e->a, bool, n ? n : 1);
  for (size_t i = 0; i < l->len; i++)
    for (size_t k = l->at[i].begin; k < l->at[i].end; k++)
      keep[k] = !l->at[i].dropped && !mlirValueEqual(l->yields.at[k], l->args.at[k]);
  for (size_t k = n; k-- > 0;)
    if (!keep[k]) {
      substitute(&l->yields, l->args.at[k], l->inits.at[k]);
      value_replace(l->args.at[k], l->inits.at[k]);
      mlirBlockEraseArgument(block, (unsigned)k + 1);
    }
  return keep;
}

// The scf.for of the kept leaves, whose initial values are its last operands.
static MlirOperation make_for(struct eval *e, const struct ssa_for *f, const struct leaves *inits,
                              MlirBlock block) {
  struct leaves operands = {0};
  vec_push(e->a, &operands, f->lower.rt);
  vec_push(e->a, &operands, f->upper.rt);
  vec_push(e->a, &operands, f->step.rt);
  for (size_t k = 0; k < inits->len; k++)
    vec_push(e->a, &operands, inits->at[k]);
  return ssa_make_op(&e->b, "scf.for", operands.len, operands.at, inits->len,
                     ssa_types_of(e, inits), 1, &block);
}

MlirOperation ssa_for_loop(struct eval *e, const struct ssa_for *f,
                           const struct variable_list *changed) {
  assert(type_eq(f->lower.type, f->upper.type) && type_eq(f->lower.type, f->step.type));
  struct builder outer = e->b;
  struct span span = e->span;
  MlirType iv_type = type_to_mlir(e->c, f->lower.type);
  MlirBlock block = mlirBlockCreate(1, &iv_type, &outer.loc);
  struct loop l = loop_head(e, changed, block);
  ssa_enter(e, block);
  f->body(e, value_rt(mlirBlockGetArgument(block, 0), f->lower.type), f->user);
  e->b.loc = outer.loc;
  loop_end(e, &l, NULL, NULL);

  size_t n = l.inits.len;
  const bool *keep = drop_unchanged(e, &l, block);
  struct leaves after = {0}; // each leaf after the loop; results are filled in below
  for (size_t k = 0; k < n; k++)
    vec_push(e->a, &after, l.inits.at[k]);
  keep_only(&l.yields, keep);
  build_yield(&e->b, l.yields.len, l.yields.at);
  e->b = outer;
  e->span = span;
  keep_only(&l.inits, keep);
  MlirOperation op = make_for(e, f, &l.inits, block);
  for (size_t k = 0, r = 0; k < n; k++)
    if (keep[k])
      after.at[k] = mlirOperationGetResult(op, (intptr_t)r++);
  loop_leave(e, &l, changed, &after);
  return op;
}

// The values of the carried variables after the condition of a while, which it passes on in the
// order of the initial values.
static void pass_carried(struct eval *e, struct loop *l, struct leaves *pass) {
  for (size_t i = 0; i < l->len; i++) {
    struct carried *c = &l->at[i];
    if (ssa_has_poison(c->var->value) || ssa_has_poison(c->before.value)) {
      c->dropped = true;
    } else if (!ssa_match(e, c->head, (struct operand){c->var->value, c->var->span}, pass)) {
      report_carried(e, c);
      c->dropped = true;
    }
    pass->len = c->dropped ? c->begin : pass->len;
    for (size_t k = pass->len; k < c->end; k++)
      vec_push(e->a, pass, l->args.at[k]);
  }
}

// A variable first assigned by a walrus in the condition.
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

static void while_enter_body(struct eval *e, struct while_state *s,
                             const struct variable_list *changed) {
  s->fresh = arena_array(e->a, struct fresh, changed->len ? changed->len : 1);
  for (size_t i = 0; i < changed->len; i++) {
    struct variable *v = changed->at[i];
    if (is_carried(&s->l, v) || v->value.kind == VALUE_ABSENT)
      continue;
    s->fresh[s->fresh_len++] = (struct fresh){v, v->value};
    ssa_flatten(e, v->value, &s->pass);
  }
  s->after = mlirBlockCreate(0, NULL, NULL);
  for (size_t k = 0; k < s->pass.len; k++)
    vec_push(e->a, &s->args,
             mlirBlockAddArgument(s->after, mlirValueGetType(s->pass.at[k]), e->b.loc));
  for (size_t i = 0; i < s->l.len; i++) {
    struct carried *c = &s->l.at[i];
    size_t k = c->begin;
    c->pass_begin = c->begin, c->pass_end = c->end;
    c->var->value = c->dropped ? VALUE_ERROR : ssa_rebuild(e, c->head, s->args.at, &k);
  }
  size_t k = s->l.inits.len;
  for (size_t i = 0; i < s->fresh_len; i++)
    s->fresh[i].var->value = ssa_rebuild(e, s->fresh[i].value, s->args.at, &k);
  ssa_enter(e, s->after);
}

// Drops unchanged leaves from both blocks, and from the condition where it is one. keep[k]: of the
// carried variables; fresh ones are all kept.
static void while_prune(struct while_state *s, bool *keep, MlirValue *cond) {
  size_t n = s->l.inits.len;
  assert(s->l.yields.len == n && s->l.args.len == n && s->pass.len >= n);
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
    if (mlirValueEqual(*cond, s->l.args.at[k]))
      *cond = init;
    value_replace(s->l.args.at[k], init);
    value_replace(s->args.at[k], init);
    mlirBlockEraseArgument(s->before, (unsigned)k);
    mlirBlockEraseArgument(s->after, (unsigned)k);
  }
}

void ssa_while_loop(struct eval *e, const struct ssa_while *w,
                    const struct variable_list *changed) {
  struct builder outer = e->b;
  struct span place = e->span;
  struct while_state s = {.before = mlirBlockCreate(0, NULL, NULL)};
  s.l = loop_head(e, changed, s.before);
  ssa_enter(e, s.before);
  struct value cond = w->condition(e, w->user);
  if (cond.kind != VALUE_RT)
    cond = boolean(e, false);
  e->b.loc = outer.loc;
  pass_carried(e, &s.l, &s.pass);
  struct builder condition_end = e->b;
  while_enter_body(e, &s, changed);
  w->body(e, w->user);
  e->b.loc = outer.loc;
  loop_end(e, &s.l, &s.args, &cond.rt);

  size_t n = s.l.inits.len;
  bool *keep = arena_array(e->a, bool, s.pass.len ? s.pass.len : 1);
  struct leaves after = {0};
  while_prune(&s, keep, &cond.rt);
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
  MlirOperation op = ssa_make_op(&e->b, "scf.while", s.l.inits.len, s.l.inits.at, s.pass.len,
                                 ssa_types_of(e, &s.pass), 2, blocks);
  for (size_t k = 0, r = 0; k < after.len; k++)
    if (keep[k])
      after.at[k] = mlirOperationGetResult(op, (intptr_t)r++);
  loop_leave(e, &s.l, changed, &after);
  size_t k = n;
  for (size_t i = 0; i < s.fresh_len; i++)
    s.fresh[i].var->value = ssa_rebuild(e, s.fresh[i].value, after.at, &k);
}
