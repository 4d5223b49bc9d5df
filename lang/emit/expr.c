// SPDX-License-Identifier: Apache-2.0
// Expressions: a value for each, folded where its operands are known at compile time.
#include "base/limits.h"
#include "lang/emit/consteval.h"
#include "lang/host/host.h"

// ---- what callers need from a value ----

bool need_const_int(struct emitter *e, struct operand x, const char *what, int64_t *ret) {
  int_const i;
  if (!need_known(e, x))
    return false;
  if (value_as_int(x.v, &i) && i >= INT64_MIN && i <= INT64_MAX)
    return *ret = (int64_t)i, true;
  if (x.v.kind == VALUE_RT) {
    struct diag *d = emit_error(e, x.at, E0301, "%s must be known at compile time", what);
    diag_primary_label(d, "%s", type_text(e->a, x.v.type));
    diag_help(d, "make it a `tl.constexpr` parameter");
  } else {
    emit_error(e, x.at, E0301, "%s must be an integer, not %s", what, value_describe(e, x.v));
  }
  return false;
}

bool need_const_bool(struct emitter *e, struct operand x, const char *what, bool *ret) {
  if (!need_known(e, x))
    return false;
  if (const_truth(x.v, ret))
    return true;
  emit_error(e, x.at, E0301, "%s must be known at compile time", what);
  return false;
}

bool need_const_str(struct emitter *e, struct operand x, const char *what, struct str *ret) {
  if (!need_known(e, x))
    return false;
  if (x.v.kind == VALUE_STR)
    return *ret = x.v.s, true;
  emit_error(e, x.at, E0301, "%s must be a string known at compile time, not %s", what,
             value_describe(e, x.v));
  return false;
}

static bool range_values(struct emitter *e, struct operand x, struct tuple *ret) {
  int64_t lower, upper, step;
  const struct range *r = &x.v.range;
  if (!need_const_int(e, (struct operand){*r->lower, x.at}, "a bound of the range", &lower) ||
      !need_const_int(e, (struct operand){*r->upper, x.at}, "a bound of the range", &upper) ||
      !need_const_int(e, (struct operand){*r->step, x.at}, "the step of the range", &step))
    return false;
  VEC(struct value) v = {0};
  for (int_const i = lower; step != 0 && (step > 0 ? i < upper : i > upper); i += step) {
    if (v.len == EMIT_MAX_UNROLL) {
      emit_error(e, x.at, E0309, "a sequence of more than %d values", EMIT_MAX_UNROLL);
      return false;
    }
    vec_push(e->a, &v, value_int(i));
  }
  *ret = (struct tuple){v.at, v.len};
  return true;
}

static struct tuple keys_of(struct emitter *e, struct tuple dict) {
  struct value *keys = arena_array(e->a, struct value, dict.len ? dict.len : 1);
  for (size_t i = 0; i < dict.len; i++)
    keys[i] = dict.at[i].tuple.at[0];
  return (struct tuple){keys, dict.len, NULL};
}

bool need_sequence(struct emitter *e, struct operand x, struct tuple *ret) {
  if (!need_known(e, x))
    return false;
  if (value_is_record(x.v, RECORD_DICT))
    return *ret = keys_of(e, x.v.tuple), true;
  if (x.v.kind == VALUE_TUPLE && !value_is_record(x.v, RECORD_BLOCK_POINTER))
    return *ret = x.v.tuple, true;
  if (x.v.kind == VALUE_RANGE)
    return range_values(e, x, ret);
  emit_error(e, x.at, E0230, "%s is not a sequence", value_describe(e, x.v));
  return false;
}

struct value emit_truth(struct emitter *e, struct operand x, const char *what) {
  bool b;
  if (!need_known(e, x))
    return VALUE_ERROR;
  if (const_truth(x.v, &b))
    return value_bool(b);
  if (x.v.kind != VALUE_RT || x.v.type.rank) {
    struct diag *d =
        emit_error(e, x.at, E0216, "the condition of %s is %s", what, value_describe(e, x.v));
    diag_primary_label(d, "one truth for the whole tile is needed");
    diag_help(d, "choose element by element: `tl.where(condition, x, y)`");
    return VALUE_ERROR;
  }
  emit_at(e, x.at);
  return emit_truth_tile(e, x.v);
}

// ---- logic, comparison, choice ----

static struct value emit_logic_expr(struct emitter *e, const struct expr *x) {
  enum ast_op op = x->logic.op;
  struct operand acc = {emit_expr(e, x->logic.operands.at[0]), x->logic.operands.at[0]->span};
  for (size_t i = 1; i < x->logic.operands.len; i++) {
    const struct expr *next = x->logic.operands.at[i];
    bool truth;
    if (const_truth(acc.v, &truth)) {
      if (truth == (op == OP_OR))
        return acc.v;
      acc = (struct operand){emit_expr(e, next), next->span};
      continue;
    }
    if (!need_known(e, acc))
      return VALUE_ERROR;
    struct operand right = {emit_expr(e, next), next->span};
    if (!value_is_poison(acc.v) && const_truth(right.v, &truth) && truth == (op == OP_AND)) {
      emit_at(e, acc.at);
      acc.v = acc.v.kind == VALUE_RT ? emit_truth_tile(e, acc.v) : acc.v;
    } else {
      if (const_truth(right.v, &truth))
        right.v = value_bool(truth);
      acc.v = emit_logic(e, op, acc, right, x->span);
    }
    acc.at = span_join(acc.at, right.at);
  }
  return acc.v;
}

static struct value emit_compare_expr(struct emitter *e, const struct expr *x) {
  const struct expr_list *xs = &x->compare.operands;
  struct operand left = {emit_expr(e, xs->at[0]), xs->at[0]->span};
  struct operand acc = {value_bool(true), x->span};
  for (size_t i = 1; i < xs->len; i++) {
    struct operand right = {emit_expr(e, xs->at[i]), xs->at[i]->span};
    bool is_opaque = left.v.kind == VALUE_OPAQUE || right.v.kind == VALUE_OPAQUE;
    struct value v = is_opaque ? host_compare(e, x->compare.ops[i - 1], left, right)
                               : emit_comparison(e, x->compare.ops[i - 1], left, right,
                                                 x->compare.op_spans[i - 1]);
    if (i == 1)
      acc.v = v;
    else if (acc.v.kind == VALUE_BOOL && acc.v.b)
      acc.v = v;
    else if (!(v.kind == VALUE_BOOL && v.b) && !(acc.v.kind == VALUE_BOOL))
      acc.v = emit_logic(e, OP_AND, acc, (struct operand){v, x->span}, x->span);
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

static void choose(struct emitter *e, struct choice *c, const struct expr *x) {
  c->result.value = emit_expr(e, x);
  c->result.span = x->span;
}
static void choose_then(struct emitter *e, void *user) {
  struct choice *c = user;
  choose(e, c, c->x->ternary.then);
}
static void choose_otherwise(struct emitter *e, void *user) {
  struct choice *c = user;
  choose(e, c, c->x->ternary.otherwise);
}

static struct value emit_ternary(struct emitter *e, const struct expr *x) {
  const struct expr *cond = x->ternary.condition;
  struct value v = emit_truth(e, (struct operand){emit_expr(e, cond), cond->span}, "a choice");
  if (v.kind == VALUE_BOOL)
    return emit_expr(e, v.b ? x->ternary.then : x->ternary.otherwise);
  if (value_is_poison(v))
    return v;
  emit_at(e, x->span);
  struct name_list names = {0};
  names_of_expr(e, x->ternary.then, &names);
  names_of_expr(e, x->ternary.otherwise, &names);
  struct variable_list changed = scope_collect(e, &names);
  struct choice c = {x, {.name = "this choice", .span = x->span}};
  vec_push(e->a, &changed, &c.result);
  ssa_if(e, v, &changed, choose_then, choose_otherwise, &c);
  return scope_read(e, &c.result, x->span);
}

// ---- sequences ----

struct value_list {
  struct value *at;
  size_t len, cap;
};

// Counts the values in a sequence and in those within it, giving up past the limit: shared parts
// can stand in it any number of times.
static void count_values(const struct value *v, size_t limit, unsigned depth, size_t *count) {
  if (depth > EMIT_MAX_NESTING)
    *count = limit + 1;
  if (v->kind != VALUE_TUPLE || !v->tuple.len) {
    ++*count;
    return;
  }
  for (size_t i = 0; i < v->tuple.len && *count <= limit; i++)
    count_values(&v->tuple.at[i], limit, depth + 1, count);
}

bool emit_check_size(struct emitter *e, struct value v, struct span at) {
  size_t count = 0, limit = e->host ? HOST_MAX_VALUES : EMIT_MAX_UNROLL;
  count_values(&v, limit, 0, &count);
  if (count > limit)
    emit_error(e, at, E0309, "a sequence of more than %zu values", limit);
  return count <= limit;
}

static struct value emit_items(struct emitter *e, const struct expr_list *items, struct span at) {
  struct value_list l = {0};
  vec_reserve(e->a, &l, items->len ? items->len : 1);
  for (size_t i = 0; i < items->len; i++) {
    const struct expr *x = items->at[i];
    struct tuple t;
    if (x->kind != EXPR_STARRED) {
      vec_push(e->a, &l, emit_expr(e, x));
      continue;
    }
    if (!need_sequence(e, (struct operand){emit_expr(e, x->inner), x->span}, &t))
      return VALUE_ERROR;
    for (size_t k = 0; k < t.len; k++)
      vec_push(e->a, &l, t.at[k]);
  }
  struct value result = value_tuple(l.at, l.len);
  return emit_check_size(e, result, at) ? result : VALUE_ERROR;
}

// Adds what the comprehension gives for one choice of its variables.
static void add_element(struct emitter *e, const struct expr *x, struct value_list *out) {
  struct value v = emit_expr(e, x->comprehension.element);
  if (x->comprehension.kind == COMPREHENSION_DICT) {
    struct value *row = arena_array(e->a, struct value, 2);
    row[0] = emit_expr(e, x->comprehension.key);
    row[1] = v;
    v = value_tuple(row, 2);
  }
  vec_push(e->a, out, v);
}

static bool emit_clauses(struct emitter *e, const struct expr *x, size_t clause,
                         struct value_list *out) {
  if (clause == x->comprehension.clause_count) {
    if (out->len >= EMIT_MAX_UNROLL)
      return emit_error(e, x->span, E0309, "a comprehension of more than %d values",
                        EMIT_MAX_UNROLL),
             false;
    add_element(e, x, out);
    return true;
  }
  const struct comprehension_clause *c = &x->comprehension.clauses[clause];
  struct tuple items;
  if (!need_sequence(e, (struct operand){emit_expr(e, c->iter), c->iter->span}, &items))
    return false;
  for (size_t i = 0; i < items.len; i++) {
    emit_assign_target(e, c->target, items.at[i]);
    bool take = true;
    for (size_t k = 0; k < c->conditions.len && take; k++) {
      const struct expr *cond = c->conditions.at[k];
      struct operand v = {emit_expr(e, cond), cond->span};
      if (!need_const_bool(e, v, "the condition of a comprehension", &take))
        return false;
    }
    if (take && !emit_clauses(e, x, clause + 1, out))
      return false;
  }
  return true;
}

static struct value emit_comprehension(struct emitter *e, const struct expr *x) {
  bool is_list = x->comprehension.kind == COMPREHENSION_LIST ||
                 x->comprehension.kind == COMPREHENSION_GENERATOR;
  if (!is_list && !e->host) {
    emit_error(e, x->span, E0231, "sets and dictionaries are not part of the language");
    return VALUE_ERROR;
  }
  // The targets belong to the comprehension: what they were is restored.
  struct frame *scope = arena_new(e->a, struct frame); // lambdas may keep it
  *scope = *e->frame;
  scope->closure = e->frame;
  scope->variables = (struct map){0};
  struct frame *saved = e->frame;
  e->frame = scope;
  struct value_list l = {0};
  bool ok = emit_clauses(e, x, 0, &l);
  e->frame = saved;
  if (!ok || is_list)
    return ok ? value_tuple(l.at, l.len) : VALUE_ERROR;
  return x->comprehension.kind == COMPREHENSION_DICT ? host_dict_of(e, l.at, l.len)
                                                     : host_set(e, l.at, l.len);
}

// A table known at compile time.
static struct value emit_dict(struct emitter *e, const struct expr *x) {
  if (e->host)
    return host_dict_display(e, x);
  struct value *rows = arena_array(e->a, struct value, x->dict.count ? x->dict.count : 1);
  for (size_t i = 0; i < x->dict.count; i++) {
    const struct dict_item *item = &x->dict.items[i];
    if (!item->key) {
      emit_error(e, x->span, E0231, "`**` in dictionaries is not part of the language");
      return VALUE_ERROR;
    }
    struct value *row = arena_array(e->a, struct value, 2);
    row[0] = emit_expr(e, item->key);
    row[1] = emit_expr(e, item->value);
    if (value_is_poison(row[0]) || value_is_poison(row[1]))
      return VALUE_ERROR;
    if (!value_is_const(row[0])) {
      emit_error(e, item->key->span, E0301, "the key of a dictionary is not known at compile time");
      return VALUE_ERROR;
    }
    rows[i] = value_tuple(row, 2);
  }
  struct value v = value_tuple(rows, x->dict.count);
  v.tuple.record = &record_dict;
  return v;
}

// ---- f-strings ----

static bool format_parts(struct emitter *e, const struct fstring_part *parts, size_t n,
                         struct strbuf *out) {
  for (size_t i = 0; i < n; i++) {
    const struct fstring_part *p = &parts[i];
    strbuf_put(out, p->text.ptr, p->text.len);
    if (!p->value)
      continue;
    struct value v = emit_expr(e, p->value);
    if (!need_known(e, (struct operand){v, p->value->span}))
      return false;
    if (!value_is_const(v)) {
      struct diag *d = emit_error(e, p->value->span, E0301,
                                  "an f-string takes values known at compile time, not %s",
                                  value_describe(e, v));
      diag_help(d, "print run-time values as arguments: `tl.device_print(\"x =\", x)`");
      return false;
    }
    struct strbuf spec = {.arena = e->a};
    bool ok = !p->format_count || format_parts(e, p->format, p->format_count, &spec);
    struct str s = {strbuf_cstr(&spec), spec.len};
    if (ok && s.len && !const_format_spec(v, s, out)) {
      emit_error(e, p->span, E0310, "cannot format %s by `%.*s`", value_describe(e, v), STR_ARG(s));
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

static struct value emit_fstring(struct emitter *e, const struct expr *x) {
  struct strbuf text = {.arena = e->a};
  struct value r = VALUE_ERROR;
  if (!format_parts(e, x->fstring.parts, x->fstring.count, &text))
    r = VALUE_ERROR;
  else if (text.len > EMIT_MAX_STRING)
    emit_error(e, x->span, E0903, "the string is longer than %d bytes", EMIT_MAX_STRING);
  else
    r = value_str((struct str){arena_strndup(e->a, strbuf_cstr(&text), text.len), text.len});
  strbuf_finish(&text);
  return r;
}

// ---- the rest ----

static struct value not_supported(struct emitter *e, const struct expr *x, const char *what) {
  emit_error(e, x->span, E0231, "%s not part of the language", what);
  return VALUE_ERROR;
}

static struct value emit_unary_expr(struct emitter *e, const struct expr *x) {
  struct operand v = {emit_expr(e, x->unary.operand), x->unary.operand->span};
  if (!need_known(e, v))
    return VALUE_ERROR;
  return emit_unary(e, x->unary.op, v, x->span);
}

// `a + b + c ...` leans to the left: its operators are walked in a loop, so that a long chain takes
// no more of the stack than a short one.
static struct value emit_binary_expr(struct emitter *e, const struct expr *x) {
  VEC(const struct expr *) chain = {0};
  for (; x->kind == EXPR_BINARY; x = x->binary.left)
    vec_push(e->a, &chain, x);
  struct value v = emit_expr(e, x);
  while (chain.len) {
    x = vec_pop(&chain);
    struct operand a = {v, x->binary.left->span};
    struct operand b = {emit_expr(e, x->binary.right), x->binary.right->span};
    bool known = !e->host || (need_known(e, a) && need_known(e, b));
    v = known ? emit_binary(e, x->binary.op, a, b, x->binary.op_span) : VALUE_ERROR;
  }
  return v;
}

static struct value emit_integer(struct emitter *e, const struct expr *x) {
  if (!x->integer.overflow)
    return value_int((int_const)x->integer.value);
  struct diag *d =
      emit_error(e, x->span, E0304, "the integer has more than %d bits", LIMIT_LITERAL_BITS);
  diag_help(d, "compute it: compile-time integers have %d bits, as in `1 << 100`",
            LIMIT_INTEGER_BITS);
  return VALUE_ERROR;
}

static struct value emit_expr_kind(struct emitter *e, const struct expr *x) {
  switch (x->kind) {
  case EXPR_NAME: return scope_lookup(e, x->name, x->span);
  case EXPR_INT: return emit_integer(e, x);
  case EXPR_FLOAT: return value_float(x->floating.value);
  case EXPR_STRING:
    return x->string.is_bytes ? not_supported(e, x, "bytes are") : value_str(x->string.value);
  case EXPR_FSTRING: return emit_fstring(e, x);
  case EXPR_BOOL: return value_bool(x->boolean);
  case EXPR_NONE: return value_of_kind(VALUE_NONE);
  case EXPR_UNARY: return emit_unary_expr(e, x);
  case EXPR_BINARY: return emit_binary_expr(e, x);
  case EXPR_LOGIC: return emit_logic_expr(e, x);
  case EXPR_COMPARE: return emit_compare_expr(e, x);
  case EXPR_CALL: return emit_call(e, x);
  case EXPR_ATTRIBUTE: {
    struct operand object = {emit_expr(e, x->attribute.object), x->attribute.object->span};
    return emit_attribute(e, object, x->attribute.name, x->attribute.name_span);
  }
  case EXPR_SUBSCRIPT: return emit_subscript(e, x);
  case EXPR_TUPLE:
  case EXPR_LIST: return emit_items(e, &x->items, x->span);
  case EXPR_TERNARY: return emit_ternary(e, x);
  case EXPR_COMPREHENSION: return emit_comprehension(e, x);
  case EXPR_WALRUS: {
    struct value v = emit_expr(e, x->walrus.value);
    scope_assign(e, x->walrus.name, x->span, v);
    return v;
  }
  case EXPR_DICT: return emit_dict(e, x);
  case EXPR_SET: {
    if (!e->host)
      return not_supported(e, x, "sets are");
    struct value items = emit_items(e, &x->items, x->span);
    return value_is_poison(items) ? items : host_set(e, items.tuple.at, items.tuple.len);
  }
  case EXPR_LAMBDA: return e->host ? host_lambda(e, x) : not_supported(e, x, "lambda is");
  case EXPR_IMAGINARY: return not_supported(e, x, "complex numbers are");
  case EXPR_STARRED: return not_supported(e, x, "`*` in this place is");
  case EXPR_ELLIPSIS: return not_supported(e, x, "`...` in this place is");
  case EXPR_AWAIT: return not_supported(e, x, "`await` is");
  case EXPR_YIELD: return not_supported(e, x, "`yield` is");
  case EXPR_SLICE: return value_of_kind(VALUE_SLICE);
  case EXPR_ERROR:
  case EXPR_KIND_COUNT: e->damaged = true; return VALUE_ERROR;
  }
  return VALUE_ERROR;
}

struct value emit_expr(struct emitter *e, const struct expr *x) {
  if (e->stopped || !emit_enter(e, x->span))
    return VALUE_ERROR;
  struct value v = emit_expr_kind(e, x);
  emit_leave(e);
  if (e->host) {
    v = host_value(e, v);
    if (value_is_poison(v) && !e->stopped)
      emit_error(e, x->span, e->host->code, "%s needs this, which is not evaluated", e->host->what);
    return v;
  }
  // An error that nobody reported would be a kernel that silently does less.
  if (value_is_poison(v) && !e->damaged && diag_error_count(e->diag) == e->errors)
    emit_error(e, x->span, E0990, "an expression failed without a message");
  return v;
}
