// SPDX-License-Identifier: Apache-2.0
// Rows as planning sees them: reductions over r for each x, in levels, and what is written.
#ifndef TILE_GRAPH_PLAN_ROWS_H
#define TILE_GRAPH_PLAN_ROWS_H

#include "graph/plan/plan.h"

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
  struct buffer *part_index;   // and where it was: indices
};

struct row_write {
  struct buffer *buffer;
  const struct expr *offset;
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
  // the last one goes on with the last reduction, whose r axis counts the shares. NULL: another
  // launch does.
  struct row_reduction *shares;
  size_t share_count;
  struct rows *last_block;
  // The plan.
  unsigned x_block, r_block, num_warps, splits;
  // Lanes, if any: a block is `iterations` of them for each row, of `width` elements each.
  unsigned lanes, width, iterations;
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
enum dtype reduce_dtype(const struct row_reduction *d);                 // of partial results
bool reduce_is_index(const struct row_reduction *d);

// ---- kernels (graph/plan/rows_kernels.c) ----
enum rows_step {
  ROWS_WHOLE,   // whole rows, in registers or by passes
  ROWS_WALK,    // ... by programs that walk over them
  ROWS_CHUNKS,  // chunks of rows by ids of a work queue, in a single launch
  ROWS_SPLIT,   // a part of a row each, one level of reductions or the writes behind them
  ROWS_COMBINE, // the parts of all levels
};

// What the last program to look at a counter of a work queue finds where.
struct rows_queue {
  int64_t rows, chunks, ids; // ids: programs
  int64_t drawn, done;       // indices of counters: work ids drawn, programs finished
  struct buffer *counters;
};

enum rows_hint { ROWS_NO_HINT, ROWS_EVICT_FIRST, ROWS_EVICT_LAST };

struct rows_kernel {
  struct rows *rows;
  enum rows_step step;
  unsigned level;     // ROWS_SPLIT
  bool is_last_block; // ROWS_COMBINE in the last program of another kernel
  bool is_row;        // one x a program: a tile has one dimension
  bool has_r_mask;
  bool has_whole; // blocks that lie in the row whole need no mask, and get a loop of their own
  bool overwrites_inputs;
  enum rows_hint hint;           // of loads
  struct row_reduction *columns; // ROWS_WALK: sums over x for each r
  size_t column_count;
  struct rows_queue queue; // ROWS_CHUNKS
};

// Appends the kernels of planned rows.
void rows_plan_kernels(struct rows *s);
// Rows in registers, by programs that walk over them and add up columns; each leaves its sums in
// `part` of a column, [programs, r].
void rows_plan_walk(struct rows *s, struct row_reduction *columns, size_t count);
// graph/plan/rows_accesses.c: fills the kernel's accesses.
void rows_note_accesses(struct kernel_plan *k);
// Where what is reduced at `level` begins, in ids of the queue.
static inline int64_t rows_queue_start(const struct rows *s, unsigned level) {
  return level * s->lag;
}

#endif
