// SPDX-License-Identifier: Apache-2.0
// The assembler of the CUDA toolkit: its look-up, its invocation, its messages and its report.
#ifndef TILE_TOOLS_PTXAS_H
#define TILE_TOOLS_PTXAS_H

#include "tools/tool.h"

// The assembler: `--ptxas PATH`, TILE_PTXAS, $CUDA_HOME/bin, PATH, /usr/local/cuda/bin. NULL when
// there is none, or with `--ptxas none`. *ret_wrong: the given path is no program, which was
// reported (E0750).
const char *ptxas_find(struct tool *t, bool *ret_wrong);

// Resources of a kernel from ptxas -v; -1: not reported.
struct ptxas_report {
  int registers, stack_bytes, spill_stores, spill_loads;
};

// Assembles PTX for `target`, on the tool's arena. False with diagnostics: E0751 with ptxas's
// message at the source line of the PTX, if known. `what` names the kernel. Warnings of ptxas are
// recorded as warnings.
bool ptxas_run(struct tool *t, const char *ptxas, const struct target *target,
               const struct source *source, struct str ptx, const char *what, struct str *ret_cubin,
               struct ptxas_report *ret_report);

#endif
