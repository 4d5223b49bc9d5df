// SPDX-License-Identifier: Apache-2.0
// Changes of the tensor a layout describes: reshape, transpose, adding and dropping dimensions.
#include "layouts/gf2.h"

struct linear_layout ll_sublayout(const struct linear_layout *l, size_t n_in, const enum ll_in *in,
                                  size_t n_out, const unsigned *out_dims) {
  unsigned bits[LL_MAX_OUT] = {0};
  for (size_t d = 0; d < n_out; d++)
    bits[d] = l->out_bits[out_dims[d]];
  struct linear_layout r = ll_empty((unsigned)n_out, bits);
  for (size_t i = 0; i < n_in; i++) {
    int at = ll_find_in(l, in[i]);
    if (at < 0)
      continue;
    ll_add_in(&r, in[i]);
    for (unsigned b = 0; b < l->in_bits[at]; b++) {
      uint32_t image[LL_MAX_OUT] = {0};
      for (size_t d = 0; d < n_out; d++)
        image[d] = l->basis[at][b][out_dims[d]];
      ll_push_basis(&r, in[i], image);
    }
  }
  return r;
}

// l with the same inputs and the dimensions that `dims` lists (l's own, or LL_MAX_OUT for a new
// one of size 1).
static struct linear_layout pick_outs(const struct linear_layout *l, unsigned n,
                                      const unsigned *dims) {
  struct linear_layout r = *l;
  r.out_count = n;
  for (unsigned d = 0; d < n; d++)
    r.out_bits[d] = dims[d] < LL_MAX_OUT ? l->out_bits[dims[d]] : 0;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      for (unsigned d = 0; d < n; d++)
        r.basis[i][b][d] = dims[d] < LL_MAX_OUT ? l->basis[i][b][dims[d]] : 0;
  return r;
}

bool ll_reshape_outs(const struct linear_layout *l, unsigned rank, const unsigned *out_bits,
                     struct linear_layout *ret) {
  unsigned total = 0;
  for (unsigned d = 0; d < rank; d++)
    total += out_bits[d];
  if (rank > LL_MAX_OUT || total != ll_total_out_bits(l))
    return false;
  struct linear_layout r = *l;
  r.out_count = rank;
  for (unsigned d = 0; d < rank; d++)
    r.out_bits[d] = out_bits[d];
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      gf2_unflatten(rank, r.out_bits, gf2_flatten(l, l->basis[i][b]), r.basis[i][b]);
  *ret = r;
  return true;
}

struct linear_layout ll_flatten_outs(const struct linear_layout *l) {
  struct linear_layout r = *l;
  unsigned total = ll_total_out_bits(l);
  ll_reshape_outs(l, 1, &total, &r);
  return r;
}

struct linear_layout ll_transpose_outs(const struct linear_layout *l, const unsigned *order) {
  return pick_outs(l, l->out_count, order);
}

struct linear_layout ll_remove_out(const struct linear_layout *l, unsigned dim) {
  unsigned dims[LL_MAX_OUT], n = 0;
  for (unsigned d = 0; d < l->out_count; d++)
    if (d != dim)
      dims[n++] = d;
  return pick_outs(l, n, dims);
}

struct linear_layout ll_insert_out(const struct linear_layout *l, unsigned dim) {
  if (l->out_count == LL_MAX_OUT || dim > l->out_count)
    return *l;
  unsigned dims[LL_MAX_OUT];
  for (unsigned d = 0; d <= l->out_count; d++)
    dims[d] = d < dim ? d : d == dim ? LL_MAX_OUT : d - 1;
  return pick_outs(l, l->out_count + 1, dims);
}
