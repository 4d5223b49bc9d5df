// SPDX-License-Identifier: Apache-2.0
// The project's heap allocation: malloc and its family, with a hook by which tests make allocations
// fail. Results are released with free(); NULL when memory is out. Compiler data lives on arenas
// (base/arena.h), which raise instead.
#ifndef TILE_BASE_MEMORY_H
#define TILE_BASE_MEMORY_H

#include "base/attrs.h"

// For tests of allocation failures: called before each allocation, in any thread, to decide whether
// it fails; also before each allocation on an arena, since any of those may need a new chunk. NULL,
// the default: none fails. Set it before other threads are started.
enum memory_use {
  MEMORY_HEAP,
  MEMORY_ARENA,
  MEMORY_BARE_ARENA // without a handler (arena_set_oom): its failure would be a null pointer
};
extern bool (*memory_fails)(enum memory_use use);

NODISCARD void *memory_alloc(size_t size);
NODISCARD void *memory_zeroed(size_t count, size_t size); // checks the product for overflow
NODISCARD void *memory_resize(void *block, size_t size);  // on failure `block` is unchanged
// `align` a power of two that is a multiple of sizeof(void *).
NODISCARD void *memory_aligned(size_t align, size_t size);
NODISCARD char *memory_strdup(const char *s);
NODISCARD char *memory_strndup(const char *s, size_t n);

#endif
