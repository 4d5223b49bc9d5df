// SPDX-License-Identifier: Apache-2.0
// Compilation in processes of its own, for programs that want to outlive what MLIR and LLVM do not
// survive (tile_device_set_worker). A device has one pool, which stays until the device is closed;
// each of its workers compiles one kernel at a time, so that a death or a limit is that kernel's.
#ifndef TILE_JIT_WORKER_POOL_H
#define TILE_JIT_WORKER_POOL_H

#include "jit/worker/message.h"
#include "runtime/runtime_internal.h"

#include <tile/tile.h>

struct compile_pool;

// The device's, if it compiles in workers now; else NULL.
struct compile_pool *compile_pool_of(tile_device *device);
// For a device that stands for another one while that stays open: its kernels are compiled where
// those of the other are.
void compile_pool_share(tile_device *device, const tile_device *with);
// Compiles: what jit_reply_make does, with `at`, the kernel's location, for what becomes of the
// worker. TILE_OK: `diag` says whether there is an answer, which is on `a`. Otherwise no worker
// could be had.
tile_status compile_pool_run(struct compile_pool *p, struct arena *a, struct diag_engine *diag,
                             const struct jit_job *q, struct span at, struct jit_reply *ret);

// The worker's main (jit/worker/compile_server.c).
int compile_worker_main(int argc, char **argv);

#endif
