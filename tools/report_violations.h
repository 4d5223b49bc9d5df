// SPDX-License-Identifier: Apache-2.0
// What --check found, as diagnostics.
#ifndef TILE_TOOLS_REPORT_VIOLATIONS_H
#define TILE_TOOLS_REPORT_VIOLATIONS_H

#include "base/diag.h"
#include "runtime/runtime_internal.h"

// One diagnostic at the violation's line of `source`. `param` names the parameter that it counts
// (NULL: unknown).
void violation_report(struct diag_engine *diag, const struct source *source,
                      const struct cpu_violation *v, const char *param);

// Both would give the same diagnostic, but for the element and the thread.
bool violation_repeats(const struct cpu_violation *a, const struct cpu_violation *b);

#endif
