// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a launch without running it: a roofline over the kernel's costs
// (lowering/cost/kernel_cost.h), occupancy, and the waves of the grid. Accurate enough to rank
// configurations; the tuner measures the best of them.
#ifndef TILE_AUTOTUNE_PREDICT_H
#define TILE_AUTOTUNE_PREDICT_H

#include "lowering/cost/kernel_cost.h"

#include <tile/runtime.h>

// Properties of a typical device of that target, used until the device itself has answered. False:
// there is no such target.
bool tune_device_assumed(const char *target, tile_device_properties *ret);

struct prediction {
  double ms;
  const char *limiter; // "memory", "tensor cores", "instructions", "shared memory", "latency", ...
  unsigned programs_per_sm;
  double waves;
  double bound_ms; // bytes and operations at the device's peaks: a lower bound
};

struct prediction tune_predict(const struct tile_device_properties *device,
                               const struct target *target, const struct kernel_cost *cost,
                               tile_grid grid);

// Why a configuration cannot run or is not worth measuring ("needs 245760 bytes of shared memory; a
// program may use 232448"), or NULL. On `a`.
const char *tune_prune_reason(struct arena *a, const struct tile_device_properties *device,
                              const struct target *target, const struct kernel_cost *cost,
                              tile_grid grid);

#endif
