// SPDX-License-Identifier: Apache-2.0
// Blocks of attention on a processor (docs/decisions/015-processor.md), by a model of one core: the
// operands and sums of a block stay in the second-level cache.
#include "graph/plan/attention_processor.h"

#include "graph/plan/product_plan.h"

enum { LEAST = 16, MOST = 256, SCRATCH_BYTES = 512 << 10 };

static int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t scratch_bytes(const struct attention_blocks *b) {
  int64_t width = (int64_t)b->depth + b->columns;
  return 4 * (b->block_m * (width + b->block_n) + b->block_n * width);
}

// In scores. Each block of keys is packed once for all queries of a program; sums are scaled once
// for each block of keys. Where later queries see more keys, half of a block at the diagonal is
// wasted. 12 x 1024 scores, f32, 64 columns, ms on one core with AVX-512, with 32x32, 64x64,
// 64x128, 128x128, 128x256 and 256x256: 33.6, 29.2, 28.3, 26.7, 25.9 and 25.5;
// causal 18.1, 16.1, 16.4, 16.0, 17.3 and 17.0.
static double time_of(const struct attention_shape *s, const struct attention_blocks *b,
                      unsigned cores) {
  static const double packing = 8, scaling = 6;
  int64_t programs = cdiv(s->queries, b->block_m) * s->batch;
  double keys = (double)cdiv(s->keys, b->block_n) * b->block_n, seen = keys;
  if (s->rises)
    seen = (keys + b->block_m + b->block_n) / 2;
  double each = 1 + packing / b->block_m + scaling / b->block_n;
  return (double)cdiv(programs, cores) * b->block_m * (seen < keys ? seen : keys) * each;
}

void attention_on_processor(const struct attention_shape *s, const struct program_options *o,
                            struct attention_blocks *b) {
  unsigned cores = plan_multiprocessors(o);
  unsigned queries = plan_power_of_two(s->queries, 1, MOST); // few rows are not padded
  unsigned keys = plan_power_of_two(s->keys, LEAST, MOST);
  unsigned least = queries < LEAST ? queries : LEAST;
  b->block_m = least;
  b->block_n = LEAST;
  b->num_warps = 4;
  b->num_stages = 1;
  struct attention_blocks c = *b;
  for (c.block_m = least; c.block_m <= queries; c.block_m *= 2)
    for (c.block_n = LEAST; c.block_n <= keys; c.block_n *= 2)
      if (scratch_bytes(&c) <= SCRATCH_BYTES && time_of(s, &c, cores) < time_of(s, b, cores))
        *b = c;
}
