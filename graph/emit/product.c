// SPDX-License-Identifier: Apache-2.0
// Regions around a matrix product: a block of the result goes through a loop over k whose loads are
// pipelined; what follows the product is computed on the sums while they are in registers.
//
//   for k0 in range(0, 4096, BLOCK_K):
//       acc = tl.dot(tl.load(in0 + (4096*row + ka)), tl.load(in1 + (4096*column + kb)), acc)
//   tl.store(out0 + (11008*m + n), gelu(acc + tl.load(in2 + n)))
//
// Where there are few programs and k is long, k is cut into parts. Each program writes its sums;
// the last one of a block to do so adds them up in order and does the rest. Where that were much
// for one program, a second kernel does it.
#include "graph/emit/product.h"

#include "graph/emit/operand.h"

enum { MOST_GRID = 65535, MOST_PRODUCTS = 4 };

struct product {
  struct program *p;
  const struct region *r;
  const struct program_options *o;
  struct exprs *x;
  struct scalars *s;
  struct emitter *e;
  const struct stage *stages[MOST_PRODUCTS];
  unsigned count;
  const struct expr *batch, *m, *n, *k; // axes
  enum dtype dtype, sum;                // of the operands, of the sums
  struct product_shape shape;
  struct product_plan plan;
  const struct expr *part; // of a split k: an axis
  struct buffer *parts;    // sums of each: [part, batch, m, n]
};

static const struct expr *extent(const struct expr *axis) { return axis->symbol->limit; }

static bool divides(const struct expr *axis, unsigned block) {
  return expr_is_multiple(extent(axis), block);
}

static const struct expr *blocks_of(struct product *g, const struct expr *axis, unsigned block) {
  return expr_cdiv(g->x, extent(axis), expr_const(g->x, block));
}

// The same axis under another name, so that an operand can have it along another dimension.
static const struct expr *twin(struct product *g, const struct expr *axis, const char *name) {
  return expr_symbol(g->x, name, 0, axis->symbol->hi, extent(axis));
}

static bool is_batched(const struct product *g) { return !expr_is(extent(g->batch), 1); }

// A batch of one is at 0.
static const struct expr *place_in(struct product *g, const struct expr *e) {
  const struct expr *zero = expr_const(g->x, 0);
  return is_batched(g) ? e : index_substitute(g->s, e, 1, &g->batch, &zero);
}

static const struct scalar *value_in(struct product *g, const struct scalar *v) {
  const struct expr *zero = expr_const(g->x, 0);
  return is_batched(g) ? v : scalar_substitute(g->s, v, 1, &g->batch, &zero);
}

// ---- where a program is ----

static bool folds_batch(const struct product *g) { return extent(g->batch)->hi > MOST_GRID; }

static void place_batch(struct product *g) {
  struct emitter *e = g->e;
  if (folds_batch(g)) {
    const char *m = emit_extent(e, extent(g->m)), *n = emit_extent(e, extent(g->n));
    emit_line(e, 0, "programs = tl.cdiv(%s, BLOCK_M) * tl.cdiv(%s, BLOCK_N)", m, n);
    emit_line(e, 0, "pid = tl.program_id(0) %% programs");
    emit_line(e, 0, "batch = tl.program_id(0) // programs");
  } else {
    emit_line(e, 0, "pid = tl.program_id(0)");
    if (is_batched(g))
      emit_line(e, 0, "batch = tl.program_id(1)");
  }
  if (is_batched(g))
    emit_axis(e, g->batch, "batch", NULL, 0);
}

static void place_block(struct product *g, unsigned group_m) {
  struct emitter *e = g->e;
  const char *m = emit_extent(e, extent(g->m)), *n = emit_extent(e, extent(g->n));
  if (group_m > 1) {
    emit_line(e, 0,
              "# Programs that run side by side share rows and columns: they go down GROUP_M");
    emit_line(e, 0, "# blocks, then one to the right.");
    emit_line(e, 0, "width = GROUP_M * tl.cdiv(%s, BLOCK_N)", n);
    emit_line(e, 0, "first = pid // width * GROUP_M");
    emit_line(e, 0, "height = min(tl.cdiv(%s, BLOCK_M) - first, GROUP_M)", m);
    emit_line(e, 0, "m_first = (first + pid %% width %% height) * BLOCK_M");
    emit_line(e, 0, "n_first = pid %% width // height * BLOCK_N");
  } else {
    emit_line(e, 0, "m_first = pid // tl.cdiv(%s, BLOCK_N) * BLOCK_M", n);
    emit_line(e, 0, "n_first = pid %% tl.cdiv(%s, BLOCK_N) * BLOCK_N", n);
  }
}

// An axis of the result: with a mask unless the block divides its extent.
static void place_axis(struct product *g, const struct expr *axis, const char *name,
                       const char *block, const char *shape, bool is_whole) {
  struct emitter *e = g->e;
  emit_line(e, 0, "%s = (%s_first + tl.arange(0, %s))%s%s", name, name, block,
            emit_axis_is_wide(axis) ? ".to(tl.int64)" : "", shape);
  const char *mask =
      is_whole ? NULL : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, extent(axis)));
  emit_axis(e, axis, name, mask, 0);
}

static void place_result(struct product *g, unsigned block_m, unsigned block_n) {
  place_axis(g, g->m, "m", "BLOCK_M", "[:, None]", divides(g->m, block_m));
  place_axis(g, g->n, "n", "BLOCK_N", "[None, :]", divides(g->n, block_n));
}

// ---- the loop over k ----

// Rows and columns beyond the end wrap around to some that exist: what comes of them is not stored,
// and the loop needs no masks for them.
static const struct expr *wrapped(struct product *g, const struct expr *axis, const char *name,
                                  const char *of, unsigned block) {
  const struct expr *t = twin(g, axis, name);
  if (!divides(axis, block))
    emit_line(g->e, 0, "%s = %s %% %s", name, of, emit_extent(g->e, extent(axis)));
  emit_axis(g->e, t, divides(axis, block) ? of : name, NULL, 0);
  return t;
}

static const struct expr *inner_axis(struct product *g, const char *name, const char *shape) {
  struct emitter *e = g->e;
  const struct expr *t = twin(g, g->k, name);
  emit_line(e, 1, "%s = k0 + tl.arange(0, BLOCK_K)%s", name, shape);
  const char *mask = divides(g->k, g->plan.block_k)
                         ? NULL
                         : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, extent(g->k)));
  emit_axis(e, t, name, mask, 1);
  return t;
}

static const char *loop_header(struct product *g) {
  struct emitter *e = g->e;
  const char *end = emit_extent(e, extent(g->k));
  if (g->plan.split_k == 1)
    return arena_printf(e->arena, "for k0 in range(0, %s, BLOCK_K):", end);
  // A share of k is whole blocks.
  const struct expr *block = expr_const(g->x, g->plan.block_k), *k = extent(g->k),
                    *blocks = expr_cdiv(g->x, k, expr_muli(g->x, block, g->plan.split_k));
  const char *share = "share";
  if (expr_is_const(blocks, NULL))
    share = emit_extent(e, expr_mul(g->x, blocks, block));
  else
    emit_line(e, 0, "share = %s", emit_extent(e, expr_mul(g->x, blocks, block)));
  if (expr_is_multiple(k, g->plan.split_k * (int64_t)g->plan.block_k))
    return arena_printf(e->arena, "for k0 in range(part * %s, (part + 1) * %s, BLOCK_K):", share,
                        share);
  return arena_printf(e->arena,
                      "for k0 in range(part * %s, min((part + 1) * %s, %s), BLOCK_K):", share,
                      share, end);
}

static const char *sum_name(const struct product *g, unsigned i) {
  return g->count == 1 ? "acc" : arena_printf(g->p->arena, "acc%u", i);
}

static const char *precision(const struct product *g) {
  return g->dtype == DTYPE_F32 ? ", input_precision=\"ieee\"" : "";
}

static void emit_loop(struct product *g) {
  struct emitter *e = g->e;
  const struct expr *row = wrapped(g, g->m, "row", "m", g->plan.block_m);
  const struct expr *column = wrapped(g, g->n, "column", "n", g->plan.block_n);
  for (unsigned i = 0; i < g->count; i++)
    emit_line(e, 0, "%s = tl.zeros([BLOCK_M, BLOCK_N], %s)", sum_name(g, i), emit_type(g->sum));
  emit_open(e, loop_header(g));
  const struct expr *ka = inner_axis(g, "ka", "[None, :]"), *kb = inner_axis(g, "kb", "[:, None]");
  const struct expr *from[3] = {g->m, g->n, g->k}, *to_a[3] = {row, column, ka},
                    *to_b[3] = {row, column, kb};
  const struct scalar *a[MOST_PRODUCTS], *b[MOST_PRODUCTS];
  for (unsigned i = 0; i < g->count; i++) {
    a[i] = value_in(g, scalar_substitute(g->s, g->stages[i]->a, 3, from, to_a));
    b[i] = value_in(g, scalar_substitute(g->s, g->stages[i]->b, 3, from, to_b));
    emit_count(e, a[i]);
    emit_count(e, b[i]);
  }
  const char *x = NULL, *y = NULL;
  for (unsigned i = 0; i < g->count; i++) {
    if (i == 0 || a[i] != a[i - 1]) {
      const char *text = operand_text(e, a[i], g->dtype, row, ka, ka, "[BLOCK_M, BLOCK_K]");
      x = g->count == 1 ? "a" : arena_printf(e->arena, "a%u", i);
      emit_line(e, 1, "%s = %s", x, text);
    }
    if (i == 0 || b[i] != b[i - 1]) {
      const char *text = operand_text(e, b[i], g->dtype, kb, column, kb, "[BLOCK_K, BLOCK_N]");
      y = g->count == 1 ? "b" : arena_printf(e->arena, "b%u", i);
      emit_line(e, 1, "%s = %s", y, text);
    }
    emit_line(e, 1, "%s = tl.dot(%s, %s, %s%s)", sum_name(g, i), x, y, sum_name(g, i),
              precision(g));
  }
  emit_close(e);
}

// ---- what follows ----

// The formulas behind refer to a product by a load of its buffer.
static void give_sum(struct product *g, unsigned i) {
  struct emitter *e = g->e;
  const struct stage *s = g->stages[i];
  uint32_t axes =
      emit_index_axes(e, g->batch) | emit_index_axes(e, g->m) | emit_index_axes(e, g->n);
  const struct scalar *load = scalar_load(g->s, s->out, place_in(g, s->offset));
  const struct scalar *full = scalar_convert(g->s, load, g->sum);
  const char *name = sum_name(g, i), *half = name;
  if (load != full)
    half = arena_printf(e->arena, "%s.to(%s)", name, emit_type(load->dtype));
  if (load != full && g->o->rounds)
    name = arena_printf(e->arena, "%s.to(%s)", half, emit_type(g->sum));
  emit_given(e, load, half, axes, 0);
  emit_given(e, full, name, axes, 0);
}

static bool is_product(const struct product *g, const struct stage *s) {
  for (unsigned i = 0; i < g->count; i++)
    if (g->stages[i] == s)
      return true;
  return false;
}

static bool emit_epilogue(struct product *g) {
  struct emit_parts parts = {0};
  if (!emit_take_apart(g->p, g->r, &parts))
    return false;
  for (unsigned i = 0; i < g->count; i++)
    give_sum(g, i);
  for (size_t i = 0; i < parts.writes.len; i++) {
    struct emit_write *w = &parts.writes.at[i];
    w->place = place_in(g, w->place);
    w->body =
        is_product(g, w->stage) ? scalar_load(g->s, w->buffer, w->place) : value_in(g, w->body);
    emit_writes(g->e, w->buffer);
    emit_count(g->e, w->body);
  }
  for (size_t i = 0; i < parts.writes.len; i++)
    emit_store_value(g->e, parts.writes.at[i].buffer, parts.writes.at[i].place,
                     parts.writes.at[i].body);
  return true;
}

// ---- a split k ----

static const struct expr *place_of_part(struct product *g) {
  const struct expr *at = expr_add(g->x, expr_mul(g->x, g->part, extent(g->batch)), g->batch);
  at = expr_add(g->x, expr_mul(g->x, at, extent(g->m)), g->m);
  return place_in(g, expr_add(g->x, expr_mul(g->x, at, extent(g->n)), g->n));
}

static void create_parts(struct product *g) {
  const struct expr *count = expr_const(g->x, g->plan.split_k);
  g->part = expr_symbol(g->x, "part", 0, g->plan.split_k - 1, count);
  const struct expr *sizes[4] = {count, extent(g->batch), extent(g->m), extent(g->n)};
  g->parts = emit_temporary(g->p, "parts", g->sum, expr_product(g->x, sizes, 4));
}

static void store_part(struct product *g) {
  struct emitter *e = g->e;
  uint32_t axes = emit_index_axes(e, g->m) | emit_index_axes(e, g->n);
  const struct expr *place = place_of_part(g);
  const struct scalar *sum = scalar_load(g->s, g->parts, place);
  emit_given(e, sum, "acc", axes, 0);
  emit_writes(e, g->parts);
  emit_count(e, sum);
  emit_store_value(e, g->parts, place, sum);
}

// Adds up the parts in their order, always the same, and does what follows the product. In an
// emitter of its own.
static bool write_sum_of_parts(struct product *g, unsigned block_m, unsigned block_n,
                               unsigned group_m) {
  struct emitter *e = g->e = emit_begin(g->p, g->r, g->o, "sum");
  emit_constexpr(e, "BLOCK_M", block_m);
  emit_constexpr(e, "BLOCK_N", block_n);
  if (group_m > 1)
    emit_constexpr(e, "GROUP_M", group_m);
  place_batch(g);
  place_block(g, group_m);
  place_result(g, block_m, block_n);
  emit_line(e, 0, "acc = tl.zeros([BLOCK_M, BLOCK_N], %s)", emit_type(g->sum));
  emit_open(e, arena_printf(e->arena, "for part in tl.static_range(%u):", g->plan.split_k));
  emit_axis(e, g->part, "part", NULL, 1);
  const struct scalar *one = scalar_load(g->s, g->parts, place_of_part(g));
  emit_count(e, one);
  const char *text = emit_operand(e, one, PREC_SUM);
  emit_line(e, 1, "acc += %s", text);
  emit_close(e);
  return emit_epilogue(g);
}

enum { SUM_M = 4, SUM_N = 128 };

static bool emit_sum_of_parts(struct product *g) {
  if (!write_sum_of_parts(g, SUM_M, SUM_N, 1))
    return false;
  struct emitter *e = g->e;
  const struct expr *grid[3] = {
      expr_mul(g->x, blocks_of(g, g->m, SUM_M), blocks_of(g, g->n, SUM_N)), extent(g->batch), NULL};
  e->launch.bytes = expr_muli(g->x, g->parts->numel, dtype_bytes(g->sum));
  e->launch.flops = g->parts->numel;
  emit_end(e, 4, grid, NULL);
  return true;
}

enum { MOST_TAIL_BYTES = 256 << 10, MOST_GROUPS = 4096 };

// Lets the last program of each block add up its parts.
static bool ends_with_sum(struct product *g) {
  struct emitter *e = g->e;
  const struct product_plan *p = &g->plan;
  int64_t groups, bytes = (int64_t)p->block_m * p->block_n * p->split_k * dtype_bytes(g->sum);
  const struct expr *blocks =
      expr_mul(g->x, expr_mul(g->x, blocks_of(g, g->m, p->block_m), blocks_of(g, g->n, p->block_n)),
               extent(g->batch));
  if (bytes > MOST_TAIL_BYTES || !expr_is_const(blocks, &groups) || groups > MOST_GROUPS)
    return false;
  bool done =
      write_sum_of_parts(g, p->block_m, p->block_n, p->group_m) &&
      emit_tail_of(e, g->e, groups,
                   is_batched(g) ? "tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)"
                                 : "tl.program_id(0)",
                   "tl.num_programs(2)");
  g->e = e;
  return done;
}

// ---- the kernel ----

static bool emit_kernel(struct product *g) {
  struct emitter *e = g->e = emit_begin(g->p, g->r, g->o, NULL);
  bool is_whole = g->plan.split_k == 1;
  const struct expr *block_m = emit_constexpr(e, "BLOCK_M", g->plan.block_m);
  const struct expr *block_n = emit_constexpr(e, "BLOCK_N", g->plan.block_n);
  emit_constexpr(e, "BLOCK_K", g->plan.block_k);
  if (g->plan.group_m > 1)
    emit_constexpr(e, "GROUP_M", g->plan.group_m);
  place_batch(g);
  if (g->plan.split_k > 1) {
    create_parts(g);
    emit_line(e, 0, "part = tl.program_id(2)");
    emit_axis(e, g->part, "part", NULL, 0);
  }
  place_block(g, g->plan.group_m);
  place_result(g, g->plan.block_m, g->plan.block_n);
  emit_loop(g);
  if (g->plan.split_k > 1) {
    store_part(g);
    is_whole = ends_with_sum(g);
    e->name = is_whole ? e->name : arena_printf(e->arena, "%s_parts", e->name);
  } else if (!emit_epilogue(g)) {
    return false;
  }
  const struct expr *grid[3] = {expr_mul(g->x, expr_cdiv(g->x, extent(g->m), block_m),
                                         expr_cdiv(g->x, extent(g->n), block_n)),
                                extent(g->batch), expr_const(g->x, g->plan.split_k)};
  if (folds_batch(g)) {
    grid[0] = expr_mul(g->x, grid[0], grid[1]);
    grid[1] = NULL;
  }
  emit_sizes(e, extent(g->m));
  emit_sizes(e, extent(g->n));
  emit_sizes(e, extent(g->batch));
  const struct expr *extents[3] = {extent(g->m), extent(g->n), extent(g->k)};
  struct launch *l =
      emit_end(e, g->plan.num_warps, grid, product_space(e, extents, &g->shape, &g->plan, g->o));
  l->kernel->num_stages = g->plan.num_stages;
  if (dtype_bits(g->dtype) <= 16)
    l->kernel->sums.tiles = g->count;
  return is_whole || emit_sum_of_parts(g);
}

// ---- choosing ----

static void count_tile(void *user, const struct scalar *load) {
  struct product *g = user;
  if (load->buffer && !region_maker(g->r, load->buffer))
    g->shape.tiles += expr_has_symbol(load->index, g->m) && expr_has_symbol(load->index, g->n);
}

static void find_shape(struct product *g) {
  struct product_shape *s = &g->shape;
  s->batch = expr_likely(extent(g->batch));
  s->m = expr_likely(extent(g->m));
  s->n = expr_likely(extent(g->n));
  s->k = expr_likely(extent(g->k));
  s->dtype = g->dtype;
  s->products = g->count;
  for (unsigned i = 0; i < g->count; i++)
    s->is_gathered = s->is_gathered || !operand_is_plain(g->x, g->stages[i]->a, g->m, g->k) ||
                     !operand_is_plain(g->x, g->stages[i]->b, g->n, g->k);
  s->may_split = !folds_batch(g);
  for (size_t i = 0; i < g->r->stages.len; i++)
    if (g->r->stages.at[i]->kind == STAGE_MAP)
      scalar_loads(g->r->stages.at[i]->body, count_tile, g);
}

static bool take_stages(struct product *g) {
  for (size_t i = 0; i < g->r->stages.len; i++) {
    const struct stage *s = g->r->stages.at[i];
    if (s->kind != STAGE_PRODUCT)
      continue;
    if (g->count == MOST_PRODUCTS)
      return false;
    g->stages[g->count++] = s;
  }
  if (!g->count)
    return false;
  const struct stage *s = g->stages[0];
  g->batch = s->axes[0];
  g->m = s->axes[1];
  g->n = s->axes[2];
  g->k = s->axes[3];
  g->sum = s->dtype;
  g->dtype = operand_dtype(s->a, s->b, s->out->dtype);
  for (unsigned i = 1; i < g->count; i++)
    if (operand_dtype(g->stages[i]->a, g->stages[i]->b, g->stages[i]->out->dtype) != g->dtype)
      g->dtype = DTYPE_F32;
  if (g->dtype == DTYPE_F64)
    g->sum = DTYPE_F64;
  return true;
}

bool emit_product(struct program *p, const struct region *r, const struct program_options *o) {
  struct product g = {
      .p = p, .r = r, .o = o, .x = p->regions->loops->exprs, .s = p->regions->loops->scalars};
  if (!take_stages(&g))
    return false;
  find_shape(&g);
  g.plan = product_choose(&g.shape, o);
  return emit_kernel(&g);
}
