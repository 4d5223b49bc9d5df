// SPDX-License-Identifier: Apache-2.0
// The compiled form of a graph: kernels as `.tile` source, launches in order, and one arena for
// temporaries. It can be printed as a plan, run in process, replayed as a CUDA graph, or written as
// a C program.
#ifndef TILE_GRAPH_PROGRAM_PROGRAM_H
#define TILE_GRAPH_PROGRAM_PROGRAM_H

#include "base/map.h"
#include "graph/fuse/region.h"
#include "graph/program/kernel_text.h"

#include <tile/tile.h>

// Accumulators of half-precision matrix instructions in a program of a kernel: `tiles` of BLOCK_M x
// BLOCK_N, and `columns` more for each of the BLOCK_M rows. All zero: none.
struct kernel_sums {
  uint32_t tiles, columns;
  bool are_of_rows; // it also reduces along rows, each within a warp
};

// One `.tile` source; launches with equal sources share a kernel.
struct graph_kernel {
  uint32_t id;
  const char *name;    // of the function
  const char *source;  // a whole file: `text` printed with this name and these constants
  const char *emitted; // the source before a configuration was applied; NULL: none was
  struct kernel_text text;
  VEC(struct kernel_constant)
  constants;                                // for the first target; also the defaults in the source
  uint32_t num_warps, num_stages, num_ctas; // 0: default
  bool is_alone;                            // a program fills a multiprocessor
  struct kernel_sums sums;
  bool is_given;     // the source of a custom operator, which stays as it is
  const char *space; // of configurations for --max-autotune, in the syntax of --space; NULL:
                     // nothing to tune
};

enum launch_arg_kind { LAUNCH_BUFFER, LAUNCH_SIZE, LAUNCH_SEED };

struct launch_arg {
  enum launch_arg_kind kind;
  const char *name;        // of the parameter
  struct buffer *buffer;   // LAUNCH_BUFFER
  const struct expr *size; // LAUNCH_SIZE: in the graph's symbols
  enum dtype dtype;        // of the scalar
  uint32_t which;          // LAUNCH_SEED: number of the random operator
  bool is_written;
};

// `to` may use the memory of `from`: each program reads an element of `from` only before it writes
// the same element of `to`.
struct launch_reuse {
  struct buffer *from, *to;
};

struct launch {
  struct graph_kernel *kernel; // NULL: it runs `call`
  const struct call *call;
  struct program *bodies[2]; // of a call: the programs of its subgraphs, in order
  VEC(struct launch_arg) args;
  // Programs along x, y, z: expressions of the graph's symbols and the symbols of the kernel's
  // constants; and the same with the constants' values.
  const struct expr *grid_rule[3], *grid[3];
  const struct region *region;
  struct buffer *clears; // zero-filled before; NULL: none
  VEC(struct launch_reuse) reuses;
  const struct expr *bytes, *flops;
};

// An output that aliases an input (copied before all launches) or another output (copied after
// them).
struct program_copy {
  struct buffer *from, *to;
  const struct expr *offset, *bytes; // in `from`
};

struct program_zeros { // a buffer to be cleared before launch number `before`
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
  struct graph *graph; // as read
  struct regions *regions;
  struct buffer **buffers; // all of them, also those created by planning
  size_t buffer_count;
  enum dtype index_dtype;
  VEC(struct kernel_plan *) plans; // graph/plan/plan.h: a kernel and its launch each
  VEC(struct graph_kernel *) kernels;
  VEC(struct launch) launches;
  VEC(struct program_copy) copies;
  VEC(struct program_zeros) zeros; // during planning; then launches clear them
  VEC(struct placement) placements;
  struct map constants; // symbols of kernels' constants in grids, by name
  // Counters of finished programs, for last-block reductions: the last program continues and resets
  // its counter to zero. Allocated for the whole run. NULL: not needed.
  struct buffer *counters;
  VEC(struct in_place) in_place; // outputs in the memory of inputs of the same launch
  // Kernels are compiled and launched with launch_pdl (base/kernel_info.h), except behind work that
  // is no kernel of this run.
  bool launch_pdl;
  int64_t saved_bytes; // of forward values for gradients, if the graph recomputes; else 0
  const char *prefix;  // of its kernels in a pack, if it is a subgraph's; NULL: none
  const struct expr *arena_bytes;
  const struct expr *eager_bytes; // peak of temporaries in eager execution, one result per operator
};

struct program_options {
  const char *target;       // as in --target; blocks are chosen for it
  bool rounds, keeps_apart; // rounds: the graph keeps its casts
  unsigned multiprocessors; // of the device; 0: of a typical one of the target
  bool no_pdl;              // kernels are not launched before the one in front has ended
  bool bounds_parts;        // products split along k may use at most
  int64_t parts_bytes;      // this much memory for partial results
};

// A line per launch: grid, arguments, bytes, operations and, for a target with known peaks, a lower
// bound of its time; then the arena.
void program_print_plan(const struct program *p, const char *target, struct strbuf *out);
// The same as a JSON object. Nested at most as deep as subgraphs are.
struct json_writer;
void program_write_plan(const struct program *p, const char *target, struct json_writer *w);
// The lower bound of a launch's time in milliseconds, for likely sizes: its bytes and operations at
// the target's peaks. 0: they are not known.
double launch_bound_ms(const struct launch *l, const char *target);
void program_print_tile(const struct program *p, struct strbuf *out); // all sources in one file

// ---- sources and grids (graph/program/program_kernel.c) ----
// Prints the kernel's source from its text, its name and its constants.
void kernel_print(struct arena *a, struct graph_kernel *k);
// The symbol of a constant, one per name, so that launches can share equal kernels.
const struct expr *program_constant(struct program *p, const char *name);
// The value of a grid expression for the kernel's constants.
const struct expr *grid_value(struct exprs *x, const struct expr *rule,
                              const struct graph_kernel *k);
// The launch's grid in the syntax of --grid, by parameter names. NULL: it depends on other values.
const char *launch_grid_text(struct arena *a, struct exprs *x, const struct launch *l);

// Launches that run programs of subgraphs: does the host decide which, or how often, by results of
// earlier launches? Such a program cannot be recorded.
bool program_decides_on_host(const struct program *p);
bool program_has_calls(const struct program *p);
// Of the program and of the programs of its subgraphs.
size_t program_kernel_count(const struct program *p);
// Merges kernels with equal sources.
void program_share_kernels(struct program *p);
// Keeps the launched kernels, numbered and named in launch order.
void program_name_kernels(struct program *p);
// Buffers between launches, owned by the program.
void program_keep_buffers(struct program *p);

#endif
