// SPDX-License-Identifier: Apache-2.0
// Convolutions on processors whose results are sums of few terms, as depthwise ones: a map that
// adds a term for each tap, as pooling does. Its vectors run along the rows of the image (along the
// channels, if these are next to each other), so that a tap is a load of neighbours with a mask for
// the padding and a multiplication by one weight. As reductions they would gather windows.
#include "graph/loops/loops_internal.h"

// Additions of a chain wait for each other: chains of a few overlap.
enum { MOST_TAPS = 64, CHAIN = 5 };

// Its elements from one channel of the result, if there are few; else 0.
static int64_t taps_of(const struct value *weights) {
  int64_t count = 1, extent;
  for (uint32_t d = 1; d < weights->rank; d++) {
    if (!expr_is_const(weights->shape[d], &extent) || extent < 1 || extent > MOST_TAPS)
      return 0;
    count *= extent;
    if (count > MOST_TAPS)
      return 0;
  }
  return count;
}

bool loops_sums_taps(const struct builder *b, const struct node *n) {
  enum { FEW_CHANNELS = 8 }; // of a group; more are worth a block of a product
  if (!b->g->sums_taps || n->op != OP_CONVOLUTION)
    return false;
  const struct value *weights = node_value(n, 1);
  const struct expr *channels = expr_floordiv(b->x, weights->shape[0], node_expr(n, 8));
  return expr_likely(channels) < FEW_CHANNELS && taps_of(weights) > 0;
}

// Term `which` of the sum.
static const struct scalar *term(struct builder *b, const struct scalar *body, int64_t which,
                                 size_t count, const struct expr *const *over) {
  const struct expr *from[GRAPH_MAX_RANK], *to[GRAPH_MAX_RANK];
  size_t n = 0;
  for (size_t i = count; i-- > 0;)
    if (over[i]->kind == EXPR_SYMBOL) {
      int64_t extent = axis_extent(over[i])->value;
      from[n] = over[i];
      to[n++] = expr_const(b->x, which % extent);
      which /= extent;
    }
  return scalar_substitute(b->s, body, n, from, to);
}

const struct scalar *loops_tap_terms(struct builder *b, const struct value *weights,
                                     const struct scalar *body, size_t reduced,
                                     const struct expr *const *over) {
  const struct scalar *sum = NULL;
  int64_t count = taps_of(weights);
  for (int64_t i = 0; i < count; i += CHAIN) {
    const struct scalar *part = term(b, body, i, reduced, over);
    for (int64_t k = i + 1; k < count && k < i + CHAIN; k++)
      part = loops_binary(b, SCALAR_ADD, body->dtype, part, term(b, body, k, reduced, over));
    sum = sum ? loops_binary(b, SCALAR_ADD, body->dtype, sum, part) : part;
  }
  return sum;
}
