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

// `tl.load(desc)`: a descriptor is read by its own methods.
static bool help_descriptor(struct eval *e, struct diag *d, const struct call *c) {
  struct operand p = c->args[0];
  struct value block;
  bool is_store = strcmp(c->builtin->name, "store") == 0;
  if (!value_is_record(p.v, RECORD_DESCRIPTOR) || (!is_store && strcmp(c->builtin->name, "load")) ||
      !e->on->find_attribute(e, p, "block_shape", &block))
    return false;
  struct str name = eval_spelled(e, p.at);
  struct str value = is_store ? eval_spelled(e, c->args[1].at) : (struct str){NULL, 0};
  struct strbuf text = {.arena = e->a};
  strbuf_printf(&text, "%s.%s([", name.len ? spelled_primary(e, name) : "d", c->builtin->name);
  for (size_t i = 0; i < block.tuple.len; i++)
    strbuf_puts(&text, i ? ", 0" : "0");
  strbuf_puts(&text, "]");
  if (is_store)
    strbuf_printf(&text, ", %.*s", value.len ? (int)value.len : 1, value.len ? value.ptr : "x");
  strbuf_puts(&text, ")");
  diag_help(d, "a block of it is %s at offsets in elements: `%s`", is_store ? "written" : "read",
            strbuf_cstr(&text));
  if (name.len && (!is_store || value.len))
    diag_fixit(d, c->at, strbuf_cstr(&text));
  return true;
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
  if (help_descriptor(e, d, c))
    return false;
  if (p.v.kind == VALUE_TUPLE && p.v.tuple.len == 1)
    diag_help(d, "a comma at the end makes a tuple of one element, `p = (x + i,)`: leave it out");
  else if (c->count > 1 && c->args[1].v.kind == VALUE_RT && c->args[1].v.type.ptr)
    diag_help(d, "the pointer comes first: `tl.%s(pointer, value)`", c->builtin->name);
  else if (p.v.kind != VALUE_NONE)
    diag_help(d, "add offsets to a pointer parameter: `tl.%s(x + offsets, ...)`", c->builtin->name);
  eval_help_none(e, d, p);
  return false;
}

// `tl.load(x, i)`: the offsets stand where the mask does.
static void report_offsets_as_mask(struct eval *e, struct operand x, struct span pointer) {
  struct diag *d = eval_error(e, x.at, E0214, "the mask is %s, and the pointer is one address",
                              type_text(e->a, x.v.type));
  struct str from = eval_spelled(e, pointer), offsets = eval_spelled(e, x.at);
  diag_help(d, "offsets are added to the pointer: `%.*s + %.*s`", from.len ? (int)from.len : 1,
            from.len ? from.ptr : "x", offsets.len ? (int)offsets.len : 1,
            offsets.len ? offsets.ptr : "i");
  if (from.len && offsets.len && pointer.source == x.at.source && pointer.end < x.at.begin &&
      spelled_is_name(from))
    diag_fixit(d, (struct span){x.at.source, pointer.end, x.at.begin}, " + ");
}

// An integer mask is true where it is not 0.
static void warn_of_integers(struct eval *e, struct operand x, struct type like) {
  if (!type_is_int(x.v.type) || type_is_bool(x.v.type) || e->frame->is_std)
    return;
  struct diag *d = eval_warning(e, x.at, E0503, "the mask is %s: every number but 0 is true",
                                type_text(e->a, x.v.type));
  struct str text = eval_spelled(e, x.at);
  const struct variable *offsets = x.v.type.rank ? NULL : find_offsets(e, like);
  if (!text.len) {
    diag_help(d, "compare: `offsets < n`");
    return;
  }
  const char *edit = offsets
                         ? arena_printf(e->a, "%s < %s", offsets->name, spelled_primary(e, text))
                         : arena_printf(e->a, "%s != 0", spelled_primary(e, text));
  diag_help(d, "a mask is a condition: `%s`", edit);
  diag_fixit(d, x.at, edit);
}

bool need_mask(struct eval *e, struct operand x, struct type like, struct span pointer,
               MlirValue *ret) {
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
  if (!like.rank && x.v.type.rank && type_is_int(x.v.type) && !type_is_bool(x.v.type)) {
    report_offsets_as_mask(e, x, pointer);
    return false;
  }
  warn_of_integers(e, x, like);
  x.v = emit_truth_tile(e, x.v);
  x.v = broadcast_to(e, x, like, "the mask ", pointer);
  if (value_is_poison(x.v))
    return false;
  *ret = x.v.rt;
  return true;
}
