// SPDX-License-Identifier: Apache-2.0
// Regions around attention: a program has a block of queries and walks over the keys, with the
// maximum and the sum of exponentials of each row so far (online softmax).
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
// Keys that no query of the block sees are left out, and only blocks that some query sees in part
// have a mask.
#include "graph/emit/attention_internal.h"
#include "graph/emit/operand.h"

enum { MOST_GRID = 65535 };

static bool is_batched(const struct walk *w) { return !expr_is(attention_extent(w->batch), 1); }
static bool folds_batch(const struct walk *w) { return attention_extent(w->batch)->hi > MOST_GRID; }

static bool divides(const struct expr *axis, unsigned block) {
  return expr_is_multiple(attention_extent(axis), block);
}

const struct expr *attention_twin(struct walk *w, const struct expr *axis, const char *name) {
  return expr_symbol(w->x, name, 0, axis->symbol->hi, attention_extent(axis));
}

const struct expr *attention_place(struct walk *w, const struct expr *e) {
  const struct expr *zero = expr_const(w->x, 0);
  return is_batched(w) ? e : index_substitute(w->s, e, 1, &w->batch, &zero);
}

static const struct scalar *value_in(struct walk *w, const struct scalar *v) {
  const struct expr *zero = expr_const(w->x, 0);
  return is_batched(w) ? v : scalar_substitute(w->s, v, 1, &w->batch, &zero);
}

const struct scalar *attention_with_axes(struct walk *w, const struct scalar *v,
                                         const struct expr *a, const struct expr *a_now,
                                         const struct expr *b, const struct expr *b_now) {
  const struct expr *from[2] = {a, b}, *to[2] = {a_now, b_now};
  return value_in(w, scalar_substitute(w->s, v, b ? 2 : 1, from, to));
}

// ---- where a program is ----

// Blocks of late queries see most keys where later keys are hidden: they go first.
static void place_program(struct walk *w) {
  struct emitter *e = w->e;
  const char *m = emit_extent(e, attention_extent(w->m)), *pid = "tl.program_id(0)";
  const char *blocks = arena_printf(e->arena, "tl.cdiv(%s, BLOCK_M)", m);
  if (folds_batch(w)) {
    emit_line(e, 0, "batch = tl.program_id(0) // %s", blocks);
    pid = arena_printf(e->arena, "tl.program_id(0) %% %s", blocks);
  } else if (is_batched(w)) {
    emit_line(e, 0, "batch = tl.program_id(1)");
  }
  if (is_batched(w))
    emit_axis(e, w->batch, "batch", NULL, 0);
  if (w->score.last)
    emit_line(e, 0, "m_first = (%s - 1 - %s) * BLOCK_M", blocks, pid);
  else
    emit_line(e, 0, "m_first = %s * BLOCK_M",
              folds_batch(w) ? arena_printf(e->arena, "(%s)", pid) : pid);
  emit_line(e, 0, "m = (m_first + tl.arange(0, BLOCK_M))[:, None]");
  const char *mask = divides(w->m, w->plan.block_m) ? NULL : arena_printf(e->arena, "(m < %s)", m);
  emit_axis(e, w->m, "m", mask, 0);
}

// An axis that a block holds as a whole.
static const struct expr *whole_axis(struct walk *w, const struct expr *axis, const char *name,
                                     unsigned block, const char *shape) {
  struct emitter *e = w->e;
  const struct expr *t = attention_twin(w, axis, name);
  emit_line(e, 0, "%s = tl.arange(0, %u)%s", name, block, shape);
  const char *mask =
      expr_is(attention_extent(axis), block)
          ? NULL
          : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, attention_extent(axis)));
  emit_axis(e, t, name, mask, 0);
  return t;
}

// ---- what follows ----

static void give_result(struct walk *w) {
  struct emitter *e = w->e;
  bool zero = w->t->zero_empty_rows && !w->score.has_no_empty;
  if (attention_sums_by_product(w))
    emit_line(e, 0, "total = tl.max(total, 1)");
  emit_line(e, 0, "out = acc * (1.0 / %s)[:, None]",
            zero ? "tl.where(total > 0, total, 1.0)" : "total");
  uint32_t axes = emit_index_axes(e, w->m) | emit_index_axes(e, w->n);
  const struct scalar *load =
      scalar_load(w->s, w->stage->out, attention_place(w, w->stage->offset));
  const struct scalar *full = scalar_convert(w->s, load, w->sum);
  const char *half = "out", *name = "out";
  if (load != full)
    half = arena_printf(e->arena, "out.to(%s)", emit_type(load->dtype));
  if (load != full && w->o->rounds)
    name = arena_printf(e->arena, "%s.to(%s)", half, emit_type(w->sum));
  emit_given(e, load, half, axes, 0);
  emit_given(e, full, name, axes, 0);
}

// The logarithm of the sum of exponentials, for the backward pass.
static void store_sums(struct walk *w) {
  struct emitter *e = w->e;
  struct buffer *b = w->t->lse;
  const struct expr *place = attention_place(w, w->t->lse_place);
  if (w->score.formula || w->score.added)
    emit_line(e, 0, "lse = (top + tl.log(total))[:, None]");
  else
    emit_line(e, 0, "lse = ((top + tl.log2(total)) * 0.6931471805599453)[:, None]");
  const struct scalar *load = scalar_load(w->s, b, place);
  emit_given(e, load, "lse", emit_index_axes(e, w->m), 0);
  emit_writes(e, b);
  emit_count(e, load);
  emit_store_value(e, b, place, load);
}

static bool emit_results(struct walk *w) {
  struct emit_parts parts = {0};
  if (!emit_take_apart(w->p, w->r, &parts))
    return false;
  give_result(w);
  for (size_t i = 0; i < parts.writes.len; i++) {
    struct emit_write *o = &parts.writes.at[i];
    o->place = attention_place(w, o->place);
    o->body = o->stage == w->stage ? scalar_load(w->s, o->buffer, o->place) : value_in(w, o->body);
    emit_writes(w->e, o->buffer);
    emit_count(w->e, o->body);
  }
  for (size_t i = 0; i < parts.writes.len; i++)
    emit_store_value(w->e, parts.writes.at[i].buffer, parts.writes.at[i].place,
                     parts.writes.at[i].body);
  if (w->t->lse)
    store_sums(w);
  return true;
}

// ---- the kernel ----

static void emit_start(struct walk *w, const struct expr **ret_depth) {
  struct emitter *e = w->e;
  const struct expr *across = whole_axis(w, w->t->depth, "d", w->plan.depth, "[None, :]");
  const struct scalar *q = attention_with_axes(w, w->score.q, w->t->depth, across, NULL, NULL);
  emit_count(e, q);
  emit_line(e, 0, "q = %s",
            operand_text(e, q, w->dtype, w->m, across, across,
                         arena_printf(e->arena, "[BLOCK_M, %u]", w->plan.depth)));
  if (attention_scales_queries(w) && w->score.scale != 1)
    emit_line(e, 0, "q = q * %s",
              emit_number(e, DTYPE_F32, (union element){.real = w->score.scale}));
  *ret_depth = whole_axis(w, w->t->depth, "dk", w->plan.depth, "[:, None]");
  // A finite start: a row that has seen no key yet would compute inf - inf.
  emit_line(e, 0, "top = tl.full([BLOCK_M], %s, %s)",
            w->score.formula || w->score.added ? "float(\"-inf\")" : "-1e30", emit_type(w->sum));
  if (attention_sums_by_product(w)) {
    emit_line(e, 0, "total = tl.zeros([BLOCK_M, %u], %s)", SUM_COLUMNS, emit_type(w->sum));
    emit_line(e, 0, "ones = tl.full([BLOCK_N, %u], 1.0, %s)", SUM_COLUMNS, emit_type(w->weights));
  } else {
    emit_line(e, 0, "total = tl.zeros([BLOCK_M], %s)", emit_type(w->sum));
  }
  emit_line(e, 0, "acc = tl.zeros([BLOCK_M, %u], %s)", w->plan.columns, emit_type(w->sum));
}

static bool emit_kernel(struct walk *w) {
  struct emitter *e = w->e = emit_begin(w->p, w->r, w->o, NULL);
  const struct expr *block_m = emit_constexpr(e, "BLOCK_M", w->plan.block_m);
  emit_constexpr(e, "BLOCK_N", w->plan.block_n);
  place_program(w);
  const struct expr *depth;
  emit_start(w, &depth);
  emit_line(e, 0, "n = tl.arange(0, %u)[None, :]", w->plan.columns);
  const char *mask =
      expr_is(attention_extent(w->n), w->plan.columns)
          ? NULL
          : arena_printf(e->arena, "(n < %s)", emit_extent(e, attention_extent(w->n)));
  emit_axis(e, w->n, "n", mask, 0);
  attention_emit_loops(w, depth, w->n);
  if (!emit_results(w))
    return false;
  const struct expr *blocks = expr_cdiv(w->x, attention_extent(w->m), block_m);
  const struct expr *grid[3] = {blocks, attention_extent(w->batch), NULL};
  emit_sizes(e, attention_extent(w->m));
  emit_sizes(e, attention_extent(w->batch));
  if (folds_batch(w)) {
    grid[0] = expr_mul(w->x, blocks, grid[1]);
    grid[1] = NULL;
  }
  struct launch *l =
      emit_end(e, w->plan.num_warps, grid,
               attention_space(e, attention_extent(w->m), attention_extent(w->t->key), &w->shape,
                               &w->plan, w->o));
  l->kernel->num_stages = w->plan.num_stages;
  if (w->shape.has_halves)
    l->kernel->sums =
        (struct kernel_sums){.tiles = 1, .columns = w->plan.columns, .are_of_rows = true};
  return true;
}

struct loaded {
  const struct expr *query, *key;
  int64_t bits;
};

static void note_loaded(void *user, const struct scalar *load) {
  struct loaded *l = user;
  if (load->buffer && scalar_has_axis(load, l->query) && scalar_has_axis(load, l->key))
    l->bits += dtype_bits(load->dtype) < 8 ? 8 : dtype_bits(load->dtype);
}

// Bits that the loop loads for each score.
static int64_t loaded_bits(const struct walk *w) {
  struct loaded l = {.query = w->m, .key = w->t->key};
  const struct scalar *parts[] = {w->score.formula, w->score.added, w->score.seen};
  for (size_t i = 0; i < COUNT_OF(parts); i++)
    if (parts[i])
      scalar_loads(parts[i], note_loaded, &l);
  return l.bits;
}

bool emit_attention(struct program *p, const struct region *r, const struct program_options *o) {
  struct walk w = {
      .p = p, .r = r, .o = o, .x = p->regions->loops->exprs, .s = p->regions->loops->scalars};
  for (size_t i = 0; i < r->stages.len; i++)
    if (r->stages.at[i]->kind == STAGE_ATTENTION)
      w.stage = r->stages.at[i];
  if (!w.stage)
    return false;
  w.t = w.stage->attention;
  w.batch = w.stage->axes[0];
  w.m = w.stage->axes[1];
  w.n = w.stage->axes[2];
  w.score = score_analyse(w.s, w.x, w.t, w.m, o->rounds);
  enum dtype out = w.stage->out->dtype;
  w.dtype = operand_dtype(w.score.q, w.score.k, out);
  w.weights = operand_dtype(w.t->v, w.t->v, out);
  w.sum = w.dtype == DTYPE_F64 || w.weights == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
  if (w.sum == DTYPE_F64)
    w.dtype = w.weights = DTYPE_F64;
  w.shape = (struct attention_shape){.batch = expr_likely(attention_extent(w.batch)),
                                     .queries = expr_likely(attention_extent(w.m)),
                                     .keys = expr_likely(attention_extent(w.t->key)),
                                     .depth = expr_likely(attention_extent(w.t->depth)),
                                     .columns = expr_likely(attention_extent(w.n)),
                                     .loaded_bits = loaded_bits(&w),
                                     .has_halves =
                                         dtype_bits(w.dtype) <= 16 && dtype_bits(w.weights) <= 16};
  w.plan = attention_choose(&w.shape, o);
  return emit_kernel(&w);
}
