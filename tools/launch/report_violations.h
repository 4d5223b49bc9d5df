// SPDX-License-Identifier: Apache-2.0
// Reports violations of --check as diagnostics.
#ifndef TILE_TOOLS_REPORT_VIOLATIONS_H
#define TILE_TOOLS_REPORT_VIOLATIONS_H

#include "base/diag.h"
#include "runtime/runtime_internal.h"

// What is known of the launch's arguments; each may be NULL.
struct violation_facts {
  const char *bound;  // the integer argument with the number of the buffer's elements
  const char *beyond; // the help where a mask compares with a larger argument
};

// One diagnostic at the violation's line in `source`. `param` is the name of its parameter, or
// NULL; `facts` may be NULL.
void violation_report(struct diag_engine *diag, const struct source *source,
                      const struct cpu_violation *v, const char *param,
                      const struct violation_facts *facts);

// Both would give the same diagnostic, except for element and thread.
bool violation_repeats(const struct cpu_violation *a, const struct cpu_violation *b);

#endif
