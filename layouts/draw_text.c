// SPDX-License-Identifier: Apache-2.0
// Drawings as text tables.
#include "layouts/draw_internal.h"

static unsigned digits(uint32_t n) {
  unsigned count = 1;
  for (; n >= 10; n /= 10)
    count++;
  return count;
}

// Row headers: row numbers, threads, or the first element of a line.
static void row_label(const struct drawing *d, uint32_t row, struct strbuf *out) {
  if (d->by_thread && !d->shared)
    strbuf_printf(out, "T%u", row);
  else
    strbuf_printf(out, "%u", d->rank < 2 || d->by_thread ? row * d->cols : row);
}

static void pad(struct strbuf *out, unsigned width, size_t used) {
  for (size_t i = used; i < width; i++)
    strbuf_putc(out, ' ');
}

static void draw_grid(const struct drawing *d, uint32_t grid, struct strbuf *out) {
  struct strbuf text = {.arena = out->arena};
  unsigned width = digits(d->shown_cols - 1), label_width = 1;
  for (uint32_t row = 0; row < d->shown_rows; row++) {
    strbuf_clear(&text);
    row_label(d, row, &text);
    label_width = text.len > label_width ? (unsigned)text.len : label_width;
    for (uint32_t col = 0; col < d->shown_cols; col++) {
      struct cell c = drawing_cell(d, grid, row, col);
      strbuf_clear(&text);
      drawing_cell_text(d, &c, &text);
      width = text.len > width ? (unsigned)text.len : width;
    }
  }
  pad(out, label_width + 1, 0);
  for (uint32_t col = 0; col < d->shown_cols; col++) {
    pad(out, 1 + width - digits(col), 0);
    strbuf_printf(out, "%u", col);
  }
  strbuf_putc(out, '\n');
  for (uint32_t row = 0; row < d->shown_rows; row++) {
    strbuf_clear(&text);
    row_label(d, row, &text);
    pad(out, label_width, text.len);
    strbuf_printf(out, "%s ", strbuf_cstr(&text));
    for (uint32_t col = 0; col < d->shown_cols; col++) {
      struct cell c = drawing_cell(d, grid, row, col);
      strbuf_clear(&text);
      drawing_cell_text(d, &c, &text);
      pad(out, 1 + width, text.len);
      strbuf_puts(out, strbuf_cstr(&text));
    }
    strbuf_putc(out, '\n');
  }
  strbuf_finish(&text);
}

void layout_draw_text(const struct linear_layout *l, unsigned rank, const int64_t *shape,
                      struct draw_options opt, struct strbuf *out) {
  struct drawing d;
  const char *why;
  if (!drawing_prepare(l, rank, shape, opt, &d, &why)) {
    strbuf_printf(out, "cannot draw: %s\n", why);
    return;
  }
  drawing_caption(&d, out);
  strbuf_putc(out, '\n');
  if (*drawing_axes(&d))
    strbuf_printf(out, "%s\n", drawing_axes(&d));
  for (uint32_t grid = 0; grid < d.shown_grids; grid++) {
    if (d.grids > 1) {
      drawing_grid_title(&d, grid, out);
      strbuf_putc(out, '\n');
    }
    draw_grid(&d, grid, out);
  }
}
