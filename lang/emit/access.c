// SPDX-License-Identifier: Apache-2.0
// Subscripts and attributes: new axes of tiles, elements of tuples, what types and tiles know of
// themselves, methods.
#include "lang/builtins/builtins.h"
#include "lang/host/host.h"
#include "lang/host/import.h"

// ---- subscripts ----

static bool is_full_slice(const struct expr *x) {
  return x->kind == EXPR_SLICE && !x->slice.lo && !x->slice.hi && !x->slice.step;
}

static struct value bad_subscript(struct emitter *e, const struct expr *item, struct value v,
                                  struct type t) {
  if (value_is_poison(v))
    return v;
  struct diag *d = emit_error(e, item->span, E0212, "%s takes no %s as a subscript",
                              type_text(e->a, t), value_describe(e, v));
  diag_help(d, "integers, `a:b`, `:` and `None` select; a condition chooses by `tl.where`");
  return VALUE_ERROR;
}

static bool slice_bound(struct emitter *e, const struct expr *x, int64_t len, int64_t absent,
                        int64_t *ret) {
  *ret = absent;
  if (!x || x->kind == EXPR_NONE)
    return true;
  if (!need_const_int(e, (struct operand){emit_expr(e, x), x->span}, "a bound of a slice", ret))
    return false;
  if (*ret < 0)
    *ret += len;
  *ret = *ret < 0 ? 0 : *ret > len ? len : *ret;
  return true;
}

// `x[a:b:step]`: the elements named by a range.
static struct value slice_tile(struct emitter *e, const struct expr *item, struct value v,
                               unsigned axis) {
  int64_t len = v.type.shape[axis], lo, hi, step = 1;
  const struct expr *s = item->slice.step;
  if (s &&
      !need_const_int(e, (struct operand){emit_expr(e, s), s->span}, "the step of a slice", &step))
    return VALUE_ERROR;
  if (step < 1 || !slice_bound(e, item->slice.lo, len, 0, &lo) ||
      !slice_bound(e, item->slice.hi, len, len, &hi)) {
    if (step < 1)
      emit_error(e, item->span, E0212, "slices take a positive step");
    return VALUE_ERROR;
  }
  int64_t count = hi > lo ? (hi - lo - 1) / step + 1 : 0;
  struct type t = {.dtype = DTYPE_I32, .rank = 1, .shape = {(int32_t)count}};
  if (count == 0) {
    emit_error(e, item->span, E0212, "the slice of %s is empty", type_text(e->a, v.type));
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

// `x[i]`: the axis goes.
static struct value index_tile(struct emitter *e, const struct expr *item, struct value i,
                               struct value v, unsigned axis) {
  int64_t len = v.type.shape[axis], n;
  bool is_scalar = i.kind == VALUE_RT && type_is_int(i.type) && !i.type.rank;
  if (!is_scalar && i.kind != VALUE_INT)
    return bad_subscript(e, item, i, v.type);
  if (!is_scalar) {
    if (!need_const_int(e, (struct operand){i, item->span}, "a subscript", &n))
      return VALUE_ERROR;
    if (n < -len || n >= len) {
      emit_error(e, item->span, E0212, "index %lld of an axis of %lld elements", (long long)n,
                 (long long)len);
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

static struct value subscript_tile(struct emitter *e, const struct expr *x, struct value v) {
  const struct expr_list *items = &x->subscript.items;
  struct value *values = arena_array(e->a, struct value, items->len);
  unsigned used = 0, added = 0;
  for (size_t i = 0; i < items->len; i++) {
    enum expr_kind kind = items->at[i]->kind;
    bool is_value = kind != EXPR_SLICE && kind != EXPR_ELLIPSIS;
    values[i] = is_value ? emit_expr(e, items->at[i]) : value_of_kind(VALUE_SLICE);
    if (value_is_poison(values[i]))
      return VALUE_ERROR;
    added += values[i].kind == VALUE_NONE;
    used += values[i].kind != VALUE_NONE && kind != EXPR_ELLIPSIS;
  }
  if (used > v.type.rank) {
    struct diag *d = emit_error(e, x->span, E0212, "%u subscript%s for %s, of rank %u", used,
                                used == 1 ? "" : "s", type_text(e->a, v.type), v.type.rank);
    if (v.type.ptr && !v.type.rank)
      diag_help(d, "load what it points to: `tl.load(x + i)`");
    else
      diag_help(d, "each stands for one axis of the tile; `None` for a new one");
    return VALUE_ERROR;
  }
  if (v.type.rank + added > TYPE_MAX_RANK) {
    emit_error(e, x->span, E0207, "the result would have %u dimensions; tiles have at most %d",
               v.type.rank + added, TYPE_MAX_RANK);
    return VALUE_ERROR;
  }
  emit_at(e, x->span);
  unsigned hidden = v.type.rank - used; // axes that an ellipsis stands for
  for (size_t i = 0, axis = 0; i < items->len && !value_is_poison(v); i++) {
    const struct expr *item = items->at[i];
    if (values[i].kind == VALUE_NONE)
      v = emit_expand_dims(e, v, (unsigned)axis++);
    else if (item->kind == EXPR_ELLIPSIS)
      axis += hidden, hidden = 0;
    else if (item->kind != EXPR_SLICE)
      v = index_tile(e, item, values[i], v, (unsigned)axis);
    else if (!is_full_slice(item))
      v = slice_tile(e, item, v, (unsigned)axis++);
    else
      axis++;
  }
  return v;
}

static struct value subscript_tuple(struct emitter *e, const struct expr *x, struct tuple t) {
  const struct expr *item = x->subscript.items.at[0];
  int64_t len = (int64_t)t.len, i, lo, hi, step = 1;
  if (x->subscript.items.len != 1) {
    emit_error(e, x->span, E0212, "a tuple takes one subscript");
    return VALUE_ERROR;
  }
  if (item->kind != EXPR_SLICE) {
    if (!need_const_int(e, (struct operand){emit_expr(e, item), item->span}, "the index of a tuple",
                        &i))
      return VALUE_ERROR;
    if (i < -len || i >= len) {
      emit_error(e, item->span, E0212, "index %lld of a tuple of %lld", (long long)i,
                 (long long)len);
      return VALUE_ERROR;
    }
    return t.at[i < 0 ? i + len : i];
  }
  if (item->slice.step &&
      !need_const_int(e, (struct operand){emit_expr(e, item->slice.step), item->slice.step->span},
                      "the step of a slice", &step))
    return VALUE_ERROR;
  if (step < 1) {
    emit_error(e, item->span, E0212, "slices of tuples take a positive step");
    return VALUE_ERROR;
  }
  if (!slice_bound(e, item->slice.lo, len, 0, &lo) ||
      !slice_bound(e, item->slice.hi, len, len, &hi))
    return VALUE_ERROR;
  size_t n = 0;
  struct value *r = arena_array(e->a, struct value, t.len ? t.len : 1);
  for (i = lo; i < hi; i += step) {
    r[n++] = t.at[i];
    if (step > hi - i)
      break;
  }
  return value_tuple(r, n);
}

// The last row of the key, as in Python.
static struct value subscript_dict(struct emitter *e, const struct expr *x, struct tuple t) {
  const struct expr_list *items = &x->subscript.items;
  struct value key = emit_expr(e, items->at[0]);
  if (items->len > 1) {
    struct value *at = arena_array(e->a, struct value, items->len);
    at[0] = key;
    for (size_t i = 1; i < items->len; i++)
      at[i] = emit_expr(e, items->at[i]);
    key = value_tuple(at, items->len);
  }
  for (size_t i = t.len; i-- > 0;)
    if (const_equal(t.at[i].tuple.at[0], key))
      return t.at[i].tuple.at[1];
  if (!value_is_poison(key))
    emit_error(e, x->span, E0212, "the dictionary has no %s", value_describe(e, key));
  return VALUE_ERROR;
}

struct value emit_subscript(struct emitter *e, const struct expr *x) {
  struct value v = emit_expr(e, x->subscript.object);
  if (!need_known(e, (struct operand){v, x->subscript.object->span}))
    return VALUE_ERROR;
  if (e->host && v.kind == VALUE_STR)
    v = value_tuple(host_letters(e, v.s), v.s.len);
  switch ((int)v.kind) {
  case VALUE_POISON: return v;
  case VALUE_RT: return subscript_tile(e, x, v);
  case VALUE_TUPLE:
    if (value_is_record(v, RECORD_BLOCK_POINTER))
      break;
    return value_is_record(v, RECORD_DICT) ? subscript_dict(e, x, v.tuple)
                                           : subscript_tuple(e, x, v.tuple);
  case VALUE_INT:
  case VALUE_FLOAT:
  case VALUE_BOOL:
    if (e->host)
      break;
    v = to_runtime(e, (struct operand){v, x->subscript.object->span}, "the subscripted value");
    return value_is_poison(v) ? v : subscript_tile(e, x, v);
  }
  struct diag *d = emit_error(e, x->span, E0212, "%s has no elements", value_describe(e, v));
  if (v.kind == VALUE_FUNC)
    diag_help(d, "kernels are launched by the host; inside a kernel call the function directly");
  return VALUE_ERROR;
}

// ---- attributes ----

static struct value bind_method(struct emitter *e, const struct builtin *b, struct value v) {
  struct value *receiver = arena_new(e->a, struct value);
  *receiver = v;
  return (struct value){.kind = VALUE_BOUND, .bound = {.builtin = b, .receiver = receiver}};
}

static bool tile_attribute(struct emitter *e, struct value v, const char *name, struct value *ret) {
  if (strcmp(name, "dtype") == 0)
    *ret = value_type(type_elem(v.type));
  else if (strcmp(name, "type") == 0)
    *ret = value_type(v.type);
  else if (strcmp(name, "shape") == 0)
    *ret = value_of_shape(e, v.type);
  else if (strcmp(name, "numel") == 0)
    *ret = value_int(type_numel(v.type));
  else if (strcmp(name, "ndim") == 0)
    *ret = value_int(v.type.rank);
  else
    return false;
  return true;
}

static bool type_attribute(struct emitter *e, struct type t, const char *name, struct value *ret) {
  unsigned bits = t.ptr ? 64 : dtype_bits(t.dtype);
  if (strcmp(name, "element_ty") == 0)
    *ret = value_type(t.rank ? type_elem(t) : type_pointee(t));
  else if (strcmp(name, "scalar") == 0)
    *ret = value_type(type_elem(t));
  else if (strcmp(name, "shape") == 0)
    *ret = value_of_shape(e, t);
  else if (strcmp(name, "numel") == 0)
    *ret = value_int(type_numel(t));
  else if (strcmp(name, "primitive_bitwidth") == 0 || strcmp(name, "int_bitwidth") == 0)
    *ret = value_int(bits);
  else if (strcmp(name, "itemsize") == 0)
    *ret = value_int(bits < 8 ? 1 : bits / 8);
  else if (strcmp(name, "name") == 0)
    *ret = value_str(str_from(t.ptr ? type_text(e->a, t) : dtype_language_name(t.dtype)));
  else
    return false;
  return true;
}

static struct value unknown_attribute(struct emitter *e, struct operand x, const char *name,
                                      struct span at) {
  struct diag *d =
      emit_error(e, at, E0211, "%s has no attribute `%s`", value_describe(e, x.v), name);
  const char *near = x.v.kind == VALUE_RT ? builtin_nearest(e, name, true) : NULL;
  if (near) {
    diag_help(d, "did you mean `%s`?", near);
    diag_fixit(d, at, near);
  }
  return VALUE_ERROR;
}

struct value emit_attribute(struct emitter *e, struct operand x, const char *name, struct span at) {
  struct value v = x.v, r;
  if (e->host && host_attribute(e, x, name, &r))
    return r;
  const struct builtin *method = builtin_find(e, name);
  switch (v.kind) {
  case VALUE_POISON: return v;
  case VALUE_MODULE: return module_attribute(e, v.module, name, at);
  case VALUE_FILE: return import_attribute(e, v.file, name, at);
  case VALUE_RT:
    if (tile_attribute(e, v, name, &r))
      return r;
    if (strcmp(name, "T") == 0)
      return builtin_call(e, builtin_find(e, "trans"), &x, NULL, 1, at, at);
    if (method && method->flags & BUILTIN_METHOD)
      return bind_method(e, method, v);
    break;
  case VALUE_INT:
  case VALUE_FLOAT:
  case VALUE_BOOL:
    if (strcmp(name, "value") == 0)
      return v;
    if (method && method->flags & BUILTIN_METHOD)
      return bind_method(e, method, v);
    break;
  case VALUE_TYPE:
    if (strcmp(name, "value") == 0)
      return v;
    if (type_attribute(e, v.type, name, &r))
      return r;
    if (method && method->flags & BUILTIN_TYPE)
      return bind_method(e, method, v);
    break;
  case VALUE_CLASS: return emit_class_attribute(e, v.class, name, at);
  case VALUE_TUPLE:
    if (value_is_record(v, RECORD_BLOCK_POINTER) &&
        (strcmp(name, "dtype") == 0 || strcmp(name, "type") == 0))
      return value_type(block_pointer_type(v));
    if (value_is_record(v, RECORD_BLOCK_POINTER) && strcmp(name, "advance") == 0)
      return bind_method(e, method, v);
    if (v.tuple.record) {
      bool found;
      r = emit_field(e, x, name, at, &found);
      if (found)
        return r;
      break;
    }
    if (strcmp(name, "value") == 0)
      return v;
    break;
  case VALUE_NONE:
  case VALUE_STR:
  case VALUE_FUNC:
    if (strcmp(name, "value") == 0)
      return v;
    break;
  case VALUE_BUILTIN:
  case VALUE_BOUND:
  case VALUE_RANGE:
  case VALUE_SLICE:
  case VALUE_OPAQUE:
  case VALUE_ABSENT: break;
  }
  return unknown_attribute(e, x, name, at);
}
