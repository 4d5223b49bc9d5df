// SPDX-License-Identifier: Apache-2.0
// Bump allocation. All data of one compiler session (AST, types, diagnostics, side tables) lives in
// one arena and is freed with it; passes use marks for scratch memory.
#ifndef TILE_BASE_ARENA_H
#define TILE_BASE_ARENA_H

#include "base/attrs.h"

#include <setjmp.h>
#include <stdarg.h>

struct arena;

struct arena_mark {
  void *chunk;
  size_t used;
};

// NULL when memory is out. Not thread-safe: one arena belongs to one thread at a time.
struct arena *arena_create(void);
void arena_destroy(struct arena *a); // accepts NULL

// When memory is out, an allocation jumps to `on_oom` (value 1). Library entry points set it, so
// that running out of memory is an error value and never an abort. Without it, allocation returns
// NULL. Returns the previous handler, which nested entry points restore.
jmp_buf *arena_set_oom(struct arena *a, jmp_buf *on_oom);
// Jumps to the handler as a failed allocation does; returns if there is none.
void arena_raise(struct arena *a);
// Calls work(user) under a separate handler; false when memory ran out. For callbacks from C++
// code: the jump must not cross C++ frames, so it ends here, and the caller raises after the C++
// code has returned.
bool arena_guard(struct arena *a, void (*work)(void *user), void *user);

// A scratch arena: its failures go to the parent's handler, and it is destroyed with the parent
// unless arena_destroy was called before. NULL only if the parent has no handler.
struct arena *arena_create_nested(struct arena *parent);

// Zeroed memory; `align` a power of two up to 64.
void *arena_alloc(struct arena *a, size_t size, size_t align);
#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T), _Alignof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (n), _Alignof(T)))

void *arena_dup(struct arena *a, const void *src, size_t size, size_t align);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);

// Scratch memory: a release frees everything allocated since the mark.
struct arena_mark arena_mark(struct arena *a);
void arena_release(struct arena *a, struct arena_mark m);
size_t arena_bytes(const struct arena *a);

// A growable block for string buffers: on the heap, owned by the arena, not freed by arena_release.
// `block` NULL allocates one. Returns NULL, without raising, when memory is out.
void *arena_block_resize(struct arena *a, void *block, size_t size);
void arena_block_free(void *block); // accepts NULL

#endif
