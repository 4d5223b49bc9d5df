// SPDX-License-Identifier: Apache-2.0
// Tensor maps by the driver (CUDA 12.0 and later).
#include "runtime/cuda_device.h"

tile_status cuda_map_encode(void *device, const struct launch_map *map, struct map_bytes *ret) {
  static const uint32_t dense[KERNEL_MAP_RANK] = {1, 1, 1, 1, 1};
  struct cuda_device *c = device;
  if (!c->api.tensor_map_encode)
    return status_set(TILE_DRIVER_TOO_OLD,
                      "the CUDA driver is too old: it has no `cuTensorMapEncodeTiled`\n  = help: "
                      "install a driver for CUDA 12.0 or later");
  CUDA_TRY(&c->api, tensor_map_encode,
           (ret->at, map->type, map->rank, (void *)(uintptr_t)map->address, map->sizes,
            map->strides, map->box, dense, 0, map->swizzle, CUDA_MAP_PROMOTE_256, map->pads_nan));
  return TILE_OK;
}
