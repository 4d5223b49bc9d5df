// SPDX-License-Identifier: Apache-2.0
// Sites are found by the products that read the tiles; rings by comparing sites (ring_sites.h).
//
// Recursion is the algorithm: tiles reach products through their users.
#include "lowering/plan/ring_sites.h"

#include <assert.h>

// ---- sites ----

// The first product that the tile reaches; null if there is none.
static MlirOperation product_of(struct ir_context *c, MlirValue v) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (op_is(c, user, OP_TILE_DOT))
      return user;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(user); i++) {
      MlirOperation found = product_of(c, mlirOperationGetResult(user, i));
      if (!mlirOperationIsNull(found))
        return found;
    }
  }
  return (MlirOperation){NULL};
}

static MlirBlock block_of(const struct ring_site *s) { return mlirOperationGetBlock(s->loads[0]); }

static void add_load(struct ir_context *c, struct arena *a, struct ring_sites *sites,
                     MlirOperation load) {
  MlirOperation product = product_of(c, mlirOperationGetResult(load, 0));
  for (size_t i = 0; i < sites->at.len && !mlirOperationIsNull(product); i++) {
    struct ring_site *s = &sites->at.at[i];
    if (mlirOperationEqual(s->product, product) && s->count < MAX_SITE_LOADS &&
        mlirBlockEqual(block_of(s), mlirOperationGetBlock(load))) {
      s->loads[s->count++] = load;
      return;
    }
  }
  struct ring_site s = {.product = product, .loads = {load}, .count = 1};
  bool is_repeated = op_is(c, mlirOperationGetParentOperation(load), OP_SCF_FOR);
  s.is_held = mlirOperationIsNull(product) ||
              (!is_repeated &&
               !mlirBlockEqual(mlirOperationGetBlock(product), mlirOperationGetBlock(load)));
  vec_push(a, &sites->at, s);
}

// ---- rings ----

static bool contains(MlirBlock outer, MlirBlock inner) {
  while (!mlirBlockIsNull(inner) && !mlirBlockEqual(inner, outer)) {
    MlirOperation parent = mlirBlockGetParentOperation(inner);
    inner = mlirOperationIsNull(parent) ? (MlirBlock){NULL} : mlirOperationGetBlock(parent);
  }
  return !mlirBlockIsNull(inner);
}

static bool same_tiles(const struct ring_site *x, const struct ring_site *y) {
  if (x->count != y->count)
    return false;
  for (unsigned i = 0; i < x->count; i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(x->loads[i], 0));
    MlirType u = mlirValueGetType(mlirOperationGetResult(y->loads[i], 0));
    if (!mlirTypeEqual(element_type(t), element_type(u)) || tensor_rank(t) != tensor_rank(u))
      return false;
    for (unsigned k = 0; k < tensor_rank(t); k++)
      if (tensor_dim(t, k) != tensor_dim(u, k))
        return false;
  }
  return true;
}

// Can the site be the next one of the ring?
static bool can_share(const struct ring_sites *sites, size_t site, unsigned ring) {
  const struct ring_site *x = &sites->at.at[site];
  for (size_t i = 0; i < site; i++) {
    const struct ring_site *y = &sites->at.at[i];
    if (y->ring == ring && (y->is_held || !same_tiles(x, y) || contains(block_of(x), block_of(y)) ||
                            contains(block_of(y), block_of(x))))
      return false;
  }
  return !x->is_held;
}

void ring_sites_find(struct ir_context *c, const MlirOperation *loads, size_t count,
                     struct arena *a, struct ring_sites *ret) {
  *ret = (struct ring_sites){0};
  for (size_t i = 0; i < count; i++)
    add_load(c, a, ret, loads[i]);
  for (size_t i = 0; i < ret->at.len; i++) {
    unsigned ring = 0;
    while (ring < ret->ring_count && !can_share(ret, i, ring))
      ring++;
    ret->at.at[i].ring = ring;
    ret->ring_count += ring == ret->ring_count;
  }
}

// ---- bytes ----

static uint64_t site_bytes(struct ir_context *c, const struct ring_site *s) {
  uint64_t bytes = 0;
  for (unsigned i = 0; i < s->count; i++) {
    MlirType t = mlirValueGetType(mlirOperationGetResult(s->loads[i], 0));
    bytes += (uint64_t)tensor_numel(t) * type_bits(c, element_type(t)) / 8;
  }
  return bytes;
}

uint64_t ring_sites_slot_bytes(struct ir_context *c, const struct ring_sites *s, bool held) {
  uint64_t bytes = 0;
  unsigned seen = 0; // rings are numbered by their first sites
  for (size_t i = 0; i < s->at.len; i++) {
    const struct ring_site *x = &s->at.at[i];
    assert(x->ring <= seen);
    if (x->ring == seen && x->is_held == held)
      bytes += site_bytes(c, x);
    seen += x->ring == seen;
  }
  return bytes;
}
