// SPDX-License-Identifier: Apache-2.0
// Drawings of layouts, as text, SVG and JSON: which thread and register holds which element.
// layout_draw_spec parses what a user typed; the two functions below it draw a given layout.
//
//   blocked<{order = [1, 0], ...}> 16x16        mma<{version = 2}> 16x8        mma_v2 16x8
//   slice<{dim = 0, parent = ...}> 16           dot_a_v2 16x16 f16             shared<{...}> 8x64
//   f16 nvmma_128b 8x64 f16                         mma_v2 16x8 threads            linear<{...}>
#ifndef TILE_LAYOUTS_DRAW_H
#define TILE_LAYOUTS_DRAW_H

#include "layouts/encoding.h"

enum draw_format { DRAW_TEXT, DRAW_SVG, DRAW_JSON };

struct draw_options {
  unsigned element_bits; // 0: 32; for the banks of shared layouts
  unsigned max_rows,
      max_cols;   // cells drawn, from the corner; 0: all (64 x 64 for layout_draw_spec)
  bool by_thread; // transposed: a row per thread, a column per register, cells are coordinates
};

// `spec` is ENCODING [SHAPE] [ELEMENT TYPE] ["threads"], in this order. ENCODING is any form that
// encoding_parse takes, or a short name: mma_v2, mma_v3, dot_a_v2, dot_b_v2, dot_a_v3, nvmma_32b,
// nvmma_64b, nvmma_128b. SHAPE is 16x8 or [16, 8]; without it, one tile of the encoding. "threads"
// sets by_thread. On failure: false, *ret_error a message on `a`, *ret_at its byte in `spec`.
bool layout_draw_spec(struct arena *a, const char *spec, enum draw_format format,
                      struct strbuf *out, const char **ret_error, size_t *ret_at);

// Cells of distributed layouts: `T12:3` is register 3 of thread 12 (warp * 32 + lane), a `*` means
// that it is replicated and this is the lowest holder. Cells of shared layouts: `40 b20`, the
// offset in elements and the bank of its first byte. Tensors of rank above 2: one grid per index of
// the leading dimensions. The layout must be surjective on the shape; otherwise a line of text says
// so.
void layout_draw_text(const struct linear_layout *l, unsigned rank, const int64_t *shape,
                      struct draw_options opt, struct strbuf *out);
// The same with a colour per warp (shaded by lane) or bank, and a legend.
void layout_draw_svg(const struct linear_layout *l, unsigned rank, const int64_t *shape,
                     struct draw_options opt, struct strbuf *out);

#endif
