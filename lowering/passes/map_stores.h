// SPDX-License-Identifier: Apache-2.0
// Stores of blocks through tensor maps: the tile is written to a buffer in shared memory, which one
// thread copies to global memory (TMA). Part of specialize-warps.
//
//   map_store %x, [%i, %j]   ->   for each part of %x, as wide as a swizzle, in two buffers by
//   turns:
//                                   local_store (part %x) -> buffer
//                                   map_wait                      the other buffer was read
//                                   map_store buffer, [%i, %j + part]
//
// Where each warp has whole rows of every tile, each warpgroup copies its own rows (`warps` of
// tilegpu.map_store): no warpgroup waits for another one, so that one multiplies while another one
// stores.
//
// insert-barriers puts a barrier between writing and copying. It is also the one between the wait
// and the next time that the other buffer is written. Where the rings leave too little memory for
// two, and for tiles that are not cut into parts, there is one buffer, and a wait before it is
// written.
#ifndef TILE_LOWERING_PASSES_MAP_STORES_H
#define TILE_LOWERING_PASSES_MAP_STORES_H

#include "base/vec.h"
#include "layouts/encoding.h"
#include "mlir-dialects/rings.h"

enum { MAP_STORE_BUFFERS = 2 };

struct map_store {
  MlirOperation op; // tile.map_store
  MlirType part;    // type of a part, or of the tile
  unsigned parts, buffer_count;
  uint32_t map;
  MlirValue buffers[MAP_STORE_BUFFERS];
};

struct map_stores {
  VEC(struct map_store) at;
  int32_t warps; // of tilegpu.map_store
};

// `map` with the swizzle and the box of a buffer: rows of one swizzle. Its number in the module.
uint32_t map_for_buffer(struct ir_context *c, MlirOperation module, struct kernel_map map,
                        const struct encoding *buffer);
// Chooses the parts. Returns the bytes of shared memory that all stores take at least.
uint32_t map_stores_choose(struct map_stores *s, struct ir_context *c, uint32_t num_warps);
// Makes the buffers at `b`, in front of all stores. maps: by the numbers in the ops. room: bytes of
// shared memory for all of them; a store takes at least one buffer.
void map_stores_open(struct map_stores *s, struct ir_context *c, MlirOperation module,
                     struct builder *b, const struct kernel_map *maps, uint32_t room);
// Rewrites the stores; the buffers are in use until `end`.
void map_stores_lower(struct map_stores *s, struct ir_context *c, struct builder *end);

#endif
