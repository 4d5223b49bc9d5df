// SPDX-License-Identifier: Apache-2.0
// What a kernel of attention loads and stores, and its grid: of whole rows, of a part of the keys,
// or of the merge of these parts.
#include "graph/plan/accesses.h"
#include "graph/plan/attention_plan.h"

// Stores, or loads, of the parts.
static void note_parts(struct access_walk *w, const struct attention_parts *p, bool stores) {
  struct buffer *const buffers[] = {p->sums, p->tops, p->totals};
  for (size_t i = 0; i < COUNT_OF(buffers); i++)
    if (stores)
      access_store(w, buffers[i], i ? p->row_offset : p->sum_offset);
    else
      access_buffer(w, buffers[i], false);
}

void attention_note_accesses(struct planner *pl, const struct attention_plan *t,
                             struct kernel_plan *k) {
  struct access_walk w = {.arena = pl->arena, .k = k};
  const struct scalar *loaded[] = {t->score.q,    t->score.k,    t->t->v,   t->score.added,
                                   t->score.seen, t->score.expr, t->t->kept};
  for (size_t i = 0; i < COUNT_OF(loaded) && t->step != ATTENTION_MERGE; i++)
    if (loaded[i])
      access_any(&w, loaded[i]);
  if (t->step != ATTENTION_WHOLE)
    note_parts(&w, &t->parts, t->step == ATTENTION_PARTS);
  if (t->step == ATTENTION_PARTS)
    return;
  const struct scalar *result =
      scalar_load(pl->s, t->stage->out, batch_offset(pl->s, pl->x, t->batch, t->stage->offset));
  access_given(&w, result);
  access_given(&w, scalar_convert(pl->s, result, t->sum));
  for (size_t i = 0; i < t->epilogue.writes.len; i++)
    access_write(&w, &t->epilogue.writes.at[i]);
  if (t->t->lse)
    access_store(&w, t->t->lse, t->lse_offset);
}

void attention_set_grid(struct planner *pl, const struct attention_plan *t, struct kernel_plan *k) {
  const struct expr *block = plan_constant(pl->p, k, "BLOCK_M", t->blocks.block_m);
  if (t->step != ATTENTION_MERGE)
    plan_constant(pl->p, k, "BLOCK_N", t->blocks.block_n);
  if (t->has_whole && t->score.seen)
    plan_constant(pl->p, k, KERNEL_LOOPS, 2);
  k->grid[0] = expr_cdiv(pl->x, axis_extent(t->m), block);
  if (t->blocks.order == ORDER_PAIRS)
    k->grid[0] = expr_cdiv(pl->x, k->grid[0], expr_const(pl->x, 2));
  k->grid[1] = axis_extent(t->batch);
  if (t->blocks.order != ORDER_ONE) {
    k->grid[0] = expr_min(pl->x, expr_mul(pl->x, k->grid[0], k->grid[1]),
                          expr_const(pl->x, plan_multiprocessors(pl->o)));
    k->grid[1] = NULL;
  } else if (t->folds_batch) {
    k->grid[0] = expr_mul(pl->x, k->grid[0], k->grid[1]);
    k->grid[1] = NULL;
  }
  k->grid[2] = t->step == ATTENTION_PARTS ? expr_const(pl->x, t->blocks.splits) : NULL;
}
