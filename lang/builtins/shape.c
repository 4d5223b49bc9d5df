// SPDX-License-Identifier: Apache-2.0
// Shapes of tiles: new axes, broadcasts, reshapes, permutations.
#include "lang/builtins/builtins.h"

#include <assert.h>

// The numbers of `name(x, 1, 2)` or `name(x, (1, 2))` as one operand.
static struct operand rest_as_tuple(struct eval *e, struct call *c) {
  if (c->rest_count == 1 && c->rest[0].v.kind == VALUE_TUPLE)
    return c->rest[0];
  struct value *at = arena_array(e->a, struct value, c->rest_count ? c->rest_count : 1);
  struct span span = c->at;
  for (size_t i = 0; i < c->rest_count; i++) {
    at[i] = c->rest[i].v;
    span = i ? span_join(span, c->rest[i].at) : c->rest[i].at;
  }
  return (struct operand){value_tuple(at, c->rest_count), span};
}

// Reports at the argument `axis=1` of `tl.sum(x, axis=1)`, whose code is the library's.
static struct diag *invalid_axis(struct eval *e, struct operand x, int64_t axis, unsigned rank) {
  struct frame *here = e->frame;
  struct map_entry m;
  bool is_argument = here->is_std && here->caller && !here->caller->is_std;
  for (size_t i = 0; is_argument && map_next(&here->variables, &i, &m);) {
    const struct variable *v = m.value;
    if (strcmp(v->name, "axis") == 0 && v->span.source == here->call_span.source) {
      x.at = v->span;
      e->frame = here->caller;
    }
  }
  struct diag *d = eval_error(e, x.at, E0509, "invalid axis %lld of a tile with %u dimension%s",
                              (long long)axis, rank, rank == 1 ? "" : "s");
  e->frame = here;
  return d;
}

bool need_axis(struct eval *e, struct operand x, unsigned rank, unsigned *ret) {
  int64_t axis;
  if (!need_const_int(e, x, "the axis", &axis))
    return false;
  if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
    struct diag *d = invalid_axis(e, x, axis, rank);
    if (rank == 1)
      diag_help(d, "a vector has one axis: `axis=0`");
    else
      diag_help(d, "axes count from 0, and from -1 at the end");
    return false;
  }
  *ret = (unsigned)(axis < 0 ? axis + rank : axis);
  return true;
}

struct value builtin_broadcast(struct eval *e, struct call *c) {
  struct operand a = {arg_runtime(e, c, 0), c->args[0].at};
  struct operand b = {arg_runtime(e, c, 1), c->args[1].at};
  if (value_is_poison(a.v) || value_is_poison(b.v) || !broadcast_pair(e, &a, &b, c->at))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, 2);
  at[0] = a.v, at[1] = b.v;
  return value_tuple(at, 2);
}

struct value builtin_broadcast_to(struct eval *e, struct call *c) {
  struct operand x = {arg_runtime(e, c, 0), c->args[0].at};
  struct type t;
  if (value_is_poison(x.v) || !shape_from_value(e, rest_as_tuple(e, c), &t))
    return VALUE_ERROR;
  return broadcast_to(e, x, t, "", SPAN_NONE);
}

// Marks the axes that a result of `rank` dimensions gets.
static bool need_new_axes(struct eval *e, struct tuple axes, struct span at, unsigned rank,
                          bool *insert) {
  bool repeats = false;
  struct strbuf normalized = {.arena = e->a};
  for (size_t i = 0; i < axes.len; i++) {
    unsigned axis;
    if (!need_axis(e, (struct operand){axes.at[i], at}, rank, &axis))
      return false;
    repeats |= insert[axis];
    insert[axis] = true;
    strbuf_printf(&normalized, "%s%u", i ? ", " : "", axis);
  }
  if (repeats)
    diag_help(eval_error(e, at, E0509, "duplicate axes, normalized axes = [%s]",
                         strbuf_cstr(&normalized)),
              "name each new axis once");
  return !repeats;
}

struct value builtin_expand_dims(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  struct operand axes = c->args[1];
  struct value one[1] = {axes.v};
  struct tuple t = axes.v.kind == VALUE_TUPLE ? axes.v.tuple : (struct tuple){one, 1};
  if (value_is_poison(x))
    return x;
  unsigned rank = x.type.rank + (unsigned)t.len;
  if (t.len > TYPE_MAX_RANK || rank > TYPE_MAX_RANK) {
    eval_error(e, c->at, E0207, "the result would have more than %d dimensions", TYPE_MAX_RANK);
    return VALUE_ERROR;
  }
  bool insert[TYPE_MAX_RANK] = {false};
  if (!need_new_axes(e, t, axes.at, rank, insert))
    return VALUE_ERROR;
  for (unsigned axis = 0; axis < rank; axis++)
    if (insert[axis])
      x = emit_expand_dims(e, x, axis);
  return x;
}

struct value emit_reshape(struct eval *e, struct value x, struct type t, bool can_reorder) {
  t = type_shaped(type_elem(x.type), t);
  assert(type_numel(x.type) == type_numel(t));
  if (type_shape_eq(x.type, t))
    return x;
  if (!x.type.rank)
    return emit_splat(e, x, t);
  int64_t shape[TYPE_MAX_RANK];
  for (unsigned i = 0; i < t.rank; i++)
    shape[i] = t.shape[i];
  return value_rt(build_reshape(&e->b, x.rt, t.rank, shape, can_reorder), t);
}

struct value builtin_squeeze(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  unsigned axis;
  if (value_is_poison(x) || !need_axis(e, c->args[1], x.type.rank, &axis))
    return VALUE_ERROR;
  struct type t = x.type;
  if (t.shape[axis] != 1 || t.rank == 1) {
    diag_help(eval_error(e, c->args[1].at, E0223, "cannot squeeze axis %u of %s", axis,
                         type_text(e->a, x.type)),
              "only axes of one element can be removed: sum over it, or `tl.reshape`");
    return VALUE_ERROR;
  }
  t.rank--;
  for (unsigned i = axis; i < t.rank; i++)
    t.shape[i] = t.shape[i + 1];
  return emit_reshape(e, x, t, false);
}

struct value builtin_reshape(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  struct type t;
  bool can_reorder = c->builtin->tag == 1; // view may reorder
  if (value_is_poison(x) || !shape_from_value(e, rest_as_tuple(e, c), &t) ||
      (c->count > 2 && arg_given(c, 2) &&
       !need_const_bool(e, c->args[2], "`can_reorder`", &can_reorder)))
    return VALUE_ERROR;
  t = type_shaped(type_elem(x.type), t);
  if (type_numel(t) != type_numel(x.type) || !t.rank) {
    struct diag *d = eval_error(e, c->at, E0223, "cannot reshape %s to %s", type_text(e->a, x.type),
                                type_text(e->a, t));
    diag_primary_label(d, "%lld elements against %lld", (long long)type_numel(x.type),
                       (long long)type_numel(t));
    diag_help(d, "a reshape keeps the number of elements; `tl.broadcast_to` repeats them");
    return VALUE_ERROR;
  }
  return emit_reshape(e, x, t, can_reorder);
}

struct value builtin_ravel(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  bool can_reorder = false;
  if (value_is_poison(x) ||
      (arg_given(c, 1) && !need_const_bool(e, c->args[1], "`can_reorder`", &can_reorder)))
    return VALUE_ERROR;
  struct type t = {.rank = 1, .shape = {(int32_t)type_numel(x.type)}};
  return emit_reshape(e, x, t, can_reorder);
}

static bool swap_last(struct eval *e, struct call *c, struct type t, int32_t *order) {
  if (t.rank < 2) {
    struct diag *d = eval_error(e, c->at, E0224, "cannot transpose %s", type_text(e->a, t));
    diag_help(d, "a transposition needs two axes: `x[None, :]` or `x[:, None]`");
    return false;
  }
  for (int32_t i = 0; i < t.rank; i++)
    order[i] = i;
  order[t.rank - 1] = t.rank - 2, order[t.rank - 2] = t.rank - 1;
  return true;
}

static bool read_permutation(struct eval *e, struct operand dims, struct type t, int32_t *order) {
  bool used[TYPE_MAX_RANK] = {false};
  if (dims.v.tuple.len != t.rank) {
    diag_help(eval_error(e, dims.at, E0224, "a permutation of %zu axes for %s", dims.v.tuple.len,
                         type_text(e->a, t)),
              "name each axis of the tile once, as in `tl.permute(x, (1, 0))`");
    return false;
  }
  for (unsigned i = 0; i < t.rank; i++) {
    unsigned axis;
    if (!need_axis(e, (struct operand){dims.v.tuple.at[i], dims.at}, t.rank, &axis))
      return false;
    if (used[axis]) {
      diag_help(eval_error(e, dims.at, E0224, "axis %u stands twice in the permutation", axis),
                "name each axis of the tile once, as in `tl.permute(x, (1, 0))`");
      return false;
    }
    used[axis] = true;
    order[i] = (int32_t)axis;
  }
  return true;
}

struct value builtin_trans(struct eval *e, struct call *c) {
  struct value x = arg_runtime(e, c, 0);
  if (value_is_poison(x))
    return x;
  unsigned rank = x.type.rank;
  int32_t order[TYPE_MAX_RANK];
  struct operand dims = rest_as_tuple(e, c);
  bool is_permute = c->builtin->tag == 1;
  if (!(is_permute || c->rest_count ? read_permutation(e, dims, x.type, order)
                                    : swap_last(e, c, x.type, order)))
    return VALUE_ERROR;
  struct type t = x.type;
  for (unsigned i = 0; i < rank; i++)
    t.shape[i] = x.type.shape[order[i]];
  return value_rt(build_trans(&e->b, x.rt, rank, order), t);
}
