// SPDX-License-Identifier: Apache-2.0
// Memory over time: a rectangle for each block, from left to right while it is in use, downwards
// from its first to its last byte. For shared memory of kernels and temporaries of graphs.
#ifndef TILE_TOOLS_MEMORY_SVG_H
#define TILE_TOOLS_MEMORY_SVG_H

#include "base/str.h"

struct memory_block {
  const char *name;
  const char *what;     // a sentence, its tooltip
  double offset, bytes; // bytes
  double begin, end;    // time, in any unit; end > begin
};

// Where the picture is, in pixels, and the ranges that it shows.
struct memory_frame {
  double x, y, width, height;
  double bytes, time;
};

// Draws into an open SVG. The names of blocks that have no room for them are tooltips only.
void memory_svg(const struct memory_frame *f, const struct memory_block *blocks, size_t count,
                struct strbuf *out);
// "48 KiB"
const char *memory_size(struct arena *a, double bytes);

#endif
