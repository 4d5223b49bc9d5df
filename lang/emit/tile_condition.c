// SPDX-License-Identifier: Apache-2.0
// E0216: a condition that is a tile, which `if` and `while` cannot follow. The help depends on what
// the statement does: an access takes the condition as its mask, an assignment chooses by
// `tl.where`.
#include "lang/emit/control.h"
#include "lang/ops/ops.h"

// ---- what the body does ----

// The name of a call's function: `store` of `tl.store(...)`, "" for another expression.
static const char *called(const struct expr *x) {
  if (x->kind != EXPR_CALL)
    return "";
  const struct expr *f = x->call.callee;
  return f->kind == EXPR_ATTRIBUTE ? f->attribute.name : f->kind == EXPR_NAME ? f->name : "";
}

static bool is_access(const struct expr *x) {
  const char *name = called(x);
  return strcmp(name, "store") == 0 || strcmp(name, "load") == 0 ||
         strncmp(name, "atomic_", 7) == 0;
}

// The expression of a statement: a call, or the value of an assignment; NULL: another statement.
static const struct expr *expression_of(const struct stmt *s) {
  return s->kind == STMT_EXPR         ? s->expr
         : s->kind == STMT_ASSIGN     ? s->assign.value
         : s->kind == STMT_AUG_ASSIGN ? s->aug_assign.value
                                      : NULL;
}

static const struct expr *first_access(const struct stmt_list *body) {
  for (size_t i = 0; i < body->len; i++) {
    const struct expr *x = expression_of(body->at[i]);
    if (x && is_access(x))
      return x;
  }
  return NULL;
}

static bool has_mask(const struct expr *call) {
  size_t usual = strcmp(called(call), "load") == 0 ? 1 : 2; // arguments before the mask
  for (size_t i = 0; i < call->call.arg_count; i++)
    if (call->call.args[i].name ? strcmp(call->call.args[i].name, "mask") == 0 : i >= usual)
      return true;
  return false;
}

// ---- texts ----

// The condition that holds where x does not: `offs < n` for `offs >= n`.
static const char *opposite(struct eval *e, const struct expr *x, struct str text) {
  static const enum ast_op pairs[][2] = {{OP_LT, OP_GE}, {OP_GT, OP_LE}, {OP_EQ, OP_NE}};
  if (x->kind == EXPR_COMPARE && x->compare.operands.len == 2)
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
      for (size_t k = 0; k < 2; k++) {
        if (x->compare.ops[0] != pairs[i][k])
          continue;
        struct str left = eval_spelled(e, span_with_parentheses(x->compare.operands.at[0]->span)),
                   right = eval_spelled(e, span_with_parentheses(x->compare.operands.at[1]->span));
        if (left.len && right.len)
          return arena_printf(e->a, "%.*s %s %.*s", STR_ARG(left), ast_op_text(pairs[i][1 - k]),
                              STR_ARG(right));
      }
  return arena_printf(e->a, "~%s", spelled_primary(e, text));
}

// The call with the condition as its mask.
static const char *masked_call(struct eval *e, const struct expr *call, const char *mask) {
  struct str text = eval_spelled(e, call->span);
  if (!text.len || has_mask(call) || text.ptr[text.len - 1] != ')')
    return arena_printf(e->a, "tl.%s(..., mask=%s)", called(call), mask);
  return arena_printf(e->a, "%.*s, mask=%s)", (int)text.len - 1, text.ptr, mask);
}

// ---- helps ----

// From the header to the end of the only statement of `last`, the body or `else`: what an edit
// replaces. SPAN_NONE if there is more.
static struct span whole_if(const struct stmt *s, const struct stmt_list *last) {
  const struct stmt_list *body = &s->if_stmt.body, *orelse = &s->if_stmt.orelse;
  bool is_one = body->len == 1 && orelse->len == (last == orelse);
  struct str text = s->span.source ? s->span.source->text : (struct str){NULL, 0};
  bool is_elif = text.len > s->span.begin + 4 && memcmp(text.ptr + s->span.begin, "elif", 4) == 0;
  return is_one && text.len && !is_elif
             ? (struct span){s->span.source, s->span.begin, last->at[0]->span.end}
             : SPAN_NONE;
}

static void help_access(struct eval *e, struct diag *d, const struct stmt *s,
                        const struct expr *access, const char *condition) {
  const char *call = masked_call(e, access, condition);
  diag_help(d, "lanes do not branch: give each access in the block the condition as its mask: `%s`",
            call);
  struct span all = whole_if(s, &s->if_stmt.body);
  bool is_statement = s->if_stmt.body.at[0]->kind == STMT_EXPR;
  if (all.source && is_statement && !has_mask(access) && eval_spelled(e, access->span).len)
    diag_fixit(d, all, call);
}

// The value that the only statement of `body` assigns to `name`; empty: another statement.
static struct str value_assigned(struct eval *e, const struct stmt_list *body, const char *name) {
  if (body->len != 1 || body->at[0]->kind != STMT_ASSIGN)
    return (struct str){NULL, 0};
  const struct expr_list *targets = &body->at[0]->assign.targets;
  bool is_it = targets->len == 1 && targets->at[0]->kind == EXPR_NAME &&
               strcmp(targets->at[0]->name, name) == 0;
  return is_it ? eval_spelled(e, body->at[0]->assign.value->span) : (struct str){NULL, 0};
}

static bool help_assignment(struct eval *e, struct diag *d, const struct stmt *s, struct str text) {
  const struct stmt *first = s->if_stmt.body.at[0];
  if (first->kind != STMT_ASSIGN || first->assign.targets.len != 1 ||
      first->assign.targets.at[0]->kind != EXPR_NAME)
    return false;
  const char *name = first->assign.targets.at[0]->name;
  struct str value = eval_spelled(e, first->assign.value->span);
  if (!value.len)
    return false;
  struct str other = value_assigned(e, &s->if_stmt.orelse, name);
  bool is_choice = other.len && s->if_stmt.body.len == 1;
  const char *edit =
      arena_printf(e->a, "%s = tl.where(%.*s, %.*s, %.*s)", name, STR_ARG(text), STR_ARG(value),
                   is_choice ? (int)other.len : (int)strlen(name), is_choice ? other.ptr : name);
  diag_help(d, "lanes do not branch: choose element by element: `%s`", edit);
  struct span all = whole_if(s, is_choice ? &s->if_stmt.orelse : &s->if_stmt.body);
  const struct variable *v = scope_find(e->frame, name);
  if (all.source && (is_choice || (v && v->value.kind != VALUE_ABSENT)))
    diag_fixit(d, all, edit);
  return true;
}

static bool help_if(struct eval *e, struct diag *d, const struct stmt *s, struct str text) {
  const struct expr *access = first_access(&s->if_stmt.body);
  const char *condition = arena_strndup(e->a, text.ptr, text.len);
  if (access)
    return help_access(e, d, s, access, condition), true;
  const struct stmt_list *body = &s->if_stmt.body;
  if (body->len && body->at[0]->kind == STMT_RETURN) {
    diag_help(d,
              "lanes do not leave one by one: mask the accesses that follow with the opposite "
              "condition: `mask=%s`",
              opposite(e, s->if_stmt.condition, text));
    return true;
  }
  return body->len && help_assignment(e, d, s, text);
}

static void help_while(struct eval *e, struct diag *d, const struct stmt *s, struct str text) {
  const char *any = arena_printf(e->a, "tl.max((%.*s).to(tl.int32)) > 0", STR_ARG(text));
  diag_help(d,
            "all lanes loop together: loop while one needs it, `while %s:`, and mask the accesses "
            "in the loop: `mask=%.*s`",
            any, STR_ARG(text));
  diag_fixit(d, s->while_stmt.condition->span, any);
}

// `x if condition else y`.
static bool help_choice(struct eval *e, struct diag *d, const struct expr *x, struct str text) {
  struct str then = eval_spelled(e, x->ternary.then->span),
             otherwise = eval_spelled(e, x->ternary.otherwise->span);
  if (!then.len || !otherwise.len)
    return false;
  const char *edit = arena_printf(e->a, "tl.where(%.*s, %.*s, %.*s)", STR_ARG(text), STR_ARG(then),
                                  STR_ARG(otherwise));
  diag_help(d, "choose element by element: `%s`", edit);
  diag_fixit(d, x->span, edit);
  return true;
}

void report_tile_condition(struct eval *e, struct operand x, const char *what) {
  struct diag *d =
      eval_error(e, x.at, E0216, "the condition of %s is %s", what, value_describe(e, x.v));
  diag_primary_label(d, "one truth for the whole tile is needed");
  const struct stmt *s = e->deciding;
  struct str text = eval_spelled(e, x.at);
  bool is_tile = x.v.kind == VALUE_RT && x.v.type.rank;
  if (e->choosing && text.len && is_tile && help_choice(e, d, e->choosing, text))
    return;
  if (s && text.len && is_tile && s->kind == STMT_WHILE)
    help_while(e, d, s, text);
  else if (!s || !text.len || !is_tile || s->kind != STMT_IF || !help_if(e, d, s, text))
    diag_help(
        d, "choose element by element: `tl.where(condition, x, y)`; `tl.max(x)` of a tile is one "
           "number");
}
