// SPDX-License-Identifier: Apache-2.0
// The kernels of rows: one for whole rows, or several for split rows. A split pass is a launch
// whose programs reduce parts of rows to partial results, which the last program or the next launch
// combines.
#include "graph/plan/accesses.h"
#include "graph/plan/rows_plan.h"

// ---- one kernel ----

static struct exprs *exprs_of(const struct rows *s) { return s->p->regions->loops->exprs; }

// Do programs that read parts of rows read more than L2 holds, once? Such loads should not evict
// what is in L2: the sum of 67 million half-precision elements took 0.0385 ms instead of 0.0428 on
// an H200. A warp per row is slower with it.
static bool reads_once(const struct rows *s) {
  enum { CACHE = 32 << 20 };
  if (s->splits < 2 || s->levels > 1 || !s->region->bytes || expr_hint(s->region->bytes) < CACHE)
    return false;
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full)
      return false;
  return s->reduction_count > 0;
}

// Do programs read and write more than L2 holds? Then loads are kept in L2 longer than stores, as
// in maps: 4 to 5 % for softmax, 4 % for RMS norm on an H200.
static bool reads_and_writes(const struct rows *s) {
  enum { MANY_BYTES = 96 << 20 };
  if (s->splits > 1 || s->lag || !s->region->bytes || expr_hint(s->region->bytes) < MANY_BYTES)
    return false;
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].is_full)
      return true;
  return false;
}

static bool overwrites_inputs(const struct rows *s) {
  for (size_t i = 0; i < s->write_count; i++)
    if (s->writes[i].buffer->role == BUFFER_INPUT)
      return true;
  return false;
}

// Whole blocks of a long row are loaded and stored without masks: a variance of 32768 rows took
// 0.114 ms with masks on an H200, 0.074 without.
static bool has_whole_blocks(const struct rows *s, unsigned r_block) {
  enum { FEW_BLOCKS = 4 };
  int64_t block = (int64_t)r_block * s->splits;
  return s->is_looped && expr_hint(axis_extent(s->r)) >= FEW_BLOCKS * block;
}

// The number of elements along r that a program takes at a time.
static void set_r_block(struct rows_kernel *kernel, unsigned r_block) {
  const struct rows *s = kernel->rows;
  const struct expr *r = axis_extent(s->r);
  int64_t n = 0;
  bool one_block = !s->is_looped && expr_is_const(r, &n) && n == r_block;
  kernel->r_block = r_block;
  kernel->has_r_mask = !one_block && !expr_is_multiple(r, r_block);
  kernel->has_whole = kernel->has_r_mask && has_whole_blocks(s, r_block);
}

static struct kernel_plan *begin(struct rows *s, enum rows_step step, const char *suffix) {
  struct rows_kernel *kernel = arena_new(s->p->arena, struct rows_kernel);
  if (suffix && s->suffix)
    suffix = arena_printf(s->p->arena, "%s_%s", s->suffix, suffix);
  struct kernel_plan *k = plan_kernel(s->p, KERNEL_ROWS, s->region, suffix ? suffix : s->suffix);
  *kernel = (struct rows_kernel){.rows = s, .step = step};
  kernel->is_row = s->is_inner && s->x_block == 1;
  kernel->x_block = s->x_block;
  kernel->parts_at_once = s->r_block;
  kernel->unrolled = 1;
  set_r_block(kernel, s->r_block);
  kernel->overwrites_inputs = overwrites_inputs(s);
  kernel->hint = reads_and_writes(s) ? ROWS_EVICT_LAST
                 : reads_once(s)     ? ROWS_EVICT_FIRST
                                     : ROWS_NO_HINT;
  k->rows = kernel;
  k->num_warps = s->num_warps;
  return k;
}

static struct rows_kernel *kernel_of(struct kernel_plan *k) {
  return (struct rows_kernel *)(uintptr_t)k->rows;
}

static void put_block_of_row(const struct rows *s, struct kernel_plan *k) {
  plan_constant(s->p, k, s->lanes ? "LANES" : "RBLOCK", s->lanes ? s->lanes : k->rows->r_block);
}

// Programs along x, and along the parts of rows.
static void put_grid(const struct rows *s, struct kernel_plan *k, bool splits) {
  struct exprs *x = exprs_of(s);
  k->grid[0] = axis_extent(s->x);
  if (!k->rows->is_row)
    k->grid[0] = expr_cdiv(x, k->grid[0], plan_constant(s->p, k, "XBLOCK", k->rows->x_block));
  k->grid[1] = splits ? expr_const(x, s->splits) : NULL;
}

// The number of partial results is fixed, since other kernels read that many: one per split, or one
// per program. So are the blocks of split rows, which determine the parts: the tuner compares
// partial results. The number of counted groups of programs may not grow.
static const char *space_of(const struct rows_kernel *kernel, bool splits) {
  const struct rows *s = kernel->rows;
  struct strbuf out = {.arena = s->p->arena};
  unsigned most = s->share_count ? 0 : s->is_inner ? 64 : 256;
  if (!kernel->is_row)
    space_put_blocks(&out, "XBLOCK", axis_extent(s->x), kernel->x_block,
                     splits ? kernel->x_block : 2, most);
  if (s->is_looped && !s->lanes && s->splits == 1)
    space_put_blocks(&out, "RBLOCK", axis_extent(s->r), s->r_block, kernel->is_row ? 256 : 4,
                     kernel->is_row ? 8192 : 128);
  space_put_powers(&out, "num_warps", s->num_warps, 1, 32);
  return space_end(s->p->arena, &out);
}

// A launch that only reads partial results.
static void count_parts(const struct rows *s, struct kernel_plan *k) {
  const struct expr *rows = axis_extent(s->x);
  int64_t bytes = 0;
  for (size_t i = 0; i < s->reduction_count; i++)
    bytes += dtype_bytes(reduce_dtype(&s->reductions[i]));
  k->bytes = expr_muli(exprs_of(s), rows, bytes * s->splits);
  k->flops = expr_muli(exprs_of(s), rows, (int64_t)s->reduction_count * s->splits);
}

// ---- whole rows ----

static struct kernel_plan *whole_rows(struct rows *s) {
  struct kernel_plan *k = begin(s, ROWS_WHOLE, NULL);
  put_grid(s, k, false);
  put_block_of_row(s, k);
  rows_note_accesses(k);
  k->space = space_of(k->rows, false);
  return k;
}

// Work after all rows: in their last program, or else a launch after theirs.
static void launch_with_total(struct rows *s, struct kernel_plan *k) {
  struct kernel_plan *total = s->last_block ? whole_rows(s->last_block) : NULL;
  bool is_joined = total && plan_last_block(s->p, k, total, 1, NULL, "tl.num_programs(0)");
  plan_launch(s->p, k);
  if (total && !is_joined)
    plan_launch(s->p, total);
}

void rows_plan_walk(struct rows *s, struct row_reduction *columns, size_t count) {
  struct kernel_plan *k = begin(s, ROWS_WALK, NULL);
  struct exprs *x = exprs_of(s);
  struct strbuf space = {.arena = s->p->arena};
  for (size_t i = 0; i < count; i++)
    columns[i].part = plan_temporary(s->p, "part", reduce_dtype(&columns[i]),
                                     expr_muli(x, axis_extent(s->r), s->walkers));
  kernel_of(k)->columns = arena_array(s->p->arena, struct row_reduction, count + 1);
  for (size_t i = 0; i < count; i++)
    kernel_of(k)->columns[i] = columns[i];
  kernel_of(k)->column_count = count;
  k->grid[0] = expr_const(x, s->walkers);
  put_block_of_row(s, k);
  rows_note_accesses(k);
  space_put_powers(&space, "num_warps", s->num_warps, 4, 32);
  k->space = space_end(s->p->arena, &space);
  launch_with_total(s, k);
}

// ---- split rows ----

static struct buffer *create_part(const struct rows *s, enum dtype t) {
  return plan_temporary(s->p, "part", t, expr_muli(exprs_of(s), axis_extent(s->x), s->splits));
}

static void create_parts(struct rows *s, unsigned level) {
  for (size_t i = 0; i < s->reduction_count; i++) {
    struct row_reduction *d = &s->reductions[i];
    if (d->level != level)
      continue;
    d->part = create_part(s, reduce_dtype(d));
    if (reduce_is_index(d))
      d->part_index = create_part(s, DTYPE_I64);
  }
}

// ---- chunks by a work queue ----

static struct rows_queue queue_of(const struct rows *s) {
  struct rows_queue q = {0};
  expr_is_const(axis_extent(s->x), &q.rows);
  q.chunks = q.rows * s->splits;
  q.ids = q.chunks + rows_queue_start(s, s->levels);
  q.drawn = s->levels * q.rows;
  q.done = q.drawn + 1;
  q.counters = plan_counters(s->p, q.done + 1);
  return q;
}

static void plan_chunks(struct rows *s) {
  struct kernel_plan *k = begin(s, ROWS_CHUNKS, NULL);
  kernel_of(k)->queue = queue_of(s);
  for (unsigned level = 0; level < s->levels; level++)
    create_parts(s, level);
  k->grid[0] = expr_const(exprs_of(s), k->rows->queue.ids);
  put_block_of_row(s, k);
  rows_note_accesses(k);
  k->space = "num_warps=4,8,16";
  plan_launch(s->p, k);
}

// ---- a launch per pass ----

enum {
  MOST_LAST_BLOCK_BYTES = 128 << 10, // of partial results, for one program to combine
  MOST_GROUPS = 4096
};

// The bytes read by a program that combines the parts of a block of rows.
static int64_t part_bytes(const struct rows *s) {
  int64_t bytes = 0;
  for (size_t i = 0; i < s->reduction_count; i++)
    bytes += dtype_bytes(reduce_dtype(&s->reductions[i])) +
             (reduce_is_index(&s->reductions[i]) ? dtype_bytes(DTYPE_I64) : 0);
  return bytes * s->splits * s->x_block;
}

// Does the last program of each block of rows combine its parts? `ret`: the number of blocks of
// rows.
static bool combines_in_last_block(const struct rows *s, int64_t *ret) {
  struct exprs *x = exprs_of(s);
  return s->levels > 0 && s->write_count > 0 && !rows_have_writes(s, s->levels, true) &&
         part_bytes(s) <= MOST_LAST_BLOCK_BYTES &&
         expr_is_const(expr_cdiv(x, axis_extent(s->x), expr_const(x, s->x_block)), ret) &&
         *ret <= MOST_GROUPS;
}

// The parts of columns have blocks of one load of each thread, so that accumulators fit; with one
// load at a time in flight, programs that fill the registers keep less than half of the memory's
// rate. Stores are not moved behind loads, so blocks that are written after totals are larger.
static void keep_loads_in_flight(struct rows_kernel *kernel) {
  enum { LOADS = 4, BLOCKS = 4 };
  const struct rows *s = kernel->rows;
  unsigned loads = rows_loads(s), together = loads <= 1 ? LOADS : loads < LOADS ? LOADS / 2 : 1;
  int64_t blocks = expr_hint(axis_extent(s->r)) / ((int64_t)s->splits * s->r_block);
  if (s->is_inner || blocks < BLOCKS * (int64_t)together)
    return;
  if (kernel->level < s->levels)
    kernel->unrolled = together;
  else if (s->reductions[0].total)
    set_r_block(kernel, s->r_block * together);
}

static struct kernel_plan *split_rows_of(struct rows *s, unsigned level, const char *suffix) {
  struct kernel_plan *k = begin(s, ROWS_SPLIT, suffix);
  kernel_of(k)->level = level;
  keep_loads_in_flight(kernel_of(k));
  if (level < s->levels)
    create_parts(s, level);
  put_grid(s, k, true);
  put_block_of_row(s, k);
  rows_note_accesses(k);
  k->space = space_of(k->rows, true);
  return k;
}

static struct kernel_plan *combine_rows(struct rows *s, const char *suffix) {
  struct kernel_plan *k = begin(s, ROWS_COMBINE, suffix);
  put_grid(s, k, false);
  rows_note_accesses(k);
  k->space = space_of(k->rows, false);
  count_parts(s, k);
  return k;
}

// Columns have as many parts as there are programs, which many programs have to read side by side:
// eight columns are a sector of memory.
static struct kernel_plan *combine_columns(struct rows *s, const char *suffix) {
  enum { COLUMNS = 8, MOST_AT_ONCE = 256, WARPS = 4 };
  struct kernel_plan *k = begin(s, ROWS_COMBINE, suffix);
  struct rows_kernel *kernel = kernel_of(k);
  kernel->x_block = s->x_block < COLUMNS ? s->x_block : COLUMNS;
  kernel->parts_at_once = 1;
  while (kernel->parts_at_once < s->splits && kernel->parts_at_once < MOST_AT_ONCE)
    kernel->parts_at_once *= 2;
  k->num_warps = WARPS;
  put_grid(s, k, false);
  rows_note_accesses(k);
  struct strbuf space = {.arena = s->p->arena};
  space_put_blocks(&space, "XBLOCK", axis_extent(s->x), kernel->x_block, 2, 4 * COLUMNS);
  space_put_powers(&space, "num_warps", WARPS, 1, 16);
  k->space = space_end(s->p->arena, &space);
  count_parts(s, k);
  return k;
}

// Are the parts of columns combined once, before all elements of the columns are written? Each
// program that writes would read as many parts as there are programs: of 660 parts of 64 columns,
// three sums each, 330 MB in all.
bool rows_have_totals(const struct rows *s) {
  enum { FEW_PARTS = 8 };
  if (s->is_inner || s->levels != 1 || s->splits <= FEW_PARTS || s->lag ||
      !rows_have_writes(s, s->levels, true))
    return false;
  for (size_t i = 0; i < s->reduction_count; i++)
    if (reduce_is_index(&s->reductions[i]) || s->reductions[i].result->dtype == DTYPE_I1)
      return false;
  return true;
}

static void create_totals(struct rows *s) {
  for (size_t i = 0; i < s->reduction_count; i++)
    s->reductions[i].total =
        plan_temporary(s->p, "total", reduce_dtype(&s->reductions[i]), axis_extent(s->x));
}

static void plan_totals(struct rows *s) {
  create_totals(s);
  plan_launch(s->p, split_rows_of(s, 0, "part0"));
  plan_launch(s->p, combine_columns(s, "total"));
  plan_launch(s->p, split_rows_of(s, 1, "finish"));
}

static void plan_splits(struct rows *s) {
  int64_t groups = 0;
  bool full = rows_have_writes(s, s->levels, true), in_last = combines_in_last_block(s, &groups);
  if (rows_have_totals(s)) {
    plan_totals(s);
    return;
  }
  bool is_alone = in_last && s->levels == 1; // the only launch
  for (unsigned level = 0; level < s->levels + full; level++) {
    const char *part = arena_printf(s->p->arena, "part%u", level);
    struct kernel_plan *k = split_rows_of(s, level,
                                          level == s->levels ? "finish"
                                          : is_alone         ? NULL
                                                             : part);
    plan_launch(s->p, k);
    if (!in_last || level + 1 != s->levels)
      continue;
    struct kernel_plan *combine = combine_rows(s, "finish");
    kernel_of(combine)->is_last_block =
        plan_last_block(s->p, k, combine, groups, "tl.program_id(0)", "tl.num_programs(1)");
    if (!k->last_block)
      plan_launch(s->p, combine);
  }
  if (!full && !in_last && s->write_count > 0)
    plan_launch(s->p, s->is_inner ? combine_rows(s, "finish") : combine_columns(s, "finish"));
}

void rows_plan_kernels(struct rows *s) {
  if (s->lag)
    plan_chunks(s);
  else if (s->splits > 1)
    plan_splits(s);
  else if (s->walkers)
    rows_plan_walk(s, NULL, 0);
  else
    launch_with_total(s, whole_rows(s));
}

// ---- regions ----

bool plan_rows(struct program *p, const struct region *r, const struct program_options *o) {
  struct region_parts parts = region_parts_of(p, r);
  struct rows *s = arena_new(p->arena, struct rows);
  *s = (struct rows){.p = p, .region = r, .o = o, .x = r->axes[0], .r = r->axes[1]};
  s->is_inner = r->is_inner;
  s->reduction_count = parts.reductions.len;
  s->reductions = arena_array(p->arena, struct row_reduction, parts.reductions.len + 1);
  for (size_t i = 0; i < s->reduction_count; i++) {
    const struct reduction_part *d = &parts.reductions.at[i];
    s->reductions[i] =
        (struct row_reduction){.stage = d->stage, .body = d->body, .result = d->result};
  }
  s->write_count = parts.writes.len;
  s->writes = arena_array(p->arena, struct row_write, parts.writes.len + 2);
  for (size_t i = 0; i < s->write_count; i++) {
    const struct write_part *w = &parts.writes.at[i];
    s->writes[i] = (struct row_write){.buffer = w->buffer, .offset = w->offset, .body = w->body};
  }
  rows_find_levels(s);
  rows_plan(s);
  if (rows_have_totals(s))
    rows_keep_costly(s, &parts);
  rows_plan_kernels(s);
  return true;
}
