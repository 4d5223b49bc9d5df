// SPDX-License-Identifier: Apache-2.0
// Draws blocks of memory over time.
#include "tools/graph/memory_svg.h"

#include "base/arena.h"
#include "tools/perf/picture.h"

enum { LETTER = 7, LINE = 12 }; // pixels that a letter and a line take

const char *memory_size(struct arena *a, double bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t i = 0;
  for (; bytes >= 1024 && i + 1 < COUNT_OF(units); i++)
    bytes /= 1024;
  return arena_printf(a, "%.4g %s", bytes, units[i]);
}

static void draw_scale(const struct memory_frame *f, struct strbuf *out) {
  svg_box(out, f->x, f->y, f->width, f->height, "frame", NULL);
  for (int i = 0; i <= 4; i++) {
    double y = f->y + f->height * i / 4;
    if (i > 0 && i < 4)
      strbuf_printf(out, "<path d=\"M%.1f %.1fh%.1f\" class=\"grid\"/>", f->x, y, f->width);
    svg_text(out, f->x - 6, y + 4, "end", memory_size(out->arena, f->bytes * i / 4));
  }
}

void memory_svg(const struct memory_frame *f, const struct memory_block *blocks, size_t count,
                struct strbuf *out) {
  if (f->bytes <= 0 || f->time <= 0)
    return;
  draw_scale(f, out);
  for (size_t i = 0; i < count; i++) {
    const struct memory_block *b = &blocks[i];
    double x = f->x + b->begin / f->time * f->width, y = f->y + b->offset / f->bytes * f->height;
    double width = (b->end - b->begin) / f->time * f->width,
           height = b->bytes / f->bytes * f->height;
    width = width < 1 ? 1 : width;
    height = height < 0.5 ? 0.5 : height;
    svg_box(out, x, y, width, height, arena_printf(out->arena, "block c%zu", i % SVG_COLOURS),
            b->what);
    if (height >= LINE && width >= (double)strlen(b->name) * LETTER)
      svg_text(out, x + 4, y + (height < 2 * LINE ? height / 2 + 4 : LINE + 2), "start dark",
               b->name);
  }
}
