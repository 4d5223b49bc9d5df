// SPDX-License-Identifier: Apache-2.0
// Operations along one axis of a tile: reductions, scans, sorting. The reference processes one line
// of the tile at a time.
#ifndef TESTS_LANGUAGE_ACROSS_H
#define TESTS_LANGUAGE_ACROSS_H

#include "tile.h"

enum { LINE_MAX = 8192 };

struct across {
  const char *prelude, *body; // as of a tile_kernel, or NULL
  const char *expr;           // of the tile a
  struct tile in;
  unsigned axis;
  bool flat;           // over all elements at once
  bool drops_axis;     // the result lacks the axis (all of them if flat)
  unsigned out_length; // of the axis in the result, else 1
  enum dtype type, out_type;
  enum draw draw;
  void (*fill)(struct suite *s, struct array *a); // instead of the draw
  // ret: out_length elements; *ret_atol adds to what is allowed
  void (*reference)(const struct num *line, size_t n, struct num *ret, double *ret_atol,
                    const void *user);
  // Replaces the comparison with the reference: whether an element of the result is right.
  bool (*accepts)(const struct num *line, size_t n, struct num got);
  const void *user;
  double ulps;
  unsigned warps;
};

void across_case(struct suite *s, const char *name, const struct across *a);

// Shapes of ranks 1 to 4 that the families go through.
extern const struct tile across_shapes[];
extern const size_t across_shape_count;

int num_order(struct num a, struct num b); // -1, 0, 1; NaN above all
#endif
