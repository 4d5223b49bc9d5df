// SPDX-License-Identifier: Apache-2.0
// Orders launches to save memory. Planning gives graph order, in which values produced long before
// their use take memory meanwhile. Other topological orders are tried: on demand (a launch just
// before its first consumer), and greedily by allocated minus freed bytes, among the next few
// launches of an order. The best is used if it saves enough memory; else graph order stays, since
// close launches share the cache.
#include "base/map.h"
#include "graph/plan/memory_plan.h"

#include <string.h>

enum {
  MOST_LAUNCHES = 2048,
  WORTH = 32
}; // WORTH: the fraction of the memory that another order must save

struct item {                  // a launch
  VEC(uint32_t) before, after; // launches
  VEC(uint32_t) buffers;       // the temporaries it uses, each once
  uint32_t waits;              // number of predecessors not yet ordered
  bool is_done;
};

struct used { // a buffer
  int64_t bytes;
  uint32_t touches, left; // launches that use it; those not yet ordered
  bool is_temporary;
  uint32_t writer;       // 1 + the last launch that wrote it
  VEC(uint32_t) readers; // since then
  uint32_t seen;         // 1 + the last launch that used it
};

struct ordering {
  const struct program *p;
  struct arena *a;
  size_t count;
  struct item *items;
  VEC(struct used *) used;
  struct map by_buffer; // to 1 + its index in `used`
};

// ---- dependencies ----

static uint32_t used_of(struct ordering *o, const struct buffer *b) {
  size_t at = (size_t)(uintptr_t)ptrmap_get(&o->by_buffer, b);
  if (at)
    return (uint32_t)at - 1;
  struct used *u = arena_new(o->a, struct used);
  u->bytes = memory_likely(b->numel, b->dtype);
  u->is_temporary = b->role == BUFFER_TEMP;
  vec_push(o->a, &o->used, u);
  ptrmap_put(o->a, &o->by_buffer, b, (void *)(uintptr_t)o->used.len);
  return (uint32_t)o->used.len - 1;
}

static void add_edge(struct ordering *o, uint32_t from, uint32_t to) {
  struct item *first = &o->items[from], *last = &o->items[to];
  if (from == to || (first->after.len && vec_last(&first->after) == to))
    return;
  vec_push(o->a, &first->after, to);
  vec_push(o->a, &last->before, from);
}

// A slice counts as its whole buffer.
static void touch(struct ordering *o, uint32_t launch, const struct buffer *of, bool writes) {
  const struct buffer *b = of->home;
  if (b == o->p->counters) // each launch restores it
    return;
  uint32_t at = used_of(o, b);
  struct used *u = o->used.at[at];
  if (u->seen != launch + 1 && u->is_temporary) {
    vec_push(o->a, &o->items[launch].buffers, at);
    u->touches++;
  }
  u->seen = launch + 1;
  if (u->writer)
    add_edge(o, u->writer - 1, launch);
  if (!writes) {
    vec_push(o->a, &u->readers, launch);
    return;
  }
  for (size_t i = 0; i < u->readers.len; i++)
    add_edge(o, u->readers.at[i], launch);
  u->readers.len = 0;
  u->writer = launch + 1;
}

static void find_edges(struct ordering *o) {
  o->items = arena_array(o->a, struct item, o->count + 1);
  for (uint32_t i = 0; i < o->count; i++) {
    const struct launch *l = &o->p->launches.at[i];
    if (l->clears)
      touch(o, i, l->clears, true);
    for (size_t j = 0; j < l->args.len; j++)
      if (l->args.at[j].kind == LAUNCH_BUFFER)
        touch(o, i, l->args.at[j].buffer, l->args.at[j].is_written);
  }
}

// ---- greedy ----

// Bytes allocated minus bytes freed; symmetric, for orders built backwards.
static int64_t cost_of(const struct ordering *o, const struct item *it) {
  int64_t cost = 0;
  for (size_t i = 0; i < it->buffers.len; i++) {
    const struct used *u = o->used.at[it->buffers.at[i]];
    cost += u->left == u->touches ? u->bytes : 0;
    cost -= u->left == 1 ? u->bytes : 0;
  }
  return cost;
}

// The cheapest of the ready launches among the first `window`; the first of equals.
static size_t choose(const struct ordering *o, const uint32_t *left, size_t count, size_t window) {
  size_t best = count;
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < count && i < window; i++) {
    const struct item *it = &o->items[left[i]];
    int64_t cost = it->waits ? INT64_MAX : cost_of(o, it);
    if (cost >= least)
      continue;
    least = cost;
    best = i;
  }
  return best;
}

// Improves an order: frees memory earlier and allocates later, within a window.
static void order_by_cost(struct ordering *o, const uint32_t *from, size_t window, uint32_t *ret) {
  uint32_t *left = arena_dup(o->a, from, o->count * sizeof *from, _Alignof(uint32_t));
  for (size_t i = 0; i < o->used.len; i++)
    o->used.at[i]->left = o->used.at[i]->touches;
  for (size_t i = 0; i < o->count; i++)
    o->items[i].waits = (uint32_t)o->items[i].before.len;
  for (size_t done = 0; done < o->count; done++) {
    size_t count = o->count - done, at = choose(o, left, count, window);
    uint32_t next = left[at];
    memmove(left + 1, left, at * sizeof *left);
    left++;
    ret[done] = next;
    const struct item *it = &o->items[next];
    for (size_t i = 0; i < it->buffers.len; i++)
      o->used.at[it->buffers.at[i]]->left--;
    for (size_t i = 0; i < it->after.len; i++)
      o->items[it->after.at[i]].waits--;
  }
}

// ---- on demand ----

// Launches in the given order, each after its predecessors. A launch with consumers is delayed
// until the first of them.
static void order_on_demand(struct ordering *o, uint32_t *ret) {
  struct step {
    uint32_t launch;
    size_t next; // of those before it
  };
  VEC(struct step) open = {0};
  size_t done = 0;
  for (uint32_t i = 0; i < o->count; i++)
    o->items[i].is_done = false;
  for (uint32_t i = 0; i < o->count; i++) {
    if (o->items[i].is_done || o->items[i].after.len)
      continue;
    vec_push(o->a, &open, (struct step){i, 0});
    while (open.len) {
      struct step *s = &vec_last(&open);
      struct item *it = &o->items[s->launch];
      if (it->is_done) {
        open.len--;
      } else if (s->next < it->before.len) {
        uint32_t before = it->before.at[s->next++];
        if (!o->items[before].is_done)
          vec_push(o->a, &open, (struct step){before, 0});
      } else {
        it->is_done = true;
        ret[done++] = s->launch;
        open.len--;
      }
    }
  }
}

// ---- the choice ----

// The peak of live bytes: the arena needs this or slightly more.
static int64_t peak_of(const struct ordering *o, const uint32_t *order) {
  struct lives l = memory_lives(o->p, o->a, order, true);
  int64_t *change = arena_array(o->a, int64_t, o->count + 2), live = 0, peak = 0;
  for (size_t i = 0; i < l.count; i++) {
    const struct life *one = l.at[i];
    change[one->first] += one->storage == one ? one->bytes : 0;
    change[one->last + 1] -= one->storage == one ? one->bytes : 0;
  }
  for (size_t i = 0; i < o->count; i++) {
    live += change[i];
    peak = live > peak ? live : peak;
  }
  return peak;
}

static int64_t needed(const struct ordering *o, const uint32_t *order) {
  struct lives l = memory_lives(o->p, o->a, order, true);
  return memory_place(o->a, &l);
}

static void apply(struct program *p, const uint32_t *order) {
  struct launch *at = arena_array(p->arena, struct launch, p->launches.len + 1);
  for (size_t i = 0; i < p->launches.len; i++)
    at[i] = p->launches.at[order[i]];
  for (size_t i = 0; i < p->launches.len; i++)
    p->launches.at[i] = at[i];
}

// The best order other than the first, which is the current one.
static const uint32_t *best_of(struct ordering *o) {
  static const size_t windows[] = {3, 8, 24, 96};
  uint32_t *bases[2];
  for (size_t i = 0; i < COUNT_OF(bases); i++)
    bases[i] = arena_array(o->a, uint32_t, o->count);
  for (uint32_t i = 0; i < o->count; i++)
    bases[0][i] = i;
  order_on_demand(o, bases[1]);
  const uint32_t *best = bases[1];
  int64_t least = peak_of(o, best);
  for (size_t i = 0; i < COUNT_OF(bases) * COUNT_OF(windows); i++) {
    uint32_t *order = arena_array(o->a, uint32_t, o->count);
    order_by_cost(o, bases[i % 2], windows[i / 2], order);
    int64_t peak = peak_of(o, order);
    best = peak < least ? order : best;
    least = peak < least ? peak : least;
  }
  return best;
}

void program_order_launches(struct program *p) {
  struct ordering o = {.p = p, .a = p->arena, .count = p->launches.len};
  if (o.count < 3 || o.count > MOST_LAUNCHES)
    return;
  find_edges(&o);
  const uint32_t *best = best_of(&o);
  int64_t before = needed(&o, NULL), after = needed(&o, best);
  if (after < before - before / WORTH ||
      (after < before && before > memory_eager_peak(p->graph, o.a)))
    apply(p, best);
}
