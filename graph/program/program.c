// SPDX-License-Identifier: Apache-2.0
// From a graph to a program: the passes in their order, then each region's kernels and launches.
#include "graph/program/program.h"

#include "base/map.h"
#include "graph/fuse/approximate.h"
#include "graph/ir/sizes.h"
#include "graph/passes/passes.h"

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

// A name that stands for another source already gets a number behind it. `last`: the last number of
// each name, so that a name that many kernels have does not try them all.
static void name_kernel(struct program *p, struct map *names, struct map *last,
                        struct graph_kernel *k) {
  const char *name = k->name;
  uintptr_t n = (uintptr_t)map_get(last, str_from(k->name));
  for (n = n ? n : 1; map_get(names, str_from(name)); n++)
    name = arena_printf(p->arena, "%s_%u", k->name, (unsigned)n + 1);
  map_put(p->arena, last, str_from(k->name), (void *)n);
  if (name != k->name) {
    k->name = name;
    kernel_print(p->arena, k);
  }
  map_put(p->arena, names, str_from(name), k);
}

// Keeps the kernels that are launched, numbered in the order of their first launch.
static void number_kernels(struct program *p) {
  struct map names = {0}, last = {0};
  size_t kept = 0;
  for (size_t i = 0; i < p->kernels.len; i++)
    p->kernels.at[i]->id = UINT32_MAX;
  for (size_t i = 0; i < p->launches.len; i++) {
    struct graph_kernel *k = p->launches.at[i].kernel;
    if (k->id != UINT32_MAX)
      continue;
    k->id = (uint32_t)kept;
    name_kernel(p, &names, &last, k);
    p->kernels.at[kept++] = k;
  }
  p->kernels.len = kept;
}

// Kernels and memory for regions, which lose what an earlier emission added to them.
static struct program *make(struct graph *g, struct regions *r, const struct program_options *o) {
  size_t buffers = r->loops->buffers.len, temporaries = r->temporaries.len;
  struct program *p = arena_new(g->arena, struct program);
  p->arena = g->arena;
  p->graph = g;
  p->regions = r;
  bool done = true;
  for (size_t i = 0; done && i < r->list.len; i++)
    done = emit_region(p, r->list.at[i], o);
  if (done && emit_zeros(p, o)) {
    share_kernels(p);
    program_order_launches(p);
    number_kernels(p);
    done = memory_plan(p);
  }
  p->buffers = arena_array(g->arena, struct buffer *, r->loops->buffers.len + 1);
  for (size_t i = 0; i < r->loops->buffers.len; i++)
    p->buffers[i] = r->loops->buffers.at[i];
  p->buffer_count = r->loops->buffers.len;
  r->loops->buffers.len = buffers;
  r->temporaries.len = temporaries;
  return done ? p : NULL;
}

static int64_t spare(const struct program *p) {
  return expr_hint(p->eager_bytes) - expr_hint(p->arena_bytes);
}

// Products that split their sums take memory for the parts: no more than leaves the program within
// what running its operators one by one would take. Where that is nothing, a product alone say,
// there is nothing to compare with: libraries have memory of their own for that.
static struct program *make_within_memory(struct graph *g, struct regions *r,
                                          const struct program_options *o) {
  struct program *p = make(g, r, o);
  if (!p || spare(p) >= 0 || expr_is(p->eager_bytes, 0))
    return p;
  struct program_options bounded = *o;
  bounded.bounds_parts = true;
  bounded.parts_bytes = 0;
  struct program *least = make(g, r, &bounded);
  if (!least || spare(least) <= 0)
    return least;
  bounded.parts_bytes = spare(least);
  p = make(g, r, &bounded);
  return p && spare(p) >= 0 ? p : least;
}

struct program *program_compile(struct graph *g, const struct program_options *given) {
  struct program_options options = *given, *o = &options;
  options.rounds = g->keeps_casts;
  graph_find_sizes(g);
  struct graph *lowered = graph_decompose(g, true);
  lowered = lowered ? graph_simplify(lowered) : NULL;
  struct loops *loops = lowered ? loops_build(lowered) : NULL;
  struct fuse_options fuse = {.keeps_apart = o->keeps_apart};
  struct regions *regions = loops ? regions_form(loops, &fuse) : NULL;
  if (regions)
    regions_approximate(regions);
  return regions ? make_within_memory(g, regions, o) : NULL;
}
