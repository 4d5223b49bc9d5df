// SPDX-License-Identifier: Apache-2.0
// Runs IR on the host executor, for tests of the emission.
#ifndef TEST_LOWERING_HOST_RUN_H
#define TEST_LOWERING_HOST_RUN_H

#include "lowering/compile.h"
#include "runtime/runtime_internal.h"

struct host_run {
  struct arena *arena;
  struct diag_engine *diag;
  struct orc *orc;
  tile_device *device;
};

void host_run_open(struct host_run *h);
void host_run_close(struct host_run *h);

// Compiles IR for a target; false after diagnostics.
bool host_run_compile(struct host_run *h, const char *ir, const char *target, uint32_t num_warps,
                      enum emit_kind emit, bool check, struct compile_result *ret);
// Compiles for the host and launches `programs` programs; fails the test on errors.
tile_status host_run_ir(struct host_run *h, const char *ir, uint32_t num_warps, uint32_t programs,
                        bool check, void *const *values);

#endif
