// SPDX-License-Identifier: Apache-2.0
// Graph text to kernel sources: parsing, types, passes, fusion, sources, memory planning.
#include "drive_graph.h"
#include "graph/graph_compile.h"
#include "graph/program/program.h"

enum { GRAPH_LIMIT = 8 << 10 }; // bytes

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  if (size > GRAPH_LIMIT || !drive_begin(&d))
    return 0;
  struct graph *g = drive_read_graph(&d, data, size);
  struct program_options options = {.target = size % 2 ? "sm_90a" : "cpu"};
  struct program *p = g ? program_compile(g, &options) : NULL;
  struct strbuf out = {0};
  if (g)
    graph_print(g, &out);
  if (p) {
    program_print_tile(p, &out);
    program_print_plan(p, options.target, &out);
  }
  DRIVE_CHECK(!g || p || diag_error_count(d.diag));
  strbuf_finish(&out);
  drive_end(&d);
  return 0;
}
