// SPDX-License-Identifier: Apache-2.0
// Any encoding as a linear layout: checks the shape, dispatches, and handles encodings with a
// parent (slices, dot operands).
#include "layouts/encoding_internal.h"

enum { MAX_NESTING = 8 };

static bool convert(const struct encoding *e, const struct shape_bits *shape, unsigned depth,
                    struct linear_layout *ret, const char **ret_why);

// The size that the parent of a slice has along the removed dimension does not matter, except for
// `linear` ones, which have their own.
static unsigned removed_bits(const struct encoding *parent, unsigned dim) {
  while (parent->kind == ENC_SLICE) {
    if (dim >= parent->slice.dim)
      dim++;
    parent = parent->slice.parent;
  }
  return parent->kind == ENC_LINEAR ? parent->linear.out_bits[dim] : 0;
}

static bool slice_to_linear(const struct encoding *e, const struct shape_bits *shape,
                            unsigned depth, struct linear_layout *ret, const char **ret_why) {
  const struct encoding *parent = e->slice.parent;
  unsigned dim = e->slice.dim;
  struct shape_bits full = {.rank = shape->rank + 1};
  for (unsigned d = 0; d < full.rank; d++)
    full.bits[d] = d < dim    ? shape->bits[d]
                   : d == dim ? removed_bits(parent, dim)
                              : shape->bits[d - 1];
  struct linear_layout l;
  if (!convert(parent, &full, depth + 1, &l, ret_why))
    return false;
  l = ll_remove_out(&l, dim);
  *ret = ll_remove_zero_bases(&l, LL_REGISTER);
  return true;
}

// Dimensions of size one are those of a tile that is broadcast to the layout's size: bases along
// them are replication.
static bool linear_to_linear(const struct encoding *e, const struct shape_bits *shape,
                             struct linear_layout *ret, const char **ret_why) {
  bool whole = true;
  *ret = e->linear;
  for (unsigned d = 0; d < shape->rank; d++) {
    if (shape->bits[d] == ret->out_bits[d])
      continue;
    if (shape->bits[d] != 0) {
      *ret_why = "a `linear` layout fits only tensors of its own size";
      return false;
    }
    for (unsigned i = 0; i < ret->in_count; i++)
      for (unsigned b = 0; b < ret->in_bits[i]; b++)
        ret->basis[i][b][d] = 0;
    ret->out_bits[d] = 0;
    whole = false;
  }
  if (!whole)
    *ret = ll_remove_zero_bases(ret, LL_REGISTER);
  return true;
}

static bool dot_to_linear(const struct encoding *e, const struct shape_bits *shape,
                          struct linear_layout *ret, const char **ret_why) {
  switch (e->dot.parent->kind) {
  case ENC_MMA: return mma_dot_to_linear(e, shape, ret, ret_why);
  case ENC_BLOCKED: return blocked_dot_to_linear(e, shape, ret, ret_why);
  default: *ret_why = "the parent of a dot operand is an `mma` or a `blocked` layout"; return false;
  }
}

static bool convert(const struct encoding *e, const struct shape_bits *shape, unsigned depth,
                    struct linear_layout *ret, const char **ret_why) {
  if (depth > MAX_NESTING) {
    *ret_why = "layouts are nested too deeply";
    return false;
  }
  if (e->kind != ENC_NVMMA_SHARED && e->rank != shape->rank) {
    *ret_why = "the layout is of another rank than the tensor";
    return false;
  }
  *ret_why = encoding_problem(e);
  if (*ret_why)
    return false;
  switch (e->kind) {
  case ENC_BLOCKED: return blocked_to_linear(e, shape, ret, ret_why);
  case ENC_SLICE: return slice_to_linear(e, shape, depth, ret, ret_why);
  case ENC_LINEAR: return linear_to_linear(e, shape, ret, ret_why);
  case ENC_MMA: return mma_to_linear(e, shape, ret, ret_why);
  case ENC_DOT_OP: return dot_to_linear(e, shape, ret, ret_why);
  case ENC_SHARED: return shared_to_linear(e, shape, ret, ret_why);
  case ENC_NVMMA_SHARED: return nvmma_to_linear(e, shape, ret, ret_why);
  }
  return false;
}

bool encoding_to_linear(const struct encoding *e, unsigned rank, const int64_t *shape,
                        struct linear_layout *ret, const char **ret_why) {
  const char *ignored;
  if (!ret_why)
    ret_why = &ignored;
  struct shape_bits bits = {.rank = rank};
  if (rank > LL_MAX_OUT) {
    *ret_why = "a tensor has at most 8 dimensions";
    return false;
  }
  unsigned total = 0;
  for (unsigned d = 0; d < rank; d++) {
    if (shape[d] <= 0 || !is_pow2((uint64_t)shape[d])) {
      *ret_why = "the dimensions of a tensor are powers of two";
      return false;
    }
    bits.bits[d] = log2_floor((uint64_t)shape[d]);
    total += bits.bits[d];
    if (total > LL_MAX_BITS) {
      *ret_why = "the tensor has more than 2^24 elements";
      return false;
    }
  }
  return convert(e, &bits, 0, ret, ret_why);
}

bool encoding_equal(const struct encoding *a, const struct encoding *b) {
  if (a == b)
    return true;
  if (a->kind != b->kind || (a->rank != b->rank && a->kind != ENC_NVMMA_SHARED))
    return false;
  size_t list = a->rank * sizeof(uint32_t);
  switch (a->kind) {
  case ENC_BLOCKED:
    return !memcmp(a->blocked.size_per_thread, b->blocked.size_per_thread, list) &&
           !memcmp(a->blocked.threads_per_warp, b->blocked.threads_per_warp, list) &&
           !memcmp(a->blocked.warps_per_cta, b->blocked.warps_per_cta, list) &&
           !memcmp(a->blocked.order, b->blocked.order, list);
  case ENC_SLICE:
    return a->slice.dim == b->slice.dim && encoding_equal(a->slice.parent, b->slice.parent);
  case ENC_LINEAR: return ll_equal(&a->linear, &b->linear);
  case ENC_MMA:
    return a->mma.version == b->mma.version &&
           !memcmp(a->mma.instr_shape, b->mma.instr_shape, sizeof a->mma.instr_shape) &&
           !memcmp(a->mma.warps_per_cta, b->mma.warps_per_cta, list);
  case ENC_DOT_OP:
    return a->dot.op_idx == b->dot.op_idx && a->dot.k_width == b->dot.k_width &&
           encoding_equal(a->dot.parent, b->dot.parent);
  case ENC_SHARED:
    return a->shared.vec == b->shared.vec && a->shared.per_phase == b->shared.per_phase &&
           a->shared.max_phase == b->shared.max_phase &&
           !memcmp(a->shared.order, b->shared.order, list);
  case ENC_NVMMA_SHARED:
    return a->nvmma.swizzle == b->nvmma.swizzle && a->nvmma.transposed == b->nvmma.transposed &&
           a->nvmma.element_bits == b->nvmma.element_bits;
  }
  return false;
}
