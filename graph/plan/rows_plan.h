// SPDX-License-Identifier: Apache-2.0
// The plan of rows: reductions over r for each x, in levels, and writes.
#ifndef TILE_GRAPH_PLAN_ROWS_H
#define TILE_GRAPH_PLAN_ROWS_H

#include "graph/plan/plan.h"

// Two reductions that one pass over a row computes.
enum row_pair {
  PAIR_NONE,
  PAIR_SOFTMAX, // maximum of v, and sum of exp(v - maximum)
  PAIR_VARIANCE // sum of v, and sum of (v - mean) squared
};

struct row_reduction {
  const struct stage *stage;
  const struct scalar *body, *result;
  unsigned level;              // number of preceding passes
  enum row_pair pair;          // how it is combined with `first`
  struct row_reduction *first; // the maximum, or the sum
  bool has_second;             // it is the `first` of a pair
  struct buffer *part;         // partial results: one per split; of column sums, one per program
  struct buffer *part_index;   // of argmax and argmin: the indices for `part`
  struct buffer *total;        // per x; NULL: the kernel that uses the result combines the parts
};

struct row_write {
  struct buffer *buffer;
  const struct expr *offset;
  const struct scalar *body;
  unsigned level;
  bool is_full; // per r, not per row
};

struct rows {
  struct program *p;
  const struct region *region;
  const struct program_options *o;
  const struct expr *x, *r; // axes
  bool is_inner;            // r is contiguous
  bool is_whole;            // too little work to split
  bool keeps_rows;          // in registers, as far as they fit
  unsigned walkers;         // programs that walk over long rows; 0: a program per row
  const char *suffix;       // of the kernel's name; NULL: none
  unsigned levels;
  struct row_reduction *reductions;
  size_t reduction_count;
  struct row_write *writes;
  size_t write_count;
  // Reductions over x of row values: every program writes a partial result to `part`, and the last
  // program combines them by the last reduction, whose r axis counts the programs. NULL: another
  // launch does.
  struct row_reduction *shares;
  size_t share_count;
  struct rows *last_block;
  // The plan.
  unsigned x_block, r_block, num_warps, splits;
  // Lanes, if any: a block has `iterations` of them for each row, of `width` elements each.
  unsigned lanes, width, iterations;
  int64_t lag; // chunks between the reduction and the write of a chunk in a single launch; 0:
               // several launches
  bool is_looped;
  bool combines_blocks; // looped: a block is combined along r before it is added to accumulators
};

// Computes levels and pairs; pairs only where rows are processed in blocks.
void rows_find_levels(struct rows *s);
void rows_find_pairs(struct rows *s);
void rows_plan(struct rows *s);
// graph/plan/rows_processor.c: the same on a processor, for x rows of n elements. `splits` is 1.
void rows_on_processor(struct rows *s, int64_t x, int64_t n, bool is_known);
unsigned rows_loads(const struct rows *s); // the number of different loads of an element
// The number of programs with partial results; NULL: parts of rows have their own launches.
const struct expr *rows_programs(const struct rows *s);
bool rows_have_writes(const struct rows *s, unsigned level, bool full); // after a level
enum dtype reduce_dtype(const struct row_reduction *d);                 // of partial results
bool reduce_is_index(const struct row_reduction *d);

// ---- kernels (graph/plan/rows_kernels.c) ----
enum rows_step {
  ROWS_WHOLE,   // whole rows, in registers or in several passes
  ROWS_WALK,    // whole rows, by programs that walk over them
  ROWS_CHUNKS,  // chunks of rows by the ids of a work queue, in a single launch
  ROWS_SPLIT,   // a part of a row each: one level of reductions, or the writes after them
  ROWS_COMBINE, // combines the parts of all levels
};

// The layout of the counters of a work queue.
struct rows_queue {
  int64_t rows, chunks, ids; // number of each; ids: programs
  int64_t drawn, done;       // indices of counters: work ids taken, programs finished
  struct buffer *counters;
};

enum rows_hint { ROWS_NO_HINT, ROWS_EVICT_FIRST, ROWS_EVICT_LAST };

struct rows_kernel {
  struct rows *rows;
  enum rows_step step;
  unsigned level;     // ROWS_SPLIT
  bool is_last_block; // ROWS_COMBINE in the last program of another kernel
  bool is_row;        // one x per program: tiles have one dimension
  unsigned x_block, r_block;
  unsigned unrolled;      // blocks of a split whose loads are in flight together
  unsigned parts_at_once; // of columns, combined
  bool has_r_mask;
  bool has_whole; // blocks entirely within the row need no mask, and have a loop of their own
  bool overwrites_inputs;
  enum rows_hint hint;           // of loads
  struct row_reduction *columns; // ROWS_WALK: sums over x per r
  size_t column_count;
  struct rows_queue queue; // ROWS_CHUNKS
};

// Are the parts of columns combined by a launch of their own, before elements are written?
bool rows_have_totals(const struct rows *s);
// graph/plan/rows_keep.c: stores a value that both passes over such columns would compute from many
// loads. `writes` has room for one more.
void rows_keep_costly(struct rows *s, const struct region_parts *parts);
// Appends the kernels of the planned rows.
void rows_plan_kernels(struct rows *s);
// Rows in registers, by programs that walk over them and sum columns; each writes its sums to
// `part`, [programs, r].
void rows_plan_walk(struct rows *s, struct row_reduction *columns, size_t count);
// graph/plan/rows_accesses.c: collects the kernel's accesses.
void rows_note_accesses(struct kernel_plan *k);
// The first queue id that reduces `level`.
static inline int64_t rows_queue_start(const struct rows *s, unsigned level) {
  return level * s->lag;
}

#endif
