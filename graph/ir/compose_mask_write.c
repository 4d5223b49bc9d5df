// SPDX-License-Identifier: Apache-2.0
// x[mask] = values where no value depends on how many elements the mask chooses: a `where`.
#include "graph/ir/compose_mask_write.h"

#include "graph/ir/compose.h"

// The values beside x: those along the chosen elements, one, become one along each dimension of
// the mask.
static struct value *beside(struct build *b, struct value *values, const struct value *x,
                            const struct value *mask, uint32_t dim) {
  const struct expr *shape[GRAPH_MAX_RANK];
  uint32_t trailing = x->rank - dim - mask->rank;
  for (uint32_t d = 0; d < x->rank; d++) {
    bool is_behind = d >= dim + mask->rank, is_before = d < dim;
    uint32_t back = is_behind ? x->rank - d : dim - d + 1 + trailing; // from the end of values
    bool is_given = (is_behind || is_before) && back <= values->rank;
    shape[d] = is_given ? values->shape[values->rank - back] : compose_const(b, 1);
  }
  return build_view(b, values, x->rank, shape);
}

// self indices values accumulate
void compose_mask_write(struct build *b, struct node *n) {
  uint32_t dim = 0;
  struct value *x = node_value(n, 0), *mask = mask_write_index(n, &dim), *values = node_value(n, 2);
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < x->rank; d++) {
    bool is_masked = d >= dim && d < dim + mask->rank;
    shape[d] = is_masked ? mask->shape[d - dim] : compose_const(b, 1);
    if (is_masked && !compose_same_size(b, shape[d], x->shape[d])) {
      compose_error(b, n, E1004, "dimension %u of the mask has another size than what it indexes",
                    d - dim);
      return;
    }
  }
  mask = build_view(b, mask, x->rank, shape);
  values = build_convert(b, beside(b, values, x, mask_write_index(n, &dim), dim), x->dtype);
  if (node_truth(n, 3))
    n->results[0] = build_add(b, x, build_where_else(b, mask, values, 0));
  else
    n->results[0] = build_where(b, mask, values, x);
}
