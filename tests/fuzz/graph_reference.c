// SPDX-License-Identifier: Apache-2.0
// Graph text by the reference interpreter, on small tensors with random elements.
#include "drive_graph.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"

#include <string.h>

enum { GRAPH_LIMIT = 4 << 10, SYMBOLS = 64, SIZE = 3, MOST_ELEMENTS = 1 << 14 };

// Are all tensors small for these sizes, and the sizes such as the graph requires?
static bool is_small(const struct graph *g, const int64_t *sizes) {
  int64_t n, work = 0;
  for (size_t i = 0; i < g->inputs.len; i++)
    if (!expr_eval(value_numel(g->exprs, g->inputs.at[i]), g->symbols.len, g->symbols.at, sizes,
                   &n) ||
        n > MOST_ELEMENTS)
      return false;
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      const struct value *v = g->nodes.at[i]->results[k];
      if (v && (!expr_eval(value_numel(g->exprs, v), g->symbols.len, g->symbols.at, sizes, &n) ||
                n > MOST_ELEMENTS || (work += n) > MOST_ELEMENTS))
        return false;
    }
  for (size_t i = 0; i < g->requirements.len; i++)
    if (!expr_eval(g->requirements.at[i].slack, g->symbols.len, g->symbols.at, sizes, &n) || n < 0)
      return false;
  return true;
}

static void interpret(const struct graph *g, uint64_t seed) {
  int64_t sizes[SYMBOLS];
  for (size_t i = 0; i < g->symbols.len && i < SYMBOLS; i++) {
    const struct symbol *s = g->symbols.at[i]->symbol;
    sizes[i] = s->lo > SIZE ? s->lo : s->hi < SIZE ? s->hi : SIZE;
  }
  if (g->symbols.len > SYMBOLS || !is_small(g, sizes))
    return;
  size_t count = g->outputs.len + g->mutations.len;
  struct tensor **in = arena_array(g->arena, struct tensor *, g->inputs.len + 1),
                **out = arena_array(g->arena, struct tensor *, count + 1);
  const struct interpret_options options = {.rounds = true};
  if (!graph_make_inputs(g, sizes, seed, in))
    return;
  bool ok = graph_interpret(g, &options, sizes, in, out);
  DRIVE_CHECK(ok == (diag_error_count(g->diag) == 0));
  for (size_t i = 0; i < g->inputs.len; i++)
    tensor_destroy(in[i]);
  for (size_t i = 0; ok && i < count; i++)
    tensor_destroy(out[i]);
}

// Loops may go on for ever, also those of subgraphs.
static bool has_loop(const uint8_t *data, size_t size) {
  static const char name[] = "while_loop";
  for (size_t i = 0; i + sizeof name - 1 <= size; i++)
    if (memcmp(data + i, name, sizeof name - 1) == 0)
      return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  if (size > GRAPH_LIMIT || !drive_begin(&d))
    return 0;
  struct graph *g = drive_read_graph(&d, data, size);
  if (g && !has_loop(data, size))
    interpret(g, size);
  drive_end(&d);
  return 0;
}
