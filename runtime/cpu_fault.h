// SPDX-License-Identifier: Apache-2.0
// Faults of kernels that run on the CPU (cpu_fault.c).
#ifndef TILE_RUNTIME_CPU_FAULT_H
#define TILE_RUNTIME_CPU_FAULT_H

#include "base/attrs.h"

#include <setjmp.h>

enum cpu_fault_kind { FAULT_READS, FAULT_WRITES, FAULT_ACCESSES };

// What one worker runs: where to jump after a fault, and the fault.
struct cpu_fault {
  sigjmp_buf *volatile leave; // NULL while no kernel's code runs
  uintptr_t address;
  enum cpu_fault_kind kind; // FAULT_ACCESSES: the processor does not tell load from store
};

// Called around launches, nested too: the handler is installed while any launch runs.
void cpu_fault_install(void);
void cpu_fault_remove(void);
// The calling thread's faults go to `f`; NULL: to the previous handler.
void cpu_fault_catch(struct cpu_fault *f);

#endif
