// SPDX-License-Identifier: Apache-2.0
// Compilation in worker processes, for programs that must survive crashes of MLIR and LLVM
// (tile_device_set_worker). A device has one pool, which lives until the device is closed; each
// worker compiles one kernel at a time, so that a crash or a limit affects that kernel only.
#ifndef TILE_JIT_WORKER_POOL_H
#define TILE_JIT_WORKER_POOL_H

#include "jit/worker/message.h"
#include "runtime/runtime_internal.h"

#include <tile/tile.h>

struct compile_pool;

// The device's pool if it compiles in workers now; else NULL.
struct compile_pool *compile_pool_of(tile_device *device);
// For an offline device that represents another device: its kernels are compiled in the other one's
// workers. The other one must stay open.
void compile_pool_share(tile_device *device, const tile_device *with);
// Compiles: what jit_reply_make does, in a worker. `at`, the kernel's location, is for diagnostics
// about the worker. TILE_OK: `diag` says whether there is a result, which is on `a`. Otherwise no
// worker was available.
tile_status compile_pool_run(struct compile_pool *p, struct arena *a, struct diag_engine *diag,
                             const struct jit_job *q, struct span at, struct jit_reply *ret);

// The worker's main (jit/worker/compile_server.c).
int compile_worker_main(int argc, char **argv);

#endif
