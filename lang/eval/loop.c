// SPDX-License-Identifier: Apache-2.0
// Loops over sequences known at compile time are unrolled; the dialect handles the others.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"

void flow_enter(struct eval *e, struct loop_flow *l, const struct stmt *s, bool is_static) {
  *l = (struct loop_flow){.skip = {.name = "continue", .span = s->span},
                          .stop = {.name = "break", .span = s->span}};
  l->skip.value = l->stop.value = value_bool(false);
  l->flow = (struct flow){&l->skip, &l->stop, e->frame->flow, true, is_static};
  e->frame->flow = &l->flow;
}

void flow_leave(struct eval *e, const struct loop_flow *l) { e->frame->flow = l->flow.outer; }

// ---- unrolling ----

struct unrolled {
  const struct stmt *s;
  struct value item;
  struct flow *flow;
};

static void unrolled_body(struct eval *e, void *user) {
  struct unrolled *u = user;
  eval_assign(e, u->s->for_stmt.target, u->item);
  struct seq end = {.kind = SEQ_END_ITERATION};
  struct seq body = {.list = &u->s->for_stmt.body, .next = &end};
  eval_seq(e, &body);
}

void names_of_loop(struct eval *e, const struct stmt *s, struct name_list *names) {
  struct stmt *one[1] = {(struct stmt *)(uintptr_t)s};
  struct stmt_list list = {one, 1};
  struct seq seq = {.list = &list};
  names_of_seq(e, &seq, names);
}

// One iteration; guarded if an earlier `break` is decided at run time. False: stop.
static bool unroll_one(struct eval *e, struct unrolled *u) {
  struct flow *f = u->flow;
  struct value stop = f->stop->value;
  f->skip->value = value_bool(false);
  if (stop.kind == VALUE_BOOL && stop.b)
    return false;
  if (stop.kind != VALUE_RT) {
    unrolled_body(e, u);
    return !e->stopped;
  }
  struct value run = e->on->unary(e, OP_NOT, (struct operand){stop, f->stop->span}, f->stop->span);
  struct name_list names = {0};
  names_of_loop(e, u->s, &names);
  struct variable_list changed = scope_collect(e, &names);
  flow_variables(e, &changed);
  e->on->branch(e, run, &changed, unrolled_body, NULL, u);
  return !e->stopped;
}

static void unroll_tuple(struct eval *e, const struct stmt *s, struct tuple items) {
  struct loop_flow l;
  flow_enter(e, &l, s, true);
  struct unrolled u = {.s = s, .flow = &l.flow};
  for (size_t i = 0; i < items.len; i++) {
    u.item = items.at[i];
    if (!unroll_one(e, &u))
      break;
  }
  flow_leave(e, &l);
}

static void unroll_range(struct eval *e, const struct stmt *s, const struct range *r) {
  int64_t lower, upper, step;
  struct span at = s->for_stmt.iter->span;
  if (!need_const_int(e, (struct operand){*r->lower, at}, "a bound of `static_range`", &lower) ||
      !need_const_int(e, (struct operand){*r->upper, at}, "a bound of `static_range`", &upper) ||
      !need_const_int(e, (struct operand){*r->step, at}, "the step of `static_range`", &step))
    return;
  if (step == 0) {
    diag_help(eval_error(e, at, E0308, "the step of the range is 0"),
              "a loop that counts has a step of 1 or more, or of -1 or less");
    return;
  }
  int_const count = step > 0 ? ((int_const)upper - lower + step - 1) / step
                             : ((int_const)lower - upper - step - 1) / -(int_const)step;
  if (count > EVAL_MAX_UNROLL) {
    struct diag *d = eval_error(e, at, E0309, "a static loop of %lld iterations; the limit is %d",
                                (long long)count, EVAL_MAX_UNROLL);
    diag_help(d, "use `range`, which makes a loop at run time");
    return;
  }
  struct loop_flow l;
  flow_enter(e, &l, s, true);
  struct unrolled u = {.s = s, .flow = &l.flow};
  for (int64_t i = 0; i < (int64_t)count; i++) {
    u.item = value_int((int_const)lower + (int_const)i * step);
    if (!unroll_one(e, &u))
      break;
  }
  flow_leave(e, &l);
}

// ---- the loops ----

void eval_for(struct eval *e, const struct stmt *s) {
  struct value iter = eval_expr(e, s->for_stmt.iter);
  if (s->for_stmt.orelse.len)
    diag_help(eval_error(e, s->span, E0227, "`else` of a loop is not supported"),
              "set a flag in front of the loop, and test it behind it");
  if (value_is_poison(iter)) {
    eval_assign(e, s->for_stmt.target, VALUE_ERROR);
    struct name_list names = {0};
    names_of_loop(e, s, &names);
    struct variable_list changed = scope_collect(e, &names);
    for (size_t i = 0; i < changed.len; i++)
      changed.at[i]->value = VALUE_ERROR;
    return;
  }
  struct tuple items;
  if (!need_known(e, (struct operand){iter, s->for_stmt.iter->span}))
    return;
  if (iter.kind == VALUE_TUPLE || iter.kind == VALUE_CLASS) { // an Enum
    if (need_sequence(e, (struct operand){iter, s->for_stmt.iter->span}, &items))
      unroll_tuple(e, s, items);
  } else if (iter.kind != VALUE_RANGE) {
    struct diag *d = eval_error(e, s->for_stmt.iter->span, E0230, "cannot loop over %s",
                                value_describe(e, iter));
    diag_help(d, "loops run over `range(...)`, `tl.range(...)`, `tl.static_range(...)` or tuples");
  } else if (iter.range.is_static || e->frame->function->is_constexpr_function ||
             e->on->is_static) {
    unroll_range(e, s, &iter.range);
  } else {
    e->on->loop(e, s, &iter.range);
  }
}

static struct value truth_of(struct eval *e, const struct stmt *s) {
  return eval_condition(e, s->while_stmt.condition, s, "`while`");
}

// In a function evaluated at compile time.
static void unroll_while(struct eval *e, const struct stmt *s) {
  struct loop_flow l;
  flow_enter(e, &l, s, true);
  struct seq end = {.kind = SEQ_END_ITERATION};
  struct seq body = {.list = &s->while_stmt.body, .next = &end};
  for (unsigned i = 0; !e->stopped; i++) {
    struct value go = truth_of(e, s);
    if (go.kind != VALUE_BOOL || !go.b)
      break;
    if (i == EVAL_MAX_UNROLL) {
      eval_error(e, s->span, E0309, "a compile-time loop of more than %d iterations",
                 EVAL_MAX_UNROLL);
      break;
    }
    l.skip.value = value_bool(false);
    eval_seq(e, &body);
    if (l.stop.value.kind == VALUE_BOOL && l.stop.value.b)
      break;
  }
  flow_leave(e, &l);
}

void eval_while(struct eval *e, const struct stmt *s) {
  if (s->while_stmt.orelse.len)
    diag_help(eval_error(e, s->span, E0227, "`else` of a loop is not supported"),
              "set a flag in front of the loop, and test it behind it");
  if (e->frame->function->is_constexpr_function || e->on->is_static) {
    unroll_while(e, s);
    return;
  }
  e->on->loop_while(e, s);
}
