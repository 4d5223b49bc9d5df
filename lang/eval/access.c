// SPDX-License-Identifier: Apache-2.0
// Subscripts and attributes: elements of tuples, properties of types and tiles, methods.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"
#include "lang/eval/import.h"
#include "lang/eval/objects.h"

// ---- subscripts ----

bool eval_slice_bound(struct eval *e, const struct expr *x, int64_t len, int64_t absent,
                      int64_t *ret) {
  *ret = absent;
  if (!x || x->kind == EXPR_NONE)
    return true;
  if (!need_const_int(e, (struct operand){eval_expr(e, x), x->span}, "a bound of a slice", ret))
    return false;
  if (*ret < 0)
    *ret += len;
  *ret = *ret < 0 ? 0 : *ret > len ? len : *ret;
  return true;
}

bool eval_slice_step(struct eval *e, const struct expr *item, int64_t *ret) {
  const struct expr *x = item->slice.step;
  *ret = 1;
  if (!x || x->kind == EXPR_NONE)
    return true;
  return need_const_int(e, (struct operand){eval_expr(e, x), x->span}, "the step of a slice", ret);
}

static struct value tuple_element(struct eval *e, const struct expr *item, struct tuple t) {
  int64_t len = (int64_t)t.len, i;
  struct operand index = {eval_expr(e, item), item->span};
  if (!need_const_int(e, index, "the index of a tuple", &i))
    return VALUE_ERROR;
  if (i >= -len && i < len)
    return t.at[i < 0 ? i + len : i];
  diag_help(eval_error(e, item->span, E0212, "index %lld of a tuple of %lld", (long long)i,
                       (long long)len),
            "indices count from 0, and from -1 at the end");
  return VALUE_ERROR;
}

static struct value tuple_slice(struct eval *e, const struct expr *item, struct tuple t) {
  int64_t len = (int64_t)t.len, lo, hi, step;
  if (!eval_slice_step(e, item, &step))
    return VALUE_ERROR;
  if (step < 1) {
    diag_help(eval_error(e, item->span, E0212, "slices of tuples take a positive step"),
              "`x[::-1]` has no form here; write the values in that order");
    return VALUE_ERROR;
  }
  if (!eval_slice_bound(e, item->slice.lo, len, 0, &lo) ||
      !eval_slice_bound(e, item->slice.hi, len, len, &hi))
    return VALUE_ERROR;
  size_t n = 0;
  struct value *r = arena_array(e->a, struct value, t.len ? t.len : 1);
  for (int64_t i = lo; i < hi; i += step) {
    r[n++] = t.at[i];
    if (step > hi - i)
      break;
  }
  return value_tuple(r, n);
}

struct value eval_tuple_subscript(struct eval *e, const struct expr *x, struct tuple t) {
  const struct expr *item = x->subscript.items.at[0];
  if (x->subscript.items.len != 1) {
    diag_help(eval_error(e, x->span, E0212, "a tuple takes one subscript"),
              "take one after the other: `x[0][1]`");
    return VALUE_ERROR;
  }
  return item->kind == EXPR_SLICE ? tuple_slice(e, item, t) : tuple_element(e, item, t);
}

// The last entry of the key, as in Python.
static struct value subscript_dict(struct eval *e, const struct expr *x, struct tuple t) {
  const struct expr_list *items = &x->subscript.items;
  struct value key = eval_expr(e, items->at[0]);
  if (items->len > 1) {
    struct value *at = arena_array(e->a, struct value, items->len);
    at[0] = key;
    for (size_t i = 1; i < items->len; i++)
      at[i] = eval_expr(e, items->at[i]);
    key = value_tuple(at, items->len);
  }
  for (size_t i = t.len; i-- > 0;)
    if (const_equal(t.at[i].tuple.at[0], key))
      return t.at[i].tuple.at[1];
  if (!value_is_poison(key))
    diag_help(eval_error(e, x->span, E0212, "the dictionary has no %s", value_describe(e, key)),
              "add the key where the dictionary is made");
  return VALUE_ERROR;
}

struct value eval_no_elements(struct eval *e, const struct expr *x, struct value v) {
  struct diag *d = eval_error(e, x->span, E0212, "%s has no elements", value_describe(e, v));
  const struct expr *object = x->kind == EXPR_SUBSCRIPT ? x->subscript.object : x;
  if (v.kind == VALUE_FUNC) {
    bool is_name = object->kind == EXPR_NAME;
    diag_help(
        d,
        "only host code launches kernels; inside a kernel, call the function directly: `%s(...)`",
        is_name ? object->name : "f");
    if (is_name)
      diag_fixit(d, x->span, object->name);
  }
  if (value_is_memory_record(v))
    diag_help(d, "`d.load([row, column])` reads a block of it");
  return VALUE_ERROR;
}

static const char pass_the_size[] =
    "a pointer is an address: pass the size as a parameter of the kernel, `n: i32`";

// `x.shape[0]` of a pointer or a number, whose shape is empty.
static bool is_shape_of_scalar(const struct expr *object, struct value v) {
  return v.kind == VALUE_TUPLE && !v.tuple.record && v.tuple.len == 0 &&
         object->kind == EXPR_ATTRIBUTE && strcmp(object->attribute.name, "shape") == 0;
}

static struct value report_shape_of_scalar(struct eval *e, const struct expr *object) {
  struct str name = eval_spelled(e, object->attribute.object->span);
  struct value v = eval_expr(e, object->attribute.object);
  bool is_pointer = v.kind == VALUE_RT && v.type.ptr;
  struct diag *d = eval_error(e, object->attribute.name_span, E0212,
                              "`%.*s` is a %s and has no shape", name.len ? (int)name.len : 1,
                              name.len ? name.ptr : "x", is_pointer ? "pointer" : "number");
  diag_primary_label(d, "%s", value_type_text(e, v));
  diag_help(d, is_pointer ? pass_the_size : "use the number itself");
  return VALUE_ERROR;
}

struct value eval_subscript(struct eval *e, const struct expr *x) {
  struct value v = eval_expr(e, x->subscript.object), item;
  if (v.kind == VALUE_OPAQUE && e->on->find_item && e->on->find_item(e, x, v.opaque, &item))
    return item;
  if (!need_known(e, (struct operand){v, x->subscript.object->span}))
    return VALUE_ERROR;
  if (value_is_poison(v))
    return v;
  if (is_shape_of_scalar(x->subscript.object, v))
    return report_shape_of_scalar(e, x->subscript.object);
  if (v.kind != VALUE_TUPLE || value_is_memory_record(v))
    return e->on->subscript(e, x, (struct operand){v, x->subscript.object->span});
  return value_is_record(v, RECORD_DICT) ? subscript_dict(e, x, v.tuple)
                                         : eval_tuple_subscript(e, x, v.tuple);
}

// ---- attributes ----

static struct value bind_method(struct eval *e, const struct builtin *b, struct value v) {
  struct value *receiver = arena_new(e->a, struct value);
  *receiver = v;
  return (struct value){.kind = VALUE_BOUND, .bound = {.builtin = b, .receiver = receiver}};
}

static bool tile_attribute(struct eval *e, struct value v, const char *name, struct value *ret) {
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

static bool type_attribute(struct eval *e, struct type t, const char *name, struct value *ret) {
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

// `threadIdx.x` of CUDA: the axis is an argument here, and the number has no components.
static bool help_component(struct diag *d, struct operand x, const char *name, struct span at) {
  bool is_number = x.v.kind == VALUE_RT && !x.v.type.rank && !x.v.type.ptr;
  bool is_component = name[0] && strchr("xyz", name[0]) && !name[1];
  if (!is_number || !is_component)
    return false;
  diag_help(d, "`tl.program_id(0)` is a number, and 1 and 2 are the other axes");
  if (x.at.source == at.source && x.at.end + 1 == at.begin)
    diag_fixit(d, (struct span){at.source, x.at.end, at.end}, "");
  return true;
}

static struct value unknown_attribute(struct eval *e, struct operand x, const char *name,
                                      struct span at) {
  struct diag *d =
      eval_error(e, at, E0211, "%s has no attribute `%s`", value_describe(e, x.v), name);
  const char *near = x.v.kind == VALUE_RT ? builtin_nearest(e, name, true) : NULL;
  if (help_component(d, x, name, at))
    return VALUE_ERROR;
  bool is_pointer = x.v.kind == VALUE_RT && x.v.type.ptr && !x.v.type.rank;
  if (is_pointer && strcmp(name, "size") == 0) {
    diag_help(d, "%s", pass_the_size);
    return VALUE_ERROR;
  }
  if (x.v.kind == VALUE_TUPLE && record_help_field(e, d, x.v.tuple.record, name, at))
    return VALUE_ERROR;
  if (x.v.kind == VALUE_RT && habit_method_help(d, name, at))
    return VALUE_ERROR;
  if (near)
    diag_did_you_mean(d, at, near);
  else if (x.v.kind == VALUE_RT)
    diag_help(d, "a tile has `dtype`, `shape`, `T`, `numel`, and the functions of `tl` as methods");
  else if (x.v.kind == VALUE_TYPE)
    diag_help(d, "a type has `primitive_bitwidth`, `itemsize`, `name`, `scalar`, `shape`");
  else if (value_is_memory_record(x.v))
    diag_help(
        d, "a tensor descriptor has `load`, `store`, `shape`, `strides`, `block_shape`, `dtype`");
  else if (x.v.kind == VALUE_STR)
    diag_help(d, "a text in a kernel has `format` alone; f-strings insert values: `f\"{x}\"`");
  eval_help_none(e, d, x);
  return VALUE_ERROR;
}

// An attribute of a tile, a type or a record; no report when not found.
static bool known_attribute(struct eval *e, struct operand x, const char *name, struct span at,
                            struct value *ret) {
  bool found = false;
  switch ((int)x.v.kind) {
  case VALUE_RT:
    if (strcmp(name, "T") != 0)
      return tile_attribute(e, x.v, name, ret);
    *ret = builtin_call(e, builtin_find(e, "trans"), &x, NULL, 1, at, at);
    return true;
  case VALUE_TYPE: return type_attribute(e, x.v.type, name, ret);
  case VALUE_TUPLE:
    if (x.v.tuple.record)
      *ret = record_field(e, x, name, at, &found);
    return found;
  }
  return false;
}

struct value value_constexpr_type(struct eval *e, struct value v) {
  struct value *at = arena_new(e->a, struct value);
  *at = v;
  return (struct value){.kind = VALUE_TUPLE, .tuple = {at, 1, &record_constexpr_type, NULL}};
}

static bool is_method(const struct builtin *b, struct value v) {
  if (value_is_record(v, RECORD_BLOCK_POINTER))
    return b->flags & BUILTIN_BLOCK;
  if (v.kind == VALUE_RT || value_is_number(v))
    return b->flags & BUILTIN_METHOD;
  return v.kind == VALUE_TYPE && b->flags & BUILTIN_TYPE;
}

// Triton's constexpr has an attribute `value`.
static bool has_value(struct value v) {
  return value_is_number(v) || v.kind == VALUE_TYPE || v.kind == VALUE_NONE ||
         v.kind == VALUE_STR || v.kind == VALUE_FUNC || (v.kind == VALUE_TUPLE && !v.tuple.record);
}

struct value eval_attribute(struct eval *e, struct operand x, const char *name, struct span at) {
  struct value v = x.v, r;
  if (e->on->find_attribute && e->on->find_attribute(e, x, name, &r))
    return r;
  switch ((int)v.kind) {
  case VALUE_POISON: return v;
  case VALUE_MODULE: return module_attribute(e, v.module, name, at);
  case VALUE_FILE: return import_attribute(e, v.file, name, at);
  case VALUE_CLASS: return class_attribute(e, v.class, name, at);
  }
  if (has_value(v) && strcmp(name, "value") == 0)
    return v;
  bool is_plain_tuple = v.kind == VALUE_TUPLE && !v.tuple.record && value_is_const(v);
  if ((value_is_number(v) || is_plain_tuple) && strcmp(name, "type") == 0)
    return value_constexpr_type(e, v);
  if (value_is_record(v, RECORD_CONSTEXPR_TYPE) && strcmp(name, "value") == 0)
    return v.tuple.at[0];
  if (known_attribute(e, x, name, at, &r))
    return r;
  static const struct builtin format = {.name = "format", .flags = BUILTIN_FORMAT};
  if (v.kind == VALUE_STR && strcmp(name, "format") == 0)
    return bind_method(e, &format, v);
  const struct builtin *method = builtin_find(e, name);
  return method && is_method(method, v) ? bind_method(e, method, v)
                                        : unknown_attribute(e, x, name, at);
}
