// SPDX-License-Identifier: Apache-2.0
// Block sizes of matrix products. Rates were measured with the kernel of tutorials/06-matmul
// (docs/performance.md); a model estimates how well the blocks fill a device.
#include "base/str.h"
#include "graph/plan/product_time.h"

// By wgmma with operands of 16 bits through tensor descriptors, in a persistent kernel. These rates
// are of the loops alone. Rings are as long as shared memory lets them be: with few blocks their
// length counts more than the shape.
static const struct product_block by_descriptors[] = {
    {128, 256, 64, 8, 4, 1, 824}, {256, 128, 64, 8, 4, 1, 808}, {128, 128, 64, 8, 6, 1, 773},
    {64, 256, 64, 4, 4, 1, 763},  {64, 128, 64, 4, 8, 1, 681},  {64, 128, 64, 4, 4, 2, 681},
    {64, 64, 128, 4, 6, 1, 447},  {64, 64, 64, 4, 6, 2, 451},
};

// The same of two products with a common operand.
static const struct product_block pairs_by_descriptors[] = {
    {128, 128, 64, 8, 4, 1, 750},
};

// By wgmma, 16-bit operands by pointers.
static const struct product_block by_wgmma[] = {
    {128, 256, 64, 8, 3, 1, 725},
    {256, 128, 64, 8, 3, 1, 690},
    {128, 128, 64, 8, 3, 2, 595},
};

// The same of two products with a common operand.
static const struct product_block pairs_by_wgmma[] = {
    {128, 64, 64, 4, 3, 2, 590},
    {128, 128, 64, 8, 4, 1, 555},
};

// By mma.sync; smaller blocks by wgmma were not measured.
static const struct product_block half_precision[] = {
    {128, 256, 128, 8, 2, 1, 510}, {256, 128, 32, 8, 4, 1, 490}, {128, 128, 64, 4, 3, 2, 490},
    {128, 128, 32, 4, 4, 2, 455},  {64, 128, 64, 4, 4, 2, 400},  {128, 64, 64, 4, 4, 2, 400},
    {64, 64, 64, 4, 4, 3, 300},    {32, 128, 64, 4, 4, 2, 230},  {128, 32, 64, 4, 4, 2, 230},
    {64, 32, 64, 4, 4, 4, 200},    {32, 64, 64, 4, 4, 4, 200},   {32, 32, 64, 4, 4, 6, 120},
    {16, 128, 64, 4, 5, 2, 120},   {128, 16, 64, 4, 5, 2, 120},  {16, 64, 128, 4, 4, 3, 100},
    {64, 16, 128, 4, 4, 3, 100},   {16, 32, 128, 4, 4, 4, 70},   {32, 16, 128, 4, 4, 4, 70},
    {16, 16, 128, 4, 4, 6, 40},
};

// Two products with a common operand: registers for two accumulators. The rate of a block with
// twice the columns, minus a little.
static const struct product_block pairs[] = {
    {128, 64, 64, 4, 2, 2, 490}, {128, 128, 64, 8, 3, 1, 440}, {64, 64, 64, 4, 3, 3, 380},
    {32, 64, 64, 4, 4, 2, 230},  {64, 32, 64, 4, 4, 3, 290},   {32, 32, 64, 4, 4, 4, 190},
    {16, 64, 64, 4, 5, 2, 120},  {64, 16, 64, 4, 4, 4, 190},   {16, 32, 128, 4, 4, 3, 100},
    {32, 16, 128, 4, 4, 3, 110}, {16, 16, 128, 4, 4, 4, 70},
};

// Operands computed per element, such as images of a convolution.
static const struct product_block gathered[] = {
    {128, 128, 32, 8, 3, 1, 150}, {128, 64, 32, 8, 3, 1, 100}, {64, 128, 32, 8, 3, 2, 100},
    {64, 64, 32, 4, 3, 2, 60},    {32, 64, 32, 4, 3, 3, 40},   {64, 32, 32, 4, 3, 3, 40},
    {32, 32, 32, 4, 3, 4, 25},    {16, 64, 32, 4, 3, 4, 20},   {64, 16, 32, 4, 3, 4, 20},
    {16, 32, 32, 4, 3, 4, 12},    {32, 16, 32, 4, 3, 4, 12},   {16, 16, 32, 4, 3, 6, 8},
};

// Few rows times quantised weights, 11008 x 4096 bytes, us on an H100: 30 with 16x32x256 and 16
// rows (59 with 16x64x32, which had too few bytes in flight), 38 with 32x32x256 and 32, 40 with
// 64x32x128 and 64. Splits of k change less than 2 us, since it is no lack of programs.
static const struct product_block quantised[] = {
    {16, 32, 256, 4, 3, 3, 60},
    {32, 32, 256, 4, 3, 2, 80},
    {64, 32, 128, 4, 3, 3, 120},
};

// Without matrix instructions: fma chains.
static const struct product_block singles[] = {
    {128, 128, 32, 8, 3, 1, 45}, {128, 64, 32, 4, 3, 2, 42}, {64, 128, 32, 4, 3, 2, 42},
    {64, 64, 64, 4, 3, 3, 35},   {32, 64, 64, 4, 3, 4, 25},  {64, 32, 64, 4, 3, 4, 25},
    {32, 32, 64, 4, 3, 6, 18},   {16, 64, 64, 4, 3, 5, 15},  {64, 16, 64, 4, 3, 5, 15},
    {16, 32, 64, 4, 3, 6, 10},   {32, 16, 64, 4, 3, 6, 10},  {16, 16, 64, 4, 3, 8, 6},
};

static const struct product_block doubles[] = {
    {64, 64, 64, 4, 3, 2, 40}, {32, 64, 64, 4, 3, 3, 28}, {64, 32, 64, 4, 3, 3, 28},
    {32, 32, 64, 4, 3, 4, 18}, {16, 32, 64, 4, 3, 6, 10}, {32, 16, 64, 4, 3, 6, 10},
    {16, 16, 64, 4, 3, 8, 6},
};

enum { MOST_TABLES = 2, MOST_QUANTISED_ROWS = 64 };
struct table {
  const struct product_block *at;
  size_t count;
  bool has_descriptors;
};

// Tables in order of preference; the last candidate fits everything.
struct candidates {
  struct table tables[MOST_TABLES];
  unsigned count;
};

static void add_table(struct candidates *l, const struct product_block *at, size_t count) {
  assert(l->count < MOST_TABLES);
  l->tables[l->count++] = (struct table){.at = at, .count = count};
}
#define ADD_TABLE(l, table) add_table(l, table, COUNT_OF(table))

static struct candidates candidates_of(const struct product_shape *s,
                                       const struct program_options *o) {
  struct candidates l = {0};
  bool is_pair = s->products > 1;
  if (s->dtype == DTYPE_F64) {
    ADD_TABLE(&l, doubles);
  } else if (s->dtype == DTYPE_F32) {
    ADD_TABLE(&l, singles);
  } else if (s->is_quantised && s->m <= MOST_QUANTISED_ROWS && !is_pair) {
    ADD_TABLE(&l, quantised);
  } else if (s->is_gathered) {
    ADD_TABLE(&l, gathered);
  } else {
    // Of 8-bit operands wgmma reads rows along k alone.
    bool wgmma = plan_has_wgmma(o) && (dtype_bits(s->dtype) == 16 || s->has_rows_of_k);
    if (wgmma && s->has_tiles) {
      is_pair ? ADD_TABLE(&l, pairs_by_descriptors) : ADD_TABLE(&l, by_descriptors);
      l.tables[0].has_descriptors = true;
    } else if (wgmma) {
      is_pair ? ADD_TABLE(&l, pairs_by_wgmma) : ADD_TABLE(&l, by_wgmma);
    }
    is_pair ? ADD_TABLE(&l, pairs) : ADD_TABLE(&l, half_precision);
  }
  return l;
}

static int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Would more than half of a block lie beyond the end?
static bool is_oversized(const struct product_block *c, const struct product_shape *s) {
  return (c->m > 16 && c->m / 2 >= s->m) || (c->n > 16 && c->n / 2 >= s->n);
}

// A second accumulator, sums that are promoted or scaled, or an epilogue with loads, needs
// registers that the largest blocks do not leave.
static bool is_too_much(const struct product_block *c, const struct product_shape *s) {
  unsigned per_thread = (unsigned)c->m * c->n / (c->warps * 32u);
  bool has_partial_sums = s->is_scaled_in_blocks || s->is_promoted;
  unsigned sums = has_partial_sums ? 2 * s->products : s->products;
  return per_thread * sums > 128;
}

// Every part has some blocks of k.
static bool may_split_blocks(const struct product_block *c, const struct product_shape *s,
                             unsigned split, const struct program_options *o) {
  enum { LEAST_ITERATIONS = 4 };
  int64_t iterations = cdiv(s->k, product_block_k(c, s)), each = cdiv(iterations, split);
  struct product_left_over l = product_left_over_of(c, s, split, plan_multiprocessors(o));
  return s->may_split_blocks && l.rest > 0 && each >= LEAST_ITERATIONS &&
         cdiv(iterations, each) == split &&
         (!o->bounds_parts || product_parts_bytes(c, l.rest * split) <= o->parts_bytes);
}

static unsigned group_of(const struct product_shape *s, unsigned block_m, unsigned block_n) {
  int64_t rows = cdiv(s->m, block_m);
  if (s->n <= block_n)
    return 1;
  return rows < 8 ? plan_power_of_two(rows, 1, 8) : 8;
}

struct choice {
  const struct product_block *best;
  unsigned split;
  bool has_descriptors;
  double time;
};

static void take_faster(struct choice *x, const struct product_block *c, unsigned split,
                        bool has_descriptors, double time) {
  if (!x->best || time < x->time)
    *x = (struct choice){c, split, has_descriptors, time};
}

// Beside whole waves, whose time was measured, splits have to gain more than the model's doubt.
static void consider_persistent(struct choice *x, const struct product_block *c,
                                const struct product_shape *s, const struct program_options *o) {
  enum { MOST_SPLIT = 16 };
  const double doubt = 1.05;
  unsigned multiprocessors = plan_multiprocessors(o);
  take_faster(x, c, 1, true, product_persistent_time(c, s, 1, multiprocessors));
  for (unsigned split = 2; split <= MOST_SPLIT; split++) {
    if (!may_split_blocks(c, s, split, o))
      continue;
    double time = product_persistent_time(c, s, split, multiprocessors);
    bool has_whole = product_left_over_of(c, s, split, multiprocessors).whole > 0;
    take_faster(x, c, split, true, has_whole ? doubt * time : time);
  }
}

// Compares the candidate, with k split in powers of two, with the best one so far. Weight gradients
// of a first layer have a few blocks and half a million elements of k to gather.
static void consider(struct choice *x, const struct table *t, const struct product_block *c,
                     bool is_last, const struct product_shape *s, const struct program_options *o) {
  bool fits = !is_oversized(c, s) && !is_too_much(c, s);
  if (!fits && (!is_last || x->best))
    return;
  if (t->has_descriptors) {
    consider_persistent(x, c, s, o);
    return;
  }
  enum { MOST_SPLIT = 128 };
  for (unsigned split = 1; split <= MOST_SPLIT; split *= 2)
    if (product_may_split(c, s, split, o))
      take_faster(x, c, split, false, product_time(c, s, split, plan_multiprocessors(o)));
}

// Of a tensor map: beyond the end of k it reads zeros.
static unsigned tile_k(const struct product_block *c, const struct product_shape *s) {
  unsigned k = c->k * 16 / dtype_bits(s->dtype);
  return s->most_k && k > s->most_k ? s->most_k : k;
}

struct product_plan product_choose(const struct product_shape *s, const struct program_options *o) {
  if (plan_is_cpu(o))
    return product_on_processor(s, o);
  struct candidates list = candidates_of(s, o);
  struct choice x = {0};
  // Blocks by descriptors were faster than others in all measurements.
  for (unsigned t = 0; t < list.count && !x.has_descriptors; t++)
    for (size_t i = 0; i < list.tables[t].count; i++)
      consider(&x, &list.tables[t], &list.tables[t].at[i],
               t + 1 == list.count && i + 1 == list.tables[t].count, s, o);
  const struct product_block *best = x.best;
  return (struct product_plan){
      .block_m = best->m,
      .block_n = best->n,
      .block_k = x.has_descriptors ? tile_k(best, s) : product_block_k(best, s),
      .group_m = group_of(s, best->m, best->n),
      .split_k = x.split,
      .num_warps = best->warps,
      .num_stages = best->stages,
      .num_ctas = x.has_descriptors && !s->has_groups
                      ? product_ctas(best, s, x.split, plan_multiprocessors(o))
                      : 1,
      .resident = !x.has_descriptors ? 0
                  : x.split > 1      ? product_beside(best)
                                     : best->side_by_side,
      .microseconds = x.time};
}

// ---- tuning space ----

const char *product_space(struct arena *a, const struct expr *const extents[3],
                          const struct product_shape *s, const struct product_plan *p,
                          const struct program_options *o) {
  enum { MOST = 256, PACKED_K = 64 };      // of k on a processor, where blocks of it are packed
  unsigned k = 512 / dtype_bits(s->dtype); // 32 half-precision elements
  struct strbuf out = {.arena = a};
  bool splits = p->split_k > 1,
       is_fixed = (splits && p->resident) || // memory for parts of this size
                  s->is_scaled_in_blocks;    // a scale for rows or columns of this size
  // There are counters for as many blocks as the planned ones.
  space_put_blocks(&out, "BLOCK_M", extents[0], p->block_m, splits ? p->block_m : 16,
                   is_fixed ? p->block_m : MOST);
  space_put_blocks(&out, "BLOCK_N", extents[1], p->block_n, splits ? p->block_n : 16,
                   is_fixed ? p->block_n : MOST);
  unsigned most_k = plan_is_cpu(o) ? MOST : s->is_quantised ? 8 * k : 4 * k;
  if (!splits) // else the partial results have this block size
    space_put_blocks(&out, "BLOCK_K", extents[2], p->block_k, plan_is_cpu(o) ? PACKED_K : k,
                     s->most_k && s->most_k < most_k ? s->most_k : most_k);
  space_put_powers(&out, "num_warps", p->num_warps, 4, plan_is_cpu(o) ? 4 : 8);
  strbuf_printf(&out, ", num_stages=%s",
                plan_is_cpu(o) ? ""
                : p->resident  ? "3,4,5,6,8"
                               : "2,3,4,5");
  if (plan_is_cpu(o))
    strbuf_printf(&out, "%u", p->num_stages);
  if (p->num_ctas > 1)
    strbuf_printf(&out, ", num_ctas=%u,1", p->num_ctas);
  return space_end(a, &out);
}
