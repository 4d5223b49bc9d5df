// SPDX-License-Identifier: Apache-2.0
// Displays, comprehensions, f-strings.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/expr.h"
#include "lang/eval/objects.h"

struct value_list {
  struct value *at;
  size_t len, cap;
};

struct value eval_items(struct eval *e, const struct expr_list *items, struct span at) {
  struct value_list l = {0};
  vec_reserve(e->a, &l, items->len ? items->len : 1);
  for (size_t i = 0; i < items->len; i++) {
    const struct expr *x = items->at[i];
    struct tuple t;
    if (x->kind != EXPR_STARRED) {
      vec_push(e->a, &l, eval_expr(e, x));
      continue;
    }
    if (!need_sequence(e, (struct operand){eval_expr(e, x->inner), x->span}, &t))
      return VALUE_ERROR;
    for (size_t k = 0; k < t.len; k++)
      vec_push(e->a, &l, t.at[k]);
  }
  struct value result = value_tuple(l.at, l.len);
  return eval_check_size(e, result, at) ? result : VALUE_ERROR;
}

// Adds the comprehension's element for one binding of its variables.
static void add_element(struct eval *e, const struct expr *x, struct value_list *out) {
  struct value v = eval_expr(e, x->comprehension.element);
  if (x->comprehension.kind == COMPREHENSION_DICT) {
    struct value *row = arena_array(e->a, struct value, 2);
    row[0] = eval_expr(e, x->comprehension.key);
    row[1] = v;
    v = value_tuple(row, 2);
  }
  vec_push(e->a, out, v);
}

static bool eval_clauses(struct eval *e, const struct expr *x, size_t clause,
                         struct value_list *out) {
  if (clause == x->comprehension.clause_count) {
    if (out->len >= EVAL_MAX_UNROLL)
      return diag_help(eval_error(e, x->span, E0309, "a comprehension of more than %d values",
                                  EVAL_MAX_UNROLL),
                       "use a tile for many values: `tl.arange`, `tl.zeros`"),
             false;
    add_element(e, x, out);
    return true;
  }
  const struct comprehension_clause *c = &x->comprehension.clauses[clause];
  struct tuple items;
  if (!need_sequence(e, (struct operand){eval_expr(e, c->iter), c->iter->span}, &items))
    return false;
  for (size_t i = 0; i < items.len; i++) {
    eval_assign(e, c->target, items.at[i]);
    bool take = true;
    for (size_t k = 0; k < c->conditions.len && take; k++) {
      const struct expr *cond = c->conditions.at[k];
      struct operand v = {eval_expr(e, cond), cond->span};
      if (!need_const_bool(e, v, "the condition of a comprehension", &take))
        return false;
    }
    if (take && !eval_clauses(e, x, clause + 1, out))
      return false;
  }
  return true;
}

struct value eval_comprehension(struct eval *e, const struct expr *x) {
  bool is_list = x->comprehension.kind == COMPREHENSION_LIST ||
                 x->comprehension.kind == COMPREHENSION_GENERATOR;
  if (!is_list && !e->on->collect) {
    diag_help(eval_error(e, x->span, E0231, "sets and dictionaries are not part of the language"),
              "write one variable for each value, or a tuple `(a, b)`");
    return VALUE_ERROR;
  }
  // The targets are local to the comprehension: their values are restored afterwards.
  struct frame *scope = arena_new(e->a, struct frame); // lambdas may capture it
  *scope = *e->frame;
  scope->closure = e->frame;
  scope->is_comprehension = true;
  scope->variables = (struct map){0};
  struct frame *saved = e->frame;
  e->frame = scope;
  struct value_list l = {0};
  bool ok = eval_clauses(e, x, 0, &l);
  e->frame = saved;
  if (!ok || is_list)
    return ok ? value_tuple(l.at, l.len) : VALUE_ERROR;
  return e->on->collect(e, x->comprehension.kind, l.at, l.len);
}

// ---- f-strings ----

static bool format_parts(struct eval *e, const struct fstring_part *parts, size_t n,
                         struct strbuf *out) {
  for (size_t i = 0; i < n; i++) {
    const struct fstring_part *p = &parts[i];
    strbuf_put(out, p->text.ptr, p->text.len);
    if (!p->value)
      continue;
    struct value v = eval_expr(e, p->value);
    if (!need_known(e, (struct operand){v, p->value->span}))
      return false;
    if (!value_is_const(v)) {
      struct diag *d = eval_error(e, p->value->span, E0301,
                                  "an f-string takes values known at compile time, not %s",
                                  value_describe(e, v));
      diag_help(d, "print run-time values as arguments: `tl.device_print(\"x =\", x)`");
      return false;
    }
    struct strbuf spec = {.arena = e->a};
    bool ok = !p->format_count || format_parts(e, p->format, p->format_count, &spec);
    struct str s = {strbuf_cstr(&spec), spec.len};
    if (ok && s.len && !const_format_spec(v, s, out)) {
      diag_help(eval_error(e, p->span, E0310, "cannot format %s by `%.*s`", value_describe(e, v),
                           STR_ARG(s)),
                "numbers take `d`, `x`, `b`, `.3f` or `e`, texts take `s` and widths: `{x:>8}`");
      ok = false;
    } else if (ok && !s.len) {
      const_format(e, v, p->conversion == 'r' || p->conversion == 'a', out);
    }
    strbuf_finish(&spec);
    if (!ok)
      return false;
  }
  return true;
}

struct value eval_fstring(struct eval *e, const struct expr *x) {
  struct strbuf text = {.arena = e->a};
  struct value r = VALUE_ERROR;
  if (!format_parts(e, x->fstring.parts, x->fstring.count, &text))
    r = VALUE_ERROR;
  else if (text.len > EVAL_MAX_STRING)
    diag_help(eval_error(e, x->span, E0903, "the string is longer than %d bytes", EVAL_MAX_STRING),
              "build a shorter text");
  else
    r = value_str((struct str){arena_strndup(e->a, strbuf_cstr(&text), text.len), text.len});
  strbuf_finish(&text);
  return r;
}
