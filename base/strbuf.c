// SPDX-License-Identifier: Apache-2.0
// The growable string builder of base/str.h.
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

static bool strbuf_grow(struct strbuf *b, size_t more) {
  if (b->failed)
    return false;
  if (more >= SIZE_MAX / 2 - b->len) {
    b->failed = true;
    return false;
  }
  size_t want = b->len + more + 1;
  if (want <= b->cap)
    return true;
  size_t cap = b->cap ? b->cap * 2 : 64;
  if (cap < want)
    cap = want;
  char *p = realloc(b->ptr, cap);
  if (!p) {
    b->failed = true;
    return false;
  }
  b->ptr = p;
  b->cap = cap;
  return true;
}

void strbuf_put(struct strbuf *b, const char *s, size_t n) {
  if (!strbuf_grow(b, n))
    return;
  if (n)
    memcpy(b->ptr + b->len, s, n);
  b->len += n;
  b->ptr[b->len] = 0;
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
    b->failed = true;
    b->ptr[b->len] = 0;
    return;
  }
  if ((size_t)n >= b->cap - b->len) {
    if (!strbuf_grow(b, (size_t)n)) {
      b->ptr[b->len] = 0;
      return;
    }
    vsnprintf(b->ptr + b->len, b->cap - b->len, fmt, ap);
  }
  b->len += (size_t)n;
}

const char *strbuf_cstr(const struct strbuf *b) { return b->ptr ? b->ptr : ""; }

void strbuf_clear(struct strbuf *b) {
  b->len = 0;
  b->failed = false;
  if (b->ptr)
    b->ptr[0] = 0;
}

void strbuf_finish(struct strbuf *b) {
  free(b->ptr);
  *b = (struct strbuf){0};
}

char *strbuf_take(struct strbuf *b) {
  char *text = NULL;
  if (!b->failed && strbuf_grow(b, 0)) {
    text = b->ptr;
    text[b->len] = 0;
    b->ptr = NULL;
  }
  strbuf_finish(b);
  return text;
}
