// SPDX-License-Identifier: Apache-2.0
// Runs IR on the CPU executor, for tests of the emission.
#ifndef TEST_LOWERING_CPU_RUN_H
#define TEST_LOWERING_CPU_RUN_H

#include "lowering/compile.h"
#include "runtime/runtime_internal.h"

struct cpu_run {
  struct arena *arena;
  struct diag_engine *diag;
  struct orc *orc;
  tile_device *device;
};

void cpu_run_open(struct cpu_run *h);
void cpu_run_close(struct cpu_run *h);

// Compiles IR for a target; false after diagnostics.
bool cpu_run_compile(struct cpu_run *h, const char *ir, const char *target, uint32_t num_warps,
                     enum emit_kind emit, bool check, struct compile_result *ret);
// Compiles for the CPU and launches `programs` programs; fails the test on errors.
tile_status cpu_run_ir(struct cpu_run *h, const char *ir, uint32_t num_warps, uint32_t programs,
                       bool check, void *const *values);

#endif
