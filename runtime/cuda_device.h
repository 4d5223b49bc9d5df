// SPDX-License-Identifier: Apache-2.0
// A GPU as a device, shared by the files that implement it.
#ifndef TILE_RUNTIME_CUDA_DEVICE_H
#define TILE_RUNTIME_CUDA_DEVICE_H

#include "runtime/cuda_api.h"
#include "runtime/device.h"

struct cuda_device {
  struct tile_device base;
  struct cuda_api api;
  int device; // CUdevice
  void *context;
  bool owns_context; // retained by this device and released by it; else the caller's
  int shared_limit;
  unsigned max_grid[3];
  bool has_pdl; // GPU and driver have programmatic dependent launch
};

static inline struct cuda_device *cuda_of(tile_device *d) { return (struct cuda_device *)d; }

// Makes the device's context the calling thread's. Asking the driver first costs some 10 ns and is
// correct even if other CUDA code in the process switches contexts.
tile_status cuda_enter(struct cuda_device *c);

#define CUDA_ENTER(c)                                                                              \
  do {                                                                                             \
    tile_status enter_status_ = cuda_enter(c);                                                     \
    if (enter_status_ != TILE_OK)                                                                  \
      return enter_status_;                                                                        \
  } while (0)

// ---- cuda_module.c: entries of the device's table (device.h) ----
tile_status cuda_module_load(struct module *m, const void *code, size_t size);
void cuda_module_unload(struct module *m);
tile_status cuda_assemble(tile_device *d, const char *ptx, size_t size, enum assembly how,
                          void **ret_code, size_t *ret_size);
tile_status cuda_resources(struct module *m, int *ret_registers, int *ret_local_bytes);
tile_status cuda_launch(struct module *m, void *stream, tile_grid g, void *const *values,
                        unsigned flags);
// cuda_tensor_map.c: a map_encode_fn; the device is a struct cuda_device.
tile_status cuda_map_encode(void *device, const struct launch_map *map, struct map_bytes *ret);
tile_status cuda_record_begin(tile_device *d, void *stream);
tile_status cuda_record_end(tile_device *d, void *stream, void **ret);
tile_status cuda_replay(tile_device *d, void *recorded, void *stream);
void cuda_record_destroy(tile_device *d, void *recorded);

#endif
