// SPDX-License-Identifier: Apache-2.0
// Maps that the kernel makes, in the producer. Part of specialize-warps.
//
//   map_make(%p, %sizes, %strides)   ->   maps_open %buffer
//   for %k { map_load }                   ring_drain; map_make %buffer(%p, %sizes, %strides)
//                                         for %k { ring_empty  map_copy }
//                                         ring_drain; maps_close
//
// A map in global memory is overwritten when all copies by it have arrived; the other warps still
// have the slots of the ring to work on. Maps that are made one after the other are published at
// once.
#ifndef TILE_LOWERING_PASSES_PRODUCER_MAPS_H
#define TILE_LOWERING_PASSES_PRODUCER_MAPS_H

#include "base/vec.h"
#include "layouts/encoding.h"
#include "mlir-dialects/rings.h"

// A map of a load, with the box and swizzle of the load's buffer, and the ring that it fills.
struct producer_map {
  uint32_t from, number; // in use-tensor-maps' numbers, and in those of the module now
  int32_t ring;
};

struct producer_maps {
  struct arena *a;
  VEC(MlirOperation) makes;  // map_make of the warps that compute: to be erased
  VEC(MlirOperation) copies; // of the producer
  VEC(MlirOperation) made;   // tilegpu.map_make that they became, in order
  VEC(struct producer_map) at;
  uint32_t count;   // maps
  MlirValue buffer; // null: no maps
};

// The number in the module of map `from`, which is `map`, for a ring's buffer.
uint32_t producer_map_for(struct producer_maps *m, struct ir_context *c, MlirOperation module,
                          uint32_t from, struct kernel_map map, const struct encoding *buffer,
                          int32_t ring);
// Makes the buffer at `b`, in front of the branch of the producer, if there are maps.
void producer_maps_open(struct producer_maps *m, struct builder *b);
// Rewrites the map_makes: of the producer's first thread, whose code is `leader`, and of the warps
// that compute, which end at `end`. rings: by number.
void producer_maps_lower(struct producer_maps *m, struct ir_context *c, MlirBlock leader,
                         const struct ring_ref *const *rings, struct builder *end);

#endif
