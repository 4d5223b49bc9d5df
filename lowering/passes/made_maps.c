// SPDX-License-Identifier: Apache-2.0
// The insertion point is found by a walk through the pure operations that compute the descriptor;
// building the map copies these.
//
// Recursion is the algorithm: values are computed from values.
#include "lowering/passes/made_maps.h"

#include "base/vec.h"
#include "lowering/analysis/speculation.h"
#include "lowering/passes/clone_ops.h"
#include "mlir-dialects/rings.h"

struct search {
  struct ir_context *c;
  struct arena *a;
  struct map seen; // values
  struct made_map_point point;
  unsigned depth; // of the point's block
};

// Can the value be computed elsewhere?
static bool can_move(struct ir_context *c, MlirValue v) {
  MlirOperation def = value_def(v);
  return !mlirOperationIsNull(def) && op_is_pure(c, def) && mlirOperationGetNumRegions(def) == 0 &&
         !op_may_have_no_value(c, def);
}

static unsigned depth_of(MlirBlock block) {
  unsigned n = 0;
  for (MlirOperation op = mlirBlockGetParentOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op))
    n++;
  return n;
}

// Is `op` behind `other` in their block? A null `other` is its beginning.
static bool is_behind(MlirOperation op, MlirOperation other) {
  if (mlirOperationIsNull(other))
    return true;
  for (MlirOperation at = mlirOperationGetNextInBlock(other); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at))
    if (mlirOperationEqual(at, op))
      return true;
  return false;
}

// All values are computed in blocks around the access, so the deepest block is within the others.
static void stand_behind(struct search *s, MlirValue v) {
  MlirOperation def = value_def(v);
  MlirBlock block =
      mlirOperationIsNull(def) ? mlirBlockArgumentGetOwner(v) : mlirOperationGetBlock(def);
  unsigned depth = depth_of(block);
  if (depth > s->depth) {
    s->depth = depth;
    s->point = (struct made_map_point){block, def};
  } else if (mlirBlockEqual(block, s->point.block) && !mlirOperationIsNull(def) &&
             is_behind(def, s->point.behind)) {
    s->point.behind = def;
  }
}

static void visit(struct search *s, MlirValue v) {
  if (ptrmap_get(&s->seen, v.ptr))
    return;
  ptrmap_put(s->a, &s->seen, v.ptr, s);
  if (!can_move(s->c, v)) {
    stand_behind(s, v);
    return;
  }
  MlirOperation def = value_def(v);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
    visit(s, mlirOperationGetOperand(def, i));
}

struct made_map_point made_map_point_of(struct ir_context *c, MlirOperation kernel,
                                        const struct descriptor *d, struct arena *a) {
  struct search s = {.c = c, .a = a};
  s.point.block = func_entry(kernel);
  s.depth = depth_of(s.point.block);
  visit(&s, d->base);
  for (unsigned i = 0; i < d->rank; i++)
    visit(&s, d->sizes[i]);
  for (unsigned i = 0; i + 1 < d->rank; i++)
    visit(&s, d->strides[i]);
  return s.point;
}

// The value where the builder stands.
static MlirValue remake(struct builder *b, struct clone_map *m, MlirValue v) {
  if (ptrmap_get(&m->values, v.ptr))
    return clone_map_get(m, v);
  if (!can_move(b->c, v))
    return v;
  MlirOperation def = value_def(v);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(def); i++)
    remake(b, m, mlirOperationGetOperand(def, i));
  MlirOperation copy = clone_op(m, def, b->block);
  if (!mlirOperationIsNull(b->before)) {
    mlirOperationRemoveFromParent(copy);
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
  }
  return clone_map_get(m, v);
}

void made_map_build(struct ir_context *c, const struct made_map_point *point, uint32_t map,
                    const struct descriptor *d, MlirLocation loc, struct arena *a) {
  MlirOperation before = mlirOperationIsNull(point->behind)
                             ? mlirBlockGetFirstOperation(point->block)
                             : mlirOperationGetNextInBlock(point->behind);
  struct builder b = builder_before(c, before); // at least the block's terminator
  struct clone_map m = {.arena = a};
  MlirValue sizes[DESCRIPTOR_MAX_RANK], strides[DESCRIPTOR_MAX_RANK];
  b.loc = loc;
  MlirValue base = remake(&b, &m, d->base);
  for (unsigned i = 0; i < d->rank; i++)
    sizes[i] = remake(&b, &m, d->sizes[i]);
  for (unsigned i = 0; i + 1 < d->rank; i++)
    strides[i] = remake(&b, &m, d->strides[i]);
  build_map_make(&b, map, d->rank, base, sizes, strides);
}
