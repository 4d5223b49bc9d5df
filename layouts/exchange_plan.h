// SPDX-License-Identifier: Apache-2.0
// Conversions through shared memory (CONVERT_SHARED): an offset for every element, such that
// storing from the source's registers and loading into the destination's are both as wide as
// possible together and free of bank conflicts. A side that could be wider on its own is. Sides
// with the form of tensor-core fragments use matrix instructions, where the target has them and
// they are fewer.
//
// The emission of vectors, for each side: for every register r with (r & skip_mask) == 0, one
// access of 2^vec_bits elements at the offset `offsets` gives for (r, lane, warp); element i of it
// is register r + (the sum of 1 << vec_register[k] for the set bits k of i). Threads that only
// replicate need not store. Between the two sides there is a barrier.
//
// Of matrices: for the same registers, one instruction of the warp that moves 2^matrix_bits
// matrices; lane l gives the address of row l % 8 of matrix l / 8, at the offset exchange_rows says
// for (r, lane, warp). Word m of each lane, 2^vec_bits elements as above, begins at register
// r + (the sum of 1 << matrix_register[k] for the set bits k of m).
#ifndef TILE_LAYOUTS_EXCHANGE_PLAN_H
#define TILE_LAYOUTS_EXCHANGE_PLAN_H

#include "layouts/linear.h"

enum { EXCHANGE_VEC_BITS = 4, EXCHANGE_MATRIX_BITS = 2 }; // 16 elements of 8 bits; 4 matrices

// Matrix instructions of a target.
enum { EXCHANGE_LDMATRIX = 1, EXCHANGE_STMATRIX = 2 };

enum exchange_form { EXCHANGE_VECTORS, EXCHANGE_MATRICES, EXCHANGE_TRANSPOSED };

struct exchange_side {
  enum exchange_form form;
  struct linear_layout offsets; // (register, lane, warp) -> offset in elements, one dimension
  unsigned vec_bits;            // log2 of the elements of an access, or of a matrix's word
  unsigned vec_register[EXCHANGE_VEC_BITS];
  unsigned matrix_bits; // log2 of the matrices of an instruction
  unsigned matrix_register[EXCHANGE_MATRIX_BITS];
  uint32_t skip_mask; // registers inside an access, and copies of other registers
  uint32_t start;     // of parts: all offsets are XORed with it
};

struct exchange_plan {
  struct linear_layout shared; // offset -> coordinates, a bijection: no padding
  struct exchange_side store, load;
};

// `instructions` are those that the emission can use, of the enumeration above. False unless both
// layouts are surjective on the same shape and `element_bits` is 8, 16, 32 or 64.
bool exchange_plan_make(const struct linear_layout *src, const struct linear_layout *dst,
                        unsigned element_bits, unsigned instructions, struct exchange_plan *ret);
// The same where the offsets are given.
bool exchange_plan_with(const struct linear_layout *src, const struct linear_layout *dst,
                        const struct linear_layout *shared, unsigned element_bits,
                        unsigned instructions, struct exchange_plan *ret);
// How to load a part of the tile that lies at the offsets `shared`, with registers of `layout`,
// which covers the part. corner: where the part begins, multiples of its dimensions.
bool exchange_part_with(const struct linear_layout *layout, const struct linear_layout *shared,
                        const uint32_t *corner, unsigned element_bits, unsigned instructions,
                        struct exchange_side *ret);
// Of a side with matrices: (register, lane, warp) -> offset of the row whose address the lane
// gives.
struct linear_layout exchange_rows(const struct exchange_side *side);

// Exchanges of more than EXCHANGE_ROOM bytes are split into rounds, where the layouts allow it:
// round i moves the elements whose coordinates have the bits of i at `bits` chosen positions. On
// either side such a bit is one of the register, and a round moves the registers that have it, or
// one of the warp, and half of the warps take part.
enum { EXCHANGE_ROOM = 48 * 1024, EXCHANGE_ROUND_BITS = 3 };

struct exchange_share {
  // Masks of one bit (the other is 0) for each bit of the round's number.
  uint32_t of_register[EXCHANGE_ROUND_BITS], of_warp[EXCHANGE_ROUND_BITS];
  struct linear_layout layout; // of a round: its registers and its part of the tile
};

struct exchange_rounds {
  unsigned bits; // log2 of the rounds; 0: one round
  uint32_t bytes;
  struct exchange_share store, load;
};

// For layouts that exchange_plan_make accepts.
void exchange_rounds_of(const struct linear_layout *src, const struct linear_layout *dst,
                        unsigned element_bits, struct exchange_rounds *ret);
// The register of the whole layout that is register `r` of round `round`.
uint32_t exchange_round_register(const struct exchange_share *share, unsigned bits, uint32_t round,
                                 uint32_t r);

// Instructions of a thread for the whole side.
unsigned exchange_instructions(const struct exchange_side *side);
// Wavefronts of shared memory that warp 0 needs for the whole side. `copies`: lanes that do not
// store, as bits of the lane's number.
unsigned exchange_wavefronts(const struct exchange_side *side, unsigned element_bits,
                             uint32_t copies);

#endif
