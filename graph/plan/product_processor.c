// SPDX-License-Identifier: Apache-2.0
// Block sizes of products on a processor, whose kernels are loops over vectors
// (docs/decisions/015-processor.md): operands of a block are packed into caches for each `k` block,
// so blocks are as large as half of a second-level cache of 1 MiB allows. A model of one core,
// fitted to a server with AVX-512, says what padding and packing cost.
#include "graph/plan/product_time.h"

enum {
  LEAST = 16,
  MOST = 256,
  LEAST_K = 32,
  MOST_K = 256,
  MOST_BYTES = 1024, // of k
  MOST_SPLIT = 32,
  SCRATCH_BYTES = 512 << 10
};

static int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What a type costs: bytes of an operand and of a sum in the scratch; operations a nanosecond, and
// nanoseconds for each element that is packed: of A, of B, of either by gathers.
struct costs {
  unsigned operand, sum;
  double flops, left, right, gathered, masks; // masks: times as long with masks
};

static const struct costs *costs_of(const struct product_shape *s) {
  static const struct costs floats = {4, 4, 120, 0.4, 0.5, 1.2, 1.2},
                            doubles = {8, 8, 60, 0.4, 0.5, 1.2, 1.2},
                            integers = {1, 4, 800, 0.05, 0.05, 1.2, 2};
  return s->dtype == DTYPE_I8 ? &integers : s->dtype == DTYPE_F64 ? &doubles : &floats;
}

static int64_t scratch_bytes(const struct product_shape *s, const struct product_block *c) {
  const struct costs *x = costs_of(s);
  int64_t m = c->m, n = c->n, k = c->k;
  return x->operand * (m * k + s->products * k * n) + x->sum * s->products * m * n;
}

// Nanoseconds of a program on one core, for a part of k.
static double program_time(const struct product_shape *s, const struct product_block *c,
                           unsigned split) {
  static const double start = 500, store = 0.4, sum = 0.4, again = 0.1;
  const struct costs *x = costs_of(s);
  double rate = (c->n < 32 ? 0.6 : 1) * x->flops;
  double m = c->m, n = c->n, blocks = (double)cdiv(cdiv(s->k, split), c->k), k = blocks * c->k;
  double packing = m * (s->is_gathered ? x->gathered : x->left) + n * x->right;
  packing *= s->k % c->k ? x->masks : 1;
  double sharing = split == 1 ? 0 : start + m * n * sum * 2;
  double sums = s->products * (2 * m * n * k / rate + blocks * m * n * again);
  return start + sums + k * packing + m * n * store + sharing;
}

struct choice {
  struct product_block block;
  unsigned split;
};

static double time_of(const struct product_shape *s, const struct choice *x, unsigned cores) {
  const struct product_block *c = &x->block;
  int64_t programs = cdiv(s->m, c->m) * cdiv(s->n, c->n) * s->batch * x->split;
  return (double)cdiv(programs, cores) * program_time(s, c, x->split);
}

// The longest block of k.
static unsigned most_k(const struct product_shape *s) {
  unsigned most = s->dtype == DTYPE_I8 ? MOST_BYTES : MOST_K;
  most = s->most_k && s->most_k < most ? s->most_k : most;
  return plan_power_of_two(s->k, LEAST < most ? LEAST : most, most);
}

// The block with k in 1 to 32 parts.
static void consider(struct choice *best, const struct product_shape *s,
                     const struct product_block *c, const struct program_options *o) {
  unsigned cores = plan_multiprocessors(o);
  for (unsigned split = 1; split <= MOST_SPLIT; split *= 2) {
    struct choice x = {*c, split};
    if (product_may_split(c, s, split, o) && time_of(s, &x, cores) < time_of(s, best, cores))
      *best = x;
  }
}

// Few rows: the time is that of reading B, which is not packed (lowering/processor/product_rows.c).
// Blocks are long in the direction in which B lies in memory.
static bool has_few_rows(const struct product_shape *s) {
  enum { FEW = 16 };
  bool is_read_in_place = s->dtype != DTYPE_F64 && (s->dtype != DTYPE_I8 || s->b_runs_along_k);
  return s->m <= FEW && s->n > s->m && is_read_in_place && !s->has_groups &&
         (!s->is_gathered || s->is_quantised);
}

static struct product_block few_rows(const struct product_shape *s, unsigned cores) {
  enum { COLUMNS = 64, LONGEST = 2048, WIDE = 1024, SHORT = 16 };
  struct product_block c = {.m = (uint16_t)plan_power_of_two(s->m, 1, LEAST)};
  unsigned longest = s->b_runs_along_k ? LONGEST : SHORT;
  longest = s->most_k && s->most_k < longest ? s->most_k : longest;
  c.k = (uint16_t)plan_power_of_two(s->k, 1, longest);
  unsigned n = plan_power_of_two(s->n, LEAST, s->b_runs_along_k ? COLUMNS : WIDE);
  while (n > LEAST && cdiv(s->n, n) * s->batch < cores)
    n /= 2;
  c.n = (uint16_t)n;
  return c;
}

// Parts of k for cores that would have no columns.
static unsigned few_rows_split(const struct product_shape *s, const struct product_block *c,
                               const struct program_options *o) {
  int64_t blocks = cdiv(s->n, c->n) * s->batch, cores = plan_multiprocessors(o);
  unsigned split = 1;
  while (split < MOST_SPLIT && blocks * split * 2 <= cores && product_may_split(c, s, split * 2, o))
    split *= 2;
  return split;
}

struct product_plan product_on_processor(const struct product_shape *s,
                                         const struct program_options *o) {
  unsigned longest = most_k(s), shortest = longest < LEAST_K ? longest : LEAST_K;
  struct product_block c = {.m = LEAST, .n = LEAST, .k = (uint16_t)longest};
  struct choice best = {c, 1};
  bool streams = has_few_rows(s);
  if (streams) {
    best.block = few_rows(s, plan_multiprocessors(o));
    best.split = few_rows_split(s, &best.block, o);
  }
  for (unsigned k = longest; !streams && k >= shortest; k /= 2)
    for (c.m = LEAST; c.m <= MOST; c.m *= 2)
      for (c.n = LEAST; c.n <= MOST; c.n *= 2) {
        c.k = (uint16_t)k;
        if (scratch_bytes(s, &c) <= SCRATCH_BYTES)
          consider(&best, s, &c, o);
      }
  return (struct product_plan){.block_m = best.block.m,
                               .block_n = best.block.n,
                               .block_k = best.block.k,
                               .group_m = plan_power_of_two(cdiv(s->m, best.block.m), 1, 8),
                               .split_k = best.split,
                               .num_warps = 4,
                               .num_stages = 1,
                               .num_ctas = 1,
                               .masks_edges = !s->has_groups,
                               .microseconds = time_of(s, &best, plan_multiprocessors(o)) / 1e3};
}
