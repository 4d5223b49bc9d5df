// SPDX-License-Identifier: Apache-2.0
// From a graph to a program: the passes in their order, then each region's kernels and launches.
#include "graph/program.h"

#include "base/map.h"
#include "graph/passes.h"

#include <string.h>

// Sources that are equal are one kernel.
static void share_kernels(struct program *p) {
  struct map seen = {0};
  for (size_t i = 0; i < p->launches.len; i++) {
    struct launch *l = &p->launches.at[i];
    struct str source = str_from(l->kernel->source);
    struct graph_kernel *k = map_get(&seen, source);
    if (k)
      l->kernel = k;
    else
      map_put(p->arena, &seen, source, l->kernel);
  }
}

// Keeps the kernels that are launched, numbered in the order of their first launch; names that
// stand for two sources get a number behind them.
static void number_kernels(struct program *p) {
  size_t kept = 0;
  for (size_t i = 0; i < p->kernels.len; i++)
    p->kernels.at[i]->id = UINT32_MAX;
  for (size_t i = 0; i < p->launches.len; i++) {
    struct graph_kernel *k = p->launches.at[i].kernel;
    if (k->id == UINT32_MAX) {
      k->id = (uint32_t)kept;
      p->kernels.at[kept++] = k;
    }
  }
  p->kernels.len = kept;
}

static bool emit_all(struct program *p, const struct program_options *o) {
  for (size_t i = 0; i < p->regions->list.len; i++)
    if (!emit_region(p, p->regions->list.at[i], o))
      return false;
  return true;
}

struct program *program_compile(struct graph *g, const struct program_options *o) {
  struct graph *lowered = graph_decompose(g, true);
  lowered = lowered ? graph_simplify(lowered) : NULL;
  struct loops *loops = lowered ? loops_build(lowered, o->rounds) : NULL;
  struct fuse_options fuse = {.keeps_apart = o->keeps_apart};
  struct regions *regions = loops ? regions_form(loops, &fuse) : NULL;
  if (!regions)
    return NULL;
  struct program *p = arena_new(g->arena, struct program);
  p->arena = g->arena;
  p->graph = g;
  p->regions = regions;
  if (!emit_all(p, o))
    return NULL;
  share_kernels(p);
  number_kernels(p);
  return memory_plan(p) ? p : NULL;
}
