// SPDX-License-Identifier: Apache-2.0
// Shared by the files of fusion: groups of stages over common loop dimensions, which become
// regions.
//
// The loop dimensions of a group are its axes before merging: the extents of every stage's own axes
// are products of their extents, so that a dimension that is contiguous for one stage and split for
// another has one form. Two groups are aligned by the offsets of buffers that both access
// (graph/fuse/align.c); merging and flattening loop dimensions (graph/fuse/axes.c) comes last.
#ifndef TILE_GRAPH_FUSE_FUSE_H
#define TILE_GRAPH_FUSE_FUSE_H

#include "base/map.h"
#include "graph/fuse/region.h"

// The nesting level of a stage in its group.
enum nesting_level {
  MEMBER_FULL,             // all loop dimensions
  MEMBER_ROW,              // the parallel loop dimensions
  MEMBER_ROW_REDUCTION,    // reduces the reduced loop dimensions, for each parallel index
  MEMBER_COLUMN_REDUCTION, // reduces the parallel loop dimensions, for each reduced index or once
  MEMBER_COLUMN            // the reduced loop dimensions or once, after all column reductions
};

struct member {
  struct stage *stage; // a copy, over the group's loop dimensions
  enum nesting_level level;
  bool is_once; // column stages: run once, not for each reduced index
};

enum { DIM_BATCH, DIM_M, DIM_N, DIM_K };

struct loop_dim {
  const struct expr *axis;
  bool is_reduced;
  uint8_t dim; // products: the one of batch, m, n, k that it is part of
};

// An access of a member to a buffer.
struct access {
  struct buffer *buffer;
  const struct expr *offset;
  struct member *member;
  int64_t bytes; // for likely sizes; 0: not computed yet
  bool is_store;
};

struct group {
  enum region_kind kind;
  uint32_t id;
  uint32_t version;   // counts merges
  uint32_t position;  // in fuser.order
  uint32_t stamp;     // of the last walk that visited it
  struct group *into; // the group it was merged into; NULL: none, it is live
  unsigned parts;     // bits: 1 << the part of each stage
  bool sums_taps;     // some stage does
  bool keeps_order;   // the reduced loop dimensions may not be reordered: argmax, scans
  VEC(struct loop_dim) loop_dims;
  VEC(struct member *) members; // in stage order
  VEC(struct access) accesses;
  VEC(struct group *) before, after; // predecessors and successors; may have been merged since
  const struct expr *numel[2];       // number of parallel and of reduced indices
  int64_t traffic;                   // bytes, for likely sizes
  uint32_t traffic_at;               // 1 + the version it was computed for
};

// Uses of a buffer.
struct buffer_use {
  struct buffer *buffer;
  uint32_t writers, loads;     // number of stages
  VEC(struct group *) readers; // groups, in order
  struct group *writer;        // the last one
  uint32_t stamp;              // of the last count that visited it
};

struct fuser {
  struct arena *arena;
  struct arena *trials; // of the last groups_can_join: what aligns its groups
  struct arena_mark no_trial;
  struct exprs *x;
  struct scalars *s;
  struct loops *l;
  struct regions *out;
  struct buffer_use *uses; // by id
  uint32_t buffer_count;
  VEC(struct stage *) stages; // the stages of the loops, with attention replaced
  VEC(struct group *) order;
  struct map axes; // of finished regions, by name and extent
  uint32_t stamp;
};

// ---- expression trees and offsets (graph/fuse/scalar_expr_offsets.c) ----
void stage_substitute(struct fuser *f, struct stage *s, size_t count,
                      const struct expr *const *from, const struct expr *const *to);
typedef void (*scalar_expr_fn)(void *user, const struct scalar *node);
// Calls fn once for each distinct node of the stage's expression trees, also in loaded indices.
void stage_scalar_exprs(struct fuser *f, const struct stage *s, scalar_expr_fn fn, void *user);
// Does e depend on the axis, also through loaded indices?
bool offset_has_axis(struct fuser *f, const struct expr *e, const struct expr *axis);
// The coefficient of the axis in e, 0 if absent; NULL if e is not linear in it.
const struct expr *offset_stride(struct fuser *f, const struct expr *e, const struct expr *axis);
// Collects the accesses of the members.
void group_find_accesses(struct fuser *f, struct group *g);

// ---- loop dimensions (graph/fuse/axes.c) ----
const struct expr *axis_create(struct fuser *f, const char *name, const struct expr *extent);
// e / by if the division is exact, else NULL.
const struct expr *expr_exact_quotient(struct fuser *f, const struct expr *e,
                                       const struct expr *by);
static inline bool has_fixed_axes(enum region_kind k) {
  return k == REGION_PRODUCT || k == REGION_ATTENTION;
}
struct group *group_create(struct fuser *f, const struct stage *s);
void group_substitute(struct fuser *f, struct group *g, size_t count,
                      const struct expr *const *from, const struct expr *const *to);
// ---- regions (graph/fuse/finish.c) ----
// Orders and merges the loop dimensions and rewrites the stages over the region's axes.
void group_finish(struct fuser *f, struct group *g, struct region *r);

// The access whose strides order the loop dimensions: it depends on most of them; maps prefer
// stores, rows prefer loads; then the largest elements. NULL: there is none.
const struct access *group_leading_access(struct fuser *f, const struct group *g);
// Is r the more contiguous axis for most of the bytes read?
bool group_is_inner(struct fuser *f, const struct group *g);
// Does it read more memory along its rows than along its columns?
bool group_reads_rows(struct fuser *f, const struct group *g);

// ---- alignment of two groups (graph/fuse/align.c) ----
// A part of a loop dimension, and the part of the other group's loop dimension that is the same
// axis.
struct piece {
  const struct expr *axis;
  uint32_t loop_dim;
  const struct piece *match;
};

struct side {
  struct group *g;
  bool is_candidate;
  const struct expr **value;   // of each loop dimension, in terms of pieces
  VEC(struct piece *) pieces;  // in the order of loop dimensions
  const struct expr **offsets; // of the accesses, as side_offset gives them; NULL: not computed yet
};

// Matches pieces of both by the offsets of buffers that both access, then by their order. The
// others stay unmatched.
void groups_align(struct fuser *f, struct side *anchor, struct side *candidate);
// An offset of the side's group in terms of the anchor's pieces.
const struct expr *side_offset(struct fuser *f, const struct side *s, const struct expr *e);

// ---- merging two groups (graph/fuse/join.c) ----
struct join {
  struct group *anchor, *candidate;
  struct side anchor_side, candidate_side;
  enum region_kind kind;
  enum nesting_level
      levels[MEMBER_COLUMN + 1]; // new nesting level of the candidate's members, by the old one
  bool is_once;                  // ... and that of new column stages
  int64_t saved;                 // bytes, for likely sizes
  const char *reason;            // why they are not merged
  bool never;                    // decided by their kinds or sizes alone
};
static const char read_many_times[] =
    "an operand of a product is read many times, so it is stored first";
static inline bool is_rows(enum region_kind k) {
  return k == REGION_ROWS || k == REGION_ROW_COLUMN;
}
// Can a kernel have both, by their kinds and sizes? False with j->reason.
bool candidate_fits(struct fuser *f, struct join *j);
// Aligns candidate and anchor, which fit, and gives the candidate's stages their axes
// (graph/fuse/nesting.c). False with j->reason.
bool candidate_align(struct fuser *f, struct join *j);
// False with ret->reason.
bool groups_can_join(struct fuser *f, struct group *a, struct group *b, struct join *ret);
struct group *groups_join(struct fuser *f, struct join *j);
// Does merging pay if no value passes between them and they share at most so many bytes?
bool groups_gain(struct fuser *f, struct group *a, struct group *b, int64_t shared);

// ---- dependencies (graph/fuse/order.c) ----
static inline struct group *group_alive(struct group *g) {
  while (g->into)
    g = g->into;
  return g;
}
void order_create(struct fuser *f);
// Is there a path from one to the other through a third group? Conservatively true if the search
// takes long.
bool order_has_detour(struct fuser *f, struct group *a, struct group *b);
// `dead` is merged into `kept`; there is no path through a third group.
void order_merge(struct fuser *f, struct group *kept, struct group *dead);

// ---- attention (graph/fuse/attention_match.c) ----
// Replaces products of softmaxes of products in f->stages by attention stages, before groups are
// created.
void attention_match(struct fuser *f);

// ---- order of merges (graph/fuse/queue.c) ----
void groups_fuse(struct fuser *f);

// ---- costs and names (graph/fuse/cost.c, graph/fuse/name.c) ----
const struct expr *access_bytes(struct fuser *f, const struct group *g, const struct access *a);
// Does the group itself produce b where it loads it?
bool group_makes(const struct group *g, const struct buffer *b);
// The number of members that load b.
uint32_t group_loads(const struct group *g, const struct buffer *b);
// Is b, which it writes, read by other groups?
bool group_stores(const struct fuser *f, const struct group *g, const struct buffer *b);
void region_count(struct fuser *f, const struct group *g, struct region *r);
const char *region_name(struct fuser *f, const struct group *g);

#endif
