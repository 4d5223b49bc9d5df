// SPDX-License-Identifier: Apache-2.0
// One configuration of a problem, for the builder's threads.
#ifndef TILE_AUTOTUNE_BUILD_CONFIG_H
#define TILE_AUTOTUNE_BUILD_CONFIG_H

#include "autotune/tune_build.h"

#include <pthread.h>

struct build_request {
  const struct tune_problem *problem;
  const struct tune_space *space;
  tile_device *device; // that is compiled for
  const struct target *target;
  uint32_t config;
  enum tune_stage stage;
  // Held while the grid's callback runs: one thread at a time may call it.
  pthread_mutex_t *grid_lock;
};

// Fills all but the prediction. What `ret` points to is on `a` and in *ret_kernel (NULL if unused),
// which the caller closes.
void build_config(struct arena *a, const struct build_request *r, struct tune_built *ret,
                  tile_kernel **ret_kernel);

#endif
