// SPDX-License-Identifier: Apache-2.0
// Block sizes of attention: the fastest of tutorials/07-flash-attention (docs/performance.md),
// smaller if they would not fill the device.
#include "graph/plan/attention_processor.h"
#include "graph/plan/product_plan.h"

// On an H200 by wgmma, bf16, us, 64x64 and 128x64 blocks: 8 x 12 x 1024 scores, causal, 47.7 and
// 59.3 (cuDNN 61.3); 16 x 16 x 512, 49.5 and 57.2 (68.3); 64 x 12 x 200, 42.8 and 48.5 (46.7); 4 x
// 16 x 2048, causal, 102 and 125 (99.7); with bf16 per score 220 and 224 (270). 128 columns, 2 x 32
// x 2048, causal: 184 and 177 (144).
static struct attention_blocks for_width(unsigned width, bool has_half_precision, bool has_wgmma) {
  if (has_wgmma && has_half_precision && width <= 64)
    return (struct attention_blocks){.block_m = 64, .block_n = 64, .num_warps = 4, .num_stages = 2};
  if (!has_half_precision) // no matrix instructions
    return (struct attention_blocks){
        .block_m = width > 64 ? 16 : 32, .block_n = 32, .num_warps = 4, .num_stages = 2};
  if (width > 128)
    return (struct attention_blocks){.block_m = 64, .block_n = 32, .num_warps = 4, .num_stages = 2};
  return (struct attention_blocks){.block_m = 128, .block_n = 64, .num_warps = 4, .num_stages = 2};
}

// 128 columns, f16, 4 x 32 x 4096 scores on an H100, TFLOP/s: 590 (causal: 548), where blocks of
// 64x64 by pointers have 475 (455) and cuDNN 639 (565). With 64 columns descriptors are slower: 397
// (350) against 452 (413).
static const struct attention_blocks of_tiles = {.block_m = 128,
                                                 .block_n = ATTENTION_TILE_KEYS,
                                                 .num_warps = 8,
                                                 .num_stages = 2,
                                                 .by_tiles = true};

enum { FEW_QUERIES = 16 };

static int64_t blocks_of_tiles(const struct attention_shape *s) {
  return (s->queries + of_tiles.block_m - 1) / of_tiles.block_m;
}

// Which order pays, TFLOP/s on an H100, f16 (cuDNN): 128 columns, persistent instead of a program
// for each block: 128 heads x 1024 keys 571 instead of 509 (555), 64 x 2048 627 instead of 589
// (610), 128 x 4096 650 instead of 645 (651). Pairs: 434 instead of 349 (380), 530 instead of 450
// (450), 604 instead of 574 (503); 16 x 16384 611 instead of 651 (485). 64 columns, pairs instead
// of blocks of 64x64 by pointers: 96 x 1024 292 instead of 259, 64 x 2048 358 instead of 317 (330),
// 128 x 4096 409 instead of 410 (430).
static enum attention_order order_of_tiles(const struct attention_shape *s) {
  enum { LEAST_PAIRED = 4, MOST_PAIRED = 64 }; // blocks
  if (!s->is_constant)
    return ORDER_ONE;
  if (!s->rises)
    return ORDER_PERSISTENT;
  int64_t blocks = blocks_of_tiles(s);
  return blocks >= LEAST_PAIRED && blocks <= MOST_PAIRED ? ORDER_PAIRS : ORDER_ONE;
}

static bool takes_tiles(const struct attention_shape *s, const struct program_options *o) {
  enum { NARROW = 64, WIDE = 128, MOST_NARROW = 16 };
  int64_t blocks = blocks_of_tiles(s);
  bool pays = s->depth == WIDE ||
              (s->depth == NARROW && blocks <= MOST_NARROW && order_of_tiles(s) == ORDER_PAIRS);
  return s->has_tiles && s->has_half_precision && plan_has_wgmma(o) && s->queries > FEW_QUERIES &&
         pays && s->columns == s->depth && !s->loaded_bits &&
         blocks * s->batch >= (int64_t)plan_multiprocessors(o);
}

static struct attention_blocks by_tiles(const struct attention_shape *s) {
  struct attention_blocks p = of_tiles;
  p.order = order_of_tiles(s);
  p.num_stages = s->depth < ATTENTION_TILE_KEYS ? 3 : 2;
  return p;
}

// The shared memory that leaves room for a second program per multiprocessor, and what the loop
// uses of it: buffered keys and values, loads of scores, queries that do not fit in registers.
enum { HALF_OF_SHARED = 113 * 1024, MOST_HELD = 64 };

static int64_t shared_bytes(const struct attention_shape *s, const struct attention_blocks *p) {
  int64_t keys = (int64_t)p->block_n * (p->depth + p->columns) * 2;
  int64_t loaded = (int64_t)p->block_m * p->block_n * s->loaded_bits / 8;
  int64_t queries = p->depth > MOST_HELD ? (int64_t)p->block_m * p->depth * 2 : 0;
  return p->num_stages * (keys + loaded) + queries;
}

// Loads per score take registers: shorter blocks. For 4 x 16 x 2048 x 2048 scores on an H200, 32
// keys instead of 64 take 0.29 ms against 0.31 (f32 per score) and 0.48 against 0.63 (bf16, 128
// columns). A third stage does not pay: 0.146 against 0.143 (causal, 64 columns), 0.245 against
// 0.243 (bf16 per score).
static void leave_room(const struct attention_shape *s, struct attention_blocks *p) {
  if (!s->loaded_bits || !s->has_half_precision)
    return;
  if ((shared_bytes(s, p) > HALF_OF_SHARED || s->loaded_bits > 16) && p->block_n > 32)
    p->block_n = 32;
}

// ---- few queries: keys and values are read at the speed of memory ----

// The time of all programs in us, if each multiprocessor runs `resident` of them at once: bytes of
// keys and values at a multiprocessor's share of the bandwidth, a start for each program, and a
// merge.
static double split_time(const struct attention_shape *s, int64_t blocks, int64_t slots,
                         unsigned splits) {
  static const double bytes_per_us = 25e3, start = 2, merge = 1.5, merge_each = 0.1;
  int64_t waves = (blocks * splits + slots - 1) / slots;
  double bytes = (double)s->keys / splits * (double)(s->depth + s->columns) * 2;
  return (double)waves * (bytes / bytes_per_us + start) +
         (splits > 1 ? merge + merge_each * splits : 0);
}

// The number of programs that share the keys of a block.
static unsigned choose_splits(const struct attention_shape *s, const struct attention_blocks *p,
                              const struct program_options *o) {
  enum { MOST_SPLITS = 64, LEAST_KEYS = 1024 };
  static const double worth = 0.8;
  int64_t blocks = (s->queries + p->block_m - 1) / p->block_m * s->batch;
  int64_t slots = plan_multiprocessors(o);
  unsigned best = 1;
  bool is_long = p->block_m <= FEW_QUERIES || (s->keys >= LEAST_KEYS && blocks * 2 <= slots);
  if (!s->has_half_precision || !is_long)
    return 1;
  for (unsigned n = 2; n <= MOST_SPLITS && s->keys >= (int64_t)n * p->block_n; n++)
    if (split_time(s, blocks, slots, n) < split_time(s, blocks, slots, best))
      best = n;
  return split_time(s, blocks, slots, best) < worth * split_time(s, blocks, slots, 1) ? best : 1;
}

// Rings of 192 KB for a whole multiprocessor, or of 64 KB where there is less shared memory.
static void choose_few_queries(const struct program_options *o, struct attention_blocks *p) {
  bool is_wide = p->depth + p->columns > 256, is_large = plan_has_wgmma(o);
  p->block_n = (is_large ? 128 : 64) >> is_wide;
  p->num_warps = 4;
  p->num_stages = is_large ? 3 : 2;
}

struct attention_blocks attention_choose(const struct attention_shape *s,
                                         const struct program_options *o) {
  enum { MOST_WIDTH = 1024, MANY_KEYS = 256 };
  unsigned depth = plan_power_of_two(s->depth, 16, MOST_WIDTH);
  unsigned columns = plan_power_of_two(s->columns, 16, MOST_WIDTH);
  unsigned width = depth > columns ? depth : columns;
  struct attention_blocks p =
      takes_tiles(s, o) ? by_tiles(s) : for_width(width, s->has_half_precision, plan_has_wgmma(o));
  p.depth = depth;
  p.columns = columns;
  if (plan_is_cpu(o)) {
    attention_on_processor(s, o, &p);
    p.splits = 1;
    return p;
  }
  leave_room(s, &p);
  // Few programs: smaller blocks fill the device.
  while (p.block_m > 64 &&
         (s->queries + p.block_m - 1) / p.block_m * s->batch < (int64_t)plan_multiprocessors(o))
    p.block_m /= 2;
  p.block_m = plan_power_of_two(s->queries, 16, p.block_m);
  p.block_n = plan_power_of_two(s->keys, 16, p.block_n);
  if (p.block_m < 64 && s->has_half_precision)
    p.num_warps = p.block_m / 16;
  if (p.block_m <= FEW_QUERIES && s->has_half_precision && s->keys >= MANY_KEYS)
    choose_few_queries(o, &p);
  p.splits = choose_splits(s, &p, o);
  return p;
}

const char *attention_space(struct arena *a, const struct expr *queries, const struct expr *keys,
                            const struct attention_shape *s, const struct attention_blocks *p,
                            const struct program_options *o) {
  bool is_cpu = plan_is_cpu(o);
  unsigned least = s->has_half_precision ? 32 : 16;
  unsigned most = is_cpu ? 256 : s->has_half_precision ? 128 : 64;
  struct strbuf out = {.arena = a};
  if (p->splits == 1) // else the counters are for these blocks
    space_put_blocks(&out, "BLOCK_M", queries, p->block_m, least, most);
  if (s->keys > p->block_n)
    space_put_blocks(&out, "BLOCK_N", keys, p->block_n, least, most);
  if (!is_cpu) {
    space_put_powers(&out, "num_warps", p->num_warps, 4, 8);
    strbuf_puts(&out, ", num_stages=2,3,4");
  }
  return space_end(a, &out);
}
