// SPDX-License-Identifier: Apache-2.0
// Guesses this machine's GPU without the CUDA driver, which takes a third of a second to start, so
// that work can begin before the driver has answered.
#ifndef TILE_TOOLS_GPU_GUESS_H
#define TILE_TOOLS_GPU_GUESS_H

#include "base/arena.h"

#define GPU_GUESS_FOLDER "/proc/driver/nvidia/gpus" // where the kernel driver describes GPUs

// The target of the GPUs that `folder` describes; NULL if there are none, they differ, or their
// model is unknown.
const char *gpu_guess_target(struct arena *a, const char *folder);

#endif
