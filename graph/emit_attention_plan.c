// SPDX-License-Identifier: Apache-2.0
// Which blocks attention is cut into: those that were fastest with tutorials/07-flash-attention
// (docs/performance.md), smaller where they would not fill the device.
#include "graph/emit_attention.h"
#include "graph/emit_product.h"

static unsigned power_from(int64_t n, unsigned least, unsigned most) {
  unsigned p = least;
  while (p < most && p < n)
    p *= 2;
  return p;
}

static bool is_host(const struct program_options *o) {
  return o->target && str_is(str_from(o->target), "host");
}

static struct attention_plan for_width(unsigned width, bool has_halves) {
  if (!has_halves) // without matrix instructions
    return (struct attention_plan){
        .block_m = width > 64 ? 16 : 32, .block_n = 32, .num_warps = 4, .num_stages = 2};
  if (width > 128)
    return (struct attention_plan){.block_m = 64, .block_n = 32, .num_warps = 4, .num_stages = 2};
  return (struct attention_plan){
      .block_m = 128, .block_n = 64, .num_warps = 4, .num_stages = width > 64 ? 2 : 3};
}

struct attention_plan attention_choose(const struct attention_shape *s,
                                       const struct program_options *o) {
  enum { MOST_WIDTH = 1024 };
  unsigned depth = power_from(s->depth, 16, MOST_WIDTH);
  unsigned columns = power_from(s->columns, 16, MOST_WIDTH);
  struct attention_plan p = for_width(depth > columns ? depth : columns, s->has_halves);
  p.depth = depth;
  p.columns = columns;
  // Few programs: smaller ones fill the device.
  while (p.block_m > 64 &&
         (s->queries + p.block_m - 1) / p.block_m * s->batch < (int64_t)emit_multiprocessors(o))
    p.block_m /= 2;
  p.block_m = power_from(s->queries, 16, is_host(o) && p.block_m > 32 ? 32 : p.block_m);
  p.block_n = power_from(s->keys, 16, is_host(o) ? 32 : p.block_n);
  if (p.block_m < 64 && s->has_halves)
    p.num_warps = p.block_m / 16;
  return p;
}

const char *attention_space(struct arena *a, const struct attention_shape *s,
                            const struct attention_plan *p, const struct program_options *o) {
  if (is_host(o) || !s->has_halves)
    return NULL;
  struct strbuf out = {0};
  product_put_blocks(&out, "BLOCK_M", s->queries, p->block_m, 32, 128);
  if (s->keys > p->block_n)
    product_put_blocks(&out, "BLOCK_N", s->keys, p->block_n, 32, 128);
  emit_space_powers(&out, "num_warps", p->num_warps, 4, 8);
  strbuf_puts(&out, ", num_stages=2,3,4");
  const char *text = out.failed ? NULL : arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return text;
}
