// SPDX-License-Identifier: Apache-2.0
// Reports violations of --check as diagnostics.
#ifndef TILE_TOOLS_REPORT_VIOLATIONS_H
#define TILE_TOOLS_REPORT_VIOLATIONS_H

#include "base/diag.h"
#include "runtime/runtime_internal.h"

// One diagnostic at the violation's line in `source`. `param` is the name of its parameter, `bound`
// that of the integer argument with the number of its elements (NULL: unknown, none).
void violation_report(struct diag_engine *diag, const struct source *source,
                      const struct cpu_violation *v, const char *param, const char *bound);

// Both would give the same diagnostic, except for element and thread.
bool violation_repeats(const struct cpu_violation *a, const struct cpu_violation *b);

#endif
