// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of a kernel: annotations and defaults.
//
// Annotations of the language: `x: ptr[f32]`, `x: const_ptr[f32]`, `x:
// tl.pointer_type(tl.float32)`, `n: i32`, `BLOCK: constexpr`, each with an optional `% 16`, and
// `a: tensordesc[f16, [64, BK]]`. Others (`tl.tensor`, `tl.tensor_descriptor`, `int`, other Python
// types) are documentation, as in Triton, and leave the parameter untyped.
#include "lang/unit.h"

#include <inttypes.h>

#define MAX_HOPS 8 // names of constants followed from a default

struct param_reader {
  struct arena *arena;
  struct diag_engine *diag;
  const struct ast_module *module;
  bool failed;
};

static bool dtype_of(struct param_reader *r, const struct expr *e, enum dtype *ret) {
  const char *name = ast_builtin_name(r->arena, r->module, e);
  return name && dtype_parse(str_from(name), ret);
}

// The element type inside `ptr[...]`.
static void read_element(struct param_reader *r, const struct expr *annotation,
                         const struct expr *element, struct lang_param *param) {
  param->is_typed = param->is_pointer = true;
  if (element && dtype_of(r, element, &param->dtype))
    return;
  static const char *const names[] = {
#define X(id, name, language_name, bits, kind) name, language_name,
      DTYPES(X)
#undef X
  };
  r->failed = true;
  struct diag *d =
      element ? diag_error(r->diag, element->span, E0404, "this is not the type of an element")
              : diag_error(r->diag, annotation->span, E0404,
                           "a pointer parameter needs the type it points to");
  const char *near = element && element->kind == EXPR_NAME
                         ? dtype_of_other_language(str_from(element->name))
                         : NULL;
  if (!near && element && element->kind == EXPR_NAME)
    near = str_nearest(str_from(element->name), names, COUNT_OF(names));
  if (near)
    diag_did_you_mean(d, element->span, near);
  else
    diag_help(d, "for example `%s: ptr[f32]`", param->name);
}

// ---- tensor descriptors ----

const struct expr *descriptor_annotation_block(const struct expr *annotation) {
  bool fits = annotation->kind == EXPR_SUBSCRIPT && annotation->subscript.items.len == 2;
  const struct expr *shape = fits ? annotation->subscript.items.at[1] : NULL;
  return shape && (shape->kind == EXPR_LIST || shape->kind == EXPR_TUPLE) ? shape : NULL;
}

// `tensordesc[f16, [64, BK]]`.
static void read_descriptor(struct param_reader *r, const struct expr *e,
                            struct lang_param *param) {
  const struct expr *block = descriptor_annotation_block(e);
  param->is_typed = param->is_descriptor = true;
  if (param->divisible_by == 1 && block && block->items.len >= 1 &&
      block->items.len <= LANG_BLOCK_RANK && dtype_of(r, e->subscript.items.at[0], &param->dtype)) {
    param->block.rank = (uint32_t)block->items.len;
    for (size_t i = 0; i < block->items.len; i++) {
      const struct expr *n = block->items.at[i];
      if (n->kind == EXPR_INT && !n->integer.overflow && n->integer.value <= INT32_MAX)
        param->block.shape[i] = (uint32_t)n->integer.value;
    }
    return;
  }
  r->failed = true;
  struct diag *d =
      diag_error(r->diag, e->span, E0404,
                 "a tensor descriptor has an element type and the shape of its blocks, "
                 "1 to %d dimensions",
                 LANG_BLOCK_RANK);
  diag_help(d, "for example `%s: tensordesc[f16, [64, 32]]`", param->name);
}

static const struct expr *only_item(const struct expr *e) {
  if (e->kind == EXPR_SUBSCRIPT)
    return e->subscript.items.len == 1 ? e->subscript.items.at[0] : NULL;
  return e->call.arg_count > 0 ? e->call.args[0].value : NULL;
}

// `type % N`.
static const struct expr *read_hint(struct param_reader *r, const struct expr *e,
                                    struct lang_param *param) {
  if (e->kind != EXPR_BINARY || e->binary.op != OP_MOD)
    return e;
  const struct expr *hint = e->binary.right;
  bool fits = hint->kind == EXPR_INT && !hint->integer.overflow && hint->integer.value >= 1 &&
              hint->integer.value <= 1u << 30 && is_pow2(hint->integer.value);
  if (fits) {
    param->divisible_by = (uint32_t)hint->integer.value;
  } else {
    r->failed = true;
    struct diag *d = diag_error(r->diag, hint->span, E0404, "a hint is a power of two");
    diag_help(d, "for example `%s: i32 %% 16`", param->name);
  }
  return e->binary.left;
}

static void read_annotation(struct param_reader *r, const struct expr *e,
                            struct lang_param *param) {
  e = read_hint(r, e, param);
  bool wraps = e->kind == EXPR_SUBSCRIPT || e->kind == EXPR_CALL;
  const struct expr *head = e->kind == EXPR_SUBSCRIPT ? e->subscript.object
                            : e->kind == EXPR_CALL    ? e->call.callee
                                                      : e;
  const char *name = ast_builtin_name(r->arena, r->module, head);
  if (!name)
    return;
  if (!wraps && ast_is_constexpr(r->arena, r->module, head)) {
    param->is_constexpr = true;
  } else if (strcmp(name, "ptr") == 0 || strcmp(name, "const_ptr") == 0 ||
             (strcmp(name, "pointer_type") == 0 && wraps)) {
    param->is_const = name[0] == 'c';
    read_element(r, e, wraps ? only_item(e) : NULL, param);
  } else if (strcmp(name, "const") == 0) {
    param->is_const = true;
  } else if (strcmp(name, "tensordesc") == 0) {
    read_descriptor(r, e, param);
  } else if (!wraps && dtype_parse(str_from(name), &param->dtype)) {
    param->is_typed = true;
  }
}

// A default in the syntax of -D: a literal, the name of a constant that is a literal, or a type.
static const char *default_text(struct param_reader *r, const struct expr *e, unsigned hops) {
  const struct expr *number =
      e && e->kind == EXPR_UNARY && e->unary.op == OP_NEG ? e->unary.operand : e;
  if (!e || hops > MAX_HOPS)
    return NULL;
  enum dtype t;
  switch (number->kind) {
  case EXPR_INT:
    if (!number->integer.overflow)
      return arena_printf(r->arena, "%s%" PRIu64, number == e ? "" : "-", number->integer.value);
    return NULL;
  case EXPR_FLOAT:
    return arena_printf(r->arena, "%s%.*s", number == e ? "" : "-", STR_ARG(number->floating.text));
  case EXPR_BOOL: return number == e ? (e->boolean ? "True" : "False") : NULL;
  case EXPR_NONE: return number == e ? "None" : NULL;
  case EXPR_STRING:
    if (number != e || e->string.is_bytes || memchr(e->string.value.ptr, '"', e->string.value.len))
      return NULL;
    return arena_printf(r->arena, "\"%.*s\"", STR_ARG(e->string.value));
  case EXPR_CALL: { // tl.constexpr(128)
    bool wraps = number == e && e->call.arg_count == 1 &&
                 ast_is_constexpr(r->arena, r->module, e->call.callee);
    return wraps ? default_text(r, e->call.args[0].value, hops + 1) : NULL;
  }
  case EXPR_NAME: {
    const struct ast_constant *c = number == e ? ast_find_constant(r->module, e->name) : NULL;
    if (c)
      return !ast_does_hold(c->guard) ? NULL : default_text(r, c->value, hops + 1);
    return number == e && dtype_of(r, e, &t) ? dtype_name(t) : NULL;
  }
  case EXPR_ATTRIBUTE: return number == e && dtype_of(r, e, &t) ? dtype_name(t) : NULL;
  default: return NULL;
  }
}

static struct lang_param read_param(struct param_reader *r, const struct ast_param *p) {
  struct lang_param param = {.name = p->name,
                             .has_default = p->default_value != NULL,
                             .default_text = default_text(r, p->default_value, 0),
                             .dtype = DTYPE_NONE,
                             .divisible_by = 1,
                             .annotation = p->annotation ? p->annotation->span : SPAN_NONE,
                             .span = p->span};
  if (p->kind == PARAM_STAR || p->kind == PARAM_DOUBLE_STAR) {
    r->failed = true;
    struct diag *d = diag_error(r->diag, p->name_span, E0405, "a kernel cannot take `%s%s`",
                                p->kind == PARAM_STAR ? "*" : "**", p->name);
    diag_help(d, "name each parameter");
  }
  if (p->annotation)
    read_annotation(r, p->annotation, &param);
  return param;
}

bool kernel_params(struct arena *a, struct diag_engine *diag, const struct ast_module *m,
                   const struct ast_function *f, struct lang_param **ret) {
  struct param_reader r = {.arena = a, .diag = diag, .module = m};
  struct lang_param *params = arena_array(a, struct lang_param, f->param_count + 1);
  for (size_t i = 0; i < f->param_count; i++)
    params[i] = read_param(&r, &f->params[i]);
  *ret = params;
  return !r.failed;
}
