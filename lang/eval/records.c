// SPDX-License-Identifier: Apache-2.0
// Records: values of classes with named fields, represented as a tuple with its class.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/consteval.h"

// Limits on bases and on chains of bases: two classes must not cause exponential time.
enum { MAX_DEPTH = 5, MAX_BASES = 6 };

static size_t base_count(const struct ast_class *c) {
  return c->base_count < MAX_BASES ? c->base_count : MAX_BASES;
}

// ---- classes ----

static void add_fields(struct eval *e, const struct ast_class *c, const struct ast_module *m,
                       struct ast_field *fields, size_t *count, unsigned depth) {
  for (size_t i = 0; i < base_count(c) && depth < MAX_DEPTH; i++) {
    const struct ast_class *base = ast_find_class(m, c->bases[i]);
    if (base && base != c)
      add_fields(e, base, m, fields, count, depth + 1);
  }
  for (size_t i = 0; i < c->field_count; i++) {
    size_t at = 0;
    while (at < *count && strcmp(fields[at].name, c->fields[i].name) != 0)
      at++;
    if (at == RECORD_MAX_FIELDS)
      return;
    fields[at] = c->fields[i];
    *count += at == *count;
  }
}

struct value class_value(struct eval *e, const struct ast_class *c, const struct ast_module *m) {
  struct record *r = ptrmap_get(&e->records, c);
  if (!r) {
    r = arena_new(e->a, struct record);
    struct ast_field *fields = arena_array(e->a, struct ast_field, RECORD_MAX_FIELDS);
    *r = (struct record){.kind = RECORD_CLASS, .ast = c, .module = m, .fields = fields};
    if (!enum_fields(r))
      add_fields(e, c, m, fields, &r->field_count, 0);
    ptrmap_put(e->a, &e->records, c, r);
  }
  return (struct value){.kind = VALUE_CLASS, .class = r};
}

static const struct ast_function *find_method(const struct ast_class *c, const struct ast_module *m,
                                              const char *name, unsigned depth) {
  for (size_t i = c->method_count; i-- > 0;)
    if (strcmp(c->methods[i]->name, name) == 0)
      return c->methods[i];
  for (size_t i = 0; i < base_count(c) && depth < MAX_DEPTH; i++) {
    const struct ast_class *base = ast_find_class(m, c->bases[i]);
    const struct ast_function *f = base && base != c ? find_method(base, m, name, depth + 1) : NULL;
    if (f)
      return f;
  }
  return NULL;
}

static const struct ast_function *method_of(const struct record *r, const char *name) {
  return r->ast ? find_method(r->ast, r->module, name, 0) : NULL;
}

static size_t field_index(const struct record *r, const char *name) {
  size_t i = 0;
  while (i < r->field_count && strcmp(r->fields[i].name, name) != 0)
    i++;
  return i;
}

// ---- making ----

static struct value empty_record(struct eval *e, const struct record *r) {
  struct value *at = arena_array(e->a, struct value, r->field_count ? r->field_count : 1);
  for (size_t i = 0; i < r->field_count; i++)
    at[i] = value_of_kind(VALUE_ABSENT);
  struct value v = value_tuple(at, r->field_count);
  v.tuple.record = r;
  return v;
}

// "`x`, `y`"
static const char *field_list(struct eval *e, const struct record *r) {
  struct strbuf b = {.arena = e->a};
  for (size_t i = 0; i < r->field_count; i++)
    strbuf_printf(&b, "%s`%s`", i ? ", " : "", r->fields[i].name);
  return r->field_count ? arena_strdup(e->a, strbuf_cstr(&b)) : "none";
}

bool record_help_field(struct eval *e, struct diag *d, const struct record *r, const char *name,
                       struct span at) {
  if (!r || r->kind != RECORD_CLASS || !r->fields)
    return false;
  const char **names = arena_array(e->a, const char *, r->field_count + 1);
  for (size_t i = 0; i < r->field_count; i++)
    names[i] = r->fields[i].name;
  const char *near = str_nearest(str_from(name), names, r->field_count);
  if (near)
    diag_did_you_mean(d, at, near);
  else
    diag_help(d, "the fields of `%s` are %s", record_name(r), field_list(e, r));
  return true;
}

static bool no_such_field(struct eval *e, const struct record *r, const char *name,
                          struct span at) {
  struct diag *d = eval_error(e, at, E0501, "`%s` has no field `%s`", record_name(r), name);
  record_help_field(e, d, r, name, at);
  return false;
}

// The name before an argument, `name=value`; the value where it is not written so.
static struct span keyword_span(struct span value, const char *name) {
  const char *text = value.source ? value.source->text.ptr : NULL;
  size_t i = text ? value.begin : 0, n = strlen(name);
  while (i > 0 && (text[i - 1] == ' ' || text[i - 1] == '=' || text[i - 1] == '('))
    i--;
  if (i < n || memcmp(text + i - n, name, n) != 0)
    return value;
  return (struct span){value.source, (uint32_t)(i - n), (uint32_t)i};
}

static bool give_fields(struct eval *e, struct value v, const struct operand *args,
                        const char *const *names, size_t count) {
  const struct record *r = v.tuple.record;
  for (size_t i = 0, next = 0; i < count; i++) {
    bool named = names && names[i];
    size_t at = named ? field_index(r, names[i]) : next++;
    if (named && at == r->field_count)
      return no_such_field(e, r, names[i], keyword_span(args[i].at, names[i]));
    if (at >= r->field_count || v.tuple.at[at].kind != VALUE_ABSENT) {
      struct diag *d = eval_error(e, args[i].at, E0501,
                                  at >= r->field_count ? "too many values for `%s`"
                                                       : "a field of `%s` is given twice",
                                  record_name(r));
      diag_help(d, "its fields are %s", field_list(e, r));
      return false;
    }
    v.tuple.at[at] = args[i].v;
  }
  return true;
}

static bool default_fields(struct eval *e, struct value v, struct span at) {
  const struct record *r = v.tuple.record;
  for (size_t i = 0; i < r->field_count; i++) {
    if (v.tuple.at[i].kind != VALUE_ABSENT)
      continue;
    if (!r->fields[i].default_value) {
      struct diag *d = eval_error(e, at, E0501, "field `%s` of `%s` has no value",
                                  r->fields[i].name, record_name(r));
      diag_label(d, r->fields[i].name_span, "declared here");
      diag_help(d, "give all of %s, or a default where the class is made", field_list(e, r));
      return false;
    }
    struct frame f = {.module = r->module, .call_loc = e->b.loc, .region = e->region};
    struct frame *saved = e->frame;
    e->frame = &f;
    v.tuple.at[i] = eval_expr(e, r->fields[i].default_value);
    e->frame = saved;
  }
  return true;
}

// `__init__` assigns the fields one by one; the final value of `self` is the record.
static struct value init_record(struct eval *e, const struct record *r,
                                const struct ast_function *init, const struct operand *args,
                                const char *const *names, size_t count, struct span at) {
  struct operand *all = arena_array(e->a, struct operand, count + 1);
  const char **all_names = arena_array(e->a, const char *, count + 1);
  all[0] = (struct operand){empty_record(e, r), at};
  all_names[0] = NULL;
  for (size_t i = 0; i < count; i++) {
    all[i + 1] = args[i];
    all_names[i + 1] = names ? names[i] : NULL;
  }
  struct value f = function_value(e, init, r->module, NULL);
  struct value self;
  if (value_is_poison(
          eval_inline_for(e, f.func, all, all_names, count + 1, at, init->params[0].name, &self)))
    return VALUE_ERROR;
  return value_is_record(self, RECORD_CLASS) && default_fields(e, self, at) ? self : VALUE_ERROR;
}

struct value record_construct(struct eval *e, const struct record *r, const struct operand *args,
                              const char *const *names, size_t count, struct span at) {
  for (size_t i = 0; i < count; i++)
    if (value_is_poison(args[i].v))
      return VALUE_ERROR;
  struct value member;
  if (enum_construct(e, r, args, count, at, &member))
    return member;
  const struct ast_function *init = method_of(r, "__init__");
  if (init && init->param_count)
    return init_record(e, r, init, args, names, count, at);
  struct value v = empty_record(e, r);
  return give_fields(e, v, args, names, count) && default_fields(e, v, at) ? v : VALUE_ERROR;
}

struct value record_of_argument(struct eval *e, struct value v, const struct expr *annotation,
                                const struct ast_module *m, struct span at) {
  bool is_named =
      v.kind == VALUE_TUPLE && !v.tuple.record && annotation && annotation->kind == EXPR_NAME;
  const struct ast_class *c = is_named ? ast_find_class(m, annotation->name) : NULL;
  if (!c || c->is_host)
    return v;
  const struct record *r = class_value(e, c, m).class;
  if (v.tuple.len != r->field_count) {
    struct diag *d = eval_error(e, at, E0501, "`%s` has %zu fields, and the argument %zu values",
                                c->name, r->field_count, v.tuple.len);
    diag_help(d, "give a value for each of %s", field_list(e, r));
    return VALUE_ERROR;
  }
  struct value *items = arena_array(e->a, struct value, r->field_count + 1);
  for (size_t i = 0; i < r->field_count; i++)
    items[i] = record_of_argument(e, v.tuple.at[i], r->fields[i].annotation, m, at);
  struct value named = value_tuple(items, r->field_count);
  named.tuple.record = r;
  return named;
}

// ---- using ----

static struct value class_of(const struct record *r) {
  return (struct value){.kind = VALUE_CLASS, .class = r};
}

static struct value bind(struct eval *e, struct value function, struct value receiver) {
  struct value *to = arena_new(e->a, struct value);
  *to = receiver;
  return (struct value){.kind = VALUE_BOUND, .bound = {.func = function.func, .receiver = to}};
}

struct value record_field(struct eval *e, struct operand x, const char *name, struct span at,
                          bool *ret_found) {
  const struct record *r = x.v.tuple.record;
  size_t i = r->fields ? field_index(r, name) : r->field_count;
  const struct ast_function *f;
  *ret_found = true;
  if (i < r->field_count) {
    if (x.v.tuple.at[i].kind != VALUE_ABSENT)
      return x.v.tuple.at[i];
    diag_help(eval_error(e, at, E0202, "field `%s` has no value yet", name),
              "assign it in `__init__`, or give it a default");
    return VALUE_ERROR;
  }
  if ((f = method_of(r, name))) {
    struct value fn = function_value(e, f, r->module, NULL);
    if (f->is_static)
      return fn;
    if (f->is_property)
      return eval_inline(e, fn.func, &x, NULL, 1, at);
    return bind(e, fn, f->is_class_method ? class_of(r) : x.v);
  }
  struct value v = VALUE_ERROR;
  *ret_found = r->ast && class_constant(e, r, name, at, &v);
  return v;
}

struct value class_attribute(struct eval *e, const struct record *r, const char *name,
                             struct span at) {
  const struct ast_function *f = method_of(r, name);
  struct value v;
  if (f) {
    v = function_value(e, f, r->module, NULL);
    return f->is_class_method ? bind(e, v, class_of(r)) : v;
  }
  if (class_constant(e, r, name, at, &v))
    return v;
  diag_help(eval_error(e, at, E0211, "the class `%s` has no function or constant `%s`",
                       record_name(r), name),
            "check the spelling, or define it in the class");
  return VALUE_ERROR;
}

bool record_assign_field(struct eval *e, const struct expr *target, struct value v) {
  const struct expr *object = target->attribute.object;
  const struct ast_function *f = e->frame->function;
  if (object->kind != EXPR_NAME || !f || strcmp(f->name, "__init__") != 0)
    return false;
  struct variable *var = scope_find(e->frame, object->name);
  if (!var || !value_is_record(var->value, RECORD_CLASS))
    return false;
  const struct record *r = var->value.tuple.record;
  size_t i = field_index(r, target->attribute.name);
  if (i == r->field_count)
    return no_such_field(e, r, target->attribute.name, target->span), true;
  struct value *at = arena_array(e->a, struct value, r->field_count);
  for (size_t k = 0; k < r->field_count; k++)
    at[k] = k == i ? v : var->value.tuple.at[k];
  scope_assign(e, object->name, target->span, value_with_items(var->value, at));
  return true;
}
