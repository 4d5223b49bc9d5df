// SPDX-License-Identifier: Apache-2.0
// Plans rows: passes over a row, reductions combined into one pass, block sizes, splits.
#include "graph/plan/rows_plan.h"

// ---- blocks ----

static int64_t size_hint(const struct expr *axis) {
  int64_t n = expr_hint(axis_extent(axis));
  return n > 0 ? n : 1024;
}

static unsigned pow2_from(int64_t n, unsigned most) {
  unsigned p = 1;
  while (p < n && p < most)
    p *= 2;
  return p;
}

static unsigned clamp(int64_t v, unsigned lo, unsigned hi) {
  return v < lo ? lo : v > hi ? hi : (unsigned)v;
}

struct tile_count {
  const struct rows *s;
  unsigned full, row;
};

static void count_tile(void *user, const struct scalar *load) {
  struct tile_count *t = user;
  if (load->buffer->id == UINT32_MAX || !scalar_has_axis(load, t->s->r))
    return;
  if (scalar_has_axis(load, t->s->x))
    t->full++;
  else
    t->row++;
}

// Tiles of a whole row in registers at once: about the number of loads.
static struct tile_count tiles_of(const struct rows *s) {
  struct tile_count t = {.s = s};
  for (size_t i = 0; i < s->reduction_count; i++)
    if (s->reductions[i].level == 0)
      scalar_loads(s->reductions[i].body, count_tile, &t);
  for (size_t i = 0; i < s->write_count; i++)
    scalar_loads(s->writes[i].body, count_tile, &t);
  return t;
}

struct loaded_rows {
  const struct rows *s;
  const struct scalar *seen[8];
  unsigned count, bytes; // count; bytes of an element of each
};

static void count_row(void *user, const struct scalar *load) {
  struct loaded_rows *l = user;
  if (load->buffer->id == UINT32_MAX || !scalar_has_axis(load, l->s->r) ||
      !(scalar_has_axis(load, l->s->x) || expr_is(axis_extent(l->s->x), 1)))
    return;
  for (unsigned i = 0; i < l->count; i++)
    if (l->seen[i] == load)
      return;
  l->bytes += dtype_bytes(load->buffer->dtype);
  if (l->count < 8)
    l->seen[l->count++] = load;
}

static struct loaded_rows loaded_rows(const struct rows *s) {
  struct loaded_rows l = {.s = s};
  for (size_t i = 0; i < s->reduction_count; i++)
    scalar_loads(s->reductions[i].body, count_row, &l);
  for (size_t i = 0; i < s->write_count; i++)
    scalar_loads(s->writes[i].body, count_row, &l);
  return l;
}

unsigned rows_loads(const struct rows *s) { return loaded_rows(s).count; }

// A program with a long row occupies a multiprocessor, and no loads are in flight while it reduces.
// So programs walk over rows and prefetch the next one into shared memory: softmax of 4096 rows of
// 32768 half-precision elements took 0.142 ms instead of 0.175 on an H200.
static void plan_walk(struct rows *s, int64_t x, unsigned row) {
  enum { LONG_ROW = 16384, MOST_BYTES = 160 << 10, STAGES = 2, ROWS_A_WALK = 4 };
  struct loaded_rows l = loaded_rows(s);
  int64_t programs = plan_multiprocessors(s->o);
  if (row < LONG_ROW || x < ROWS_A_WALK * programs || (int64_t)STAGES * row * l.bytes > MOST_BYTES)
    return;
  s->walkers = (unsigned)programs;
  s->num_warps = 32;
}

enum { MOST_SPLITS = 1024 }; // they are combined as one tile

// The number of parts of a row: enough that loads of some programs overlap with reductions of
// others. Columns have many accumulators, and all their programs should be resident (variance of
// 4096 columns on an H200: 0.074 ms with 5 per multiprocessor, 0.081 with 8, of which 6 fit).
static void split_rows(struct rows *s, int64_t programs, int64_t n) {
  enum { MOST_AT_ONCE = 4096, OF_ROWS = 8, OF_COLUMNS = 5 };
  int64_t want = (s->is_inner ? OF_ROWS : OF_COLUMNS) * (int64_t)plan_multiprocessors(s->o);
  int64_t most = n / ((int64_t)s->r_block * 2);
  int64_t splits = programs > 0 ? want / programs : want;
  splits = splits > most ? most : splits > MOST_SPLITS ? MOST_SPLITS : splits;
  for (size_t i = 0; i < s->reduction_count; i++) {
    if ((s->reductions[i].pair || reduce_is_index(&s->reductions[i])) &&
        splits * s->x_block > MOST_AT_ONCE)
      splits = MOST_AT_ONCE / s->x_block;
  }
  if (splits >= 2)
    s->splits = (unsigned)splits;
}

// ---- lanes ----

static void forget_pairs(struct rows *s) {
  for (size_t i = 0; i < s->reduction_count; i++) {
    s->reductions[i].pair = PAIR_NONE;
    s->reductions[i].first = NULL;
    s->reductions[i].has_second = false;
  }
  rows_find_levels(s);
}

// Can one pass reduce the row, with operations on several elements per lane?
static bool is_one_pass(struct rows *s) {
  rows_find_pairs(s);
  bool fits = s->levels == 1;
  for (size_t i = 0; i < s->reduction_count; i++)
    fits = fits && s->reductions[i].pair != PAIR_VARIANCE && !reduce_is_index(&s->reductions[i]);
  for (size_t i = 0; i < s->write_count; i++)
    fits = fits && !s->writes[i].is_full;
  return fits;
}

// As many elements as one load has.
static unsigned lane_width(const struct rows *s) {
  struct loaded_rows l = {.s = s};
  for (size_t i = 0; i < s->reduction_count; i++)
    scalar_loads(s->reductions[i].body, count_row, &l);
  return l.bytes && l.count ? pow2_from(clamp(16 * l.count / l.bytes, 2, 8), 8) : 4;
}

// A row that is read once need not stay in registers. Each lane combines the elements of one load
// first, and lanes are combined at the end of the row, without barriers in between. With many rows
// a warp takes one, and there are as many programs as are needed to hide the start and end of rows:
// cross entropy of 8192 rows of 32000 half-precision elements took 0.15 ms instead of 0.21 on an
// H200.
static bool plan_lanes(struct rows *s, int64_t x, int64_t n) {
  enum { WARPS = 8, SHORTEST = 2048, ROWS_A_MULTIPROCESSOR = 16, MOST_TILES = 2 };
  int64_t mp = plan_multiprocessors(s->o);
  struct tile_count t = tiles_of(s);
  if (s->keeps_rows || n < SHORTEST || x < mp || t.full > MOST_TILES || t.full == 0)
    return false;
  if (!is_one_pass(s)) {
    forget_pairs(s);
    return false;
  }
  s->width = lane_width(s);
  s->iterations = 1;
  s->is_looped = true;
  s->x_block = x >= ROWS_A_MULTIPROCESSOR * mp ? WARPS : 1;
  s->lanes = s->x_block > 1 ? 32 : 32 * WARPS;
  s->num_warps = WARPS;
  s->r_block = s->lanes * s->width;
  return true;
}

// All chunks in flight must stay in L2 until they are read again.
static void plan_queue(struct rows *s, int64_t n) {
  enum {
    CHUNK_BYTES = 16 << 10,
    WARPS = 4, // softmax of rows of a million half-precision elements: 0.086 ms, with eight 0.090
    PROGRAMS_A_MULTIPROCESSOR = 4,
    MOST_BYTES = 20 << 20,
    MOST_COUNTERS = 8192
  };
  int64_t rows = 0;
  struct loaded_rows l = loaded_rows(s);
  if (!expr_is_const(axis_extent(s->x), &rows) || rows * s->levels > MOST_COUNTERS ||
      l.bytes == 0 || s->levels == 0 || !rows_have_writes(s, s->levels, true))
    return;
  int64_t block = pow2_from(CHUNK_BYTES / l.bytes, CHUNK_BYTES), splits = (n + block - 1) / block;
  int64_t lag = splits + PROGRAMS_A_MULTIPROCESSOR * (int64_t)plan_multiprocessors(s->o);
  if (block < 512 || splits < 2 || splits > MOST_SPLITS || rows * splits < 2 * lag ||
      lag * block * l.bytes > MOST_BYTES)
    return;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (reduce_is_index(&s->reductions[i]))
      return;
  s->r_block = (unsigned)block;
  s->splits = (unsigned)splits;
  s->lag = lag;
  s->num_warps = WARPS;
}

// Few rows: a program for each block of them, up to a bound, so that all loads are in flight at
// once.
static bool plan_parts(struct rows *s, int64_t x, int64_t n) {
  enum { WARPS = 16, ITERATIONS = 4, SMALLEST = 2048, MOST_PARTS = 4096 };
  int64_t want = 8 * (int64_t)plan_multiprocessors(s->o);
  if (tiles_of(s).full + tiles_of(s).row != 1)
    return false;
  if (!is_one_pass(s)) {
    forget_pairs(s);
    return false;
  }
  s->width = lane_width(s);
  s->iterations = ITERATIONS;
  s->num_warps = WARPS;
  s->r_block = 32 * WARPS * s->width * ITERATIONS;
  while (s->r_block > SMALLEST && x * (n / s->r_block) < want) {
    if (s->iterations > 1)
      s->iterations /= 2;
    else
      s->num_warps /= 2;
    s->r_block /= 2;
  }
  s->is_looped = true;
  s->x_block = 1;
  s->lanes = 32 * s->num_warps;
  int64_t splits = n / s->r_block;
  s->splits = splits < 2 ? 1 : splits > MOST_PARTS ? MOST_PARTS : (unsigned)splits;
  return true;
}

static void plan_inner(struct rows *s, int64_t x, int64_t n, bool is_known) {
  struct tile_count t = tiles_of(s);
  if (plan_lanes(s, x, n))
    return;
  bool reads_weights = t.row > 0;
  unsigned row = pow2_from(n, 1u << 20);
  unsigned limit = t.full <= 1 ? 65536 : t.full == 2 ? 32768 : 16384;
  int64_t programs = 2 * (int64_t)plan_multiprocessors(s->o);
  enum { LONG = 16384, VERY_LONG = 65536 };
  bool few = n >= LONG && (x * 4 <= programs || (x <= programs && n >= VERY_LONG));
  if (few && plan_parts(s, x, n))
    return;
  s->is_looped = !is_known || row > limit || few;
  if (s->is_looped) {
    s->x_block = 1;
    s->num_warps = n >= 4096 ? 8 : 4;
    s->r_block = clamp(row, 64, s->num_warps * 512);
    if (few)
      split_rows(s, x, n);
    return;
  }
  s->r_block = row < 2 ? 2 : row;
  // Weights are loaded again for each row: more elements per thread mean fewer such loads. Layer
  // norm with GELU of rows of 4096 half-precision elements in cache takes 0.039 ms with four warps,
  // 0.042 with two on an H200.
  bool is_one = loaded_rows(s).count == 1;
  unsigned a_thread = row > 8192 || (is_one && reads_weights) || t.full <= 1 ? 32 : 16;
  s->num_warps = clamp(row / (32 * a_thread), 1, 32);
  s->x_block = 1;
  if (row <= 1024) { // several rows per program
    s->x_block = clamp(2048 / row, 1, 64);
    while (s->x_block > 1 && x / s->x_block < programs)
      s->x_block /= 2;
    s->num_warps = clamp((int64_t)row * s->x_block / 512, 1, 4);
  }
  plan_walk(s, x, row);
}

// A few elements for each of very many sums, as the taps of a convolution by channels: each thread
// has sums of its own, side by side in memory.
static bool plan_few_terms(struct rows *s, int64_t x, int64_t n) {
  enum { MOST_TERMS = 128, A_THREAD = 8, WARPS = 4, PROGRAMS_A_MULTIPROCESSOR = 4 };
  const unsigned block = 32 * WARPS * A_THREAD;
  if (n > MOST_TERMS || s->is_whole ||
      x < block * PROGRAMS_A_MULTIPROCESSOR * (int64_t)plan_multiprocessors(s->o))
    return false;
  s->x_block = block;
  s->r_block = 1;
  s->num_warps = WARPS;
  return true;
}

static void plan_outer(struct rows *s, int64_t x, int64_t n) {
  s->is_looped = true;
  rows_find_pairs(s);
  if (plan_few_terms(s, x, n))
    return;
  s->x_block = clamp(pow2_from(x, 128), 2, s->is_whole ? 32 : 128);
  int64_t programs = (x + s->x_block - 1) / s->x_block;
  if (!s->is_whole && programs < plan_multiprocessors(s->o)) {
    s->r_block = clamp(pow2_from(n, 1024 / s->x_block), 2, 64);
    s->num_warps = clamp((int64_t)s->x_block * s->r_block / 256, 1, 4);
    split_rows(s, programs, n);
  }
  if (s->splits > 1)
    return;
  s->r_block = clamp(pow2_from(n, 32), 2, 4096 / s->x_block > 32 ? 32 : 4096 / s->x_block);
  s->num_warps = clamp((int64_t)s->x_block * s->r_block / 512, 1, 8);
}

void rows_plan(struct rows *s) {
  int64_t n = 0, x = size_hint(s->x);
  bool is_known = expr_is_const(axis_extent(s->r), &n);
  if (!is_known)
    n = size_hint(s->r);
  s->splits = 1;
  if (plan_is_cpu(s->o)) {
    rows_on_processor(s, x, n, is_known);
    return;
  }
  if (s->is_inner)
    plan_inner(s, x, n, is_known);
  else
    plan_outer(s, x, n);
  if (s->is_looped)
    rows_find_pairs(s);
  if (s->is_looped && !s->lanes && s->is_inner && is_known)
    plan_queue(s, n);
}

const struct expr *rows_programs(const struct rows *s) {
  struct exprs *x = s->p->regions->loops->exprs;
  if (s->splits > 1)
    return NULL;
  return s->walkers ? expr_const(x, s->walkers)
                    : expr_cdiv(x, axis_extent(s->x), expr_const(x, s->x_block));
}

bool rows_have_writes(const struct rows *s, unsigned level, bool full) {
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].level == level && s->writes[i].is_full == full)
      return true;
  return false;
}
