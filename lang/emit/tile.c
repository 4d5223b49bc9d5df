// SPDX-License-Identifier: Apache-2.0
// Subscripts of tiles: elements along an axis, new axes.
#include "lang/builtins/builtins.h"
#include "lang/emit/control.h"

#include <ctype.h>

static bool is_absent(const struct expr *x) { return !x || x->kind == EXPR_NONE; }

static bool is_full_slice(const struct expr *x) {
  return x->kind == EXPR_SLICE && is_absent(x->slice.lo) && is_absent(x->slice.hi) &&
         is_absent(x->slice.step);
}

static struct value bad_subscript(struct eval *e, const struct expr *item, struct value v,
                                  struct type t) {
  if (value_is_poison(v))
    return v;
  struct diag *d = eval_error(e, item->span, E0212, "%s takes no %s as a subscript",
                              type_text(e->a, t), value_describe(e, v));
  diag_help(d, "integers, `a:b`, `:` and `None` select; a condition chooses by `tl.where`");
  return VALUE_ERROR;
}

// `x[a:b:step]`: the elements of a slice.
static struct value slice_tile(struct eval *e, const struct expr *item, struct value v,
                               unsigned axis) {
  int64_t len = v.type.shape[axis], lo, hi, step;
  if (!eval_slice_step(e, item, &step))
    return VALUE_ERROR;
  if (step < 1 || !eval_slice_bound(e, item->slice.lo, len, 0, &lo) ||
      !eval_slice_bound(e, item->slice.hi, len, len, &hi)) {
    if (step < 1)
      diag_help(eval_error(e, item->span, E0212, "slices take a positive step"),
                "`tl.flip(x)` reverses a tile");
    return VALUE_ERROR;
  }
  int64_t count = hi > lo ? (hi - lo - 1) / step + 1 : 0;
  struct type t = {.dtype = DTYPE_I32, .rank = 1, .shape = {(int32_t)count}};
  if (count == 0) {
    diag_help(
        eval_error(e, item->span, E0212, "the slice of %s is empty", type_text(e->a, v.type)),
        "the end of a slice is behind its start, and is not part of it: `x[4:8]` has 4 elements");
    return VALUE_ERROR;
  }
  if (!shape_check(e, t, item->span))
    return VALUE_ERROR;
  if (count == len)
    return v;
  emit_at(e, item->span);
  struct operand index = {value_rt(build_make_range(&e->b, 0, (int32_t)count), t), item->span};
  index.v =
      emit_binary(e, OP_MUL, index, (struct operand){value_int(step), item->span}, item->span);
  index.v = emit_binary(e, OP_ADD, index, (struct operand){value_int(lo), item->span}, item->span);
  return value_is_poison(index.v) ? index.v : emit_take(e, v, axis, index.v);
}

// `x[i]`: removes the axis.
static struct value index_tile(struct eval *e, const struct expr *item, struct value i,
                               struct value v, unsigned axis) {
  int64_t len = v.type.shape[axis], n;
  bool is_scalar = i.kind == VALUE_RT && type_is_int(i.type) && !i.type.rank;
  if (!is_scalar && i.kind != VALUE_INT)
    return bad_subscript(e, item, i, v.type);
  if (!is_scalar) {
    if (!need_const_int(e, (struct operand){i, item->span}, "a subscript", &n))
      return VALUE_ERROR;
    if (n < -len || n >= len) {
      diag_help(eval_error(e, item->span, E0212, "index %lld of an axis of %lld elements",
                           (long long)n, (long long)len),
                "indices count from 0, and from -1 at the end");
      return VALUE_ERROR;
    }
    i = value_int(n < 0 ? n + len : n);
  }
  emit_at(e, item->span);
  struct type one = {.dtype = DTYPE_I32, .rank = 1, .shape = {1}};
  i = emit_convert(e, (struct operand){i, item->span}, type_scalar(DTYPE_I32));
  if (value_is_poison(i))
    return i;
  if (len > 1)
    v = emit_take(e, v, axis, emit_splat(e, i, one));
  if (v.type.rank == 1)
    return value_rt(build_unsplat(&e->b, v.rt), type_elem(v.type));
  struct type t = v.type;
  t.rank--;
  for (unsigned k = axis; k < t.rank; k++)
    t.shape[k] = t.shape[k + 1];
  return emit_reshape(e, v, t, false);
}

struct subscript {
  struct value *values; // of the items; VALUE_SLICE for slices and the ellipsis
  unsigned used, added; // axes of the tile; new axes
};

// `s[None, :]` of a scalar: as in Triton, a `:` behind all `None` means nothing.
static bool is_trailing(const struct expr_list *items, size_t i) {
  for (; i < items->len; i++)
    if (items->at[i]->kind != EXPR_SLICE || !is_full_slice(items->at[i]))
      return false;
  return true;
}

static bool eval_subscript_items(struct eval *e, const struct expr_list *items, unsigned rank,
                                 struct subscript *s) {
  s->values = arena_array(e->a, struct value, items->len);
  for (size_t i = 0; i < items->len; i++) {
    enum expr_kind kind = items->at[i]->kind;
    bool is_value = kind != EXPR_SLICE && kind != EXPR_ELLIPSIS;
    s->values[i] = is_value ? eval_expr(e, items->at[i]) : value_of_kind(VALUE_SLICE);
    if (value_is_poison(s->values[i]))
      return false;
    bool is_nothing = rank == 0 && s->added && is_trailing(items, i);
    s->added += s->values[i].kind == VALUE_NONE;
    s->used += s->values[i].kind != VALUE_NONE && kind != EXPR_ELLIPSIS && !is_nothing;
  }
  return true;
}

// Whether the text before is `load(`, `store(` or `atomic_...(`: x is the address of an access.
static bool is_address(struct span x) {
  struct str text = {x.source->text.ptr, x.begin};
  text = str_trim(text);
  if (!text.len || text.ptr[text.len - 1] != '(')
    return false;
  size_t end = text.len - 1, begin = end;
  while (begin && (isalnum((unsigned char)text.ptr[begin - 1]) || text.ptr[begin - 1] == '_'))
    begin--;
  struct str name = {text.ptr + begin, end - begin};
  return str_is(name, "load") || str_is(name, "store") || str_starts(name, "atomic_");
}

// `p[i]`, as in C: what is written instead.
static void suggest_load(struct eval *e, struct diag *d, const struct expr *x) {
  struct span of = x->subscript.object->span,
              at = x->subscript.items.len == 1 ? x->subscript.items.at[0]->span : SPAN_NONE;
  if (at.source != x->span.source || of.source != x->span.source || !at.source) {
    diag_help(d, "load what it points to: `tl.load(x + i)`");
    return;
  }
  struct str pointer = {at.source->text.ptr + of.begin, of.end - of.begin},
             offset = {at.source->text.ptr + at.begin, at.end - at.begin};
  const char *address = str_is(offset, "0")
                            ? arena_strndup(e->a, pointer.ptr, pointer.len)
                            : arena_printf(e->a, "%.*s + %.*s", STR_ARG(pointer), STR_ARG(offset));
  diag_fixit(d, x->span,
             is_address(x->span) ? address : arena_printf(e->a, "tl.load(%s)", address));
}

// Reports too many subscripts and too many dimensions.
static bool subscript_fits(struct eval *e, const struct expr *x, struct value v, unsigned used,
                           unsigned added) {
  if (used > v.type.rank) {
    struct diag *d =
        eval_error(e, x->span, E0212, "unsupported tensor index: %u subscript%s for %s, of rank %u",
                   used, used == 1 ? "" : "s", type_text(e->a, v.type), v.type.rank);
    if (v.type.ptr && !v.type.rank && !added)
      suggest_load(e, d, x);
    else if (!v.type.rank)
      diag_help(d,
                "a scalar has no axes, only new ones: `s[None, None, :]`, with `:` last, has the "
                "shape [1, 1]");
    else
      diag_help(d, "each index is one axis of the tile; `None` adds an axis");
    return false;
  }
  if (v.type.rank + added > TYPE_MAX_RANK) {
    diag_help(eval_error(e, x->span, E0207,
                         "the result would have %u dimensions; tiles have at most %d",
                         v.type.rank + added, TYPE_MAX_RANK),
              "leave out a `None`, or join dimensions by `tl.reshape` first");
    return false;
  }
  return true;
}

struct value emit_tile_subscript(struct eval *e, const struct expr *x, struct value v) {
  const struct expr_list *items = &x->subscript.items;
  struct subscript s = {0};
  if (!eval_subscript_items(e, items, v.type.rank, &s) || !subscript_fits(e, x, v, s.used, s.added))
    return VALUE_ERROR;
  emit_at(e, x->span);
  unsigned hidden = v.type.rank - s.used; // axes covered by an ellipsis
  for (size_t i = 0, axis = 0; i < items->len && !value_is_poison(v); i++) {
    const struct expr *item = items->at[i];
    if (s.values[i].kind == VALUE_NONE)
      v = emit_expand_dims(e, v, (unsigned)axis++);
    else if (item->kind == EXPR_ELLIPSIS)
      axis += hidden, hidden = 0;
    else if (item->kind != EXPR_SLICE)
      v = index_tile(e, item, s.values[i], v, (unsigned)axis);
    else if (!is_full_slice(item))
      v = slice_tile(e, item, v, (unsigned)axis++);
    else
      axis++;
  }
  return v;
}
