// SPDX-License-Identifier: Apache-2.0
// Merges groups greedily, the pair that saves most bytes first. A priority queue has pairs of
// neighbours (producer and consumer, or two consumers); a pair whose groups have changed is
// inserted again.
#include "graph/fuse/fuse.h"

enum {
  MAX_SIBLINGS = 12, // on either side: pairs of a group with others that read the same buffer
  SIBLING_REACH = 64 // maximal distance in positions
};

struct pair {
  struct group *a, *b;
  uint32_t versions[2];
  int64_t saves; // upper bound
  bool passes;   // one reads what the other writes
};

struct refusal {
  struct pair pair;
  const char *reason;
  bool never; // never by their kinds
};

struct queue {
  struct fuser *f;
  VEC(struct pair) heap;
  VEC(struct pair) fresh; // of the current group, each once
  VEC(struct refusal) refusals;
};

// ---- the heap ----

static int64_t distance(const struct pair *p) {
  return p->a->id < p->b->id ? p->b->id - p->a->id : p->a->id - p->b->id;
}

static bool is_before(const struct pair *p, const struct pair *q) {
  if (p->saves != q->saves)
    return p->saves > q->saves;
  if (distance(p) != distance(q))
    return distance(p) < distance(q);
  return p->a->id != q->a->id ? p->a->id < q->a->id : p->b->id < q->b->id;
}

static void swap_pairs(struct pair *p, struct pair *q) {
  struct pair t = *p;
  *p = *q;
  *q = t;
}

static void push(struct queue *q, struct pair p) {
  vec_push(q->f->arena, &q->heap, p);
  for (size_t i = q->heap.len - 1; i > 0;) {
    size_t parent = (i - 1) / 2;
    if (!is_before(&q->heap.at[i], &q->heap.at[parent]))
      break;
    swap_pairs(&q->heap.at[i], &q->heap.at[parent]);
    i = parent;
  }
}

static struct pair pop(struct queue *q) {
  struct pair top = q->heap.at[0];
  struct pair end = vec_pop(&q->heap);
  if (!q->heap.len)
    return top;
  q->heap.at[0] = end;
  for (size_t i = 0;;) {
    size_t best = i;
    for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < q->heap.len; child++)
      if (is_before(&q->heap.at[child], &q->heap.at[best]))
        best = child;
    if (best == i)
      return top;
    swap_pairs(&q->heap.at[i], &q->heap.at[best]);
    i = best;
  }
}

// ---- neighbours ----

static int64_t buffer_bytes(const struct buffer *b) {
  int64_t n = expr_hint(b->numel);
  return n > (INT64_MAX >> 4) ? INT64_MAX >> 4 : n * (int64_t)dtype_bytes(b->dtype);
}

static void add_pair(struct queue *q, struct group *a, struct group *b, int64_t saves,
                     bool passes) {
  if (a == b)
    return;
  if (a->id > b->id) {
    struct group *t = a;
    a = b;
    b = t;
  }
  for (size_t i = 0; i < q->fresh.len; i++) {
    struct pair *p = &q->fresh.at[i];
    if (p->a == a && p->b == b) {
      p->saves += saves;
      p->passes |= passes;
      return;
    }
  }
  struct pair p = {a, b, {a->version, b->version}, saves, passes};
  vec_push(q->f->arena, &q->fresh, p);
}

// The first reader whose stage is not before the group's.
static size_t find_reader(const struct buffer_use *u, const struct group *g) {
  size_t low = 0, high = u->readers.len;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (u->readers.at[middle]->id < g->id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Consumers of the same buffer, the closest in graph order.
static void add_siblings(struct queue *q, struct group *g, const struct buffer_use *u) {
  size_t middle = find_reader(u, g);
  size_t first = middle > MAX_SIBLINGS ? middle - MAX_SIBLINGS : 0;
  for (size_t i = first; i < u->readers.len && i <= middle + MAX_SIBLINGS; i++) {
    struct group *r = group_alive(u->readers.at[i]);
    uint32_t apart =
        r->position < g->position ? g->position - r->position : r->position - g->position;
    if (r != g && apart <= SIBLING_REACH)
      add_pair(q, g, r, buffer_bytes(u->buffer), false);
  }
}

static void add_neighbours(struct queue *q, struct group *g) {
  struct fuser *f = q->f;
  uint32_t stamp = ++f->stamp;
  q->fresh.len = 0;
  for (size_t i = 0; i < g->accesses.len; i++) {
    struct buffer_use *u = &f->uses[g->accesses.at[i].buffer->id];
    if (u->stamp == stamp)
      continue;
    u->stamp = stamp;
    if (u->writer && group_alive(u->writer) != g)
      add_pair(q, group_alive(u->writer), g, buffer_bytes(u->buffer) * (u->loads > 1 ? 1 : 2),
               true);
    if (!u->writer || group_alive(u->writer) != g)
      add_siblings(q, g, u);
    else
      for (size_t k = 0; k < u->readers.len && k < MAX_SIBLINGS; k++)
        add_pair(q, g, group_alive(u->readers.at[k]),
                 buffer_bytes(u->buffer) * (u->loads > 1 ? 1 : 2), true);
  }
  for (size_t i = 0; i < q->fresh.len; i++)
    push(q, q->fresh.at[i]);
}

// ---- merging ----

static bool is_current(const struct pair *p) {
  return !p->a->into && !p->b->into && p->a->version == p->versions[0] &&
         p->b->version == p->versions[1];
}

static void try_pair(struct queue *q, const struct pair *p) {
  struct join j = {.reason = "they have few inputs in common"};
  bool may_gain = p->passes || groups_gain(q->f, p->a, p->b, p->saves);
  if (may_gain && groups_can_join(q->f, p->a, p->b, &j)) {
    add_neighbours(q, groups_join(q->f, &j));
    return;
  }
  struct refusal r = {*p, j.reason, j.never};
  r.pair.saves = j.saved ? j.saved : p->saves;
  vec_push(q->f->arena, &q->refusals, r);
}

static void say_refusals(struct queue *q) {
  struct map said = {0}; // a pair may have been tried more than once
  for (size_t i = 0; i < q->refusals.len; i++) {
    const struct refusal *r = &q->refusals.at[i];
    char *key = arena_printf(q->f->arena, "%u %u", r->pair.a->id, r->pair.b->id);
    if (!is_current(&r->pair) || (!r->pair.passes && r->never) || map_get(&said, str_from(key)))
      continue;
    map_put(q->f->arena, &said, str_from(key), q);
    const struct group *last = r->pair.a->position < r->pair.b->position ? r->pair.b : r->pair.a;
    const struct group *first = last == r->pair.a ? r->pair.b : r->pair.a;
    diag_remark(q->f->l->diag, last->members.at[0]->stage->span, "fusion",
                "`%s` and `%s` are not fused: %s (%lld bytes)", region_name(q->f, first),
                region_name(q->f, last), r->reason, (long long)r->pair.saves);
  }
}

// Small independent kernels of one size: a launch costs more than their work.
static void join_small(struct queue *q) {
  struct fuser *f = q->f;
  struct map last = {0}; // by kind and size
  for (size_t i = 0; i < f->order.len; i++) {
    struct group *g = f->order.at[i];
    if (g->into || (g->kind != REGION_MAP && g->kind != REGION_ROWS))
      continue;
    char *key = arena_printf(f->arena, "%d %u %u", g->kind, g->numel[0]->id, g->numel[1]->id);
    struct group *other = map_get(&last, str_from(key));
    struct join j;
    if (other && !other->into && g->position - other->position <= SIBLING_REACH &&
        groups_can_join(f, other, g, &j))
      g = groups_join(f, &j);
    map_put(f->arena, &last, str_from(key), g);
  }
}

void groups_fuse(struct fuser *f) {
  struct queue q = {.f = f};
  for (size_t i = 0; i < f->order.len; i++)
    add_neighbours(&q, f->order.at[i]);
  while (q.heap.len) {
    struct pair p = pop(&q);
    if (is_current(&p))
      try_pair(&q, &p);
  }
  join_small(&q);
  say_refusals(&q);
}
