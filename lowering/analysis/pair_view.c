// SPDX-License-Identifier: Apache-2.0
// The last dimension of a pair, removed from a layout or added to it as a register.
#include "lowering/analysis/pair_view.h"

#include <assert.h>

struct linear_layout half_view(const struct linear_layout *pair) {
  return ll_remove_out(pair, pair->out_count - 1);
}

struct linear_layout pair_view(const struct linear_layout *half) {
  unsigned rank = half ? half->out_count : 0, out_bits[LL_MAX_OUT] = {0};
  assert(rank < LL_MAX_OUT);
  for (unsigned d = 0; d < rank; d++)
    out_bits[d] = half->out_bits[d];
  out_bits[rank] = 1;
  struct linear_layout r = ll_empty(rank + 1, out_bits);
  uint32_t second[LL_MAX_OUT] = {0};
  second[rank] = 1;
  ll_push_basis(&r, LL_REGISTER, second);
  for (unsigned i = 0; half && i < half->in_count; i++) {
    ll_add_in(&r, half->in[i]);
    for (unsigned b = 0; b < half->in_bits[i]; b++) {
      uint32_t image[LL_MAX_OUT] = {0};
      memcpy(image, half->basis[i][b], rank * sizeof image[0]);
      ll_push_basis(&r, half->in[i], image);
    }
  }
  return r;
}
