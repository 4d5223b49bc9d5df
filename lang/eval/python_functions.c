// SPDX-License-Identifier: Apache-2.0
// Functions of host code: Python's builtins, and a few of its library.
#include "lang/eval/builtin_params.h"
#include "lang/eval/consteval.h"
#include "lang/eval/import.h"
#include "lang/eval/python.h"

#include <math.h>

// Calls the kernel builtin of this name.
static struct value as_in_kernels(struct eval *e, const char *name, struct call *c) {
  return builtin_find_bare(e, name)->emit(e, c);
}

// ---- the rest of Python ----

// dict(pairs), dict(other); dict(a=1) is host_dict_call.
static struct value fn_dict(struct eval *e, struct call *c) {
  struct value v = host_dict(e);
  struct tuple t;
  if (!arg_given(c, 0))
    return v;
  if (value_is_record(c->args[0].v, RECORD_DICT))
    t = c->args[0].v.tuple;
  else if (!need_sequence(e, c->args[0], &t))
    return VALUE_ERROR;
  for (size_t i = 0; i < t.len; i++) {
    if (t.at[i].kind != VALUE_TUPLE || t.at[i].tuple.len != 2) {
      eval_error(e, c->args[0].at, E0230, "`dict` takes pairs, not %s", value_describe(e, t.at[i]));
      return VALUE_ERROR;
    }
    host_dict_put(e, v, t.at[i].tuple.at[0], t.at[i].tuple.at[1]);
  }
  return v;
}

static struct value fn_round(struct eval *e, struct call *c) {
  if (!need_known(e, c->args[0]) || !value_is_number(c->args[0].v)) {
    diag_help(eval_error(e, c->at, E0503, "`round` of %s", value_describe(e, c->args[0].v)),
              "give a number");
    return VALUE_ERROR;
  }
  double v = nearbyint(value_as_double(c->args[0].v));
  return fabs(v) < 0x1p62 ? value_int((int_const)v) : value_float(v);
}

static struct value fn_itself(struct eval *e, struct call *c) {
  (void)e;
  return c->args[0].v;
}

static struct value fn_nothing(struct eval *e, struct call *c) {
  (void)e, (void)c;
  return value_of_kind(VALUE_NONE);
}

static struct value fn_getattr(struct eval *e, struct call *c) {
  struct str name;
  if (!need_const_str(e, c->args[1], "the name of an attribute", &name))
    return VALUE_ERROR;
  const char *attribute = arena_strndup(e->a, name.ptr, name.len);
  struct value x = c->args[0].v, v;
  if (x.kind == VALUE_MODULE && arg_given(c, 2) && x.module != MODULE_HOST &&
      !(module_find(e, x.module, attribute, &v) && (v.kind != VALUE_BUILTIN || v.builtin->emit)))
    return c->args[2].v;
  return eval_attribute(e, c->args[0], attribute, c->at);
}

// Launch arguments that are pointers are tensors.
static struct value fn_isinstance(struct eval *e, struct call *c) {
  struct value x = c->args[0].v, kind = c->args[1].v;
  if (kind.kind == VALUE_OPAQUE && strcmp(kind.opaque->path, "torch.Tensor") == 0)
    return value_bool(x.kind == VALUE_OPAQUE && x.opaque->is_pointer);
  if (kind.kind == VALUE_OPAQUE && str_ends(str_from(kind.opaque->path), ".TensorDescriptor"))
    return value_bool(x.kind == VALUE_OPAQUE && x.opaque->is_descriptor);
  if (!need_known(e, c->args[0]) || !need_known(e, c->args[1]))
    return VALUE_ERROR;
  return as_in_kernels(e, "isinstance", c);
}

// The environment is treated as empty, so that a file means the same everywhere.
static struct value fn_getenv(struct eval *e, struct call *c) {
  (void)e;
  return arg_given(c, 1) ? c->args[1].v : value_of_kind(VALUE_NONE);
}

// Devices' modules of torch 2, and those that other packages add to it.
static bool torch_has(const char *name, struct value *ret) {
  static const char *const own[] = {"accelerator", "compile", "cuda", "library",
                                    "mps",         "version", "xpu"};
  static const char *const added[] = {"gcu", "hpu", "mlu", "musa", "npu", "ppu", "txda"};
  for (size_t i = 0; i < COUNT_OF(own); i++)
    if (strcmp(name, own[i]) == 0)
      return *ret = value_bool(true), true;
  for (size_t i = 0; i < COUNT_OF(added); i++)
    if (strcmp(name, added[i]) == 0)
      return *ret = value_bool(false), true;
  return false;
}

// For modules of the language: the names in the tables. For most other host values it is not known.
static struct value fn_hasattr(struct eval *e, struct call *c) {
  struct operand x = c->args[0];
  struct str s;
  struct value v;
  if (!need_const_str(e, c->args[1], "the name of an attribute", &s))
    return VALUE_ERROR;
  const char *name = arena_strndup(e->a, s.ptr, s.len);
  if (x.v.kind == VALUE_MODULE) {
    bool found = module_find(e, x.v.module, name, &v);
    bool is_absent = found && v.kind == VALUE_BUILTIN && !v.builtin->emit;
    if (!found && x.v.module == MODULE_HOST && torch_has(name, &v))
      return v;
    bool is_host = x.v.module == MODULE_HOST || x.v.module == MODULE_TRITON;
    if (found || !is_host)
      return value_bool(found && !is_absent);
  }
  if (x.v.kind == VALUE_MODULE || x.v.kind == VALUE_OPAQUE || x.v.kind == VALUE_FILE)
    return host_opaque(e, arena_printf(e->a, "hasattr(%s, \"%s\")",
                                       x.v.kind == VALUE_OPAQUE ? x.v.opaque->path
                                       : x.v.kind == VALUE_FILE ? "a module"
                                                                : "the host's module",
                                       name));
  return as_in_kernels(e, "hasattr", c);
}

// packaging.version: the release numbers without a suffix ("2.1.0+cu118", "3.0rc1").
static struct value fn_version(struct eval *e, struct call *c) {
  struct str s;
  if (!need_known(e, c->args[0]) || !need_const_str(e, c->args[0], "a version", &s))
    return VALUE_ERROR;
  struct value *at = arena_array(e->a, struct value, s.len + 1);
  size_t n = 0, i = s.len && s.ptr[0] == 'v';
  while (i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9') {
    int64_t part = 0;
    for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && part < INT32_MAX; i++)
      part = part * 10 + (s.ptr[i] - '0');
    at[n++] = value_int(part);
    i += i < s.len && s.ptr[i] == '.';
  }
  while (n > 0 && at[n - 1].i == 0) // 3.0.0 is 3
    n--;
  return value_tuple(at, n);
}

// A module of the language by its dotted name.
static bool language_module(const char *path, struct value *ret) {
  const char *last = strrchr(path, '.');
  return str_starts(str_from(path), "triton.language") && last &&
         scope_language_name(last + 1, ret) && ret->kind == VALUE_MODULE;
}

// importlib.import_module: modules of the language.
static struct value fn_import_module(struct eval *e, struct call *c) {
  struct str s;
  struct value v;
  if (!need_known(e, c->args[0]) || !need_const_str(e, c->args[0], "a module's name", &s))
    return VALUE_ERROR;
  const char *path = arena_strndup(e->a, s.ptr, s.len);
  if (language_module(path, &v))
    return v;
  const struct ast_import im = {.module = path, .span = c->at};
  bool is_asked = e->attempts || str_starts(s, "triton.language");
  if (is_asked && (str_starts(s, "triton.language") ||
                   import_exists(e, e->frame->module, &im) == IMPORT_NO_MODULE))
    return host_raise(e, c->at, "ModuleNotFoundError", arena_printf(e->a, "module `%s`", path));
  return host_opaque(e, path);
}

// importlib.util.find_spec: a spec of a module of the language, of Triton, torch or Python; None
// for other names in `triton.language`, and unknown for all others.
static struct value fn_find_spec(struct eval *e, struct call *c) {
  static const struct builtin exec_module = {"exec_module", "module", BUILTIN_HOST, fn_nothing, 0};
  static const struct ast_class loader_class = {.name = "Loader"}, class = {.name = "ModuleSpec"};
  static const struct ast_field loader_names[] = {{.name = "exec_module"}};
  static const struct ast_field names[] = {
      {.name = "name"}, {.name = "loader"}, {.name = "module"}};
  static const struct record loader_record = {
      .kind = RECORD_CLASS, .ast = &loader_class, .fields = loader_names, .field_count = 1};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &class, .fields = names, .field_count = COUNT_OF(names)};
  struct str s;
  struct value v, run = {.kind = VALUE_BUILTIN, .builtin = &exec_module};
  if (!need_known(e, c->args[0]) || !need_const_str(e, c->args[0], "a module's name", &s))
    return VALUE_ERROR;
  const char *path = arena_strndup(e->a, s.ptr, s.len);
  bool is_language = language_module(path, &v);
  if (!is_language && str_starts(s, "triton.language"))
    return value_of_kind(VALUE_NONE);
  if (!is_language && !import_is_installed(path))
    return host_opaque(e, arena_printf(e->a, "find_spec(%s)", path));
  if (!is_language)
    v = host_opaque(e, path);
  struct value loader = host_record(e, &loader_record, 1, &run);
  struct value fields[] = {value_str(s), loader, v};
  return host_record(e, &record, COUNT_OF(fields), fields);
}

// importlib.util.module_from_spec: the module that find_spec found.
static struct value fn_module_from_spec(struct eval *e, struct call *c) {
  if (!need_known(e, c->args[0]))
    return VALUE_ERROR;
  return eval_attribute(e, c->args[0], "module", c->at);
}

// inspect.signature(f), for its `parameters`: the names.
static struct value fn_signature(struct eval *e, struct call *c) {
  static const struct ast_class class = {.name = "Signature"};
  static const struct ast_field names[] = {{.name = "parameters"}};
  static const struct record record = {
      .kind = RECORD_CLASS, .ast = &class, .fields = names, .field_count = COUNT_OF(names)};
  struct value f = c->args[0].v, *at = arena_array(e->a, struct value, 256), list;
  size_t n = 0;
  if (!need_known(e, c->args[0]))
    return VALUE_ERROR;
  if (f.kind == VALUE_BUILTIN && f.builtin->params) {
    struct builtin_param p;
    for (struct str rest = str_from(f.builtin->params); builtin_param_next(&rest, &p) && n < 256;)
      at[n++] = value_str(p.name);
  } else if (f.kind == VALUE_FUNC) {
    for (size_t i = 0; i < f.func->ast->param_count && n < 256; i++)
      at[n++] = value_str(str_from(f.func->ast->params[i].name));
  }
  list = value_tuple(at, n);
  return host_record(e, &record, 1, &list);
}

// ---- the tables ----

static const struct builtin python[] = {
    {"sorted", "items key= reverse=", BUILTIN_HOST, sequence_sorted, 0},
    {"reversed", "items", BUILTIN_HOST, sequence_reversed, 0},
    {"filter", "f items", BUILTIN_HOST, sequence_filter, 0},
    {"map", "f *items", BUILTIN_HOST, sequence_map, 0},
    {"any", "items", BUILTIN_HOST, sequence_any, 0},
    {"all", "items", BUILTIN_HOST, sequence_any, 1},
    {"sum", "items start=", BUILTIN_HOST, sequence_fold, OP_ADD},
    {"set", "items=", BUILTIN_HOST, sequence_set, 0},
    {"frozenset", "items=", BUILTIN_HOST, sequence_set, 0},
    {"list", "items=", BUILTIN_HOST | CLASS_SEQUENCE, sequence_sequence, 0},
    {"tuple", "items=", BUILTIN_HOST | CLASS_SEQUENCE, sequence_sequence, 0},
    {"dict", "items=", BUILTIN_HOST | BUILTIN_KEYWORDS, fn_dict, 0},
    {"round", "x", BUILTIN_HOST, fn_round, 0},
    {"print", "*values sep= end= flush= file=", BUILTIN_HOST, fn_nothing, 0},
    {"isinstance", "x kind", BUILTIN_HOST, fn_isinstance, 0},
    {"getattr", "x name default=", BUILTIN_HOST, fn_getattr, 0},
    {"hasattr", "x name", BUILTIN_HOST, fn_hasattr, 0},
};

static const struct builtin functions[] = {
    {"product", "*items repeat=", BUILTIN_HOST, sequence_product, 0},
    {"chain", "*items", BUILTIN_HOST, sequence_chain, 0},
    {"prod", "items start=", BUILTIN_HOST, sequence_fold, OP_MUL},
    {"nsmallest", "n items key=", BUILTIN_HOST, sequence_nsmallest, 0},
    {"nlargest", "n items key=", BUILTIN_HOST, sequence_nsmallest, 1},
    {"Version", "text", BUILTIN_HOST, fn_version, 0},
    {"LooseVersion", "text", BUILTIN_HOST, fn_version, 0},
    {"getenv", "key default=", BUILTIN_HOST, fn_getenv, 0},
    {"signature", "f", BUILTIN_HOST, fn_signature, 0},
    {"import_module", "name package=", BUILTIN_HOST, fn_import_module, 0},
    {"find_spec", "name package=", BUILTIN_HOST, fn_find_spec, 0},
    {"module_from_spec", "spec", BUILTIN_HOST, fn_module_from_spec, 0},
    {"deepcopy", "x", BUILTIN_HOST, fn_itself, 0},
};

static const struct builtin *look(const struct builtin *table, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

const struct builtin *host_python(const char *name) { return look(python, COUNT_OF(python), name); }

const struct builtin *host_function(const char *name) {
  const struct builtin *b = look(functions, COUNT_OF(functions), name);
  return b ? b : host_triton(name);
}
