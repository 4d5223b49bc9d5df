// SPDX-License-Identifier: Apache-2.0
// Statements. `return`, `break` and `continue` set flags in hidden variables; the statements after
// one that may have set a flag become the other branch of its `if`, or are guarded by the flag.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"

#define NEST_REST 64 // beyond that depth a guard is used instead of nesting

// ---- leaving early ----

static void mark(struct variable *v, struct span at) {
  v->value = value_bool(true);
  v->span = at;
}

static void leave_function(struct eval *e, struct value v, struct span at) {
  for (struct flow *f = e->frame->flow; f && f->is_loop; f = f->outer) {
    if (!f->is_static) {
      struct diag *d = eval_error(e, at, E0225, "`return` inside a loop");
      diag_help(d, "leave the loop by `break` and return after it");
      return;
    }
    mark(f->skip, at);
    mark(f->stop, at);
  }
  e->frame->result.value = v;
  e->frame->result.span = at;
  mark(&e->frame->returned, at);
}

static void eval_break(struct eval *e, const struct stmt *s) {
  struct flow *f = e->frame->flow;
  bool is_break = s->kind == STMT_BREAK;
  if (!f->is_loop) {
    diag_help(
        eval_error(e, s->span, E0107, "`%s` outside of a loop", is_break ? "break" : "continue"),
        "it ends or goes on with the loop around it; leave a kernel by `return`");
    return;
  }
  mark(f->skip, s->span);
  if (is_break)
    mark(f->stop, s->span);
}

void flow_variables(struct eval *e, struct variable_list *l) {
  for (struct flow *f = e->frame->flow; f; f = f->outer) {
    vec_push(e->a, l, f->skip);
    if (f->stop)
      vec_push(e->a, l, f->stop);
  }
  vec_push(e->a, l, &e->frame->result);
}

// ---- if ----

struct branches {
  const struct seq *then, *otherwise;
};

static void branch_then(struct eval *e, void *user) {
  eval_seq(e, ((struct branches *)user)->then);
}

static void branch_otherwise(struct eval *e, void *user) {
  eval_seq(e, ((struct branches *)user)->otherwise);
}

// The other branch of a guard: the flag stays set.
static void branch_skipped(struct eval *e, void *user) {
  (void)user;
  mark(e->frame->flow->skip, e->frame->flow->skip->span);
}

static void eval_branches(struct eval *e, struct value cond, const struct seq *then,
                          const struct seq *otherwise, bool may_exit) {
  struct name_list names = {0};
  names_of_seq(e, then, &names);
  names_of_seq(e, otherwise, &names);
  struct variable_list changed = scope_collect(e, &names);
  if (may_exit)
    flow_variables(e, &changed);
  struct branches b = {then, otherwise};
  e->on->branch(e, cond, &changed, branch_then, branch_otherwise, &b);
}

// The statements after one that may have left early, as the run-time flag `skip` says.
static void eval_guarded(struct eval *e, const struct seq *rest) {
  struct variable *skip = e->frame->flow->skip;
  struct operand skipped = {skip->value, skip->span};
  struct value run = e->on->unary(e, OP_NOT, skipped, skip->span);
  skip->value = value_bool(false);
  struct name_list names = {0};
  names_of_seq(e, rest, &names);
  struct variable_list changed = scope_collect(e, &names);
  flow_variables(e, &changed);
  struct branches b = {rest, NULL};
  e->on->branch(e, run, &changed, branch_then, branch_skipped, &b);
}

// True if `rest` was emitted too.
static bool eval_if(struct eval *e, const struct stmt *s, const struct seq *rest) {
  struct value cond = eval_condition(e, s->if_stmt.condition, s, "`if`");
  struct seq body = {.list = &s->if_stmt.body}, orelse = {.list = &s->if_stmt.orelse};
  if (cond.kind == VALUE_BOOL) {
    eval_seq(e, cond.b ? &body : &orelse);
    return false;
  }
  if (e->stopped)
    return true;
  eval_at(e, s->span);
  bool may_exit = stmt_may_exit(s), nested = false;
  if (may_exit && rest && e->depth < NEST_REST) {
    bool then_leaves = list_always_exits(&s->if_stmt.body);
    bool otherwise_leaves = list_always_exits(&s->if_stmt.orelse);
    nested = then_leaves != otherwise_leaves;
    if (nested && then_leaves)
      orelse.next = rest;
    else if (nested)
      body.next = rest;
  }
  eval_branches(e, cond, &body, &orelse, may_exit);
  return nested;
}

// ---- assignment ----

static void unpack(struct eval *e, const struct expr *target, struct value v) {
  struct tuple t;
  if (value_is_poison(v) || !need_sequence(e, (struct operand){v, target->span}, &t)) {
    for (size_t i = 0; i < target->items.len; i++)
      eval_assign(e, target->items.at[i], VALUE_ERROR);
    return;
  }
  size_t star = target->items.len;
  for (size_t i = 0; i < target->items.len; i++)
    if (target->items.at[i]->kind == EXPR_STARRED)
      star = i;
  bool has_star = star < target->items.len;
  size_t fixed = target->items.len - has_star;
  if (has_star ? t.len < fixed : t.len != fixed) {
    diag_help(eval_error(e, target->span, E0218, "cannot unpack %zu values into %zu names", t.len,
                         target->items.len),
              "write as many names as there are values; `*rest` takes all that are left, and `_` "
              "one that is not needed");
    for (size_t i = 0; i < target->items.len; i++)
      eval_assign(e, target->items.at[i], VALUE_ERROR);
    return;
  }
  for (size_t i = 0, k = 0; i < target->items.len; i++) {
    const struct expr *x = target->items.at[i];
    if (i == star) {
      eval_assign(e, x->inner, value_tuple(t.at + k, t.len - fixed));
      k += t.len - fixed;
    } else {
      eval_assign(e, x, t.at[k++]);
    }
  }
}

static struct str source_text(struct span at) {
  return at.source ? (struct str){at.source->text.ptr + at.begin, at.end - at.begin}
                   : STR("pointer");
}

// The run-time value of the variable of which the target is an element, as in C and NumPy;
// NULL: another target.
static const struct value *element_of(struct eval *e, const struct expr *target) {
  if (target->kind != EXPR_SUBSCRIPT || target->subscript.object->kind != EXPR_NAME)
    return NULL;
  const struct variable *v = scope_find(e->frame, target->subscript.object->name);
  return v && v->value.kind == VALUE_RT ? &v->value : NULL;
}

void eval_assign(struct eval *e, const struct expr *target, struct value v) {
  switch ((int)target->kind) {
  case EXPR_NAME: scope_assign(e, target->name, target->span, v); return;
  case EXPR_TUPLE:
  case EXPR_LIST: unpack(e, target, v); return;
  case EXPR_STARRED: eval_assign(e, target->inner, v); return;
  case EXPR_ATTRIBUTE:
    if (record_assign_field(e, target, v) || (e->on->store && e->on->store(e, target, v)))
      return;
    break;
  case EXPR_SUBSCRIPT:
    if (e->on->store && e->on->store(e, target, v))
      return;
    break;
  case EXPR_ERROR: return;
  }
  struct diag *d = eval_error(e, target->span, E0108, "cannot assign to this expression");
  const struct value *of = element_of(e, target);
  if (of && !of->type.ptr && !of->type.rank) {
    const char *name = target->subscript.object->name;
    diag_help(d, "`%s` is one number: assign to the name, `%s = ...`", name, name);
    diag_fixit(d, target->span, name);
  } else if (of && of->type.ptr)
    diag_help(d, "memory is written by `tl.store(%.*s + offsets, value, mask=mask)`",
              STR_ARG(source_text(target->subscript.object->span)));
  else if (target->kind == EXPR_SUBSCRIPT)
    diag_help(d, "tiles have no assignable elements; build the new tile by `tl.where(mask, new, "
                 "old)`, or store through pointers by `tl.store`");
  else
    diag_help(d, "only names can be assigned");
}

static struct value assigned(struct eval *e, struct value v) {
  return e->on->assign ? e->on->assign(e, v) : v;
}

static void eval_aug_assign(struct eval *e, const struct stmt *s) {
  const struct expr *t = s->aug_assign.target;
  if (t->kind != EXPR_NAME && !e->on->store) {
    eval_assign(e, t, VALUE_ERROR);
    return;
  }
  struct operand left = {eval_expr(e, t), t->span};
  struct operand right = {eval_expr(e, s->aug_assign.value), s->aug_assign.value->span};
  struct value v = e->on->binary(e, s->aug_assign.op, left, right, s->aug_assign.op_span);
  if (t->kind == EXPR_NAME)
    scope_assign(e, t->name, s->span, assigned(e, v));
  else
    eval_assign(e, t, v);
}

static void eval_ann_assign(struct eval *e, const struct stmt *s) {
  const struct expr *t = s->ann_assign.target;
  if (!s->ann_assign.value)
    return;
  struct operand x = {eval_expr(e, s->ann_assign.value), s->ann_assign.value->span};
  const char *annotation = ast_builtin_name(e->a, e->frame->module, s->ann_assign.annotation);
  bool is_constexpr = ast_is_constexpr(e->a, e->frame->module, s->ann_assign.annotation);
  if (is_constexpr && !value_is_poison(x.v) && !value_is_const(x.v)) {
    struct diag *d =
        eval_warning(e, x.at, E0301, "the value of a constexpr is not known at compile time");
    diag_help(d, "leave out the annotation, or compute it from constexpr parameters");
    is_constexpr = false; // as in Triton, where it holds any value
  }
  if (annotation && e->on->declare)
    x.v = e->on->declare(e, x, annotation, s->span);
  eval_assign(e, t, is_constexpr ? x.v : assigned(e, x.v));
  if (is_constexpr && t->kind == EXPR_NAME)
    scope_variable(e, t->name)->is_constexpr = true;
}

// ---- the rest ----

static void eval_assert(struct eval *e, const struct stmt *s) {
  bool is_static = e->frame->function->is_constexpr_function || e->on->is_static;
  struct operand args[2] = {
      {eval_expr(e, s->assert_stmt.condition), s->assert_stmt.condition->span}};
  size_t n = 1;
  if (s->assert_stmt.message)
    args[n++] =
        (struct operand){eval_expr(e, s->assert_stmt.message), s->assert_stmt.message->span};
  const char *name = is_static ? "static_assert" : "device_assert";
  builtin_call(e, builtin_find(e, name), args, NULL, n, s->span, s->span);
}

static void eval_return(struct eval *e, const struct stmt *s) {
  struct value v = s->value ? eval_expr(e, s->value) : value_of_kind(VALUE_NONE);
  bool is_kernel = !e->frame->caller;
  if (e->stopped) // an exception, in host code
    return;
  if (is_kernel && v.kind != VALUE_NONE && !value_is_poison(v)) {
    struct diag *d = eval_error(e, s->value->span, E0219, "a kernel returns nothing");
    diag_help(d, "store the result: `tl.store(pointer, value, mask=mask)`");
    v = value_of_kind(VALUE_NONE);
  }
  leave_function(e, v, s->span);
}

static void eval_with(struct eval *e, const struct stmt *s) {
  if (e->purpose) { // host code
    e->on->unread(e, s);
    return;
  }
  struct diag *d = eval_error(e, s->span, E0228, "`with` has no meaning in a kernel");
  diag_help(d, "there are no context managers on the device; write its body alone");
  struct seq body = {.list = &s->with_stmt.body};
  eval_seq(e, &body);
}

static void eval_plain_assign(struct eval *e, const struct stmt *s) {
  struct value v = assigned(e, eval_expr(e, s->assign.value));
  for (size_t i = 0; i < s->assign.targets.len; i++)
    eval_assign(e, s->assign.targets.at[i], v);
}

static void eval_def(struct eval *e, const struct stmt *s) {
  scope_assign(e, s->def->name, s->def->name_span,
               function_value(e, s->def, e->frame->module, e->frame));
}

// False, and the evaluation stops, where the kernel is too large.
static bool within_limits(struct eval *e, const struct stmt *s) {
  bool is_statements = ++e->statements > LIMIT_STATEMENTS;
  if (!is_statements && !(e->c && e->c->built > LIMIT_OPERATIONS))
    return true;
  enum limit_id which = is_statements ? LIMIT_ID_STATEMENTS : LIMIT_ID_OPERATIONS;
  struct diag *d = eval_error(e, s->span, E0950, "%s", limit_text(e->a, which, 0));
  diag_help(d, "%s", limit_row(which)->instead);
  e->stopped = true;
  return false;
}

static void eval_simple(struct eval *e, const struct stmt *s) {
  switch ((int)s->kind) {
  case STMT_EXPR:
    if (s->expr->kind != EXPR_STRING)
      eval_expr(e, s->expr);
    break;
  case STMT_ASSIGN: eval_plain_assign(e, s); break;
  case STMT_AUG_ASSIGN: eval_aug_assign(e, s); break;
  case STMT_ANN_ASSIGN: eval_ann_assign(e, s); break;
  case STMT_FOR: eval_for(e, s); break;
  case STMT_WHILE: eval_while(e, s); break;
  case STMT_RETURN: eval_return(e, s); break;
  case STMT_BREAK:
  case STMT_CONTINUE: eval_break(e, s); break;
  case STMT_ASSERT: eval_assert(e, s); break;
  case STMT_WITH: eval_with(e, s); break;
  case STMT_DEF: eval_def(e, s); break;
  case STMT_ERROR: e->on->unread(e, s); break;
  case STMT_TRY: e->on->attempt(e, s); break;
  case STMT_IMPORT:
    if (e->on->import)
      e->on->import(e, s);
    break;
  }
}

// True if `rest` was emitted too.
static bool eval_stmt(struct eval *e, const struct stmt *s, const struct seq *rest) {
  if (!within_limits(e, s))
    return true;
  if (s->kind == STMT_IF)
    return eval_if(e, s, rest);
  eval_simple(e, s);
  return false;
}

void eval_seq(struct eval *e, const struct seq *s) {
  struct flow *flow = e->frame->flow;
  for (; s && !e->stopped; s = s->next) {
    size_t count = s->kind == SEQ_STATEMENTS ? s->list->len : s->from + 1;
    for (size_t i = s->from; i < count && !e->stopped; i++) {
      struct value skip = flow->skip->value;
      if (skip.kind == VALUE_BOOL && skip.b)
        return; // unreachable
      if (skip.kind == VALUE_RT) {
        struct seq rest = {.kind = s->kind, .list = s->list, .from = i, .next = s->next};
        if (eval_enter(e, flow->skip->span)) {
          eval_guarded(e, &rest);
          eval_leave(e);
        }
        return;
      }
      if (s->kind == SEQ_END_FUNCTION) {
        leave_function(e, value_of_kind(VALUE_NONE), e->frame->function->span);
        return;
      }
      if (s->kind == SEQ_END_ITERATION) {
        mark(flow->skip, flow->skip->span);
        return;
      }
      const struct stmt *st = s->list->at[i];
      if (!eval_enter(e, st->span)) {
        e->stopped = true;
        return;
      }
      struct seq rest = {.list = s->list, .from = i + 1, .next = s->next};
      bool has_rest = i + 1 < s->list->len || s->next;
      bool done = eval_stmt(e, st, has_rest ? &rest : NULL);
      eval_leave(e);
      if (done)
        return;
    }
  }
}
