// SPDX-License-Identifier: Apache-2.0
// Named tuples that are made by a call: `P = namedtuple("P", ["x", "y"])`, `namedtuple("P", "x
// y")`, `NamedTuple("P", [("x", int), ("y", int)])`, with `defaults`. They are classes with the
// base NamedTuple, as if written `class P(NamedTuple)`.
#include "lang/syntax/parser.h"

static const char *called_name(const struct expr *x) {
  if (x->kind != EXPR_CALL)
    return "";
  const struct expr *f = x->call.callee;
  return f->kind == EXPR_NAME ? f->name : f->kind == EXPR_ATTRIBUTE ? f->attribute.name : "";
}

static const struct expr *argument(const struct expr *call, size_t index, const char *name) {
  for (size_t i = 0; i < call->call.arg_count; i++)
    if (call->call.args[i].name ? strcmp(call->call.args[i].name, name) == 0 : i == index)
      return call->call.args[i].value;
  return NULL;
}

static bool is_list(const struct expr *x) {
  return x && (x->kind == EXPR_LIST || x->kind == EXPR_TUPLE);
}

static bool add_field(struct parser *p, field_vec *out, const struct expr *name,
                      struct expr *annotation) {
  if (name->kind != EXPR_STRING || name->string.is_bytes)
    return false;
  struct ast_field f = {.name =
                            arena_strndup(p->arena, name->string.value.ptr, name->string.value.len),
                        .annotation = annotation,
                        .name_span = name->span};
  vec_push(p->arena, out, f);
  return true;
}

// "x y" or "x, y".
static void split_names(struct parser *p, field_vec *out, const struct expr *text) {
  struct str s = text->string.value;
  for (size_t i = 0, end; i < s.len; i = end) {
    while (i < s.len && (s.ptr[i] == ' ' || s.ptr[i] == ','))
      i++;
    for (end = i; end < s.len && s.ptr[end] != ' ' && s.ptr[end] != ',';)
      end++;
    if (end == i)
      return;
    struct ast_field f = {.name = arena_strndup(p->arena, s.ptr + i, end - i),
                          .name_span = text->span};
    vec_push(p->arena, out, f);
  }
}

// Those of the last fields.
static bool give_defaults(field_vec *fields, const struct expr *defaults) {
  if (!defaults)
    return true;
  if (!is_list(defaults) || defaults->items.len > fields->len)
    return false;
  size_t first = fields->len - defaults->items.len;
  for (size_t i = 0; i < defaults->items.len; i++)
    fields->at[first + i].default_value = defaults->items.at[i];
  return true;
}

bool named_tuple_fields(struct parser *p, const struct expr *call, field_vec *ret) {
  bool is_typed = strcmp(called_name(call), "NamedTuple") == 0;
  if (!is_typed && strcmp(called_name(call), "namedtuple") != 0)
    return false;
  const struct expr *fields = argument(call, 1, is_typed ? "fields" : "field_names");
  if (!fields)
    return false;
  if (!is_typed && fields->kind == EXPR_STRING) {
    split_names(p, ret, fields);
  } else if (is_list(fields)) {
    for (size_t i = 0; i < fields->items.len; i++) {
      struct expr *x = fields->items.at[i];
      bool is_pair = is_typed && is_list(x) && x->items.len == 2;
      if (is_typed ? !is_pair || !add_field(p, ret, x->items.at[0], x->items.at[1])
                   : !add_field(p, ret, x, NULL))
        return false;
    }
  } else {
    return false;
  }
  return give_defaults(ret, argument(call, SIZE_MAX, "defaults"));
}

struct ast_class *named_tuple_class(struct parser *p, const char *name, struct span name_span,
                                    const struct expr *value) {
  static const char *const base[] = {"NamedTuple"};
  field_vec fields = {0};
  if (!named_tuple_fields(p, value, &fields))
    return NULL;
  struct ast_class *c = arena_new(p->arena, struct ast_class);
  *c = (struct ast_class){.name = name,
                          .name_span = name_span,
                          .bases = arena_array(p->arena, const char *, COUNT_OF(base)),
                          .base_count = COUNT_OF(base),
                          .fields = fields.at,
                          .field_count = fields.len};
  c->bases[0] = base[0];
  return c;
}
