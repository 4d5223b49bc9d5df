// SPDX-License-Identifier: Apache-2.0
// What the files that write kernels over rows share: the kernel while it is written.
#ifndef TILE_GRAPH_EMIT_ROWS_WRITER_H
#define TILE_GRAPH_EMIT_ROWS_WRITER_H

#include "graph/emit/graph_emit.h"
#include "graph/plan/rows_plan.h"

struct row_writer {
  struct emitter *e;
  const struct rows_kernel *k;
  const struct rows *s;
  const char **names;   // of results, by reduction
  bool is_row;          // one x a program: a tile has one dimension
  const char *along;    // arguments of reductions
  const char *within;   // arguments of those in a lane; NULL: has no lanes
  const char *across;   // ... and of those of its iterations; NULL: there is one
  const char *shape;    // of a tile; with lanes, of accumulators
  const char *block;    // of r, as it is written
  const char *brackets; // behind what varies along r
  const char *brackets_x;
  bool has_r_mask;
  unsigned r_axis; // of the emitter's axes
  uint32_t x_bit, r_bit;
  unsigned level; // the scope that knows x
};

// ---- the kernel (graph/emit/rows_writer.c) ----
struct row_writer row_writer_begin(struct emitter *e, const struct rows_kernel *k);
void row_writer_x(struct row_writer *w);
void row_writer_r(struct row_writer *w);
void row_writer_count(struct row_writer *w); // uses of all expression trees
// A pass over the row, or over this program's part of it: `body` for each block.
typedef void row_body(struct row_writer *w, unsigned level);
void row_writer_pass(struct row_writer *w, bool backwards, row_body *body, unsigned level);
void row_writer_stores(struct row_writer *w, unsigned level, bool full);
row_body row_writer_full_stores;

// ---- operations of reductions (graph/emit/reduce_text.c) ----
const char *reduce_neutral(struct emitter *e, const struct row_reduction *d);
// `of` combined along an axis of the tile. Offsets of extremes: a pair of names.
const char *reduce_tile(struct emitter *e, const struct row_reduction *d, const char *of,
                        const char *along);
const char *reduce_two(struct emitter *e, const struct row_reduction *d, const char *a,
                       const char *b);
// Is v 0 outside of the axis, where loads along it give 0?
bool reduce_keeps_zero(const struct scalar *v, const struct expr *axis);

// ---- reductions (graph/emit/rows_accumulate.c) ----
const char **row_writer_result(const struct row_writer *w, const struct row_reduction *d);
// The names of a result and of the accumulator of a reduction.
const char *row_writer_name(struct row_writer *w, const char *base, const struct row_reduction *d);
// A row that is a tile.
void row_writer_reduce(struct row_writer *w, const struct row_reduction *d);
// A share of what is reduced over x: the program's rows, reduced to a number. Its text.
const char *row_writer_share(struct row_writer *w, const struct row_reduction *d);
// What a chunk of a row, which is a tile, gives; its parts are combined later.
void row_writer_reduce_chunk(struct row_writer *w, const struct row_reduction *d);
// One level of reductions, by a pass over `n` elements.
void row_writer_reduce_level(struct row_writer *w, unsigned level, const char *n);
// What accumulators hold, to the result's name.
void row_writer_finish(struct row_writer *w, const struct row_reduction *d, const char *n);

// ---- splits (graph/emit/rows_split.c) ----
void rows_put_split(struct row_writer *w);
void rows_put_combine(struct row_writer *w);
// A part of a row's reduction, left for those who combine all parts.
void row_writer_put_part(struct row_writer *w, const struct row_reduction *d);
// Results of the levels before `level`, from their parts.
void row_writer_load_parts(struct row_writer *w, unsigned level, const char *n);
// The same in two steps, for those who have something to do while the parts are on their way.
void row_writer_fetch_parts(struct row_writer *w, unsigned level);
void row_writer_combine_parts(struct row_writer *w, unsigned level, const char *n);

// ---- work queues (graph/emit/rows_queue.c) ----
void rows_put_chunks(struct row_writer *w);

#endif
