// SPDX-License-Identifier: Apache-2.0
// The minimum cut between forward and backward values, shared by the partition into two graphs
// (partition.c) and by recomputation within one (recompute.c).
#ifndef TILE_GRAPH_AUTODIFF_CUT_H
#define TILE_GRAPH_AUTODIFF_CUT_H

#include "graph/autodiff/partition.h"

struct cut {
  struct graph *g;
  size_t outputs, seeds;
  bool *is_live, *by_seed, *used_behind; // by value id; used_behind: by what depends on a seed
  bool *is_output;                       // kept anyway: of the forward graph, or of the whole one
  bool *is_again;                        // by value id: computed again although it is costly
  bool *is_inner;                        // of a region, and used in it alone: not saved
  bool *is_saved;
  uint32_t *regions;   // by node id: 0: none; marked by the user, or segments
  int64_t saved_bytes; // inputs and outputs are not counted: they are kept anyway
  bool fits;           // the budget
};

// ---- graph/autodiff/cut.c ----
// The cut without a budget.
struct cut cut_begin(struct graph *g, size_t outputs, size_t seeds);
// Finds the cut again, with other regions.
void cut_set_regions(struct cut *c, const uint32_t *regions);
// The same, with one more value that may be computed again although it is costly: the saved one
// that saves the most bytes for its work. False: there is none.
bool cut_release_one(struct cut *c);

// ---- graph/autodiff/segments.c ----
// The cut. The first `outputs` outputs of `g` belong to the forward graph; its last `seeds`
// inputs are seeds, and so is each tile.seed.
struct cut cut_create(struct graph *g, size_t outputs, size_t seeds,
                      const struct partition_options *o);
bool cut_is_behind(const struct cut *c, const struct node *n); // depends on a seed
// A forward operator; others are for gradients alone, also where they do not depend on a seed.
bool cut_is_forward(const struct cut *c, const struct node *n);
int64_t cut_cost(struct cut *c, const struct value *v); // bytes that saving it adds
typedef void (*cut_visit_fn)(struct cut *c, const struct node *n, struct value *v, void *user);
// Calls f for each value among the arguments.
void cut_visit(struct cut *c, const struct node *n, const struct arg *args, size_t count,
               cut_visit_fn f, void *user);

#endif
