// SPDX-License-Identifier: Apache-2.0
// Splits a graph with gradients into a forward and a backward graph. What the backward graph needs
// is saved by the forward one, or computed again: a minimum cut of bytes (the min-cut partitioner
// of PyTorch's AOTAutograd; Dinic 1970 for the flow).
#ifndef TILE_GRAPH_AUTODIFF_PARTITION_H
#define TILE_GRAPH_AUTODIFF_PARTITION_H

#include "graph/ir/graph.h"

struct partition_options {
  // The saved bytes, for likely sizes. If the cut is above it, products, attention, reductions and
  // scans are computed again too, those first that save the most bytes for each operation. 0: no
  // limit, and none of them is.
  int64_t budget;
};

struct partition {
  struct graph *forward;  // inputs of the graph but the seeds; its outputs, then what is saved
  struct graph *backward; // inputs: what is saved, the inputs that it reads, the seeds
  size_t first_saved;     // of forward->outputs
  VEC(struct value *) saved, reads, recomputed; // values of the graph; recomputed: also views
  int64_t saved_bytes;   // inputs and outputs are not counted twice: they are kept anyway
  int64_t without_bytes; // if nothing were computed again
  bool fits;             // the budget
};

// `g` is decomposed and simplified. Its first `outputs` outputs belong to the forward graph, the
// others are gradients; its last `seeds` inputs are the seeds. On the graph's arena. NULL after an
// error.
struct partition *graph_partition(struct graph *g, size_t outputs, size_t seeds,
                                  const struct partition_options *o);
// A report: what is saved, what is computed again, and the bytes.
void partition_print(const struct partition *p, struct strbuf *out);
// The same as a JSON object.
struct json_writer;
void partition_write(const struct partition *p, struct json_writer *w);

#endif
