// SPDX-License-Identifier: Apache-2.0
// The cost of the accesses of an exchange: instructions and wavefronts.
#include "layouts/banks.h"
#include "layouts/exchange_matrix.h"

enum { MAX_LANES = 32 };

unsigned exchange_instructions(const struct exchange_side *side) {
  unsigned bits = 0;
  for (unsigned b = 0; b < ll_in_bits(&side->offsets, LL_REGISTER); b++)
    bits += !(side->skip_mask >> b & 1);
  return 1u << bits;
}

unsigned exchange_wavefronts(const struct exchange_side *side, unsigned element_bits,
                             uint32_t copies) {
  if (side->form != EXCHANGE_VECTORS)
    return matrix_wavefronts(side, element_bits) * exchange_instructions(side);
  uint32_t address[MAX_LANES], index[LL_NO_IN] = {0}, at[LL_MAX_OUT];
  unsigned lanes = 0, bytes = (element_bits / 8) << side->vec_bits;
  for (uint32_t lane = 0; lane < MAX_LANES; lane++) {
    if (lane & copies)
      continue;
    index[LL_LANE] = lane;
    ll_apply(&side->offsets, index, at);
    address[lanes++] = at[0] * (element_bits / 8);
  }
  // The other registers shift the addresses of all lanes by the same offset.
  return bank_wavefronts(address, lanes, bytes) * exchange_instructions(side);
}
