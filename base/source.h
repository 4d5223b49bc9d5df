// SPDX-License-Identifier: Apache-2.0
// Source texts and locations in them. A span is a half-open byte range of one source; lines and
// columns are computed on demand. Columns count bytes from 1, as MLIR and GNU tools do.
#ifndef TILE_BASE_SOURCE_H
#define TILE_BASE_SOURCE_H

#include "base/arena.h"
#include "base/str.h"

#define SOURCE_MAX_BYTES (16u << 20) // LIMIT_SOURCE_BYTES

struct source {
  const char *name; // as the user gave it; printed in messages
  struct str text;
  uint32_t *line_starts; // byte offset of each line; line_starts[0] == 0
  uint32_t line_count;
};

struct span {
  const struct source *source; // NULL: no location
  uint32_t begin, end;
};

struct line_col {
  uint32_t line, col; // both from 1
};

#define SPAN_NONE ((struct span){NULL, 0, 0})

// Copies name and text into the arena. The text must be at most SOURCE_MAX_BYTES.
struct source *source_create(struct arena *a, const char *name, struct str text);
struct line_col source_line_col(const struct source *s, uint32_t offset);
struct str source_line(const struct source *s, uint32_t line); // without the newline
// Offset of line:col (clamped into the text); the inverse of source_line_col.
uint32_t source_offset(const struct source *s, uint32_t line, uint32_t col);

static inline struct span span_join(struct span a, struct span b) {
  if (!a.source)
    return b;
  if (!b.source || b.source != a.source)
    return a;
  return (struct span){a.source, a.begin < b.begin ? a.begin : b.begin,
                       a.end > b.end ? a.end : b.end};
}

#endif
