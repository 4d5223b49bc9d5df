// SPDX-License-Identifier: Apache-2.0
// Bump allocation over a list of chunks, newest first. A chunk is never moved, so pointers stay
// valid until the arena goes or a mark below them is released. Chunks double up to a limit; an
// allocation that does not fit a usual chunk gets one of its own size.
#include "base/arena.h"

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

struct arena {
  struct chunk *head;
  size_t next_size;
  size_t bytes; // in all chunks
  jmp_buf *on_oom;
};

static struct chunk *chunk_create(size_t size) {
  if (size > SIZE_MAX - sizeof(struct chunk) - MAX_ALIGN)
    return NULL;
  struct chunk *c = malloc(sizeof *c + MAX_ALIGN + size);
  if (!c)
    return NULL;
  uintptr_t data = ((uintptr_t)(c + 1) + MAX_ALIGN - 1) & ~(uintptr_t)(MAX_ALIGN - 1);
  *c = (struct chunk){.size = size, .data = (char *)data};
  return c;
}

struct arena *arena_create(void) {
  struct arena *a = malloc(sizeof *a);
  if (a)
    *a = (struct arena){.next_size = FIRST_CHUNK};
  return a;
}

void arena_destroy(struct arena *a) {
  if (!a)
    return;
  for (struct chunk *c = a->head; c;) {
    struct chunk *next = c->next;
    free(c);
    c = next;
  }
  free(a);
}

void arena_set_oom(struct arena *a, jmp_buf *on_oom) { a->on_oom = on_oom; }

static void *out_of_memory(struct arena *a) {
  if (a->on_oom)
    longjmp(*a->on_oom, 1);
  return NULL;
}

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
  struct chunk *c = a->head;
  size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
  if (!c || at > c->size || size > c->size - at) {
    if (!push_chunk(a, size))
      return out_of_memory(a);
    c = a->head;
    at = 0;
  }
  c->used = at + size;
  // Released memory is used again, so it is cleared here and not when the chunk is made.
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
  if (a->head)
    a->head->used = m.used;
}

size_t arena_bytes(const struct arena *a) { return a->bytes; }
