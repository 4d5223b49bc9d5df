// SPDX-License-Identifier: Apache-2.0
// Prints persistent products: the loop of graph/emit/emit_product.c by tensor descriptors
// (graph/emit/emit_tiles.h), in a loop over the blocks of a program. Blocks that are left over when
// each program has computed as many as the others may be split along k:
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
#include "graph/emit/emit_tiles.h"
#include "graph/emit/product_writer.h"

static bool splits_blocks(struct product_writer *w) {
  return w->g->plan.resident && w->g->plan.split_k > 1;
}

static const char *loop_header(struct product_writer *w) {
  if (w->g->groups)
    return "for k0 in range(0, k_end, BLOCK_K):";
  if (splits_blocks(w))
    return "for k0 in range(k_first, k_end, BLOCK_K):";
  return arena_printf(w->e->arena,
                      "for k0 in range(0, %s, BLOCK_K):", emit_extent(w->e, axis_extent(w->g->k)));
}

// ---- blocks through descriptors: elements outside of the matrices are zeros ----

static const char *tiles_name(struct product_writer *w, const char *of, unsigned i) {
  return arena_printf(w->e->arena, "%s_tiles", product_numbered(w, of, i));
}

static const char *store_name(struct product_writer *w, size_t i) {
  return arena_printf(w->e->arena, "%s_tiles", emit_buffer(w->e, w->g->stores[i].buffer));
}

static bool same_tile(const struct product_tile *x, const struct product_tile *y) {
  if (x->outer_count != y->outer_count)
    return false;
  for (unsigned i = 0; i < x->outer_count; i++)
    if (x->outer[i].index != y->outer[i].index || x->outer[i].stride != y->outer[i].stride)
      return false;
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

// The tile that is loaded through a descriptor, while the product is computed; NULL: none.
static const struct scalar *residual_of(struct product_writer *w) {
  return product_loads_residual(w->g) ? w->g->residual : NULL;
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
  product_write_sums(w);
  emit_open(e, loop_header(w));
  product_write_scales(w);
  for (unsigned i = 0; i < g->count; i++) {
    unsigned a = first_with(g->a, i), b = first_with(g->b, i);
    if (a == i)
      emit_line(e, w->level + 1, "%s = %s", product_numbered(w, "a", i),
                tile_load_text(e, g, &g->a[i], tiles_name(w, "a", i), g->m));
    if (b == i)
      emit_line(e, w->level + 1, "%s = %s", product_numbered(w, "b", i),
                tile_load_text(e, g, &g->b[i], tiles_name(w, "b", i), g->k));
    product_write_dot(w, i, product_numbered(w, "a", a), product_numbered(w, "b", b));
  }
  emit_close(e);
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
      emit_write(w->e, part);
  }
}

// ---- batches, and blocks that are split ----

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
  product_write_row_blocks(w);
  const char *row_blocks = product_has_groups_of_rows(w)
                               ? "row_blocks"
                               : arena_printf(e->arena, "tl.cdiv(%s, BLOCK_M)", m);
  emit_line(e, 0, "%s = %s * tl.cdiv(%s, BLOCK_N)", w->g->is_batched ? "tiles" : "blocks",
            row_blocks, n);
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
void emit_persistent_product(struct product_writer *w) {
  struct emitter *e = w->e;
  emit_descriptors(w);
  open_blocks(w);
  w->level = 1;
  if (splits_blocks(w))
    write_part(w);
  product_write_block(w, write_batch_of(w, splits_blocks(w) ? "block" : "pid"));
  product_write_result_axes(w);
  emit_early_loads(w);
  emit_tile_loop(w);
  load_residual(w);
  if (splits_blocks(w)) {
    write_parts(w);
    emit_open(e, "if done:");
    w->level = 2;
  }
  for (unsigned i = 0; i < w->g->count; i++)
    product_give_sum(w, i);
  emit_tile_stores(w);
  if (splits_blocks(w))
    emit_close(e);
  emit_close(e);
  product_emit_sizes(w);
}
