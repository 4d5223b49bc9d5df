// SPDX-License-Identifier: Apache-2.0
// Host code as a dialect of the evaluator: what it has beyond kernels (names of its modules,
// lambdas, mutable objects); a value is either evaluated or opaque.
#include "lang/eval/python.h"

#include "lang/eval/consteval.h"

// ---- opaque values ----

// An attribute of an opaque value, itself opaque but for a few.
static struct value opaque_attribute(struct eval *e, const struct opaque *o, const char *name) {
  for (size_t i = e->purpose->blocks.len; o->is_descriptor && i-- > 0;)
    if (strcmp(name, "block_shape") == 0 &&
        strcmp(e->purpose->blocks.at[i].argument, o->argument) == 0)
      return e->purpose->blocks.at[i].shape;
  if ((o->is_pointer || o->is_descriptor) && strcmp(name, "dtype") == 0 && o->dtype != DTYPE_NONE)
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

static struct value host_call_opaque(struct eval *e, struct operand callee) {
  const struct opaque *o = callee.v.opaque;
  if (o->dtype != DTYPE_NONE && !o->is_pointer) // x.element_size()
    return value_int(dtype_bytes(o->dtype));
  struct opaque *result = arena_new(e->a, struct opaque);
  *result = (struct opaque){
      .path = arena_printf(e->a, "%s()", o->path), .argument = o->argument, .dtype = DTYPE_NONE};
  return (struct value){.kind = VALUE_OPAQUE, .opaque = result};
}

// `sys.version_info >= (3, 9)`: true of every Python that Triton runs on, 3.10 and newer. False:
// another comparison, or newer versions decide it.
static bool compare_python(enum ast_op op, struct operand a, struct operand b, struct value *ret) {
  int_const major, minor = 0;
  bool is_version = a.v.kind == VALUE_OPAQUE && strcmp(a.v.opaque->path, PYTHON_VERSION) == 0 &&
                    b.v.kind == VALUE_TUPLE && !b.v.tuple.record && b.v.tuple.len > 0 &&
                    b.v.tuple.len <= 3;
  if (!is_version || !value_as_int(b.v.tuple.at[0], &major) ||
      (b.v.tuple.len > 1 && !value_as_int(b.v.tuple.at[1], &minor)))
    return false;
  bool is_older = major < 3 || (major == 3 && (minor < 10 || (minor == 10 && b.v.tuple.len < 3)));
  if (!is_older && major < 4)
    return false;
  if (op == OP_GE || op == OP_LT)
    return *ret = value_bool((op == OP_GE) == is_older), true;
  if ((op == OP_GT || op == OP_LE) && (minor < 10 || major != 3))
    return *ret = value_bool((op == OP_GT) == is_older), true;
  return false;
}

static struct value host_compare(struct eval *e, enum ast_op op, struct operand a,
                                 struct operand b) {
  struct value v;
  if (compare_python(op, a, b, &v))
    return v;
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

// ---- displays ----

static struct value host_dict_display(struct eval *e, const struct expr *x) {
  struct value dict = host_dict(e);
  for (size_t i = 0; i < x->dict.count && !e->stopped; i++) {
    const struct dict_item *item = &x->dict.items[i];
    if (item->key) {
      struct operand key = {eval_expr(e, item->key), item->key->span};
      if (need_known(e, key))
        host_dict_put(e, dict, key.v, eval_expr(e, item->value));
      continue;
    }
    struct operand other = {eval_expr(e, item->value), item->value->span};
    if (!need_known(e, other))
      return VALUE_ERROR;
    if (!value_is_record(other.v, RECORD_DICT)) {
      eval_error(e, other.at, E0230, "%s is no dictionary", value_describe(e, other.v));
      return VALUE_ERROR;
    }
    for (size_t k = 0; k < other.v.tuple.len; k++)
      host_dict_put(e, dict, other.v.tuple.at[k].tuple.at[0], other.v.tuple.at[k].tuple.at[1]);
  }
  return e->stopped || !eval_check_size(e, host_value(e, dict), x->span) ? VALUE_ERROR : dict;
}

static struct value host_dict_call(struct eval *e, const struct operand *args,
                                   const char *const *names, size_t count) {
  struct value dict = host_dict(e);
  for (size_t i = 0; i < count; i++) {
    if (names[i]) {
      host_dict_put(e, dict, value_str(str_from(names[i])), args[i].v);
      continue;
    }
    if (!need_known(e, args[i]))
      return VALUE_ERROR;
    if (!value_is_record(args[i].v, RECORD_DICT)) {
      eval_error(e, args[i].at, E0230, "%s is no dictionary", value_describe(e, args[i].v));
      return VALUE_ERROR;
    }
    for (size_t k = 0; k < args[i].v.tuple.len; k++)
      host_dict_put(e, dict, args[i].v.tuple.at[k].tuple.at[0], args[i].v.tuple.at[k].tuple.at[1]);
  }
  return dict;
}

// ---- assignment ----

static bool store_element(struct eval *e, const struct expr *target, struct value object,
                          struct value v) {
  const struct expr_list *items = &target->subscript.items;
  struct operand key = {eval_expr(e, items->at[0]), items->at[0]->span};
  if (items->len > 1) {
    struct value *at = arena_array(e->a, struct value, items->len);
    at[0] = key.v;
    for (size_t i = 1; i < items->len; i++)
      at[i] = eval_expr(e, items->at[i]);
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
    diag_help(
        eval_error(e, key.at, E0212, "index %lld of a list of %lld", (long long)i, (long long)len),
        "indices count from 0, and from -1 at the end");
    return true;
  }
  host_reserve(e, object.tuple.list, object.tuple.len + 1);
  object.tuple.list->at[i < 0 ? i + len : i] = v;
  return true;
}

static bool host_store(struct eval *e, const struct expr *target, struct value v) {
  bool is_field = target->kind == EXPR_ATTRIBUTE;
  const struct expr *x = is_field ? target->attribute.object : target->subscript.object;
  struct value object = eval_expr(e, x);
  if (e->stopped)
    return true;
  if (object.kind == VALUE_OPAQUE) { // hooks and the like: ignored
    const struct opaque *o = object.opaque;
    if (is_field && o->is_descriptor && strcmp(target->attribute.name, "block_shape") == 0)
      vec_push(e->a, &e->purpose->blocks, (struct host_block){o->argument, v, target->span});
    return true;
  }
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

// The value of an attribute of a host module, by its path.
static bool known_path(struct eval *e, const char *path, struct value *ret) {
  const char *last = strrchr(path, '.');
  const struct builtin *b = host_function(last ? last + 1 : path);
  if (strcmp(path, "os.environ.get") == 0)
    b = host_function("getenv");
  if (strcmp(path, "packaging.version.parse") == 0 || strcmp(path, "version.parse") == 0)
    b = host_function("Version");
  if (strcmp(path, "torch.xpu.is_available") == 0 || strcmp(path, "torch.mps.is_available") == 0 ||
      strcmp(path, "torch.backends.mps.is_available") == 0)
    b = host_function("is_xpu"); // false
  if (strcmp(path, "typing.TYPE_CHECKING") == 0)
    return *ret = value_bool(false), true;
  if (strcmp(path, "sys.platform") == 0)
    return *ret = value_str(STR("linux")), true;
  if (strcmp(path, PYTHON_VERSION ".major") == 0)
    return *ret = value_int(3), true;
  if (strcmp(path, "triton.backends.backends") == 0)
    return *ret = host_backends(e), true;
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

static struct value imported(struct eval *e, const char *module, const char *name) {
  const struct builtin *b = name ? host_function(name) : NULL;
  if (!b && name && strcmp(module, "math") == 0)
    b = builtin_find(e, name);
  struct value v;
  if (b)
    return (struct value){.kind = VALUE_BUILTIN, .builtin = b};
  if (name && known_path(e, arena_printf(e->a, "%s.%s", module, name), &v))
    return v;
  return host_opaque(e, name ? arena_printf(e->a, "%s.%s", module, name) : module);
}

static bool host_name(struct eval *e, const char *name, struct value *ret) {
  const struct ast_module *m = e->frame->module;
  for (size_t i = m->import_count; i-- > 0;) {
    const struct ast_import *im = &m->imports[i];
    if (im->bound && strcmp(im->bound, name) == 0 && ast_may_hold(im->guard))
      return *ret = imported(e, im->module, im->name), true;
  }
  // Names of Triton that need no prefix.
  const struct builtin *b = host_python(name), *word = host_triton(name);
  if (word && word->flags & BUILTIN_BARE)
    b = word;
  if (b)
    *ret = (struct value){.kind = VALUE_BUILTIN, .builtin = b};
  return b != NULL;
}

// Within a function: the project's own modules are not read. Whether they exist is asked only
// where a `try` depends on it.
static void host_import(struct eval *e, const struct stmt *s) {
  for (size_t i = 0; i < s->import.count && !e->stopped; i++) {
    const struct ast_import *im = &s->import.items[i];
    struct value v;
    if (!host_may_import(e, im))
      return;
    if (!im->bound)
      continue;
    if (strcmp(im->module, "triton") == 0 && !im->name)
      v = (struct value){.kind = VALUE_MODULE, .module = MODULE_TRITON};
    else if (strcmp(im->module, "math") == 0 && !im->name)
      v = (struct value){.kind = VALUE_MODULE, .module = MODULE_MATH};
    else if (strcmp(im->module, "torch") == 0 && !im->name)
      v = (struct value){.kind = VALUE_MODULE, .module = MODULE_HOST};
    else
      v = imported(e, im->module, im->name);
    scope_assign(e, im->bound, im->span, v);
  }
}

static struct value bound(struct eval *e, const struct builtin *b, struct value v) {
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
  case MODULE_INDUCTOR: return "triton_helpers";
  }
  return "?";
}

static bool host_attribute(struct eval *e, struct operand x, const char *name, struct value *ret) {
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

static struct value host_lambda(struct eval *e, const struct expr *x) {
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
  return function_value(e, f, e->frame->module, e->frame);
}

// ---- the dialect ----

static struct value python_finish(struct eval *e, const struct expr *x, struct value v) {
  v = host_value(e, v);
  if (value_is_poison(v) && !e->stopped)
    eval_error(e, x->span, e->purpose->code, "%s needs this, which is not evaluated",
               e->purpose->what);
  return v;
}

static struct value python_constant(struct eval *e, const struct ast_module *m,
                                    const struct ast_constant *k, struct span at) {
  (void)m, (void)at;
  return eval_expr(e, k->value);
}

static struct value python_binary(struct eval *e, enum ast_op op, struct operand a,
                                  struct operand b, struct span at) {
  return need_known(e, a) && need_known(e, b) ? const_binary(e, op, a, b, at) : VALUE_ERROR;
}

static struct value python_compare(struct eval *e, enum ast_op op, struct operand a,
                                   struct operand b, struct span at) {
  if (a.v.kind == VALUE_OPAQUE || b.v.kind == VALUE_OPAQUE)
    return host_compare(e, op, a, b);
  bool failed = value_is_poison(a.v) || value_is_poison(b.v);
  return failed ? VALUE_ERROR : const_compare(e, op, a, b, at);
}

// Operands without a known truth were reported.
static struct value python_logic(struct eval *e, enum ast_op op, struct operand a, struct operand b,
                                 struct span at) {
  (void)e, (void)op, (void)a, (void)b, (void)at;
  return VALUE_ERROR;
}

static struct value python_truths(struct eval *e, struct value v) {
  (void)e;
  return v;
}

static struct value python_truth(struct eval *e, struct operand x, const char *what) {
  eval_error(e, x.at, E0216, "the condition of %s is %s", what, value_describe(e, x.v));
  return VALUE_ERROR;
}

static struct value python_subscript(struct eval *e, const struct expr *x, struct operand object) {
  if (object.v.kind != VALUE_STR)
    return eval_no_elements(e, x, object.v);
  struct tuple letters = {.at = host_letters(e, object.v.s), .len = object.v.s.len};
  return eval_tuple_subscript(e, x, letters);
}

static struct value python_collect(struct eval *e, enum comprehension_kind kind,
                                   const struct value *at, size_t count) {
  return kind == COMPREHENSION_DICT ? host_dict_of(e, at, count) : host_set(e, at, count);
}

static void python_refuse_function(struct eval *e, const struct function *f, struct span at) {
  struct diag *d = eval_error(e, at, e->purpose->code, "%s needs `%s`, which cannot be evaluated",
                              e->purpose->what, f->ast->name);
  diag_label(d, f->ast->name_span, "holds statements that are not read here");
  diag_help(d, "write its result where it is needed, or give the values by `-D NAME=...`");
}

static bool python_refuse_builtin(struct eval *e, const struct builtin *b, struct span at) {
  if (b->flags & (BUILTIN_HOST | BUILTIN_BARE | BUILTIN_TYPE | BUILTIN_BOTH))
    return false;
  diag_help(eval_error(e, at, e->purpose->code, "%s needs `%s`, which is a function of kernels",
                       e->purpose->what, builtin_spelled(e, b)),
            "write a number, a text or a type, or compute it inside the kernel");
  return true;
}

const struct dialect python_dialect = {.is_static = true,
                                       .stops_at_errors = true,
                                       .has_keywords = true,
                                       .most_values = HOST_MAX_VALUES,
                                       .hold = host_value,
                                       .finish = python_finish,
                                       .constant = python_constant,
                                       .find_name = host_name,
                                       .find_attribute = host_attribute,
                                       .binary = python_binary,
                                       .unary = const_unary,
                                       .compare = python_compare,
                                       .logic = python_logic,
                                       .truths = python_truths,
                                       .truth = python_truth,
                                       .subscript = python_subscript,
                                       .dict = host_dict_display,
                                       .collect = python_collect,
                                       .lambda = host_lambda,
                                       .store = host_store,
                                       .import = host_import,
                                       .attempt = python_attempt,
                                       .find_item = python_item,
                                       .unread = python_unread,
                                       .call_opaque = host_call_opaque,
                                       .call_dict = host_dict_call,
                                       .refuse_function = python_refuse_function,
                                       .refuse_builtin = python_refuse_builtin};
