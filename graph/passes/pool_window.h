// SPDX-License-Identifier: Apache-2.0
// Windows of pooling over the last two dimensions.
#ifndef TILE_GRAPH_PASSES_POOL_WINDOW_H
#define TILE_GRAPH_PASSES_POOL_WINDOW_H

#include "graph/ir/graph.h"

// One of the two dimensions.
struct side {
  uint32_t dim;
  const struct expr *size, *out; // of the image, of the result
  int64_t kernel, stride, padding, dilation;
  bool fits; // no window passes the padding: the number of windows is rounded down
};

struct window {
  struct side side[2];
};

// Of an operator with kernel_size, stride, padding from argument `at` on, and ceil_mode in argument
// `ceil_at`; dilation 1. x: an image, out: a result.
struct window pool_window(const struct node *n, unsigned at, const struct value *x,
                          const struct value *out, unsigned ceil_at);
void pool_dilate(const struct node *n, unsigned at, struct window *w); // by that argument
bool pool_has_no_windows(const struct window *w);

#endif
