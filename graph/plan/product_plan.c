// SPDX-License-Identifier: Apache-2.0
// Recursion is the algorithm: a value is an expression tree.
// Regions around a matrix product. With few programs and a long k, k is split (split-K): each
// program writes partial sums, and the last one of each block adds them up in order and computes
// the epilogue. If that is much work for one program, a second kernel does it. A persistent kernel
// splits only the blocks that are left over when each program has computed as many as the others
// (as stream-K does, Osama et al., arXiv 2301.03598); these may be all of them.
#include "graph/plan/product_plan.h"

#include "graph/plan/accesses.h"
#include "graph/plan/operand.h"

bool product_has_stage(const struct product *g, const struct stage *s) {
  for (unsigned i = 0; i < g->count; i++)
    if (g->stages[i] == s)
      return true;
  return false;
}

// ---- choosing ----

static void count_tile(void *user, const struct scalar *load) {
  struct product *g = user;
  if (load->buffer && !region_maker(g->r, load->buffer))
    g->shape.tiles += expr_has_symbol(load->index, g->m) && expr_has_symbol(load->index, g->n);
}

struct weights {
  const struct product *g;
  bool found;
};

static void note_bytes(void *user, const struct scalar *load) {
  struct weights *w = user;
  w->found |= load->buffer && dtype_bits(load->dtype) <= 8 &&
              expr_has_symbol(load->index, w->g->n) && expr_has_symbol(load->index, w->g->whole_k);
}

// Are all right operands computed from bytes, a row of them for each column?
static bool is_quantised(const struct product *g) {
  bool all = true;
  for (unsigned i = 0; i < g->count; i++) {
    struct weights w = {g, false};
    scalar_loads(g->right[i], note_bytes, &w);
    all = all && w.found;
  }
  return all;
}

// Is the operand a load whose elements along k, within a group, lie next to each other? Offsets of
// rows, which do not change with k, may be computed.
static bool is_wide(struct exprs *x, const struct product *g, const struct scalar *v) {
  const struct scalar *load = operand_load(v);
  const struct expr *inner = g->group ? g->low : g->k, *stride, *rest;
  const struct expr *from = g->whole_k, *to = product_inner(x, g, inner, 0);
  return g->pack == 1 && load &&
         expr_linear(x, expr_substitute(x, load->index, 1, &from, &to), inner, &stride, &rest) &&
         expr_is(stride, 1);
}

// The same along the operand's other axis: offsets of rows along k may be computed.
static bool is_wide_across(struct exprs *x, const struct scalar *v, const struct expr *axis) {
  const struct scalar *load = operand_load(v);
  const struct expr *stride, *rest;
  return load && expr_linear(x, load->index, axis, &stride, &rest) && expr_is(stride, 1);
}

static bool is_plain(struct exprs *x, const struct product *g, const struct scalar *v,
                     const struct expr *axis) {
  return operand_is_plain(x, v, axis, g->whole_k) || is_wide(x, g, v) || is_wide_across(x, v, axis);
}

const struct expr *product_row_blocks(struct exprs *x, const struct product *g,
                                      const struct expr *block_m) {
  const struct expr *rows = axis_extent(g->m);
  if (!g->groups || !g->groups->of_rows)
    return expr_cdiv(x, rows, block_m);
  return expr_addi(x, expr_add(x, expr_floordiv(x, rows, block_m), axis_extent(g->groups->group)),
                   1);
}

// A group of likely size.
static void share_among_groups(struct product *g) {
  struct product_shape *s = &g->shape;
  int64_t groups = expr_likely(axis_extent(g->groups->group));
  int64_t *of = g->groups->of_rows ? &s->m : &s->k;
  groups = groups < 1 ? 1 : groups;
  *of = (*of + groups - 1) / groups;
  if (g->groups->of_rows)
    s->batch = groups;
  s->may_split = s->may_split_blocks = false;
  s->has_groups = true;
}

static void find_shape(struct exprs *x, struct product *g) {
  struct product_shape *s = &g->shape;
  s->batch = expr_likely(axis_extent(g->batch));
  s->m = expr_likely(axis_extent(g->m));
  s->n = expr_likely(axis_extent(g->n));
  s->k = expr_likely(axis_extent(g->k));
  s->dtype = g->dtype;
  s->products = g->count;
  for (unsigned i = 0; i < g->count; i++)
    s->is_gathered =
        s->is_gathered || !is_plain(x, g, g->left[i], g->m) || !is_plain(x, g, g->right[i], g->n);
  s->is_quantised = s->is_gathered && is_quantised(g);
  s->b_runs_along_k = !is_wide_across(x, g->right[0], g->n);
  s->most_k = g->group ? g->group & -g->group : g->every / g->pack; // blocks are powers of two
  s->may_split = !g->folds_batch;
  s->may_split_blocks = g->count == 1;
  if (g->groups)
    share_among_groups(g);
  for (size_t i = 0; i < g->r->stages.len; i++)
    if (g->r->stages.at[i]->kind == STAGE_MAP)
      scalar_loads(g->r->stages.at[i]->body, count_tile, g);
}

static struct product_tile operand_tile(struct planner *pl, struct product *g,
                                        const struct scalar *v, const struct expr *axis) {
  bool has_matrices = g->groups && g->groups->of_rows && axis == g->n;
  return product_tile_of_operand(pl, batch_value(pl->s, pl->x, g->batch, v), g->dtype,
                                 has_matrices ? g->groups->group : g->batch, axis, g->k);
}

// A load that needs no condition.
static void find_residual(struct planner *pl, struct product *g, const struct scalar *v) {
  if (v->kind == SCALAR_MASKED || g->residual)
    return;
  for (unsigned i = 0; i < scalar_arity(v); i++)
    find_residual(pl, g, v->in[i]);
  if (v->kind != SCALAR_LOAD || !v->buffer || region_maker(g->r, v->buffer))
    return;
  struct product_tile tile = product_tile_of_load(pl, v, g->batch, g->m, g->n);
  if (tile.buffer) {
    g->residual = v;
    g->residual_tile = tile;
  }
}

static bool straddles(const struct product_tile *t, enum dtype dtype) {
  enum { LINE = 128 };
  return !expr_is_multiple(t->stride, LINE * 8 / dtype_bits(dtype));
}

// The descriptors of a map exist before the kernel runs: their sizes are not 0.
static void find_tiles(struct planner *pl, struct product *g) {
  bool all = axis_extent(g->batch)->hi <= INT32_MAX && axis_extent(g->k)->lo >= 1 &&
             g->k == g->whole_k && (!g->groups || g->groups->of_rows);
  for (unsigned i = 0; i < g->count; i++) {
    g->a[i] = operand_tile(pl, g, g->left[i], g->m);
    g->b[i] = operand_tile(pl, g, g->right[i], g->n);
    all = all && g->a[i].buffer && g->b[i].buffer;
  }
  g->shape.has_tiles = g->shape.has_rows_of_k = all;
  for (unsigned i = 0; i < g->count; i++)
    g->shape.has_rows_of_k &= g->a[i].column_axis == g->k && g->b[i].column_axis == g->k;
  for (unsigned i = 0; i < g->count && all; i++) {
    g->shape.a_straddles |= straddles(&g->a[i], g->dtype);
    g->shape.b_straddles |= straddles(&g->b[i], g->dtype);
  }
  g->stores = arena_array(pl->arena, struct product_tile, g->epilogue.writes.len + 1);
  for (size_t i = 0; i < g->epilogue.writes.len && all; i++)
    find_residual(pl, g, g->epilogue.writes.at[i].body);
  for (size_t i = 0; i < g->epilogue.writes.len; i++)
    // A block of a group ends with it; tensor maps do not scatter.
    if (!g->groups && g->epilogue.writes.at[i].stage->kind != STAGE_SCATTER)
      g->stores[i] = product_tile_of_store(pl, &g->epilogue.writes.at[i], g->batch, g->m, g->n);
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
  g->groups = s->groups;
  g->is_batched = !expr_is(axis_extent(g->batch), 1);
  g->folds_batch = axis_extent(g->batch)->hi > PLAN_MAX_GRID;
  return true;
}

static void find_dtype(struct product *g) {
  g->dtype = operand_dtype(g->left[0], g->right[0], g->stages[0]->out->dtype);
  for (unsigned i = 1; i < g->count; i++)
    if (operand_dtype(g->left[i], g->right[i], g->stages[i]->out->dtype) != g->dtype)
      g->dtype = DTYPE_F32;
  if (g->dtype == DTYPE_F64)
    g->sum = DTYPE_F64;
}

// The epilogue, and the offsets of partial sums.
static void plan_epilogue(struct planner *pl, struct product *g) {
  g->epilogue = region_parts_of(pl->p, g->r);
  for (size_t i = 0; i < g->epilogue.writes.len; i++) {
    struct write_part *w = &g->epilogue.writes.at[i];
    w->offset = batch_offset(pl->s, pl->x, g->batch, w->offset);
    w->body = product_has_stage(g, w->stage) ? scalar_load(pl->s, w->buffer, w->offset)
                                             : batch_value(pl->s, pl->x, g->batch, w->body);
  }
}

// On a processor vectors run along the columns of a block. Results whose columns are apart, as
// those of convolutions with channels outside, are computed as the transposed product.
static void lay_out_for_vectors(struct planner *pl, struct product *g) {
  const struct expr *stride, *rest, *m = g->m;
  int64_t step;
  if (!plan_is_cpu(pl->o) || g->groups || g->k != g->whole_k || !g->epilogue.writes.len ||
      !expr_linear(pl->x, g->epilogue.writes.at[0].offset, g->n, &stride, &rest) ||
      !expr_is_const(stride, &step) || step <= 1)
    return;
  g->m = g->n;
  g->n = m;
  for (unsigned i = 0; i < g->count; i++) {
    const struct scalar *left = g->left[i];
    g->left[i] = g->right[i];
    g->right[i] = left;
  }
}

// ---- a split k ----

static const struct expr *offset_of_part(struct planner *pl, struct product *g) {
  struct exprs *x = pl->x;
  const struct expr *at = expr_add(x, expr_mul(x, g->part, axis_extent(g->batch)), g->batch);
  at = expr_add(x, expr_mul(x, at, axis_extent(g->m)), g->m);
  return batch_offset(pl->s, x, g->batch, expr_add(x, expr_mul(x, at, axis_extent(g->n)), g->n));
}

static void create_parts(struct planner *pl, struct product *g) {
  const struct expr *count = expr_const(pl->x, g->plan.split_k);
  g->part = expr_symbol(pl->x, "part", 0, g->plan.split_k - 1, count);
  const struct expr *sizes[4] = {count, axis_extent(g->batch), axis_extent(g->m),
                                 axis_extent(g->n)};
  g->parts = plan_temporary(pl->p, "parts", g->sum, expr_product(pl->x, sizes, 4));
  g->part_offset = offset_of_part(pl, g);
}

// ---- blocks of a persistent kernel that are split ----

static const struct expr *blocks_of(struct planner *pl, const struct product *g,
                                    const struct expr *block_m, const struct expr *block_n) {
  struct exprs *x = pl->x;
  return expr_mul(x, product_row_blocks(x, g, block_m), expr_cdiv(x, axis_extent(g->n), block_n));
}

// At most this many blocks are left over.
static const struct expr *most_split_blocks(struct planner *pl, const struct product *g,
                                            int64_t programs) {
  struct exprs *x = pl->x;
  const struct expr *blocks =
      expr_mul(x, axis_extent(g->batch),
               blocks_of(pl, g, expr_const(x, g->plan.block_m), expr_const(x, g->plan.block_n)));
  int64_t n;
  if (!expr_is_const(blocks, &n))
    return expr_min(x, blocks, expr_const(x, programs));
  int64_t launched = n * g->plan.split_k < programs ? n * g->plan.split_k : programs;
  return expr_const(x, launched ? n % launched : 0);
}

static void create_block_parts(struct planner *pl, struct product *g) {
  int64_t programs = (int64_t)g->plan.resident * plan_multiprocessors(pl->o), count = programs;
  int64_t elements = (int64_t)g->plan.split_k * g->plan.block_m * g->plan.block_n;
  const struct expr *most = most_split_blocks(pl, g, programs);
  expr_is_const(most, &count);
  g->parts = plan_temporary(pl->p, "parts", g->sum, expr_muli(pl->x, most, elements));
  plan_counters(pl->p, count ? count : 1);
}

// ---- kernels ----

// Loads of the products are known: they are the accumulators.
static void note_products_given(struct planner *pl, struct access_walk *w,
                                const struct product *g) {
  for (unsigned i = 0; i < g->count; i++) {
    const struct stage *s = g->stages[i];
    const struct scalar *load =
        scalar_load(pl->s, s->out, batch_offset(pl->s, pl->x, g->batch, s->offset));
    access_given(w, load);
    access_given(w, scalar_convert(pl->s, load, g->sum));
  }
}

static void note_accesses(struct planner *pl, struct kernel_plan *k) {
  const struct product *g = k->product->product;
  struct access_walk w = {.arena = pl->arena, .k = k};
  if (g->groups)
    access_any(&w, g->groups->end);
  for (unsigned i = 0; i < g->count && k->product->step != PRODUCT_SUM; i++) {
    access_any(&w, g->left[i]);
    access_any(&w, g->right[i]);
    if (g->scales[i])
      access_any(&w, g->scales[i]);
  }
  if (k->product->step == PRODUCT_PARTS) {
    access_store(&w, g->parts, g->part_offset);
    return;
  }
  if (k->product->step == PRODUCT_WHOLE && g->parts)
    access_buffer(&w, g->parts, true);
  if (g->parts)
    access_buffer(&w, g->parts, false);
  note_products_given(pl, &w, g);
  for (size_t i = 0; i < g->epilogue.writes.len; i++)
    access_write(&w, &g->epilogue.writes.at[i]);
}

// Programs for all blocks; of a persistent kernel, as many as multiprocessors hold.
static const struct expr *programs_of(struct planner *pl, const struct product *g,
                                      const struct expr *block_m, const struct expr *block_n,
                                      const struct expr *split) {
  struct exprs *x = pl->x;
  const struct expr *blocks = blocks_of(pl, g, block_m, block_n);
  if (!g->plan.resident)
    return blocks;
  blocks = expr_mul(x, blocks, axis_extent(g->batch));
  int64_t most = (int64_t)g->plan.resident * plan_multiprocessors(pl->o);
  return expr_min(x, split ? expr_mul(x, blocks, split) : blocks, expr_const(x, most));
}

static struct kernel_plan *kernel_of(struct planner *pl, const struct product *g,
                                     enum product_step step, const char *suffix, unsigned block_m,
                                     unsigned block_n, unsigned group_m) {
  struct kernel_plan *k = plan_kernel(pl->p, KERNEL_PRODUCT, g->r, suffix);
  struct product_kernel *kernel = arena_new(pl->arena, struct product_kernel);
  *kernel = (struct product_kernel){g, step, block_m, block_n, group_m};
  k->product = kernel;
  const struct expr *m = plan_constant(pl->p, k, "BLOCK_M", block_m),
                    *n = plan_constant(pl->p, k, "BLOCK_N", block_n);
  if (step != PRODUCT_SUM)
    plan_constant(pl->p, k, "BLOCK_K", g->plan.block_k);
  if (group_m > 1)
    plan_constant(pl->p, k, "GROUP_M", group_m);
  const struct expr *split = g->plan.resident && g->plan.split_k > 1
                                 ? plan_constant(pl->p, k, "SPLIT_K", g->plan.split_k)
                                 : NULL;
  k->grid[0] = programs_of(pl, g, m, n, split);
  k->grid[1] = g->plan.resident ? NULL : axis_extent(g->batch);
  k->grid[2] = step == PRODUCT_PARTS ? expr_const(pl->x, g->plan.split_k) : NULL;
  if (g->folds_batch && step != PRODUCT_SUM && !g->plan.resident) {
    k->grid[0] = expr_mul(pl->x, k->grid[0], k->grid[1]);
    k->grid[1] = NULL;
  }
  note_accesses(pl, k);
  return k;
}

enum { SUM_M = 4, SUM_N = 128, MOST_LAST_BLOCK_BYTES = 256 << 10, MOST_GROUPS = 4096 };

// Adds the partial sums in a kernel of its own.
static void plan_sum(struct planner *pl, const struct product *g) {
  struct kernel_plan *k = kernel_of(pl, g, PRODUCT_SUM, "sum", SUM_M, SUM_N, 1);
  k->num_warps = 4;
  k->bytes = expr_muli(pl->x, g->parts->numel, dtype_bytes(g->sum));
  k->flops = g->parts->numel;
  plan_launch(pl->p, k);
}

// Adds the partial sums in the last program of each block. False: too much work for one program.
static bool sum_in_last_block(struct planner *pl, const struct product *g, struct kernel_plan *k) {
  const struct product_plan *plan = &g->plan;
  struct exprs *x = pl->x;
  int64_t groups,
      bytes = (int64_t)plan->block_m * plan->block_n * plan->split_k * dtype_bytes(g->sum);
  const struct expr *m = expr_cdiv(x, axis_extent(g->m), expr_const(x, plan->block_m)),
                    *n = expr_cdiv(x, axis_extent(g->n), expr_const(x, plan->block_n));
  if (bytes > MOST_LAST_BLOCK_BYTES ||
      !expr_is_const(expr_mul(x, expr_mul(x, m, n), axis_extent(g->batch)), &groups) ||
      groups > MOST_GROUPS)
    return false;
  struct kernel_plan *sum =
      kernel_of(pl, g, PRODUCT_SUM, "sum", plan->block_m, plan->block_n, plan->group_m);
  return plan_last_block(pl->p, k, sum, groups,
                         g->is_batched ? "tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)"
                                       : "tl.program_id(0)",
                         "tl.num_programs(2)");
}

bool product_loads_residual(const struct product *g) {
  enum { MOST_BYTES = 32 << 10 }; // a slot in shared memory that leaves operands theirs
  return g->residual && g->plan.resident &&
         g->plan.block_m * g->plan.block_n * dtype_bytes(g->residual->dtype) <= MOST_BYTES;
}

// A persistent kernel with several results holds their tiles in shared memory beside the operands
// on their way, and so does one whose results, stored without a descriptor, are laid out for that
// beside a residual. Blocks of the tables leave room for one tile.
static void fit_stages(struct product *g) {
  enum { SHARED_BYTES = 224 << 10 }; // of a program, less what else it holds
  struct product_plan *p = &g->plan;
  uint64_t tile = (uint64_t)p->block_m * p->block_n, held = 0;
  uint64_t slot =
      (uint64_t)(p->block_m + g->count * p->block_n) * p->block_k * dtype_bits(g->dtype) / 8;
  bool lays_out = false;
  for (size_t i = 0; i < g->epilogue.writes.len; i++) {
    held += tile * dtype_bytes(g->epilogue.writes.at[i].buffer->dtype);
    lays_out |= !g->stores[i].buffer;
  }
  bool has_two = lays_out && product_loads_residual(g);
  held += has_two ? tile * dtype_bytes(g->residual->dtype) : 0;
  while (p->resident && (has_two || g->epilogue.writes.len > 1) && p->num_stages > 2 &&
         p->num_stages * slot + held > SHARED_BYTES)
    p->num_stages--;
}

bool plan_product(struct program *p, const struct region *r, const struct program_options *o) {
  struct planner planner = planner_of(p, r, o), *pl = &planner;
  struct product *g = arena_new(p->arena, struct product);
  g->r = r;
  g->rounds = o->rounds;
  if (!take_stages(g))
    return false;
  product_take_scales(pl, g);
  find_dtype(g);
  product_find_digits(pl, g);
  plan_epilogue(pl, g);
  lay_out_for_vectors(pl, g);
  find_shape(pl->x, g);
  find_tiles(pl, g);
  g->plan = product_choose(&g->shape, o);
  fit_stages(g);
  assert(is_pow2(g->plan.block_m) && is_pow2(g->plan.block_n) && is_pow2(g->plan.block_k));
  assert(g->plan.split_k >= 1 && g->plan.group_m >= 1);
  bool splits = g->plan.split_k > 1 && !g->plan.resident, sums_later = false;
  if (splits)
    create_parts(pl, g);
  else if (g->plan.split_k > 1)
    create_block_parts(pl, g);
  struct kernel_plan *k = kernel_of(pl, g, splits ? PRODUCT_PARTS : PRODUCT_WHOLE, NULL,
                                    g->plan.block_m, g->plan.block_n, g->plan.group_m);
  if (splits && !sum_in_last_block(pl, g, k)) {
    sums_later = true;
    k->suffix = "parts";
  }
  const struct expr *extents[3] = {axis_extent(g->m), axis_extent(g->n), axis_extent(g->k)};
  k->num_warps = g->plan.num_warps;
  k->num_stages = g->plan.num_stages;
  k->num_ctas = g->plan.num_ctas;
  k->is_alone = g->plan.resident == 1;
  k->space = product_space(pl->arena, extents, &g->shape, &g->plan, o);
  if (dtype_bits(g->dtype) <= 16 && !g->plan.resident) // more warps would leave registers to spill
    k->sums.tiles = g->count;
  plan_launch(p, k);
  if (sums_later)
    plan_sum(pl, g);
  return true;
}
