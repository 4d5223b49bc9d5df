// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: dimensions as a list, operands in the accumulation dtype; means and
// variances as sums.
#include "graph/passes/decompose.h"

// Is argument i already an explicit list of dimensions?
static bool lists_dims(const struct node *n, unsigned i, const struct dims *d) {
  const struct arg *list;
  if (n->args[i].kind != ARG_LIST || node_list(n, i, &list) != d->count)
    return false;
  for (uint32_t k = 0; k < d->count; k++)
    if (!expr_is(list[k].number, d->at[k]))
      return false;
  return d->count > 0;
}

static struct dims all_dims(const struct value *x) { return dims_from(0, x->rank); }

static bool keeps_dims(const struct node *n, unsigned i) {
  return i < n->arg_count && node_truth(n, i);
}

bool decompose_sum(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  enum dtype t = dtype_to_compute(n->results[0]->dtype);
  bool is_all = n->op == OP_SUM;
  struct dims dims = is_all ? all_dims(x) : dims_of(n, 1, x->rank);
  if (!is_all && lists_dims(n, 1, &dims) && node_is_none(n, 3) && x->dtype == t &&
      n->results[0]->dtype == t)
    return decompose_keep(d);
  x = build_convert(&d->b, x, t);
  return decompose_is(d, n, ret, build_sum(&d->b, x, &dims, !is_all && keeps_dims(n, 2)));
}

bool decompose_mean(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  bool is_all = n->op == OP_MEAN;
  struct dims dims = is_all ? all_dims(x) : dims_of(n, 1, x->rank);
  x = build_convert(&d->b, x, dtype_to_compute(n->results[0]->dtype));
  return decompose_is(d, n, ret, build_mean(&d->b, x, &dims, !is_all && keeps_dims(n, 2)));
}

static struct value *flat(struct build *b, struct value *x) {
  if (!x)
    return NULL;
  const struct expr *numel = value_numel(b->g->exprs, x);
  return build_view(b, x, 1, &numel);
}

bool decompose_prod(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  enum dtype t = dtype_to_compute(n->results[0]->dtype);
  if (n->op == OP_PROD || x->rank == 0) {
    x = flat(b, build_convert(b, x, t));
    return decompose_is(d, n, ret,
                        BUILD(b, OP_PROD_DIM, TENSOR(x), arg_int(b->g, 0), ARG_B(false)));
  }
  uint32_t dim = node_dim(n, 1, x->rank);
  if (node_int(n, 1) == dim && node_is_none(n, 3) && x->dtype == t && n->results[0]->dtype == t)
    return decompose_keep(d);
  x = build_convert(b, x, t);
  return decompose_is(d, n, ret, BUILD(b, OP_PROD_DIM, TENSOR(x), arg_int(b->g, dim), n->args[2]));
}

static struct value *reduce_to(struct build *b, enum operator_id op, struct value *x,
                               const struct dims *dims, bool keepdim) {
  int64_t at[GRAPH_MAX_RANK];
  if (dims->count == 0)
    return x;
  for (uint32_t i = 0; i < dims->count; i++)
    at[i] = dims->at[i];
  return BUILD(b, op, TENSOR(x), arg_ints(b->g, dims->count, at), ARG_B(keepdim));
}

bool decompose_amax(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  bool is_all = n->op == OP_MAX || n->op == OP_MIN;
  struct dims dims = is_all ? all_dims(x) : dims_of(n, 1, x->rank);
  if (!is_all && lists_dims(n, 1, &dims))
    return decompose_keep(d);
  enum operator_id op = n->op == OP_AMAX || n->op == OP_MAX ? OP_AMAX : OP_AMIN;
  return decompose_is(d, n, ret, reduce_to(&d->b, op, x, &dims, !is_all && keeps_dims(n, 2)));
}

bool decompose_max_dim(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  bool is_max = n->op == OP_MAX_DIM;
  struct dims dims = x->rank ? dims_one(node_dim(n, 1, x->rank)) : dims_from(0, 0);
  decompose_give(d, n, ret, 0,
                 reduce_to(b, is_max ? OP_AMAX : OP_AMIN, x, &dims, node_truth(n, 2)));
  return decompose_give(
      d, n, ret, 1, BUILD(b, is_max ? OP_ARGMAX : OP_ARGMIN, TENSOR(x), n->args[1], n->args[2]));
}

bool decompose_argmax(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  bool is_flat = node_is_none(n, 1) || x->rank == 0;
  if (!is_flat && node_int(n, 1) == node_dim(n, 1, x->rank))
    return decompose_keep(d);
  if (!is_flat)
    return decompose_is(
        d, n, ret, BUILD(b, n->op, TENSOR(x), arg_int(b->g, node_dim(n, 1, x->rank)), n->args[2]));
  struct value *index = BUILD(b, n->op, TENSOR(flat(b, x)), arg_int(b->g, 0), ARG_B(false));
  return decompose_is(d, n, ret, build_view(b, index, n->results[0]->rank, n->results[0]->shape));
}

static struct value *truth(struct build *b, struct value *x) {
  return x->dtype == DTYPE_I1 ? x : build_int(b, OP_NE_TENSOR, x, 0);
}

bool decompose_any(struct decompose *d, const struct node *n, struct value **ret) {
  struct value *x = node_value(n, 0);
  bool is_all = n->op == OP_ANY;
  struct dims dims = is_all ? all_dims(x) : dims_of(n, 1, x->rank);
  if (n->op == OP_ANY_DIMS && lists_dims(n, 1, &dims) && x->dtype == DTYPE_I1)
    return decompose_keep(d);
  return decompose_is(
      d, n, ret,
      reduce_to(&d->b, OP_ANY_DIMS, truth(&d->b, x), &dims, !is_all && keeps_dims(n, 2)));
}

bool decompose_all(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0), *fails = build_unop(b, OP_LOGICAL_NOT, truth(b, x));
  bool is_all = n->op == OP_ALL;
  struct dims dims = is_all ? all_dims(x) : dims_of(n, 1, x->rank);
  struct value *any = reduce_to(b, OP_ANY_DIMS, fails, &dims, !is_all && keeps_dims(n, 2));
  return decompose_is(d, n, ret, build_unop(b, OP_LOGICAL_NOT, any));
}

// sum / max(count - correction, 0)
static struct value *over_corrected(struct build *b, struct value *sum, const struct expr *count,
                                    double correction) {
  int64_t n = 0;
  if (!sum)
    return NULL;
  if (expr_is_const(count, &n))
    return build_real(b, OP_DIV_TENSOR, sum, (double)n > correction ? (double)n - correction : 0);
  struct value *left = BUILD(b, OP_FULL, arg_exprs(b->g, 0, NULL), ARG_E(count), ARG_D(sum->dtype));
  left = build_real(b, OP_MAXIMUM, build_real(b, OP_SUB_TENSOR, left, correction), 0);
  return build_div(b, sum, left);
}

bool decompose_var(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0));
  double correction =
      node_is_none(n, 2) ? 1 : node_real(n, 2); // of VAR_DIM: a bool, which has the same value
  struct dims dims = dims_of(n, 1, x->rank);
  struct value *mean = build_mean(b, x, &dims, true), *centred = build_sub(b, x, mean);
  struct value *sum = build_sum(b, build_mul(b, centred, centred), &dims, node_truth(n, 3));
  decompose_give(d, n, ret, 0, over_corrected(b, sum, build_count(b, x, &dims), correction));
  if (n->op != OP_VAR_MEAN_CORRECTION)
    return true;
  const struct value *old = n->results[1];
  return !old || decompose_give(d, n, ret, 1, build_view(b, mean, old->rank, old->shape));
}

// That of all without zeros, divided by x; with one zero in the line, only its own is not zero.
bool decompose_prod_others(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0));
  if (!x)
    return false;
  struct dims dims = dims_of(n, 1, x->rank);
  struct value *one = build_number(b, 1, x->dtype), *zero = build_number(b, 0, x->dtype);
  struct value *is_zero = build_real(b, OP_EQ_TENSOR, x, 0);
  struct value *zeros = build_sum(b, build_convert(b, is_zero, DTYPE_I32), &dims, true);
  struct value *safe = build_where(b, is_zero, one, x);
  struct value *all =
      safe ? BUILD(b, OP_PROD_DIM, TENSOR(safe), arg_int(b->g, dims.at[0]), ARG_B(true)) : NULL;
  struct value *is_only =
      build_binop(b, OP_LOGICAL_AND, is_zero, build_int(b, OP_EQ_TENSOR, zeros, 1));
  return decompose_is(d, n, ret,
                      build_where(b, build_int(b, OP_EQ_TENSOR, zeros, 0), build_div(b, all, safe),
                                  build_where(b, is_only, all, zero)));
}

bool decompose_cumsum(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  enum dtype t = dtype_to_compute(n->results[0]->dtype);
  if (x->rank == 0)
    return decompose_is(d, n, ret, x);
  uint32_t dim = node_dim(n, 1, x->rank);
  if (node_int(n, 1) == dim && node_is_none(n, 2) && x->dtype == t && n->results[0]->dtype == t)
    return decompose_keep(d);
  return decompose_is(d, n, ret,
                      BUILD(b, OP_CUMSUM, TENSOR(build_convert(b, x, t)), arg_int(b->g, dim)));
}
