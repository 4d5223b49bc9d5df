// SPDX-License-Identifier: Apache-2.0
// Marks the kernels of a freshly parsed module. The questions about them are in lang/frontend.h.
#ifndef TILE_LANG_SYNTAX_KERNELS_H
#define TILE_LANG_SYNTAX_KERNELS_H

#include "lang/syntax/ast.h"

// Fills kernel_names and kernel_count.
void kernels_find(struct arena *a, struct ast_module *m);

#endif
