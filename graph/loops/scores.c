// SPDX-License-Identifier: Apache-2.0
// Scores of attention that a graph computes from the product of queries and keys: their expression
// trees read a placeholder instead of the product, which is then not computed by itself.
#include "graph/ir/custom.h"
#include "graph/loops/loops_internal.h"

struct loops_scores loops_scores_of(const struct node *n) {
  enum { PRODUCT = 6, SCORE = 7 }; // of tile.attention
  struct loops_scores ret = {0};
  if (n->op == OP_TILE_ATTENTION && node_value(n, SCORE)) {
    ret.product = node_value(n, PRODUCT);
    ret.computed[0] = node_value(n, SCORE);
  } else if (n->op == OP_CUSTOM && node_custom(n)->computes_scores) {
    const struct arg *args = node_custom_args(n);
    size_t last = 0;
    for (size_t i = 0; i < node_custom(n)->count; i++)
      last = args[i].kind == ARG_VALUE ? i : last;
    ret.product = args[last - 2].value;
    ret.computed[0] = args[last - 1].value;
    ret.computed[1] = args[last].value;
  }
  return ret;
}

const struct scalar *loops_score(struct builder *b, const struct value *product,
                                 const struct value *computed, const struct scalar *placeholder,
                                 coordinates at) {
  const struct scalar *v = scalar_convert(b->s, loops_broadcast(b, computed, 4, at), DTYPE_F32);
  const struct scalar *of = loops_broadcast(b, product, 4, at);
  const struct scalar *from[2] = {of, of}, *to[2] = {placeholder, placeholder};
  if (of->kind == SCALAR_CONVERT)
    from[1] = of->in[0];
  return scalar_replace(b->s, v, COUNT_OF(from), from, to);
}
