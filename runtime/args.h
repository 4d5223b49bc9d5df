// SPDX-License-Identifier: Apache-2.0
// Values of kernel arguments, for those who launch: the JIT and packs.
#ifndef TILE_RUNTIME_ARGS_H
#define TILE_RUNTIME_ARGS_H

#include "base/attrs.h"

#include <tile/runtime.h>

bool arg_fits(const tile_arg *arg); // of an integer: whether its value is one of its type
// The value in its own type, at the front of *into.
void arg_store(const tile_arg *arg, uint64_t *into);

#endif
