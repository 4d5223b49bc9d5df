// SPDX-License-Identifier: Apache-2.0
// Helpers of the functions of graph/ir/composed.def.
#include "graph/ir/compose.h"

#include "graph/ir/operator_help.h"

enum { REDUCTION_NONE, REDUCTION_MEAN, REDUCTION_SUM };

void compose_error(struct build *b, const struct node *n, enum diag_code code, const char *fmt,
                   ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(b->g->arena, fmt, ap);
  va_end(ap);
  operator_error(b->g->diag, b->at, code, operator_row(n->op), text);
}

bool compose_same_size(struct build *b, const struct expr *x, const struct expr *y) {
  return graph_require_equal(b->g, x, y, b->at);
}

bool compose_same_shape(struct build *b, const struct value *x, const struct value *y) {
  if (x->rank != y->rank)
    return false;
  for (uint32_t d = 0; d < x->rank; d++)
    if (!compose_same_size(b, x->shape[d], y->shape[d]))
      return false;
  return true;
}

uint32_t compose_dim(struct build *b, const struct node *n, unsigned i, uint32_t rank) {
  int64_t dim = 0, count = rank ? rank : 1;
  if (n->args[i].kind == ARG_INT && expr_is_const(n->args[i].number, &dim) && dim >= -count &&
      dim < count)
    return (uint32_t)(dim < 0 ? dim + count : dim);
  compose_error(b, n, E1004, "there is no such dimension in a tensor of %u dimensions", rank);
  return 0;
}

bool compose_dims(struct build *b, const struct node *n, unsigned i, uint32_t rank,
                  struct dims *ret) {
  bool is_seen[GRAPH_MAX_RANK] = {false};
  const struct arg *a = &n->args[i], *list = a->kind == ARG_LIST ? a->list.at : a;
  size_t listed = a->kind == ARG_LIST ? a->list.count : a->kind == ARG_INT;
  int64_t dim = 0, count = rank ? rank : 1;
  for (size_t k = 0; k < listed; k++) {
    if (!expr_is_const(list[k].number, &dim) || dim < -count || dim >= count) {
      compose_error(b, n, E1004, "there is no such dimension in a tensor of %u dimensions", rank);
      return false;
    }
    dim += dim < 0 ? count : 0;
    if (is_seen[dim] && rank) {
      compose_error(b, n, E1004, "dimension %lld is named twice", (long long)dim);
      return false;
    }
    is_seen[dim] = true;
  }
  *ret = dims_of(n, i, rank);
  return true;
}

bool compose_reduction(struct build *b, const struct node *n, unsigned reduction) {
  int64_t how = node_int(n, reduction);
  if (how >= REDUCTION_NONE && how <= REDUCTION_SUM)
    return true;
  compose_error(b, n, E1004, "`reduction` is %lld; 0 is none, 1 the mean, 2 the sum",
                (long long)how);
  return false;
}

struct value *compose_reduced(struct build *b, const struct node *n, unsigned reduction,
                              struct value *losses) {
  int64_t how = node_int(n, reduction);
  if (!compose_reduction(b, n, reduction))
    return NULL;
  if (!losses || how == REDUCTION_NONE)
    return losses;
  return BUILD(b, how == REDUCTION_MEAN ? OP_MEAN : OP_SUM, TENSOR(losses));
}

struct value *compose_spread(struct build *b, const struct node *n, unsigned reduction,
                             struct value *grad, const struct value *like) {
  if (!compose_reduction(b, n, reduction))
    return NULL;
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
