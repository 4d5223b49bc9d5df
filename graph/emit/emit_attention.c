// SPDX-License-Identifier: Apache-2.0
// Prints attention: a program has a block of queries and walks over blocks of keys with the running
// maximum and sum of exponentials of each row (online softmax, as in FlashAttention).
//
//   for k0 in range(0, 2048, BLOCK_N):
//       s = tl.dot(q, k)
//       above = tl.maximum(top, tl.max(s, 1) * scale)
//       p = tl.exp2(s * scale - above[:, None])
//       keep = tl.exp2(top - above)
//       total = total * keep + tl.sum(p, 1)
//       acc = tl.dot(p, v, acc * keep[:, None])
//       top = above
//
// Keys that no query of the block sees are skipped; only blocks that are partly seen have a mask.
#include "graph/emit/attention_internal.h"
#include "graph/emit/emit_operand.h"

static bool divides(const struct expr *axis, unsigned block) {
  return expr_is_multiple(axis_extent(axis), block);
}

// ---- program ids ----

// Opens the loop of a persistent kernel over its blocks.
static void open_blocks(struct attention_writer *w) {
  struct emitter *e = w->e;
  const char *batch = emit_extent(e, axis_extent(w->p->batch));
  emit_line(e, 0, "blocks = tl.cdiv(%s, BLOCK_M)", emit_extent(e, axis_extent(w->p->m)));
  w->level = 1;
  if (w->p->blocks.order == ORDER_PERSISTENT) {
    emit_line(e, 0, "tiles = blocks * %s", batch);
    emit_open(e, "for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):");
    emit_line(e, 1, "batch = tile // blocks");
    emit_line(e, 1, "m_first = tile %% blocks * BLOCK_M");
    return;
  }
  emit_line(e, 0,
            "# A block from the end, then one from the beginning: all pairs are the same work.");
  emit_line(e, 0, "half = tl.cdiv(blocks, 2)");
  emit_line(e, 0, "pairs = tl.cdiv(half * %s - tl.program_id(0), tl.num_programs(0))", batch);
  emit_open(e, "for tile in tl.range(0, 2 * pairs):");
  emit_line(e, 1, "pair = tl.program_id(0) + tile // 2 * tl.num_programs(0)");
  emit_line(e, 1, "batch = pair // half");
  emit_line(e, 1, "early = pair %% half");
  emit_line(e, 1, "m_first = (early if tile %% 2 == 1 else blocks - 1 - early) * BLOCK_M");
}

// With causal masks blocks of late queries see most keys: they start first.
static void place_block(struct attention_writer *w) {
  struct emitter *e = w->e;
  const char *m = emit_extent(e, axis_extent(w->p->m)), *pid = "tl.program_id(0)";
  const char *blocks = arena_printf(e->arena, "tl.cdiv(%s, BLOCK_M)", m);
  if (w->p->folds_batch) {
    emit_line(e, 0, "batch = tl.program_id(0) // %s", blocks);
    pid = arena_printf(e->arena, "tl.program_id(0) %% %s", blocks);
  } else if (w->p->is_batched) {
    emit_line(e, 0, "batch = tl.program_id(1)");
  }
  if (w->p->score.last)
    emit_line(e, 0, "m_first = (%s - 1 - %s) * BLOCK_M", blocks, pid);
  else
    emit_line(e, 0, "m_first = %s * BLOCK_M",
              w->p->folds_batch ? arena_printf(e->arena, "(%s)", pid) : pid);
}

static void place_program(struct attention_writer *w) {
  struct emitter *e = w->e;
  if (w->p->blocks.order == ORDER_ONE)
    place_block(w);
  else
    open_blocks(w);
  if (w->p->is_batched)
    emit_axis(e, w->p->batch, "batch", NULL, w->level);
  if (w->p->step == ATTENTION_PARTS) {
    emit_line(e, 0, "part = tl.program_id(2)");
    emit_axis(e, w->p->parts.part, "part", NULL, 0);
  }
  emit_line(e, w->level, "m = (m_first + tl.arange(0, BLOCK_M))[:, None]");
  const char *mask = divides(w->p->m, w->p->blocks.block_m)
                         ? NULL
                         : arena_printf(e->arena, "(m < %s)", emit_extent(e, axis_extent(w->p->m)));
  emit_axis(e, w->p->m, "m", mask, w->level);
}

// An axis that fits in one block.
static const struct expr *whole_axis(struct attention_writer *w, const struct expr *axis,
                                     const char *name, unsigned block, const char *shape) {
  struct emitter *e = w->e;
  const struct expr *t = emit_axis_alias(e, axis, name);
  emit_line(e, w->level, "%s = tl.arange(0, %u)%s", name, block, shape);
  const char *mask =
      expr_is(axis_extent(axis), block)
          ? NULL
          : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, axis_extent(axis)));
  emit_axis(e, t, name, mask, w->level);
  return t;
}

// ---- the epilogue ----

// Makes a column of what the loop has for each row.
static const char *of_rows(const struct attention_writer *w) {
  return w->p->step == ATTENTION_MERGE ? "" : "[:, None]";
}

static void give_result(struct attention_writer *w) {
  struct emitter *e = w->e;
  bool zero = w->p->t->zero_empty_rows && !w->p->score.has_no_empty;
  emit_line(e, w->level, "out = acc * (1.0 / %s)%s",
            zero ? "tl.where(total > 0, total, 1.0)" : "total", of_rows(w));
  uint32_t axes = emit_index_axes(e, w->p->m) | emit_index_axes(e, w->p->n);
  const struct scalar *load = scalar_load(
      w->s, w->p->stage->out, batch_offset(w->s, w->x, w->p->batch, w->p->stage->offset));
  emit_given_result(e, load, w->p->sum, w->p->rounds, "out", axes, w->level);
}

// logsumexp, for the backward pass.
static void store_sums(struct attention_writer *w) {
  struct emitter *e = w->e;
  if (w->p->score.expr || w->p->score.added)
    emit_line(e, w->level, "lse = (top + tl.log(total))%s", of_rows(w));
  else
    emit_line(e, w->level, "lse = ((top + tl.log2(total)) * 0.6931471805599453)%s", of_rows(w));
  emit_store_name(e, w->p->t->lse, w->p->lse_offset, "lse", emit_index_axes(e, w->p->m));
}

static void store_tile(struct attention_writer *w) {
  struct emitter *e = w->e;
  struct buffer *out = w->p->out_tile.buffer;
  emit_count_epilogue(e, &w->p->epilogue);
  attention_put_tile(w, &w->p->out_tile, "out", "BLOCK_M", w->p->blocks.columns);
  emit_line(e, w->level, "out_tiles.store([out_row + m_first, out_column], %s)",
            emit_operand(e, w->p->epilogue.writes.at[0].body, PREC_ATOM));
  vec_last(&e->scopes[e->depth].lines).stores = emit_parameter(e, out);
}

static void put_results(struct attention_writer *w) {
  give_result(w);
  if (w->p->out_tile.buffer)
    store_tile(w);
  else
    emit_epilogue(w->e, &w->p->epilogue);
  if (w->p->t->lse)
    store_sums(w);
}

// ---- the kernel ----

static void load_queries(struct attention_writer *w) {
  struct emitter *e = w->e;
  if (w->p->blocks.by_tiles && w->p->q_tile.buffer) {
    attention_put_tile(w, &w->p->q_tile, "q", "BLOCK_M", w->p->blocks.depth);
    emit_line(e, w->level, "q = q_tiles.load([q_row + m_first, q_column])");
    return;
  }
  const struct expr *across = whole_axis(w, w->p->t->depth, "d", w->p->blocks.depth, "[None, :]");
  const struct scalar *q =
      attention_with_axes(w, w->p->score.q, w->p->t->depth, across, NULL, NULL);
  emit_count(e, q);
  emit_line(e, w->level, "q = %s",
            operand_text(e, q, w->p->dtype, w->p->m, across, across,
                         arena_printf(e->arena, "[BLOCK_M, %u]", w->p->blocks.depth)));
}

static void emit_start(struct attention_writer *w, const struct expr **ret_depth) {
  struct emitter *e = w->e;
  load_queries(w);
  if (w->p->scales_queries && w->p->score.scale != 1)
    emit_line(e, w->level, "q = q * %s",
              emit_number(e, DTYPE_F32, (union element){.real = w->p->score.scale}));
  *ret_depth = NULL; // keys that descriptors load need no axis
  if (!w->p->blocks.by_tiles)
    *ret_depth = whole_axis(w, w->p->t->depth, "dk", w->p->blocks.depth, "[:, None]");
  // A finite initial value: for a row without keys so far, inf - inf would be NaN.
  emit_line(e, w->level, "top = tl.full([BLOCK_M], %s, %s)",
            w->p->score.expr || w->p->score.added ? "float(\"-inf\")" : "-1e30",
            emit_type(w->p->sum));
  if (w->p->sums_by_product) {
    emit_line(e, w->level, "total = tl.zeros([BLOCK_M, %u], %s)", SUM_COLUMNS,
              emit_type(w->p->sum));
    emit_line(e, w->level, "ones = tl.full([BLOCK_N, %u], 1.0, %s)", SUM_COLUMNS,
              emit_type(w->p->weights));
  } else {
    emit_line(e, w->level, "total = tl.zeros([BLOCK_M], %s)", emit_type(w->p->sum));
  }
  emit_line(e, w->level, "acc = tl.zeros([BLOCK_M, %u], %s)", w->p->blocks.columns,
            emit_type(w->p->sum));
}

void emit_attention_kernel(struct emitter *e, const struct attention_plan *p) {
  struct attention_writer writer = {.x = e->x, .s = e->s, .e = e, .p = p}, *w = &writer;
  const struct expr *depth = NULL;
  place_program(w);
  if (p->step != ATTENTION_MERGE)
    emit_start(w, &depth);
  emit_line(e, w->level, "n = tl.arange(0, %u)[None, :]", w->p->blocks.columns);
  const char *mask = expr_is(axis_extent(w->p->n), w->p->blocks.columns)
                         ? NULL
                         : arena_printf(e->arena, "(n < %s)", emit_extent(e, axis_extent(w->p->n)));
  emit_axis(e, w->p->n, "n", mask, w->level);
  if (p->step == ATTENTION_MERGE)
    attention_merge_parts(w);
  else
    attention_put_loops(w, depth, w->p->n);
  if (p->step != ATTENTION_MERGE && p->sums_by_product)
    emit_line(e, w->level, "total = tl.max(total, 1)");
  if (p->step == ATTENTION_PARTS)
    attention_store_part(w);
  else
    put_results(w);
  if (w->level)
    emit_close(e);
  emit_sizes(e, axis_extent(w->p->m));
  emit_sizes(e, axis_extent(w->p->batch));
}
