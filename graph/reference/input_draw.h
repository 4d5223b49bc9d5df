// SPDX-License-Identifier: Apache-2.0
// Elements of generated inputs, each from 64 random bits.
#ifndef TILE_GRAPH_REFERENCE_INPUT_DRAW_H
#define TILE_GRAPH_REFERENCE_INPUT_DRAW_H

#include "graph/reference/inputs.h"

// 64 bits that depend on all bits of x.
uint64_t input_scramble(uint64_t x);
// Element i of `t`, which its dtype can represent.
union element input_draw(const struct input_hint *h, const struct tensor *t, int64_t i,
                         uint64_t bits);

#endif
