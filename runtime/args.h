// SPDX-License-Identifier: Apache-2.0
// Values of kernel arguments, for the JIT and for packs.
#ifndef TILE_RUNTIME_ARGS_H
#define TILE_RUNTIME_ARGS_H

#include "base/attrs.h"

#include <tile/runtime.h>

bool arg_fits(const tile_arg *arg); // for integers: the value is in its type's range
// Stores the value in its own type at the start of *into.
void arg_store(const tile_arg *arg, uint64_t *into);

#endif
