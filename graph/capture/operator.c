// SPDX-License-Identifier: Apache-2.0
// Custom operators from C (include/tile/operator.h): registration, and calls of their functions
// with a graph of the API's kind around the one that is read or built.
#include "base/memory.h"
#include "graph/capture/capture.h"
#include "graph/ir/custom.h"

#include <stdlib.h>

// ---- the graph and the arguments that a function sees ----

static tile_operand operand_list(tile_graph *g, const struct arg *a) {
  size_t count = a->list.count;
  bool is_tensors = count && a->list.at[0].kind == ARG_VALUE;
  tile_value **values = arena_array(g->arena, tile_value *, count + 1);
  int64_t *numbers = arena_array(g->arena, int64_t, count + 1);
  for (size_t i = 0; i < count; i++) {
    const struct arg *e = &a->list.at[i];
    if (e->kind == ARG_VALUE)
      values[i] = capture_value(g, e->value);
    else if (e->kind == ARG_INT)
      numbers[i] = capture_number(g, e->number);
  }
  return is_tensors ? tile_g_tensors(values, count) : tile_g_ints(numbers, count);
}

static tile_operand operand_of(tile_graph *g, const struct parameter *p, const struct arg *a) {
  int64_t n = 0;
  switch (a->kind) {
  case ARG_VALUE: return tile_g_tensor(capture_value(g, a->value));
  case ARG_INT:
    if (p->type == 'f' && expr_is_const(a->number, &n))
      return tile_g_real((double)n);
    return tile_g_int(capture_number(g, a->number));
  case ARG_FLOAT: return tile_g_real(a->real);
  case ARG_BOOL: return tile_g_bool(a->truth);
  case ARG_DTYPE: return tile_g_dtype((tile_type)a->dtype);
  case ARG_STRING: return tile_g_word(arena_strndup(g->arena, a->string.ptr, a->string.len));
  case ARG_LIST: return operand_list(g, a);
  default: return tile_g_none();
  }
}

static tile_operand *operands_of(tile_graph *g, const struct custom_operator *o,
                                 const struct arg *args) {
  tile_operand *ret = arena_array(g->arena, tile_operand, o->count + 1);
  for (size_t i = 0; i < o->count; i++)
    ret[i] = operand_of(g, &o->parameters[i], &args[i]);
  return ret;
}

static bool failed(const struct custom_operator *o, struct graph *g, const struct node *n,
                   const char *function, const tile_graph *around) {
  if (diag_error_count(g->diag) == 0 || around->status != TILE_COMPILE_ERROR)
    diag_error(g->diag, n->span, E1004, "`%s`: its `%s` function failed%s%s", o->name, function,
               around->message ? ": " : "", around->message ? around->message : "");
  return false;
}

// ---- build and infer ----

static bool call_build(const struct custom_operator *o, struct graph *g, struct node *n) {
  tile_graph around = {.arena = g->arena, .diag = g->diag, .g = g};
  tile_value **out = arena_array(g->arena, tile_value *, o->results + 1);
  tile_operand *args = operands_of(&around, o, n->args);
  tile_status s = o->given.build(&around, args, o->count, out, o->results, o->given.user);
  bool ok = s == TILE_OK && around.status == TILE_OK;
  for (uint32_t i = 0; ok && i < o->results; i++) {
    ok = out[i] && out[i]->graph == &around;
    n->results[i] = ok ? out[i]->v : NULL;
  }
  ok = ok || failed(o, g, n, "build", &around);
  free(around.message);
  free(around.records);
  return ok;
}

_Static_assert((int)TILE_OPERATOR_RANK == (int)GRAPH_MAX_RANK, "the ranks of results differ");

static bool take_type(tile_graph *g, const tile_result *r, struct custom_type *ret) {
  if ((unsigned)r->dtype >= DTYPE_COUNT || r->rank < 0 || r->rank > GRAPH_MAX_RANK)
    return false;
  ret->dtype = (enum dtype)r->dtype;
  ret->rank = (uint32_t)r->rank;
  for (int d = 0; d < r->rank; d++)
    if (!(ret->shape[d] = capture_size(g, r->shape[d])))
      return false;
  return true;
}

static bool call_infer(const struct custom_operator *o, struct graph *g, const struct node *n,
                       struct custom_type *ret) {
  tile_graph around = {.arena = g->arena, .diag = g->diag, .g = g};
  tile_operand *args = operands_of(&around, o, node_custom_args(n));
  tile_result *types = arena_array(g->arena, tile_result, o->results + 1);
  tile_status s = o->given.infer(&around, args, o->count, types, o->results, o->given.user);
  bool ok = s == TILE_OK && around.status == TILE_OK;
  for (uint32_t i = 0; ok && i < o->results; i++)
    ok = take_type(&around, &types[i], &ret[i]);
  ok = ok || failed(o, g, n, "infer", &around);
  free(around.message);
  free(around.records);
  return ok;
}

// ---- gradient ----

static tile_value **wrapped(tile_graph *g, struct value *const *values, uint32_t count) {
  tile_value **ret = arena_array(g->arena, tile_value *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    ret[i] = capture_value(g, values[i]);
  return ret;
}

static bool call_gradient(const struct custom_operator *o, struct graph *g, const struct node *n,
                          struct value *const *gradients, struct value **ret) {
  tile_graph around = {.arena = g->arena, .diag = g->diag, .g = g};
  tile_value **results = wrapped(&around, n->results, n->result_count),
             **of = wrapped(&around, gradients, n->result_count),
             **out = arena_array(g->arena, tile_value *, o->count + 1);
  tile_operand *args = operands_of(&around, o, node_custom_args(n));
  tile_status s =
      o->given.gradient(&around, args, o->count, results, of, n->result_count, out, o->given.user);
  bool ok = s == TILE_OK && around.status == TILE_OK;
  for (size_t i = 0; ok && i < o->count; i++) {
    const struct arg *a = &node_custom_args(n)[i];
    ok = !out[i] || (out[i]->graph == &around && a->kind == ARG_VALUE &&
                     value_same_shape(out[i]->v, a->value));
    ret[i] = ok && out[i] ? out[i]->v : NULL;
  }
  ok = ok || failed(o, g, n, "gradient", &around);
  free(around.message);
  free(around.records);
  return ok;
}

// ---- reference ----

// Tensors are in `in`; other arguments as the function sees them.
static tile_status call_reference(const struct custom_operator *o, const struct arg *args,
                                  const int64_t *numbers, const tile_reference_tensor *in,
                                  size_t count, const tile_reference_tensor *out) {
  tile_operand operands[OPERATOR_MAX_PARAMETERS];
  for (size_t i = 0; i < o->count; i++) {
    const struct arg *a = &args[i];
    bool is_real = o->parameters[i].type == 'f';
    operands[i] = a->kind == ARG_FLOAT  ? tile_g_real(a->real)
                  : a->kind == ARG_BOOL ? tile_g_bool(a->truth)
                  : a->kind != ARG_INT  ? tile_g_none()
                  : is_real             ? tile_g_real((double)numbers[i])
                                        : tile_g_int(numbers[i]);
  }
  return o->given.reference(operands, o->count, in, count, out, o->results, o->given.user);
}

// ---- registration ----

static bool keep(const char *from, const char **to) {
  *to = from ? memory_strdup(from) : NULL;
  return !from || *to;
}

static const char *wrong_definition(const tile_operator *op) {
  if (op->build && (op->kernel_source || op->kernel))
    return "it is defined twice: by `build`, and by a kernel";
  if (op->build)
    return op->gradient ? "its gradient is that of what `build` appends" : NULL;
  if (!op->kernel_source || !op->kernel || !op->infer || !op->arguments || !op->grid)
    return "it needs `build`, or a kernel: `kernel_source`, `kernel`, `arguments`, `grid`, `infer`";
  return NULL;
}

tile_status tile_operator_register(const tile_operator *op) {
  if (!op || !op->schema)
    return status_set(TILE_INVALID_ARGUMENT, "an operator needs a schema");
  struct custom_operator *o = memory_zeroed(1, sizeof *o);
  if (!o)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for an operator");
  const char *why = custom_parse(o, op->schema);
  why = why ? why : wrong_definition(op);
  o->given = *op;
  o->given.schema = o->schema;
  bool kept = keep(op->kernel_source, &o->given.kernel_source) &
              keep(op->kernel, &o->given.kernel) & keep(op->arguments, &o->given.arguments) &
              keep(op->constants, &o->given.constants) & keep(op->grid, &o->given.grid);
  o->build = op->build ? call_build : NULL;
  o->infer = op->infer ? call_infer : NULL;
  o->interpret = op->reference ? call_reference : NULL;
  o->gradient = op->gradient ? call_gradient : NULL;
  if (!why && kept && custom_add(o))
    return TILE_OK;
  tile_status s = !kept ? status_set(TILE_OUT_OF_MEMORY, "out of memory for an operator")
                        : status_set(TILE_INVALID_ARGUMENT, "the operator `%s`: %s", op->schema,
                                     why ? why : "an operator of this name exists");
  custom_free(o);
  return s;
}
