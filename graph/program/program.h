// SPDX-License-Identifier: Apache-2.0
// What a graph is compiled to: kernels as `.tile` source, the order of their launches, and one
// arena for what passes between them. Printed as a plan, run in process, replayed as a CUDA graph,
// written as a C program.
#ifndef TILE_GRAPH_PROGRAM_PROGRAM_H
#define TILE_GRAPH_PROGRAM_PROGRAM_H

#include "base/map.h"
#include "graph/fuse/region.h"
#include "graph/program/kernel_text.h"

#include <tile/tile.h>

// What a program of a kernel adds up by matrix instructions of half precision: `tiles` of BLOCK_M x
// BLOCK_N sums, and `columns` more for each of the BLOCK_M rows. All zero: nothing.
struct kernel_sums {
  uint32_t tiles, columns;
  bool are_of_rows; // rows are reduced as well, each within a warp
};

// One `.tile` source; equal text is one kernel, however many regions it serves.
struct graph_kernel {
  uint32_t id;
  const char *name;    // of the function
  const char *source;  // a whole file: what `text` is with this name and these constants
  const char *emitted; // the source before a configuration was taken; NULL: none was
  struct kernel_text text;
  VEC(struct kernel_constant)
  constants; // chosen for the first target; the source has the same as defaults
  uint32_t num_warps, num_stages;
  struct kernel_sums sums;
  const char
      *space; // of configurations for --max-autotune, as --space takes it; NULL: nothing to choose
};

enum launch_arg_kind { LAUNCH_BUFFER, LAUNCH_SIZE, LAUNCH_SEED };

struct launch_arg {
  enum launch_arg_kind kind;
  const char *name;        // of the parameter
  struct buffer *buffer;   // LAUNCH_BUFFER
  const struct expr *size; // LAUNCH_SIZE: of the graph's symbols
  enum dtype dtype;        // of the scalar
  uint32_t which;          // LAUNCH_SEED: number of the random operator
  bool is_written;
};

// `to` can have the memory of `from`: the launch reads each element of one where it writes that of
// the other, in the same program and before it does.
struct launch_reuse {
  struct buffer *from, *to;
};

struct launch {
  struct graph_kernel *kernel;
  VEC(struct launch_arg) args;
  // Programs along x, y, z: expressions of the graph's symbols and of the symbols of the kernel's
  // constants; and the same with the constants' values.
  const struct expr *grid_rule[3], *grid[3];
  const struct region *region;
  struct buffer *clears; // filled with zeros before; NULL: none
  VEC(struct launch_reuse) reuses;
  const struct expr *bytes, *flops;
};

// An output that is an input (before all launches) or another output (behind them).
struct program_copy {
  struct buffer *from, *to;
  const struct expr *offset, *bytes; // in `from`
};

struct program_zeros { // a buffer to be cleared, and how many launches come before it
  const struct region *region;
  struct buffer *buffer;
  size_t launches;
};

struct in_place {
  const struct launch *launch;
  const struct buffer *to;
};

struct placement {
  struct buffer *buffer;
  const struct expr *offset, *size; // bytes in the arena; a multiple of 256
};

struct program {
  struct arena *arena;
  struct graph *graph; // as it was read
  struct regions *regions;
  struct buffer **buffers; // all of them, also those that only emission made
  size_t buffer_count;
  enum dtype index_dtype;
  VEC(struct kernel_plan *) plans; // graph/plan/plan.h: a kernel and its launch each
  VEC(struct graph_kernel *) kernels;
  VEC(struct launch) launches;
  VEC(struct program_copy) copies;
  VEC(struct program_zeros) zeros; // while regions are emitted; then launches clear them
  VEC(struct placement) placements;
  struct map constants; // symbols of kernels' constants in rules of grids, by name
  // How many programs of a launch have ended: the last one goes on with what follows from all of
  // them, and leaves zeros. Placed for the whole run. NULL: no launch counts.
  struct buffer *counters;
  VEC(struct in_place) in_place; // outputs in the memory of inputs of the same launch
  const struct expr *arena_bytes;
  const struct expr
      *eager_bytes; // peak of temporaries when operators run one by one, each with its own result
};

struct program_options {
  const char *target;       // as --target; what blocks are chosen for
  bool rounds, keeps_apart; // rounds: the graph keeps its casts
  bool bounds_parts;        // products that are split along k may have at most
  int64_t parts_bytes;      // so much memory for their parts
};

// A line a launch: grid, arguments, bytes, operations and, for a target whose peaks are known, a
// lower bound of its time; then the arena.
void program_print_plan(const struct program *p, const char *target, struct strbuf *out);
void program_print_tile(const struct program *p, struct strbuf *out); // all sources, one file

// ---- sources and grids (graph/program/program_kernel.c) ----
// Sets the kernel's source from its text, its name and its constants.
void kernel_print(struct arena *a, struct graph_kernel *k);
// The symbol of a constant: the same for the same name, so that launches whose kernels turn out to
// be equal can share one.
const struct expr *program_constant(struct program *p, const char *name);
// A rule of a grid where the kernel's constants have these values.
const struct expr *grid_value(struct exprs *x, const struct expr *rule,
                              const struct graph_kernel *k);
// The launch's rule as --grid takes it, by the names of its parameters. NULL: it is not of these
// alone.
const char *launch_grid_text(struct arena *a, struct exprs *x, const struct launch *l);

// Sources that are equal are one kernel.
void program_share_kernels(struct program *p);
// Keeps the kernels that are launched, numbered and named in the order of their first launch.
void program_name_kernels(struct program *p);
// Buffers between launches stay the program's.
void program_keep_buffers(struct program *p);

#endif
