// SPDX-License-Identifier: Apache-2.0
// Quantiles: elements of the sorted line around the position q (size - 1), or their mean, weighted
// by the distances to it.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)

struct quantile {
  struct build *b;
  struct value *sorted;     // [.., size]
  struct value *at;         // [.., quantiles], from 0
  const struct expr *count; // of quantiles
};

// The line: a dimension moved last, or all elements.
static struct value *line(struct build *b, const struct node *n, uint32_t *ret_dim) {
  *ret_dim = 0;
  if (node_is_none(n, 2) || X->rank == 0)
    return BUILD(b, OP_RESHAPE, n->args[0], arg_int(b->g, -1));
  *ret_dim = compose_dim(b, n, 2, X->rank);
  return compose_to_last(b, X, *ret_dim);
}

static struct value *q_of(struct build *b, const struct node *n, enum dtype t) {
  struct value *q = node_value(n, 1);
  if (!q)
    q = build_number(b, node_real(n, 1), t);
  return q && q->rank == 0 ? build_unsqueeze(b, q, 0) : q;
}

// NaNs are last in the line; `skips_nan`: they do not count, else they are what is found.
static struct value *positions(struct build *b, struct value *sorted, struct value *q,
                               bool skips_nan) {
  struct dims last = dims_one(sorted->rank - 1);
  const struct expr *size = sorted->shape[last.at[0]];
  struct value *end =
      build_convert(b,
                    BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL),
                          ARG_E(expr_addi(b->g->exprs, size, -1)), ARG_D(DTYPE_I64)),
                    sorted->dtype);
  struct value *nan = build_convert(b, build_unop(b, OP_ISNAN, sorted), sorted->dtype);
  struct value *nans = build_sum(b, nan, &last, true);
  if (!skips_nan)
    return build_where(b, build_real(b, OP_GT_TENSOR, nans, 0), end, build_mul(b, q, end));
  struct value *left = build_real(b, OP_MAXIMUM, build_sub(b, end, nans), 0);
  return build_mul(b, q, left);
}

static struct value *element(struct quantile *s, struct value *at) {
  struct build *b = s->b;
  const struct expr *shape[GRAPH_MAX_RANK];
  uint32_t rank = s->sorted->rank;
  for (uint32_t d = 0; d < rank; d++)
    shape[d] = d + 1 == rank ? s->count : s->sorted->shape[d];
  struct value *index = build_expand(b, build_convert(b, at, DTYPE_I64), rank, shape);
  return index ? BUILD(b, OP_GATHER, TENSOR(s->sorted), arg_int(b->g, -1), TENSOR(index)) : NULL;
}

static struct value *interpolated(struct quantile *s, struct node *n) {
  struct build *b = s->b;
  struct str how = n->args[4].string;
  if (n->args[4].kind != ARG_STRING)
    how = STR("linear");
  if (str_is(how, "nearest"))
    return element(s, build_unop(b, OP_ROUND, s->at));
  struct value *low = build_unop(b, OP_FLOOR, s->at), *high = build_unop(b, OP_CEIL, s->at);
  if (str_is(how, "lower"))
    return element(s, low);
  if (str_is(how, "higher"))
    return element(s, high);
  bool is_middle = str_is(how, "midpoint");
  if (!is_middle && !str_is(how, "linear")) {
    compose_error(b, n, E1003,
                  "the interpolation `%.*s`; there are `linear`, `lower`, `higher`, `midpoint` and "
                  "`nearest`",
                  STR_ARG(how));
    return NULL;
  }
  struct value *below = element(s, low), *above = element(s, high),
               *share =
                   is_middle ? build_number(b, 0.5, s->sorted->dtype) : build_sub(b, s->at, low);
  return below && above && share
             ? BUILD(b, OP_LERP_TENSOR, TENSOR(below), TENSOR(above), TENSOR(share))
             : NULL;
}

// self q dim keepdim interpolation: a list of quantiles is the first dimension of the result
void compose_quantile(struct build *b, struct node *n) {
  const struct value *list = node_value(n, 1);
  if (list && list->rank > 1) {
    compose_error(b, n, E1004, "`q` has %u dimensions; it may have one", list->rank);
    return;
  }
  if (X->dtype != DTYPE_F32 && X->dtype != DTYPE_F64) {
    compose_error(b, n, E1005, "`self` holds %s; quantiles are of f32 or f64",
                  dtype_name(X->dtype));
    return;
  }
  if (expr_is(value_numel(b->g->exprs, X), 0)) {
    compose_error(b, n, E1004, "no elements have no quantile");
    return;
  }
  uint32_t dim;
  struct value *x = build_up(b, line(b, n, &dim)), *q = x ? q_of(b, n, x->dtype) : NULL;
  struct node *sort =
      q ? graph_append(b->g, OP_SORT, (struct arg[]){TENSOR(x), arg_int(b->g, -1)}, 2, b->at)
        : NULL;
  if (!sort)
    return;
  struct quantile s = {.b = b, .sorted = sort->results[0], .count = q->shape[0]};
  s.at =
      positions(b, s.sorted, build_convert(b, q, x->dtype), operator_row(n->op)->part == OP_ISNAN);
  struct value *v = s.at ? interpolated(&s, n) : NULL;
  if (!v)
    return;
  // [.., quantiles] -> [quantiles, ..]
  struct dims order = {.count = v->rank};
  for (uint32_t d = 0; d < v->rank; d++)
    order.at[d] = d == 0 ? v->rank - 1 : d - 1;
  v = build_permute(b, v, &order);
  if (node_truth(n, 3) && node_is_none(n, 2))
    for (uint32_t d = 0; d < X->rank; d++)
      v = build_unsqueeze(b, v, 1);
  else if (node_truth(n, 3) && X->rank)
    v = build_unsqueeze(b, v, dim + 1);
  if (!list || list->rank == 0)
    v = build_squeeze(b, v, 0);
  n->results[0] = build_convert(b, v, X->dtype);
}
