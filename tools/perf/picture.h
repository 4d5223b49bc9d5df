// SPDX-License-Identifier: Apache-2.0
// What pictures of tilec have in common: the frame of an SVG, and one style sheet for light and
// dark screens. Several pictures may be in one page: all rules begin with `.picture`.
#ifndef TILE_TOOLS_PICTURE_H
#define TILE_TOOLS_PICTURE_H

#include "base/str.h"

enum { SVG_COLOURS = 6 }; // classes c0 to c5, for things of equal rank

// Opens a picture of that many pixels, with a background.
void svg_begin(struct strbuf *out, int width, int height);
void svg_end(struct strbuf *out);
// A line of text. Classes: start, mid, end (its anchor), head (bold), small.
void svg_text(struct strbuf *out, double x, double y, const char *class, const char *words);
// A rectangle; `tooltip` may be NULL.
void svg_box(struct strbuf *out, double x, double y, double width, double height, const char *class,
             const char *tooltip);

#endif
