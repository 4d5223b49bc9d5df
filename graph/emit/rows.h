// SPDX-License-Identifier: Apache-2.0
// Rows as emission sees them: reductions over r for each x, in levels, and what is written.
#ifndef TILE_GRAPH_EMIT_ROWS_H
#define TILE_GRAPH_EMIT_ROWS_H

#include "graph/emit/emit.h"

// Two reductions that one pass over a row computes.
enum row_pair {
  PAIR_NONE,
  PAIR_SOFTMAX, // sum of exp(v - maximum of v)
  PAIR_VARIANCE // sum of (v - mean of v) squared, where a sum of v is there
};

struct row_reduction {
  const struct stage *stage;
  const struct scalar *body, *result;
  unsigned level;              // how many passes have to be behind
  enum row_pair pair;          // together with `first`
  struct row_reduction *first; // the maximum, or the sum
  bool has_second;             // is the first one of a pair
  struct buffer *part;         // one result a split; of shares, one a program
  struct buffer *part_place;   // and where it was, of places
  const char *name;
};

struct row_write {
  struct buffer *buffer;
  const struct expr *place;
  const struct scalar *body;
  unsigned level;
  bool is_full; // for each r
};

struct rows {
  struct program *p;
  const struct region *region;
  const struct program_options *o;
  const struct expr *x, *r; // axes
  bool is_inner;            // r is contiguous
  bool is_whole;            // too little to split
  bool keeps_rows;          // in registers, as far as they fit
  unsigned walkers;         // programs that walk over long rows; 0: a program a row
  const char *suffix;       // of the kernel's name; NULL: none
  unsigned levels;
  struct row_reduction *reductions;
  size_t reduction_count;
  struct row_write *writes;
  size_t write_count;
  // Reductions over x of what there is for each row: every program leaves its share in `part`, and
  // the last one goes on with the tail, whose r are the shares. NULL: another launch does.
  struct row_reduction *shares;
  size_t share_count;
  struct rows *tail;
  // The plan.
  unsigned x_block, r_block, num_warps, splits;
  // Lanes, if any: a block is `turns` of them for each row, of `width` elements each.
  unsigned lanes, width, turns;
  int64_t lag; // chunks between two readings of one in a single launch; 0: several launches
  bool is_looped;
};

// Levels and pairs; pairs only where rows are walked in blocks.
void rows_find_levels(struct rows *s);
void rows_find_pairs(struct rows *s);
void rows_plan(struct rows *s);
// How many programs there are that have shares; NULL: parts of rows have their own launches.
const struct expr *rows_programs(const struct rows *s);
bool rows_have_writes(const struct rows *s, unsigned level, bool full); // behind a level
bool rows_emit(struct rows *s);
// Rows in registers, by programs that walk over them and add up columns; each leaves its sums in
// `part` of a column, [programs, r].
void rows_emit_walk(struct rows *s, struct row_reduction *columns, size_t count, unsigned programs);

// ---- operations of reductions (graph/emit/reduce.c) ----
const char *reduce_neutral(struct emitter *e, const struct row_reduction *d);
enum dtype reduce_dtype(const struct row_reduction *d); // of partial results
// `of` combined along an axis of the tile. Places of extremes: a pair of names.
const char *reduce_tile(struct emitter *e, const struct row_reduction *d, const char *of,
                        const char *along);
const char *reduce_two(struct emitter *e, const struct row_reduction *d, const char *a,
                       const char *b);
bool reduce_is_place(const struct row_reduction *d);
// Is v 0 outside of the axis, where loads along it give 0?
bool reduce_keeps_zero(const struct scalar *v, const struct expr *axis);

#endif
