// SPDX-License-Identifier: Apache-2.0
// Findings of checked launches as the text of an error: shared by the host's checker and the
// simulator's device.
#ifndef TILE_RUNTIME_VIOLATIONS_H
#define TILE_RUNTIME_VIOLATIONS_H

#include "runtime/runtime_internal.h"

// What the first of `total` findings says, in one line; `info` is the launched kernel's.
void violation_describe(const struct kernel_info *info, const struct host_violation *first,
                        uint64_t total, char *text, size_t size);

#endif
