// SPDX-License-Identifier: Apache-2.0
// Merges two groups: whether they may share a kernel, what that saves, and the merge itself. The
// anchor keeps its axes; the candidate is rewritten over them.
#include "graph/fuse/fuse.h"

enum {
  MAX_BUFFERS = 40,
  MAX_MEMBERS = 96,
  SMALL_BYTES = 2u << 20, // below, a launch costs more than the traffic
  SMALL_PRODUCTS = 16u << 20,
  FEW_RESULTS = 1 << 18, // of a product: fewer blocks than fill a device
  SHARED_PART = 4        // siblings must share a quarter of the smaller one's traffic
};

// ---- legality ----

static enum nesting_level new_level(const struct join *j, const struct group *of,
                                    const struct member *m) {
  return of == j->candidate ? j->levels[m->level] : m->level;
}

static bool is_column(enum nesting_level p) {
  return p == MEMBER_COLUMN || p == MEMBER_COLUMN_REDUCTION;
}

// Column stages that run once come last.
static bool runs_once(const struct join *j, const struct group *of, const struct member *m) {
  bool becomes_column = !is_column(m->level) && is_column(new_level(j, of, m));
  return m->is_once || (of == j->candidate && becomes_column && j->is_once);
}

static bool can_pass(const struct stage *from, enum nesting_level made, const struct stage *to,
                     enum nesting_level used) {
  if (from->kind == STAGE_SCATTER || from->out->role == BUFFER_INPUT)
    return false;
  if (from->kind == STAGE_PRODUCT)
    return to->kind == STAGE_MAP || to->kind == STAGE_SCATTER;
  if (from->kind == STAGE_ATTENTION || from->kind == STAGE_SCAN)
    return to->kind == STAGE_MAP;
  if (to->kind == STAGE_PRODUCT || to->kind == STAGE_ATTENTION)
    return false;
  if (is_column(made))
    return used == MEMBER_COLUMN;
  return made != MEMBER_FULL || (used != MEMBER_ROW && used != MEMBER_COLUMN);
}

struct totals {
  int64_t saved;
  bool passes;
};

// For likely sizes; so few that sums do not overflow.
static int64_t bytes_hint(struct fuser *f, const struct group *g, struct access *a) {
  const int64_t most = INT64_C(1) << 45;
  if (!a->bytes)
    a->bytes = expr_hint(access_bytes(f, g, a));
  return a->bytes = a->bytes < most ? a->bytes : most;
}

// The access's offset in terms of the anchor's pieces.
static const struct expr *offset_of(struct fuser *f, struct side *s, const struct access *a) {
  size_t i = (size_t)(a - s->g->accesses.at);
  if (!s->offsets)
    s->offsets = arena_array(f->trials, const struct expr *, s->g->accesses.len);
  if (!s->offsets[i])
    s->offsets[i] = side_offset(f, s, a->offset);
  return s->offsets[i];
}

// An input that is overwritten after it was read: maps load everything before they store.
static bool check_overwrite(struct fuser *f, struct join *j, struct side *writer,
                            struct access *store, struct side *reader, struct access *load,
                            struct totals *t) {
  j->reason = "one overwrites what the other reads";
  if (j->kind != REGION_MAP || j->anchor->kind != REGION_MAP || j->candidate->kind != REGION_MAP)
    return false;
  if (writer == reader)
    return true;
  t->saved += bytes_hint(f, reader->g, load);
  return load->member->stage->id < store->member->stage->id &&
         offset_of(f, writer, store) == offset_of(f, reader, load);
}

// The store of a buffer and its load, in one group or in two.
static bool check_pass(struct fuser *f, struct join *j, struct side *from, struct access *store,
                       struct side *to, struct access *load, struct totals *t) {
  if (!can_pass(store->member->stage, new_level(j, from->g, store->member), load->member->stage,
                new_level(j, to->g, load->member)) ||
      (runs_once(j, from->g, store->member) && !runs_once(j, to->g, load->member))) {
    j->reason = load->member->stage->kind == STAGE_PRODUCT
                    ? read_many_times
                    : "one needs elements of the other's result that are not available at its "
                      "nesting level";
    return false;
  }
  if (from == to)
    return true;
  if (f->uses[store->buffer->id].writers > 1) {
    j->reason = "the buffer between them is written more than once";
    return false;
  }
  if (offset_of(f, from, store) != offset_of(f, to, load)) {
    j->reason = "the result of one is read at other offsets than it is written";
    return false;
  }
  t->passes = true;
  t->saved += bytes_hint(f, to->g, load);
  return true;
}

static bool check_pair(struct fuser *f, struct join *j, struct side *s, struct access *a,
                       struct side *t, struct access *b, struct totals *sum) {
  if (a->buffer != b->buffer) {
    j->reason = "one reads a concatenation of which the other writes a part";
    return !(a->is_store || b->is_store) || !buffers_overlap(a->buffer, b->buffer);
  }
  if (a->is_store && b->is_store) {
    j->reason = "both write to the same buffer";
    return s == t;
  }
  if (a->buffer->role == BUFFER_INPUT && a->is_store != b->is_store)
    return a->is_store ? check_overwrite(f, j, s, a, t, b, sum)
                       : check_overwrite(f, j, t, b, s, a, sum);
  if (a->is_store)
    return check_pass(f, j, s, a, t, b, sum);
  if (b->is_store)
    return check_pass(f, j, t, b, s, a, sum);
  if (s != t && offset_of(f, s, a) == offset_of(f, t, b)) {
    int64_t x = bytes_hint(f, s->g, a), y = bytes_hint(f, t->g, b);
    sum->saved += x < y ? x : y;
  }
  return true;
}

// Removes dead stores.
static void count_stores(struct fuser *f, struct group *a, const struct group *b,
                         struct totals *t) {
  for (size_t i = 0; i < a->accesses.len; i++) {
    struct access *s = &a->accesses.at[i];
    if (!s->is_store || s->buffer->role != BUFFER_TEMP || !group_stores(f, a, s->buffer))
      continue;
    if (group_loads(a, s->buffer) + group_loads(b, s->buffer) == f->uses[s->buffer->id].loads)
      t->saved += bytes_hint(f, a, s);
  }
}

static bool check_accesses(struct fuser *f, struct join *j, struct totals *t) {
  struct side *h = &j->anchor_side, *g = &j->candidate_side;
  size_t m = h->g->accesses.len, n = g->g->accesses.len;
  for (size_t i = 0; i < n; i++) {
    struct access *a = &g->g->accesses.at[i];
    for (size_t k = 0; k < m; k++)
      if (!check_pair(f, j, g, a, h, &h->g->accesses.at[k], t))
        return false;
    for (size_t k = 0; k < n && a->is_store; k++) // offsets of the candidate may have changed
      if (!g->g->accesses.at[k].is_store && a->member != g->g->accesses.at[k].member &&
          !check_pair(f, j, g, a, g, &g->g->accesses.at[k], t))
        return false;
  }
  return true;
}

static bool is_within_bounds(struct fuser *f, struct join *j) {
  uint32_t stamp = ++f->stamp, buffers = 0;
  for (int k = 0; k < 2; k++) {
    const struct group *g = k ? j->candidate : j->anchor;
    for (size_t i = 0; i < g->accesses.len; i++) {
      struct buffer_use *u = &f->uses[g->accesses.at[i].buffer->id];
      buffers += u->stamp != stamp;
      u->stamp = stamp;
    }
  }
  if (buffers <= MAX_BUFFERS && j->anchor->members.len + j->candidate->members.len <= MAX_MEMBERS)
    return true;
  j->reason = "one kernel would have too many buffers";
  return false;
}

// ---- profitability ----

static int64_t traffic_hint(struct fuser *f, struct group *g) {
  if (g->traffic_at == g->version + 1)
    return g->traffic;
  int64_t sum = 0;
  for (size_t i = 0; i < g->accesses.len; i++)
    sum += bytes_hint(f, g, &g->accesses.at[i]);
  g->traffic = sum;
  g->traffic_at = g->version + 1;
  return sum;
}

// Siblings save a launch, or shared traffic. Large products gain nothing.
bool groups_gain(struct fuser *f, struct group *a, struct group *b, int64_t shared) {
  int64_t x = traffic_hint(f, a), y = traffic_hint(f, b), least = x < y ? x : y;
  if (a->kind == REGION_PRODUCT && b->kind == REGION_PRODUCT)
    return x + y <= SMALL_PRODUCTS && expr_hint(a->numel[0]) <= FEW_RESULTS;
  return (x + y <= SMALL_BYTES && a->kind == b->kind) ||
         (shared >= least / SHARED_PART && shared > 0);
}

static bool is_worth_it(struct fuser *f, struct join *j, const struct totals *t) {
  if (t->passes)
    return true;
  j->reason = "neither uses a result of the other";
  if ((j->anchor->parts | j->candidate->parts) >> PART_AGAIN & f->l->parts_stay_apart)
    return false; // copies for different gradients, at different times
  bool are_products = j->anchor->kind == REGION_PRODUCT && j->candidate->kind == REGION_PRODUCT;
  if (j->anchor->kind != REGION_MAP && !is_rows(j->anchor->kind) && !are_products)
    return false;
  j->reason = "they have few inputs in common";
  return groups_gain(f, j->anchor, j->candidate, t->saved);
}

// ---- the decision ----

static bool try_as(struct fuser *f, struct group *anchor, struct group *candidate, struct join *j) {
  *j = (struct join){.anchor = anchor, .candidate = candidate};
  struct totals t = {0};
  if (!candidate_fits(f, j) || !is_within_bounds(f, j) || !candidate_align(f, j) ||
      !check_accesses(f, j, &t))
    return false;
  count_stores(f, anchor, candidate, &t);
  count_stores(f, candidate, anchor, &t);
  j->saved = t.saved;
  return is_worth_it(f, j, &t);
}

static unsigned strength(enum region_kind k) {
  static const unsigned of[] = {
      [REGION_MAP] = 0,  [REGION_SCATTER] = 1, [REGION_ROWS] = 2,      [REGION_ROW_COLUMN] = 3,
      [REGION_SCAN] = 4, [REGION_PRODUCT] = 5, [REGION_ATTENTION] = 6, [REGION_CALL] = 7};
  return of[k];
}

bool groups_can_join(struct fuser *f, struct group *a, struct group *b, struct join *ret) {
  unsigned x = strength(a->kind), y = strength(b->kind);
  struct group *anchor = x > y || (x == y && a->members.len >= b->members.len) ? a : b;
  struct group *candidate = anchor == a ? b : a;
  arena_release(f->trials, f->no_trial);
  bool fits = try_as(f, anchor, candidate, ret);
  if (!fits && anchor->kind == REGION_ROWS && candidate->kind == REGION_ROWS) {
    struct join other;
    if ((fits = try_as(f, candidate, anchor, &other)))
      *ret = other;
  }
  if (fits && order_has_detour(f, a, b)) {
    ret->reason = "a third kernel depends on one of them, and the other on it";
    fits = false;
  }
  return fits;
}

// ---- merging ----

static void split_loop_dims(struct fuser *f, struct side *s) {
  struct group *g = s->g;
  const struct expr **from = arena_array(f->arena, const struct expr *, g->loop_dims.len + 1);
  const struct expr **to = arena_array(f->arena, const struct expr *, g->loop_dims.len + 1);
  size_t count = 0;
  for (size_t i = 0; i < g->loop_dims.len; i++)
    if (s->value[i] != g->loop_dims.at[i].axis) {
      from[count] = g->loop_dims.at[i].axis;
      to[count++] = s->value[i];
    }
  group_substitute(f, g, count, from, to);
  struct loop_dim *old = g->loop_dims.at;
  g->loop_dims.at = NULL;
  g->loop_dims.len = g->loop_dims.cap = 0;
  for (size_t i = 0; i < s->pieces.len; i++) {
    struct loop_dim a = old[s->pieces.at[i]->loop_dim];
    a.axis = s->pieces.at[i]->axis;
    vec_push(f->arena, &g->loop_dims, a);
  }
}

static void move_members(struct fuser *f, struct join *j) {
  struct group *h = j->anchor, *g = j->candidate;
  for (size_t i = 0; i < g->members.len; i++) {
    struct member *m = g->members.at[i];
    enum nesting_level p = j->levels[m->level];
    m->is_once |= j->is_once && is_column(p) && !is_column(m->level);
    m->level = p;
    vec_push(f->arena, &h->members, m);
    for (size_t k = h->members.len - 1; k > 0 && h->members.at[k - 1]->stage->id > m->stage->id;
         k--) {
      h->members.at[k] = h->members.at[k - 1];
      h->members.at[k - 1] = m;
    }
  }
}

struct group *groups_join(struct fuser *f, struct join *j) {
  struct group *h = j->anchor, *g = j->candidate;
  struct side *s = &j->candidate_side;
  const struct expr **from = arena_array(f->arena, const struct expr *, s->pieces.len + 1);
  const struct expr **to = arena_array(f->arena, const struct expr *, s->pieces.len + 1);
  split_loop_dims(f, &j->anchor_side);
  split_loop_dims(f, s);
  for (size_t i = 0; i < s->pieces.len; i++) {
    const struct piece *p = s->pieces.at[i];
    from[i] = p->axis;
    to[i] = p->match ? p->match->axis : expr_const(f->x, 0);
  }
  group_substitute(f, g, s->pieces.len, from, to);
  move_members(f, j);
  h->kind = j->kind;
  h->keeps_order |= g->keeps_order;
  h->sums_taps |= g->sums_taps;
  h->parts |= g->parts;
  group_find_accesses(f, h);
  order_merge(f, h, g);
  return h;
}
