// SPDX-License-Identifier: Apache-2.0
// Which functions of a file are kernels.
#ifndef TILE_LANG_SYNTAX_KERNELS_H
#define TILE_LANG_SYNTAX_KERNELS_H

#include "lang/syntax/ast.h"

struct diag_engine;

// Fills kernel_names and kernel_count.
void kernels_find(struct arena *a, struct ast_module *m);
// The kernel of that name (NULL: the only one). NULL with a diagnostic (E0401 unknown, E0402
// several and none named, E0403 none) if there is no such kernel.
const struct ast_function *kernels_choose(struct arena *a, struct diag_engine *diag,
                                          const struct ast_module *m, const char *name);

#endif
