// SPDX-License-Identifier: Apache-2.0
// Tensor maps of a launch: their numbers from the arguments, and their encodings, kept by module.
#ifndef TILE_RUNTIME_LAUNCH_MAPS_H
#define TILE_RUNTIME_LAUNCH_MAPS_H

#include "base/kernel_info.h"

#include <tile/runtime.h>

// Of a kernel with tensor maps: launches with more are refused.
enum { MAX_MAP_KERNEL_PARAMS = 1024 };

// A map as drivers take it (CUDA driver API, cuTensorMapEncodeTiled). Dimension 0 is the contiguous
// one.
struct launch_map {
  uint64_t address;
  uint64_t sizes[KERNEL_MAP_RANK];       // elements
  uint64_t strides[KERNEL_MAP_RANK - 1]; // bytes, of dimensions 1, 2, ...
  uint32_t box[KERNEL_MAP_RANK];         // elements
  uint32_t rank;
  int type, swizzle; // the driver's numbers
  bool pads_nan;
};

struct map_bytes {
  _Alignas(64) uint8_t at[KERNEL_MAP_BYTES];
};

// Encodes a map for a device; TILE_INVALID_ARGUMENT, TILE_DRIVER_TOO_OLD. The message is completed
// by the names of kernel and parameter.
typedef tile_status (*map_encode_fn)(void *device, const struct launch_map *map,
                                     struct map_bytes *ret);

// Number `i` of the kernel's maps with these arguments (as launches pass them), checked as the
// driver would: TILE_INVALID_ARGUMENT names the parameter, the quantity and what it has to be.
tile_status launch_map_of(const struct kernel_info *info, uint32_t i, void *const *values,
                          struct launch_map *ret);

// map_cache.c: the maps of a module's last launches, by the arguments that they depend on.
// Thread-safe.
struct map_cache;
struct map_cache *map_cache_create(const struct kernel_info *info); // NULL: out of memory
void map_cache_destroy(struct map_cache *c);

// All maps of the cache's kernel for a launch; ret has room for info->map_count. Does not allocate,
// and calls `encode` only for arguments that the cache does not have.
tile_status launch_maps_encode(struct map_cache *c, const struct kernel_info *info,
                               void *const *values, map_encode_fn encode, void *device,
                               struct map_bytes *ret);

#endif
