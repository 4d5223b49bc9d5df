// SPDX-License-Identifier: Apache-2.0
// The mask that a load or store outside of its buffer lacks.
#ifndef TILE_TOOLS_MASK_HELP_H
#define TILE_TOOLS_MASK_HELP_H

#include "base/diag.h"

// Adds the help, and an edit where the call at `where` is `load(x + OFFSETS)` or `store(x +
// OFFSETS, value)` of `param`. `bound` is the argument that has the buffer's number of elements, or
// that number. `beyond` is the help for an access that has a mask, or NULL.
void mask_help(struct diag *d, struct span where, const char *param, const char *bound,
               const char *beyond);

#endif
