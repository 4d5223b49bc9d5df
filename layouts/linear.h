// SPDX-License-Identifier: Apache-2.0
// Linear layouts (as in Triton): one algebra for every layout. A layout is a linear map over GF(2)
// from named input dimensions (register, lane, warp, block; or offset, block) to the coordinates of
// a tensor. It is stored as the images ("bases") of the powers of two of each input; the image of
// any index is the XOR of the images of its set bits. A zero basis means replication.
//
// Worked example, tensor 4x4, 2 registers x 8 lanes, register along dim 1:
//   register: {1 -> (0,1)}   lane: {1 -> (0,2), 2 -> (1,0), 4 -> (2,0)}
//   lane 5, register 1 -> (0,2) ^ (2,0) ^ (0,1) = (2,3).
//
// Plain data, no allocation: values are copied freely. Functions are pure and thread-safe.
#ifndef TILE_LAYOUTS_LINEAR_H
#define TILE_LAYOUTS_LINEAR_H

#include "base/attrs.h"
#include "base/str.h"

enum { LL_MAX_IN = 4, LL_MAX_OUT = 8, LL_MAX_BITS = 24 };

enum ll_in { LL_REGISTER, LL_LANE, LL_WARP, LL_BLOCK, LL_OFFSET, LL_NO_IN };

struct linear_layout {
  unsigned in_count;
  enum ll_in in[LL_MAX_IN];      // which input dimensions, in the order of enum ll_in
  unsigned in_bits[LL_MAX_IN];   // log2 of their sizes
  unsigned out_count;            // rank
  unsigned out_bits[LL_MAX_OUT]; // log2 of the tensor's dimensions
  // basis[i][b][d]: coordinate d of the image of bit b of input i
  uint32_t basis[LL_MAX_IN][LL_MAX_BITS][LL_MAX_OUT];
};

// The functions below are the interface to other folders; see linear.c for the algorithms.

struct linear_layout ll_empty(unsigned out_count, const unsigned *out_bits); // no inputs yet
void ll_add_in(struct linear_layout *l, enum ll_in in);                      // with 0 bits
// Appends one basis to input `in` (added if missing). At most LL_MAX_BITS fit; more are ignored.
void ll_push_basis(struct linear_layout *l, enum ll_in in, const uint32_t *coords);
int ll_find_in(const struct linear_layout *l, enum ll_in in);      // index or -1
unsigned ll_in_bits(const struct linear_layout *l, enum ll_in in); // 0 when absent
static inline uint32_t ll_in_size(const struct linear_layout *l, enum ll_in in) {
  return 1u << ll_in_bits(l, in);
}
static inline unsigned ll_total_in_bits(const struct linear_layout *l) {
  unsigned n = 0;
  for (unsigned i = 0; i < l->in_count; i++)
    n += l->in_bits[i];
  return n;
}
static inline unsigned ll_total_out_bits(const struct linear_layout *l) {
  unsigned n = 0;
  for (unsigned d = 0; d < l->out_count; d++)
    n += l->out_bits[d];
  return n;
}

// ret[0..out_count): coordinates of the element at the given input indices (by enum ll_in; absent
// inputs are ignored).
void ll_apply(const struct linear_layout *l, const uint32_t index[LL_NO_IN], uint32_t *ret);
// The same map of the same shape; inputs with 0 bits count as absent.
bool ll_equal(const struct linear_layout *a, const struct linear_layout *b);
bool ll_is_surjective(const struct linear_layout *l);
bool ll_is_injective(const struct linear_layout *l);

// ---- construction ----
// Identity of `bits` bits from `in` to output dimension `dim` of a rank-`rank` space.
struct linear_layout ll_identity(enum ll_in in, unsigned bits, unsigned rank, unsigned dim);
struct linear_layout ll_zeros(enum ll_in in, unsigned bits, unsigned rank);
// Direct sum: b's images are shifted above a's along every output dimension.
struct linear_layout ll_product(const struct linear_layout *a, const struct linear_layout *b);

// ---- algebra ----
// outer after inner: inner's outputs, flattened row-major (last dim fastest), feed outer's inputs
// in order (first input lowest). Bit totals must agree. False if they do not.
bool ll_compose(const struct linear_layout *inner, const struct linear_layout *outer,
                struct linear_layout *ret);
// Exact inverse of a bijection onto input names `in` (sizes from the original); false otherwise.
// The result maps one flattened input LL_OFFSET to "coordinates" = the original inputs in order.
bool ll_invert(const struct linear_layout *l, struct linear_layout *ret);
// A right inverse: for each tensor element one (smallest) input index; needs surjectivity.
bool ll_pseudo_invert(const struct linear_layout *l, struct linear_layout *ret);
// b^-1 after a: where the elements held at a's inputs live in b. Result: a's inputs -> outputs =
// b's inputs in order. For surjective b with zero bases, picks the representative with zero free
// bits.
bool ll_invert_and_compose(const struct linear_layout *a, const struct linear_layout *b,
                           struct linear_layout *ret);
// l = tile * q (left) or q * tile (right): divides by a tile at the low or the high end. False when
// it is no factor. The quotient keeps l's inputs, some with 0 bits.
bool ll_divide_left(const struct linear_layout *l, const struct linear_layout *tile,
                    struct linear_layout *ret_q);
bool ll_divide_right(const struct linear_layout *l, const struct linear_layout *tile,
                     struct linear_layout *ret_q);
// Drops input `in` when l is (identity on in) * rest, for maps whose outputs are named like inputs.
// The output `out_dim` stays, with 0 bits.
bool ll_quotient(const struct linear_layout *l, enum ll_in in, unsigned out_dim,
                 struct linear_layout *ret);
// Keeps only the listed inputs and outputs (others' bases and coordinates dropped).
struct linear_layout ll_sublayout(const struct linear_layout *l, size_t n_in, const enum ll_in *in,
                                  size_t n_out, const unsigned *out_dims);
// Tensor reshape, row-major: flatten outputs (last dim fastest), cut anew. Total bits must agree.
bool ll_reshape_outs(const struct linear_layout *l, unsigned rank, const unsigned *out_bits,
                     struct linear_layout *ret);
// Result dim i is dim order[i].
struct linear_layout ll_transpose_outs(const struct linear_layout *l, const unsigned *order);
struct linear_layout ll_flatten_outs(const struct linear_layout *l); // to one dim, row-major
struct linear_layout ll_remove_out(const struct linear_layout *l, unsigned dim);
struct linear_layout ll_insert_out(const struct linear_layout *l, unsigned dim); // of size 1
struct linear_layout ll_remove_zero_bases(const struct linear_layout *l, enum ll_in in);
// Drops the highest bits, or adds zero bases.
struct linear_layout ll_resize_in(const struct linear_layout *l, enum ll_in in, unsigned bits);

// ---- questions ----
// Per input: bits that do not matter (flipping the bit gives the same element as some combination
// of lower ones). Their threads or registers are duplicates: predicate stores with them off.
void ll_free_masks(const struct linear_layout *l, uint32_t ret_masks[LL_NO_IN]);
// Longest run 2^k of consecutive indices of `in` that are consecutive in the flattened output whose
// fastest dimension is `fast_dim` and start at a multiple of 2^k. Returns 2^k, at least 1.
unsigned ll_consecutive(const struct linear_layout *l, enum ll_in in, unsigned fast_dim);

// "register: [[0,1],[0,2]], lane: [...]" as in the `linear` encoding.
void ll_print(const struct linear_layout *l, struct strbuf *out);
const char *ll_in_name(enum ll_in in);

#endif
