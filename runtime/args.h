// SPDX-License-Identifier: Apache-2.0
// Values of kernel arguments, for the JIT and for packs.
#ifndef TILE_RUNTIME_ARGS_H
#define TILE_RUNTIME_ARGS_H

#include "base/attrs.h"

#include <tile/runtime.h>

static inline bool arg_is_none(const tile_arg *arg) { return arg->type == TILE_NONE; }
bool arg_fits(const tile_arg *arg); // for integers: the value is in its type's range
// Stores the value in its own type (None: a null pointer) at the start of *into.
void arg_store(const tile_arg *arg, uint64_t *into);

#endif
