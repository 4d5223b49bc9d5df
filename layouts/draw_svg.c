// SPDX-License-Identifier: Apache-2.0
// Drawings as SVG: a colour per warp, lighter towards the last lane; a colour per bank in shared
// memory. Plain rectangles and text, no scripts, no style sheets.
#include "layouts/banks.h"
#include "layouts/draw_internal.h"

enum { CELL_HEIGHT = 20, CHAR_WIDTH = 7, MARGIN = 12, LEGEND_WIDTH = 64, LEGEND_LIMIT = 32 };

struct dimensions {
  unsigned cell_width, label_width, top, grid_height, width, height;
};

// Hue 0..359 and lightness 0..100 to a colour, at a fixed saturation that black text stays legible
// on.
static uint32_t colour(unsigned hue, unsigned lightness) {
  unsigned sector = hue / 60 % 6, within = hue % 60;
  unsigned high = 255 * lightness / 100, low = high * 55 / 100;
  unsigned rising = low + (high - low) * within / 60, falling = low + high - rising;
  const unsigned rgb[6][3] = {{high, rising, low},  {falling, high, low}, {low, high, rising},
                              {low, falling, high}, {rising, low, high},  {high, low, falling}};
  return rgb[sector][0] << 16 | rgb[sector][1] << 8 | rgb[sector][2];
}

// Neighbouring warps far apart on the colour circle.
static uint32_t warp_colour(uint32_t warp, uint32_t lane, uint32_t lanes) {
  return colour((210 + warp * 137) % 360, 78 + 22 * lane / (lanes > 1 ? lanes - 1 : 1));
}

static uint32_t bank_colour(uint32_t bank) { return colour(bank * 360 / BANK_COUNT, 100); }

static uint32_t cell_colour(const struct drawing *d, const struct cell *c) {
  uint32_t lanes = ll_in_size(&d->layout, LL_LANE);
  return d->shared ? bank_colour(c->bank)
                   : warp_colour(c->thread / lanes, c->thread % lanes, lanes);
}

static void rectangle(struct strbuf *out, unsigned x, unsigned y, unsigned width, unsigned height,
                      uint32_t fill) {
  strbuf_printf(out,
                "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#%06x\" "
                "stroke=\"#666\" stroke-width=\"0.5\"/>\n",
                x, y, width, height, (unsigned)fill);
}

static void label(struct strbuf *out, unsigned x, unsigned y, const char *anchor,
                  const char *text) {
  strbuf_printf(out, "<text x=\"%u\" y=\"%u\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void number_label(struct strbuf *out, unsigned x, unsigned y, const char *anchor,
                         const char *prefix, uint32_t n) {
  strbuf_printf(out, "<text x=\"%u\" y=\"%u\" text-anchor=\"%s\" fill=\"#555\">%s%u</text>\n", x, y,
                anchor, prefix, n);
}

static void draw_grid(const struct drawing *d, uint32_t grid, struct dimensions at, unsigned top,
                      struct strbuf *out) {
  struct strbuf text = {.arena = out->arena};
  unsigned left = MARGIN + at.label_width, base = CELL_HEIGHT - 6;
  drawing_grid_title(d, grid, &text);
  if (text.len)
    label(out, MARGIN, top - CELL_HEIGHT + base, "start", strbuf_cstr(&text));
  for (uint32_t col = 0; col < d->shown_cols; col++)
    number_label(out, left + col * at.cell_width + at.cell_width / 2, top + base, "middle", "",
                 col);
  for (uint32_t row = 0; row < d->shown_rows; row++) {
    unsigned y = top + CELL_HEIGHT * (row + 1);
    bool threads = d->by_thread && !d->shared;
    number_label(out, left - 4, y + base, "end", threads ? "T" : "",
                 d->rank < 2 || (d->by_thread && d->shared) ? row * (threads ? 1 : d->cols) : row);
    for (uint32_t col = 0; col < d->shown_cols; col++) {
      struct cell c = drawing_cell(d, grid, row, col);
      unsigned x = left + col * at.cell_width;
      rectangle(out, x, y, at.cell_width, CELL_HEIGHT, cell_colour(d, &c));
      strbuf_clear(&text);
      drawing_cell_text(d, &c, &text);
      label(out, x + at.cell_width / 2, y + base, "middle", strbuf_cstr(&text));
    }
  }
  strbuf_finish(&text);
}

static uint32_t legend_count(const struct drawing *d) {
  uint32_t n = d->shared ? BANK_COUNT : ll_in_size(&d->layout, LL_WARP);
  return n > LEGEND_LIMIT ? LEGEND_LIMIT : n;
}

static unsigned legend_columns(struct dimensions at) {
  unsigned n = (at.width - 2 * MARGIN) / LEGEND_WIDTH;
  return n ? n : 1;
}

static void draw_legend(const struct drawing *d, struct dimensions at, unsigned top,
                        struct strbuf *out) {
  uint32_t lanes = ll_in_size(&d->layout, LL_LANE);
  for (uint32_t i = 0; i < legend_count(d); i++) {
    unsigned x = MARGIN + i % legend_columns(at) * LEGEND_WIDTH;
    unsigned y = top + i / legend_columns(at) * CELL_HEIGHT;
    rectangle(out, x, y, 12, 12, d->shared ? bank_colour(i) : warp_colour(i, lanes / 2, lanes));
    number_label(out, x + 16, y + 11, "start", d->shared ? "bank " : "warp ", i);
  }
}

static struct dimensions measure(const struct drawing *d, const char *caption, struct arena *a) {
  struct strbuf text = {.arena = a};
  size_t longest = 4;
  for (uint32_t grid = 0; grid < d->shown_grids; grid++)
    for (uint32_t row = 0; row < d->shown_rows; row++)
      for (uint32_t col = 0; col < d->shown_cols; col++) {
        struct cell c = drawing_cell(d, grid, row, col);
        strbuf_clear(&text);
        drawing_cell_text(d, &c, &text);
        longest = text.len > longest ? text.len : longest;
      }
  strbuf_finish(&text);
  struct dimensions at = {.label_width = 40, .cell_width = (unsigned)longest * CHAR_WIDTH + 8};
  at.top = MARGIN + CELL_HEIGHT * (*drawing_axes(d) ? 2 : 1);
  at.grid_height = CELL_HEIGHT * (d->shown_rows + (d->grids > 1 ? 3 : 2));
  at.width = 2 * MARGIN + at.label_width + d->shown_cols * at.cell_width;
  unsigned caption_width = 2 * MARGIN + (unsigned)strlen(caption) * CHAR_WIDTH;
  at.width = at.width > caption_width ? at.width : caption_width;
  unsigned legend_rows = (legend_count(d) + legend_columns(at) - 1) / legend_columns(at);
  at.height = at.top + at.grid_height * d->shown_grids + CELL_HEIGHT * legend_rows + MARGIN;
  return at;
}

void layout_draw_svg(const struct linear_layout *l, unsigned rank, const int64_t *shape,
                     struct draw_options opt, struct strbuf *out) {
  struct drawing d;
  const char *why;
  if (!drawing_prepare(l, rank, shape, opt, &d, &why)) {
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\" height=\"40\">\n"
                  "<text x=\"10\" y=\"24\">cannot draw: %s</text>\n</svg>\n",
                  why);
    return;
  }
  struct strbuf caption = {.arena = out->arena};
  drawing_caption(&d, &caption);
  struct dimensions at = measure(&d, strbuf_cstr(&caption), out->arena);
  strbuf_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                "viewBox=\"0 0 %u %u\" font-family=\"monospace\" font-size=\"11\">\n",
                at.width, at.height, at.width, at.height);
  strbuf_printf(out, "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", at.width, at.height);
  label(out, MARGIN, MARGIN + 11, "start", strbuf_cstr(&caption));
  if (*drawing_axes(&d))
    label(out, MARGIN, MARGIN + 11 + CELL_HEIGHT, "start", drawing_axes(&d));
  for (uint32_t grid = 0; grid < d.shown_grids; grid++)
    draw_grid(&d, grid, at, at.top + grid * at.grid_height + (d.grids > 1 ? CELL_HEIGHT : 0), out);
  draw_legend(&d, at, at.top + at.grid_height * d.shown_grids, out);
  strbuf_puts(out, "</svg>\n");
  strbuf_finish(&caption);
}
