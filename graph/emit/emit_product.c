// SPDX-License-Identifier: Apache-2.0
// Prints matrix products: each program computes a block of the result by a loop over k with
// pipelined loads; the epilogue uses the accumulator while it is in registers.
//
//   for k0 in range(0, 4096, BLOCK_K):
//       acc = tl.dot(tl.load(in0 + (4096*row + ka)), tl.load(in1 + (4096*column + kb)), acc)
//   tl.store(out0 + (11008*m + n), gelu(acc + tl.load(in2 + n)))
//
// A persistent kernel has a loop over its blocks around this, and tensor descriptors
// (graph/emit/emit_tiles.h). Blocks that are left over when each program has computed as many as
// the others may be split along k:
//
//   whole = blocks // tl.num_programs(0) * tl.num_programs(0)
//   for pid in tl.range(tl.program_id(0), whole + (blocks - whole) * SPLIT_K, tl.num_programs(0)):
//       ...                                          acc: of part * share <= k0 < k_end
//       done = True
//       if pid >= whole:                             parts[part, block] = acc
//           done = tl.atomic_add(count, 1) == SPLIT_K - 1
//           if done:                                 acc = the sum of the parts, in their order
//               ...
//       if done:                                     the epilogue
#include "graph/emit/emit_operand.h"
#include "graph/emit/emit_tiles.h"
#include "graph/emit/graph_emit.h"
#include "graph/plan/product_plan.h"

struct product_writer {
  const struct product *g;
  const struct product_kernel *k;
  struct exprs *x;
  struct scalars *s;
  struct emitter *e;
  unsigned level; // the scope of a block: 1 in a persistent kernel
};

static bool divides(const struct expr *axis, unsigned block) {
  return expr_is_multiple(axis_extent(axis), block);
}

// ---- program ids ----

static void write_batch(struct product_writer *w) {
  struct emitter *e = w->e;
  if (w->g->folds_batch) {
    const char *m = emit_extent(e, axis_extent(w->g->m)), *n = emit_extent(e, axis_extent(w->g->n));
    emit_line(e, 0, "programs = tl.cdiv(%s, BLOCK_M) * tl.cdiv(%s, BLOCK_N)", m, n);
    emit_line(e, 0, "pid = tl.program_id(0) %% programs");
    emit_line(e, 0, "batch = tl.program_id(0) // programs");
  } else {
    emit_line(e, 0, "pid = tl.program_id(0)");
    if (w->g->is_batched)
      emit_line(e, 0, "batch = tl.program_id(1)");
  }
  if (w->g->is_batched)
    emit_axis(e, w->g->batch, "batch", NULL, 0);
}

static void write_block(struct product_writer *w, const char *pid) {
  struct emitter *e = w->e;
  const char *m = emit_extent(e, axis_extent(w->g->m)), *n = emit_extent(e, axis_extent(w->g->n));
  // Sizes may have 64 bits; offsets of descriptors have 32.
  const char *open = "", *close = "";
  if (w->g->plan.resident &&
      !(expr_is_const(axis_extent(w->g->m), NULL) && expr_is_const(axis_extent(w->g->n), NULL) &&
        expr_is_const(axis_extent(w->g->batch), NULL)))
    open = "(", close = ").to(tl.int32)";
  if (w->k->group_m > 1) {
    emit_line(e, w->level,
              "# Programs that run side by side share rows and columns: they go down GROUP_M");
    emit_line(e, w->level, "# blocks, then one to the right.");
    emit_line(e, w->level, "width = GROUP_M * tl.cdiv(%s, BLOCK_N)", n);
    emit_line(e, w->level, "first = %s // width * GROUP_M", pid);
    emit_line(e, w->level, "height = min(tl.cdiv(%s, BLOCK_M) - first, GROUP_M)", m);
    emit_line(e, w->level, "m_first = %s(first + %s %% width %% height) * BLOCK_M%s", open, pid,
              close);
    emit_line(e, w->level, "n_first = %s%s %% width // height * BLOCK_N%s", open, pid, close);
  } else {
    emit_line(e, w->level, "m_first = %s%s // tl.cdiv(%s, BLOCK_N) * BLOCK_M%s", open, pid, n,
              close);
    emit_line(e, w->level, "n_first = %s%s %% tl.cdiv(%s, BLOCK_N) * BLOCK_N%s", open, pid, n,
              close);
  }
}

// An axis of the result: with a mask unless the block divides its extent.
static void write_axis(struct product_writer *w, const struct expr *axis, const char *name,
                       const char *block, const char *shape, bool is_whole) {
  struct emitter *e = w->e;
  emit_line(e, w->level, "%s = (%s_first + tl.arange(0, %s))%s%s", name, name, block,
            emit_axis_is_wide(axis) ? ".to(tl.int64)" : "", shape);
  const char *mask =
      is_whole ? NULL
               : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, axis_extent(axis)));
  emit_axis(e, axis, name, mask, w->level);
}

static void write_result_axes(struct product_writer *w) {
  write_axis(w, w->g->m, "m", "BLOCK_M", "[:, None]", divides(w->g->m, w->k->block_m));
  write_axis(w, w->g->n, "n", "BLOCK_N", "[None, :]", divides(w->g->n, w->k->block_n));
}

// ---- the loop over k ----

// Rows and columns beyond the end wrap around to existing ones: their results are not stored, and
// the loop needs no masks for them.
static const struct expr *wrapped(struct product_writer *w, const struct expr *axis,
                                  const char *name, const char *of, unsigned block) {
  const struct expr *t = emit_axis_alias(w->e, axis, name);
  if (!divides(axis, block))
    emit_line(w->e, w->level, "%s = %s %% %s", name, of, emit_extent(w->e, axis_extent(axis)));
  emit_axis(w->e, t, divides(axis, block) ? of : name, NULL, w->level);
  return t;
}

static const struct expr *inner_axis(struct product_writer *w, const char *name,
                                     const char *shape) {
  struct emitter *e = w->e;
  const struct expr *t = emit_axis_alias(w->e, w->g->k, name);
  emit_line(e, 1, "%s = k0 + tl.arange(0, BLOCK_K)%s", name, shape);
  const char *mask =
      divides(w->g->k, w->g->plan.block_k)
          ? NULL
          : arena_printf(e->arena, "(%s < %s)", name, emit_extent(e, axis_extent(w->g->k)));
  emit_axis(e, t, name, mask, 1);
  return t;
}

static const char *loop_header(struct product_writer *w) {
  struct emitter *e = w->e;
  const char *end = emit_extent(e, axis_extent(w->g->k));
  if (w->g->plan.split_k > 1 && w->g->plan.resident)
    return "for k0 in range(k_first, k_end, BLOCK_K):";
  if (w->g->plan.split_k == 1)
    return arena_printf(e->arena, "for k0 in range(0, %s, BLOCK_K):", end);
  // Each part of k is a number of whole blocks.
  const struct expr *block = expr_const(w->x, w->g->plan.block_k), *k = axis_extent(w->g->k),
                    *blocks = expr_cdiv(w->x, k, expr_muli(w->x, block, w->g->plan.split_k));
  const char *share = "share";
  if (expr_is_const(blocks, NULL))
    share = emit_extent(e, expr_mul(w->x, blocks, block));
  else
    emit_line(e, 0, "share = %s", emit_extent(e, expr_mul(w->x, blocks, block)));
  if (expr_is_multiple(k, w->g->plan.split_k * (int64_t)w->g->plan.block_k))
    return arena_printf(e->arena, "for k0 in range(part * %s, (part + 1) * %s, BLOCK_K):", share,
                        share);
  return arena_printf(e->arena,
                      "for k0 in range(part * %s, min((part + 1) * %s, %s), BLOCK_K):", share,
                      share, end);
}

static const char *sum_name(struct product_writer *w, unsigned i) {
  return w->g->count == 1 ? "acc" : arena_printf(w->e->arena, "acc%u", i);
}

static const char *precision(struct product_writer *w) {
  return w->g->dtype == DTYPE_F32 ? ", input_precision=\"ieee\"" : "";
}

static const char *numbered(struct product_writer *w, const char *name, unsigned i) {
  return w->g->count == 1 ? name : arena_printf(w->e->arena, "%s%u", name, i);
}

static void write_sums(struct product_writer *w) {
  for (unsigned i = 0; i < w->g->count; i++)
    emit_line(w->e, w->level, "%s = tl.zeros([BLOCK_M, BLOCK_N], %s)", sum_name(w, i),
              emit_type(w->g->sum));
}

static void write_dot(struct product_writer *w, unsigned i, const char *a, const char *b) {
  emit_line(w->e, w->level + 1, "%s = tl.dot(%s, %s, %s%s)", sum_name(w, i), a, b, sum_name(w, i),
            precision(w));
}

static void emit_loop(struct product_writer *w) {
  struct emitter *e = w->e;
  const struct expr *row = wrapped(w, w->g->m, "row", "m", w->g->plan.block_m);
  const struct expr *column = wrapped(w, w->g->n, "column", "n", w->g->plan.block_n);
  write_sums(w);
  emit_open(e, loop_header(w));
  const struct expr *ka = inner_axis(w, "ka", "[None, :]"), *kb = inner_axis(w, "kb", "[:, None]");
  const struct expr *from[3] = {w->g->m, w->g->n, w->g->k}, *to_a[3] = {row, column, ka},
                    *to_b[3] = {row, column, kb};
  const struct scalar *a[MOST_PRODUCTS], *b[MOST_PRODUCTS];
  for (unsigned i = 0; i < w->g->count; i++) {
    a[i] = batch_value(w->s, w->x, w->g->batch,
                       scalar_substitute(w->s, w->g->stages[i]->a, 3, from, to_a));
    b[i] = batch_value(w->s, w->x, w->g->batch,
                       scalar_substitute(w->s, w->g->stages[i]->b, 3, from, to_b));
    emit_count(e, a[i]);
    emit_count(e, b[i]);
  }
  const char *x = NULL, *y = NULL;
  for (unsigned i = 0; i < w->g->count; i++) {
    if (i == 0 || a[i] != a[i - 1]) {
      const char *text = operand_text(e, a[i], w->g->dtype, row, ka, ka, "[BLOCK_M, BLOCK_K]");
      x = numbered(w, "a", i);
      emit_line(e, 1, "%s = %s", x, text);
    }
    if (i == 0 || b[i] != b[i - 1]) {
      const char *text = operand_text(e, b[i], w->g->dtype, kb, column, kb, "[BLOCK_K, BLOCK_N]");
      y = numbered(w, "b", i);
      emit_line(e, 1, "%s = %s", y, text);
    }
    write_dot(w, i, x, y);
  }
  emit_close(e);
}

// ---- the same through descriptors: elements outside of the matrices are zeros ----

static const char *tiles_name(struct product_writer *w, const char *of, unsigned i) {
  return arena_printf(w->e->arena, "%s_tiles", numbered(w, of, i));
}

static const char *store_name(struct product_writer *w, size_t i) {
  return arena_printf(w->e->arena, "%s_tiles", emit_buffer(w->e, w->g->stores[i].buffer));
}

static bool same_tile(const struct product_tile *x, const struct product_tile *y) {
  return x->buffer == y->buffer && x->start == y->start && x->row_axis == y->row_axis &&
         x->stride == y->stride;
}

// The number of the first product with this operand.
static unsigned first_with(const struct product_tile *tiles, unsigned i) {
  unsigned first = 0;
  while (!same_tile(&tiles[first], &tiles[i]))
    first++;
  return first;
}

enum { MOST_RESIDUAL_BYTES = 32 << 10 }; // a slot in shared memory that leaves operands theirs

// The tile that is loaded through a descriptor, while the product is computed; NULL: none.
static const struct scalar *residual_of(struct product_writer *w) {
  const struct product *g = w->g;
  if (!g->residual ||
      g->plan.block_m * g->plan.block_n * dtype_bytes(g->residual->dtype) > MOST_RESIDUAL_BYTES)
    return NULL;
  return g->residual;
}

static void emit_descriptors(struct product_writer *w) {
  const struct product *g = w->g;
  for (unsigned i = 0; i < g->count; i++) {
    if (first_with(g->a, i) == i)
      emit_descriptor(w->e, g, &g->a[i], tiles_name(w, "a", i));
    if (first_with(g->b, i) == i)
      emit_descriptor(w->e, g, &g->b[i], tiles_name(w, "b", i));
  }
  for (size_t i = 0; i < g->epilogue.writes.len; i++)
    if (g->stores[i].buffer) {
      emit_writes(w->e, g->stores[i].buffer);
      emit_descriptor(w->e, g, &g->stores[i], store_name(w, i));
    }
  if (residual_of(w))
    emit_descriptor(w->e, g, &g->residual_tile, "residual_tiles");
}

static void emit_tile_loop(struct product_writer *w) {
  const struct product *g = w->g;
  struct emitter *e = w->e;
  write_sums(w);
  emit_open(e, loop_header(w));
  for (unsigned i = 0; i < g->count; i++) {
    unsigned a = first_with(g->a, i), b = first_with(g->b, i);
    if (a == i)
      emit_line(e, w->level + 1, "%s = %s", numbered(w, "a", i),
                tile_load_text(e, g, &g->a[i], tiles_name(w, "a", i), g->m));
    if (b == i)
      emit_line(e, w->level + 1, "%s = %s", numbered(w, "b", i),
                tile_load_text(e, g, &g->b[i], tiles_name(w, "b", i), g->k));
    write_dot(w, i, numbered(w, "a", a), numbered(w, "b", b));
  }
  emit_close(e);
}

// ---- the epilogue ----

// The epilogue refers to a product by a load of its buffer.
static void give_sum(struct product_writer *w, unsigned i) {
  struct emitter *e = w->e;
  const struct stage *s = w->g->stages[i];
  uint32_t axes =
      emit_index_axes(e, w->g->batch) | emit_index_axes(e, w->g->m) | emit_index_axes(e, w->g->n);
  const struct scalar *load =
      scalar_load(w->s, s->out, batch_offset(w->s, w->x, w->g->batch, s->offset));
  emit_given_result(e, load, w->g->sum, w->g->rounds, sum_name(w, i), axes, w->level);
}

// Other loads of the epilogue that nothing guards are issued before the loop over k, which hides
// their latency: at most one as large as the block.
static void load_early(struct product_writer *w, const struct scalar *v, unsigned *tiles) {
  if (v->kind == SCALAR_MASKED)
    return;
  for (unsigned i = 0; i < scalar_arity(v); i++)
    load_early(w, v->in[i], tiles);
  if (v->kind != SCALAR_LOAD || !v->buffer || region_maker(w->g->r, v->buffer) ||
      v == residual_of(w))
    return;
  uint32_t axes = emit_index_axes(w->e, v->index), m = emit_index_axes(w->e, w->g->m),
           n = emit_index_axes(w->e, w->g->n);
  if ((axes & m) && (axes & n) && (*tiles)++)
    return;
  emit_value(w->e, v);
}

static void emit_early_loads(struct product_writer *w) {
  const struct region_parts *parts = &w->g->epilogue;
  unsigned tiles = 0;
  emit_count_epilogue(w->e, parts);
  for (size_t i = 0; i < parts->writes.len; i++)
    load_early(w, parts->writes.at[i].body, &tiles);
}

static void load_residual(struct product_writer *w) {
  const struct scalar *v = residual_of(w);
  struct emitter *e = w->e;
  if (!v)
    return;
  uint32_t axes = emit_index_axes(e, w->g->m) | emit_index_axes(e, w->g->n);
  emit_line(e, w->level, "tile = %s",
            tile_load_text(e, w->g, &w->g->residual_tile, "residual_tiles", w->g->m));
  emit_given(e, v, "tile", axes, w->level);
}

// Blocks of the results, by descriptors where they are matrices.
static void emit_tile_stores(struct product_writer *w) {
  const struct region_parts *parts = &w->g->epilogue;
  for (size_t i = 0; i < parts->writes.len; i++) {
    const struct write_part *part = &parts->writes.at[i];
    if (w->g->stores[i].buffer)
      emit_tile_store(w->e, w->g, &w->g->stores[i], store_name(w, i), part);
    else
      emit_store_value(w->e, part->buffer, part->offset, part->body);
  }
}

// ---- split-K ----

static void store_part(struct product_writer *w) {
  struct emitter *e = w->e;
  uint32_t axes = emit_index_axes(e, w->g->m) | emit_index_axes(e, w->g->n);
  emit_store_name(e, w->g->parts, w->g->part_offset, "acc", axes);
}

// Adds the partial sums, in a fixed order.
static void put_sum_of_parts(struct product_writer *w) {
  struct emitter *e = w->e;
  emit_line(e, 0, "acc = tl.zeros([BLOCK_M, BLOCK_N], %s)", emit_type(w->g->sum));
  emit_open(e, arena_printf(e->arena, "for part in tl.static_range(%u):", w->g->plan.split_k));
  emit_axis(e, w->g->part, "part", NULL, 1);
  const struct scalar *one = scalar_load(w->s, w->g->parts, w->g->part_offset);
  emit_count(e, one);
  const char *text = emit_operand(e, one, PREC_SUM);
  emit_line(e, 1, "acc += %s", text);
  emit_close(e);
}

// ---- the kernel ----

static void emit_sizes_of(struct product_writer *w) {
  emit_sizes(w->e, axis_extent(w->g->m));
  emit_sizes(w->e, axis_extent(w->g->n));
  emit_sizes(w->e, axis_extent(w->g->batch));
}

// ---- the same of blocks of a persistent kernel ----

static bool splits_blocks(struct product_writer *w) {
  return w->g->plan.resident && w->g->plan.split_k > 1;
}

// Are there sizes that the launch gives? They may have 64 bits, and what is computed from them.
static bool has_sizes(struct product_writer *w) {
  const struct product *g = w->g;
  const struct expr *axes[] = {g->batch, g->m, g->n, g->k};
  for (size_t i = 0; i < COUNT_OF(axes); i++)
    if (!expr_is_const(axis_extent(axes[i]), NULL))
      return true;
  return false;
}

// An offset of a descriptor, which has 32 bits.
static const char *narrow(struct product_writer *w, const char *text) {
  return has_sizes(w) ? arena_printf(w->e->arena, "(%s).to(tl.int32)", text) : text;
}

// The matrix that a block belongs to, and its number there.
static const char *write_batch_of(struct product_writer *w, const char *pid) {
  struct emitter *e = w->e;
  if (!w->g->is_batched)
    return pid;
  const char *batch = arena_printf(e->arena, "%s // tiles", pid);
  emit_line(e, 1, "batch = %s", emit_axis_is_wide(w->g->batch) ? batch : narrow(w, batch));
  emit_axis(e, w->g->batch, "batch", NULL, 1);
  return arena_printf(e->arena, "(%s %% tiles)", pid);
}

// Which block and which part of k; all of k if the block is not split.
static void write_part(struct product_writer *w) {
  struct emitter *e = w->e;
  const struct expr *extent = axis_extent(w->g->k);
  const char *k = emit_extent(e, extent);
  emit_line(e, 1, "part = max(pid - whole, 0) // max(rest, 1)");
  emit_line(e, 1, "block = pid - part * rest");
  emit_line(e, 1, "k_first = %s", narrow(w, "part * share"));
  emit_line(e, 1, "k_end = %s", expr_is_const(extent, NULL) ? k : narrow(w, k));
  emit_line(e, 1, "if pid >= whole:");
  emit_line(e, 1, "    k_end = min(k_first + share, %s)%s", k, has_sizes(w) ? ".to(tl.int32)" : "");
}

// Stores the part. The last program of a block adds its parts up in their order, so that the sum
// does not depend on which one is last, and resets the counter for the next launch.
static void write_parts(struct product_writer *w) {
  struct emitter *e = w->e;
  struct buffer *parts = w->g->parts;
  emit_writes(e, parts);
  emit_writes(e, e->p->counters);
  const char *at = emit_buffer(e, parts), *count = emit_buffer(e, e->p->counters);
  emit_line(e, 1, "done = True");
  emit_line(e, 1, "if pid >= whole:");
  emit_line(e, 1, "    slot = block - whole");
  emit_line(e, 1, "    at = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)");
  emit_line(e, 1, "    tl.store(%s + ((part * rest + slot) * (BLOCK_M * BLOCK_N) + at), acc)", at);
  emit_line(e, 1, "    tl.debug_barrier()");
  emit_line(e, 1, "    done = tl.atomic_add(%s + slot, 1) == SPLIT_K - 1", count);
  emit_line(e, 1, "    if done:");
  emit_line(e, 1, "        acc = tl.zeros([BLOCK_M, BLOCK_N], %s)", emit_type(w->g->sum));
  emit_line(e, 1, "        for p in tl.range(0, SPLIT_K):");
  emit_line(e, 1, "            acc += tl.load(%s + ((p * rest + slot) * (BLOCK_M * BLOCK_N) + at))",
            at);
  emit_line(e, 1, "        tl.store(%s + slot, 0)", count);
}

// ---- persistent kernels ----

// The loop over blocks, or over parts of them.
static void open_blocks(struct product_writer *w) {
  struct emitter *e = w->e;
  const char *m = emit_extent(e, axis_extent(w->g->m)), *n = emit_extent(e, axis_extent(w->g->n));
  emit_line(e, 0, "%s = tl.cdiv(%s, BLOCK_M) * tl.cdiv(%s, BLOCK_N)",
            w->g->is_batched ? "tiles" : "blocks", m, n);
  if (w->g->is_batched)
    emit_line(e, 0, "blocks = tiles * %s", emit_extent(e, axis_extent(w->g->batch)));
  if (!splits_blocks(w)) {
    emit_open(e, "for pid in tl.range(tl.program_id(0), blocks, tl.num_programs(0)):");
    return;
  }
  const char *k = emit_extent(e, axis_extent(w->g->k));
  emit_line(e, 0, "# Blocks that are left over when each program has computed as many as the");
  emit_line(e, 0, "# others are split along k.");
  emit_line(e, 0, "whole = blocks // tl.num_programs(0) * tl.num_programs(0)");
  emit_line(e, 0, "rest = blocks - whole");
  emit_line(e, 0, "share = tl.cdiv(%s, BLOCK_K * SPLIT_K) * BLOCK_K", k);
  emit_line(e, 0, "all = whole + rest * SPLIT_K");
  emit_open(e, "for pid in tl.range(tl.program_id(0), all, tl.num_programs(0)):");
}

// A program computes every num_programs-th block.
static void emit_persistent(struct product_writer *w) {
  struct emitter *e = w->e;
  emit_descriptors(w);
  open_blocks(w);
  w->level = 1;
  if (splits_blocks(w))
    write_part(w);
  write_block(w, write_batch_of(w, splits_blocks(w) ? "block" : "pid"));
  write_result_axes(w);
  emit_early_loads(w);
  emit_tile_loop(w);
  load_residual(w);
  if (splits_blocks(w)) {
    write_parts(w);
    emit_open(e, "if done:");
    w->level = 2;
  }
  for (unsigned i = 0; i < w->g->count; i++)
    give_sum(w, i);
  emit_tile_stores(w);
  if (splits_blocks(w))
    emit_close(e);
  emit_close(e);
  emit_sizes_of(w);
}

void emit_product_kernel(struct emitter *e, const struct product_kernel *k) {
  struct product_writer writer = {.g = k->product, .k = k, .x = e->x, .s = e->s, .e = e},
                        *w = &writer;
  if (w->g->plan.resident) {
    emit_persistent(w);
    return;
  }
  write_batch(w);
  if (k->step == PRODUCT_PARTS) {
    emit_line(e, 0, "part = tl.program_id(2)");
    emit_axis(e, w->g->part, "part", NULL, 0);
  }
  write_block(w, "pid");
  write_result_axes(w);
  if (k->step == PRODUCT_SUM)
    put_sum_of_parts(w);
  else
    emit_loop(w);
  for (unsigned i = 0; i < w->g->count && k->step != PRODUCT_PARTS; i++)
    give_sum(w, i);
  if (k->step == PRODUCT_PARTS)
    store_part(w);
  else
    emit_epilogue(e, &w->g->epilogue);
  if (k->step != PRODUCT_SUM)
    emit_sizes_of(w);
}
