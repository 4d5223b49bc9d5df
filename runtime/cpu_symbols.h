// SPDX-License-Identifier: Apache-2.0
// The functions that generated CPU code may call.
#ifndef TILE_RUNTIME_CPU_SYMBOLS_H
#define TILE_RUNTIME_CPU_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct cpu_symbol {
  const char *name;
  uintptr_t address;
};

#define CPU_SYMBOL_MAX 128

// Fills the array and returns the count.
size_t cpu_symbols(struct cpu_symbol ret[CPU_SYMBOL_MAX]);

#endif
