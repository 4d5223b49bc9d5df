// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of a warp: products (`mma.sync`) and the positions of the elements of 8 x 8
// matrices (`ldmatrix`, `stmatrix`).
//
// Products are computed as in the CPU executor (base/mma.h: mma_product), so that both agree bit
// for bit: the products of a row and a column are exact in double, are summed in double in the
// order of k starting from zero, C is added in double, and the result is rounded once to the type
// of D. f64 is a chain of fma starting from C. Integers are summed exactly and wrap around, or
// saturate to 32 bits (.satfinite). A GPU sums groups of products with fewer digits, truncates
// between groups, and has no fixed order of groups; its results differ in the last digits.
#ifndef TILE_SIMULATOR_MATRIX_H
#define TILE_SIMULATOR_MATRIX_H

#include "base/mma.h"
#include "base/str.h"

enum { MATRIX_LANES = 32, MATRIX_MAX_WORDS = 8 };

// D = A B + C over the registers of 32 lanes. D has as many words as C.
struct matrix_mma {
  struct mma_instruction shape; // a_words, b_words, c_words: registers per lane
  unsigned bits;                // of a register: 64 for f64, else 32
  bool saturate;
};

// Decodes an opcode split at its dots: "mma", "sync", "aligned", "m16n8k16", "row", "col", "f32",
// "f16", "f16", "f32". False for any other text.
bool matrix_mma_decode(const struct str *parts, size_t count, struct matrix_mma *ret);

// Word w of lane l is x[l * words + w]. D may be C. Thread-safe.
void matrix_mma_run(const struct matrix_mma *in, const uint64_t *a, const uint64_t *b,
                    const uint64_t *c, uint64_t *d);

// Element `half` (0: the low 16 bits) of word `word` of a lane in ldmatrix and stmatrix
// `.m8n8.x1/.x2/.x4.b16`: it belongs to matrix `word`, at row and column of 16-bit elements. Row r
// of matrix i is the 16 bytes at the address of lane 8 i + r.
struct matrix_position {
  unsigned matrix, row, column;
};
struct matrix_position matrix_b16_position(unsigned lane, unsigned word, unsigned half,
                                           bool transposed);

#endif
