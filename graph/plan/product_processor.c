// SPDX-License-Identifier: Apache-2.0
// Block sizes of products on a processor, whose kernels are loops over vectors
// (docs/decisions/015-processor.md): operands of a block are packed into caches for each `k` block,
// so blocks are as large as half of a second-level cache of 1 MiB allows. A model of one core, fitted
// to a server with AVX-512, says what padding and packing cost.
#include "graph/plan/product_time.h"

#include <math.h>

enum { LEAST = 16, MOST = 256, MOST_K = 256, SCRATCH_BYTES = 512 << 10 };

static int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t scratch_bytes(const struct product_shape *s, const struct product_block *c) {
  int64_t each = s->dtype == DTYPE_F64 ? 8 : 4, m = c->m, n = c->n, k = c->k;
  return each * (m * k + s->products * (k * n + m * n));
}

// Nanoseconds of a program on one core.
static double program_time(const struct product_shape *s, const struct product_block *c) {
  static const double start = 500, flops = 120, left = 0.4, right = 0.5, gathered = 1.2, store = 0.4;
  double rate = (c->n < 32 ? 0.6 : 1) * (s->dtype == DTYPE_F64 ? 0.5 : 1) * flops;
  double m = c->m, n = c->n, k = (double)cdiv(s->k, c->k) * c->k;
  double packing = m * (s->is_gathered ? gathered : left) + n * right;
  return start + s->products * (2 * m * n * k / rate) + k * packing + m * n * store;
}

static double time_of(const struct product_shape *s, const struct product_block *c,
                      unsigned cores) {
  int64_t programs = cdiv(s->m, c->m) * cdiv(s->n, c->n) * s->batch;
  return (double)cdiv(programs, cores) * program_time(s, c);
}

// A power of two that divides k, if it is no small one: then blocks need no masks.
static unsigned block_k(const struct product_shape *s) {
  unsigned most = s->most_k && s->most_k < MOST_K ? s->most_k : MOST_K;
  unsigned k = plan_power_of_two(s->k, LEAST < most ? LEAST : most, most), divides = k;
  while (divides > most / 4 && s->k % divides)
    divides /= 2;
  return s->k % divides ? k : divides;
}

struct product_plan product_on_processor(const struct product_shape *s,
                                         const struct program_options *o) {
  struct product_block best = {.m = LEAST, .n = LEAST, .k = (uint16_t)block_k(s)}, c = best;
  unsigned cores = plan_multiprocessors(o);
  for (c.m = LEAST; c.m <= MOST; c.m *= 2)
    for (c.n = LEAST; c.n <= MOST; c.n *= 2)
      if (scratch_bytes(s, &c) <= SCRATCH_BYTES && time_of(s, &c, cores) < time_of(s, &best, cores))
        best = c;
  return (struct product_plan){.block_m = best.m,
                               .block_n = best.n,
                               .block_k = best.k,
                               .group_m = plan_power_of_two(cdiv(s->m, best.m), 1, 8),
                               .split_k = 1,
                               .num_warps = 4,
                               .num_stages = 1,
                               .num_ctas = 1,
                               .masks_edges = !s->has_groups,
                               .microseconds = time_of(s, &best, cores) / 1e3};
}
