// SPDX-License-Identifier: Apache-2.0
// What text and SVG drawings share: the grid of a drawing and the text of each cell.
#ifndef TILE_LAYOUTS_DRAW_INTERNAL_H
#define TILE_LAYOUTS_DRAW_INTERNAL_H

#include "layouts/draw.h"

// A layout prepared for drawing: `grids` tables of `rows` x `cols`, of which the first
// shown_rows x shown_cols are drawn.
struct drawing {
  struct linear_layout layout, holder; // holder: element -> lowest index that holds it
  unsigned rank;
  uint32_t shape[LL_MAX_OUT];
  unsigned element_bits;
  bool shared, by_thread;
  uint32_t replicas; // holders of each element: the same number for all in a linear layout
  uint32_t grids, rows, cols, shown_grids, shown_rows, shown_cols;
};

struct cell {
  uint32_t thread, reg;        // distributed layouts
  uint32_t offset, bank;       // layouts of shared memory
  uint32_t coords[LL_MAX_OUT]; // of the element
};

// False when the layout is of another shape or not surjective; *ret_why says which.
bool drawing_prepare(const struct linear_layout *l, unsigned rank, const int64_t *shape,
                     struct draw_options opt, struct drawing *ret, const char **ret_why);
struct cell drawing_cell(const struct drawing *d, uint32_t grid, uint32_t row, uint32_t col);
void drawing_cell_text(const struct drawing *d, const struct cell *c, struct strbuf *out);
// "16x8 elements, 4 registers x 32 lanes x 1 warp", and what is replicated or left out.
void drawing_caption(const struct drawing *d, struct strbuf *out);
// What rows and columns are; "" where they are the tensor's two dimensions.
const char *drawing_axes(const struct drawing *d);
// "[3, :, :]" of a tensor of rank above 2; "" otherwise.
void drawing_grid_title(const struct drawing *d, uint32_t grid, struct strbuf *out);

#endif
