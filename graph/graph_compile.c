// SPDX-License-Identifier: Apache-2.0
// The pipeline from a graph to a program. All decisions precede emission, which prints each kernel
// once.
//
//   graph -> decompose, simplify -> loops -> regions -> plans of kernels -> kernels -> memory
#include "graph/graph_compile.h"

#include "base/debug.h"
#include "graph/autodiff/recompute.h"
#include "graph/emit/graph_emit.h"
#include "graph/fuse/approximate.h"
#include "graph/ir/sizes.h"
#include "graph/passes/channels_last.h"
#include "graph/passes/passes.h"
#include "graph/plan/memory_plan.h"
#include "graph/plan/product_plan.h"

static struct program *plan_regions(struct graph *g, struct regions *r,
                                    const struct program_options *o) {
  struct program *p = arena_new(g->arena, struct program);
  bool done = true;
  p->arena = g->arena;
  p->graph = g;
  p->regions = r;
  p->launch_pdl = plan_has_pdl(o);
  for (size_t i = 0; done && i < r->list.len; i++)
    done = plan_region(p, r->list.at[i], o);
  return done && plan_zeros(p, o) ? p : NULL;
}

// The bytes by which the planned program needs less memory than eager execution.
static int64_t memory_left(const struct program *p, int64_t *ret_eager) {
  struct program estimate = {
      .arena = p->arena, .graph = p->graph, .regions = p->regions, .counters = p->counters};
  for (size_t i = 0; i < p->plans.len; i++)
    vec_push(p->arena, &estimate.launches, plan_launch_of(&estimate, p->plans.at[i]));
  program_order_launches(&estimate);
  memory_plan(&estimate);
  *ret_eager = expr_hint(estimate.eager_bytes);
  return expr_is(estimate.eager_bytes, 0)
             ? INT64_MAX
             : expr_hint(estimate.eager_bytes) - expr_hint(estimate.arena_bytes);
}

static bool has_parts(const struct program *p) {
  for (size_t i = 0; i < p->plans.len; i++)
    if (p->plans.at[i]->kind == KERNEL_PRODUCT && p->plans.at[i]->product->product->parts)
      return true;
  return false;
}

struct planning {
  struct graph *g;
  struct regions *r;
  size_t buffers, temporaries; // of the graph
};

// A plan starts with the graph's own buffers.
static void forget_temporaries(const struct planning *n) {
  n->r->loops->buffers.len = n->buffers;
  n->r->temporaries.len = n->temporaries;
}

static struct program *plan_again(const struct planning *n, const struct program_options *o,
                                  int64_t parts_bytes) {
  struct program_options bounded = *o;
  bounded.bounds_parts = true;
  bounded.parts_bytes = parts_bytes;
  forget_temporaries(n);
  return plan_regions(n->g, n->r, &bounded);
}

// Split-K products take memory for partial sums: no more than keeps the program within the memory
// of eager execution, beside what libraries take for workspaces where that is small: products of a
// long k with few blocks take a hundred times as long if they are not split. If that memory is
// zero, as for a single product, there is no bound.
static struct program *plan_within_memory(const struct planning *n,
                                          const struct program_options *o) {
  enum { WORKSPACE = 32 << 20, SMALL_SHARE = 4 };
  int64_t eager = 0;
  struct program *p = plan_regions(n->g, n->r, o);
  if (!p || !has_parts(p) || memory_left(p, &eager) >= 0)
    return p;
  p = plan_again(n, o, 0);
  int64_t left = p ? memory_left(p, &eager) : 0;
  int64_t workspace = eager >= SMALL_SHARE * (int64_t)WORKSPACE ? WORKSPACE : 0;
  int64_t most = left > workspace ? left : workspace;
  if (most <= 0)
    return p;
  p = plan_again(n, o, most);
  bool fits = p && (left <= workspace || memory_left(p, &eager) >= 0);
  return fits ? p : plan_again(n, o, workspace);
}

static struct program *compile_regions(struct graph *g, struct regions *r,
                                       const struct program_options *o) {
  struct planning n = {g, r, r->loops->buffers.len, r->temporaries.len};
  struct program *p = plan_within_memory(&n, o);
  for (size_t i = 0; p && i < p->plans.len; i++)
    p = emit_kernel(p, p->plans.at[i]) ? p : NULL;
  if (p) {
    program_share_kernels(p);
    program_order_launches(p);
    program_name_kernels(p);
    memory_plan(p);
    memory_order_kernels(p);
    program_keep_buffers(p);
  }
  forget_temporaries(&n);
  return p;
}

// ---- programs of subgraphs ----

static struct program *compile_graph(struct graph *g, const struct program_options *o);

static bool compile_bodies(struct program *p, const struct program_options *o) {
  for (size_t i = 0; i < p->launches.len; i++) {
    struct launch *l = &p->launches.at[i];
    size_t bodies = 0;
    for (uint32_t k = 0; l->call && k < l->call->node->arg_count; k++) {
      if (l->call->node->args[k].kind != ARG_GRAPH)
        continue;
      assert(bodies < COUNT_OF(l->bodies));
      struct graph *dense = subgraph_make_dense(l->call->node->args[k].graph);
      if (!dense || !(l->bodies[bodies] = compile_graph(dense, o)))
        return false;
      bodies++;
    }
  }
  return true;
}

static struct program *compile_graph(struct graph *g, const struct program_options *given) {
  struct program_options options = *given, *o = &options;
  options.rounds = g->keeps_casts;
  bool has_channels_last = plan_has_wgmma(o) || debug_on(DEBUG_CHANNELS_LAST);
  if (has_channels_last)
    graph_choose_output_strides(g);
  graph_find_sizes(g);
  unsigned flags = KEEPS_ATTENTION | (plan_is_cpu(o) ? 0 : HAS_GRADIENT_KERNELS);
  struct graph *lowered = graph_decompose(g, flags, plan_has_wgmma(o));
  lowered = lowered ? graph_simplify(lowered) : NULL;
  struct recomputation again = {0};
  if (lowered && g->recomputes)
    lowered = graph_recompute(lowered, &again);
  if (lowered && has_channels_last)
    graph_store_channels_last(lowered);
  if (lowered)
    lowered->sums_taps = plan_is_cpu(o);
  struct loops *loops = lowered ? loops_build(lowered) : NULL;
  struct fuse_options fuse = {.keeps_apart = o->keeps_apart};
  struct regions *regions = loops ? regions_form(loops, &fuse) : NULL;
  if (regions) {
    regions_approximate(regions);
    regions_rebase(regions);
  }
  struct program *p = regions ? compile_regions(g, regions, o) : NULL;
  if (p)
    p->saved_bytes = again.saved_bytes;
  return p && compile_bodies(p, given) ? p : NULL;
}

// Names in one pack: "b3_0_" is the first subgraph of launch 3.
static void set_prefixes(struct program *p) {
  for (size_t i = 0; i < p->launches.len; i++)
    for (size_t k = 0; k < COUNT_OF(p->launches.at[i].bodies); k++) {
      struct program *body = p->launches.at[i].bodies[k];
      if (!body)
        continue;
      body->prefix = arena_printf(p->arena, "%sb%zu_%zu_", p->prefix ? p->prefix : "", i, k);
      set_prefixes(body);
    }
}

struct program *program_compile(struct graph *g, const struct program_options *given) {
  struct program *p = compile_graph(g, given);
  if (p)
    set_prefixes(p);
  return p;
}
