// SPDX-License-Identifier: Apache-2.0
// gather, histogram, join, split, item.
#include "lang/builtins/builtins.h"

#include <assert.h>

struct value builtin_join(struct eval *e, struct call *c) {
  struct operand x = {arg_runtime(e, c, 0), c->args[0].at};
  struct operand y = {arg_runtime(e, c, 1), c->args[1].at};
  if (!promote_pair(e, &x, &y, PROMOTE_POINTERS | PROMOTE_STORAGE, "join", c->at))
    return VALUE_ERROR;
  struct type t = x.v.type;
  if (!type_elem_eq(t, y.v.type)) {
    diag_help(eval_error(e, c->at, E0203, "`join` does not take %s and %s", type_text(e->a, t),
                         type_text(e->a, y.v.type)),
              "convert one: `.to(...)`");
    return VALUE_ERROR;
  }
  if (t.rank == TYPE_MAX_RANK) {
    eval_error(e, c->at, E0207, "the result would have more than %d dimensions", TYPE_MAX_RANK);
    return VALUE_ERROR;
  }
  t.shape[t.rank++] = 2;
  return shape_check(e, t, c->at) ? value_rt(build_join(&e->b, x.v.rt, y.v.rt), t) : VALUE_ERROR;
}

struct value builtin_split(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  if (value_is_poison(x))
    return x;
  struct type t = x.type;
  if (!t.rank || t.shape[t.rank - 1] != 2) {
    struct diag *d = eval_error(e, c->at, E0223, "cannot split %s", type_text(e->a, t));
    diag_help(d, "the last dimension must be 2: `x.reshape(..., 2)`, or `tl.trans` first");
    return VALUE_ERROR;
  }
  t.shape[--t.rank] = 0;
  MlirValue halves[2];
  build_split(&e->b, x.rt, halves);
  struct value *at = arena_array(e->a, struct value, 2);
  at[0] = value_rt(halves[0], t), at[1] = value_rt(halves[1], t);
  return value_tuple(at, 2);
}

struct value builtin_item(struct eval *e, struct call *c) {
  if (value_is_number(c->args[0].v))
    return c->args[0].v;
  struct value x = arg_runtime(e, c, 0);
  if (value_is_poison(x) || !x.type.rank)
    return x;
  if (type_numel(x.type) != 1) {
    struct diag *d = eval_error(e, c->at, E0503, "`item` of %s, which has %lld elements",
                                type_text(e->a, x.type), (long long)type_numel(x.type));
    diag_help(d, "reduce it to one first: `tl.sum(x)`, `tl.max(x)`");
    return VALUE_ERROR;
  }
  return value_rt(build_unsplat(&e->b, x.rt), type_elem(x.type));
}

struct value emit_take(struct eval *e, struct value x, unsigned axis, struct value index) {
  struct type t = x.type;
  assert(axis < t.rank && index.type.rank == 1);
  t.shape[axis] = index.type.shape[0];
  struct type wide = type_shaped(index.type, t);
  for (unsigned i = 0; i < t.rank; i++)
    if (i != axis)
      index = emit_expand_dims(e, index, i);
  struct operand all = {index, SPAN_NONE};
  index = broadcast_to(e, all, wide, "", SPAN_NONE);
  return value_rt(build_gather(&e->b, x.rt, index.rt, axis), t);
}

struct value builtin_gather(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0), index = arg_runtime(e, c, 1);
  unsigned axis;
  if (value_is_poison(x) || value_is_poison(index) || !need_axis(e, c->args[2], x.type.rank, &axis))
    return VALUE_ERROR;
  if (!type_is_int(index.type)) {
    eval_error(e, c->args[1].at, E0503, "the index of `gather` is %s, not integers",
               type_text(e->a, index.type));
    return VALUE_ERROR;
  }
  bool fits = x.type.rank == index.type.rank;
  for (unsigned i = 0; i < x.type.rank && fits; i++)
    fits = i == axis || x.type.shape[i] == index.type.shape[i];
  if (!fits) {
    struct diag *d = eval_error(e, c->at, E0214, "`gather` of %s by %s", type_text(e->a, x.type),
                                type_text(e->a, index.type));
    diag_help(d, "both have the same dimensions, but for the one of axis %u", axis);
    return VALUE_ERROR;
  }
  if (dtype_bits(index.type.dtype) < 32)
    index = emit_cast(e, index, type_scalar(DTYPE_I32), NULL);
  return value_rt(build_gather(&e->b, x.rt, index.rt, axis),
                  type_shaped(type_elem(x.type), index.type));
}

struct value builtin_histogram(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  MlirValue mask;
  int64_t bins;
  if (value_is_poison(x) || !need_const_int(e, c->args[1], "the number of bins", &bins))
    return VALUE_ERROR;
  if (!type_is_int(x.type) || x.type.rank != 1) {
    struct diag *d =
        eval_error(e, c->args[0].at, E0503, "`histogram` takes integers in one dimension, not %s",
                   type_text(e->a, x.type));
    diag_help(d, "convert by `.to(tl.int32)`, flatten by `.ravel()`");
    return VALUE_ERROR;
  }
  struct type t = {.dtype = DTYPE_I32, .rank = 1, .shape = {(int32_t)bins}};
  if (bins < 1 || bins > TYPE_MAX_NUMEL) {
    eval_error(e, c->args[1].at, E0503, "a histogram of %lld bins", (long long)bins);
    return VALUE_ERROR;
  }
  if (!shape_check(e, t, c->args[1].at) || !need_mask(e, c->args[2], x.type, SPAN_NONE, &mask))
    return VALUE_ERROR;
  if (dtype_bits(x.type.dtype) < 32)
    x = emit_cast(e, x, type_scalar(DTYPE_I32), NULL);
  return value_rt(build_histogram(&e->b, x.rt, mask, bins), t);
}
