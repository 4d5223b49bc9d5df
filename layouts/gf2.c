// SPDX-License-Identifier: Apache-2.0
// Gaussian elimination over GF(2) on 64-bit columns, and layouts as matrices.
#include "layouts/gf2.h"

#include <assert.h>

uint64_t gf2_reduce(const struct gf2_span *s, uint64_t v, uint64_t *tag) {
  // A vector of the span is the only one with its highest bit, but that bit may stay in the
  // remainder when there is none: walk all bits downwards.
  uint64_t left = 0;
  while (v != 0) {
    unsigned top = log2_floor(v);
    if (s->vector[top] != 0) {
      v ^= s->vector[top];
      if (tag)
        *tag ^= s->tag[top];
    } else {
      left |= 1ull << top;
      v ^= 1ull << top;
    }
  }
  return left;
}

bool gf2_add(struct gf2_span *s, uint64_t v, uint64_t tag) {
  v = gf2_reduce(s, v, &tag);
  if (v == 0)
    return false;
  unsigned top = log2_floor(v);
  s->vector[top] = v;
  s->tag[top] = tag;
  s->rank++;
  return true;
}

void gf2_dual(unsigned n, const uint64_t *vectors, uint64_t *ret_masks) {
  // Gauss-Jordan: rows = combination * vectors with an identity at the pivots. The masks need the
  // transpose of the combinations, placed at the pivots.
  assert(n <= 32);
  uint64_t rows[32], combination[32];
  unsigned pivot[32];
  for (unsigned i = 0; i < n; i++) {
    rows[i] = vectors[i];
    combination[i] = 1ull << i;
    ret_masks[i] = 0;
  }
  for (unsigned i = 0; i < n; i++) {
    if (rows[i] == 0)
      continue; // not independent: no mask exists
    pivot[i] = log2_floor(rows[i]);
    for (unsigned k = 0; k < n; k++)
      if (k != i && rows[k] >> pivot[i] & 1) {
        rows[k] ^= rows[i];
        combination[k] ^= combination[i];
      }
  }
  for (unsigned k = 0; k < n; k++)
    for (unsigned i = 0; i < n; i++)
      if (rows[k] != 0 && combination[k] >> i & 1)
        ret_masks[i] |= 1ull << pivot[k];
}

bool gf2_columns_of(const struct linear_layout *l, struct gf2_columns *ret) {
  ret->count = 0;
  if (ll_total_in_bits(l) > 64 || ll_total_out_bits(l) > 64)
    return false;
  for (unsigned i = 0; i < l->in_count; i++)
    for (unsigned b = 0; b < l->in_bits[i]; b++)
      ret->at[ret->count++] = gf2_flatten(l, l->basis[i][b]);
  return true;
}

struct gf2_span gf2_span_of(const struct gf2_columns *c) {
  struct gf2_span s = {0};
  for (unsigned i = 0; i < c->count; i++)
    gf2_add(&s, c->at[i], 1ull << i);
  return s;
}

uint64_t gf2_flatten(const struct linear_layout *l, const uint32_t *coords) {
  uint64_t flat = 0;
  for (unsigned d = 0; d < l->out_count; d++)
    flat = flat << l->out_bits[d] | coords[d];
  return flat;
}

void gf2_unflatten(unsigned rank, const unsigned *bits, uint64_t flat, uint32_t *ret) {
  for (unsigned d = rank; d-- > 0;) {
    ret[d] = (uint32_t)(flat & ((1ull << bits[d]) - 1));
    flat >>= bits[d];
  }
}
