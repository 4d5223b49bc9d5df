// SPDX-License-Identifier: Apache-2.0
// Faults of kernels that run on the host (host_fault.c).
#ifndef TILE_RUNTIME_HOST_FAULT_H
#define TILE_RUNTIME_HOST_FAULT_H

#include "base/attrs.h"

#include <setjmp.h>

enum host_fault_kind { FAULT_READS, FAULT_WRITES, FAULT_ACCESSES };

// What one worker runs: where a fault goes, and what it was.
struct host_fault {
  sigjmp_buf *volatile leave; // NULL while no kernel's code runs
  uintptr_t address;
  enum host_fault_kind kind; // FAULT_ACCESSES: the processor does not say
};

// Around a launch: the process has the handler while any launch runs.
void host_fault_install(void);
void host_fault_remove(void);
// The calling thread's faults go to `f`; NULL: to whoever was there before.
void host_fault_catch(struct host_fault *f);

#endif
