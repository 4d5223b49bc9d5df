// SPDX-License-Identifier: Apache-2.0
// Helpers of the functions of graph/ir/composed.def.
#include "graph/ir/compose.h"

#include "graph/ir/operator_help.h"

enum { REDUCTION_NONE, REDUCTION_MEAN };

void compose_error(struct build *b, const struct node *n, enum diag_code code, const char *fmt,
                   ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(b->g->arena, fmt, ap);
  va_end(ap);
  operator_error(b->g->diag, b->at, code, operator_row(n->op), text);
}

uint32_t compose_dim(struct build *b, const struct node *n, unsigned i, uint32_t rank) {
  int64_t dim = 0, count = rank ? rank : 1;
  if (n->args[i].kind == ARG_INT && expr_is_const(n->args[i].number, &dim) && dim >= -count &&
      dim < count)
    return (uint32_t)(dim < 0 ? dim + count : dim);
  compose_error(b, n, E1004, "there is no such dimension in a tensor of %u dimensions", rank);
  return 0;
}

struct value *compose_reduced(struct build *b, const struct node *n, unsigned reduction,
                              struct value *losses) {
  int64_t how = node_int(n, reduction);
  if (!losses || how == REDUCTION_NONE)
    return losses;
  return BUILD(b, how == REDUCTION_MEAN ? OP_MEAN : OP_SUM, TENSOR(losses));
}

struct value *compose_spread(struct build *b, const struct node *n, unsigned reduction,
                             struct value *grad, const struct value *like) {
  if (node_int(n, reduction) != REDUCTION_MEAN)
    return grad;
  return build_over(b, grad, value_numel(b->g->exprs, like));
}

struct value *compose_indices(struct build *b, const struct value *x, uint32_t dim) {
  return build_iota(b, x->shape[dim], dim, x->rank);
}

struct value *compose_index(struct build *b, struct value *x, uint32_t dim, struct value *index) {
  struct value *list[GRAPH_MAX_RANK] = {NULL};
  if (!x || !index)
    return NULL;
  list[dim] = index;
  return BUILD(b, OP_INDEX, TENSOR(x), arg_values(b->g, dim + 1, list));
}

struct value *compose_to_last(struct build *b, struct value *x, uint32_t dim) {
  if (!x)
    return NULL;
  struct dims order = {0};
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != dim)
      order.at[order.count++] = i;
  order.at[order.count++] = dim;
  return build_permute(b, x, &order);
}
