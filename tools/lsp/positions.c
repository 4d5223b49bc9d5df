// SPDX-License-Identifier: Apache-2.0
// Positions in texts: lines by binary search, columns by counting UTF-16 units in a line.
#include "tools/lsp/positions.h"

#include "base/utf8.h"

// The length of the line end at `i`, 0 if there is none.
static size_t line_end_at(struct str text, size_t i) {
  if (text.ptr[i] == '\n')
    return 1;
  if (text.ptr[i] != '\r')
    return 0;
  return i + 1 < text.len && text.ptr[i + 1] == '\n' ? 2 : 1;
}

struct text_lines text_lines_of(struct arena *a, struct str text) {
  struct text_lines l = {.text = text, .count = 1};
  for (size_t i = 0, n; i < text.len; i += n ? n : 1) {
    n = line_end_at(text, i);
    l.count += n > 0;
  }
  l.starts = arena_array(a, uint32_t, l.count);
  uint32_t line = 0;
  for (size_t i = 0, n; i < text.len; i += n ? n : 1) {
    n = line_end_at(text, i);
    if (n)
      l.starts[++line] = (uint32_t)(i + n);
  }
  return l;
}

// The character at `i`: its bytes, and in *ret_units its UTF-16 units.
static uint32_t character_at(struct str text, uint32_t i, uint32_t *ret_units) {
  uint32_t code;
  size_t n = utf8_decode(text.ptr + i, text.len - i, &code);
  *ret_units = n && code >= 0x10000 ? 2 : 1;
  return n ? (uint32_t)n : 1;
}

struct position text_position(const struct text_lines *l, uint32_t offset) {
  if (offset > l->text.len)
    offset = (uint32_t)l->text.len;
  uint32_t low = 0, high = l->count;
  while (high - low > 1) {
    uint32_t mid = low + (high - low) / 2;
    if (l->starts[mid] <= offset)
      low = mid;
    else
      high = mid;
  }
  struct position at = {low, 0};
  for (uint32_t i = l->starts[low], units; i < offset; at.character += units)
    i += character_at(l->text, i, &units);
  return at;
}

uint32_t text_offset(const struct text_lines *l, struct position at) {
  if (at.line >= l->count)
    return (uint32_t)l->text.len;
  uint32_t i = l->starts[at.line];
  for (uint32_t seen = 0, units; i < l->text.len && !line_end_at(l->text, i); seen += units) {
    uint32_t bytes = character_at(l->text, i, &units);
    if (seen + units > at.character)
      break;
    i += bytes;
  }
  return i;
}

static bool read_number(const struct json *object, const char *key, uint32_t *ret) {
  const struct json *n = json_get(object, key);
  if (!n || n->kind != JSON_NUMBER || !n->is_integer || n->integer < 0)
    return false;
  *ret = n->integer > INT32_MAX ? INT32_MAX : (uint32_t)n->integer;
  return true;
}

bool text_read_position(const struct json *json, struct position *ret) {
  return json && json->kind == JSON_OBJECT && read_number(json, "line", &ret->line) &&
         read_number(json, "character", &ret->character);
}

static void write_position(struct json_writer *w, const char *key, struct position at) {
  json_key(w, key), json_begin_object(w);
  json_key(w, "line"), json_int(w, at.line);
  json_key(w, "character"), json_int(w, at.character);
  json_end_object(w);
}

void text_write_range(struct json_writer *w, const struct text_lines *l, uint32_t begin,
                      uint32_t end) {
  json_begin_object(w);
  write_position(w, "start", text_position(l, begin));
  write_position(w, "end", text_position(l, end > begin ? end : begin));
  json_end_object(w);
}

struct text_edit text_edit_of(struct str from, struct str to) {
  size_t least = from.len < to.len ? from.len : to.len, head = 0, tail = 0;
  while (head < least && from.ptr[head] == to.ptr[head])
    head++;
  while (tail < least - head && from.ptr[from.len - 1 - tail] == to.ptr[to.len - 1 - tail])
    tail++;
  return (struct text_edit){(uint32_t)from.len, (uint32_t)to.len, (uint32_t)head, (uint32_t)tail};
}

bool text_edit_map(const struct text_edit *e, uint32_t offset, uint32_t *ret) {
  *ret = offset;
  if (offset < e->head || e->head == e->from_len)
    return true;
  if (offset < e->from_len - e->tail)
    return false;
  *ret = offset + e->to_len - e->from_len;
  return true;
}
