// SPDX-License-Identifier: Apache-2.0
// lang_emit: emits one kernel, with its bindings, as a module.
#include "lang/builtins/builtins.h"
#include "lang/emit/control.h"
#include "lang/emit/kernel_param.h"
#include "lang/eval/outer.h"
#include "lang/eval/python.h"
#include "lang/syntax/kernels.h"
#include "lang/unit.h"

// ---- the function ----

typedef VEC(MlirType) type_vec;
typedef VEC(MlirAttribute) attribute_vec;

static void add_types(struct eval *e, const struct kernel_param *params, size_t count,
                      type_vec *out) {
  for (size_t i = 0; i < count; i++) {
    if (params[i].is_runtime)
      vec_push(e->a, out, type_to_mlir(e->c, params[i].type));
    add_types(e, params[i].items, params[i].item_count, out);
  }
}

static void build_kernel(struct eval *e, struct kernel *k) {
  type_vec types = {0};
  add_types(e, k->params, k->count, &types);
  MlirLocation loc = loc_from_span(e->c, k->function->name_span);
  e->ir = e->c->unfinished = build_module(e->c, loc);
  e->func = build_func(e->c, e->ir, k->function->name, types.len, types.at, 0, NULL, true, loc);
  e->b = builder_at_end(e->c, func_entry(e->func), loc);
  e->span = SPAN_NONE;
}

static MlirAttribute descriptor_attr(struct ir_context *c, const struct kernel_param *p) {
  int32_t numbers[1 + LANG_BLOCK_RANK] = {p->pads_nan};
  for (unsigned i = 0; i < p->block.rank; i++)
    numbers[1 + i] = p->block.shape[i];
  return attr_i32_array(c, 1u + p->block.rank, numbers);
}

static MlirAttribute param_attrs(struct eval *e, const struct kernel_param *p) {
  struct ir_context *c = e->c;
  MlirNamedAttribute attrs[6];
  intptr_t n = 0;
  attrs[n++] = named_attr(c, "tile.name", attr_str(c, p->name));
  attrs[n++] = named_attr(c, "tile.dtype", attr_str(c, dtype_name(p->type.dtype)));
  if (p->divisible_by > 1)
    attrs[n++] = named_attr(c, "tile.divisibility", attr_i32(c, (int32_t)p->divisible_by));
  if (p->is_unaligned)
    attrs[n++] = named_attr(c, "tile.unaligned", mlirUnitAttrGet(c->mlir));
  if (p->type.is_const)
    attrs[n++] = named_attr(c, "tile.const", mlirUnitAttrGet(c->mlir));
  if (p->descriptor)
    attrs[n++] = named_attr(c, "tile.descriptor", descriptor_attr(c, p->descriptor));
  return mlirDictionaryAttrGet(c->mlir, n, attrs);
}

// The value of a parameter; its arguments' attributes are appended.
static struct value value_of(struct eval *e, const struct kernel_param *p, attribute_vec *attrs) {
  struct value *items = arena_array(e->a, struct value, p->item_count + 1);
  for (size_t i = 0; i < p->item_count; i++)
    items[i] = value_of(e, &p->items[i], attrs);
  if (p->is_tuple)
    return value_tuple(items, p->item_count);
  if (p->is_descriptor && p->item_count)
    return descriptor_value(e, items[0], items + 1, items + 1 + p->block.rank, p->block,
                            p->pads_nan);
  if (p->is_one)
    return value_rt(build_const_int(&e->b, type_to_mlir(e->c, p->type), 1), p->type);
  if (!p->is_runtime)
    return p->constant;
  vec_push(e->a, attrs, param_attrs(e, p));
  return value_rt(mlirBlockGetArgument(func_entry(e->func), (intptr_t)attrs->len - 1), p->type);
}

static void bind_params(struct eval *e, const struct kernel *k) {
  attribute_vec attrs = {0};
  for (size_t i = 0; i < k->count; i++) {
    const struct kernel_param *p = &k->params[i];
    struct value v = value_of(e, p, &attrs);
    v = record_of_argument(e, v, p->ast->annotation, e->module, p->ast->span);
    scope_assign(e, p->ast->name, p->ast->name_span, v);
  }
  if (attrs.len)
    func_set_arg_attrs(e->c, e->func, attrs.at);
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
    p->name = p->ast->name;
    p->declared = &declared[i];
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
  kernel_check_bindings(&e, &k);
  kernel_params_resolve(&e, &k);
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
