// SPDX-License-Identifier: Apache-2.0
// The functions that JIT-compiled host code may call.
#ifndef TILE_JIT_HOST_SYMBOLS_H
#define TILE_JIT_HOST_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct host_symbol {
  const char *name;
  uintptr_t address;
};

#define HOST_SYMBOL_MAX 128

// Fills the array and returns how many there are.
size_t host_symbols(struct host_symbol ret[HOST_SYMBOL_MAX]);

#endif
