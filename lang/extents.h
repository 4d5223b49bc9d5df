// SPDX-License-Identifier: Apache-2.0
// Which compile-time parameters of a kernel are extents of tiles, and what those tiles are for: read
// off the text (arange(0, BLOCK), zeros((BM, BN)), range(0, K, BK), block shapes) and the calls that
// the tiles reach, before any value is chosen. A guess, for deriving a space.
#ifndef TILE_LANG_EXTENTS_H
#define TILE_LANG_EXTENTS_H

#include "lang/frontend.h"

enum extent_use {
  EXTENT_NONE,    // not an extent
  EXTENT_ELEMENT, // of tiles that are loaded, computed on and stored
  EXTENT_ROW,     // reduced over in one piece: has to cover a run-time length (see `covers`)
  EXTENT_DOT_M,
  EXTENT_DOT_N,
  EXTENT_DOT_K,
  EXTENT_STEP,  // of a loop: range(0, n, BLOCK), no dot in it
  EXTENT_GROUP, // orders programs (GROUP_M): used in arithmetic of program ids alone
};
struct lang_extent {
  const char *param;
  enum extent_use use;
  const char *covers; // EXTENT_ROW: the run-time parameter that it masks with; or NULL
};
// On `a`, one a compile-time parameter of the kernel, in their order.
struct lang_extent *lang_extents(struct arena *a, const struct ast_module *m, const char *kernel,
                                 size_t *ret_count);
// Does the kernel (or what it calls in the file) multiply tiles; has it a loop that loads?
struct lang_traits {
  bool has_dot, has_loop_with_loads, has_reduction;
};
struct lang_traits lang_traits_of(const struct ast_module *m, const char *kernel);

#endif
