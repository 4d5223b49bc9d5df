// SPDX-License-Identifier: Apache-2.0
// Where the project's own memory comes from: malloc and its family, with one hook at which tests
// let allocations fail. All results are for free(); NULL when memory is out. Compiler data lives on
// arenas (base/arena.h), which raise instead.
#ifndef TILE_BASE_MEMORY_H
#define TILE_BASE_MEMORY_H

#include "base/attrs.h"

// For tests of allocation failures: asked before each allocation, in any thread, whether it fails;
// also before each of an arena, since any of those may be the one that finds a chunk full. NULL,
// the default: none fails. Set it before other threads are started.
enum memory_use {
  MEMORY_HEAP,
  MEMORY_ARENA,
  MEMORY_BARE_ARENA // without a handler (arena_set_oom): its failure would be a null pointer
};
extern bool (*memory_fails)(enum memory_use use);

NODISCARD void *memory_alloc(size_t size);
NODISCARD void *memory_zeroed(size_t count, size_t size); // checks the product for overflow
NODISCARD void *memory_resize(void *block, size_t size);  // on failure `block` is as it was
// `align` a power of two that is a multiple of sizeof(void *).
NODISCARD void *memory_aligned(size_t align, size_t size);
NODISCARD char *memory_strdup(const char *s);
NODISCARD char *memory_strndup(const char *s, size_t n);

#endif
