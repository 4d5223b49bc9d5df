// SPDX-License-Identifier: Apache-2.0
// Positions of the protocol: lines and UTF-16 code units, both from 0, and byte offsets. Lines end
// with \n, \r\n or \r. Texts are UTF-8; a byte that is none counts as one unit.
#ifndef TILE_TOOLS_LSP_POSITIONS_H
#define TILE_TOOLS_LSP_POSITIONS_H

#include "base/json.h"
#include "base/source.h"

struct position {
  uint32_t line, character;
};

struct text_lines {
  struct str text;
  uint32_t *starts; // offset of each line
  uint32_t count;   // at least 1
};

struct text_lines text_lines_of(struct arena *a, struct str text);
struct position text_position(const struct text_lines *l, uint32_t offset);
// Positions behind the end of a line or of the text are moved to that end; one inside of a
// character, to its begin.
uint32_t text_offset(const struct text_lines *l, struct position at);

// {"line": ..., "character": ...}; false if it is no position.
bool text_read_position(const struct json *json, struct position *ret);
void text_write_range(struct json_writer *w, const struct text_lines *l, uint32_t begin,
                      uint32_t end);

// What two texts have in common, to map offsets of one to the other.
struct text_edit {
  uint32_t from_len, to_len, head, tail; // equal bytes at the begin and at the end
};
struct text_edit text_edit_of(struct str from, struct str to);
// False: inside of what differs.
bool text_edit_map(const struct text_edit *e, uint32_t offset, uint32_t *ret);

#endif
