// SPDX-License-Identifier: Apache-2.0
// Attention with split keys (Flash-Decoding): buffers of the parts, and the kernel that merges
// them, which is the last block of the first one where that is little work.
#include "graph/plan/accesses.h"
#include "graph/plan/attention_plan.h"

enum { MERGE_M = 4, MERGE_WARPS = 4, MOST_LAST_BLOCK_BYTES = 512 << 10, MOST_GROUPS = 4096 };

void attention_create_parts(struct planner *pl, struct attention_plan *t) {
  struct exprs *x = pl->x;
  struct attention_parts *p = &t->parts;
  const struct expr *count = expr_const(x, t->blocks.splits);
  const struct expr *sizes[4] = {count, axis_extent(t->batch), axis_extent(t->m),
                                 axis_extent(t->n)};
  p->part = expr_symbol(x, "part", 0, t->blocks.splits - 1, count);
  p->sums = plan_temporary(pl->p, "sums", t->sum, expr_product(x, sizes, 4));
  p->tops = plan_temporary(pl->p, "tops", t->sum, expr_product(x, sizes, 3));
  p->totals = plan_temporary(pl->p, "totals", t->sum, expr_product(x, sizes, 3));
  const struct expr *at = expr_add(x, expr_mul(x, p->part, sizes[1]), t->batch);
  at = expr_add(x, expr_mul(x, at, sizes[2]), t->m);
  p->row_offset = batch_offset(pl->s, x, t->batch, at);
  p->sum_offset = batch_offset(pl->s, x, t->batch, expr_add(x, expr_mul(x, at, sizes[3]), t->n));
  t->step = ATTENTION_PARTS;
}

static struct kernel_plan *merge_kernel(struct planner *pl, const struct attention_plan *t,
                                        unsigned block_m) {
  struct attention_plan *merge = arena_new(pl->arena, struct attention_plan);
  struct kernel_plan *k = plan_kernel(pl->p, KERNEL_ATTENTION, t->r, "merge");
  *merge = *t;
  merge->step = ATTENTION_MERGE;
  merge->blocks.block_m = block_m;
  k->attention = merge;
  attention_set_grid(pl, merge, k);
  attention_note_accesses(pl, merge, k);
  return k;
}

// False: too much work for one program.
static bool merge_in_last_block(struct planner *pl, const struct attention_plan *t,
                                struct kernel_plan *k) {
  const struct attention_blocks *b = &t->blocks;
  struct exprs *x = pl->x;
  const struct expr *blocks = expr_cdiv(x, axis_extent(t->m), expr_const(x, b->block_m));
  int64_t groups, rows = t->shape.queries < b->block_m ? t->shape.queries : b->block_m;
  if (rows * b->splits * b->columns * dtype_bytes(t->sum) > MOST_LAST_BLOCK_BYTES ||
      !expr_is_const(expr_mul(x, blocks, axis_extent(t->batch)), &groups) || groups > MOST_GROUPS)
    return false;
  const char *group = t->is_batched && !t->folds_batch
                          ? "tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)"
                          : "tl.program_id(0)";
  return plan_last_block(pl->p, k, merge_kernel(pl, t, b->block_m), groups, group,
                         "tl.num_programs(2)");
}

void attention_plan_merge(struct planner *pl, const struct attention_plan *t,
                          struct kernel_plan *parts) {
  bool is_joined = merge_in_last_block(pl, t, parts);
  if (!is_joined)
    parts->suffix = "parts";
  plan_launch(pl->p, parts);
  if (is_joined)
    return;
  struct kernel_plan *k = merge_kernel(pl, t, MERGE_M);
  k->num_warps = MERGE_WARPS;
  k->bytes = expr_muli(pl->x, t->parts.sums->numel, dtype_bytes(t->sum));
  k->flops = t->parts.sums->numel;
  plan_launch(pl->p, k);
}
