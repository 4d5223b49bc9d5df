// SPDX-License-Identifier: Apache-2.0
// Configurations of a program's kernels: what may be chosen for one, and what follows when it is.
#ifndef TILE_GRAPH_PLAN_KERNEL_CONFIG_H
#define TILE_GRAPH_PLAN_KERNEL_CONFIG_H

#include "autotune/database/database.h"
#include "graph/program/program.h"

// graph_kernel.space with the kernel's own configuration first. NULL, or why there is nothing to
// choose.
const char *kernel_space(struct arena *a, struct program *p, const struct graph_kernel *k,
                         struct tune_space *ret);
// As files and reports spell it, the settings in the space's order.
const char *kernel_config_text(struct arena *a, const struct tune_space *s,
                               const struct graph_kernel *k);

// Has the kernel these settings already?
bool kernel_has(struct arena *a, const struct graph_kernel *k, const struct tune_setting *s,
                size_t count);
// Takes such settings: constants, the source's defaults, launch options, the grids of all launches.
// False where one is no choice of this kernel or a grid would get too large; then nothing has
// changed.
bool kernel_configure(struct program *p, struct graph_kernel *k, const struct tune_setting *s,
                      size_t count);

#endif
