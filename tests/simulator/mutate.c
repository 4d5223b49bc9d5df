// SPDX-License-Identifier: Apache-2.0
// Injects faults into PTX text, one line each.
#include "mutate.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct str line_at(const char *p) {
  const char *end = strchr(p, '\n');
  return (struct str){p, end ? (size_t)(end - p) : strlen(p)};
}

static const char *next_line(struct str line) {
  return line.ptr[line.len] ? line.ptr + line.len + 1 : NULL;
}

static bool contains(struct str line, const char *part) {
  size_t n = strlen(part);
  for (size_t i = 0; i + n <= line.len; i++)
    if (memcmp(line.ptr + i, part, n) == 0)
      return true;
  return false;
}

static struct str find_line(const char *ptx, const struct mutation *m) {
  unsigned seen = 0;
  for (const char *p = ptx; p && *p;) {
    struct str line = line_at(p);
    if (contains(line, m->line) && ++seen == m->occurrence) {
      for (unsigned i = 0; i < m->below && line.ptr; i++) {
        const char *next = next_line(line);
        line = next ? line_at(next) : (struct str){0};
      }
      return line;
    }
    p = next_line(line);
  }
  return (struct str){0};
}

// The text range of the line's register number `index`, from 1; empty if there are fewer.
static struct str register_of(struct str line, unsigned index) {
  const char *end = line.ptr + line.len;
  for (const char *p = line.ptr; p < end; p++) {
    if (*p != '%')
      continue;
    const char *from = p++;
    while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
      p++;
    if (--index == 0)
      return (struct str){from, (size_t)(p - from)};
  }
  return (struct str){0};
}

static void put(struct strbuf *out, const char *from, const char *to) {
  strbuf_put(out, from, (size_t)(to - from));
}

static bool replace(struct strbuf *out, struct str line, const char *from, const char *to) {
  const char *at = line.ptr, *end = line.ptr + line.len;
  size_t n = strlen(from);
  while (at + n <= end && memcmp(at, from, n) != 0)
    at++;
  if (at + n > end)
    return false;
  put(out, line.ptr, at);
  strbuf_puts(out, to);
  put(out, at + n, end);
  return true;
}

static bool insert(struct strbuf *out, struct str line, const char *text) {
  put(out, line.ptr, line.ptr + line.len);
  strbuf_puts(out, "\n\t");
  for (; *text; text++) {
    if (*text != '$') {
      strbuf_putc(out, *text);
      continue;
    }
    struct str reg = register_of(line, (unsigned)(*++text - '0'));
    if (!reg.ptr)
      return false;
    put(out, reg.ptr, reg.ptr + reg.len);
  }
  return true;
}

static bool swap(struct strbuf *out, struct str line, unsigned first, unsigned second) {
  struct str a = register_of(line, first), b = register_of(line, second);
  if (!a.ptr || !b.ptr || a.ptr >= b.ptr)
    return false;
  put(out, line.ptr, a.ptr);
  put(out, b.ptr, b.ptr + b.len);
  put(out, a.ptr + a.len, b.ptr);
  put(out, a.ptr, a.ptr + a.len);
  put(out, b.ptr + b.len, line.ptr + line.len);
  return true;
}

static bool change(struct strbuf *out, struct str line, const struct mutation *m) {
  const char *end = line.ptr + line.len, *guard = memchr(line.ptr, '@', line.len);
  const char *rest = guard;
  while (rest && rest < end && !isspace((unsigned char)*rest))
    rest++;
  switch (m->kind) {
  case DROP: return true;
  case REPLACE: return replace(out, line, m->from, m->to);
  case INSERT: return insert(out, line, m->to);
  case SWAP: return swap(out, line, (unsigned)(m->from[0] - '0'), (unsigned)(m->to[0] - '0'));
  case NEGATE:
    return guard &&
           (guard[1] == '!' ? replace(out, line, "@!", "@") : replace(out, line, "@", "@!"));
  case UNGUARD:
    if (!guard)
      return false;
    put(out, line.ptr, guard);
    put(out, rest, end);
    return true;
  }
  return false;
}

const char *mutate(struct arena *a, const char *ptx, const struct mutation *m) {
  struct str line = find_line(ptx, m);
  if (!line.ptr)
    return NULL;
  struct strbuf out = {0};
  put(&out, ptx, line.ptr);
  bool ok = change(&out, line, m);
  strbuf_puts(&out, line.ptr + line.len);
  const char *text = ok ? arena_strndup(a, strbuf_cstr(&out), out.len) : NULL;
  strbuf_finish(&out);
  return text && strcmp(text, ptx) != 0 ? text : NULL;
}
