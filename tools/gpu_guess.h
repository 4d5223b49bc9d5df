// SPDX-License-Identifier: Apache-2.0
// What this machine's GPUs are, without asking the CUDA driver, which takes a third of a second to
// start: a guess with which work can begin until the driver has answered.
#ifndef TILE_TOOLS_GPU_GUESS_H
#define TILE_TOOLS_GPU_GUESS_H

#include "base/arena.h"

#define GPU_GUESS_FOLDER "/proc/driver/nvidia/gpus" // where the kernel's driver describes them

// The target of the GPUs that `folder` describes; NULL where there are none, they differ, or their
// model is not known.
const char *gpu_guess_target(struct arena *a, const char *folder);

#endif
