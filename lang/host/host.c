// SPDX-License-Identifier: Apache-2.0
// Values of host code: opaque ones, lists and dictionaries that change, names, lambdas.
#include "lang/host/host.h"

#include "lang/builtins/builtins.h"
#include "lang/emit/consteval.h"
#include "lang/host/functions.h"

// ---- opaque values ----

struct value host_opaque(struct emitter *e, const char *path) {
  struct opaque *o = arena_new(e->a, struct opaque);
  *o = (struct opaque){.path = path, .dtype = DTYPE_NONE};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = o};
}

struct value host_argument(struct emitter *e, const char *name, bool is_pointer, enum dtype dtype) {
  struct opaque *o = arena_new(e->a, struct opaque);
  *o = (struct opaque){name, name, is_pointer, dtype};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = o};
}

bool need_known(struct emitter *e, struct operand x) {
  if (x.v.kind != VALUE_OPAQUE)
    return !value_is_poison(x.v);
  const struct opaque *o = x.v.opaque;
  struct diag *d = emit_error(e, x.at, e->host->code, "%s needs `%s`, which is not known here",
                              e->host->what, o->path);
  const char *param = e->host->param ? e->host->param : "NAME";
  if (e->host->code == E0464)
    diag_help(d, "`--space` says what may be chosen, without the pruning function");
  else if (o->argument)
    diag_help(d, "a launch gives it; give what follows from it by `-D %s=...`", param);
  else
    diag_help(d,
              "nothing of the host is looked at; write the value, or give the parameters by "
              "`-D %s=...`",
              param);
  return false;
}

// An attribute of what is not known: mostly as little known.
static struct value opaque_attribute(struct emitter *e, const struct opaque *o, const char *name) {
  if (o->is_pointer && strcmp(name, "dtype") == 0 && o->dtype != DTYPE_NONE)
    return value_type(type_scalar(o->dtype));
  if (o->is_pointer && strcmp(name, "is_cuda") == 0)
    return value_bool(true);
  struct opaque *inner = arena_new(e->a, struct opaque);
  *inner = (struct opaque){
      .path = arena_printf(e->a, "%s.%s", o->path, name),
      .argument = o->argument,
      .dtype = o->is_pointer && strcmp(name, "element_size") == 0 ? o->dtype : DTYPE_NONE};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = inner};
}

struct value host_call_opaque(struct emitter *e, struct operand callee) {
  const struct opaque *o = callee.v.opaque;
  if (o->dtype != DTYPE_NONE && !o->is_pointer) // x.element_size()
    return value_int(dtype_bytes(o->dtype));
  struct opaque *result = arena_new(e->a, struct opaque);
  *result = (struct opaque){
      .path = arena_printf(e->a, "%s()", o->path), .argument = o->argument, .dtype = DTYPE_NONE};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = result};
}

struct value host_compare(struct emitter *e, enum ast_op op, struct operand a, struct operand b) {
  struct operand unknown = a.v.kind == VALUE_OPAQUE ? a : b;
  struct operand other = a.v.kind == VALUE_OPAQUE ? b : a;
  const char *argument = unknown.v.opaque->argument;
  bool is_itself = argument && strcmp(unknown.v.opaque->path, argument) == 0;
  if ((op == OP_IN || op == OP_NOT_IN) && strcmp(unknown.v.opaque->path, "os.environ") == 0 &&
      other.v.kind == VALUE_STR)
    return value_bool(op == OP_NOT_IN); // the environment is taken to be empty
  // An argument of a launch is not None: that would be a constant.
  if (is_itself && other.v.kind == VALUE_NONE) {
    if (op == OP_IS || op == OP_EQ)
      return value_bool(false);
    if (op == OP_IS_NOT || op == OP_NE)
      return value_bool(true);
  }
  need_known(e, unknown);
  return VALUE_ERROR;
}

// ---- lists and dictionaries ----

struct value host_value(struct emitter *e, struct value v) {
  if (v.kind != VALUE_TUPLE || value_is_record(v, RECORD_BLOCK_POINTER))
    return v;
  struct list *l = v.tuple.list;
  if (!l) {
    l = arena_new(e->a, struct list);
    *l = (struct list){.at = v.tuple.at, .len = v.tuple.len}; // cap 0: shared, copied when changed
    v.tuple.list = l;
  }
  v.tuple.at = l->at;
  v.tuple.len = l->len;
  return v;
}

void host_reserve(struct emitter *e, struct list *l, size_t len) {
  if (len <= l->cap)
    return;
  size_t cap = l->cap * 2 > len ? l->cap * 2 : len + 8;
  struct value *at = arena_array(e->a, struct value, cap);
  for (size_t i = 0; i < l->len; i++)
    at[i] = l->at[i];
  l->at = at;
  l->cap = cap;
}

static bool mentions(struct value v, const struct list *l) {
  if (v.kind != VALUE_TUPLE)
    return false;
  bool found = v.tuple.list == l;
  for (size_t i = 0; i < v.tuple.len && !found; i++)
    found = mentions(v.tuple.at[i], l);
  return found;
}

bool host_can_hold(struct emitter *e, struct value into, struct value v, struct span at) {
  if (v.kind != VALUE_TUPLE)
    return true;
  if (!emit_check_size(e, v, at))
    return false;
  if (!mentions(v, into.tuple.list))
    return true;
  emit_error(e, at, e->host->code, "%s needs a list that holds itself, which is not evaluated",
             e->host->what);
  return false;
}

struct value host_dict(struct emitter *e) {
  struct value v = value_tuple(NULL, 0);
  v.tuple.record = &record_dict;
  return host_value(e, v);
}

static size_t dict_row(struct tuple dict, struct value key) {
  size_t i = 0;
  while (i < dict.len && !const_equal(dict.at[i].tuple.at[0], key))
    i++;
  return i;
}

void host_dict_put(struct emitter *e, struct value dict, struct value key, struct value v) {
  struct value *row = arena_array(e->a, struct value, 2);
  row[0] = key;
  row[1] = v;
  struct list *l = dict.tuple.list;
  size_t i = dict_row((struct tuple){.at = l->at, .len = l->len}, key);
  host_reserve(e, l, l->len + 1);
  l->at[i] = value_tuple(row, 2);
  l->len += i == l->len;
}

bool host_dict_get(struct value dict, struct value key, struct value *ret) {
  struct tuple t = dict.tuple;
  if (t.list)
    t.at = t.list->at, t.len = t.list->len;
  size_t i = dict_row(t, key);
  if (i < t.len)
    *ret = t.at[i].tuple.at[1];
  return i < t.len;
}

struct value host_dict_name(struct value dict, const char *name) {
  struct value v;
  return host_dict_get(dict, value_str(str_from(name)), &v) ? v : value_of_kind(VALUE_NONE);
}

struct value host_dict_of(struct emitter *e, const struct value *pairs, size_t count) {
  struct value dict = host_dict(e);
  for (size_t i = 0; i < count; i++)
    host_dict_put(e, dict, pairs[i].tuple.at[0], pairs[i].tuple.at[1]);
  return dict;
}

struct value host_dict_display(struct emitter *e, const struct expr *x) {
  struct value dict = host_dict(e);
  for (size_t i = 0; i < x->dict.count && !e->stopped; i++) {
    const struct dict_item *item = &x->dict.items[i];
    if (item->key) {
      struct operand key = {emit_expr(e, item->key), item->key->span};
      if (need_known(e, key))
        host_dict_put(e, dict, key.v, emit_expr(e, item->value));
      continue;
    }
    struct operand other = {emit_expr(e, item->value), item->value->span};
    if (!need_known(e, other))
      return VALUE_ERROR;
    if (!value_is_record(other.v, RECORD_DICT)) {
      emit_error(e, other.at, E0230, "%s is no dictionary", value_describe(e, other.v));
      return VALUE_ERROR;
    }
    for (size_t k = 0; k < other.v.tuple.len; k++)
      host_dict_put(e, dict, other.v.tuple.at[k].tuple.at[0], other.v.tuple.at[k].tuple.at[1]);
  }
  return e->stopped || !emit_check_size(e, host_value(e, dict), x->span) ? VALUE_ERROR : dict;
}

struct value host_dict_call(struct emitter *e, const struct operand *args, const char *const *names,
                            size_t count) {
  struct value dict = host_dict(e);
  for (size_t i = 0; i < count; i++) {
    if (names[i]) {
      host_dict_put(e, dict, value_str(str_from(names[i])), args[i].v);
      continue;
    }
    if (!need_known(e, args[i]))
      return VALUE_ERROR;
    if (!value_is_record(args[i].v, RECORD_DICT)) {
      emit_error(e, args[i].at, E0230, "%s is no dictionary", value_describe(e, args[i].v));
      return VALUE_ERROR;
    }
    for (size_t k = 0; k < args[i].v.tuple.len; k++)
      host_dict_put(e, dict, args[i].v.tuple.at[k].tuple.at[0], args[i].v.tuple.at[k].tuple.at[1]);
  }
  return dict;
}

struct value host_set(struct emitter *e, const struct value *at, size_t count) {
  struct value *unique = arena_array(e->a, struct value, count + 1);
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    size_t k = 0;
    while (k < n && !const_equal(unique[k], at[i]))
      k++;
    if (k == n)
      unique[n++] = at[i];
  }
  return value_tuple(unique, n);
}

struct value *host_letters(struct emitter *e, struct str s) {
  struct value *at = arena_array(e->a, struct value, s.len + 1);
  for (size_t i = 0; i < s.len; i++)
    at[i] = value_str((struct str){s.ptr + i, 1});
  return at;
}

// ---- assignment ----

static bool store_element(struct emitter *e, const struct expr *target, struct value object,
                          struct value v) {
  const struct expr_list *items = &target->subscript.items;
  struct operand key = {emit_expr(e, items->at[0]), items->at[0]->span};
  if (items->len > 1) {
    struct value *at = arena_array(e->a, struct value, items->len);
    at[0] = key.v;
    for (size_t i = 1; i < items->len; i++)
      at[i] = emit_expr(e, items->at[i]);
    key.v = value_tuple(at, items->len);
  }
  if (!need_known(e, key))
    return true;
  if (value_is_record(object, RECORD_DICT)) {
    host_dict_put(e, object, key.v, v);
    return true;
  }
  int64_t i, len = (int64_t)object.tuple.len;
  if (object.tuple.record || items->at[0]->kind == EXPR_SLICE)
    return false;
  if (!need_const_int(e, key, "the index of a list", &i))
    return true;
  if (i < -len || i >= len) {
    emit_error(e, key.at, E0212, "index %lld of a list of %lld", (long long)i, (long long)len);
    return true;
  }
  host_reserve(e, object.tuple.list, object.tuple.len + 1);
  object.tuple.list->at[i < 0 ? i + len : i] = v;
  return true;
}

bool host_store(struct emitter *e, const struct expr *target, struct value v) {
  bool is_field = target->kind == EXPR_ATTRIBUTE;
  const struct expr *x = is_field ? target->attribute.object : target->subscript.object;
  struct value object = emit_expr(e, x);
  if (e->stopped)
    return true;
  if (object.kind == VALUE_OPAQUE) // hooks and the like: nobody looks
    return true;
  if (object.kind != VALUE_TUPLE || !object.tuple.list)
    return false;
  if (!host_can_hold(e, object, v, target->span))
    return true;
  if (!is_field)
    return store_element(e, target, object, v);
  const struct record *r = object.tuple.record;
  for (size_t i = 0; r && r->kind == RECORD_CLASS && i < r->field_count; i++)
    if (strcmp(r->fields[i].name, target->attribute.name) == 0) {
      host_reserve(e, object.tuple.list, object.tuple.len + 1);
      object.tuple.list->at[i] = v;
      return true;
    }
  return false;
}

// ---- names ----

// What an attribute of a module of the host is, by its last words.
static bool known_path(struct emitter *e, const char *path, struct value *ret) {
  const char *last = strrchr(path, '.');
  const struct builtin *b = host_function(last ? last + 1 : path);
  if (strcmp(path, "os.environ.get") == 0)
    b = host_function("getenv");
  if (strcmp(path, "packaging.version.parse") == 0 || strcmp(path, "version.parse") == 0)
    b = host_function("Version");
  if (strcmp(path, "typing.TYPE_CHECKING") == 0)
    return *ret = value_bool(false), true;
  if (strcmp(path, "triton.__version__") == 0)
    return *ret = value_str(STR(TRITON_VERSION)), true;
  if (strncmp(path, "builtins.", 9) == 0 && !(b = host_python(path + 9)))
    b = builtin_find_bare(e, path + 9);
  if (b)
    return *ret = (struct value){.kind = VALUE_BUILTIN, .builtin = b}, true;
  if (strcmp(path, "torch.version.hip") == 0 || strcmp(path, "torch.version.xpu") == 0)
    return *ret = value_of_kind(VALUE_NONE), true;
  if (strcmp(path, "torch.version.cuda") == 0)
    return *ret = value_str(STR("12.8")), true;
  return false;
}

static bool imported(struct emitter *e, const char *module, const char *name, struct value *ret) {
  const struct builtin *b = name ? host_function(name) : NULL;
  if (!b && name && strcmp(module, "math") == 0)
    b = builtin_find(e, name);
  if (b)
    return *ret = (struct value){.kind = VALUE_BUILTIN, .builtin = b}, true;
  if (name && known_path(e, arena_printf(e->a, "%s.%s", module, name), ret))
    return true;
  *ret = host_opaque(e, name ? arena_printf(e->a, "%s.%s", module, name) : module);
  return true;
}

bool host_name(struct emitter *e, const char *name, struct value *ret) {
  const struct ast_module *m = e->frame->module;
  for (size_t i = m->import_count; i-- > 0;) {
    const struct ast_import *im = &m->imports[i];
    if (im->bound && strcmp(im->bound, name) == 0 && ast_may_hold(im->guard))
      return imported(e, im->module, im->name, ret);
  }
  // The language's own words need no prefix.
  bool is_word = strcmp(name, "autotune") == 0 || strcmp(name, "heuristics") == 0 ||
                 strcmp(name, "Config") == 0;
  const struct builtin *b = is_word ? host_function(name) : host_python(name);
  if (b)
    *ret = (struct value){.kind = VALUE_BUILTIN, .builtin = b};
  return b != NULL;
}

// `import x` within a function: the file's own modules are not read there.
void host_import(struct emitter *e, const struct stmt *s) {
  for (size_t i = 0; i < s->import.count; i++) {
    const struct ast_import *im = &s->import.items[i];
    struct value v;
    if (!im->bound)
      continue;
    if (strcmp(im->module, "triton") == 0 && !im->name)
      v = (struct value){.kind = VALUE_MODULE, .module = MODULE_TRITON};
    else if (strcmp(im->module, "math") == 0 && !im->name)
      v = (struct value){.kind = VALUE_MODULE, .module = MODULE_MATH};
    else if (strcmp(im->module, "torch") == 0 && !im->name)
      v = (struct value){.kind = VALUE_MODULE, .module = MODULE_HOST};
    else
      imported(e, im->module, im->name, &v);
    scope_assign(e, im->bound, im->span, v);
  }
}

static struct value bound(struct emitter *e, const struct builtin *b, struct value v) {
  struct value *receiver = arena_new(e->a, struct value);
  *receiver = v;
  return (struct value){.kind = VALUE_BOUND, .bound = {.builtin = b, .receiver = receiver}};
}

static const char *module_name(enum module_id m) {
  switch (m) {
  case MODULE_TRITON: return "triton";
  case MODULE_TL: return "triton.language";
  case MODULE_MATH: return "math";
  case MODULE_EXTRA: return "triton.language.extra";
  case MODULE_HOST: return "torch";
  }
  return "?";
}

bool host_attribute(struct emitter *e, struct operand x, const char *name, struct value *ret) {
  const struct builtin *method;
  switch ((int)x.v.kind) {
  case VALUE_OPAQUE:
    *ret = opaque_attribute(e, x.v.opaque, name);
    if (!x.v.opaque->argument)
      known_path(e, ret->opaque->path, ret);
    return true;
  case VALUE_MODULE: {
    const char *path = arena_printf(e->a, "%s.%s", module_name(x.v.module), name);
    if (known_path(e, path, ret) || module_find(e, x.v.module, name, ret))
      return true;
    *ret = host_opaque(e, path);
    return true;
  }
  case VALUE_STR:
  case VALUE_TUPLE:
    if ((method = host_method(x.v, name)))
      return *ret = bound(e, method, x.v), true;
  }
  return false;
}

// ---- lambdas ----

struct value host_lambda(struct emitter *e, const struct expr *x) {
  struct stmt *body = arena_new(e->a, struct stmt);
  *body = (struct stmt){.kind = STMT_RETURN, .span = x->lambda.body->span, .value = x->lambda.body};
  struct stmt **list = arena_array(e->a, struct stmt *, 1);
  list[0] = body;
  struct ast_function *f = arena_new(e->a, struct ast_function);
  *f = (struct ast_function){.name = "<lambda>",
                             .name_span = x->span,
                             .span = x->span,
                             .params = x->lambda.params,
                             .param_count = x->lambda.param_count,
                             .is_constexpr_function = true,
                             .body = {list, 1}};
  return emit_function_value(e, f, e->frame->module, e->frame);
}
