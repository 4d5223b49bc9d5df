// SPDX-License-Identifier: Apache-2.0
// Checks of builtins' arguments.
#include "lang/builtins/builtins.h"

struct value arg_runtime(struct eval *e, struct call *c, unsigned i) {
  return to_runtime(e, c->args[i],
                    arena_printf(e->a, "an argument of `%s`", builtin_spelled(e, c->builtin)));
}

bool need_type(struct eval *e, struct operand x, const char *what, struct type *ret) {
  if (value_is_poison(x.v))
    return false;
  enum dtype t;
  if (x.v.kind == VALUE_TYPE)
    return *ret = type_elem(x.v.type), true;
  if (x.v.kind == VALUE_STR && dtype_parse(x.v.s, &t))
    return *ret = type_scalar(t), true;
  if (x.v.kind == VALUE_BUILTIN && x.v.builtin->flags & BUILTIN_ELEMENT) // int, float, bool
    return *ret = type_scalar((enum dtype)x.v.builtin->tag), true;
  if (x.v.kind == VALUE_STR && is_foreign_type(x.v.s)) {
    struct diag *d = eval_error(e, x.at, E0502, "`%.*s` is not supported", STR_ARG(x.v.s));
    diag_help(d, "no target has it: `tl.float8e4nv` and `tl.float8e5` are the 8-bit types");
    return false;
  }
  struct diag *d = eval_error(e, x.at, E0503, "%s must be an element type, not %s", what,
                              value_describe(e, x.v));
  diag_help(d, "such as `tl.float32`, `tl.int64` or `x.dtype`");
  return false;
}

bool need_choice(struct eval *e, struct call *c, unsigned i, const char *what,
                 const char *const *allowed, const char **ret) {
  *ret = "";
  struct str s;
  if (!arg_given(c, i) || c->args[i].v.kind == VALUE_NONE)
    return true;
  if (!need_const_str(e, c->args[i], what, &s))
    return false;
  struct strbuf all = {.arena = e->a};
  for (size_t k = 0; allowed[k]; k++) {
    if (str_is(s, allowed[k])) {
      strbuf_finish(&all);
      *ret = allowed[k];
      return true;
    }
    strbuf_printf(&all, "%s`\"%s\"`", k ? ", " : "", allowed[k]);
  }
  struct diag *d = eval_error(e, c->args[i].at, E0504, "%s cannot be `\"%.*s\"`", what, STR_ARG(s));
  diag_help(d, "one of %s", strbuf_cstr(&all));
  strbuf_finish(&all);
  return false;
}

bool need_pointer(struct eval *e, struct call *c, struct type *ret_pointee) {
  struct operand p = c->args[0];
  if (p.v.kind == VALUE_RT && p.v.type.ptr) {
    *ret_pointee = type_pointee(p.v.type);
    return true;
  }
  struct diag *d = eval_error(e, p.at, E0507, "`tl.%s` needs a pointer, not %s", c->builtin->name,
                              value_describe(e, p.v));
  diag_primary_label(d, "%s", value_type_text(e, p.v));
  if (p.v.kind == VALUE_TUPLE && p.v.tuple.len == 1)
    diag_help(d, "a comma at the end makes a tuple of one element, `p = (x + i,)`: leave it out");
  else if (c->count > 1 && c->args[1].v.kind == VALUE_RT && c->args[1].v.type.ptr)
    diag_help(d, "the pointer comes first: `tl.%s(pointer, value)`", c->builtin->name);
  else if (p.v.kind != VALUE_NONE)
    diag_help(d, "add offsets to a pointer parameter: `tl.%s(x + offsets, ...)`", c->builtin->name);
  eval_help_none(e, d, p);
  return false;
}

bool need_mask(struct eval *e, struct operand x, struct type like, MlirValue *ret) {
  *ret = (MlirValue){NULL};
  if (x.v.kind == VALUE_ABSENT || x.v.kind == VALUE_NONE)
    return true;
  bool truth;
  if (const_truth(x.v, &truth)) {
    if (truth)
      return true; // an error: treated as no mask
    x.v = value_bool(false);
  }
  x.v = to_runtime(e, x, "a mask");
  if (value_is_poison(x.v))
    return false;
  if (type_is_float(x.v.type) || x.v.type.ptr) {
    struct diag *d =
        eval_error(e, x.at, E0503, "the mask is %s, not a boolean", type_text(e->a, x.v.type));
    diag_help(d, "compare: `offsets < n`");
    return false;
  }
  x.v = emit_truth_tile(e, x.v);
  x.v = broadcast_to(e, x, like, "the mask ");
  if (value_is_poison(x.v))
    return false;
  *ret = x.v.rt;
  return true;
}
