// SPDX-License-Identifier: Apache-2.0
// Rules of reductions and of running sums.
#include "graph/autodiff/gradient_rules.h"

// The argument with the reduced dimensions; none: all are.
enum { DIMS = 1, ALL = 100 };

static unsigned dims_at(const struct node *n) {
  switch (n->op) {
  case OP_SUM:
  case OP_MEAN:
  case OP_PROD:
  case OP_MAX:
  case OP_MIN: return ALL;
  default: return DIMS;
  }
}

// A value like the result, as many times as the operand has elements.
static struct value *spread(struct build *b, const struct node *n, struct value *v) {
  return build_as(b, gradient_unreduced(b, n, dims_at(n), v), node_value(n, 0));
}

static const struct expr *count_of(struct build *b, const struct node *n) {
  const struct value *x = node_value(n, 0);
  struct dims dims = dims_at(n) == ALL ? dims_from(0, x->rank) : dims_of(n, dims_at(n), x->rank);
  return build_count(b, x, &dims);
}

void rule_sum(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, spread(&d->b, n, g[0]));
}

void rule_mean(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0, spread(b, n, build_over(b, g[0], count_of(b, n))));
}

// The product of the others, over one dimension; that of all elements is one of a vector.
void rule_prod(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = build_convert(b, node_value(n, 0), n->results[0]->dtype);
  if (!x)
    return;
  bool is_flat = dims_at(n) == ALL || x->rank == 0;
  int64_t dim = is_flat ? 0 : node_dim(n, DIMS, x->rank);
  const struct expr *count = value_numel(b->g->exprs, x);
  struct value *line = is_flat ? BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, 1, &count)) : x;
  struct value *others =
      line ? BUILD(b, OP_TILE_PROD_OTHERS, TENSOR(line), arg_ints(b->g, 1, &dim)) : NULL;
  if (others && is_flat)
    others = BUILD(b, OP_RESHAPE, TENSOR(others), arg_exprs(b->g, x->rank, x->shape));
  gradient_give(d, n, 0, build_mul(b, spread(b, n, g[0]), others));
}

// Of product i without x[i] by x[k]: that without both, also where factors are 0. Rows i of a
// matrix have a one in place of x[i].
void rule_prod_others(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  const struct arg *list;
  node_list(n, 1, &list);
  int64_t dim = 0, last;
  expr_is_const(list[0].number, &dim);
  dim += dim < 0 ? (int64_t)x->rank : 0;
  if (x->rank >= GRAPH_MAX_RANK) {
    d->failed = true;
    diag_error(b->g->diag, n->span, E1004, "a second derivative of a product of %u dimensions",
               x->rank);
    return;
  }
  last = dim + 1;
  uint32_t rank = x->rank + 1;
  struct dims rows = dims_one((uint32_t)dim);
  struct value *at = build_iota(b, x->shape[dim], (uint32_t)dim, rank),
               *of = build_iota(b, x->shape[dim], (uint32_t)last, rank);
  struct value *is_own = build_binop(b, OP_EQ_TENSOR, at, of);
  struct value *wide = build_unsqueeze(b, x, (uint32_t)dim);
  wide = build_where(b, is_own, build_number(b, 1, x->dtype), wide);
  struct value *both =
      wide ? BUILD(b, OP_TILE_PROD_OTHERS, TENSOR(wide), arg_ints(b->g, 1, &last)) : NULL;
  both = build_mul(b, both, build_unsqueeze(b, g[0], (uint32_t)last));
  both = build_where(b, is_own, build_number(b, 0, x->dtype), both);
  gradient_give(d, n, 0, build_sum(b, both, &rows, false));
}

static struct value *sum_of_line(struct build *b, const struct node *n, struct value *x) {
  struct dims dims = dims_at(n) == ALL ? dims_from(0, node_value(n, 0)->rank)
                                       : dims_of(n, dims_at(n), node_value(n, 0)->rank);
  return dims.count ? build_sum(b, x, &dims, true) : x;
}

// Equal extrema share the gradient, as in PyTorch.
void rule_amax(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *top = gradient_unreduced(b, n, dims_at(n), n->results[0]);
  struct value *is_top = build_binop(b, OP_EQ_TENSOR, x, top);
  struct value *count = sum_of_line(b, n, build_convert(b, is_top, g[0]->dtype));
  struct value *share = build_div(b, gradient_unreduced(b, n, dims_at(n), g[0]), count);
  gradient_give(d, n, 0, build_where(b, is_top, share, build_number(b, 0, g[0]->dtype)));
}

// To the element that the second result names: no scatter, since it is one of a line.
void rule_max_dim(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  if (!x->rank || !g[0]) {
    gradient_give(d, n, 0, g[0]);
    return;
  }
  uint32_t dim = node_dim(n, 1, x->rank);
  struct value *at = build_iota(b, x->shape[dim], dim, x->rank);
  struct value *is_it =
      build_binop(b, OP_EQ_TENSOR, at, gradient_unreduced(b, n, DIMS, n->results[1]));
  gradient_give(d, n, 0, build_where_else(b, is_it, gradient_unreduced(b, n, DIMS, g[0]), 0));
}

// Elements minus the correction.
static struct value *over_degrees(struct build *b, const struct node *n, struct value *v) {
  const struct expr *count = count_of(b, n);
  double correction = 1;
  if (n->op == OP_VAR_DIM)
    correction = node_truth(n, 2);
  else if (!node_is_none(n, 2))
    correction = node_real(n, 2);
  int64_t elements;
  if (expr_is_const(count, &elements)) {
    double degrees = (double)elements - correction;
    return build_real(b, OP_DIV_TENSOR, v, degrees > 0 ? degrees : 0);
  }
  struct value *degrees = BUILD(b, OP_FULL, (struct arg){.kind = ARG_LIST}, ARG_E(count),
                                ARG_D(dtype_to_compute(v->dtype)));
  return build_div(b, v, build_real(b, OP_SUB_TENSOR, degrees, correction));
}

// Variance, and the mean as the second result: 2 (x - mean) / (elements - correction)
void rule_var(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  struct dims dims = dims_of(n, DIMS, x->rank);
  if (g[0]) {
    struct value *mean = dims.count ? build_mean(b, x, &dims, true) : x;
    struct value *share = over_degrees(b, n, build_scale(b, g[0], 2));
    gradient_give(d, n, 0, build_mul(b, spread(b, n, share), build_sub(b, x, mean)));
  }
  if (n->result_count > 1 && g[1])
    gradient_give(d, n, 0, spread(b, n, build_over(b, g[1], count_of(b, n))));
}

// Running sums from the end.
void rule_cumsum(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  if (!x->rank) {
    gradient_give(d, n, 0, g[0]);
    return;
  }
  struct dims dim = dims_one(node_dim(n, 1, x->rank));
  struct value *back = BUILD(b, OP_FLIP, TENSOR(g[0]), dims_arg(b, &dim));
  struct value *sums = BUILD(b, OP_CUMSUM, TENSOR(back), n->args[1]);
  gradient_give(d, n, 0, BUILD(b, OP_FLIP, TENSOR(sums), dims_arg(b, &dim)));
}
