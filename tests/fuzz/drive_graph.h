// SPDX-License-Identifier: Apache-2.0
// The beginning of the drivers whose input is the text of a graph.
#ifndef TESTS_FUZZ_DRIVE_GRAPH_H
#define TESTS_FUZZ_DRIVE_GRAPH_H

#include "drive.h"
#include "graph/read/fx.h"

// NULL: the text is no graph, which must have been reported.
static inline struct graph *drive_read_graph(struct drive *d, const uint8_t *data, size_t size) {
  struct str text = {arena_strndup(d->arena, (const char *)data, size), size};
  struct graph *g = graph_read_fx(d->arena, d->diag, source_create(d->arena, "fuzz.py", text));
  DRIVE_CHECK((g != NULL) == (diag_error_count(d->diag) == 0));
  return g;
}

#endif
