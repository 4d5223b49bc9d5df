// SPDX-License-Identifier: Apache-2.0
// What --check found, as diagnostics.
#ifndef TILE_TOOLS_FINDINGS_H
#define TILE_TOOLS_FINDINGS_H

#include "base/diag.h"
#include "runtime/runtime_internal.h"

// One diagnostic at the finding's line of `source`. `param` names the parameter that it counts
// (NULL: unknown).
void finding_report(struct diag_engine *diag, const struct source *source,
                    const struct host_violation *v, const char *param);

// Both would give the same diagnostic, but for the element and the thread.
bool finding_repeats(const struct host_violation *a, const struct host_violation *b);

#endif
