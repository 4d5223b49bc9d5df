// SPDX-License-Identifier: Apache-2.0
// Configurations of a program's kernels: what can be tuned, and applying a choice.
#ifndef TILE_GRAPH_PLAN_KERNEL_CONFIG_H
#define TILE_GRAPH_PLAN_KERNEL_CONFIG_H

#include "autotune/database/database.h"
#include "graph/program/program.h"

// graph_kernel.space with the kernel's own configuration first. NULL, or why there is nothing to
// tune.
const char *kernel_space(struct arena *a, struct program *p, const struct graph_kernel *k,
                         struct tune_space *ret);
// As in files and reports, in the space's order.
const char *kernel_config_text(struct arena *a, const struct tune_space *s,
                               const struct graph_kernel *k);

// Does the kernel have these settings?
bool kernel_has(struct arena *a, const struct graph_kernel *k, const struct tune_setting *s,
                size_t count);
// Applies the settings: constants, defaults in the source, launch options, grids of all launches.
// False, without changes, if a setting is not valid for this kernel or a grid would be too large.
bool kernel_configure(struct program *p, struct graph_kernel *k, const struct tune_setting *s,
                      size_t count);

#endif
