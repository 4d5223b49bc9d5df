// SPDX-License-Identifier: Apache-2.0
// Ranges of NVTX, NVIDIA's annotations for profilers, by the library libnvToolsExt, if it is there.
#ifndef TILE_BASE_NVTX_H
#define TILE_BASE_NVTX_H

#include "base/attrs.h"

// `path` NULL: libnvToolsExt.so.1. False: there is no such library. Called once, before the others.
bool nvtx_open(const char *path);
// Of the calling thread.
void nvtx_push(const char *name);
void nvtx_pop(void);

#endif
