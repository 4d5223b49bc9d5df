// SPDX-License-Identifier: Apache-2.0
// Values that a captured function asks for. An answer of the path that is captured is known;
// otherwise the operators that the value needs run, as a program of their own.
#include "base/memory.h"
#include "graph/capture/function_internal.h"
#include "graph/passes/passes.h"
#include "graph/run/handle.h"

#include <stdlib.h>
#include <string.h>

static tile_status refuse(tile_graph *g, const char *why) {
  return capture_fail(g, TILE_INVALID_ARGUMENT, "%s", why);
}

// Runs `p` on the inputs of the call; the element's bits.
static tile_status run_for(struct path_capture *c, tile_program *p, const struct value *v,
                           uint64_t *ret) {
  static const int64_t one[GRAPH_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  struct tensor_view out = {.dtype = v->dtype, .rank = v->rank, .shape = one, .strides = one};
  tile_status s = tile_malloc(c->f->device, sizeof *ret, &out.data);
  *ret = 0;
  if (s == TILE_OK)
    s = program_run(p->loaded, c->stream, c->f->seed, c->views->at, &out);
  if (s == TILE_OK)
    s = tile_copy_to_host(c->f->device, c->stream, ret, out.data, dtype_bytes(v->dtype));
  tile_free(c->f->device, out.data);
  return s;
}

static tile_status ask(tile_graph *g, struct value *v, uint64_t *ret) {
  struct path_capture *c = g->path;
  const struct extraction e = {.name = "asked",
                               .is_given = arena_array(g->arena, bool, g->g->value_count + 1),
                               .count = 1,
                               .outputs = &v,
                               .keeps_inputs = true};
  struct graph *part = graph_extract(g->g, &e);
  tile_program *p = part ? program_handle_create() : NULL;
  tile_status s = !part ? capture_fail_diag(g) : p ? TILE_OK : TILE_OUT_OF_MEMORY;
  if (s == TILE_OK)
    s = program_handle_load(p, part, c->f->device);
  if (s == TILE_OK)
    s = run_for(c, p, v, ret);
  tile_program_close(p);
  return s == TILE_OK || g->status != TILE_OK ? s : capture_fail(g, s, "%s", tile_error_message());
}

static tile_status answer(tile_value *value, uint64_t *ret) {
  tile_graph *g = value->graph;
  struct path_capture *c = g->path;
  GUARDED(g, out_of_memory, TILE_OUT_OF_MEMORY);
  if (!expr_is(value_numel(g->g->exprs, value->v), 1))
    return refuse(g, "only the element of a tensor that has one can be asked for");
  if (c->answers.len < c->known_count) {
    *ret = c->known[c->answers.len];
  } else {
    if (!c->has_data)
      return refuse(g, "the function asks for a value: it is captured by a call, not prepared");
    tile_status s = ask(g, value->v, ret);
    if (s != TILE_OK)
      return s;
  }
  vec_push(g->arena, &c->answers, *ret);
  vec_push(g->arena, &c->items, value->v);
  return TILE_OK;
}

static tile_status check(tile_value *value, const void *ret) {
  if (!value || !ret)
    return status_set(TILE_INVALID_ARGUMENT, "a value is asked for without a tensor or a result");
  if (!capture_is_open(value->graph))
    return value->graph->status;
  return value->graph->path ? TILE_OK
                            : refuse(value->graph, "values are known only while a captured "
                                                   "function is called");
}

tile_status tile_value_item(tile_value *value, double *ret_item) {
  uint64_t bits = 0;
  tile_status s = check(value, ret_item);
  if (s == TILE_OK)
    s = answer(value, &bits);
  if (s == TILE_OK)
    *ret_item = dtype_load(value->v->dtype, &bits);
  return s;
}

tile_status tile_value_integer(tile_value *value, int64_t *ret_number) {
  uint64_t bits = 0;
  tile_status s = check(value, ret_number);
  if (s == TILE_OK && dtype_is_float(value->v->dtype))
    return refuse(value->graph, "an integer is asked for of a float tensor");
  tile_value *wide = s == TILE_OK ? tile_convert(value, TILE_I64) : NULL;
  if (s == TILE_OK)
    s = wide ? answer(wide, &bits) : value->graph->status;
  if (s == TILE_OK)
    memcpy(ret_number, &bits, sizeof bits);
  return s;
}

tile_status tile_value_truth(tile_value *value, int *ret_truth) {
  uint64_t bits = 0;
  tile_status s = check(value, ret_truth);
  tile_value *truth = s == TILE_OK ? tile_ne_number(value, 0) : NULL;
  if (s == TILE_OK)
    s = truth ? answer(truth, &bits) : value->graph->status;
  if (s == TILE_OK)
    *ret_truth = bits != 0;
  return s;
}
