// SPDX-License-Identifier: Apache-2.0
// Shared by the files of planning: the kernels of a region with all decisions about them.
// graph/emit prints each kernel from these data and decides nothing.
#ifndef TILE_GRAPH_PLAN_PLAN_H
#define TILE_GRAPH_PLAN_PLAN_H

#include "base/attrs.h"
#include "graph/program/program.h"

// ---- a region's expressions ----
// A reduction whose result other expressions of the region use as `result`.
struct reduction_part {
  const struct stage *stage;
  const struct scalar *body, *result;
};
struct write_part {
  const struct stage *stage;
  struct buffer *buffer;
  const struct expr *offset;
  const struct scalar *body;
};
// An intermediate value, substituted where it is used.
struct map_part {
  const struct stage *stage;
  const struct scalar *body;
};
// The region's expressions in order, with its own intermediate values substituted.
struct region_parts {
  VEC(struct reduction_part) reductions;
  VEC(struct write_part) writes;
  VEC(struct map_part) maps; // that are not written
};
struct region_parts region_parts_of(struct program *p, const struct region *r);

// ---- kernels ----
enum kernel_kind {
  KERNEL_MAP,
  KERNEL_ROWS,
  KERNEL_SCAN,
  KERNEL_PRODUCT,
  KERNEL_ATTENTION,
  KERNEL_CALL
};

// A load or a store, in program order.
struct kernel_access {
  struct buffer *buffer;
  const struct expr *offset; // NULL: not an element of the program's own block
  bool is_store;
};

// Keys that a query may see, expressions of the query that do not fall, and queries that may see a
// key, expressions of the key; NULL: unknown.
struct key_bounds {
  const struct expr *first, *last, *first_query, *last_query;
};

struct kernel_plan {
  enum kernel_kind kind;
  const struct region *region;
  const char *suffix; // appended to the region's name; NULL: none
  VEC(struct kernel_constant) constants;
  const struct expr *grid[3]; // expressions of sizes and the constants' symbols; NULL: 1
  unsigned num_warps, num_stages, num_ctas; // 0: default
  bool is_alone;                            // as in struct graph_kernel
  bool is_launched;                         // by plan_launch
  struct kernel_sums sums;
  const char *space;                // as in struct graph_kernel
  const struct expr *bytes, *flops; // NULL: the region's
  union {                           // by kind
    const struct map_plan *map;
    const struct rows_kernel *rows;
    const struct scan_plan *scan;
    const struct product_kernel *product;
    const struct attention_plan *attention;
    const struct call *call; // no kernel: the launch runs programs
  };
  struct key_bounds bounds; // of a call with score_axes
  struct buffer *clears;    // zero-filled before; NULL: none
  // Last-block reduction: the last program of its group to finish also runs this kernel's body
  // (graph/emit/last_block.c). NULL: none.
  struct kernel_plan *last_block;
  const char *group, *group_size;     // this program's group, NULL: one; programs per group
  VEC(struct kernel_access) accesses; // without those of the last block
};

// The context of planning one region.
struct planner {
  struct program *p;
  const struct region *region;
  const struct program_options *o;
  struct arena *arena;
  struct exprs *x;
  struct scalars *s;
};
static inline struct planner planner_of(struct program *p, const struct region *r,
                                        const struct program_options *o) {
  return (struct planner){.p = p,
                          .region = r,
                          .o = o,
                          .arena = p->arena,
                          .x = p->regions->loops->exprs,
                          .s = p->regions->loops->scalars};
}

// Appends the kernels of a region to the program's plans, with temporaries between them, or its
// copies and zeros.
bool plan_region(struct program *p, const struct region *r, const struct program_options *o);
// After all regions: a kernel for zeros that no launch can clear.
bool plan_zeros(struct program *p, const struct program_options *o);
struct kernel_plan *plan_kernel(struct program *p, enum kernel_kind kind, const struct region *r,
                                const char *suffix);
// Launches the kernel next.
void plan_launch(struct program *p, struct kernel_plan *k);
// Makes `last` the last-block reduction of `k`, for so many groups of programs. False: impossible,
// since it writes what `k` reads as constant.
bool plan_last_block(struct program *p, struct kernel_plan *k, struct kernel_plan *last,
                     int64_t groups, const char *group, const char *group_size);
// A constexpr parameter with its default. Returns its symbol, for grids.
const struct expr *plan_constant(struct program *p, struct kernel_plan *k, const char *name,
                                 int64_t value);
// A temporary between two launches.
struct buffer *plan_temporary(struct program *p, const char *name, enum dtype t,
                              const struct expr *numel);
// The program's counters, at least so many: zero before and after every launch.
struct buffer *plan_counters(struct program *p, int64_t count);
// The number of multiprocessors of the device, or of a typical one of the target.
unsigned plan_multiprocessors(const struct program_options *o);
bool plan_has_wgmma(const struct program_options *o); // products by warpgroups
bool plan_has_pdl(const struct program_options *o);   // programmatic dependent launch
bool plan_is_cpu(const struct program_options *o);

// The smallest least * 2^i that is at least n, and not more than `most`.
static inline unsigned plan_power_of_two(int64_t n, unsigned least, unsigned most) {
  assert(is_pow2(least) && is_pow2(most) && least <= most);
  unsigned p = least;
  while (p < most && p < n)
    p *= 2;
  return p;
}

// ---- spaces of configurations (graph/plan/plan_space.c) ----
// Dimensions of a space: powers of two that are valid for a source written for blocks of `block`
// along `extent`, or any; each includes the planned value. Then the end, which returns the text.
void space_put_blocks(struct strbuf *out, const char *name, const struct expr *extent,
                      unsigned block, unsigned least, unsigned most);
void space_put_powers(struct strbuf *out, const char *name, unsigned chosen, unsigned least,
                      unsigned most);
const char *space_end(struct arena *a, struct strbuf *out);

// ---- the batch of products and attention (graph/plan/batch.c) ----
enum { PLAN_MAX_GRID = 65535 }; // programs along the second and third dimension of a grid
// An offset or a value of batch and other axes; where the batch's extent is 1, its index is 0.
const struct expr *batch_offset(struct scalars *s, struct exprs *x, const struct expr *batch,
                                const struct expr *e);
const struct scalar *batch_value(struct scalars *s, struct exprs *x, const struct expr *batch,
                                 const struct scalar *v);

// ---- without a kernel (graph/plan/copy.c) ----
// Plans copies and zeros. False: it needs a kernel.
bool plan_without_kernel(struct program *p, const struct region *r);

// ---- in-place outputs (graph/plan/reuse.c) ----
// Records in the launch which outputs may use the memory of which inputs.
void plan_find_reuses(struct program *p, const struct kernel_plan *k, struct launch *l);
// The kernel's launch before emission, for memory planning: buffers, clears, reuses.
struct launch plan_launch_of(struct program *p, const struct kernel_plan *k);

// ---- kinds ----
bool plan_map(struct program *p, const struct region *r, const struct program_options *o);
bool plan_rows(struct program *p, const struct region *r, const struct program_options *o);
bool plan_row_column(struct program *p, const struct region *r, const struct program_options *o);
bool plan_scan(struct program *p, const struct region *r, const struct program_options *o);
bool plan_product(struct program *p, const struct region *r, const struct program_options *o);
bool plan_attention(struct program *p, const struct region *r, const struct program_options *o);
bool plan_call(struct program *p, const struct region *r);

#endif
