// SPDX-License-Identifier: Apache-2.0
// lang_emit: emits one kernel, with its bindings, as a module.
#include "lang/builtins/builtins.h"
#include "lang/emit/control.h"
#include "lang/eval/outer.h"
#include "lang/eval/python.h"
#include "lang/syntax/kernels.h"
#include "lang/unit.h"

// One parameter: its declaration and its binding combined.
struct kernel_param {
  const struct ast_param *ast;
  const struct lang_param *declared;
  const struct lang_binding *binding; // NULL: none
  bool is_runtime;
  bool is_one; // a constant of its type: specialisation must not change what the kernel computes
  struct type type;
  uint32_t divisible_by;
  struct value constant;
};

struct kernel {
  const struct ast_function *function;
  struct kernel_param *params;
  size_t count;
};

static struct span here(const struct kernel_param *p) { return p->ast->span; }

// ---- what a parameter is ----

static void check_binding_names(struct eval *e, const struct kernel *k) {
  const struct lang_options *o = e->options;
  const char **names = arena_array(e->a, const char *, k->count + 1);
  for (size_t i = 0; i < k->count; i++)
    names[i] = k->params[i].ast->name;
  for (size_t b = 0; b < o->binding_count; b++) {
    bool known = false;
    for (size_t i = 0; i < k->count && !known; i++)
      known = strcmp(names[i], o->bindings[b].name) == 0;
    for (size_t i = 0; i < e->module->override_count && !known; i++)
      known = strcmp(e->module->overrides[i].name, o->bindings[b].name) == 0;
    if (known)
      continue;
    struct diag *d =
        diag_error(e->diag, k->function->name_span, E0412, "`%s` has no parameter `%s`",
                   k->function->name, o->bindings[b].name);
    const char *near = str_nearest(str_from(o->bindings[b].name), names, k->count);
    if (near)
      diag_help(d, "did you mean `%s`?", near);
    else if (k->count)
      diag_help(d, "its parameters are named as in its `def` line");
  }
}

static void bind_constant(struct eval *e, struct kernel_param *p) {
  const struct lang_binding *b = p->binding;
  const struct lang_param *a = p->declared;
  if (const_parse(e->a, str_from(b->text ? b->text : ""), &p->constant)) {
    if (p->constant.kind == VALUE_NONE && a->is_typed && !a->is_pointer) {
      eval_error(e, here(p), E0413, "`%s` is declared %s and cannot be None", p->ast->name,
                 dtype_name(a->dtype));
      p->constant = VALUE_ERROR;
    }
    return;
  }
  struct diag *d = eval_error(e, here(p), E0413, "`%s` is not a value for `%s`",
                              b->text ? b->text : "", b->name);
  diag_help(d, "a number, True, False, None, a type such as float16, or a string");
  p->constant = VALUE_ERROR;
}

static void missing_constant(struct eval *e, struct kernel_param *p) {
  struct diag *d =
      eval_error(e, here(p), E0411, "missing value of compile-time parameter `%s`", p->ast->name);
  diag_help(d, "pass `-D %s=...`", p->ast->name);
  p->constant = VALUE_ERROR;
}

// The types of the annotation and of the launch must agree.
static void check_type(struct eval *e, const struct kernel_param *p) {
  const struct lang_param *a = p->declared;
  if (!a->is_typed || (a->is_pointer == (p->type.ptr > 0) && a->dtype == p->type.dtype))
    return;
  struct type declared = {.dtype = a->dtype, .ptr = a->is_pointer};
  struct diag *d = eval_error(e, here(p), E0413, "`%s` is declared %s but given as %s",
                              p->ast->name, type_text(e->a, declared), type_text(e->a, p->type));
  diag_help(d, "change the annotation, or the argument");
}

static void bind_typed(struct eval *e, struct kernel_param *p) {
  const struct lang_binding *b = p->binding;
  if (p->declared->is_constexpr) {
    struct diag *d =
        eval_error(e, here(p), E0413, "`%s` is a compile-time parameter and cannot be an argument",
                   p->ast->name);
    diag_help(d, "pass `-D %s=...`", p->ast->name);
    p->constant = VALUE_ERROR;
    return;
  }
  p->type = (struct type){
      .dtype = b->dtype, .ptr = b->kind == BIND_POINTER, .is_const = p->declared->is_const};
  check_type(e, p);
  p->is_one = b->kind == BIND_SCALAR && b->is_one && type_is_int(p->type);
  p->is_runtime = !p->is_one;
  p->divisible_by =
      b->divisible_by > p->declared->divisible_by ? b->divisible_by : p->declared->divisible_by;
}

// Defaults are host code.
static struct value default_of(struct eval *e, const struct kernel_param *p) {
  struct purpose purpose = {
      .code = E0411, .what = "the default of a parameter", .param = p->ast->name};
  e->on = &python_dialect;
  e->purpose = &purpose;
  struct operand v = {eval_expr(e, p->ast->default_value), p->ast->default_value->span};
  bool known = need_known(e, v);
  e->on = &kernel_dialect;
  e->purpose = NULL;
  e->stopped = false; // an error ends only the evaluation of the default
  return known ? v.v : VALUE_ERROR;
}

static void resolve_param(struct eval *e, struct kernel_param *p) {
  const struct lang_param *a = p->declared;
  if (p->binding && p->binding->kind == BIND_CONSTANT) {
    bind_constant(e, p);
  } else if (p->binding) {
    bind_typed(e, p);
  } else if (a->is_constexpr || (!a->is_typed && p->ast->default_value)) {
    if (p->ast->default_value)
      p->constant = default_of(e, p);
    else
      missing_constant(e, p);
  } else if (a->is_typed) {
    p->type = (struct type){.dtype = a->dtype, .ptr = a->is_pointer, .is_const = a->is_const};
    p->is_runtime = true;
    p->divisible_by = a->divisible_by;
  } else {
    struct diag *d =
        eval_error(e, here(p), E0410, "the type of parameter `%s` is not known", p->ast->name);
    diag_help(d,
              "write it in the file, `%s: ptr[f32]` or `%s: i32`, or pass `--signature "
              "%s=*f32`",
              p->ast->name, p->ast->name, p->ast->name);
    p->constant = VALUE_ERROR;
  }
}

static const struct lang_binding *find_binding(const struct lang_options *o, const char *name) {
  for (size_t i = 0; i < o->binding_count; i++)
    if (strcmp(o->bindings[i].name, name) == 0)
      return &o->bindings[i];
  return NULL;
}

// ---- the function ----

static void build_kernel(struct eval *e, struct kernel *k) {
  MlirType *types = arena_array(e->a, MlirType, k->count + 1);
  size_t n = 0;
  for (size_t i = 0; i < k->count; i++)
    if (k->params[i].is_runtime)
      types[n++] = type_to_mlir(e->c, k->params[i].type);
  MlirLocation loc = loc_from_span(e->c, k->function->name_span);
  e->ir = e->c->unfinished = build_module(e->c, loc);
  e->func = build_func(e->c, e->ir, k->function->name, n, types, 0, NULL, true, loc);
  e->b = builder_at_end(e->c, func_entry(e->func), loc);
  e->span = SPAN_NONE;
}

static MlirAttribute param_attrs(struct eval *e, const struct kernel_param *p) {
  struct ir_context *c = e->c;
  MlirNamedAttribute attrs[4];
  intptr_t n = 0;
  attrs[n++] = named_attr(c, "tile.name", attr_str(c, p->ast->name));
  attrs[n++] = named_attr(c, "tile.dtype", attr_str(c, dtype_name(p->type.dtype)));
  if (p->divisible_by > 1)
    attrs[n++] = named_attr(c, "tile.divisibility", attr_i32(c, (int32_t)p->divisible_by));
  if (p->type.is_const)
    attrs[n++] = named_attr(c, "tile.const", mlirUnitAttrGet(c->mlir));
  return mlirDictionaryAttrGet(c->mlir, n, attrs);
}

static void bind_params(struct eval *e, const struct kernel *k) {
  MlirAttribute *attrs = arena_array(e->a, MlirAttribute, k->count + 1);
  size_t arg = 0;
  for (size_t i = 0; i < k->count; i++) {
    const struct kernel_param *p = &k->params[i];
    struct value v = p->constant;
    if (p->is_one)
      v = value_rt(build_const_int(&e->b, type_to_mlir(e->c, p->type), 1), p->type);
    if (p->is_runtime) {
      attrs[arg] = param_attrs(e, p);
      v = value_rt(mlirBlockGetArgument(func_entry(e->func), (intptr_t)arg++), p->type);
    }
    scope_assign(e, p->ast->name, p->ast->name_span, v);
  }
  if (arg)
    func_set_arg_attrs(e->c, e->func, attrs);
}

static bool read_kernel(struct eval *e, struct kernel *k) {
  struct lang_param *declared;
  for (size_t i = 0; i < e->module->function_count; i++)
    outer_state(e, e->module, e->module->functions[i]->guard);
  k->function = kernels_choose(e->a, e->diag, e->module, e->options->kernel);
  if (!k->function || !kernel_params(e->a, e->diag, e->module, k->function, &declared))
    return false;
  k->count = k->function->param_count;
  k->params = arena_array(e->a, struct kernel_param, k->count + 1);
  for (size_t i = 0; i < k->count; i++) {
    struct kernel_param *p = &k->params[i];
    p->ast = &k->function->params[i];
    p->declared = &declared[i];
    p->binding = find_binding(e->options, p->ast->name);
  }
  return true;
}

MlirModule lang_emit(struct ir_context *c, const struct lang_unit *u,
                     const struct lang_options *options) {
  MlirModule none = {NULL};
  struct eval e = {.c = c,
                   .on = &kernel_dialect,
                   .outer_on = &python_dialect,
                   .rows = builtin_table,
                   .row_count = builtin_table_len,
                   .a = c->arena,
                   .diag = c->diag,
                   .options = options,
                   .module = u->tree,
                   .errors = diag_error_count(c->diag)};
  struct kernel k = {0};
  if (!read_kernel(&e, &k))
    return none;
  struct frame frame = {.module = u->tree, .function = k.function};
  e.frame = &frame;
  e.b.c = c;
  check_binding_names(&e, &k);
  for (size_t i = 0; i < k.count; i++)
    resolve_param(&e, &k.params[i]);
  build_kernel(&e, &k);
  bind_params(&e, &k);
  eval_body(&e, &frame);
  e.b.loc = loc_from_span(c, k.function->name_span);
  build_return(&e.b, 0, NULL);
  c->unfinished = none;
  if (!e.damaged && diag_error_count(c->diag) == e.errors &&
      ir_verify(c, mlirModuleGetOperation(e.ir)))
    return e.ir;
  mlirModuleDestroy(e.ir);
  return none;
}
