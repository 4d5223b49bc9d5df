// SPDX-License-Identifier: Apache-2.0
// Shared by the files that print rows kernels.
#ifndef TILE_GRAPH_EMIT_ROWS_WRITER_H
#define TILE_GRAPH_EMIT_ROWS_WRITER_H

#include "graph/emit/graph_emit.h"
#include "graph/plan/rows_plan.h"

struct row_writer {
  struct emitter *e;
  const struct rows_kernel *k;
  const struct rows *s;
  const char **names;   // of results, by reduction
  bool is_row;          // one x per program: tiles have one dimension
  const char *along;    // axis arguments of reductions
  const char *within;   // arguments within a lane; NULL: no lanes
  const char *across;   // arguments across the iterations of a lane; NULL: there is one
  const char *shape;    // of a tile; with lanes, of accumulators
  const char *block;    // of r, as printed
  const char *brackets; // subscript for values along r
  const char *brackets_x;
  bool has_r_mask;
  unsigned r_axis; // of the emitter's axes
  uint32_t x_bit, r_bit;
  unsigned level; // the scope that defines x
};

// ---- the kernel (graph/emit/rows_writer.c) ----
struct row_writer row_writer_begin(struct emitter *e, const struct rows_kernel *k);
void row_writer_x(struct row_writer *w);
void row_writer_r(struct row_writer *w);
void row_writer_count(struct row_writer *w); // counts uses of all expression trees
// A pass over the row, or over this program's part of it: calls `body` for each block.
typedef void row_body(struct row_writer *w, unsigned level);
void row_writer_pass(struct row_writer *w, bool backwards, row_body *body, unsigned level);
void row_writer_stores(struct row_writer *w, unsigned level, bool full);
row_body row_writer_full_stores;

// ---- operations of reductions (graph/emit/reduce_text.c) ----
const char *reduce_neutral(struct emitter *e, const struct row_reduction *d);
// Combines `of` along an axis of the tile. For argmax and argmin: a pair of names.
const char *reduce_tile(struct emitter *e, const struct row_reduction *d, const char *of,
                        const char *along);
const char *reduce_two(struct emitter *e, const struct row_reduction *d, const char *a,
                       const char *b);
// Is v 0 beyond the extent, given that masked loads are 0?
bool reduce_keeps_zero(const struct scalar *v, const struct expr *axis);

// ---- reductions (graph/emit/rows_accumulate.c) ----
const char **row_writer_result(const struct row_writer *w, const struct row_reduction *d);
// Binds the result of a reduction to a name.
void row_writer_know(struct row_writer *w, const struct row_reduction *d, const char *name);
// The names of a result and of the accumulator of a reduction.
const char *row_writer_name(struct row_writer *w, const char *base, const struct row_reduction *d);
// Reduces a row that is one tile.
void row_writer_reduce(struct row_writer *w, const struct row_reduction *d);
// A partial result of a reduction over x: the program's rows, reduced to a scalar. Its text.
const char *row_writer_share(struct row_writer *w, const struct row_reduction *d);
// The partial results of a chunk, which is one tile; they are combined later.
void row_writer_reduce_chunk(struct row_writer *w, const struct row_reduction *d);
// One level of reductions, by a pass over `n` elements.
void row_writer_reduce_level(struct row_writer *w, unsigned level, const char *n);
// Reduces the accumulators to the result's name.
void row_writer_finish(struct row_writer *w, const struct row_reduction *d, const char *n);

// ---- splits (graph/emit/rows_split.c) ----
void rows_put_split(struct row_writer *w);
void rows_put_combine(struct row_writer *w);
// Stores the partial result of a part of a row.
void row_writer_put_part(struct row_writer *w, const struct row_reduction *d);
// Combines the partial results of the levels before `level`.
void row_writer_load_parts(struct row_writer *w, unsigned level, const char *n);
// The same in two steps, to overlap the loads of the parts with other work.
void row_writer_fetch_parts(struct row_writer *w, unsigned level);
void row_writer_combine_parts(struct row_writer *w, unsigned level, const char *n);

// ---- work queues (graph/emit/rows_queue.c) ----
void rows_put_chunks(struct row_writer *w);

#endif
