// SPDX-License-Identifier: Apache-2.0
// Scores of attention that a graph computes from the product of queries and keys: their expression
// trees read a placeholder instead of the product, which is then not computed by itself.
#include "graph/ir/custom.h"
#include "graph/loops/loops_internal.h"

static const struct value *custom_tensor(const struct node *n, const char *name) {
  const struct custom_operator *o = node_custom(n);
  for (size_t i = 0; i < o->count; i++)
    if (str_is(o->parameters[i].name, name))
      return node_custom_args(n)[i].value;
  return NULL;
}

struct loops_scores loops_scores_of(const struct node *n) {
  enum { PRODUCT = 6, SCORE = 7, KEPT = 10 }; // of tile.attention
  struct loops_scores ret = {0};
  if (n->op == OP_TILE_ATTENTION)
    ret.computed[2] = node_value(n, KEPT);
  if (n->op == OP_TILE_ATTENTION && node_value(n, SCORE)) {
    ret.product = node_value(n, PRODUCT);
    ret.computed[0] = node_value(n, SCORE);
  } else if (n->op == OP_CUSTOM && node_custom(n)->computes_scores) {
    ret.product = custom_tensor(n, "product");
    ret.computed[0] = custom_tensor(n, "score");
    ret.computed[1] = custom_tensor(n, "derivative");
    ret.computed[2] = custom_tensor(n, "kept");
    static const char *const names[] = {"first", "end", "first_query", "end_query"};
    for (unsigned i = 0; i < COUNT_OF(names); i++)
      ret.bounds[i] = custom_tensor(n, names[i]);
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
