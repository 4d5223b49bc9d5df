// SPDX-License-Identifier: Apache-2.0
// The interface of a device. The public calls in device.c check arguments and forward to this
// table; cuda_device.c, cpu_device.c and runtime/simulated/simulated_device.c implement it.
// Streams, events and modules are small records around a handle of the device.
#ifndef TILE_RUNTIME_DEVICE_H
#define TILE_RUNTIME_DEVICE_H

#include "runtime/launch_maps.h"
#include "runtime/runtime_internal.h"

#include <stdatomic.h>

enum copy_kind { COPY_TO_DEVICE, COPY_TO_HOST, COPY_ON_DEVICE };

struct device_ops {
  void (*close)(tile_device *d);
  tile_status (*properties)(tile_device *d, tile_device_properties *ret);
  tile_status (*alloc)(tile_device *d, size_t size, void **ret); // size > 0
  tile_status (*release)(tile_device *d, void *p);               // p is not NULL
  // The allocation that contains `p`, which is not NULL.
  tile_status (*range)(tile_device *d, const void *p, void **ret_base, size_t *ret_size);
  // Memory of the process as a buffer; NULL where launches need no buffers.
  tile_status (*register_memory)(tile_device *d, void *p, size_t size);
  tile_status (*unregister_memory)(tile_device *d, void *p);
  // Handles of streams and events; a NULL stream handle is the default stream.
  tile_status (*stream_create)(tile_device *d, void **ret);
  void (*stream_destroy)(tile_device *d, void *stream);
  tile_status (*stream_wait)(tile_device *d, void *stream);
  tile_status (*event_create)(tile_device *d, void **ret);
  void (*event_destroy)(tile_device *d, void *event);
  tile_status (*event_record)(tile_device *d, void *event, void *stream);
  tile_status (*event_elapsed)(tile_device *d, void *start, void *stop, float *ret_ms);
  tile_status (*copy)(tile_device *d, enum copy_kind kind, void *stream, void *to, const void *from,
                      size_t size);
  tile_status (*fill)(tile_device *d, void *stream, void *to, int byte, size_t size);
  // Modules: `m` has device and info set; load fills handle and function.
  tile_status (*module_load)(struct module *m, const void *code, size_t size);
  void (*module_unload)(struct module *m);
  // NULL where nothing is to be assembled, or where no memory copies faster.
  tile_status (*assemble)(tile_device *d, const char *ptx, size_t size, enum assembly how,
                          void **ret_code, size_t *ret_size);
  tile_status (*staging_alloc)(tile_device *d, size_t size, void **ret);
  void (*staging_free)(tile_device *d, void *p);
  tile_status (*launch)(struct module *m, void *stream, tile_grid grid, void *const *values,
                        unsigned flags); // enum launch_flags
  tile_status (*resources)(struct module *m, int *ret_registers, int *ret_local_bytes);
  // NULL where launches cannot be checked, or where the driver prints.
  size_t (*violations)(tile_device *d, const struct cpu_violation **ret, uint64_t *ret_total);
  void (*set_print)(tile_device *d, void (*print)(void *user, const char *text), void *user);
  // Recording by the driver; NULL where runtime/replay.c keeps a list of records.
  // Whether some library captures the stream, or one that it waits for; NULL: never.
  bool (*is_capturing)(tile_device *d, void *stream);
  tile_status (*record_begin)(tile_device *d, void *stream);
  tile_status (*record_end)(tile_device *d, void *stream, void **ret);
  tile_status (*replay)(tile_device *d, void *recorded, void *stream);
  void (*record_destroy)(tile_device *d, void *recorded);
};

struct recording;

// First member of every device.
struct tile_device {
  const struct device_ops *ops;
  bool is_cpu;
  char target[16];
  bool is_simulated;    // a GPU whose PTX the simulator runs
  unsigned capability;  // 90 for 9.0; 0 on the CPU
  int ordinal;          // N of "cuda:N"; 0 on the CPU
  _Atomic(void *) kept; // state of an upper layer: device_keep
  void (*kept_close)(void *what);
};

struct tile_stream {
  tile_device *device;
  void *handle;
  bool is_foreign; // created by the caller, who destroys it
  bool is_recording;
  struct recording *recording; // the current recording, on devices without their own
};

// Records one operation of a stream that is being recorded (runtime/replay.c).
tile_status record_launch(struct recording *r, struct module *m, tile_grid grid,
                          void *const *values, unsigned flags);
tile_status record_fill(struct recording *r, void *to, int byte, size_t size);
tile_status record_copy(struct recording *r, void *to, const void *from, size_t size);
void recording_destroy(struct recording *r); // accepts NULL

struct tile_event {
  tile_device *device;
  void *handle;
  bool recorded;
};

struct module {
  tile_device *device;
  const struct kernel_info *info;
  void *handle, *function; // GPU: CUmodule, CUfunction
  struct map_cache *maps;  // GPU: NULL for kernels without tensor maps
  cpu_kernel_fn cpu_fn;    // cpu
  void (*release)(void *user);
  void *release_user;
  const char *file; // of the source, for traces; NULL: not known
  uint32_t line;
};

tile_status cuda_device_open(int ordinal, tile_device **ret);
tile_status cuda_device_from_context(void *context, tile_device **ret);
int cuda_device_count(void); // 0 without a driver
tile_status cpu_device_open(tile_device **ret);
// A simulated GPU for `target` ("sm_90a"): runtime/simulated/simulated_device.c. libtile-rt has no
// simulator: runtime/no_simulator.c returns TILE_NO_DEVICE.
tile_status simulator_device_open(const char *target, tile_device **ret);

#endif
