// SPDX-License-Identifier: Apache-2.0
// Checks the fields of an encoding, which comes from IR text or from users.
#include "layouts/encoding_internal.h"

enum { TILE_LIMIT_BITS = 24, WARP_LIMIT_BITS = 6 };

// Sum of the logarithms, or TILE_LIMIT_BITS + 1 when one is no power of two.
static unsigned log2_sum(unsigned n, const uint32_t *list) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) {
    if (!is_pow2(list[i]))
      return TILE_LIMIT_BITS + 1;
    sum += log2_floor(list[i]);
  }
  return sum;
}

static bool is_permutation(unsigned n, const uint32_t *order) {
  uint32_t seen = 0;
  for (unsigned i = 0; i < n; i++) {
    if (order[i] >= n || (seen >> order[i] & 1))
      return false;
    seen |= 1u << order[i];
  }
  return true;
}

static const char *blocked_problem(const struct encoding *e) {
  if (!is_permutation(e->rank, e->blocked.order))
    return "`order` names every dimension once";
  if (log2_sum(e->rank, e->blocked.size_per_thread) +
          log2_sum(e->rank, e->blocked.threads_per_warp) +
          log2_sum(e->rank, e->blocked.warps_per_cta) >
      TILE_LIMIT_BITS)
    return "the sizes of a `blocked` layout are powers of two and at most 2^24 elements together";
  return NULL;
}

static const char *mma_problem(const struct encoding *e) {
  const uint32_t *shape = e->mma.instr_shape;
  if (e->rank < 2)
    return "an `mma` layout has at least two dimensions";
  if (log2_sum(e->rank, e->mma.warps_per_cta) > WARP_LIMIT_BITS)
    return "`warps_per_cta` are powers of two, at most 64 together";
  if (e->mma.version == 2)
    return shape[0] == 16 && shape[1] == 8 ? NULL : "version 2 has `instr_shape = [16, 8]`";
  if (e->mma.version != 3)
    return "`version` is 2 (mma.sync) or 3 (wgmma)";
  if (shape[0] != 16 || !is_pow2(shape[1]) || shape[1] < 8 || shape[1] > 256 || !is_pow2(shape[2]))
    return "version 3 has `instr_shape = [16, N, K]` with N a power of two from 8 to 256";
  return e->mma.warps_per_cta[e->rank - 2] % 4 == 0 ? NULL
                                                    : "version 3 needs a multiple of 4 warps along "
                                                      "M (wgmma is one instruction of 4 warps)";
}

static const char *linear_problem(const struct encoding *e) {
  if (e->linear.out_count != e->rank || ll_total_out_bits(&e->linear) > LL_MAX_BITS)
    return "a `linear` layout is at most 2^24 elements large";
  return ll_is_surjective(&e->linear) ? NULL : "the bases do not reach every element";
}

const char *encoding_problem(const struct encoding *e) {
  if (e->rank > LL_MAX_OUT)
    return "a layout has at most 8 dimensions";
  switch (e->kind) {
  case ENC_BLOCKED: return blocked_problem(e);
  case ENC_SLICE:
    return e->slice.dim < e->slice.parent->rank && e->rank + 1 == e->slice.parent->rank
               ? NULL
               : "`dim` is a dimension of the parent";
  case ENC_LINEAR: return linear_problem(e);
  case ENC_MMA: return mma_problem(e);
  case ENC_DOT_OP:
    if (e->dot.op_idx > 1)
      return "`op_idx` is 0 for operand A, 1 for operand B";
    if (e->dot.parent->kind != ENC_MMA && e->dot.parent->kind != ENC_BLOCKED)
      return "the parent of a dot operand is an `mma` or a `blocked` layout";
    if (e->rank < 2 || e->rank != e->dot.parent->rank)
      return "a dot operand has at least two dimensions";
    return is_pow2(e->dot.k_width) && e->dot.k_width <= 16 ? NULL
                                                           : "`k_width` is a power of two up to 16";
  case ENC_SHARED:
    if (!is_permutation(e->rank, e->shared.order))
      return "`order` names every dimension once";
    return is_pow2(e->shared.vec) && is_pow2(e->shared.per_phase) && is_pow2(e->shared.max_phase)
               ? NULL
               : "`vec`, `per_phase` and `max_phase` are powers of two";
  case ENC_NVMMA_SHARED:
    if (e->nvmma.swizzle != 0 && e->nvmma.swizzle != 32 && e->nvmma.swizzle != 64 &&
        e->nvmma.swizzle != 128)
      return "`swizzle` is 0, 32, 64 or 128 bytes";
    return is_pow2(e->nvmma.element_bits) && e->nvmma.element_bits >= 8 &&
                   e->nvmma.element_bits <= 64
               ? NULL
               : "`element_bits` is 8, 16, 32 or 64";
  }
  return "unknown layout";
}
