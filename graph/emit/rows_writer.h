// SPDX-License-Identifier: Apache-2.0
// What the files that write kernels over rows share: the kernel while it is written.
#ifndef TILE_GRAPH_EMIT_ROWS_WRITER_H
#define TILE_GRAPH_EMIT_ROWS_WRITER_H

#include "graph/emit/rows.h"

struct row_writer {
  struct emitter *e;
  struct rows *s;
  bool is_row;          // one x a program: a tile has one dimension
  const char *along;    // arguments of reductions
  const char *within;   // arguments of those in a lane; NULL: has no lanes
  const char *across;   // ... and of those of its turns; NULL: there is one
  const char *shape;    // of a tile; with lanes, of accumulators
  const char *block;    // of r, as it is written
  const char *brackets; // behind what varies along r
  const char *brackets_x;
  bool has_r_mask;
  bool has_whole;  // blocks before `whole` need no mask, and get a loop of their own
  unsigned r_axis; // of the emitter's axes
  uint32_t x_bit, r_bit;
  unsigned level;             // the scope that knows x
  const struct expr *x_block; // in rules of grids
};

// ---- the kernel (graph/emit/rows_writer.c) ----
struct row_writer row_writer_begin(struct rows *s, const char *suffix);
void row_writer_x(struct row_writer *w);
void row_writer_r(struct row_writer *w);
void row_writer_count(struct row_writer *w); // uses of all formulas
// A pass over the row, or over this program's part of it: `body` for each block.
typedef void row_body(struct row_writer *w, unsigned level);
void row_writer_pass(struct row_writer *w, bool backwards, row_body *body, unsigned level);
void row_writer_stores(struct row_writer *w, unsigned level, bool full);
row_body row_writer_full_stores;
// `splits`: a program a part of a row.
void row_writer_end(struct row_writer *w, bool splits);

// ---- reductions (graph/emit/rows_accumulate.c) ----
// The names of a result and of the accumulator of a reduction.
const char *row_writer_name(struct row_writer *w, const char *base, const struct row_reduction *d);
// A row that is a tile.
void row_writer_reduce(struct row_writer *w, struct row_reduction *d);
// A share of what is reduced over x: the program's rows, reduced to a number. Its text.
const char *row_writer_share(struct row_writer *w, const struct row_reduction *d);
// What a chunk of a row, which is a tile, gives; its parts are combined later.
void row_writer_reduce_chunk(struct row_writer *w, struct row_reduction *d);
// One level of reductions, by a pass over `n` elements.
void row_writer_reduce_level(struct row_writer *w, unsigned level, const char *n);
// What accumulators hold, to the result's name.
void row_writer_finish(struct row_writer *w, struct row_reduction *d, const char *n);

// ---- splits (graph/emit/rows_split.c) ----
void rows_emit_splits(struct rows *s);
// A part of a row's reduction, left for those who combine all parts.
void row_writer_put_part(struct row_writer *w, struct row_reduction *d);
// Results of the levels before `level`, from their parts.
void row_writer_load_parts(struct row_writer *w, unsigned level, const char *n, bool is_tail);
// The same in two steps, for those who have something to do while the parts are on their way.
void row_writer_fetch_parts(struct row_writer *w, unsigned level);
void row_writer_combine_parts(struct row_writer *w, unsigned level, const char *n);

// ---- tickets (graph/emit/rows_tickets.c) ----
void rows_emit_tickets(struct rows *s);

#endif
