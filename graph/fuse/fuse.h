// SPDX-License-Identifier: Apache-2.0
// What the files of fusion share: groups of stages on common loop dimensions, on their way to
// regions.
//
// Loop dimensions are the axes of a group before they are merged: products of their extents are the
// extents of every stage's own axes, so that what is contiguous for one stage and split for another
// has one spelling. Two groups are aligned by the offsets where they touch the same buffers
// (graph/fuse/align.c); merging and flattening loop dimensions (graph/fuse/axes.c) comes last.
#ifndef TILE_GRAPH_FUSE_FUSE_H
#define TILE_GRAPH_FUSE_FUSE_H

#include "base/map.h"
#include "graph/fuse/region.h"

// Where in its group a stage runs.
enum nesting_level {
  MEMBER_FULL,             // for each of all loop dimensions
  MEMBER_ROW,              // for each of the parallel loop dimensions
  MEMBER_ROW_REDUCTION,    // over the reduced loop dimensions, for each of the parallel ones
  MEMBER_COLUMN_REDUCTION, // over the parallel loop dimensions, for each of the reduced ones or
                           // once
  MEMBER_COLUMN // for each of the reduced loop dimensions or once, behind all column reductions
};

struct member {
  struct stage *stage; // a copy, on the group's loop dimensions
  enum nesting_level level;
  bool is_once; // column stages: not for each of the reduced loop dimensions
};

enum { DIM_BATCH, DIM_M, DIM_N, DIM_K };

struct loop_dim {
  const struct expr *axis;
  bool is_reduced;
  uint8_t dim; // products: of batch, m, n, k, the one that it is a part of
};

// An offset of a buffer that a member loads or stores.
struct access {
  struct buffer *buffer;
  const struct expr *offset;
  struct member *member;
  bool is_store;
};

struct group {
  enum region_kind kind;
  uint32_t id;
  uint32_t version;   // counts merges
  uint32_t position;  // in fuser.order
  uint32_t stamp;     // of the last walk that met it
  struct group *into; // the group that it was merged into; NULL: it is alive
  bool keeps_order;   // the order of reduced loop dimensions matters: argmax, scans
  VEC(struct loop_dim) loop_dims;
  VEC(struct member *) members; // in the order of their stages
  VEC(struct access) accesses;
  VEC(struct group *) before, after; // who has to run before and after, maybe merged since
  const struct expr *numel[2];       // of the parallel loop dimensions and of the reduced ones
  int64_t traffic;                   // bytes, for likely sizes
  uint32_t traffic_at;               // one more than the version that it is of
};

// What is known of a buffer.
struct buffer_use {
  struct buffer *buffer;
  uint32_t writers, loads;     // stages that do
  VEC(struct group *) readers; // groups, in order
  struct group *writer;        // the last one
  uint32_t stamp;              // of the last count that met it
};

struct fuser {
  struct arena *arena;
  struct exprs *x;
  struct scalars *s;
  struct loops *l;
  struct regions *out;
  struct buffer_use *uses; // by id
  uint32_t buffer_count;
  VEC(struct stage *) stages; // the loops', with attention put in
  VEC(struct group *) order;
  struct map axes; // of finished regions, by name and extent
  uint32_t stamp;
};

// ---- expression trees and offsets (graph/fuse/scalar_expr_offsets.c) ----
void stage_substitute(struct fuser *f, struct stage *s, size_t count,
                      const struct expr *const *from, const struct expr *const *to);
typedef void (*scalar_expr_fn)(void *user, const struct scalar *node);
// Calls fn for every part of the stage's expression trees, also inside of loaded indices, once for
// each.
void stage_scalar_exprs(struct fuser *f, const struct stage *s, scalar_expr_fn fn, void *user);
bool stage_loads(struct fuser *f, const struct stage *s, const struct buffer *b);
// Does the value of e depend on the axis, also through what was loaded to know it?
bool offset_has_axis(struct fuser *f, const struct expr *e, const struct expr *axis);
// Its factor in e, a constant 0 where it is not in it; NULL where e is not linear in it.
const struct expr *offset_stride(struct fuser *f, const struct expr *e, const struct expr *axis);
// Fills accesses from the members.
void group_find_accesses(struct fuser *f, struct group *g);

// ---- loop dimensions (graph/fuse/axes.c) ----
const struct expr *axis_create(struct fuser *f, const char *name, const struct expr *extent);
// e / by where that is exact, else NULL.
const struct expr *expr_exact_quotient(struct fuser *f, const struct expr *e,
                                       const struct expr *by);
static inline bool has_fixed_axes(enum region_kind k) {
  return k == REGION_PRODUCT || k == REGION_ATTENTION;
}
struct group *group_create(struct fuser *f, const struct stage *s);
void group_substitute(struct fuser *f, struct group *g, size_t count,
                      const struct expr *const *from, const struct expr *const *to);
// ---- regions (graph/fuse/finish.c) ----
// Puts the loop dimensions in order, merges them and gives the stages their axes: the region's.
void group_finish(struct fuser *f, struct group *g, struct region *r);

// The access by whose strides the loop dimensions are ordered: it knows most of them; stores first
// in maps, loads first in rows; then the largest elements. NULL: there is none.
const struct access *group_leading_access(struct fuser *f, const struct group *g);
// Does r lie closer together than x in most of what is read?
bool group_is_inner(struct fuser *f, const struct group *g);

// ---- putting two groups on the same loop dimensions (graph/fuse/align.c) ----
// A part of an loop dimension, and the part of the other group's loop dimension that is the same
// axis.
struct piece {
  const struct expr *axis;
  uint32_t loop_dim;
  const struct piece *match;
};

struct side {
  struct group *g;
  bool is_candidate;
  const struct expr **value;  // of each loop dimension, in pieces
  VEC(struct piece *) pieces; // in the order of loop dimensions
};

// Matches pieces of both by the offsets where they touch the same buffers, then by their order.
// Those that have no match are left.
void groups_align(struct fuser *f, struct side *anchor, struct side *candidate);
// A offset of the side's group on the pieces of the anchor.
const struct expr *side_offset(struct fuser *f, const struct side *s, const struct expr *e);

// ---- joining two groups (graph/fuse/join.c) ----
struct join {
  struct group *anchor, *candidate;
  struct side anchor_side, candidate_side;
  enum region_kind kind;
  enum nesting_level levels[MEMBER_COLUMN + 1]; // of the candidate's members, by the ones they had
  bool is_once;                                 // ... and that of new column stages
  int64_t saved;                                // bytes, for likely sizes
  const char *reason;                           // why they stay apart
  bool never;                                   // by their kinds or sizes alone
};
static const char read_many_times[] = "a product reads each element many times: it is stored first";
static inline bool is_rows(enum region_kind k) {
  return k == REGION_ROWS || k == REGION_ROW_COLUMN;
}
// Aligns candidate and anchor and gives the candidate's stages their axes (graph/fuse/nesting.c).
// False with j->reason.
bool candidate_align(struct fuser *f, struct join *j);
// False with ret->reason.
bool groups_can_join(struct fuser *f, struct group *a, struct group *b, struct join *ret);
struct group *groups_join(struct fuser *f, struct join *j);
// Is it worth it where nothing passes between them and they share at most so many bytes?
bool groups_gain(struct fuser *f, struct group *a, struct group *b, int64_t shared);

// ---- what runs before what (graph/fuse/order.c) ----
static inline struct group *group_alive(struct group *g) {
  while (g->into)
    g = g->into;
  return g;
}
void order_create(struct fuser *f);
// Is there a way from one to the other through a third? Also true where that takes long to see.
bool order_has_detour(struct fuser *f, struct group *a, struct group *b);
// `dead` has become a part of `kept`; there is no detour.
void order_merge(struct fuser *f, struct group *kept, struct group *dead);

// ---- attention (graph/fuse/attention_match.c) ----
// Products of softmaxes of products become stages of attention in f->stages, before groups are made
// of them.
void attention_match(struct fuser *f);

// ---- who is joined first (graph/fuse/queue.c) ----
void groups_fuse(struct fuser *f);

// ---- numbers and names (graph/fuse/cost.c, graph/fuse/name.c) ----
const struct expr *access_bytes(struct fuser *f, const struct group *g, const struct access *a);
// Is b the group's own value where it loads it?
bool group_makes(const struct group *g, const struct buffer *b);
// Of what it writes: is it read elsewhere?
bool group_stores(struct fuser *f, const struct group *g, const struct buffer *b);
void region_count(struct fuser *f, const struct group *g, struct region *r);
const char *region_name(struct fuser *f, const struct group *g);

#endif
