// SPDX-License-Identifier: Apache-2.0
// Reductions, scans and maps: the scalar function is emitted as a func.func, which the operation
// names.
#include "lang/builtins/builtins.h"

// The operands of a collective: one tile or a tuple of tiles of one shape.
struct tiles {
  struct operand at[COLLECTIVE_MAX_VALUES];
  size_t len;
  bool is_tuple;
};

static bool need_values(struct eval *e, struct operand x, const char *what, struct tiles *ret) {
  struct value one[1] = {x.v};
  struct tuple t = x.v.kind == VALUE_TUPLE ? x.v.tuple : (struct tuple){one, 1};
  ret->is_tuple = x.v.kind == VALUE_TUPLE;
  ret->len = t.len;
  if (t.len == 0 || t.len > COLLECTIVE_MAX_VALUES) {
    eval_error(e, x.at, E0503, "`tl.%s` takes 1 to %d tiles, not %zu", what, COLLECTIVE_MAX_VALUES,
               t.len);
    return false;
  }
  for (size_t i = 0; i < t.len; i++) {
    struct operand item = {t.at[i], x.at};
    ret->at[i] = (struct operand){to_runtime(e, item, what), x.at};
    if (value_is_poison(ret->at[i].v))
      return false;
  }
  // A second pass for tiles before a larger one.
  for (size_t i = 0; i < 2 * t.len; i++)
    if (!broadcast_pair(e, &ret->at[0], &ret->at[i % t.len], x.at))
      return false;
  return true;
}

static bool need_tiles(struct eval *e, struct call *c, struct tiles *ret) {
  const char *what = c->builtin->name;
  if (!need_values(e, c->args[0], what, ret))
    return false;
  if (ret->at[0].v.type.rank)
    return true;
  struct diag *d = eval_error(e, c->args[0].at, E0503, "`tl.%s` takes tiles, not %s", what,
                              value_describe(e, ret->at[0].v));
  diag_help(d, "of two values choose by `tl.maximum(a, b)` or `tl.minimum(a, b)`");
  return false;
}

// combine(a..., b...) on scalars of the tiles' element types.
static bool combine_function(struct eval *e, struct call *c, const struct tiles *t,
                             struct outlined *ret) {
  struct type *elements = arena_array(e->a, struct type, t->len);
  struct operand *args = arena_array(e->a, struct operand, 2 * t->len);
  for (size_t i = 0; i < t->len; i++) {
    elements[i] = type_elem(t->at[i].v.type);
    args[i].v = args[i + t->len].v = value_rt((MlirValue){NULL}, elements[i]);
    args[i].at = args[i + t->len].at = t->at[i].at;
  }
  struct outline o = {.callee = c->args[2],
                      .args = args,
                      .count = 2 * t->len,
                      .is_pure = true,
                      .results = elements,
                      .result_count = t->len,
                      .what = "the combine function",
                      .at = c->at};
  return emit_outlined(e, &o, ret);
}

static struct value give(struct eval *e, const struct tiles *t, const MlirValue *results,
                         struct type shape) {
  struct value *at = arena_array(e->a, struct value, t->len);
  for (size_t i = 0; i < t->len; i++)
    at[i] = value_rt(results[i], type_shaped(type_elem(t->at[i].v.type), shape));
  return t->is_tuple ? value_tuple(at, t->len) : at[0];
}

// Flattens to rank 1, for `axis=None`.
static void flatten(struct eval *e, struct tiles *t) {
  for (size_t i = 0; i < t->len; i++) {
    struct type flat = {.rank = 1, .shape = {(int32_t)type_numel(t->at[i].v.type)}};
    t->at[i].v = emit_reshape(e, t->at[i].v, flat, false);
  }
}

static struct value keep_dims(struct eval *e, struct value v, unsigned axis, unsigned count) {
  if (v.kind == VALUE_TUPLE) {
    struct value *at = arena_array(e->a, struct value, v.tuple.len);
    for (size_t i = 0; i < v.tuple.len; i++)
      at[i] = keep_dims(e, v.tuple.at[i], axis, count);
    return value_tuple(at, v.tuple.len);
  }
  for (unsigned i = 0; i < count; i++)
    v = emit_expand_dims(e, v, axis);
  return v;
}

struct value builtin_reduce(struct eval *e, struct call *c) {
  struct tiles t;
  struct outlined combine;
  unsigned axis = 0;
  bool keep = false;
  if (!need_tiles(e, c, &t) ||
      (arg_given(c, 3) && !need_const_bool(e, c->args[3], "`keep_dims`", &keep)))
    return VALUE_ERROR;
  bool all = c->args[1].v.kind == VALUE_NONE;
  unsigned rank = t.at[0].v.type.rank;
  if (!all && !need_axis(e, c->args[1], rank, &axis))
    return VALUE_ERROR;
  if (all)
    flatten(e, &t);
  if (!combine_function(e, c, &t, &combine))
    return VALUE_ERROR;
  struct type shape = t.at[0].v.type;
  shape.rank--;
  for (unsigned i = axis; i < shape.rank; i++)
    shape.shape[i] = shape.shape[i + 1];
  MlirValue values[COLLECTIVE_MAX_VALUES], results[COLLECTIVE_MAX_VALUES];
  for (size_t i = 0; i < t.len; i++)
    values[i] = t.at[i].v.rt;
  emit_at(e, c->at);
  build_reduce(&e->b, t.len, values, axis, combine.symbol, results);
  struct value r = give(e, &t, results, shape);
  return keep ? keep_dims(e, r, axis, all ? rank : 1) : r;
}

struct value builtin_scan(struct eval *e, struct call *c) {
  struct tiles t;
  struct outlined combine;
  unsigned axis;
  bool reverse = false;
  if (!need_tiles(e, c, &t) || !need_axis(e, c->args[1], t.at[0].v.type.rank, &axis) ||
      (arg_given(c, 3) && !need_const_bool(e, c->args[3], "`reverse`", &reverse)) ||
      !combine_function(e, c, &t, &combine))
    return VALUE_ERROR;
  MlirValue values[COLLECTIVE_MAX_VALUES], results[COLLECTIVE_MAX_VALUES];
  for (size_t i = 0; i < t.len; i++)
    values[i] = t.at[i].v.rt;
  emit_at(e, c->at);
  build_scan(&e->b, t.len, values, axis, combine.symbol, reverse, results);
  return give(e, &t, results, t.at[0].v.type);
}

// ---- map_elementwise ----

// The element types of the scalar function's results, `pack` scalars for each.
static bool map_results(struct eval *e, struct call *c, const struct outlined *fn, size_t pack,
                        struct type *elements, size_t *ret_count) {
  struct value one[1] = {fn->result};
  bool is_tuple = fn->result.kind == VALUE_TUPLE;
  struct tuple t = is_tuple ? fn->result.tuple : (struct tuple){one, 1};
  size_t n = t.len / pack;
  bool fits = t.len && t.len % pack == 0 && n <= COLLECTIVE_MAX_VALUES;
  for (size_t i = 0; fits && i < t.len; i++) {
    fits = t.at[i].kind == VALUE_RT && !t.at[i].type.rank &&
           type_eq(t.at[i].type, t.at[i - i % pack].type);
    if (fits && i % pack == 0)
      elements[i / pack] = t.at[i].type;
  }
  *ret_count = n;
  if (fits)
    return true;
  struct diag *d = eval_error(e, c->args[0].at, E0513, "the scalar function returns %s",
                              value_type_text(e, fn->result));
  diag_help(d, "it returns %zu scalar%s of one type for each of 1 to %d results", pack,
            pack == 1 ? "" : "s", COLLECTIVE_MAX_VALUES);
  return false;
}

// The tiles to map over, and how many elements of each one call of the function takes.
static bool map_arguments(struct eval *e, struct call *c, struct tiles *t, size_t *ret_pack) {
  int64_t pack = 1;
  struct value *given = arena_array(e->a, struct value, c->rest_count + 1);
  for (size_t i = 0; i < c->rest_count; i++)
    given[i] = c->rest[i].v;
  struct operand all = {value_tuple(given, c->rest_count), c->at};
  if ((arg_given(c, 2) && !need_const_int(e, c->args[2], "`pack`", &pack)) ||
      !need_values(e, all, c->builtin->name, t))
    return false;
  if (pack < 1 || pack > 16 || !is_pow2((uint64_t)pack) || pack > type_numel(t->at[0].v.type)) {
    eval_error(e, c->args[2].at, E0503,
               "`pack` is a power of two up to 16 and to the number of "
               "elements, not %lld",
               (long long)pack);
    return false;
  }
  *ret_pack = (size_t)pack;
  return true;
}

static bool outline_scalar(struct eval *e, struct call *c, const struct tiles *t, size_t pack,
                           struct outlined *ret) {
  struct operand *args = arena_array(e->a, struct operand, t->len * pack);
  for (size_t i = 0; i < t->len * pack; i++) {
    const struct operand *from = &t->at[i / pack];
    args[i] = (struct operand){value_rt((MlirValue){NULL}, type_elem(from->v.type)), from->at};
  }
  struct outline o = {.callee = c->args[0],
                      .args = args,
                      .count = t->len * pack,
                      .is_pure = true,
                      .what = "the scalar function",
                      .at = c->at};
  return emit_outlined(e, &o, ret);
}

struct value builtin_map_elementwise(struct eval *e, struct call *c) {
  struct tiles t;
  size_t pack, n;
  struct outlined fn;
  struct type elements[COLLECTIVE_MAX_VALUES];
  if (!map_arguments(e, c, &t, &pack) || !outline_scalar(e, c, &t, pack, &fn) ||
      !map_results(e, c, &fn, pack, elements, &n))
    return VALUE_ERROR;
  MlirValue values[COLLECTIVE_MAX_VALUES], results[COLLECTIVE_MAX_VALUES];
  MlirType types[COLLECTIVE_MAX_VALUES];
  for (size_t i = 0; i < t.len; i++)
    values[i] = t.at[i].v.rt;
  for (size_t i = 0; i < n; i++)
    types[i] = type_to_mlir(e->c, elements[i]);
  emit_at(e, c->at);
  build_map(&e->b, t.len, values, fn.symbol, (unsigned)pack, n, types, results);
  struct value *r = arena_array(e->a, struct value, n);
  for (size_t i = 0; i < n; i++)
    r[i] = value_rt(results[i], type_shaped(elements[i], t.at[0].v.type));
  return fn.result.kind == VALUE_TUPLE ? value_tuple(r, n) : r[0];
}
