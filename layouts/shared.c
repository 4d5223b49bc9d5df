// SPDX-License-Identifier: Apache-2.0
// Layouts of shared memory: offset (in elements) to coordinates. Swizzled rows, and the 8-row core
// matrices of TMA and wgmma with their 32, 64 and 128-byte swizzles.
#include "base/wgmma.h"
#include "layouts/encoding_internal.h"

enum { BANK_LINE_BITS = 1024 }; // 32 banks of 4 bytes

// Row r of a swizzled tile stores its column c at c ^ swizzle(r). As a basis of offset: row 2^b
// starts at the column swizzle(2^b), so its image has that column too.
static uint32_t swizzle_of(uint32_t row, uint32_t vec, uint32_t per_phase, uint32_t max_phase) {
  return vec * (row / per_phase % max_phase);
}

bool shared_to_linear(const struct encoding *e, const struct shape_bits *shape,
                      struct linear_layout *ret, const char **ret_why) {
  (void)ret_why;
  struct linear_layout l = ll_empty(e->rank, NULL);
  ll_add_in(&l, LL_OFFSET);
  for (unsigned k = 0; k < e->rank; k++) {
    unsigned d = e->shared.order[k], inner = e->shared.order[0];
    for (unsigned b = 0; b < shape->bits[d]; b++) {
      uint32_t image[LL_MAX_OUT] = {0};
      image[d] = 1u << b;
      if (k == 1)
        image[inner] =
            swizzle_of(1u << b, e->shared.vec, e->shared.per_phase, e->shared.max_phase) &
            ((1u << shape->bits[inner]) - 1);
      ll_push_basis(&l, LL_OFFSET, image);
    }
    l.out_bits[d] = shape->bits[d];
  }
  *ret = l;
  return true;
}

// 8 rows of swizzle bytes (16 without one) make a core tile; tiles are stacked along the rows
// first, then along the contiguous dimension, as in TMA boxes. Outer dimensions of higher ranks
// continue the rows.
bool nvmma_to_linear(const struct encoding *e, const struct shape_bits *shape,
                     struct linear_layout *ret, const char **ret_why) {
  unsigned rank = shape->rank, element_bits = e->nvmma.element_bits;
  if (rank == 0) {
    *ret_why = "a tensor in shared memory has at least one dimension";
    return false;
  }
  unsigned inner = e->nvmma.transposed ? 0 : rank - 1;
  uint32_t swizzle = e->nvmma.swizzle, tile_bytes = swizzle ? swizzle : 16;
  unsigned tile_bits = log2_floor(tile_bytes * 8 / element_bits);
  // In 16-byte units: a 128-byte row changes its phase every row, a 32-byte one every 4 rows.
  uint32_t vec = 128 / element_bits, max_phase = swizzle / 16,
           per_phase = swizzle ? 8 / max_phase : 1;
  unsigned rows = 0; // log2 of all rows
  for (unsigned d = 0; d < rank; d++)
    rows += d == inner ? 0 : shape->bits[d];
  if (shape->bits[inner] < tile_bits || (swizzle && rows < 3)) {
    *ret_why = swizzle ? "the tensor is smaller than 8 rows of the swizzle's width"
                       : "the contiguous dimension is shorter than 16 bytes";
    return false;
  }
  struct linear_layout l = ll_empty(rank, NULL);
  tile_extend(&l, LL_OFFSET, inner, tile_bits);
  unsigned row = 0;
  for (unsigned k = 1; k < rank; k++) {
    unsigned d = e->nvmma.transposed ? k : rank - 1 - k;
    for (unsigned b = 0; b < shape->bits[d]; b++, row++) {
      uint32_t image[LL_MAX_OUT] = {0};
      image[d] = 1u << b;
      if (swizzle && row < 3)
        image[inner] = swizzle_of(1u << row, vec, per_phase, max_phase);
      ll_push_basis(&l, LL_OFFSET, image);
    }
    l.out_bits[d] = shape->bits[d];
  }
  tile_extend(&l, LL_OFFSET, inner, shape->bits[inner] - tile_bits);
  *ret = l;
  return true;
}

static uint32_t at_least(uint64_t x, uint32_t least) { return x < least ? least : (uint32_t)x; }

static uint32_t at_most(uint64_t x, uint64_t most) { return (uint32_t)(x > most ? most : x); }

// In products without tensor cores all threads read an element of K of their first row at once.
// Rows that far apart start in the same bank; swizzling 16-byte pieces avoids the conflict.
static void swizzle_rows(struct encoding *e, const struct encoding *blocked, uint64_t inner,
                         unsigned element_bits) {
  unsigned rows = e->shared.order[1];
  uint32_t vec = at_least(128 / element_bits, 1);
  if (inner <= vec)
    return;
  e->shared.vec = vec;
  e->shared.per_phase = blocked->blocked.size_per_thread[rows];
  e->shared.max_phase = at_most(blocked->blocked.threads_per_warp[rows], inner / vec);
}

// What wgmma's descriptors can express: 8 rows as wide as the swizzle, at most the width that a
// warpgroup reads.
static struct encoding nvmma_for_dot(const struct encoding *dot, const int64_t *shape,
                                     const uint32_t *order, unsigned element_bits) {
  const struct encoding *mma = dot->dot.parent;
  struct encoding e = {.kind = ENC_NVMMA_SHARED, .rank = dot->rank};
  uint32_t k_dim = dot->dot.op_idx == 0 ? 1 : 0, inner = element_bits == 16 ? order[0] : k_dim;
  uint64_t width = (uint64_t)shape[inner];
  if (inner != k_dim)
    width = at_most(width, dot->dot.op_idx == 0 ? 64 : mma->mma.instr_shape[1]);
  e.nvmma.swizzle = at_most(width * element_bits / 8, 128);
  e.nvmma.transposed = inner == 0;
  e.nvmma.element_bits = element_bits;
  return e;
}

// A tile that is converted between the buffer and the product is none.
static bool is_operand_of_wgmma(const struct encoding *dot, unsigned element_bits) {
  const struct encoding *mma = dot->dot.parent;
  return mma->kind == ENC_MMA && mma->mma.version == 3 && dot->rank == 2 &&
         element_bits * mma->mma.instr_shape[2] == 8 * WGMMA_K_BYTES;
}

struct encoding encoding_shared_for_dot(const struct encoding *dot, const int64_t *shape,
                                        const uint32_t *order, unsigned element_bits) {
  struct encoding e = {.kind = ENC_SHARED, .rank = dot->rank};
  e.shared.vec = e.shared.per_phase = e.shared.max_phase = 1;
  memcpy(e.shared.order, order, dot->rank * sizeof *order);
  if (dot->kind != ENC_DOT_OP || dot->rank < 2)
    return e;
  const struct encoding *parent = dot->dot.parent;
  if (is_operand_of_wgmma(dot, element_bits))
    return nvmma_for_dot(dot, shape, order, element_bits);
  uint64_t inner = (uint64_t)shape[order[0]], line_bits = (uint64_t)BANK_LINE_BITS;
  unsigned k_dim = dot->dot.op_idx == 0 ? dot->rank - 1 : dot->rank - 2;
  if (parent->kind == ENC_BLOCKED) {
    if (order[0] == k_dim)
      swizzle_rows(&e, parent, inner, element_bits);
    return e;
  }
  // What a phase of ldmatrix reads: 8 rows of 4 lanes' elements along K (transposed: with rows and
  // K exchanged).
  uint32_t vec = 4 * dot->dot.k_width, rows = element_bits == 64 ? 4 : 8;
  uint32_t step = 1; // between rows that lanes read at once
  if (order[0] != k_dim) {
    uint32_t t = vec;
    vec = rows;
    rows = t;
    if (element_bits != 16) // element by element
      step = dot->dot.k_width;
    if (element_bits == 8 && inner >= 64) // asynchronous copies are best of 16 bytes
      vec = 16;
  }
  vec = at_most(vec, inner);
  e.shared.vec = vec;
  e.shared.per_phase = at_least(line_bits / (inner * element_bits), step);
  uint64_t phases = at_most(rows / step, line_bits / ((uint64_t)vec * element_bits)) * step;
  phases /= e.shared.per_phase;
  e.shared.max_phase = at_most(at_least(phases, 1), inner / vec);
  return e;
}
