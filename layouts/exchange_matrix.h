// SPDX-License-Identifier: Apache-2.0
// Matrix instructions in an exchange: `ldmatrix` and `stmatrix` move 8x8 matrices of 16-bit
// elements between 8 rows of 16 bytes in shared memory and the 32-bit registers of a warp. A lane
// has word lane % 4 of row lane / 4; transposed, the two elements at column lane / 4 of rows 2 *
// (lane % 4) and the next. Narrower and wider elements are parts of such words, not transposed.
#ifndef TILE_LAYOUTS_EXCHANGE_MATRIX_H
#define TILE_LAYOUTS_EXCHANGE_MATRIX_H

#include "layouts/exchange_plan.h"

enum { MATRIX_ROW_BITS = 3, MATRIX_LANE_BITS = 5 }; // log2 of rows and lanes

// Log2 of the elements of a row and of a word of it. False for elements that cannot be moved so.
bool matrix_row_of(unsigned element_bits, enum exchange_form form, unsigned *ret_row_bits,
                   unsigned *ret_word_bits);
// A side with these offsets by matrix instructions, with as few bank conflicts as the offsets
// allow. `copies`: registers that replicate others. False where the offsets do not have the form.
bool matrix_side_of(const struct linear_layout *offsets, uint32_t copies, unsigned element_bits,
                    enum exchange_form form, struct exchange_side *ret);
// Wavefronts of one instruction: each matrix, 8 rows of 16 bytes, is served on its own.
unsigned matrix_wavefronts(const struct exchange_side *side, unsigned element_bits);

#endif
