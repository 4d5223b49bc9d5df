// SPDX-License-Identifier: Apache-2.0
// Expressions: a value for each, folded where its operands are known at compile time.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/expr.h"

#include "base/limits.h"
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"

struct value eval_truth(struct eval *e, struct operand x, const char *what) {
  bool b;
  if (!need_known(e, x))
    return VALUE_ERROR;
  if (const_truth(x.v, &b))
    return value_bool(b);
  return e->on->truth(e, x, what);
}

struct value eval_condition(struct eval *e, const struct expr *x, const struct stmt *s,
                            const char *what) {
  struct operand v = {eval_expr(e, x), x->span};
  e->deciding = s;
  struct value truth = eval_truth(e, v, what);
  e->deciding = NULL;
  return truth;
}

// ---- logic, comparison, choice ----

static struct value eval_logic(struct eval *e, const struct expr *x) {
  enum ast_op op = x->logic.op;
  struct operand acc = {eval_expr(e, x->logic.operands.at[0]), x->logic.operands.at[0]->span};
  for (size_t i = 1; i < x->logic.operands.len; i++) {
    const struct expr *next = x->logic.operands.at[i];
    bool truth;
    if (const_truth(acc.v, &truth)) {
      if (truth == (op == OP_OR))
        return acc.v;
      acc = (struct operand){eval_expr(e, next), next->span};
      continue;
    }
    if (!need_known(e, acc))
      return VALUE_ERROR;
    struct operand right = {eval_expr(e, next), next->span};
    if (value_is_poison(acc.v) || !const_truth(right.v, &truth)) {
      acc.v = e->on->logic(e, op, acc, right, x->span);
    } else if (truth == (op == OP_OR)) { // as in Triton: `i == n - 1 and False` is known
      return right.v;
    } else {
      eval_at(e, acc.at);
      acc.v = acc.v.kind == VALUE_RT ? e->on->truths(e, acc.v) : acc.v;
    }
    acc.at = span_join(acc.at, right.at);
  }
  return acc.v;
}

static struct value eval_comparison(struct eval *e, const struct expr *x) {
  const struct expr_list *xs = &x->compare.operands;
  struct operand left = {eval_expr(e, xs->at[0]), xs->at[0]->span};
  struct operand acc = {value_bool(true), x->span};
  for (size_t i = 1; i < xs->len; i++) {
    struct operand right = {eval_expr(e, xs->at[i]), xs->at[i]->span};
    struct value v =
        e->on->compare(e, x->compare.ops[i - 1], left, right, x->compare.op_spans[i - 1]);
    if (i == 1)
      acc.v = v;
    else if (acc.v.kind == VALUE_BOOL && acc.v.b)
      acc.v = v;
    else if (!(v.kind == VALUE_BOOL && v.b) && !(acc.v.kind == VALUE_BOOL))
      acc.v = e->on->logic(e, OP_AND, acc, (struct operand){v, x->span}, x->span);
    if (acc.v.kind == VALUE_BOOL && !acc.v.b)
      return acc.v; // nothing can make it true again
    left = right;
  }
  return acc.v;
}

struct choice {
  const struct expr *x;
  struct variable result;
};

static void choose(struct eval *e, struct choice *c, const struct expr *x) {
  c->result.value = eval_expr(e, x);
  c->result.span = x->span;
}
static void choose_then(struct eval *e, void *user) {
  struct choice *c = user;
  choose(e, c, c->x->ternary.then);
}
static void choose_otherwise(struct eval *e, void *user) {
  struct choice *c = user;
  choose(e, c, c->x->ternary.otherwise);
}

static struct value eval_ternary(struct eval *e, const struct expr *x) {
  const struct expr *cond = x->ternary.condition;
  struct operand decides = {eval_expr(e, cond), cond->span};
  e->choosing = x;
  struct value v = eval_truth(e, decides, "a choice");
  e->choosing = NULL;
  if (v.kind == VALUE_BOOL)
    return eval_expr(e, v.b ? x->ternary.then : x->ternary.otherwise);
  if (value_is_poison(v))
    return v;
  eval_at(e, x->span);
  struct name_list names = {0};
  names_of_expr(e, x->ternary.then, &names);
  names_of_expr(e, x->ternary.otherwise, &names);
  struct variable_list changed = scope_collect(e, &names);
  struct choice c = {x, {.name = "this choice", .span = x->span}};
  vec_push(e->a, &changed, &c.result);
  e->on->branch(e, v, &changed, choose_then, choose_otherwise, &c);
  struct variable *r = &c.result;
  if (r->value.kind != VALUE_ABSENT || r->why != ABSENT_MISMATCH)
    return scope_read(e, r, x->span);
  struct diag *d = eval_error(e, x->span, E0215,
                              "Ternary expression with dynamic condition has inconsistent types "
                              "%s and %s",
                              r->texts[0], r->texts[1]);
  diag_help(d, "make both give one type, e.g. by `.to(...)`, or let the condition be known at "
               "compile time");
  return VALUE_ERROR;
}

// ---- kinds of expressions ----

static struct value not_supported(struct eval *e, const struct expr *x, const char *what,
                                  const char *help) {
  diag_help(eval_error(e, x->span, E0231, "%s not part of the language", what), "%s", help);
  return VALUE_ERROR;
}

static struct value eval_unary(struct eval *e, const struct expr *x) {
  struct operand v = {eval_expr(e, x->unary.operand), x->unary.operand->span};
  if (!need_known(e, v))
    return VALUE_ERROR;
  return e->on->unary(e, x->unary.op, v, x->span);
}

// `a + b + c ...` nests to the left: a loop evaluates its operators, so that a long chain uses no
// more stack than a short one.
static struct value eval_binary(struct eval *e, const struct expr *x) {
  VEC(const struct expr *) chain = {0};
  for (; x->kind == EXPR_BINARY; x = x->binary.left)
    vec_push(e->a, &chain, x);
  struct value v = eval_expr(e, x);
  while (chain.len) {
    x = vec_pop(&chain);
    struct operand a = {v, x->binary.left->span};
    struct operand b = {eval_expr(e, x->binary.right), x->binary.right->span};
    v = e->on->binary(e, x->binary.op, a, b, x->binary.op_span);
  }
  return v;
}

static struct value eval_set(struct eval *e, const struct expr *x) {
  struct value items = eval_items(e, &x->items, x->span);
  return value_is_poison(items)
             ? items
             : e->on->collect(e, COMPREHENSION_SET, items.tuple.at, items.tuple.len);
}

static struct value eval_integer(struct eval *e, const struct expr *x) {
  if (!x->integer.overflow)
    return value_int((int_const)x->integer.value);
  struct diag *d =
      eval_error(e, x->span, E0304, "the integer has more than %d bits", LIMIT_LITERAL_BITS);
  diag_help(d, "compute it: compile-time integers have %d bits, as in `1 << 100`",
            LIMIT_INTEGER_BITS);
  return VALUE_ERROR;
}

// Expressions that only host code has, or neither language.
static struct value eval_unusual(struct eval *e, const struct expr *x) {
  switch ((int)x->kind) {
  case EXPR_DICT: return e->on->dict(e, x);
  case EXPR_SET:
    return e->on->collect ? eval_set(e, x)
                          : not_supported(e, x, "sets are",
                                          "write one variable for each value, or a tuple `(a, b)`");
  case EXPR_LAMBDA:
    return e->on->lambda
               ? e->on->lambda(e, x)
               : not_supported(
                     e, x, "lambda is",
                     "name it, with a `def` inside or above the kernel: `def f(x): return x * x`");
  case EXPR_IMAGINARY:
    return not_supported(e, x, "complex numbers are",
                         "keep the real and the imaginary part in two tiles");
  case EXPR_STARRED:
    return not_supported(e, x, "`*` in this place is",
                         "a pointer is read by `tl.load(x)`; `*` unpacks tuples among arguments");
  case EXPR_ELLIPSIS:
    return not_supported(e, x, "`...` in this place is",
                         "in a subscript it stands for all axes that are left: `x[..., None]`");
  case EXPR_AWAIT:
    return not_supported(e, x, "`await` is",
                         "a kernel runs without waiting; streams order launches");
  case EXPR_YIELD: return not_supported(e, x, "`yield` is", "return a tuple, or store each value");
  }
  e->damaged = true; // EXPR_ERROR
  return VALUE_ERROR;
}

static struct value eval_object_attribute(struct eval *e, const struct expr *x) {
  struct operand object = {eval_expr(e, x->attribute.object), x->attribute.object->span};
  return eval_attribute(e, object, x->attribute.name, x->attribute.name_span);
}

static struct value eval_walrus(struct eval *e, const struct expr *x) {
  struct value v = eval_expr(e, x->walrus.value);
  struct frame *saved = e->frame;
  while (e->frame->is_comprehension)
    e->frame = e->frame->closure;
  scope_assign(e, x->walrus.name, x->span, v);
  e->frame = saved;
  return v;
}

static struct value eval_kind(struct eval *e, const struct expr *x) {
  switch ((int)x->kind) {
  case EXPR_NAME: return scope_lookup(e, x->name, x->span);
  case EXPR_INT: return eval_integer(e, x);
  case EXPR_FLOAT: return value_float(x->floating.value);
  case EXPR_STRING:
    return x->string.is_bytes ? not_supported(e, x, "bytes are", "a text is written `\"...\"`")
                              : value_str(x->string.value);
  case EXPR_FSTRING: return eval_fstring(e, x);
  case EXPR_BOOL: return value_bool(x->boolean);
  case EXPR_NONE: return value_of_kind(VALUE_NONE);
  case EXPR_UNARY: return eval_unary(e, x);
  case EXPR_BINARY: return eval_binary(e, x);
  case EXPR_LOGIC: return eval_logic(e, x);
  case EXPR_COMPARE: return eval_comparison(e, x);
  case EXPR_CALL: return eval_call(e, x);
  case EXPR_ATTRIBUTE: return eval_object_attribute(e, x);
  case EXPR_SUBSCRIPT: return eval_subscript(e, x);
  case EXPR_TUPLE:
  case EXPR_LIST: return eval_items(e, &x->items, x->span);
  case EXPR_TERNARY: return eval_ternary(e, x);
  case EXPR_COMPREHENSION: return eval_comprehension(e, x);
  case EXPR_WALRUS: return eval_walrus(e, x);
  case EXPR_SLICE: return value_of_kind(VALUE_SLICE);
  }
  return eval_unusual(e, x);
}

struct value eval_expr(struct eval *e, const struct expr *x) {
  if (e->stopped || !eval_enter(e, x->span))
    return VALUE_ERROR;
  struct value v = eval_kind(e, x);
  eval_leave(e);
  eval_observe(e, x, x->span, v);
  return e->on->finish(e, x, v);
}
