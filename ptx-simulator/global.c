// SPDX-License-Identifier: Apache-2.0
// Races in global memory (global.h). A page has a cell for each 4 bytes, or fewer if an access is
// smaller; a cell keeps the last writer and two readers. The memory for this is bounded: beyond the
// bound, accesses of a launch are not checked any more.
#include "ptx-simulator/global.h"

#include "ptx-simulator/cluster.h"

enum { PAGE_LOG2 = 12, CHUNK_LOG2 = 12, LANE_BITS = 5, LARGEST_CELL_LOG2 = 2 };
#define BUDGET ((size_t)512 << 20)

// An operation of a warp between two points that order its accesses: which one, and when.
struct event {
  uint32_t cta, op, clock; // clock of the warp
  uint32_t time : 27;      // number of earlier releases in the launch
  uint32_t warp : 5;
};

// A touch is an event's number and a lane; 0: none.
struct cell {
  uint32_t write, reads[2];
  uint32_t released : 27; // number of the last release here
  uint32_t is_atomic : 1; // the write is atomic
  uint32_t is_quiet : 1;  // the write did not change memory
};

struct page {
  unsigned cell_log2; // bytes of a cell
  struct cell *cells; // NULL: not touched
};

struct release {
  const struct release *before; // of the CTA
  uint32_t time, warp;
  uint32_t clocks[]; // of the CTA's warps
};

struct raced_read { // in a CTA: a racing read of the last lane of an operation
  uint32_t other;   // touch; 0: none
  uint64_t address;
};

struct global_shadow {
  struct raced_read *raced; // [operation]
  struct page **pages;      // [buffer][page]
  VEC(struct event *) chunks;
  uint32_t event_count;
  uint32_t time;       // releases so far
  struct map releases; // by number of the CTA: its last
  size_t bytes;
  bool is_full;
};

struct touch {
  struct warp *w;
  const struct op *op;
  unsigned lane, bytes, order;
  const struct location *at;
};

static bool spend(struct global_shadow *g, size_t bytes) {
  g->bytes += bytes;
  g->is_full |= g->bytes > BUDGET;
  return !g->is_full;
}

struct global_shadow *global_create(struct run *r) {
  struct global_shadow *g = arena_new(r->arena, struct global_shadow);
  g->pages = arena_array(r->arena, struct page *, r->buffer_count + 1);
  g->raced = arena_array(r->arena, struct raced_read, r->program->code.len + 1);
  g->event_count = 1; // 0 is no event
  return g;
}

void global_start_warp(struct warp *w) {
  w->acquired = w->released = 0;
  w->has_news = true;
  w->last_op = NULL;
}

// ---- events ----

static const struct event *event_of(const struct global_shadow *g, uint32_t touch) {
  uint32_t number = touch >> LANE_BITS;
  return &g->chunks.at[number >> CHUNK_LOG2][number & ((1u << CHUNK_LOG2) - 1)];
}

static uint32_t new_event(struct global_shadow *g, struct arena *a, const struct event *e) {
  uint32_t number = g->event_count;
  if ((number >> CHUNK_LOG2) >= g->chunks.len) {
    size_t bytes = sizeof *e << CHUNK_LOG2;
    if (!spend(g, bytes))
      return 0;
    vec_push(a, &g->chunks, arena_alloc(a, bytes, 16));
  }
  g->chunks.at[number >> CHUNK_LOG2][number & ((1u << CHUNK_LOG2) - 1)] = *e;
  g->event_count++;
  return number;
}

// The touch of this access. The lanes of an operation share one event, and so does an operation
// that runs again before anything orders it.
static uint32_t this_touch(const struct touch *x) {
  struct warp *w = x->w;
  struct global_shadow *g = w->run->global;
  bool goes_on = w->last_op == x->op && x->lane > w->last_lane;
  w->last_op = x->op;
  w->last_lane = x->lane;
  uint32_t *last = &w->events[x->op - w->program->code.at];
  if (goes_on && *last)
    return *last << LANE_BITS | x->lane;
  struct event e = {.cta = w->cta->number,
                    .op = (uint32_t)(x->op - w->program->code.at),
                    .clock = w->clock[w->id].clock,
                    .time = g->time,
                    .warp = w->index};
  if (!*last || memcmp(event_of(g, *last << LANE_BITS), &e, sizeof e) != 0)
    *last = new_event(g, w->run->arena, &e);
  w->has_news = true;
  return *last ? *last << LANE_BITS | x->lane : 0;
}

// ---- order ----

// Whether a release that the warp has acquired happened after the event.
static bool is_acquired(const struct warp *w, const struct event *e) {
  struct str key = {(const char *)&e->cta, sizeof e->cta};
  const struct release *r = map_get(&w->run->global->releases, key);
  for (; r && r->time > e->time; r = r->before)
    if (r->time <= w->acquired && (r->warp == e->warp || e->clock <= r->clocks[e->warp]))
      return true;
  return false;
}

static bool is_unordered(const struct touch *x, uint32_t other) {
  const struct warp *w = x->w;
  if (!other)
    return false;
  const struct event *e = event_of(w->run->global, other);
  const struct cta *near = cluster_cta(w->cta->cluster, e->cta);
  unsigned lane = other & (SIM_LANES - 1), id = near ? near->warps[e->warp].id : 0;
  if (near && id == w->id)
    return e->clock >= w->clock[id].base && lane != x->lane;
  return !(near && clock_covers(&w->clock[id], e->clock, 1u << lane)) && !is_acquired(w, e);
}

static void acquire(struct warp *w, const struct cell *c) {
  if (c->released <= w->acquired)
    return;
  w->acquired = c->released;
  w->has_news = true;
}

// The number of a release that covers all earlier accesses of the warp and all that it has
// acquired.
static uint32_t release_of(struct warp *w) {
  struct global_shadow *g = w->run->global;
  unsigned warps = w->cta->warp_count;
  size_t bytes = sizeof(struct release) + warps * sizeof(uint32_t);
  if (w->has_news && spend(g, bytes)) {
    struct str key = {(const char *)&w->cta->number, sizeof w->cta->number};
    struct release *r = arena_alloc(w->run->arena, bytes, 8);
    r->before = map_get(&g->releases, key);
    r->time = ++g->time;
    r->warp = w->index;
    for (unsigned i = 0; i < warps; i++)
      r->clocks[i] = w->clock[w->cta->warps[i].id].clock;
    map_put(w->run->arena, &g->releases, key, r);
    w->released = r->time;
    w->has_news = false;
  }
  return w->released;
}

// ---- cells ----

static void refine(struct arena *a, struct global_shadow *g, struct page *p, unsigned cell_log2) {
  size_t count = (size_t)1 << (PAGE_LOG2 - cell_log2);
  if (!spend(g, count * sizeof *p->cells))
    return;
  struct cell *cells = arena_array(a, struct cell, count);
  for (size_t i = 0; p->cells && i < count; i++)
    cells[i] = p->cells[i >> (p->cell_log2 - cell_log2)];
  *p = (struct page){cell_log2, cells};
}

// The page of the access, which lies within one page. NULL when memory is out.
static struct page *find_page(const struct touch *x) {
  struct run *r = x->w->run;
  struct global_shadow *g = r->global;
  const struct sim_buffer *b = x->at->buffer;
  struct page **pages = &g->pages[b - r->buffers];
  if (!*pages) {
    size_t count = (b->size >> PAGE_LOG2) + 2;
    if (!spend(g, count * sizeof **pages))
      return NULL;
    *pages = arena_array(r->arena, struct page, count);
  }
  struct page *p = &(*pages)[(x->at->offset >> PAGE_LOG2) - (b->address >> PAGE_LOG2)];
  unsigned log2 = (unsigned)__builtin_ctz(x->bytes | 1u << LARGEST_CELL_LOG2);
  if (!p->cells || log2 < p->cell_log2)
    refine(r->arena, g, p, log2);
  return g->is_full ? NULL : p;
}

// ---- violations ----

static struct sim_site site_of_touch(const struct run *r, uint32_t touch) {
  const struct event *e = event_of(r->global, touch);
  const unsigned *grid = r->launch->grid;
  const struct instruction *in = r->program->code.at[e->op].in;
  return (struct sim_site){
      .ctaid = {e->cta % grid[0], e->cta / grid[0] % grid[1], e->cta / grid[0] / grid[1]},
      .warp = e->warp,
      .lane = touch & (SIM_LANES - 1),
      .line = in->line,
      .instruction = in->text,
      .source = in->source};
}

static void report(const struct touch *x, uint32_t other, uint64_t address, unsigned bytes,
                   const char *what) {
  struct sim_site site = site_of_touch(x->w->run, other);
  struct memory_site at = {SIM_GLOBAL, address, bytes};
  warn(x->w, x->op, x->lane, SIM_GLOBAL_RACE, &at, &site, "%s, and nothing orders them", what);
}

void global_report_read(struct warp *w, const struct op *op, unsigned lane) {
  const struct raced_read *r = &w->run->global->raced[op - w->program->code.at];
  struct touch x = {.w = w, .op = op, .lane = lane};
  report(&x, r->other, r->address, 1, "a read here and a write there of the same memory");
}

bool global_is_raced(const struct run *r, const struct op *op) {
  return r->global->raced[op - r->program->code.at].other;
}

// ---- accesses ----

struct step { // one cell of an access
  struct cell *cell;
  uint64_t address;
  unsigned bytes, offset; // in the access
  uint32_t touch;
  bool changes;
  uint32_t raced; // mask of racing bytes of the access
};

static bool is_same_cta(const struct touch *x, uint32_t other) {
  return other && event_of(x->w->run->global, other)->cta == x->w->cta->number;
}

static void against_reads(const struct touch *x, const struct step *s) {
  for (unsigned i = 0; i < 2; i++)
    if (!is_same_cta(x, s->cell->reads[i]) && is_unordered(x, s->cell->reads[i]))
      report(x, s->cell->reads[i], s->address, s->bytes,
             "a write here and a read there of the same memory");
}

static bool is_same_thread(const struct touch *x, uint32_t other) {
  const struct warp *w = x->w;
  const struct event *e = other ? event_of(w->run->global, other) : NULL;
  return e && e->cta == w->cta->number && e->warp == w->index &&
         (other & (SIM_LANES - 1)) == x->lane;
}

// Two readers are kept, this one and another, preferably of another CTA: whether that is `a` rather
// than `b`.
static bool is_better(const struct touch *x, uint32_t a, uint32_t b) {
  const struct global_shadow *g = x->w->run->global;
  uint32_t cta = x->w->cta->number;
  return a && event_of(g, a)->cta != cta && event_of(g, b)->cta == cta;
}

static void read_beside_write(const struct touch *x, struct step *s) {
  uint32_t other = s->cell->write;
  if (!is_same_cta(x, other)) {
    report(x, other, s->address, s->bytes, "a read here and a write there of the same memory");
    return;
  }
  struct global_shadow *g = x->w->run->global;
  g->raced[x->op - x->w->program->code.at] = (struct raced_read){other, s->address};
  s->raced |= ((1u << s->bytes) - 1) << s->offset;
}

static void read_cell(const struct touch *x, struct step *s) {
  struct cell *c = s->cell;
  bool is_strong = x->order & ORDER_STRONG;
  if (!c->is_quiet && !(is_strong && c->is_atomic) && is_unordered(x, c->write))
    read_beside_write(x, s);
  if (x->order & ORDER_ACQUIRE)
    acquire(x->w, c);
  if (is_strong || c->reads[0] == s->touch)
    return;
  if (!is_same_thread(x, c->reads[0]) && !is_better(x, c->reads[1], c->reads[0]))
    c->reads[1] = c->reads[0];
  c->reads[0] = s->touch;
}

static void write_cell(const struct touch *x, struct step *s) {
  struct cell *c = s->cell;
  bool is_strong = x->order & ORDER_STRONG, was_unordered = is_unordered(x, c->write);
  if (was_unordered && s->changes && !(is_strong && c->is_atomic))
    report(x, c->write, s->address, s->bytes, "two writes of different values to the same memory");
  if (s->changes)
    against_reads(x, s);
  c->is_quiet = !s->changes;
  c->write = s->touch;
  c->is_atomic = is_strong;
  if (x->order & ORDER_RELEASE)
    c->released = release_of(x->w);
}

static void atomic_cell(const struct touch *x, struct step *s) {
  struct cell *c = s->cell;
  if (!c->is_atomic && (s->changes || !c->is_quiet) && is_unordered(x, c->write))
    report(x, c->write, s->address, s->bytes,
           "an atomic operation here and a write there of the same memory");
  if (x->order & ORDER_ACQUIRE)
    acquire(x->w, c);
  if (s->changes) {
    against_reads(x, s);
    c->is_quiet = false;
    c->write = s->touch;
    c->is_atomic = true;
    if (x->order & ORDER_RELEASE)
      c->released = release_of(x->w);
  }
}

static uint32_t each_cell(struct touch *x, const uint8_t *values,
                          void (*visit)(const struct touch *x, struct step *s)) {
  if ((x->order & ORDER_STRONG) && x->w->program->has_fences)
    x->order |= ORDER_ACQUIRE | ORDER_RELEASE;
  const struct global_shadow *g = x->w->run->global;
  struct page *p = g->is_full ? NULL : find_page(x);
  uint32_t touch = p ? this_touch(x) : 0;
  if (!touch)
    return 0;
  unsigned bytes = 1u << p->cell_log2;
  struct step s = {.bytes = bytes, .touch = touch};
  for (; s.offset < x->bytes && !g->is_full; s.offset += bytes) {
    s.address = x->at->offset + s.offset;
    s.cell = &p->cells[(s.address & ((1u << PAGE_LOG2) - 1)) >> p->cell_log2];
    s.changes = values && memcmp(values + s.offset, x->at->bytes + s.offset, bytes) != 0;
    visit(x, &s);
  }
  return s.raced;
}

uint32_t global_read(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                     unsigned bytes, unsigned order) {
  return each_cell(&(struct touch){w, op, lane, bytes, order, at}, NULL, read_cell);
}

void global_write(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                  unsigned bytes, unsigned order, const uint8_t *values) {
  each_cell(&(struct touch){w, op, lane, bytes, order, at}, values, write_cell);
}

void global_atomic(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                   unsigned bytes, unsigned order, const uint8_t *values) {
  each_cell(&(struct touch){w, op, lane, bytes, order, at}, values, atomic_cell);
}
