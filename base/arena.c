// SPDX-License-Identifier: Apache-2.0
// Bump allocation over a list of chunks, newest first. A chunk is never moved, so pointers stay
// valid until the arena goes or a mark below them is released. Chunks double up to a limit; an
// allocation that does not fit a usual chunk gets one of its own size.
#include "base/arena.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK ((size_t)16 << 10)
#define LARGEST_CHUNK ((size_t)1 << 20)
#define MAX_ALIGN 64

struct chunk {
  struct chunk *next; // older
  size_t size, used;  // of data
  char *data;         // aligned to MAX_ALIGN
};

struct block { // of arena_block_resize; its bytes follow
  struct block *next, *previous;
  struct arena *owner;
  max_align_t bytes[];
};

struct arena {
  struct chunk *head;
  size_t next_size;
  size_t bytes; // in all chunks
  jmp_buf *on_oom;
  struct block *blocks;
  // Nested arenas: the parent, whose handler is used, and the arenas to destroy with this one.
  struct arena *parent, *children, *sibling;
};

static struct chunk *chunk_create(size_t size) {
  if (size > SIZE_MAX - sizeof(struct chunk) - MAX_ALIGN)
    return NULL;
  struct chunk *c = memory_alloc(sizeof *c + MAX_ALIGN + size);
  if (!c)
    return NULL;
  uintptr_t data = ((uintptr_t)(c + 1) + MAX_ALIGN - 1) & ~(uintptr_t)(MAX_ALIGN - 1);
  *c = (struct chunk){.size = size, .data = (char *)data};
  return c;
}

struct arena *arena_create(void) {
  struct arena *a = memory_alloc(sizeof *a);
  if (a)
    *a = (struct arena){.next_size = FIRST_CHUNK};
  return a;
}

struct arena *arena_create_nested(struct arena *parent) {
  struct arena *a = arena_create();
  if (!a) {
    arena_raise(parent);
    return NULL;
  }
  a->parent = parent;
  a->sibling = parent->children;
  parent->children = a;
  return a;
}

static void detach(struct arena *a) {
  struct arena **at = &a->parent->children;
  while (*at != a)
    at = &(*at)->sibling;
  *at = a->sibling;
}

void arena_destroy(struct arena *a) {
  if (!a)
    return;
  while (a->children)
    arena_destroy(a->children);
  if (a->parent)
    detach(a);
  while (a->blocks)
    arena_block_free(a->blocks->bytes);
  for (struct chunk *c = a->head; c;) {
    struct chunk *next = c->next;
    free(c);
    c = next;
  }
  free(a);
}

// ---- out of memory ----

jmp_buf *arena_set_oom(struct arena *a, jmp_buf *on_oom) {
  jmp_buf *before = a->on_oom;
  a->on_oom = on_oom;
  return before;
}

static jmp_buf *handler_of(const struct arena *a) {
  while (!a->on_oom && a->parent)
    a = a->parent;
  return a->on_oom;
}

void arena_raise(struct arena *a) {
  jmp_buf *on_oom = handler_of(a);
  if (on_oom)
    longjmp(*on_oom, 1);
}

bool arena_guard(struct arena *a, void (*work)(void *user), void *user) {
  jmp_buf here;
  jmp_buf *const before = a->on_oom;
  a->on_oom = &here;
  if (setjmp(here)) {
    a->on_oom = before;
    return false;
  }
  work(user);
  a->on_oom = before;
  return true;
}

static void *out_of_memory(struct arena *a) {
  arena_raise(a);
  return NULL;
}

// ---- chunks ----

static bool push_chunk(struct arena *a, size_t at_least) {
  size_t size = a->next_size > at_least ? a->next_size : at_least;
  struct chunk *c = chunk_create(size);
  if (!c)
    return false;
  c->next = a->head;
  a->head = c;
  a->bytes += size;
  if (a->next_size < LARGEST_CHUNK)
    a->next_size *= 2;
  return true;
}

void *arena_alloc(struct arena *a, size_t size, size_t align) {
  assert(align && align <= MAX_ALIGN && (align & (align - 1)) == 0);
  if (memory_fails && memory_fails(handler_of(a) ? MEMORY_ARENA : MEMORY_BARE_ARENA))
    return out_of_memory(a);
  struct chunk *c = a->head;
  size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
  if (!c || at > c->size || size > c->size - at) {
    if (!push_chunk(a, size))
      return out_of_memory(a);
    c = a->head;
    at = 0;
  }
  c->used = at + size;
  // Released memory is reused, so it is cleared here and not when the chunk is allocated.
  return memset(c->data + at, 0, size);
}

void *arena_dup(struct arena *a, const void *src, size_t size, size_t align) {
  void *p = arena_alloc(a, size, align);
  if (p && size)
    memcpy(p, src, size);
  return p;
}

char *arena_strdup(struct arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_strndup(struct arena *a, const char *s, size_t n) {
  char *p = arena_alloc(a, n + 1, 1);
  if (p && n)
    memcpy(p, s, n);
  return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *s = arena_vprintf(a, fmt, ap);
  va_end(ap);
  return s;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, again);
  va_end(again);
  if (n < 0)
    return out_of_memory(a);
  char *p = arena_alloc(a, (size_t)n + 1, 1);
  if (p)
    vsnprintf(p, (size_t)n + 1, fmt, ap);
  return p;
}

struct arena_mark arena_mark(struct arena *a) {
  return (struct arena_mark){a->head, a->head ? a->head->used : 0};
}

void arena_release(struct arena *a, struct arena_mark m) {
  while (a->head && a->head != m.chunk) {
    struct chunk *next = a->head->next;
    a->bytes -= a->head->size;
    free(a->head);
    a->head = next;
  }
  assert(a->head == m.chunk && "the mark is of this arena and not above another that was released");
  assert(!a->head || m.used <= a->head->used);
  if (a->head)
    a->head->used = m.used;
}

size_t arena_bytes(const struct arena *a) { return a->bytes; }

// ---- blocks ----

static struct block *block_of(void *bytes) {
  return (struct block *)((char *)bytes - offsetof(struct block, bytes));
}

void *arena_block_resize(struct arena *a, void *bytes, size_t size) {
  struct block *old = bytes ? block_of(bytes) : NULL;
  assert((!old || old->owner == a) && "a block stays with its arena");
  if (size > SIZE_MAX - sizeof(struct block))
    return NULL;
  struct block *b = memory_resize(old, sizeof *b + size);
  if (!b)
    return NULL;
  if (!old)
    *b = (struct block){.next = a->blocks, .owner = a};
  // Neighbours point to where the block is now.
  if (b->next)
    b->next->previous = b;
  if (b->previous)
    b->previous->next = b;
  else
    a->blocks = b;
  return b->bytes;
}

void arena_block_free(void *bytes) {
  if (!bytes)
    return;
  struct block *b = block_of(bytes);
  if (b->next)
    b->next->previous = b->previous;
  if (b->previous)
    b->previous->next = b->next;
  else
    b->owner->blocks = b->next;
  free(b);
}
