// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of one dimension.
#ifndef TILE_GRAPH_IR_COMPLEX_FFT_H
#define TILE_GRAPH_IR_COMPLEX_FFT_H

#include "graph/ir/graph_build.h"

// The transform of dimension `dim` of x, complex or real; complex. sign: -1 forward, 1 inverse, not
// normalised. A symbolic length is one product with a matrix of its square. NULL after an error,
// which names node `n`, and for x NULL.
struct value *complex_fft_along(struct build *b, const struct node *n, struct value *x,
                                uint32_t dim, int sign);

#endif
