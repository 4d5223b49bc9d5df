// SPDX-License-Identifier: Apache-2.0
// Block sizes of matrix products. Rates were measured with the kernel of tutorials/06-matmul
// (docs/performance.md); a model estimates how well the blocks fill a device.
#include "base/str.h"
#include "graph/plan/product_plan.h"

#include <math.h>

struct candidate {
  uint16_t m, n, k; // k counts elements of 16 bits; half for 32 bits, twice for 8 bits
  uint8_t warps, stages;
  uint8_t side_by_side; // programs per multiprocessor
  double rate;          // TFLOP/s of a full device, in half precision
};

// By wgmma with operands of 16 bits through tensor descriptors, in a persistent kernel.
static const struct candidate by_descriptors[] = {
    {128, 256, 64, 8, 4, 1, 735}, {256, 128, 64, 8, 4, 1, 725}, {128, 128, 64, 8, 6, 1, 712},
    {64, 256, 64, 4, 4, 1, 690},  {64, 128, 64, 4, 4, 2, 655},  {64, 64, 64, 4, 4, 3, 380},
};

// The same of two products with a common operand.
static const struct candidate pairs_by_descriptors[] = {
    {128, 128, 64, 8, 4, 1, 690},
};

// By wgmma, 16-bit operands by pointers.
static const struct candidate by_wgmma[] = {
    {128, 256, 64, 8, 3, 1, 725},
    {256, 128, 64, 8, 3, 1, 690},
    {128, 128, 64, 8, 3, 2, 595},
};

// The same of two products with a common operand.
static const struct candidate pairs_by_wgmma[] = {
    {128, 64, 64, 4, 3, 2, 590},
    {128, 128, 64, 8, 4, 1, 555},
};

// By mma.sync; smaller blocks by wgmma were not measured.
static const struct candidate half_precision[] = {
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
static const struct candidate pairs[] = {
    {128, 64, 64, 4, 2, 2, 490}, {128, 128, 64, 8, 3, 1, 440}, {64, 64, 64, 4, 3, 3, 380},
    {32, 64, 64, 4, 4, 2, 230},  {64, 32, 64, 4, 4, 3, 290},   {32, 32, 64, 4, 4, 4, 190},
    {16, 64, 64, 4, 5, 2, 120},  {64, 16, 64, 4, 4, 4, 190},   {16, 32, 128, 4, 4, 3, 100},
    {32, 16, 128, 4, 4, 3, 110}, {16, 16, 128, 4, 4, 4, 70},
};

// Operands computed per element, such as images of a convolution.
static const struct candidate gathered[] = {
    {128, 128, 32, 8, 3, 1, 150}, {128, 64, 32, 8, 3, 1, 100}, {64, 128, 32, 8, 3, 2, 100},
    {64, 64, 32, 4, 3, 2, 60},    {32, 64, 32, 4, 3, 3, 40},   {64, 32, 32, 4, 3, 3, 40},
    {32, 32, 32, 4, 3, 4, 25},    {16, 64, 32, 4, 3, 4, 20},   {64, 16, 32, 4, 3, 4, 20},
    {16, 32, 32, 4, 3, 4, 12},    {32, 16, 32, 4, 3, 4, 12},   {16, 16, 32, 4, 3, 6, 8},
};

// Without matrix instructions: fma chains.
static const struct candidate singles[] = {
    {128, 128, 32, 8, 3, 1, 45}, {128, 64, 32, 4, 3, 2, 42}, {64, 128, 32, 4, 3, 2, 42},
    {64, 64, 64, 4, 3, 3, 35},   {32, 64, 64, 4, 3, 4, 25},  {64, 32, 64, 4, 3, 4, 25},
    {32, 32, 64, 4, 3, 6, 18},   {16, 64, 64, 4, 3, 5, 15},  {64, 16, 64, 4, 3, 5, 15},
    {16, 32, 64, 4, 3, 6, 10},   {32, 16, 64, 4, 3, 6, 10},  {16, 16, 64, 4, 3, 8, 6},
};

static const struct candidate doubles[] = {
    {64, 64, 64, 4, 3, 2, 40}, {32, 64, 64, 4, 3, 3, 28}, {64, 32, 64, 4, 3, 3, 28},
    {32, 32, 64, 4, 3, 4, 18}, {16, 32, 64, 4, 3, 6, 10}, {32, 16, 64, 4, 3, 6, 10},
    {16, 16, 64, 4, 3, 8, 6},
};

enum { MOST_TABLES = 2 };
struct table {
  const struct candidate *at;
  size_t count;
  bool has_descriptors;
};

// Tables in order of preference; the last candidate fits everything.
struct candidates {
  struct table tables[MOST_TABLES];
  unsigned count;
};

static void add_table(struct candidates *l, const struct candidate *at, size_t count) {
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
  } else if (s->is_gathered) {
    ADD_TABLE(&l, gathered);
  } else {
    bool wgmma = plan_has_wgmma(o) && dtype_bits(s->dtype) == 16;
    if (wgmma && s->has_tiles) { // faster than the same blocks by pointers in all measurements
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

static unsigned least_k(enum dtype t) { return dtype_bits(t) == 8 ? 32 : 16; }

// A block that divides k needs no masks.
static unsigned candidate_k(const struct candidate *c, const struct product_shape *s) {
  unsigned least = least_k(s->dtype), most = c->k * 16 / dtype_bits(s->dtype);
  unsigned k = plan_power_of_two(s->k, least, most < least ? least : most), divides = k;
  while (divides > 2 * least && s->k % divides != 0)
    divides /= 2;
  return s->k % divides == 0 ? divides : k;
}

// Would more than half of a block lie beyond the end?
static bool is_oversized(const struct candidate *c, const struct product_shape *s) {
  return (c->m > 16 && c->m / 2 >= s->m) || (c->n > 16 && c->n / 2 >= s->n);
}

// A second accumulator, or an epilogue with loads, needs registers that the largest blocks do not
// leave.
static bool is_too_much(const struct candidate *c, const struct product_shape *s) {
  unsigned per_thread = (unsigned)c->m * c->n / (c->warps * 32u);
  return per_thread * s->products > 128;
}

// Starting programs, loading tiles of the epilogue and storing blocks, in microseconds: a
// multiprocessor computes `each` blocks. A persistent kernel starts once; its epilogue is hidden
// only behind the loops of other programs. The tiles of small blocks are loaded meanwhile.
static double overhead(const struct candidate *c, const struct product_shape *s, double each,
                       bool is_persistent) {
  double waves = ceil(each / c->side_by_side);
  double sums = (double)c->m * c->n / (c->warps * 32) / 64; // of a thread
  double starting = is_persistent ? 3.5 + 0.45 * sums * waves : 2 + 1.5 * waves;
  double tile = is_persistent && c->m * c->n <= 128 * 128 ? 0.3 : 1;
  return starting + s->tiles * tile * sums * each;
}

// The loops over `k` elements of so many programs, in microseconds: up to `most` share a
// multiprocessor, whose time they fill better than one.
static double looping(const struct candidate *c, const struct product_shape *s, int64_t programs,
                      int64_t k, unsigned most, unsigned multiprocessors) {
  unsigned block_k = candidate_k(c, s);
  double iterations = (double)cdiv(k, block_k);
  double each = (double)cdiv(programs, multiprocessors); // programs per multiprocessor
  double together = each < most ? each : most;
  double full = c->side_by_side == 1
                    ? 1
                    : 0.6 + 0.4 * (together - 1) / (c->side_by_side - 1); // fraction of the rate
  double scale = dtype_bits(s->dtype) == 8 ? 1.8 : 1;
  double flops = 2.0 * c->m * c->n * block_k * iterations * s->products * multiprocessors;
  return each * flops / (c->rate * scale * full * 1e6);
}

// Operands and results through memory, in microseconds.
static double moving(const struct candidate *c, const struct product_shape *s, int64_t programs,
                     unsigned multiprocessors) {
  double bytes =
      dtype_bits(s->dtype) / 8.0 * (double)s->batch *
          ((double)s->m * (double)s->k + (double)s->products * (double)s->n * (double)s->k) +
      2.0 * (double)s->batch * (double)s->m * (double)s->n;
  // Bytes in flight bound the bandwidth: a latency of 700 ns.
  double asked = (c->stages - 1.0) * candidate_k(c, s) * (c->m + c->n) * dtype_bits(s->dtype) / 8.0;
  double at_once = asked * fmin((double)programs, c->side_by_side * (double)multiprocessors);
  double waiting = bytes / fmax(at_once / 0.9, 1);
  return fmax(bytes / 4.0e6, waiting);
}

static int64_t blocks_of(const struct candidate *c, const struct product_shape *s) {
  return cdiv(s->m, c->m) * cdiv(s->n, c->n) * s->batch;
}

// The estimated time of the product in microseconds.
static double duration(const struct candidate *c, const struct product_shape *s, unsigned split,
                       unsigned multiprocessors, bool is_persistent) {
  int64_t programs = blocks_of(c, s) * split;
  double computing = looping(c, s, programs, cdiv(s->k, split), c->side_by_side, multiprocessors);
  double starting = overhead(c, s, (double)cdiv(programs, multiprocessors), is_persistent);
  double sharing = split == 1 ? 0 : 2.5 + split * 8.0 * (double)(s->batch * s->m * s->n) / 2.5e6;
  return fmax(computing, moving(c, s, programs, multiprocessors)) + starting + sharing;
}

// ---- persistent kernels whose last blocks are split ----

// Two accumulators of a thread, the sum and a part, and 40 registers for the rest: fewer programs
// fit on a multiprocessor.
static unsigned beside_each_other(const struct candidate *c) {
  enum { REGISTERS = 65536, PRODUCER_WARPS = 4 };
  unsigned registers = 2 * (unsigned)c->m * c->n / (c->warps * 32u) + 40;
  unsigned most = REGISTERS / ((c->warps + PRODUCER_WARPS) * 32u * registers);
  return most < 1 ? 1 : most < c->side_by_side ? most : c->side_by_side;
}

struct left_over {
  int64_t whole, rest; // blocks
};

static struct left_over left_over_of(const struct candidate *c, const struct product_shape *s,
                                     unsigned split, unsigned multiprocessors) {
  int64_t blocks = blocks_of(c, s), most = (int64_t)beside_each_other(c) * multiprocessors;
  int64_t programs = blocks * split < most ? blocks * split : most;
  int64_t rest = programs ? blocks % programs : 0;
  return (struct left_over){blocks - rest, rest};
}

static int64_t parts_bytes(const struct candidate *c, int64_t parts) {
  return 4 * parts * c->m * c->n;
}

// Parts go to the L2 cache, whose bandwidth is 100 GB/s for a multiprocessor, and one program of
// each block reads them, after the stores of the others and a counter have arrived.
static double duration_of_split(const struct candidate *c, const struct product_shape *s,
                                unsigned split, unsigned multiprocessors) {
  const double latency = 1.5, bytes_per_us = 0.1e6;
  struct left_over l = left_over_of(c, s, split, multiprocessors);
  int64_t parts = l.rest * split, programs = l.whole + parts;
  unsigned together = beside_each_other(c);
  double computing = looping(c, s, l.whole, s->k, together, multiprocessors) +
                     looping(c, s, parts, cdiv(s->k, split), together, multiprocessors);
  double starting = overhead(c, s, (double)cdiv(programs, multiprocessors), true);
  int64_t most = cdiv(parts, multiprocessors) + cdiv(l.rest, multiprocessors) * split;
  double sharing = latency + (double)parts_bytes(c, most) / bytes_per_us;
  return fmax(computing, moving(c, s, programs, multiprocessors)) + starting + sharing;
}

// Every part has some blocks of k.
static bool may_split_blocks(const struct candidate *c, const struct product_shape *s,
                             unsigned split, const struct program_options *o) {
  enum { LEAST_ITERATIONS = 4 };
  int64_t iterations = cdiv(s->k, candidate_k(c, s)), each = cdiv(iterations, split);
  struct left_over l = left_over_of(c, s, split, plan_multiprocessors(o));
  return s->may_split_blocks && l.rest > 0 && each >= LEAST_ITERATIONS &&
         cdiv(iterations, each) == split &&
         (!o->bounds_parts || parts_bytes(c, l.rest * split) <= o->parts_bytes);
}

// Parts of k are whole blocks.
static bool may_split(const struct candidate *c, const struct product_shape *s, unsigned split,
                      const struct program_options *o) {
  int64_t multiprocessors = plan_multiprocessors(o), part = 4 * s->batch * s->m * s->n;
  if (split == 1)
    return true;
  if (o->bounds_parts && part * split > o->parts_bytes)
    return false;
  int64_t programs = cdiv(s->m, c->m) * cdiv(s->n, c->n) * s->batch;
  return s->may_split && programs * 2 <= multiprocessors &&
         programs * split <= 4 * multiprocessors &&
         cdiv(s->k, split) >= 4 * (int64_t)candidate_k(c, s) && s->products == 1;
}

static unsigned group_of(const struct product_shape *s, unsigned block_m, unsigned block_n) {
  int64_t rows = cdiv(s->m, block_m);
  if (s->n <= block_n)
    return 1;
  return rows < 8 ? plan_power_of_two(rows, 1, 8) : 8;
}

struct choice {
  const struct candidate *best;
  unsigned split;
  bool has_descriptors;
  double time;
};

static void take_faster(struct choice *x, const struct candidate *c, unsigned split,
                        bool has_descriptors, double time) {
  if (!x->best || time < x->time)
    *x = (struct choice){c, split, has_descriptors, time};
}

// Beside whole waves, whose time was measured, splits have to gain more than the model's doubt.
static void consider_persistent(struct choice *x, const struct candidate *c,
                                const struct product_shape *s, const struct program_options *o) {
  enum { MOST_SPLIT = 16 };
  const double doubt = 1.05;
  unsigned multiprocessors = plan_multiprocessors(o);
  take_faster(x, c, 1, true, duration(c, s, 1, multiprocessors, true));
  for (unsigned split = 2; split <= MOST_SPLIT; split++) {
    if (!may_split_blocks(c, s, split, o))
      continue;
    double time = duration_of_split(c, s, split, multiprocessors);
    bool has_whole = left_over_of(c, s, split, multiprocessors).whole > 0;
    take_faster(x, c, split, true, has_whole ? doubt * time : time);
  }
}

// Compares the candidate, with k split in up to 32 parts, with the best one so far.
static void consider(struct choice *x, const struct table *t, const struct candidate *c,
                     bool is_last, const struct product_shape *s, const struct program_options *o) {
  bool fits = !is_oversized(c, s) && !is_too_much(c, s);
  if (!fits && (!is_last || x->best))
    return;
  if (plan_is_cpu(o) && (unsigned)c->m * c->n > 64 * 64)
    return; // unrolled code per element would be too large
  if (t->has_descriptors) {
    consider_persistent(x, c, s, o);
    return;
  }
  for (unsigned split = 1; split <= 32; split *= 2)
    if (may_split(c, s, split, o))
      take_faster(x, c, split, false, duration(c, s, split, plan_multiprocessors(o), false));
}

struct product_plan product_choose(const struct product_shape *s, const struct program_options *o) {
  struct candidates list = candidates_of(s, o);
  struct choice x = {0};
  for (unsigned t = 0; t < list.count; t++)
    for (size_t i = 0; i < list.tables[t].count; i++)
      consider(&x, &list.tables[t], &list.tables[t].at[i],
               t + 1 == list.count && i + 1 == list.tables[t].count, s, o);
  const struct candidate *best = x.best;
  return (struct product_plan){.block_m = best->m,
                               .block_n = best->n,
                               .block_k = x.has_descriptors ? best->k : candidate_k(best, s),
                               .group_m = group_of(s, best->m, best->n),
                               .split_k = x.split,
                               .num_warps = best->warps,
                               .num_stages = best->stages,
                               .resident = !x.has_descriptors ? 0
                                           : x.split > 1      ? beside_each_other(best)
                                                              : best->side_by_side,
                               .microseconds = x.time};
}

// ---- tuning space ----

const char *product_space(struct arena *a, const struct expr *const extents[3],
                          const struct product_shape *s, const struct product_plan *p,
                          const struct program_options *o) {
  unsigned k = 512 / dtype_bits(s->dtype);   // 32 half-precision elements
  unsigned most = plan_is_cpu(o) ? 32 : 256; // on the CPU, one instruction per element
  struct strbuf out = {.arena = a};
  bool splits = p->split_k > 1, is_fixed = splits && p->resident; // memory for parts of this size
  // There are counters for as many blocks as the planned ones.
  space_put_blocks(&out, "BLOCK_M", extents[0], p->block_m, splits ? p->block_m : 16,
                   is_fixed ? p->block_m : most);
  space_put_blocks(&out, "BLOCK_N", extents[1], p->block_n, splits ? p->block_n : 16,
                   is_fixed ? p->block_n : most);
  if (!splits) // else the partial results have this block size
    space_put_blocks(&out, "BLOCK_K", extents[2], p->block_k, k, 4 * k);
  space_put_powers(&out, "num_warps", p->num_warps, 4, plan_is_cpu(o) ? 4 : 8);
  strbuf_printf(&out, ", num_stages=%s", plan_is_cpu(o) ? "" : p->resident ? "3,4,5,6" : "2,3,4,5");
  if (plan_is_cpu(o))
    strbuf_printf(&out, "%u", p->num_stages);
  return space_end(a, &out);
}
