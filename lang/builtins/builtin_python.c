// SPDX-License-Identifier: Apache-2.0
// Python's builtins in kernels: evaluated at compile time, except int, float, min and max on
// run-time values.
#include "lang/builtins/builtins.h"

struct value builtin_len(struct eval *e, struct call *c) {
  struct value x = c->args[0].v;
  if (x.kind == VALUE_STR)
    return value_int((int_const)x.s.len);
  if (x.kind == VALUE_RT && x.type.rank)
    return value_int(x.type.shape[0]);
  if (x.kind == VALUE_RT && x.type.ptr) {
    diag_help(eval_error(e, c->args[0].at, E0230, "a pointer has no length"),
              "a pointer is an address: pass the size as a parameter of the kernel, `n: i32`");
    return VALUE_ERROR;
  }
  struct tuple t;
  return need_sequence(e, c->args[0], &t) ? value_int((int_const)t.len) : VALUE_ERROR;
}

static struct value *boxed(struct eval *e, struct value v) {
  struct value *p = arena_new(e->a, struct value);
  *p = v;
  return p;
}

static bool loop_options(struct eval *e, struct call *c, const struct loop_options **ret) {
  struct loop_options o;
  bool any = false;
  for (unsigned i = 0; i < LOOP_OPTION_COUNT; i++) {
    int64_t n;
    o.at[i] = -1;
    if (i + 3 >= c->count || !arg_given(c, i + 3) || c->args[i + 3].v.kind == VALUE_NONE)
      continue;
    if (!need_const_int(e, c->args[i + 3], "an option of `tl.range`", &n))
      return false;
    if (n < 0 || n > INT32_MAX) {
      eval_error(e, c->args[i + 3].at, E0306, "%lld is not a possible option of `tl.range`",
                 (long long)n);
      return false;
    }
    o.at[i] = (int32_t)n;
    any = true;
  }
  struct loop_options *kept = arena_new(e->a, struct loop_options);
  *kept = o;
  *ret = any ? kept : NULL;
  return true;
}

struct value builtin_range(struct eval *e, struct call *c) {
  struct value r = {.kind = VALUE_RANGE};
  bool has_upper = arg_given(c, 1);
  r.range.lower = boxed(e, has_upper ? c->args[0].v : value_int(0));
  r.range.upper = boxed(e, c->args[has_upper ? 1 : 0].v);
  r.range.step = boxed(e, arg_given(c, 2) ? c->args[2].v : value_int(1));
  r.range.is_static = c->builtin->tag == 1;
  return loop_options(e, c, &r.range.options) ? r : VALUE_ERROR;
}

struct value builtin_minmax(struct eval *e, struct call *c) {
  struct tuple t = {0};
  if (c->rest_count == 1 && need_sequence(e, c->rest[0], &t)) {
    c->rest = arena_array(e->a, struct operand, t.len ? t.len : 1);
    for (size_t i = 0; i < t.len; i++)
      c->rest[i] = (struct operand){t.at[i], c->at};
    c->rest_count = t.len;
  } else if (c->rest_count == 1) {
    return VALUE_ERROR;
  }
  if (c->rest_count == 0) {
    diag_help(eval_error(e, c->at, E0501, "`%s` of nothing", c->builtin->name),
              "give it the values to compare: `%s(a, b)`", c->builtin->name);
    return VALUE_ERROR;
  }
  struct operand best = c->rest[0];
  for (size_t i = 1; i < c->rest_count; i++)
    best.v = emit_minimum(e, best, c->rest[i], c->builtin->tag == 1, false, c->at);
  return best.v;
}

static bool is_kind(struct value x, struct value kind, bool *ret) {
  if (kind.kind == VALUE_TUPLE) {
    *ret = false;
    for (size_t i = 0; i < kind.tuple.len && !*ret; i++)
      if (!is_kind(x, kind.tuple.at[i], ret))
        return false;
    return true;
  }
  if (kind.kind == VALUE_CLASS)
    return *ret = x.kind == VALUE_TUPLE && x.tuple.record == kind.class, true;
  if (kind.kind != VALUE_BUILTIN)
    return false;
  switch ((enum builtin_class)(kind.builtin->flags & CLASS_MASK)) {
  case CLASS_CONSTANT:
    *ret = value_is_const(x) && !value_is_record(x, RECORD_CONSTEXPR_TYPE);
    return true;
  case CLASS_INT: *ret = x.kind == VALUE_INT || x.kind == VALUE_BOOL; return true;
  case CLASS_FLOAT: *ret = x.kind == VALUE_FLOAT; return true;
  case CLASS_BOOL: *ret = x.kind == VALUE_BOOL; return true;
  case CLASS_STRING: *ret = x.kind == VALUE_STR; return true;
  case CLASS_SEQUENCE: *ret = x.kind == VALUE_TUPLE && !value_is_memory_record(x); return true;
  case CLASS_TENSOR: *ret = x.kind == VALUE_RT; return true;
  case CLASS_TYPE: *ret = x.kind == VALUE_TYPE; return true;
  case CLASS_RANGE: *ret = x.kind == VALUE_RANGE; return true;
  case CLASS_DESCRIPTOR: *ret = value_is_record(x, RECORD_DESCRIPTOR); return true;
  case CLASS_CONSTANT_TYPE: *ret = value_is_record(x, RECORD_CONSTEXPR_TYPE); return true;
  case CLASS_POINTER_TYPE: *ret = x.kind == VALUE_TYPE && x.type.ptr; return true;
  case CLASS_MASK: break;
  }
  return false; // no class
}

struct value builtin_isinstance(struct eval *e, struct call *c) {
  bool r;
  if (is_kind(c->args[0].v, c->args[1].v, &r))
    return value_bool(r);
  diag_help(eval_error(e, c->args[1].at, E0503, "`isinstance` does not know %s",
                       value_describe(e, c->args[1].v)),
            "compare with a type of Python or Triton: `int`, `float`, `bool`, `str`, `tuple`, "
            "`tl.constexpr`, `tl.tensor`");
  return VALUE_ERROR;
}

struct value builtin_hasattr(struct eval *e, struct call *c) {
  static const char *const known[] = {"dtype", "type", "shape", "numel", "T", "ndim"};
  struct str name;
  if (!need_const_str(e, c->args[1], "the name of an attribute", &name))
    return VALUE_ERROR;
  if (c->args[0].v.kind != VALUE_RT)
    return value_bool(str_is(name, "value") && value_is_const(c->args[0].v));
  for (size_t i = 0; i < COUNT_OF(known); i++)
    if (str_is(name, known[i]))
      return value_bool(true);
  const struct builtin *b = builtin_find(e, arena_strndup(e->a, name.ptr, name.len));
  return value_bool(b && b->flags & BUILTIN_METHOD);
}

struct value builtin_getattr(struct eval *e, struct call *c) {
  struct str name;
  if (!need_const_str(e, c->args[1], "the name of an attribute", &name))
    return VALUE_ERROR;
  return eval_attribute(e, c->args[0], arena_strndup(e->a, name.ptr, name.len), c->at);
}

struct value builtin_number(struct eval *e, struct call *c) {
  struct operand x = c->args[0];
  enum dtype t = (enum dtype)c->builtin->tag;
  int_const i;
  bool truth;
  if (x.v.kind == VALUE_RT)
    return emit_cast(e, x.v, type_scalar(t), NULL);
  if (t == DTYPE_I1 && const_truth(x.v, &truth)) // of None, texts and tuples too
    return value_bool(truth);
  if (x.v.kind == VALUE_STR && const_parse(e->a, x.v.s, &x.v) && !value_is_number(x.v))
    x.v = c->args[0].v;
  if (!value_is_number(x.v)) {
    diag_help(eval_error(e, x.at, E0503, "`%s` of %s", c->builtin->name, value_describe(e, x.v)),
              "give one number; `x[0]` is the first of a tuple");
    return VALUE_ERROR;
  }
  if (t == DTYPE_F32)
    return value_float(value_as_double(x.v));
  if (value_as_int(x.v, &i))
    return value_int(i);
  if (!(x.v.f > -0x1p63 && x.v.f < 0x1p63)) {
    diag_help(
        eval_error(e, x.at, E0306, "`int` of %s does not fit into 64 bits", value_describe(e, x.v)),
        "compute it at run time in a float, or with a smaller number");
    return VALUE_ERROR;
  }
  return value_int((int_const)x.v.f);
}

struct value builtin_str(struct eval *e, struct call *c) {
  struct strbuf b = {.arena = e->a};
  const_format(e, c->args[0].v, false, &b);
  struct value r = value_str(str_from(arena_strdup(e->a, strbuf_cstr(&b))));
  strbuf_finish(&b);
  return r;
}

struct value builtin_tuple(struct eval *e, struct call *c) {
  struct tuple t = {0};
  if (arg_given(c, 0) && !need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  return value_tuple(t.at, t.len);
}

static struct value pair(struct eval *e, struct value a, struct value b) {
  struct value *at = arena_array(e->a, struct value, 2);
  at[0] = a, at[1] = b;
  return value_tuple(at, 2);
}

struct value builtin_enumerate(struct eval *e, struct call *c) {
  struct tuple t;
  if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, t.len ? t.len : 1);
  for (size_t i = 0; i < t.len; i++)
    at[i] = pair(e, value_int((int_const)i), t.at[i]);
  return value_tuple(at, t.len);
}

struct value builtin_zip(struct eval *e, struct call *c) {
  size_t len = SIZE_MAX;
  struct tuple *columns = arena_array(e->a, struct tuple, c->rest_count ? c->rest_count : 1);
  for (size_t k = 0; k < c->rest_count; k++) {
    if (!need_sequence(e, c->rest[k], &columns[k]))
      return VALUE_ERROR;
    len = columns[k].len < len ? columns[k].len : len;
  }
  len = c->rest_count ? len : 0;
  struct value *rows = arena_array(e->a, struct value, len ? len : 1);
  for (size_t i = 0; i < len; i++) {
    struct value *row = arena_array(e->a, struct value, c->rest_count);
    for (size_t k = 0; k < c->rest_count; k++)
      row[k] = columns[k].at[i];
    rows[i] = value_tuple(row, c->rest_count);
  }
  return value_tuple(rows, len);
}
