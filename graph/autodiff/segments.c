// SPDX-License-Identifier: Apache-2.0
// Segments: parts of the forward graph between positions where few bytes pass, such as layers. A
// segment that is computed again saves what enters it and nothing within. The first segments come
// first: their values would wait longest (Chen et al., arXiv:1604.06174).
#include "graph/autodiff/cut.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"

struct walk {
  int64_t *passes;    // by node id: bytes that later forward operators read from it or before it
  int64_t *saves;     // by node id: bytes of its results that the minimal cut saves
  uint32_t *segments; // by node id, from 1
  uint32_t count;
  uint32_t *last; // by value id: 1 + the last forward operator that reads it
};

static const struct value *base_of(const struct value *v) {
  while (v->def && operator_row(v->def->op)->class == CLASS_VIEW)
    v = node_value(v->def, 0);
  return v;
}

static void note_last(struct cut *c, const struct node *n, struct value *v, void *user) {
  (void)c;
  struct walk *w = user;
  if (operator_row(n->op)->class != CLASS_VIEW)
    w->last[base_of(v)->id] = n->id + 1;
}

// Each value passes from its operator to the last one that reads it.
static void measure(struct cut *c, struct walk *w) {
  struct graph *g = c->g;
  for (size_t i = 0; i < g->nodes.len; i++) {
    const struct node *n = g->nodes.at[i];
    if (cut_is_forward(c, n))
      cut_visit(c, n, n->args, n->arg_count, note_last, w);
  }
  int64_t *steps = arena_array(g->arena, int64_t, g->nodes.len + 2);
  for (size_t i = 0; i < g->nodes.len; i++)
    for (uint32_t k = 0; k < g->nodes.at[i]->result_count; k++) {
      const struct value *v = g->nodes.at[i]->results[k];
      if (!v || c->by_seed[v->id])
        continue;
      w->saves[i] += c->is_saved[v->id] ? cut_cost(c, v) : 0;
      if (w->last[v->id] > i + 1) {
        steps[i] += cut_cost(c, v);
        steps[w->last[v->id] - 1] -= cut_cost(c, v);
      }
    }
  int64_t bytes = 0;
  for (size_t i = 0; i < g->nodes.len; i++)
    w->passes[i] = bytes += steps[i];
}

// A segment ends where half as many bytes pass as computing it again saves, at the bottom of the
// valley.
static void find_segments(struct cut *c, struct walk *w) {
  struct graph *g = c->g;
  size_t end = 0; // of the current segment; 0: none yet
  int64_t saved = 0;
  w->count = 1;
  for (size_t i = 0; i < g->nodes.len; i++) {
    if (!cut_is_forward(c, g->nodes.at[i]))
      continue;
    saved += w->saves[i];
    if (w->passes[i] <= saved / 2 && (!end || w->passes[i] <= w->passes[end - 1]))
      end = i + 1;
    w->segments[i] = w->count;
    if (!end || w->passes[i] <= w->passes[end - 1] * 3 / 2)
      continue;
    saved = 0;
    w->count++;
    for (size_t k = end; k <= i; k++) {
      w->segments[k] = w->count;
      saved += w->saves[k];
    }
    end = 0;
  }
}

// The first `count` segments are regions, beside those that the user marked.
static void mark(struct cut *c, const struct walk *w, uint32_t count, uint32_t *regions) {
  for (size_t i = 0; i < c->g->nodes.len; i++) {
    uint32_t marked = c->g->nodes.at[i]->region;
    regions[i] = marked == REGION_GRADIENT ? 0 : marked;
    if (!regions[i] && w->segments[i] && w->segments[i] <= count)
      regions[i] = c->g->regions + w->segments[i];
  }
  cut_set_regions(c, regions);
}

// Makes regions of the first segments, as few as needed; of all of them if that is not enough.
static void mark_segments(struct cut *c, int64_t budget) {
  struct arena *a = c->g->arena;
  size_t count = c->g->nodes.len + 1;
  struct walk w = {.passes = arena_array(a, int64_t, count),
                   .saves = arena_array(a, int64_t, count),
                   .segments = arena_array(a, uint32_t, count),
                   .last = arena_array(a, uint32_t, c->g->value_count + 1)};
  uint32_t *regions = arena_array(a, uint32_t, count);
  measure(c, &w);
  find_segments(c, &w);
  uint32_t few = 0, many = w.count; // few: too few
  while (few + 1 < many) {
    uint32_t middle = few + (many - few) / 2;
    mark(c, &w, middle, regions);
    if (c->saved_bytes > budget)
      few = middle;
    else
      many = middle;
  }
  mark(c, &w, many, regions);
}

struct cut cut_create(struct graph *g, size_t outputs, size_t seeds,
                      const struct partition_options *o) {
  struct cut c = cut_begin(g, outputs, seeds);
  bool has_budget = o->budget > 0;
  if (has_budget && c.saved_bytes > o->budget)
    mark_segments(&c, o->budget);
  while (has_budget && c.saved_bytes > o->budget && cut_release_one(&c))
    ;
  c.fits = !has_budget || c.saved_bytes <= o->budget;
  return c;
}
