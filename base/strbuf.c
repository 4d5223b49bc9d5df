// SPDX-License-Identifier: Apache-2.0
// The growable string builder of base/str.h.
#include "base/arena.h"
#include "base/memory.h"
#include "base/str.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static bool fail(struct strbuf *b) {
  b->failed = true;
  return false;
}

static bool grow_quietly(struct strbuf *b, size_t more) {
  if (b->failed)
    return false;
  if (more >= SIZE_MAX / 2 - b->len)
    return fail(b);
  size_t want = b->len + more + 1;
  if (want <= b->cap)
    return true;
  size_t cap = b->cap ? b->cap * 2 : 64;
  if (cap < want)
    cap = want;
  char *p = b->arena ? arena_block_resize(b->arena, b->ptr, cap) : memory_resize(b->ptr, cap);
  if (!p)
    return fail(b);
  b->ptr = p;
  b->cap = cap;
  return true;
}

// Jumps if the buffer has failed.
void strbuf_check(const struct strbuf *b) {
  if (b->failed && b->arena)
    arena_raise(b->arena);
}

static bool strbuf_grow(struct strbuf *b, size_t more) {
  if (grow_quietly(b, more))
    return true;
  strbuf_check(b);
  return false;
}

static void append(struct strbuf *b, const char *s, size_t n) {
  if (n)
    memcpy(b->ptr + b->len, s, n);
  b->len += n;
  b->ptr[b->len] = 0;
}

void strbuf_put(struct strbuf *b, const char *s, size_t n) {
  if (strbuf_grow(b, n))
    append(b, s, n);
}

void strbuf_put_in_callback(struct strbuf *b, const char *s, size_t n) {
  if (grow_quietly(b, n))
    append(b, s, n);
}

void strbuf_puts(struct strbuf *b, const char *s) { strbuf_put(b, s, strlen(s)); }
void strbuf_putc(struct strbuf *b, char c) { strbuf_put(b, &c, 1); }

void strbuf_printf(struct strbuf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  strbuf_vprintf(b, fmt, ap);
  va_end(ap);
}

void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap) {
  if (!strbuf_grow(b, 64))
    return;
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(b->ptr + b->len, b->cap - b->len, fmt, again);
  va_end(again);
  if (n < 0) {
    b->ptr[b->len] = 0;
    strbuf_fail(b);
    return;
  }
  if ((size_t)n >= b->cap - b->len) {
    b->ptr[b->len] = 0;
    if (!strbuf_grow(b, (size_t)n))
      return;
    vsnprintf(b->ptr + b->len, b->cap - b->len, fmt, ap);
  }
  b->len += (size_t)n;
}

const char *strbuf_cstr(const struct strbuf *b) {
  strbuf_check(b);
  return b->ptr ? b->ptr : "";
}

void strbuf_fail(struct strbuf *b) {
  b->failed = true;
  strbuf_check(b);
}

void strbuf_clear(struct strbuf *b) {
  b->len = 0;
  b->failed = false;
  if (b->ptr)
    b->ptr[0] = 0;
}

void strbuf_finish(struct strbuf *b) {
  if (b->arena)
    arena_block_free(b->ptr);
  else
    free(b->ptr);
  *b = (struct strbuf){.arena = b->arena};
}

char *strbuf_take(struct strbuf *b) {
  assert(!b->arena && "an arena does not give its memory away");
  char *text = NULL;
  if (!b->failed && strbuf_grow(b, 0)) {
    text = b->ptr;
    text[b->len] = 0;
    b->ptr = NULL;
  }
  strbuf_finish(b);
  return text;
}

void strbuf_time(struct strbuf *b, double ms) {
  if (ms >= 0.1)
    strbuf_printf(b, "%.4f ms", ms);
  else
    strbuf_printf(b, "%.2f us", ms * 1e3);
}
