// SPDX-License-Identifier: Apache-2.0
// The insides of a simulated GPU as a device of the runtime: memory, streams and modules
// (simulated_device.c), launches (simulated_launch.c), and what they find (record_violations.c).
//
// Device addresses are no addresses of the process. Each buffer gets addresses of its own, far from
// those of all others and never given again: an access beside a buffer, or to one that was freed,
// meets nothing.
#ifndef TILE_SIMULATED_DEVICE_H
#define TILE_SIMULATED_DEVICE_H

#include "ptx-simulator/simulator.h"
#include "runtime/device.h"
#include "runtime/violations.h"

#include <pthread.h>

#define SIM_MAX_VIOLATIONS 16

struct simulated_device {
  struct tile_device base;
  size_t shared_limit;        // bytes a CTA may use
  int multiprocessors;        // of a GPU of that kind
  pthread_mutex_t lock;       // guards what follows; launches hold it, so that one runs at a time
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
                             bool check);

// ---- record_violations.c ----
// What a finding is told about the launch.
struct simulated_finding_context {
  struct simulated_device *device;
  const struct kernel_info *info;
  void *const *values;
  size_t shared_bytes; // of a CTA
};
// Keeps the finding among the device's; for sim_launch.finding, where `context` is the user.
void simulated_record(void *context, const struct sim_finding *f);

#endif
