// SPDX-License-Identifier: Apache-2.0
// Violations of checked launches as the text of an error, shared by the CPU device and simulated
// devices.
#ifndef TILE_RUNTIME_VIOLATIONS_H
#define TILE_RUNTIME_VIOLATIONS_H

#include "runtime/runtime_internal.h"

// Describes the first of `total` violations in one line; `info` is the launched kernel's.
void violation_describe(const struct kernel_info *info, const struct cpu_violation *first,
                        uint64_t total, char *text, size_t size);

#endif
