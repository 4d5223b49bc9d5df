// SPDX-License-Identifier: Apache-2.0
// Graph text to the kernels of its gradients: those of all outputs, by all inputs that they depend
// on.
#include "drive_graph.h"
#include "graph/autodiff/gradient.h"
#include "graph/graph_compile.h"

enum { GRAPH_LIMIT = 4 << 10, MOST = 64 };

static bool has_path(const struct graph *g, const struct gradient_request *r,
                     const struct value *input) {
  for (size_t i = 0; i < r->output_count; i++)
    if (graph_has_path(g, input, r->outputs[i]))
      return true;
  return false;
}

static bool append_gradients(struct graph *g) {
  struct value *outputs[MOST], *seeds[MOST], *inputs[MOST], *gradients[MOST];
  struct gradient_request r = {.outputs = outputs, .seeds = seeds, .inputs = inputs};
  size_t given = g->inputs.len;
  for (size_t i = 0; i < g->outputs.len && r.output_count < MOST; i++)
    if (g->outputs.at[i] && dtype_is_float(g->outputs.at[i]->dtype))
      outputs[r.output_count++] = g->outputs.at[i];
  for (size_t i = 0; i < given && r.input_count < MOST; i++)
    if (dtype_is_float(g->inputs.at[i]->dtype) && has_path(g, &r, g->inputs.at[i]))
      inputs[r.input_count++] = g->inputs.at[i];
  if (!r.output_count || !r.input_count)
    return false;
  for (size_t i = 0; i < r.output_count; i++) {
    const struct value *v = outputs[i];
    seeds[i] = graph_add_input(g, "seed", v->dtype, v->rank, v->shape, NULL, v->span);
  }
  bool ok = graph_gradient(g, &r, (struct span){0}, gradients);
  DRIVE_CHECK(ok == (diag_error_count(g->diag) == 0));
  for (size_t i = 0; ok && i < r.input_count; i++) {
    DRIVE_CHECK(value_same_shape(gradients[i], inputs[i]));
    DRIVE_CHECK(gradients[i]->dtype == inputs[i]->dtype);
    graph_add_output(g, gradients[i]);
  }
  return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  if (size > GRAPH_LIMIT || !drive_begin(&d))
    return 0;
  struct graph *g = drive_read_graph(&d, data, size);
  if (g && append_gradients(g)) {
    struct program_options options = {.target = size % 2 ? "sm_90a" : "cpu"};
    DRIVE_CHECK(program_compile(g, &options) || diag_error_count(d.diag));
  }
  drive_end(&d);
  return 0;
}
