// SPDX-License-Identifier: Apache-2.0
// Memory planning: one arena for all temporaries; buffers with disjoint lifetimes may share memory.
// Constant sizes are allocated one by one in the smallest gap that is free for their lifetime (best
// fit), in several orders, of which the best is used; very many in one pass over time
// (graph/plan/memory_sweep.c). A buffer of symbolic size gets a slot that is
// free for its lifetime and at least as large for all sizes, or a new slot at the end.
#include "graph/plan/memory_plan.h"

#include <stdlib.h>
#include <string.h>

// ---- constant sizes ----

enum { MANY = 2048, VERY_MANY = 8192 }; // storages; above, one order is tried, or one pass made

typedef int (*compare_fn)(const void *a, const void *b);

static int earlier(const struct life *l, const struct life *r) {
  return l->first < r->first ? -1 : l->first > r->first;
}

static int by_size(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  if (l->bytes != r->bytes)
    return l->bytes < r->bytes ? 1 : -1;
  return earlier(l, r);
}

static int by_length(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  size_t x = l->last - l->first, y = r->last - r->first;
  return x != y ? (x < y ? 1 : -1) : by_size(a, b);
}

static int by_area(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  double x = (double)l->bytes * (double)(l->last - l->first + 1),
         y = (double)r->bytes * (double)(r->last - r->first + 1);
  return x != y ? (x < y ? 1 : -1) : earlier(l, r);
}

static int by_time(const void *a, const void *b) {
  const struct life *l = *(struct life *const *)a, *r = *(struct life *const *)b;
  int time = earlier(l, r);
  return time ? time : by_size(a, b);
}

// The smallest gap that fits, between allocated storages with overlapping lifetimes.
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

// `placed` has room for all, sorted by offset.
static int64_t place_in_order(struct life **order, size_t n, struct life **placed) {
  int64_t end = 0;
  for (size_t i = 0; i < n; i++) {
    struct life *l = order[i];
    l->offset = best_gap(placed, i, l);
    end = l->offset + l->bytes > end ? l->offset + l->bytes : end;
    size_t at = i;
    for (; at > 0 && l->offset < placed[at - 1]->offset; at--)
      placed[at] = placed[at - 1];
    placed[at] = l;
  }
  return end;
}

static size_t find_storages(const struct lives *l, struct life **ret) {
  size_t n = 0;
  for (size_t i = 0; i < l->count; i++)
    if (l->at[i]->storage == l->at[i])
      ret[n++] = l->at[i];
  return n;
}

int64_t memory_place(struct arena *a, const struct lives *l) {
  static const compare_fn orders[] = {by_size, by_area, by_length, by_time};
  struct life **order = arena_array(a, struct life *, l->count + 1),
              **placed = arena_array(a, struct life *, l->count + 1);
  size_t n = find_storages(l, order), best = 0, last = n > MANY ? 0 : COUNT_OF(orders) - 1;
  int64_t least = INT64_MAX, end = 0;
  if (n > VERY_MANY) {
    qsort(order, n, sizeof *order, by_time);
    return memory_sweep(a, order, n);
  }
  for (size_t i = 0; i <= last; i++) {
    qsort(order, n, sizeof *order, orders[i]);
    end = place_in_order(order, n, placed);
    best = end < least ? i : best;
    least = end < least ? end : least;
  }
  if (best == last)
    return end;
  qsort(order, n, sizeof *order, orders[best]);
  return place_in_order(order, n, placed);
}

// ---- symbolic sizes ----

struct slot { // memory used by storages one after another
  const struct expr *offset, *size;
  VEC(const struct life *) storages;
};

static bool fits(struct exprs *x, const struct slot *s, const struct life *l) {
  if (s->size != l->size && expr_sub(x, s->size, l->size)->lo < 0)
    return false;
  for (size_t i = 0; i < s->storages.len; i++)
    if (l->first <= s->storages.at[i]->last && s->storages.at[i]->first <= l->last)
      return false;
  return true;
}

// Allocates slots by the indices of the storages in `l`; returns the end. Storages live during the
// whole run come first, at constant offsets.
static const struct expr *place_symbols(struct exprs *x, struct arena *a, const struct lives *l,
                                        const struct expr **ret_offsets) {
  struct life **order = arena_array(a, struct life *, l->count + 1);
  size_t n = find_storages(l, order);
  VEC(struct slot) slots = {0};
  const struct expr *end = expr_const(x, 0);
  qsort(order, n, sizeof *order, by_size);
  for (size_t i = n; i-- > 1;)
    if (order[i]->is_counter) {
      struct life *counters = order[i];
      memmove(order + 1, order, i * sizeof *order);
      order[0] = counters;
      break;
    }
  for (size_t i = 0; i < n; i++) {
    struct slot *s = NULL;
    for (size_t j = 0; j < slots.len && !s; j++)
      if (fits(x, &slots.at[j], order[i]))
        s = &slots.at[j];
    if (!s) {
      vec_push(a, &slots, (struct slot){.offset = end, .size = order[i]->size});
      s = &vec_last(&slots);
      end = expr_add(x, end, order[i]->size);
    }
    vec_push(a, &s->storages, order[i]);
    order[i]->offset = (int64_t)(s - slots.at);
  }
  for (size_t i = 0; i < l->count; i++)
    ret_offsets[i] = slots.at[l->at[i]->storage->offset].offset;
  return end;
}

// ---- the arena ----

void memory_plan(struct program *p) {
  struct exprs *x = p->graph->exprs;
  struct arena *a = p->arena;
  struct lives apart = memory_lives(p, a, NULL, false), l = memory_lives(p, a, NULL, true);
  // In-place kernels are kept only where they save memory: they need a barrier.
  int64_t bytes = memory_place(a, &l);
  int64_t bytes_apart = apart.count > MANY ? INT64_MAX : memory_place(a, &apart);
  if (bytes_apart <= bytes) {
    l = apart;
    bytes = bytes_apart;
  }
  for (size_t i = 0; i < l.taken_count; i++)
    vec_push(a, &p->in_place, l.taken[i]);
  const struct expr **offsets = arena_array(a, const struct expr *, l.count + 1);
  bool numbers = true;
  for (size_t i = 0; i < l.count; i++)
    numbers = numbers && expr_is_const(l.at[i]->size, NULL);
  if (numbers) {
    p->arena_bytes = expr_const(x, bytes);
    for (size_t i = 0; i < l.count; i++)
      offsets[i] = expr_const(x, l.at[i]->storage->offset);
  } else {
    p->arena_bytes = place_symbols(x, a, &l, offsets);
  }
  for (size_t i = 0; i < l.count; i++)
    vec_push(
        a, &p->placements,
        (struct placement){.buffer = l.at[i]->buffer, .offset = offsets[i], .size = l.at[i]->size});
  p->eager_bytes = expr_const(x, memory_eager_peak(p->graph, a));
}
