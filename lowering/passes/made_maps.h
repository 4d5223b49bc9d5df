// SPDX-License-Identifier: Apache-2.0
// Maps that the kernel makes: where it makes them. Part of use-tensor-maps.
//
//   %a = load(%table + %g)                      %a = load(%table + %g)
//   for %k {                              ->    map_make(%a, %sizes, %strides) {map = 0}
//     descriptor_load(%a, ..., [%i, %k])        for %k { map_load(%i, %k) {map = 0} }
//   }
//
// The map is made where the last of the descriptor's parts is known: in the innermost block that
// one of them depends on, behind it. What is computed from the parts without effects, such as
// extensions and products of sizes, is computed there.
#ifndef TILE_LOWERING_PASSES_MADE_MAPS_H
#define TILE_LOWERING_PASSES_MADE_MAPS_H

#include "mlir-dialects/descriptor.h"

struct made_map_point {
  MlirBlock block;
  MlirOperation behind; // null: at the block's beginning
};

// Where a map of the descriptor can be made. Work memory is on `a`.
struct made_map_point made_map_point_of(struct ir_context *c, MlirOperation kernel,
                                        const struct descriptor *d, struct arena *a);
// Builds the map_make there; `loc` is that of the access.
void made_map_build(struct ir_context *c, const struct made_map_point *point, uint32_t map,
                    const struct descriptor *d, MlirLocation loc, struct arena *a);

#endif
