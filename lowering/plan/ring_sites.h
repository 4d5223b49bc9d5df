// SPDX-License-Identifier: Apache-2.0
// Which rings the loads through tensor maps fill (specialize-warps).
#ifndef TILE_LOWERING_PLAN_RING_SITES_H
#define TILE_LOWERING_PLAN_RING_SITES_H

#include "base/vec.h"
#include "mlir-dialects/ir.h"

enum { MAX_SITE_LOADS = 2 }; // operands of a product

// Loads of one block that fill a slot together: the operands of one product, or one other load.
struct ring_site {
  MlirOperation product; // null: none reads the tile
  MlirOperation loads[MAX_SITE_LOADS];
  unsigned count;
  unsigned ring; // its number
  bool is_held;  // one slot: no product reads the tile, or it is loaded once for a loop with one
};

struct ring_sites {
  VEC(struct ring_site) at; // in program order
  unsigned ring_count;
};

// Groups `loads`, which are in program order, on `a`. Sites of equal tiles share a ring if neither
// is in a loop with the other, as the loops over whole and over masked blocks of attention: the
// producer fills and the other warps read all slots of the first loop before those of the second.
void ring_sites_find(struct ir_context *c, const MlirOperation *loads, size_t count,
                     struct arena *a, struct ring_sites *ret);

// Bytes of one slot of each ring together: of rings that run ahead, or of those of one slot, which
// is held.
uint64_t ring_sites_slot_bytes(struct ir_context *c, const struct ring_sites *s, bool held);

#endif
