// SPDX-License-Identifier: Apache-2.0
// The algebra of linear layouts: composition, inverses, division by tiles. All solve for columns
// with the elimination of gf2.c.
#include "layouts/gf2.h"

bool ll_compose(const struct linear_layout *inner, const struct linear_layout *outer,
                struct linear_layout *ret) {
  struct gf2_columns feed, through;
  if (ll_total_out_bits(inner) != ll_total_in_bits(outer) || !gf2_columns_of(inner, &feed) ||
      !gf2_columns_of(outer, &through))
    return false;
  struct linear_layout r = ll_empty(outer->out_count, outer->out_bits);
  unsigned column = 0;
  for (unsigned i = 0; i < inner->in_count; i++) {
    ll_add_in(&r, inner->in[i]);
    for (unsigned b = 0; b < inner->in_bits[i]; b++, column++) {
      uint64_t sum = 0;
      for (unsigned k = 0; k < through.count; k++)
        if (feed.at[column] >> k & 1)
          sum ^= through.at[k];
      uint32_t image[LL_MAX_OUT];
      gf2_unflatten(r.out_count, r.out_bits, sum, image);
      ll_push_basis(&r, inner->in[i], image);
    }
  }
  *ret = r;
  return true;
}

// Splits a column index of l (first input lowest) into one index for each of its inputs.
static void split_inputs(const struct linear_layout *l, uint64_t column_bits, uint32_t *ret) {
  for (unsigned i = 0; i < l->in_count; i++) {
    ret[i] = (uint32_t)(column_bits & ((1ull << l->in_bits[i]) - 1));
    column_bits >>= l->in_bits[i];
  }
}

bool ll_pseudo_invert(const struct linear_layout *l, struct linear_layout *ret) {
  struct gf2_columns c;
  unsigned out_bits = ll_total_out_bits(l);
  if (!gf2_columns_of(l, &c) || out_bits > LL_MAX_BITS)
    return false;
  struct gf2_span span = gf2_span_of(&c);
  if (span.rank != out_bits)
    return false;
  struct linear_layout r = ll_empty(l->in_count, l->in_bits);
  ll_add_in(&r, LL_OFFSET);
  for (unsigned b = 0; b < out_bits; b++) {
    uint64_t columns = 0;
    gf2_reduce(&span, 1ull << b, &columns);
    uint32_t image[LL_MAX_OUT] = {0};
    split_inputs(l, columns, image);
    ll_push_basis(&r, LL_OFFSET, image);
  }
  *ret = r;
  return true;
}

bool ll_invert(const struct linear_layout *l, struct linear_layout *ret) {
  return ll_total_in_bits(l) == ll_total_out_bits(l) && ll_pseudo_invert(l, ret);
}

bool ll_invert_and_compose(const struct linear_layout *a, const struct linear_layout *b,
                           struct linear_layout *ret) {
  struct gf2_columns target, source;
  if (a->out_count != b->out_count || !gf2_columns_of(a, &target) || !gf2_columns_of(b, &source))
    return false;
  for (unsigned d = 0; d < a->out_count; d++)
    if (a->out_bits[d] != b->out_bits[d])
      return false;
  struct gf2_span span = gf2_span_of(&source);
  struct linear_layout r = ll_empty(b->in_count, b->in_bits);
  unsigned column = 0;
  for (unsigned i = 0; i < a->in_count; i++) {
    ll_add_in(&r, a->in[i]);
    for (unsigned k = 0; k < a->in_bits[i]; k++, column++) {
      uint64_t solution = 0;
      if (gf2_reduce(&span, target.at[column], &solution) != 0)
        return false;
      uint32_t image[LL_MAX_OUT] = {0};
      split_inputs(b, solution, image);
      ll_push_basis(&r, a->in[i], image);
    }
  }
  *ret = r;
  return true;
}

// ---- division ----

// The position of the tile in l's bits: its inputs and coordinates take the lowest bits (left) or
// the highest (right). The quotient keeps all inputs of l, those that are used up with 0 bits.
static bool divide(const struct linear_layout *l, const struct linear_layout *tile, bool right,
                   struct linear_layout *ret) {
  if (l->out_count != tile->out_count)
    return false;
  unsigned rest_bits[LL_MAX_OUT];
  for (unsigned d = 0; d < l->out_count; d++) {
    if (tile->out_bits[d] > l->out_bits[d])
      return false;
    rest_bits[d] = l->out_bits[d] - tile->out_bits[d];
  }
  for (unsigned i = 0; i < tile->in_count; i++)
    if (tile->in_bits[i] > ll_in_bits(l, tile->in[i]))
      return false;
  struct linear_layout q = ll_empty(l->out_count, rest_bits);
  for (unsigned i = 0; i < l->in_count; i++) {
    ll_add_in(&q, l->in[i]);
    int t = ll_find_in(tile, l->in[i]);
    unsigned taken = t < 0 ? 0 : tile->in_bits[t], kept = l->in_bits[i] - taken;
    for (unsigned b = 0; b < l->in_bits[i]; b++) {
      bool in_tile = right ? b >= kept : b < taken;
      unsigned tile_b = right ? b - kept : b;
      uint32_t image[LL_MAX_OUT] = {0};
      for (unsigned d = 0; d < l->out_count; d++) {
        uint32_t x = l->basis[i][b][d];
        unsigned low_bits = right ? rest_bits[d] : tile->out_bits[d];
        uint32_t low = x & ((1u << low_bits) - 1), high = x >> low_bits;
        uint32_t tile_part = right ? high : low;
        image[d] = right ? low : high;
        if (in_tile ? image[d] != 0 || tile_part != tile->basis[t][tile_b][d] : tile_part != 0)
          return false;
      }
      if (!in_tile)
        ll_push_basis(&q, l->in[i], image);
    }
  }
  *ret = q;
  return true;
}

bool ll_divide_left(const struct linear_layout *l, const struct linear_layout *tile,
                    struct linear_layout *ret_q) {
  return divide(l, tile, false, ret_q);
}

bool ll_divide_right(const struct linear_layout *l, const struct linear_layout *tile,
                     struct linear_layout *ret_q) {
  return divide(l, tile, true, ret_q);
}

bool ll_quotient(const struct linear_layout *l, enum ll_in in, unsigned out_dim,
                 struct linear_layout *ret) {
  int at = ll_find_in(l, in);
  if (at < 0 || out_dim >= l->out_count || l->in_bits[at] != l->out_bits[out_dim])
    return false;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      for (unsigned d = 0; d < l->out_count; d++) {
        bool own = (int)i == at, here = d == out_dim;
        if ((own || here) && l->basis[i][b][d] != (own && here ? 1u << b : 0))
          return false;
      }
  struct linear_layout r = ll_empty(l->out_count, l->out_bits);
  r.out_bits[out_dim] = 0;
  for (unsigned i = 0; i < l->in_count; i++) {
    if ((int)i == at)
      continue;
    ll_add_in(&r, l->in[i]);
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      ll_push_basis(&r, l->in[i], l->basis[i][b]);
  }
  *ret = r;
  return true;
}
