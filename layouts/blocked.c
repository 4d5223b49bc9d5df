// SPDX-License-Identifier: Apache-2.0
// Blocked layouts: strided boxes of elements per thread, threads per warp, warps per CTA; and
// operands of dots that do not use tensor cores. Also the helpers for tiles.
#include "layouts/encoding_internal.h"

void tile_extend(struct linear_layout *tile, enum ll_in in, unsigned dim, unsigned bits) {
  for (unsigned b = 0; b < bits; b++) {
    uint32_t image[LL_MAX_OUT] = {0};
    image[dim] = 1u << tile->out_bits[dim]++;
    ll_push_basis(tile, in, image);
  }
}

struct linear_layout tile_fit(const struct linear_layout *tile, const struct shape_bits *shape,
                              const uint32_t *order) {
  struct linear_layout l = *tile;
  for (unsigned i = 0; i < l.in_count; i++)
    for (unsigned b = 0; b < l.in_bits[i]; b++)
      for (unsigned d = 0; d < l.out_count; d++)
        l.basis[i][b][d] &= (1u << shape->bits[d]) - 1;
  for (unsigned k = 0; k < l.out_count; k++) {
    unsigned d = order[k];
    if (l.out_bits[d] < shape->bits[d])
      tile_extend(&l, LL_REGISTER, d, shape->bits[d] - l.out_bits[d]);
    l.out_bits[d] = shape->bits[d];
  }
  return ll_remove_zero_bases(&l, LL_REGISTER);
}

struct linear_layout tile_start(unsigned rank) {
  struct linear_layout tile = ll_empty(rank, NULL);
  ll_add_in(&tile, LL_REGISTER);
  ll_add_in(&tile, LL_LANE);
  ll_add_in(&tile, LL_WARP);
  return tile;
}

void tile_replicate(struct linear_layout *tile, enum ll_in in, unsigned bits) {
  static const uint32_t zero[LL_MAX_OUT];
  for (unsigned b = 0; b < bits; b++)
    ll_push_basis(tile, in, zero);
}

// One level of the hierarchy: counts[d] indices along each dimension, the fastest first. Where
// `skip` is set, the bits of that dimension are replicas.
static void extend_level(struct linear_layout *tile, enum ll_in in, const uint32_t *counts,
                         const uint32_t *order, int skip) {
  for (unsigned k = 0; k < tile->out_count; k++) {
    unsigned d = order[k], bits = log2_floor(counts[d]);
    if ((int)d != skip)
      tile_extend(tile, in, d, bits);
    else
      tile_replicate(tile, in, bits);
  }
}

bool blocked_to_linear(const struct encoding *e, const struct shape_bits *shape,
                       struct linear_layout *ret, const char **ret_why) {
  (void)ret_why;
  struct linear_layout tile = tile_start(e->rank);
  extend_level(&tile, LL_REGISTER, e->blocked.size_per_thread, e->blocked.order, -1);
  extend_level(&tile, LL_LANE, e->blocked.threads_per_warp, e->blocked.order, -1);
  extend_level(&tile, LL_WARP, e->blocked.warps_per_cta, e->blocked.order, -1);
  *ret = tile_fit(&tile, shape, e->blocked.order);
  return true;
}

bool blocked_dot_to_linear(const struct encoding *dot, const struct shape_bits *shape,
                           struct linear_layout *ret, const char **ret_why) {
  (void)ret_why;
  const struct encoding *parent = dot->dot.parent;
  const uint32_t *order = parent->blocked.order;
  unsigned k_dim = dot->dot.op_idx == 0 ? dot->rank - 1 : dot->rank - 2;
  struct linear_layout tile = tile_start(dot->rank);
  uint32_t registers[LL_MAX_OUT];
  for (unsigned d = 0; d < dot->rank; d++) {
    uint32_t size = parent->blocked.size_per_thread[d], whole = 1u << shape->bits[d];
    registers[d] = d == k_dim || size > whole ? whole : size;
  }
  extend_level(&tile, LL_REGISTER, registers, order, -1);
  extend_level(&tile, LL_LANE, parent->blocked.threads_per_warp, order, (int)k_dim);
  extend_level(&tile, LL_WARP, parent->blocked.warps_per_cta, order, (int)k_dim);
  *ret = tile_fit(&tile, shape, order);
  return true;
}

static uint32_t smaller(uint64_t a, uint64_t b) { return (uint32_t)(a < b ? a : b); }

struct encoding encoding_blocked(unsigned rank, const int64_t *shape,
                                 const uint32_t *size_per_thread, const uint32_t *order,
                                 unsigned num_warps) {
  struct encoding e = {.kind = ENC_BLOCKED, .rank = rank};
  uint32_t lanes = 32, warps = num_warps;
  for (unsigned k = 0; k < rank; k++) {
    unsigned d = order[k];
    uint64_t size = size_per_thread[d] ? size_per_thread[d] : 1;
    uint64_t threads = (uint64_t)shape[d] > size ? (uint64_t)shape[d] / size : 1;
    bool last = k + 1 == rank; // takes the rest, even if that replicates
    e.blocked.order[k] = d;
    e.blocked.size_per_thread[d] = (uint32_t)size;
    e.blocked.threads_per_warp[d] = last ? lanes : smaller(threads, lanes);
    e.blocked.warps_per_cta[d] =
        last ? warps : smaller(threads / e.blocked.threads_per_warp[d], warps);
    lanes /= e.blocked.threads_per_warp[d];
    warps /= e.blocked.warps_per_cta[d];
  }
  return e;
}
