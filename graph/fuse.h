// SPDX-License-Identifier: Apache-2.0
// What the files of fusion share: groups of stages on common atoms, on their way to regions.
//
// Atoms are the axes of a group before they are merged: products of their extents are the extents
// of every stage's own axes, so that what is contiguous for one stage and split for another has one
// spelling. Two groups are aligned by the places where they touch the same buffers (fuse_align.c);
// merging and flattening atoms (fuse_axes.c) comes last.
#ifndef TILE_GRAPH_FUSE_H
#define TILE_GRAPH_FUSE_H

#include "base/map.h"
#include "graph/region.h"

// Where in its group a stage runs.
enum member_place {
  MEMBER_FULL,             // for each of all atoms
  MEMBER_ROW,              // for each of the parallel atoms
  MEMBER_ROW_REDUCTION,    // over the reduced atoms, for each of the parallel ones
  MEMBER_COLUMN_REDUCTION, // over the parallel atoms, for each of the reduced ones or once
  MEMBER_COLUMN            // for each of the reduced atoms or once, behind all column reductions
};

struct member {
  struct stage *stage; // a copy, on the group's atoms
  enum member_place place;
  bool is_once; // column stages: not for each of the reduced atoms
};

struct atom {
  const struct expr *axis;
  bool is_reduced;
};

// Offsets of one buffer that a group loads or stores.
struct access {
  struct buffer *buffer;
  const struct expr *offset;
  struct member *load_of; // NULL: a store
};

struct group {
  enum region_kind kind;
  uint32_t id;
  uint32_t version;  // counts merges
  uint32_t position; // in fuser.order
  bool is_dead;      // merged into another
  bool keeps_order;  // the order of reduced atoms matters: argmax, scans
  VEC(struct atom) atoms;
  VEC(struct member *) members;
  VEC(struct access) accesses;       // without repetitions
  VEC(struct group *) before, after; // direct dependences; dead ones are replaced when met
  const struct expr *numel;          // of all atoms
};

// What is known of a buffer.
struct buffer_use {
  struct buffer *buffer;
  uint32_t writers, loads;     // stages that do
  VEC(struct group *) readers; // groups, in order
  struct group *writer;        // the last one
};

struct fuser {
  struct arena *arena;
  struct exprs *x;
  struct scalars *s;
  struct loops *l;
  struct regions *out;
  struct buffer_use *uses; // by id
  VEC(struct group *) order;
  struct map axes; // of finished regions, by name and extent
};

// ---- formulas and places (graph/fuse_formula.c) ----
void stage_substitute(struct fuser *f, struct stage *s, size_t count,
                      const struct expr *const *from, const struct expr *const *to);
typedef void (*formula_fn)(void *user, const struct scalar *node);
// Calls fn for every part of the stage's formulas, also inside of loaded indices, once for each.
void stage_formulas(struct fuser *f, const struct stage *s, formula_fn fn, void *user);
bool stage_loads(struct fuser *f, const struct stage *s, const struct buffer *b);
// Does the value of e depend on the axis, also through what was loaded to know it?
bool place_has_axis(struct fuser *f, const struct expr *e, const struct expr *axis);
// Its factor in e, a constant 0 where it is not in it; NULL where e is not linear in it.
const struct expr *place_stride(struct fuser *f, const struct expr *e, const struct expr *axis);
// Fills accesses from the members.
void group_find_accesses(struct fuser *f, struct group *g);

// ---- atoms (graph/fuse_axes.c) ----
static inline const struct expr *axis_extent(const struct expr *axis) {
  return axis->symbol->limit;
}
const struct expr *axis_create(struct fuser *f, const char *name, const struct expr *extent);
struct group *group_create(struct fuser *f, const struct stage *s);
void group_substitute(struct fuser *f, struct group *g, size_t count,
                      const struct expr *const *from, const struct expr *const *to);
// Puts the atoms in order, merges them and gives the stages their axes: the region's.
void group_finish(struct fuser *f, struct group *g, struct region *r);

// ---- numbers and names (graph/fuse_cost.c, graph/fuse_name.c) ----
const struct expr *access_bytes(struct fuser *f, const struct group *g, const struct access *a);
// Is b the group's own value where it loads it?
bool group_makes(const struct group *g, const struct buffer *b);
// Of what it writes: is it read elsewhere?
bool group_stores(struct fuser *f, const struct group *g, const struct buffer *b);
void region_count(struct fuser *f, const struct group *g, struct region *r);
const char *region_name(struct fuser *f, const struct group *g);

#endif
