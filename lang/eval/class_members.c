// SPDX-License-Identifier: Apache-2.0
// Constants of classes, and enumerations.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"

enum { MAX_DEPTH = 5 };

// How the members of a class are represented.
enum enum_kind { ENUM_NONE, ENUM_MEMBERS, ENUM_PLAIN };

static const struct ast_field member_fields[] = {{.name = "value"}, {.name = "name"}};

static enum enum_kind kind_of(const struct ast_class *c, const struct ast_module *m,
                              unsigned depth) {
  for (size_t i = 0; i < c->base_count; i++) {
    const char *name = c->bases[i];
    if (strcmp(name, "IntEnum") == 0 || strcmp(name, "StrEnum") == 0 ||
        strcmp(name, "IntFlag") == 0)
      return ENUM_PLAIN;
    if (strcmp(name, "Enum") == 0 || strcmp(name, "Flag") == 0) {
      bool is_plain =
          i > 0 && (strcmp(c->bases[i - 1], "str") == 0 || strcmp(c->bases[i - 1], "int") == 0);
      return is_plain ? ENUM_PLAIN : ENUM_MEMBERS;
    }
    const struct ast_class *base = m && depth < MAX_DEPTH ? ast_find_class(m, name) : NULL;
    enum enum_kind kind = base && base != c ? kind_of(base, m, depth + 1) : ENUM_NONE;
    if (kind)
      return kind;
  }
  return ENUM_NONE;
}

static enum enum_kind enum_kind_of(const struct record *r) {
  return r->ast ? kind_of(r->ast, r->module, 0) : ENUM_NONE;
}

bool enum_fields(struct record *r) {
  if (enum_kind_of(r) != ENUM_MEMBERS)
    return false;
  r->fields = member_fields;
  r->field_count = COUNT_OF(member_fields);
  return true;
}

static bool is_flags(const struct ast_class *c) {
  for (size_t i = 0; i < c->base_count; i++)
    if (strcmp(c->bases[i], "Flag") == 0 || strcmp(c->bases[i], "IntFlag") == 0)
      return true;
  return false;
}

static bool is_auto(const struct expr *x) {
  if (x->kind != EXPR_CALL || x->call.arg_count)
    return false;
  const struct expr *f = x->call.callee;
  const char *name = f->kind == EXPR_NAME        ? f->name
                     : f->kind == EXPR_ATTRIBUTE ? f->attribute.name
                                                 : "";
  return strcmp(name, "auto") == 0;
}

// `auto()`, `steps` members after `n`: one more each time; of flags the next powers of two.
static struct value auto_value(const struct ast_class *c, int_const n, size_t steps) {
  if (!is_flags(c))
    return value_int(n + (int_const)steps);
  int_const power = 1, most = (int_const)1 << 100;
  while (power <= n && power < most)
    power *= 2;
  for (; steps > 1 && power < most; steps--)
    power *= 2;
  return steps == 0 ? value_int(n) : power < most ? value_int(power) : VALUE_ERROR;
}

static struct value constant_at(struct eval *e, const struct record *r, const struct ast_class *c,
                                size_t i, struct span at) {
  size_t first = i;
  int_const n = 0;
  while (first > 0 && is_auto(c->constants[first].value))
    first--;
  const struct ast_constant *k = &c->constants[first];
  if (enum_kind_of(r) == ENUM_NONE || !is_auto(c->constants[i].value))
    return scope_constant(e, r->module, &c->constants[i], at);
  struct value before = is_auto(k->value) ? value_int(1) : scope_constant(e, r->module, k, at);
  return value_as_int(before, &n) ? auto_value(c, n, i - first) : VALUE_ERROR;
}

static struct value member_at(struct eval *e, const struct record *r, const struct ast_class *c,
                              size_t i, struct span at) {
  struct value v = constant_at(e, r, c, i, at);
  if (enum_kind_of(r) != ENUM_MEMBERS || value_is_poison(v))
    return v;
  struct value *items = arena_array(e->a, struct value, COUNT_OF(member_fields));
  items[0] = v;
  items[1] = value_str(str_from(c->constants[i].name));
  struct value member = value_tuple(items, COUNT_OF(member_fields));
  member.tuple.record = r;
  return member;
}

static bool find_constant(struct eval *e, const struct record *r, const struct ast_class *c,
                          const char *name, struct span at, unsigned depth, struct value *ret) {
  for (size_t i = c->constant_count; i-- > 0;)
    if (strcmp(c->constants[i].name, name) == 0)
      return *ret = member_at(e, r, c, i, at), true;
  for (size_t i = 0; r->module && i < c->base_count && depth < MAX_DEPTH; i++) {
    const struct ast_class *base = ast_find_class(r->module, c->bases[i]);
    if (base && base != c && find_constant(e, r, base, name, at, depth + 1, ret))
      return true;
  }
  return false;
}

bool class_constant(struct eval *e, const struct record *r, const char *name, struct span at,
                    struct value *ret) {
  return r->ast && find_constant(e, r, r->ast, name, at, 0, ret);
}

bool enum_members(struct eval *e, const struct record *r, struct span at, struct tuple *ret) {
  *ret = (struct tuple){0};
  if (enum_kind_of(r) == ENUM_NONE)
    return true;
  ret->len = r->ast->constant_count;
  ret->at = arena_array(e->a, struct value, ret->len + 1);
  for (size_t i = 0; i < ret->len; i++) {
    ret->at[i] = member_at(e, r, r->ast, i, at);
    if (value_is_poison(ret->at[i]))
      return false;
  }
  return true;
}

bool enum_construct(struct eval *e, const struct record *r, const struct operand *args,
                    size_t count, struct span at, struct value *ret) {
  struct tuple members;
  enum enum_kind kind = enum_kind_of(r);
  if (kind == ENUM_NONE)
    return false;
  *ret = VALUE_ERROR;
  if (!enum_members(e, r, at, &members))
    return true;
  for (size_t i = 0; i < members.len && count == 1; i++) {
    struct value v = members.at[i];
    if (const_equal(kind == ENUM_PLAIN ? v : v.tuple.at[0], args[0].v) ||
        (kind == ENUM_MEMBERS && const_equal(v, args[0].v)))
      return *ret = v, true;
  }
  eval_error(e, at, E0501, "`%s` has no member with this value", record_name(r));
  return true;
}
