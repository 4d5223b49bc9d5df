// SPDX-License-Identifier: Apache-2.0
// malloc and its family behind the hook of base/memory.h.
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool (*memory_fails)(enum memory_use use);

static bool is_failing(void) { return memory_fails && memory_fails(MEMORY_HEAP); }

void *memory_alloc(size_t size) { return is_failing() ? NULL : malloc(size); }

void *memory_zeroed(size_t count, size_t size) { return is_failing() ? NULL : calloc(count, size); }

void *memory_resize(void *block, size_t size) { return is_failing() ? NULL : realloc(block, size); }

void *memory_aligned(size_t align, size_t size) {
  void *p;
  return is_failing() || posix_memalign(&p, align, size) != 0 ? NULL : p;
}

char *memory_strdup(const char *s) { return is_failing() ? NULL : strdup(s); }

char *memory_strndup(const char *s, size_t n) { return is_failing() ? NULL : strndup(s, n); }
