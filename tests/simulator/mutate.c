// SPDX-License-Identifier: Apache-2.0
// Mutations of PTX text, one line each.
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

// Register number `index` of the line, counted from 1; empty if there are fewer.
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

// The text with the line's registers for $1, $2, ...
static bool expand(struct strbuf *out, struct str line, const char *text) {
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

static bool insert(struct strbuf *out, struct str line, const char *text) {
  put(out, line.ptr, line.ptr + line.len);
  strbuf_puts(out, "\n\t");
  return expand(out, line, text);
}

static const char *skip(const char *p, const char *end, bool spaces) {
  while (p < end && (isspace((unsigned char)*p) != 0) == spaces)
    p++;
  return p;
}

// Operands are between the opcode and the semicolon; commas in brackets and braces are not between
// operands.
static bool replace_operand(struct strbuf *out, struct str line, unsigned index, const char *text) {
  const char *end = line.ptr + line.len, *from = skip(line.ptr, end, true);
  if (from < end && *from == '@')
    from = skip(skip(from, end, false), end, true);
  from = skip(skip(from, end, false), end, true);
  int depth = 0;
  for (const char *to = from; to < end; to++) {
    depth += (*to == '[' || *to == '{') - (*to == ']' || *to == '}');
    if (depth || (*to != ',' && *to != ';'))
      continue;
    if (--index == 0) {
      put(out, line.ptr, from);
      bool ok = expand(out, line, text);
      put(out, to, end);
      return ok;
    }
    from = skip(to + 1, end, true);
  }
  return false;
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
  case REWRITE: return expand(out, line, m->to);
  case OPERAND: return replace_operand(out, line, (unsigned)(m->from[0] - '0'), m->to);
  case SWAP: return swap(out, line, (unsigned)(m->from[0] - '0'), (unsigned)(m->to[0] - '0'));
  case NEGATE:
    return guard &&
           (guard[1] == '!' ? replace(out, line, "@!", "@") : replace(out, line, "@", "@!"));
  case LOWER: return false; // of two lines
  case UNGUARD:
    if (!guard)
      return false;
    put(out, line.ptr, guard);
    put(out, rest, end);
    return true;
  }
  return false;
}

// The line and the next one, exchanged; moves *rest behind them.
static bool lower(struct strbuf *out, struct str line, const char **rest) {
  const char *next = next_line(line);
  if (!next)
    return false;
  struct str below = line_at(next);
  put(out, below.ptr, below.ptr + below.len);
  strbuf_puts(out, "\n");
  put(out, line.ptr, line.ptr + line.len);
  *rest = below.ptr + below.len;
  return true;
}

const char *mutate(struct arena *a, const char *ptx, const struct mutation *m) {
  struct str line = find_line(ptx, m);
  if (!line.ptr)
    return NULL;
  struct strbuf out = {0};
  put(&out, ptx, line.ptr);
  const char *rest = line.ptr + line.len;
  bool ok = m->kind == LOWER ? lower(&out, line, &rest) : change(&out, line, m);
  strbuf_puts(&out, rest);
  const char *text = ok ? arena_strndup(a, strbuf_cstr(&out), out.len) : NULL;
  strbuf_finish(&out);
  return text && strcmp(text, ptx) != 0 ? text : NULL;
}
