// SPDX-License-Identifier: Apache-2.0
// Builds graphs from C: sizes, inputs, outputs, operators by name. A graph keeps its first error;
// later calls do nothing, so that chains of calls need no checks.
#include "graph/capture/capture.h"

#include "base/memory.h"
#include "graph/ir/custom.h"
#include "graph/ir/sizes.h"
#include "graph/ir/subgraph.h"
#include "graph/read/fx.h"

#include <inttypes.h>
#include <stdlib.h>

// ---- graphs ----

static tile_status create(tile_graph **ret) {
  tile_graph *g = memory_zeroed(1, sizeof *g);
  if (!g || !(g->arena = arena_create())) {
    free(g);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a graph");
  }
  *ret = g;
  return TILE_OK;
}

tile_status tile_graph_create(const char *name, tile_graph **ret_graph) {
  tile_graph *g = NULL;
  if (!name || !ret_graph)
    return status_set(TILE_INVALID_ARGUMENT, "a graph needs a name, and a pointer for the result");
  tile_status s = create(&g);
  if (s != TILE_OK)
    return s;
  jmp_buf out_of_memory;
  if (setjmp(out_of_memory)) {
    tile_graph_destroy(g);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a graph");
  }
  arena_set_oom(g->arena, &out_of_memory);
  g->diag = diag_engine_create(g->arena);
  g->g = graph_create(g->arena, g->diag, exprs_create(g->arena), arena_strdup(g->arena, name));
  arena_set_oom(g->arena, NULL);
  *ret_graph = g;
  return TILE_OK;
}

tile_status tile_graph_from_text(const char *file_name, const char *text, size_t size,
                                 tile_graph **ret_graph) {
  tile_graph *g = NULL;
  if (!text || !ret_graph || size > SOURCE_MAX_BYTES)
    return status_set(size > SOURCE_MAX_BYTES ? TILE_LIMIT : TILE_INVALID_ARGUMENT,
                      "a graph needs a text of at most %u MiB, and a pointer for the result",
                      SOURCE_MAX_BYTES >> 20);
  tile_status s = create(&g);
  if (s != TILE_OK)
    return s;
  jmp_buf out_of_memory;
  if (setjmp(out_of_memory)) {
    tile_graph_destroy(g);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a graph");
  }
  arena_set_oom(g->arena, &out_of_memory);
  g->diag = diag_engine_create(g->arena);
  const struct source *source =
      source_create(g->arena, file_name ? file_name : "graph.py", (struct str){text, size});
  g->g = graph_read_fx(g->arena, g->diag, source);
  if (!g->g) {
    s = capture_fail_diag(g);
    tile_graph_destroy(g);
    return s;
  }
  arena_set_oom(g->arena, NULL);
  *ret_graph = g;
  return TILE_OK;
}

void tile_graph_destroy(tile_graph *g) {
  if (!g)
    return;
  strbuf_finish(&g->text);
  free(g->message);
  free(g->records);
  arena_destroy(g->arena);
  free(g);
}

tile_status tile_graph_status(tile_graph *g) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  return g->status == TILE_OK ? TILE_OK : capture_fail(g, g->status, "%s", "");
}

tile_status tile_graph_text(tile_graph *g, const char **ret_text) {
  if (!g || !ret_text)
    return status_set(TILE_INVALID_ARGUMENT, "no graph, or no pointer for its text");
  if (g->status != TILE_OK)
    return tile_graph_status(g);
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  strbuf_clear(&g->text);
  graph_print(g->g, &g->text);
  if (g->text.failed)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for the text of a graph");
  *ret_text = strbuf_cstr(&g->text);
  return TILE_OK;
}

// ---- values ----

tile_value *capture_value(tile_graph *g, struct value *v) {
  if (!v)
    return NULL;
  tile_value *t = arena_new(g->arena, tile_value);
  t->graph = g;
  t->v = v;
  return t;
}

tile_value *tile_graph_input(tile_graph *g, const char *name, tile_type dtype, int rank,
                             const int64_t *shape, const int64_t *strides) {
  const struct expr *sizes[GRAPH_MAX_RANK], *steps[GRAPH_MAX_RANK];
  if (!g || !capture_is_open(g))
    return NULL;
  if (!name || (unsigned)dtype >= DTYPE_COUNT || rank < 0 || rank > GRAPH_MAX_RANK ||
      (rank && !shape)) {
    capture_fail(g, TILE_INVALID_ARGUMENT, "an input needs a name, a dtype, and at most %d sizes",
                 GRAPH_MAX_RANK);
    return NULL;
  }
  GUARDED(g, out_of_memory, NULL);
  for (int i = 0; i < rank; i++) {
    sizes[i] = capture_size(g, shape[i]);
    steps[i] = strides ? capture_size(g, strides[i]) : NULL;
    if (!sizes[i] || (strides && !steps[i]))
      return NULL;
    if (sizes[i]->lo < 0 || (strides && steps[i]->lo < 0)) {
      capture_fail(g, TILE_INVALID_ARGUMENT, "a negative size or stride of input `%s`", name);
      return NULL;
    }
  }
  struct value *v = graph_add_input(g->g, arena_strdup(g->arena, name), (enum dtype)dtype,
                                    (uint32_t)rank, sizes, strides ? steps : NULL, SPAN_NONE);
  if (v && value_is_too_large(v)) {
    capture_fail(g, TILE_LIMIT, "input `%s` takes 2^46 bytes or more", name);
    return NULL;
  }
  if (!v)
    capture_fail_diag(g);
  return capture_value(g, v);
}

bool capture_is_own(tile_graph *g, const tile_value *v, const char *what) {
  if (v && v->graph == g)
    return true;
  capture_fail(g, TILE_INVALID_ARGUMENT, v ? "%s belongs to another graph" : "%s is NULL", what);
  return false;
}

tile_status tile_graph_output(tile_graph *g, tile_value *value) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  if (!capture_is_open(g) || !capture_is_own(g, value, "the output"))
    return g->status;
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  graph_add_output(g->g, value->v);
  return TILE_OK;
}

tile_status tile_graph_set_keep_casts(tile_graph *g, int keeps) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  if (!capture_is_open(g))
    return g->status;
  graph_keep_casts(g->g, keeps != 0);
  return TILE_OK;
}

tile_status tile_graph_set_deterministic(tile_graph *g, int on) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  if (!capture_is_open(g))
    return g->status;
  g->g->is_deterministic = on != 0;
  return TILE_OK;
}

tile_status tile_graph_write(tile_graph *g, tile_value *input, tile_value *value) {
  if (!g)
    return status_set(TILE_INVALID_ARGUMENT, "no graph");
  if (!capture_is_open(g) || !capture_is_own(g, input, "the input that is written") ||
      !capture_is_own(g, value, "what is written"))
    return g->status;
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  const struct value *to = input->v, *from = value->v;
  bool fits = !to->def && to->dtype == from->dtype && to->rank == from->rank;
  for (uint32_t i = 0; fits && i < to->rank; i++)
    fits = to->shape[i] == from->shape[i];
  for (size_t i = 0; fits && i < g->g->mutations.len; i++)
    fits = g->g->mutations.at[i].input != to;
  if (!fits)
    return capture_fail(
        g, TILE_INVALID_ARGUMENT,
        "what is written to must be an input, once, with the dtype and the shape of the value");
  graph_add_mutation(g->g, input->v, value->v);
  return TILE_OK;
}

tile_type tile_value_dtype(const tile_value *value) {
  return value ? (tile_type)value->v->dtype : TILE_F32;
}

int tile_value_rank(const tile_value *value) { return value ? (int)value->v->rank : 0; }

static int64_t number_of(tile_graph *g, const struct expr *e) {
  GUARDED(g, out_of_memory, 0);
  return capture_number(g, e);
}

int64_t tile_value_size(const tile_value *value, int dim) {
  int rank = tile_value_rank(value);
  dim += dim < 0 ? rank : 0;
  return value && dim >= 0 && dim < rank ? number_of(value->graph, value->v->shape[dim]) : 0;
}

// ---- operands ----

tile_operand tile_g_tensor(tile_value *v) {
  return (tile_operand){.kind = OPERAND_TENSOR, .as.tensor = v};
}
tile_operand tile_g_int(int64_t v) { return (tile_operand){.kind = OPERAND_INT, .as.integer = v}; }
tile_operand tile_g_real(double v) { return (tile_operand){.kind = OPERAND_REAL, .as.real = v}; }
tile_operand tile_g_bool(int v) { return (tile_operand){.kind = OPERAND_BOOL, .as.truth = v}; }
tile_operand tile_g_none(void) { return (tile_operand){.kind = OPERAND_NONE}; }
tile_operand tile_g_dtype(tile_type t) {
  return (tile_operand){.kind = OPERAND_DTYPE, .as.dtype = t};
}
tile_operand tile_g_word(const char *w) {
  return (tile_operand){.kind = OPERAND_WORD, .as.word = w};
}
tile_operand tile_g_ints(const int64_t *values, size_t count) {
  return (tile_operand){.kind = OPERAND_INTS, .count = count, .as.integers = values};
}
tile_operand tile_g_tensors(tile_value *const *values, size_t count) {
  return (tile_operand){.kind = OPERAND_TENSORS, .count = count, .as.tensors = values};
}

static bool tensor_arg(tile_graph *g, tile_value *v, struct arg *ret) {
  if (!capture_is_own(g, v, "an argument"))
    return false;
  *ret = ARG_V(v->v);
  return true;
}

static bool list_arg(tile_graph *g, const tile_operand *o, struct arg *ret) {
  bool is_tensors = o->kind == OPERAND_TENSORS, ok = true;
  if (o->count > GRAPH_MAX_NODES ||
      (o->count && !(is_tensors ? (const void *)o->as.tensors : o->as.integers))) {
    capture_fail(g, TILE_INVALID_ARGUMENT, "a list without its elements");
    return false;
  }
  *ret = (struct arg){.kind = ARG_LIST,
                      .list = {arena_array(g->arena, struct arg, o->count + 1), o->count}};
  for (size_t i = 0; ok && i < o->count; i++) {
    const struct expr *e = is_tensors ? NULL : capture_size(g, o->as.integers[i]);
    ok = is_tensors ? tensor_arg(g, o->as.tensors[i], &ret->list.at[i]) : e != NULL;
    if (e)
      ret->list.at[i] = ARG_E(e);
  }
  return ok;
}

static bool arg_of(tile_graph *g, const tile_operand *o, struct arg *ret) {
  const struct expr *e;
  switch ((enum operand_kind)o->kind) {
  case OPERAND_TENSOR: return tensor_arg(g, o->as.tensor, ret);
  case OPERAND_INT: e = capture_size(g, o->as.integer); return e && (*ret = ARG_E(e), true);
  case OPERAND_REAL: return *ret = ARG_F(o->as.real), true;
  case OPERAND_BOOL: return *ret = ARG_B(o->as.truth != 0), true;
  case OPERAND_NONE: return *ret = (struct arg){0}, true;
  case OPERAND_DTYPE:
    if ((unsigned)o->as.dtype < DTYPE_COUNT)
      return *ret = ARG_D((enum dtype)o->as.dtype), true;
    break;
  case OPERAND_WORD:
    if (o->as.word)
      return *ret = (struct arg){.kind = ARG_STRING,
                                 .string = str_from(arena_strdup(g->arena, o->as.word))},
             true;
    break;
  case OPERAND_INTS:
  case OPERAND_TENSORS: return list_arg(g, o, ret);
  }
  capture_fail(g, TILE_INVALID_ARGUMENT, "an argument without a kind");
  return false;
}

// ---- operators ----

static struct node *append(tile_graph *g, const char *name, const tile_operand *operands,
                           size_t count) {
  enum operator_id op;
  struct arg args[OPERATOR_MAX_PARAMETERS];
  if (!name || count > OPERATOR_MAX_PARAMETERS || (count && !operands)) {
    capture_fail(g, TILE_INVALID_ARGUMENT, "an operator needs a name and at most %d arguments",
                 OPERATOR_MAX_PARAMETERS);
    return NULL;
  }
  const struct custom_operator *custom = custom_find(str_from(name));
  if (!custom && (!operator_find(str_from(name), &op) || operator_row(op)->class == CLASS_MUTATE)) {
    const char *near = operator_nearest(str_from(name));
    capture_fail(g, TILE_NOT_FOUND, "there is no operator `%s`%s%s%s", name,
                 near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    return NULL;
  }
  if (g->g->nodes.len >= GRAPH_MAX_NODES) {
    capture_fail(g, TILE_LIMIT, "more than %d operators", GRAPH_MAX_NODES);
    return NULL;
  }
  for (size_t i = 0; i < count; i++)
    if (!arg_of(g, &operands[i], &args[i]))
      return NULL;
  struct node *n = custom ? graph_append_custom(g->g, custom, args, count, SPAN_NONE)
                          : graph_append(g->g, op, args, count, SPAN_NONE);
  if (!n)
    capture_fail_diag(g);
  return n;
}

int tile_graph_has_operator(const char *name) { return name && fx_has_operator(str_from(name)); }

tile_value *tile_graph_apply(tile_graph *g, const char *name, const tile_operand *args,
                             size_t count) {
  if (!g || !capture_is_open(g))
    return NULL;
  GUARDED(g, out_of_memory, NULL);
  struct node *n = append(g, name, args, count);
  return n && n->result_count ? capture_value(g, n->results[0]) : NULL;
}

tile_status tile_graph_apply_many(tile_graph *g, const char *name, const tile_operand *args,
                                  size_t count, tile_value **ret_results, size_t result_count) {
  if (!g || !ret_results)
    return status_set(TILE_INVALID_ARGUMENT, "no graph, or no pointer for results");
  if (!capture_is_open(g))
    return g->status;
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  struct node *n = append(g, name, args, count);
  if (!n)
    return g->status;
  if (result_count > n->result_count)
    return capture_fail(g, TILE_INVALID_ARGUMENT, "`%s` has %u results here, not %zu", name,
                        n->result_count, result_count);
  for (size_t i = 0; i < result_count; i++)
    ret_results[i] = capture_value(g, n->results[i]);
  return TILE_OK;
}
