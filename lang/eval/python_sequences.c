// SPDX-License-Identifier: Apache-2.0
// Functions of host code on sequences.
#include "lang/eval/consteval.h"
#include "lang/eval/python.h"

static struct value host_call(struct eval *e, struct operand f, const struct value *args,
                              size_t count, struct span at) {
  struct operand *operands = arena_array(e->a, struct operand, count + 1);
  for (size_t i = 0; i < count; i++)
    operands[i] = (struct operand){args[i], at};
  return host_value(e, eval_call_value(e, f, operands, NULL, count, at));
}

static bool less(struct eval *e, struct value a, struct value b, struct span at, bool *ret) {
  for (size_t i = 0; a.kind == VALUE_TUPLE && b.kind == VALUE_TUPLE; i++) {
    if (i == a.tuple.len || i == b.tuple.len)
      return *ret = a.tuple.len < b.tuple.len, true;
    if (!const_equal(a.tuple.at[i], b.tuple.at[i]))
      return less(e, a.tuple.at[i], b.tuple.at[i], at, ret);
  }
  struct operand x = {a, at}, y = {b, at};
  if (!need_known(e, x) || !need_known(e, y))
    return false;
  struct value v = const_compare(e, OP_LT, x, y, at);
  return v.kind == VALUE_BOOL && (*ret = v.b, true);
}

bool host_sort(struct eval *e, struct tuple items, struct operand key, bool reverse, struct span at,
               struct value *ret) {
  struct value *v = arena_array(e->a, struct value, items.len + 1);
  struct value *keys = arena_array(e->a, struct value, items.len + 1);
  for (size_t i = 0; i < items.len; i++) {
    struct value k =
        key.v.kind == VALUE_NONE ? items.at[i] : host_call(e, key, &items.at[i], 1, at);
    size_t to = i;
    for (; to > 0; to--) { // stable
      bool before;
      if (!less(e, reverse ? keys[to - 1] : k, reverse ? k : keys[to - 1], at, &before))
        return false;
      if (!before)
        break;
      keys[to] = keys[to - 1];
      v[to] = v[to - 1];
    }
    keys[to] = k;
    v[to] = items.at[i];
  }
  *ret = value_tuple(v, items.len);
  return true;
}

struct value sequence_sorted(struct eval *e, struct call *c) {
  struct operand no_key = {value_of_kind(VALUE_NONE), c->at};
  struct tuple t;
  struct value r;
  bool reverse = false;
  if (!need_sequence(e, c->args[0], &t) ||
      (arg_given(c, 2) && !need_const_bool(e, c->args[2], "`reverse`", &reverse)) ||
      !host_sort(e, t, arg_given(c, 1) ? c->args[1] : no_key, reverse, c->at, &r))
    return VALUE_ERROR;
  return r;
}

// tag: 1 the largest.
struct value sequence_nsmallest(struct eval *e, struct call *c) {
  struct operand no_key = {value_of_kind(VALUE_NONE), c->at};
  struct tuple t;
  struct value r;
  int64_t n;
  if (!need_const_int(e, c->args[0], "how many", &n) || !need_sequence(e, c->args[1], &t) ||
      !host_sort(e, t, arg_given(c, 2) ? c->args[2] : no_key, c->builtin->tag, c->at, &r))
    return VALUE_ERROR;
  r.tuple.len = n < 0 ? 0 : (size_t)n < t.len ? (size_t)n : t.len;
  return r;
}

struct value sequence_reversed(struct eval *e, struct call *c) {
  struct tuple t;
  if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, t.len + 1);
  for (size_t i = 0; i < t.len; i++)
    at[i] = t.at[t.len - 1 - i];
  return value_tuple(at, t.len);
}

struct value sequence_filter(struct eval *e, struct call *c) {
  struct tuple t;
  if (!need_sequence(e, c->args[1], &t))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, t.len + 1);
  size_t n = 0;
  for (size_t i = 0; i < t.len; i++) {
    bool take;
    struct value v =
        c->args[0].v.kind == VALUE_NONE ? t.at[i] : host_call(e, c->args[0], &t.at[i], 1, c->at);
    if (!need_const_bool(e, (struct operand){v, c->at}, "what a filter says", &take))
      return VALUE_ERROR;
    if (take)
      at[n++] = t.at[i];
  }
  return value_tuple(at, n);
}

struct value sequence_map(struct eval *e, struct call *c) {
  struct value rows = builtin_find_bare(e, "zip")->emit(e, c); // of the rest
  if (value_is_poison(rows))
    return rows;
  struct value *at = arena_array(e->a, struct value, rows.tuple.len + 1);
  for (size_t i = 0; i < rows.tuple.len; i++) {
    struct tuple row = rows.tuple.at[i].tuple;
    at[i] = host_call(e, c->args[0], row.at, row.len, c->at);
  }
  return e->stopped ? VALUE_ERROR : value_tuple(at, rows.tuple.len);
}

// tag: 1 all.
struct value sequence_any(struct eval *e, struct call *c) {
  struct tuple t;
  if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  bool all = c->builtin->tag == 1, holds;
  for (size_t i = 0; i < t.len; i++) {
    if (!need_const_bool(e, (struct operand){t.at[i], c->args[0].at}, "a truth", &holds))
      return VALUE_ERROR;
    if (holds != all)
      return value_bool(!all);
  }
  return value_bool(all);
}

// tag: the operator.
struct value sequence_fold(struct eval *e, struct call *c) {
  struct tuple t;
  enum ast_op op = (enum ast_op)c->builtin->tag;
  if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  struct operand acc = {arg_given(c, 1) ? c->args[1].v : value_int(op == OP_MUL), c->at};
  for (size_t i = 0; i < t.len; i++) {
    struct operand x = {t.at[i], c->args[0].at};
    if (!need_known(e, x))
      return VALUE_ERROR;
    bool is_first = i == 0 && x.v.kind == VALUE_TUPLE && !arg_given(c, 1);
    acc.v = is_first ? x.v : const_binary(e, op, acc, x, c->at);
  }
  return acc.v;
}

struct value sequence_set(struct eval *e, struct call *c) {
  struct tuple t = {0};
  if (arg_given(c, 0) && !need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  return host_set(e, t.at, t.len);
}

struct value sequence_sequence(struct eval *e, struct call *c) {
  struct tuple t = {0};
  if (arg_given(c, 0) && !need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, t.len + 1);
  for (size_t i = 0; i < t.len; i++)
    at[i] = t.at[i];
  return value_tuple(at, t.len);
}

// product(a, b, ..., repeat=n): rows in the order of nested loops.
struct value sequence_product(struct eval *e, struct call *c) {
  int64_t repeat = 1;
  if (arg_given(c, 1) && !need_const_int(e, c->args[1], "`repeat`", &repeat))
    return VALUE_ERROR;
  size_t n = repeat > 0 && repeat < 16 ? c->rest_count * (size_t)repeat : 0, rows = 1;
  struct tuple *columns = arena_array(e->a, struct tuple, n + 1);
  for (size_t i = 0; i < n; i++) {
    if (!need_sequence(e, c->rest[i % c->rest_count], &columns[i]))
      return VALUE_ERROR;
    rows *= columns[i].len;
    if (rows > EVAL_MAX_UNROLL)
      return diag_help(
                 eval_error(e, c->at, E0309, "a sequence of more than %d values", EVAL_MAX_UNROLL),
                 "use a tile for many values: `tl.arange`, `tl.zeros`"),
             VALUE_ERROR;
  }
  struct value *at = arena_array(e->a, struct value, rows + 1);
  for (size_t r = 0; r < rows; r++) {
    struct value *row = arena_array(e->a, struct value, n + 1);
    for (size_t i = n, rest = r; i-- > 0; rest /= columns[i].len)
      row[i] = columns[i].at[rest % columns[i].len];
    at[r] = value_tuple(row, n);
  }
  return value_tuple(at, rows);
}

struct value sequence_chain(struct eval *e, struct call *c) {
  struct value acc = value_tuple(NULL, 0);
  for (size_t i = 0; i < c->rest_count; i++) {
    struct tuple t;
    if (!need_sequence(e, c->rest[i], &t))
      return VALUE_ERROR;
    acc = const_binary(e, OP_ADD, (struct operand){acc, c->at},
                       (struct operand){value_tuple(t.at, t.len), c->at}, c->at);
  }
  return acc;
}
