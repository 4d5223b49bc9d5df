// SPDX-License-Identifier: Apache-2.0
// Chooses the coordinate bits that number the rounds of a large exchange. They must not be lane
// bits: part of every warp would be idle in a round.
#include "layouts/exchange_plan.h"

struct coordinate {
  unsigned dim, bit;
};

// The one input bit that maps to this coordinate bit and to nothing else.
static bool only_maker(const struct linear_layout *l, struct coordinate c, enum ll_in *ret_in,
                       unsigned *ret_bit) {
  unsigned found = 0;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      if (!(l->basis[i][b][c.dim] >> c.bit & 1))
        continue;
      for (unsigned d = 0; d < l->out_count; d++)
        if (l->basis[i][b][d] != (d == c.dim ? 1u << c.bit : 0))
          return false;
      *ret_in = l->in[i];
      *ret_bit = b;
      found++;
    }
  return found == 1 && (*ret_in == LL_REGISTER || *ret_in == LL_WARP);
}

// Idle warps cost most; low registers are those of vectors.
static unsigned price(enum ll_in in, unsigned bit) {
  enum { VECTOR_BITS = 4, WARP_PRICE = 16 };
  return in == LL_WARP ? WARP_PRICE : bit < VECTOR_BITS ? VECTOR_BITS - bit : 0;
}

// Removes the register's bit, or clears the warp's; removes the coordinate bit.
static void leave_out(struct linear_layout *l, struct coordinate c, enum ll_in in, unsigned bit) {
  uint32_t low = (1u << c.bit) - 1;
  int at = ll_find_in(l, in);
  memset(l->basis[at][bit], 0, sizeof l->basis[at][bit]);
  if (in == LL_REGISTER) {
    l->in_bits[at]--;
    for (unsigned b = bit; b < l->in_bits[at]; b++)
      memcpy(l->basis[at][b], l->basis[at][b + 1], sizeof l->basis[at][b]);
  }
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      uint32_t x = l->basis[i][b][c.dim];
      l->basis[i][b][c.dim] = (x >> 1 & ~low) | (x & low);
    }
  l->out_bits[c.dim]--;
}

static void take(struct exchange_share *s, unsigned round_bit, struct coordinate c) {
  enum ll_in in = LL_REGISTER;
  unsigned bit = 0;
  only_maker(&s->layout, c, &in, &bit);
  *(in == LL_REGISTER ? &s->of_register[round_bit] : &s->of_warp[round_bit]) = 1u << bit;
  leave_out(&s->layout, c, in, bit);
}

static bool cheapest(const struct exchange_rounds *r, struct coordinate *ret) {
  unsigned best = UINT32_MAX;
  for (unsigned d = 0; d < r->store.layout.out_count; d++)
    for (unsigned b = 0; b < r->store.layout.out_bits[d]; b++) {
      struct coordinate c = {d, b};
      enum ll_in from, to;
      unsigned from_bit, to_bit;
      if (!only_maker(&r->store.layout, c, &from, &from_bit) ||
          !only_maker(&r->load.layout, c, &to, &to_bit))
        continue;
      unsigned cost = price(from, from_bit) + price(to, to_bit);
      if (cost < best) {
        best = cost;
        *ret = c;
      }
    }
  return best != UINT32_MAX;
}

void exchange_rounds_of(const struct linear_layout *src, const struct linear_layout *dst,
                        unsigned element_bits, struct exchange_rounds *ret) {
  struct coordinate c;
  *ret = (struct exchange_rounds){.store.layout = *src, .load.layout = *dst};
  ret->bytes = (element_bits / 8) << ll_total_out_bits(src);
  while (ret->bytes > EXCHANGE_ROOM && ret->bits < EXCHANGE_ROUND_BITS && cheapest(ret, &c)) {
    take(&ret->store, ret->bits, c);
    take(&ret->load, ret->bits, c);
    ret->bits++;
    ret->bytes /= 2;
  }
}

uint32_t exchange_round_register(const struct exchange_share *share, unsigned bits, uint32_t round,
                                 uint32_t r) {
  // The bits were removed one after another: reinsert them in reverse order.
  for (unsigned i = bits; i-- > 0;) {
    uint32_t flag = share->of_register[i], low = flag - 1;
    if (flag)
      r = (r & ~low) << 1 | (round >> i & 1 ? flag : 0) | (r & low);
  }
  return r;
}
