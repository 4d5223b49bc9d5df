// SPDX-License-Identifier: Apache-2.0
// Which offsets have the form of 8x8 matrices: exactly the registers and lanes of a row of the
// matrix address the 16 bytes of that row.
#include "layouts/exchange_matrix.h"

#include "layouts/banks.h"

#include <assert.h>

enum { HALF_BITS = 16, WORD_BYTE_BITS = 2, ROW_BYTE_BITS = 4, ROW_BYTES = 1 << ROW_BYTE_BITS };

bool matrix_row_of(unsigned element_bits, enum exchange_form form, unsigned *ret_row_bits,
                   unsigned *ret_word_bits) {
  if (element_bits > 32 || (form == EXCHANGE_TRANSPOSED && element_bits != HALF_BITS))
    return false;
  unsigned bytes = log2_floor(element_bits / 8);
  *ret_row_bits = ROW_BYTE_BITS - bytes;
  *ret_word_bits = WORD_BYTE_BITS - bytes;
  return true;
}

static const uint32_t *bases_of(const struct linear_layout *offsets, enum ll_in in, unsigned bit) {
  return offsets->basis[ll_find_in(offsets, in)][bit];
}

// The lanes that step along a row: the words of one, or, transposed, its elements.
static bool lanes_fit(const struct linear_layout *offsets, enum exchange_form form,
                      unsigned row_bits, unsigned word_bits) {
  bool transposed = form == EXCHANGE_TRANSPOSED;
  unsigned first = transposed ? 2 : 0, end = transposed ? MATRIX_LANE_BITS : 2;
  unsigned from = transposed ? 0 : word_bits;
  for (unsigned b = 0; b < MATRIX_LANE_BITS; b++) {
    uint32_t offset = bases_of(offsets, LL_LANE, b)[0];
    bool inside = b >= first && b < end;
    if (inside ? offset != 1u << (from + b - first) : (offset & ((1u << row_bits) - 1)) != 0)
      return false;
  }
  return true;
}

// The registers of a word; the others do not move inside a row. ret_words: their mask.
static bool registers_fit(const struct linear_layout *offsets, uint32_t copies, unsigned row_bits,
                          unsigned word_bits, struct exchange_side *ret, uint32_t *ret_words) {
  uint32_t inside = (1u << row_bits) - 1;
  *ret_words = 0;
  for (unsigned b = 0; b < ll_in_bits(offsets, LL_REGISTER); b++) {
    uint32_t offset = bases_of(offsets, LL_REGISTER, b)[0];
    if (copies >> b & 1 || !(offset & inside))
      continue;
    unsigned k = log2_floor(offset);
    if (offset != 1u << k || k >= word_bits)
      return false;
    ret->vec_register[k] = b;
    *ret_words |= 1u << b;
  }
  return __builtin_popcount(*ret_words) == (int)word_bits;
}

static bool warps_fit(const struct linear_layout *offsets, unsigned row_bits) {
  for (unsigned b = 0; b < ll_in_bits(offsets, LL_WARP); b++)
    if (bases_of(offsets, LL_WARP, b)[0] & ((1u << row_bits) - 1))
      return false;
  return true;
}

struct linear_layout exchange_rows(const struct exchange_side *side) {
  assert(side->form != EXCHANGE_VECTORS);
  struct linear_layout rows = side->offsets;
  bool transposed = side->form == EXCHANGE_TRANSPOSED;
  int lanes = ll_find_in(&rows, LL_LANE);
  for (unsigned b = 0; b < MATRIX_ROW_BITS; b++) {
    // The upper lanes give the row; transposed, the pair and the lower lanes do.
    const uint32_t *row = !transposed ? bases_of(&side->offsets, LL_LANE, 2 + b)
                          : b == 0    ? bases_of(&side->offsets, LL_REGISTER, side->vec_register[0])
                                      : bases_of(&side->offsets, LL_LANE, b - 1);
    rows.basis[lanes][b][0] = row[0];
  }
  for (unsigned k = 0; k < EXCHANGE_MATRIX_BITS; k++)
    rows.basis[lanes][MATRIX_ROW_BITS + k][0] =
        k < side->matrix_bits ? bases_of(&side->offsets, LL_REGISTER, side->matrix_register[k])[0]
                              : 0;
  return rows;
}

unsigned matrix_wavefronts(const struct exchange_side *side, unsigned element_bits) {
  uint32_t address[1 << MATRIX_ROW_BITS], index[LL_NO_IN] = {0}, at[LL_MAX_OUT];
  struct linear_layout rows = exchange_rows(side);
  for (uint32_t row = 0; row < COUNT_OF(address); row++) {
    index[LL_LANE] = row;
    ll_apply(&rows, index, at);
    address[row] = at[0] * (element_bits / 8);
  }
  return bank_wavefronts(address, COUNT_OF(address), ROW_BYTES) << side->matrix_bits;
}

// As many matrices per instruction as there are registers left.
static void take_matrices(uint32_t taken, struct exchange_side *ret) {
  ret->matrix_bits = 0;
  for (unsigned b = 0; b < ll_in_bits(&ret->offsets, LL_REGISTER); b++)
    if (!(taken >> b & 1) && ret->matrix_bits < EXCHANGE_MATRIX_BITS) {
      ret->matrix_register[ret->matrix_bits++] = b;
      taken |= 1u << b;
    }
  ret->skip_mask = taken;
}

// The two elements of a lane lie in neighbouring rows: any register will do; they differ in bank
// conflicts.
static bool choose_pair(uint32_t copies, unsigned element_bits, struct exchange_side *ret) {
  struct exchange_side best = {0}, side = *ret;
  unsigned least = UINT32_MAX;
  for (unsigned b = 0; b < ll_in_bits(&side.offsets, LL_REGISTER); b++) {
    if (copies >> b & 1)
      continue;
    side.vec_register[0] = b;
    take_matrices(copies | 1u << b, &side);
    unsigned wavefronts = matrix_wavefronts(&side, element_bits);
    if (wavefronts < least) {
      least = wavefronts;
      best = side;
    }
  }
  if (least != UINT32_MAX)
    *ret = best;
  return least != UINT32_MAX;
}

bool matrix_side_of(const struct linear_layout *offsets, uint32_t copies, unsigned element_bits,
                    enum exchange_form form, struct exchange_side *ret) {
  unsigned row_bits, word_bits;
  uint32_t words;
  if (ll_in_bits(offsets, LL_LANE) != MATRIX_LANE_BITS ||
      !matrix_row_of(element_bits, form, &row_bits, &word_bits) ||
      !lanes_fit(offsets, form, row_bits, word_bits) || !warps_fit(offsets, row_bits))
    return false;
  *ret = (struct exchange_side){.form = form, .offsets = *offsets, .vec_bits = word_bits};
  bool transposed = form == EXCHANGE_TRANSPOSED;
  if (!registers_fit(offsets, copies, row_bits, transposed ? 0 : word_bits, ret, &words))
    return false;
  if (transposed)
    return choose_pair(copies, element_bits, ret);
  take_matrices(copies | words, ret);
  return true;
}
