// SPDX-License-Identifier: Apache-2.0
// A simulated GPU as a device of the runtime: memory, streams and modules (simulated_device.c),
// launches (simulated_launch.c), and violations (record_violations.c).
//
// Device addresses are not addresses of the process. Each buffer gets its own addresses, far from
// all others and never reused: an access beside a buffer, or to a freed one, hits no buffer.
#ifndef TILE_SIMULATED_DEVICE_H
#define TILE_SIMULATED_DEVICE_H

#include "ptx-simulator/simulator.h"
#include "runtime/device.h"
#include "runtime/violations.h"

#include <pthread.h>

#define SIM_MAX_VIOLATIONS 16

struct simulated_device {
  struct tile_device base;
  size_t shared_limit; // bytes a CTA may use
  int multiprocessors; // of a GPU of that kind
  pthread_mutex_t
      lock; // guards what follows; a launch holds it, so that launches run one at a time
  struct sim_buffer *buffers; // by address
  size_t buffer_count, buffer_cap;
  uint64_t next_address;
  size_t bytes_in_use, memory;
  struct arena *report_arena; // texts of the last launch's violations
  struct cpu_violation violations[SIM_MAX_VIOLATIONS];
  size_t violation_count;
  uint64_t violation_total;
  void (*print)(void *user, const char *text);
  void *print_user;
};

static inline struct simulated_device *simulated_of(tile_device *d) {
  return (struct simulated_device *)d;
}

// ---- simulated_device.c ----
// The buffer that the address lies in, or NULL; the lock is held.
struct sim_buffer *simulated_find(const struct simulated_device *d, uint64_t address);

// ---- simulated_launch.c ----
tile_status simulated_load(struct module *m, const void *code, size_t size);
void simulated_unload(struct module *m);
tile_status simulated_launch(struct module *m, void *stream, tile_grid grid, void *const *values,
                             unsigned flags);

// ---- record_violations.c ----
// The launch that a violation belongs to.
struct simulated_launch_context {
  struct simulated_device *device;
  const struct kernel_info *info;
  void *const *values;
  const void *const *all_values; // with the tensor maps
  size_t shared_bytes;           // of a CTA
};
// Keeps the violation in the device; the callback of sim_launch.violation, whose `user` is
// `context`.
void simulated_record(void *context, const struct sim_violation *f);

#endif
