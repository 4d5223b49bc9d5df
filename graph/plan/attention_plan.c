// SPDX-License-Identifier: Apache-2.0
// Plans regions around attention: blocks, dtypes, the form of the scores, and the loops over keys.
#include "graph/plan/attention_plan.h"

#include "graph/plan/operand.h"

#include <math.h>

// ---- what is loaded for each score ----

struct loaded {
  const struct expr *query, *key;
  int64_t bits;
};

static void note_loaded(void *user, const struct scalar *load) {
  struct loaded *l = user;
  if (load->buffer && scalar_has_axis(load, l->query) && scalar_has_axis(load, l->key))
    l->bits += dtype_bits(load->dtype) < 8 ? 8 : dtype_bits(load->dtype);
}

// Bits loaded in the loop per score.
static int64_t loaded_bits(const struct attention_plan *t) {
  struct loaded l = {.query = t->m, .key = t->t->key};
  const struct scalar *parts[] = {t->score.expr, t->score.added, t->score.seen, t->t->kept};
  for (size_t i = 0; i < COUNT_OF(parts); i++)
    if (parts[i])
      scalar_loads(parts[i], note_loaded, &l);
  return l.bits;
}

// ---- choices ----

static bool scales_queries(const struct attention_plan *t) {
  int exponent;
  return t->score.added && !t->rounds && t->score.scale <= 1 &&
         frexp(t->score.scale, &exponent) == 0.5;
}

static bool sums_by_product(const struct attention_plan *t) {
  return (t->score.expr || t->score.added) && dtype_bits(t->weights) <= 16 && !t->t->lse &&
         !t->t->kept && !t->rounds;
}

static bool has_whole(const struct attention_plan *t) {
  const struct score *c = &t->score;
  if (t->blocks.splits > 1)
    return false;
  if (!c->seen && (c->first || c->last)) // one loop within the bounds, with masks
    return false;
  bool is_short = expr_likely(axis_extent(t->t->key)) <= t->blocks.block_n;
  return !(c->expr || (c->seen && !c->is_bound) || is_short || (!c->seen && !t->has_remainder));
}

static void choose_dtypes(struct attention_plan *t) {
  enum dtype out = t->stage->out->dtype;
  t->dtype = operand_dtype(t->score.q, t->score.k, out);
  t->weights = operand_dtype(t->t->v, t->t->v, out);
  t->sum = t->dtype == DTYPE_F64 || t->weights == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
  if (t->sum == DTYPE_F64)
    t->dtype = t->weights = DTYPE_F64;
}

// Blocks that descriptors load have no masks.
static void find_tiles(struct planner *pl, struct attention_plan *t) {
  const struct expr *key = t->t->key, *depth = t->t->depth;
  const struct scalar *q = batch_value(pl->s, pl->x, t->batch, t->score.q);
  const struct scalar *k = batch_value(pl->s, pl->x, t->batch, t->score.k);
  const struct scalar *v = batch_value(pl->s, pl->x, t->batch, t->t->v);
  t->q_tile = attention_tile_of(pl, q, t->dtype, t->batch, t->m, depth);
  t->k_tile = attention_tile_of(pl, k, t->dtype, t->batch, key, depth);
  t->v_tile = attention_tile_of(pl, v, t->weights, t->batch, key, t->n);
  t->shape.has_tiles = t->k_tile.buffer && t->v_tile.buffer &&
                       expr_is_multiple(axis_extent(key), ATTENTION_TILE_KEYS);
}

// The result is stored by a descriptor if nothing else is computed from it, in whole blocks: rows
// behind those of a batch are another one's.
static void find_out_tile(struct planner *pl, struct attention_plan *t) {
  const struct write_part *w = t->epilogue.writes.len == 1 ? t->epilogue.writes.at : NULL;
  if (!w || !t->blocks.by_tiles || w->body->kind != SCALAR_LOAD ||
      w->body->buffer != t->stage->out || !expr_is_multiple(axis_extent(t->m), t->blocks.block_m))
    return;
  const struct scalar *stored = scalar_load(pl->s, w->buffer, w->offset);
  t->out_tile = attention_tile_of(pl, stored, w->buffer->dtype, t->batch, t->m, t->n);
}

static struct attention_shape shape_of(const struct attention_plan *t) {
  return (struct attention_shape){.batch = expr_likely(axis_extent(t->batch)),
                                  .queries = expr_likely(axis_extent(t->m)),
                                  .keys = expr_likely(axis_extent(t->t->key)),
                                  .depth = expr_likely(axis_extent(t->t->depth)),
                                  .columns = expr_likely(axis_extent(t->n)),
                                  .loaded_bits = loaded_bits(t),
                                  .is_constant = expr_is_const(axis_extent(t->batch), NULL) &&
                                                 expr_is_const(axis_extent(t->m), NULL),
                                  .rises = t->score.last && !t->score.first,
                                  .has_half_precision =
                                      dtype_bits(t->dtype) <= 16 && dtype_bits(t->weights) <= 16};
}

static void plan_epilogue(struct planner *pl, struct attention_plan *t) {
  for (size_t i = 0; i < t->epilogue.writes.len; i++) {
    struct write_part *w = &t->epilogue.writes.at[i];
    w->offset = batch_offset(pl->s, pl->x, t->batch, w->offset);
    w->body = w->stage->kind == STAGE_ATTENTION ? scalar_load(pl->s, w->buffer, w->offset)
                                                : batch_value(pl->s, pl->x, t->batch, w->body);
  }
  if (t->t->lse)
    t->lse_offset = batch_offset(pl->s, pl->x, t->batch, t->t->lse_offset);
}

// ---- the kernel ----

static bool find_stage(struct attention_plan *t) {
  for (size_t i = 0; i < t->r->stages.len; i++)
    if (t->r->stages.at[i]->kind == STAGE_ATTENTION)
      t->stage = t->r->stages.at[i];
  if (!t->stage)
    return false;
  t->t = t->stage->attention;
  t->batch = t->stage->axes[0];
  t->m = t->stage->axes[1];
  t->n = t->stage->axes[2];
  return true;
}

bool plan_attention(struct program *p, const struct region *r, const struct program_options *o) {
  struct planner planner = planner_of(p, r, o), *pl = &planner;
  struct attention_plan *t = arena_new(p->arena, struct attention_plan);
  struct kernel_plan *k = plan_kernel(p, KERNEL_ATTENTION, r, NULL);
  t->r = r;
  t->rounds = o->rounds;
  if (!find_stage(t))
    return false;
  t->epilogue = region_parts_of(pl->p, t->r);
  t->score = score_analyse(pl->s, pl->x, t->t, t->m, o->rounds);
  attention_pack_heads(pl, t);
  t->is_batched = !expr_is(axis_extent(t->batch), 1);
  t->folds_batch = axis_extent(t->batch)->hi > PLAN_MAX_GRID;
  choose_dtypes(t);
  t->shape = shape_of(t);
  find_tiles(pl, t);
  t->blocks = attention_choose(&t->shape, o);
  assert(is_pow2(t->blocks.block_m) && is_pow2(t->blocks.block_n));
  assert(is_pow2(t->blocks.depth) && is_pow2(t->blocks.columns));
  t->scales_queries = scales_queries(t);
  if (t->scales_queries) // computed from what is loaded
    t->q_tile.buffer = NULL;
  t->sums_by_product = sums_by_product(t);
  t->has_remainder = !expr_is_multiple(axis_extent(t->t->key), t->blocks.block_n);
  assert(!t->blocks.by_tiles || !t->has_remainder);
  t->has_whole = has_whole(t);
  plan_epilogue(pl, t);
  find_out_tile(pl, t);
  if (t->blocks.splits > 1)
    attention_create_parts(pl, t);
  attention_set_grid(pl, t, k);
  attention_note_accesses(pl, t, k);
  k->attention = t;
  k->num_warps = t->blocks.num_warps;
  k->num_stages = t->blocks.num_stages;
  k->is_alone = t->blocks.by_tiles;
  k->space = attention_space(pl->arena, axis_extent(t->m), axis_extent(t->t->key), &t->shape,
                             &t->blocks, o);
  if (t->shape.has_half_precision)
    k->sums = (struct kernel_sums){.tiles = 1, .columns = t->blocks.columns, .are_of_rows = true};
  if (t->step == ATTENTION_PARTS)
    attention_plan_merge(pl, t, k);
  else
    plan_launch(p, k);
  return true;
}
