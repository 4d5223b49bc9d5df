// SPDX-License-Identifier: Apache-2.0
// Evaluated at compile time: assertions, messages, queries of types and the target.
#include "lang/builtins/builtins.h"

struct value builtin_static_assert(struct eval *e, struct call *c) {
  bool ok;
  if (!need_const_bool(e, c->args[0], "the condition of `static_assert`", &ok))
    return VALUE_ERROR;
  if (ok)
    return value_of_kind(VALUE_NONE);
  struct str msg = STR("");
  if (arg_given(c, 1) && c->args[1].v.kind == VALUE_STR)
    msg = c->args[1].v.s;
  if (msg.len && e->frame->is_std) // what a function of the language says of its arguments
    eval_error(e, c->args[0].at, E0303, "%.*s", STR_ARG(msg));
  else if (msg.len)
    diag_help(eval_error(e, c->args[0].at, E0303, "static assertion failed: %.*s", STR_ARG(msg)),
              "change the values that it tests: `-D NAME=...`, the configuration, or the caller");
  else
    diag_help(eval_error(e, c->args[0].at, E0303, "static assertion failed"),
              "change the values that it tests; a text as second argument explains it");
  return VALUE_ERROR;
}

struct value builtin_static_print(struct eval *e, struct call *c) {
  struct strbuf *out = e->options->static_print;
  if (!out)
    return value_of_kind(VALUE_NONE);
  struct str sep = STR(" "), end = STR("\n");
  if (arg_given(c, 1) && c->args[1].v.kind == VALUE_STR)
    sep = c->args[1].v.s;
  if (arg_given(c, 2) && c->args[2].v.kind == VALUE_STR)
    end = c->args[2].v.s;
  for (size_t i = 0; i < c->rest_count; i++) {
    if (i)
      strbuf_put(out, sep.ptr, sep.len);
    const_format(e, c->rest[i].v, false, out);
  }
  strbuf_put(out, end.ptr, end.len);
  return value_of_kind(VALUE_NONE);
}

struct value builtin_constexpr(struct eval *e, struct call *c) {
  if (value_is_const(c->args[0].v))
    return c->args[0].v;
  struct diag *d = eval_error(e, c->args[0].at, E0301, "`constexpr` of a run-time value");
  diag_help(d, "make it a `tl.constexpr` parameter");
  diag_primary_label(d, "%s", value_type_text(e, c->args[0].v));
  return VALUE_ERROR;
}

struct value builtin_constexpr_type(struct eval *e, struct call *c) {
  struct value v = builtin_constexpr(e, c);
  return value_is_poison(v) ? v : value_constexpr_type(e, v);
}

struct value builtin_dtype(struct eval *e, struct call *c) {
  struct type t;
  return need_type(e, c->args[0], "the argument of `tl.dtype`", &t) ? value_type(t) : VALUE_ERROR;
}

struct value builtin_pointer_type(struct eval *e, struct call *c) {
  struct type t;
  if (!need_type(e, c->args[0], "the pointee", &t))
    return VALUE_ERROR;
  if (t.ptr >= 2) {
    diag_help(eval_error(e, c->at, E0503, "pointers nest at most twice"),
              "load the inner pointer first");
    return VALUE_ERROR;
  }
  t.ptr++;
  if (arg_given(c, 2) && !need_const_bool(e, c->args[2], "`const`", &t.is_const))
    return VALUE_ERROR;
  return value_type(t);
}

struct value builtin_condition(struct eval *e, struct call *c) {
  (void)e;
  return c->args[0].v;
}

struct value builtin_next_power_of_2(struct eval *e, struct call *c) {
  int64_t n;
  if (!need_const_int(e, c->args[0], "the argument of `next_power_of_2`", &n))
    return VALUE_ERROR;
  int_const p = 1;
  while (p < n)
    p *= 2;
  return value_int(p);
}

struct value builtin_log2(struct eval *e, struct call *c) {
  int64_t n;
  if (!need_const_int(e, c->args[0], "the argument of `_log2`", &n))
    return VALUE_ERROR;
  int_const bits = 0;
  while (n > 1)
    n /= 2, bits++;
  return value_int(bits);
}

// "sm_90a" is 90; 0 for a target that is not an NVIDIA GPU.
static int capability(const char *target) {
  if (!target || strncmp(target, "sm_", 3) != 0)
    return 0;
  int n = 0;
  for (const char *p = target + 3; *p >= '0' && *p <= '9'; p++)
    n = n * 10 + (*p - '0');
  return n;
}

struct value builtin_target(struct eval *e, struct call *c) {
  int64_t major, minor = 0;
  switch (c->builtin->tag) {
  case 0: return value_bool(capability(e->options->target) != 0);
  case 1: return value_bool(false);
  case 3: return value_int(e->options->num_warps);
  case 4: return value_int(e->options->num_warps * 32);
  }
  if (!need_const_int(e, c->args[0], "the capability", &major) ||
      (arg_given(c, 1) && !need_const_int(e, c->args[1], "the capability", &minor)))
    return VALUE_ERROR;
  return value_bool(capability(e->options->target) >= major * 10 + minor);
}

struct value builtin_type_question(struct eval *e, struct call *c) {
  if (c->args[0].v.kind != VALUE_TYPE) {
    struct type ignored;
    need_type(e, c->args[0], "the argument", &ignored);
    return VALUE_ERROR;
  }
  struct type t = c->args[0].v.type;
  switch (c->builtin->tag) {
  case 'f': return value_bool(type_is_float(t));
  case 'i': return value_bool(type_is_int(t));
  case 's': return value_bool(type_is_int(t) && dtype_is_signed(t.dtype));
  case 'u': return value_bool(type_is_int(t) && !dtype_is_signed(t.dtype));
  case 'b': return value_bool(type_is_bool(t));
  case 'p': return value_bool(t.ptr > 0);
  case 't': return value_bool(t.rank > 0);
  case '8': return value_bool(type_is_fp8(t));
  case 'S': return value_bool(type_is_float(t) && !type_is_fp8(t));
  }
  return value_bool(false);
}

struct value builtin_type_is(struct eval *e, struct call *c) {
  (void)e;
  struct value v = c->args[0].v;
  return value_bool(v.kind == VALUE_TYPE && !v.type.ptr &&
                    v.type.dtype == (enum dtype)c->builtin->tag);
}
