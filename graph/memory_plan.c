// SPDX-License-Identifier: Apache-2.0
// One arena for all temporaries. A buffer lives from the first launch that writes it to the last
// that touches it; buffers whose lives do not overlap may share memory. Sizes that are numbers are
// placed largest first at the lowest place that is free for their whole life (best fit over
// intervals, as register allocators do it); where sizes are symbols, a buffer takes over one of
// equal size that is dead, or new room at the end.
#include "base/map.h"
#include "graph/operators.h"
#include "graph/program.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

struct life {
  struct buffer *buffer;
  size_t first, last; // launches
  int64_t bytes;      // rounded up; of likely sizes where they are symbols
  int64_t offset;
  bool is_placed;
};

struct plan {
  struct program *p;
  struct exprs *x;
  struct arena *a;
  VEC(struct life) lives;
  struct map by_buffer; // to index + 1 of `lives`
};

static const struct expr *size_of(struct plan *pl, const struct buffer *b) {
  const struct expr *bytes = expr_muli(pl->x, b->numel, dtype_bytes(b->dtype));
  const struct expr *units = expr_cdiv(pl->x, bytes, expr_const(pl->x, ALIGNMENT));
  return expr_muli(pl->x, units, ALIGNMENT);
}

static void touch(struct plan *pl, struct buffer *b, size_t launch) {
  if (!b || b->role != BUFFER_TEMP)
    return;
  size_t at = (size_t)(uintptr_t)ptrmap_get(&pl->by_buffer, b);
  if (!at) {
    int64_t bytes = expr_hint(size_of(pl, b));
    vec_push(pl->a, &pl->lives,
             (struct life){.buffer = b, .first = launch, .last = launch, .bytes = bytes});
    ptrmap_put(pl->a, &pl->by_buffer, b, (void *)(uintptr_t)pl->lives.len);
    return;
  }
  pl->lives.at[at - 1].last = launch;
}

static void find_lives(struct plan *pl) {
  touch(pl, pl->p->counters, 0); // before all others, so that its place depends on no symbol
  for (size_t i = 0; i < pl->p->launches.len; i++) {
    const struct launch *l = &pl->p->launches.at[i];
    touch(pl, l->clears, i);
    for (size_t j = 0; j < l->args.len; j++)
      if (l->args.at[j].kind == LAUNCH_BUFFER)
        touch(pl, l->args.at[j].buffer, i);
  }
  touch(pl, pl->p->counters, pl->p->launches.len);
}

// ---- sizes that are numbers ----

static int by_size(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  if (l->bytes != r->bytes)
    return l->bytes < r->bytes ? 1 : -1;
  return l->first < r->first ? -1 : l->first > r->first;
}

static int by_offset(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  return l->offset < r->offset ? -1 : l->offset > r->offset;
}

// The smallest gap that fits between those placed whose lives overlap.
static int64_t best_gap(struct life **placed, size_t count, const struct life *of) {
  int64_t end = 0, best = -1, best_room = INT64_MAX;
  for (size_t i = 0; i < count; i++) {
    const struct life *l = placed[i];
    if (l->last < of->first || of->last < l->first)
      continue;
    int64_t room = l->offset - end;
    if (room >= of->bytes && room < best_room) {
      best = end;
      best_room = room;
    }
    if (l->offset + l->bytes > end)
      end = l->offset + l->bytes;
  }
  return best >= 0 ? best : end;
}

static int64_t place_numbers(struct plan *pl) {
  size_t n = pl->lives.len;
  struct life **order = arena_array(pl->a, struct life *, n + 1),
              **placed = arena_array(pl->a, struct life *, n + 1);
  for (size_t i = 0; i < n; i++)
    order[i] = &pl->lives.at[i];
  qsort(order, n, sizeof(struct life *), by_size);
  int64_t end = 0;
  for (size_t i = 0; i < n; i++) {
    order[i]->offset = best_gap(placed, i, order[i]);
    end = order[i]->offset + order[i]->bytes > end ? order[i]->offset + order[i]->bytes : end;
    size_t at = i;
    for (; at > 0 && by_offset(&order[i], &placed[at - 1]) < 0; at--)
      placed[at] = placed[at - 1];
    placed[at] = order[i];
  }
  return end;
}

static void put(struct plan *pl, struct life *l, const struct expr *offset) {
  vec_push(
      pl->p->arena, &pl->p->placements,
      (struct placement){.buffer = l->buffer, .offset = offset, .size = size_of(pl, l->buffer)});
}

// ---- sizes that are symbols ----

static void place_symbols(struct plan *pl) {
  const struct expr *end = expr_const(pl->x, 0);
  for (size_t i = 0; i < pl->lives.len; i++) {
    struct life *l = &pl->lives.at[i];
    const struct expr *size = size_of(pl, l->buffer), *offset = NULL;
    for (size_t j = 0; j < i && !offset; j++) {
      struct life *dead = &pl->lives.at[j];
      if (dead->is_placed || dead->last >= l->first || pl->p->placements.at[j].size != size)
        continue;
      dead->is_placed = true; // taken over: the next who wants it looks at `l`
      offset = pl->p->placements.at[j].offset;
    }
    if (!offset) {
      offset = end;
      end = expr_add(pl->x, end, size);
    }
    put(pl, l, offset);
  }
  pl->p->arena_bytes = end;
}

// ---- operators run one by one ----

// The value whose memory a view shows; itself if it is none.
static const struct value *storage_of(const struct value *v) {
  while (v->def && operator_row(v->def->op)->class == CLASS_VIEW)
    v = node_value(v->def, 0);
  return v;
}

static void keep_until(size_t *last, const struct value *v, size_t node) {
  if (v)
    last[storage_of(v)->id] = node;
}

static void keep_arg(size_t *last, const struct arg *a, size_t node) {
  if (a->kind == ARG_VALUE)
    keep_until(last, a->value, node);
  for (size_t i = 0; a->kind == ARG_LIST && i < a->list.count; i++)
    keep_arg(last, &a->list.at[i], node);
}

static int64_t bytes_of(struct plan *pl, const struct value *v) {
  int64_t bytes = expr_hint(value_numel(pl->x, v)) * dtype_bytes(v->dtype);
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// Peak of results that are neither outputs nor views, each alive up to its last use.
static int64_t eager_peak(struct plan *pl) {
  const struct graph *g = pl->p->graph;
  size_t n = g->nodes.len, *last = arena_array(pl->a, size_t, g->value_count + 1);
  int64_t *freed = arena_array(pl->a, int64_t, n + 1), live = 0, peak = 0;
  for (size_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < g->nodes.at[i]->arg_count; j++)
      keep_arg(last, &g->nodes.at[i]->args[j], i);
  for (size_t i = 0; i < g->outputs.len; i++)
    keep_until(last, g->outputs.at[i], SIZE_MAX);
  for (size_t i = 0; i < n; i++) {
    const struct node *node = g->nodes.at[i];
    for (uint32_t j = 0; j < node->result_count && operator_row(node->op)->class != CLASS_VIEW;
         j++) {
      const struct value *v = node->results[j];
      if (!v || last[v->id] == SIZE_MAX)
        continue;
      live += bytes_of(pl, v);
      freed[last[v->id] > i ? last[v->id] : i] += bytes_of(pl, v);
    }
    peak = live > peak ? live : peak;
    live -= freed[i];
  }
  return peak;
}

bool memory_plan(struct program *p) {
  struct plan pl = {.p = p, .x = p->graph->exprs, .a = p->arena};
  find_lives(&pl);
  bool numbers = true;
  for (size_t i = 0; i < pl.lives.len; i++)
    numbers &= expr_is_const(pl.lives.at[i].buffer->numel, NULL);
  if (numbers) {
    p->arena_bytes = expr_const(pl.x, place_numbers(&pl));
    for (size_t i = 0; i < pl.lives.len; i++)
      put(&pl, &pl.lives.at[i], expr_const(pl.x, pl.lives.at[i].offset));
  } else {
    place_symbols(&pl);
  }
  p->eager_bytes = expr_const(pl.x, eager_peak(&pl));
  return true;
}
