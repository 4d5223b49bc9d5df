// SPDX-License-Identifier: Apache-2.0
// Source texts: an index of line starts, built once, and binary search in it.
#include "base/source.h"

#include <assert.h>

struct source *source_create(struct arena *a, const char *name, struct str text) {
  assert(text.len <= SOURCE_MAX_BYTES && "offsets are 32 bits");
  struct source *s = arena_new(a, struct source);
  if (!s)
    return NULL;
  s->name = arena_strdup(a, name);
  s->text = (struct str){arena_strndup(a, text.ptr, text.len), text.len};
  uint32_t lines = 1;
  for (size_t i = 0; i < text.len; i++)
    lines += text.ptr[i] == '\n';
  s->line_starts = arena_array(a, uint32_t, lines);
  if (!s->name || !s->text.ptr || !s->line_starts)
    return NULL;
  for (size_t i = 0; i < text.len; i++)
    if (text.ptr[i] == '\n')
      s->line_starts[++s->line_count] = (uint32_t)i + 1;
  s->line_count++;
  return s;
}

struct line_col source_line_col(const struct source *s, uint32_t offset) {
  if (offset > s->text.len)
    offset = (uint32_t)s->text.len;
  uint32_t low = 0, high = s->line_count;
  while (high - low > 1) {
    uint32_t mid = low + (high - low) / 2;
    if (s->line_starts[mid] <= offset)
      low = mid;
    else
      high = mid;
  }
  return (struct line_col){low + 1, offset - s->line_starts[low] + 1};
}

struct str source_line(const struct source *s, uint32_t line) {
  if (line < 1 || line > s->line_count)
    return (struct str){"", 0};
  uint32_t begin = s->line_starts[line - 1];
  uint32_t end = line < s->line_count ? s->line_starts[line] - 1 : (uint32_t)s->text.len;
  if (end > begin && s->text.ptr[end - 1] == '\r')
    end--;
  return (struct str){s->text.ptr + begin, end - begin};
}

uint32_t source_offset(const struct source *s, uint32_t line, uint32_t col) {
  if (line < 1)
    return 0;
  if (line > s->line_count)
    return (uint32_t)s->text.len;
  uint32_t begin = s->line_starts[line - 1];
  uint32_t room = (uint32_t)s->text.len - begin;
  uint32_t skip = col ? col - 1 : 0;
  return begin + (skip < room ? skip : room);
}
