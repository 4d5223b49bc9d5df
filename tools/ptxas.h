// SPDX-License-Identifier: Apache-2.0
// The assembler of the CUDA toolkit: finding it, running it, its messages and its report.
#ifndef TILE_TOOLS_PTXAS_H
#define TILE_TOOLS_PTXAS_H

#include "tools/tool.h"

// Where the assembler is: `--ptxas PATH`, TILE_PTXAS, $CUDA_HOME/bin, PATH, /usr/local/cuda/bin.
// NULL when there is none, or `--ptxas none`. *ret_wrong: the one that was named is no program,
// which was reported (E0750).
const char *ptxas_find(struct tool *t, bool *ret_wrong);

// What ptxas -v says about a kernel; -1: it did not say.
struct ptxas_report {
  int registers, stack_bytes, spill_stores, spill_loads;
};

// PTX to machine code for `target`, on the tool's arena. False with diagnostics: E0751 with
// ptxas's words at the line of the source where the PTX says which. `what` names the kernel.
// Warnings of ptxas are recorded as warnings.
bool ptxas_run(struct tool *t, const char *ptxas, const struct target *target,
               const struct source *source, struct str ptx, const char *what, struct str *ret_cubin,
               struct ptxas_report *ret_report);

#endif
