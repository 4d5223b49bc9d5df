// SPDX-License-Identifier: Apache-2.0
// Heat maps of a search space, a part of its picture (svg.c).
#ifndef TILE_AUTOTUNE_REPORT_HEAT_MAP_H
#define TILE_AUTOTUNE_REPORT_HEAT_MAP_H

#include "autotune/tune.h"

// Where maps are in the picture, in pixels: `across` of them beside each other, from `top` on.
struct heat_map_frame {
  int top, width, height;
  unsigned across;
};

// One for each two of at most four dimensions: parameters that have several values, or, if there
// are less than two, launch options too.
size_t heat_map_count(const struct tune_space *s);
void heat_maps_draw(const struct tune_space *s, const struct tune_result *r,
                    const struct heat_map_frame *f, struct strbuf *out);

#endif
