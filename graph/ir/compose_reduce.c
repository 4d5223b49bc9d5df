// SPDX-License-Identifier: Apache-2.0
// Composed reductions and small products: norms, standard deviations, logsumexp.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)

static struct value *floats(struct build *b, struct value *x) {
  return dtype_is_float(x->dtype) ? build_up(b, x) : build_convert(b, x, DTYPE_F32);
}

static enum dtype float_of(const struct value *x) {
  return dtype_is_float(x->dtype) ? x->dtype : DTYPE_F32;
}

static struct value *fold(struct build *b, enum operator_id op, struct value *x,
                          const struct dims *d, bool keepdim) {
  return d->count ? BUILD(b, op, TENSOR(x), dims_arg(b, d), ARG_B(keepdim)) : x;
}

// Removes the dimensions that were kept so far.
static struct value *drop(struct build *b, struct value *x, const struct dims *d, bool keepdim) {
  return keepdim || d->count == 0 ? x : BUILD(b, OP_SQUEEZE_DIMS, TENSOR(x), dims_arg(b, d));
}

static bool has_no_elements(const struct value *x) {
  bool is_empty = false;
  for (uint32_t i = 0; i < x->rank; i++)
    is_empty |= expr_is(x->shape[i], 0);
  return is_empty;
}

// max + log(sum(exp(x - max))); log(0) for no elements
void compose_logsumexp(struct build *b, struct node *n) {
  struct value *x = floats(b, X);
  struct dims d;
  if (!compose_dims(b, n, 1, X->rank, &d))
    return;
  bool keepdim = node_truth(n, 2);
  if (has_no_elements(X)) {
    struct value *zero = build_sum(b, x, &d, keepdim);
    n->results[0] = build_convert(b, build_unop(b, OP_LOG, zero), float_of(X));
    return;
  }
  struct value *most = build_amax(b, x, &d, true);
  struct value *finite = build_unop(b, OP_LOGICAL_NOT, build_unop(b, OP_ISINF, most));
  most = build_where_else(b, finite, most, 0);
  struct value *sum = build_sum(b, build_unop(b, OP_EXP, build_sub(b, x, most)), &d, keepdim);
  sum = build_add(b, build_unop(b, OP_LOG, sum), drop(b, most, &d, keepdim));
  n->results[0] = build_convert(b, sum, float_of(X));
}

// The square root, or sum^power, of a sum of what is not negative. The gradient at 0 is 0, as that
// of PyTorch's norms.
static struct value *root(struct build *b, struct value *sum, double power) {
  if (!sum)
    return NULL;
  struct value *is_zero = build_real(b, OP_EQ_TENSOR, sum, 0);
  struct value *safe = build_where(b, is_zero, build_number(b, 1, sum->dtype), sum);
  safe = power == 0.5 ? build_unop(b, OP_SQRT, safe)
                      : build_real(b, OP_POW_TENSOR_SCALAR, safe, power);
  return build_where(b, is_zero, build_number(b, 0, sum->dtype), safe);
}

static struct value *norm(struct build *b, struct value *x, double p, const struct dims *d,
                          bool keepdim) {
  struct value *size = build_unop(b, OP_ABS, x);
  if (isinf(p))
    return fold(b, p > 0 ? OP_AMAX : OP_AMIN, size, d, keepdim);
  if (p == 0)
    return build_sum(b, x ? build_convert(b, build_int(b, OP_NE_TENSOR, x, 0), x->dtype) : NULL, d,
                     keepdim);
  if (p == 1)
    return build_sum(b, size, d, keepdim);
  if (p == 2)
    return root(b, build_sum(b, build_mul(b, x, x), d, keepdim), 0.5);
  struct value *sum = build_sum(b, build_real(b, OP_POW_TENSOR_SCALAR, size, p), d, keepdim);
  return p > 1 ? root(b, sum, 1 / p) : build_real(b, OP_POW_TENSOR_SCALAR, sum, 1 / p);
}

static bool has_norm(struct build *b, const struct node *n) {
  if (dtype_is_float(X->dtype))
    return true;
  compose_error(b, n, E1005, "`self` holds %s; norms are of floats", dtype_name(X->dtype));
  return false;
}

// self ord dim keepdim dtype; ord None is 2
void compose_norm(struct build *b, struct node *n) {
  struct dims d;
  if (!has_norm(b, n))
    return;
  if (!compose_dims(b, n, 2, X->rank, &d))
    return;
  double p = node_is_none(n, 1) ? 2 : node_real(n, 1);
  enum dtype t = n->args[4].kind == ARG_DTYPE ? n->args[4].dtype : float_of(X);
  struct value *x = build_convert(b, X, dtype_to_compute(t));
  n->results[0] = build_convert(b, norm(b, x, p, &d, node_truth(n, 3)), t);
}

void compose_norm_of_all(struct build *b, struct node *n) {
  if (!has_norm(b, n))
    return;
  struct dims d = dims_from(0, X->rank);
  double p = node_is_none(n, 1) ? 2 : node_real(n, 1);
  enum dtype t = n->arg_count > 2 && n->args[2].kind == ARG_DTYPE ? n->args[2].dtype : float_of(X);
  struct value *x = build_convert(b, X, dtype_to_compute(t));
  n->results[0] = build_convert(b, norm(b, x, p, &d, false), t);
}

void compose_dist(struct build *b, struct node *n) {
  struct value *x = build_sub(b, X, Y);
  struct dims d = dims_from(0, x ? x->rank : 0);
  n->results[0] =
      x ? build_convert(b, norm(b, build_up(b, x), node_real(n, 2), &d, false), x->dtype) : NULL;
}

void compose_nansum(struct build *b, struct node *n) {
  struct value *x = X;
  if (dtype_is_float(x->dtype))
    x = build_where(b, build_unop(b, OP_ISNAN, x), build_number(b, 0, x->dtype), x);
  n->results[0] = BUILD(b, OP_SUM_DIM, TENSOR(x), n->args[1], n->args[2], n->args[3]);
}

void compose_count_nonzero(struct build *b, struct node *n) {
  struct value *here = build_int(b, OP_NE_TENSOR, X, 0);
  struct dims d;
  if (!compose_dims(b, n, 1, X->rank, &d))
    return;
  n->results[0] = build_sum(b, build_convert(b, here, DTYPE_I64), &d, false);
}

void compose_aminmax(struct build *b, struct node *n) {
  struct dims d;
  if (!compose_dims(b, n, 1, X->rank, &d))
    return;
  n->results[0] = fold(b, OP_AMIN, X, &d, node_truth(n, 2));
  n->results[1] = fold(b, OP_AMAX, X, &d, node_truth(n, 2));
}

// self dim correction keepdim; correction is a bool in std.dim
void compose_std(struct build *b, struct node *n) {
  struct arg correction = n->args[2];
  if (correction.kind == ARG_BOOL)
    correction = arg_int(b->g, correction.truth);
  n->results[0] =
      root(b, BUILD(b, OP_VAR_CORRECTION, n->args[0], n->args[1], correction, n->args[3]), 0.5);
}

void compose_std_mean(struct build *b, struct node *n) {
  struct node *both = graph_append(b->g, OP_VAR_MEAN_CORRECTION, n->args, 4, b->at);
  n->results[0] = both ? root(b, both->results[0], 0.5) : NULL;
  n->results[1] = both ? both->results[1] : NULL;
}

// Applies `part` along several dimensions, to booleans.
void compose_all_dims(struct build *b, struct node *n) {
  struct value *none = build_int(b, OP_EQ_TENSOR, X, 0);
  n->results[0] =
      build_unop(b, OP_LOGICAL_NOT, BUILD(b, OP_ANY_DIMS, TENSOR(none), n->args[1], n->args[2]));
}

// ---- products of vectors ----

static struct value *dot(struct build *b, struct value *x, struct value *y, uint32_t dim) {
  struct dims d = dims_one(dim);
  struct value *product = build_mul(b, build_up(b, x), build_up(b, y));
  return x && product ? build_convert(b, build_sum(b, product, &d, false), x->dtype) : NULL;
}

static bool wants_rank(struct build *b, const struct node *n, unsigned i, uint32_t rank) {
  if (node_value(n, i)->rank == rank)
    return true;
  compose_error(b, n, E1004, "argument %u has %u dimensions, not %u", i, node_value(n, i)->rank,
                rank);
  return false;
}

void compose_dot(struct build *b, struct node *n) {
  if (wants_rank(b, n, 0, 1) && wants_rank(b, n, 1, 1))
    n->results[0] = dot(b, X, Y, 0);
}

void compose_mv(struct build *b, struct node *n) {
  if (wants_rank(b, n, 0, 2) && wants_rank(b, n, 1, 1))
    n->results[0] = dot(b, X, Y, 1);
}

// beta self + alpha product
static struct value *mixed(struct build *b, const struct node *n, struct value *self,
                           struct value *product) {
  struct value *sum = build_scale(b, product, node_real(n, 4));
  double beta = node_real(n, 3);
  return beta == 0 ? sum : build_add(b, build_scale(b, self, beta), sum);
}

// self mat vec beta alpha
void compose_addmv(struct build *b, struct node *n) {
  if (wants_rank(b, n, 1, 2) && wants_rank(b, n, 2, 1))
    n->results[0] = mixed(b, n, X, dot(b, Y, node_value(n, 2), 1));
}

// self vec1 vec2 beta alpha
void compose_addr(struct build *b, struct node *n) {
  if (wants_rank(b, n, 1, 1) && wants_rank(b, n, 2, 1))
    n->results[0] = mixed(b, n, X, build_mul(b, build_unsqueeze(b, Y, 1), node_value(n, 2)));
}

void compose_trace(struct build *b, struct node *n) {
  struct dims d = dims_one(0);
  n->results[0] = build_sum(b, BUILD(b, OP_DIAGONAL, n->args[0]), &d, false);
}

// x[i + 1] y[i + 2] - x[i + 2] y[i + 1]
void compose_cross(struct build *b, struct node *n) {
  uint32_t rank = X->rank, dim = rank ? compose_dim(b, n, 2, rank) : 0;
  if (rank == 0 || rank != Y->rank || !compose_same_size(b, X->shape[dim], compose_const(b, 3)) ||
      !compose_same_size(b, Y->shape[dim], compose_const(b, 3))) {
    compose_error(b, n, E1004, "both operands need as many dimensions, and 3 elements along `dim`");
    return;
  }
  struct value *rolled[2][2];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++)
      rolled[i][k] = BUILD(b, OP_ROLL, n->args[i], arg_int(b->g, k ? -2 : -1),
                           arg_int(b->g, (int64_t)dim - rank));
  n->results[0] = build_sub(b, build_mul(b, rolled[0][0], rolled[1][1]),
                            build_mul(b, rolled[0][1], rolled[1][0]));
}

// Along the first dimension of 3 elements, if none is given.
void compose_cross_first(struct build *b, struct node *n) {
  struct arg dim = n->args[2];
  uint32_t d = 0;
  while (dim.kind == ARG_NONE && d < X->rank && !expr_is(X->shape[d], 3))
    d++;
  if (d < X->rank)
    n->results[0] =
        BUILD(b, OP_CROSS, n->args[0], n->args[1], dim.kind == ARG_NONE ? arg_int(b->g, d) : dim);
  else
    compose_error(b, n, E1004, "no dimension of 3 elements");
}

// ---- counting ----

// Counts the elements in each of `bins` intervals of [min, max]; min = max: the range of the
// elements.
void compose_histc(struct build *b, struct node *n) {
  struct value *x = floats(b, X), *low, *high;
  const struct expr *bins = node_expr(n, 1);
  double from = node_real(n, 2), to = node_real(n, 3);
  struct dims all = dims_from(0, X->rank), one = dims_one(1);
  if (from == to) {
    low = fold(b, OP_AMIN, x, &all, false);
    high = fold(b, OP_AMAX, x, &all, false);
    struct value *equal = build_binop(b, OP_EQ_TENSOR, low, high);
    high = build_where(b, equal, build_real(b, OP_ADD_TENSOR, high, 1), high);
    low = build_where(b, equal, build_real(b, OP_ADD_TENSOR, low, -1), low);
  } else {
    low = x ? build_number(b, from, x->dtype) : NULL;
    high = x ? build_number(b, to, x->dtype) : NULL;
  }
  if (!x || !low || !high)
    return;
  struct value *flat = BUILD(b, OP_VIEW, TENSOR(x), arg_int(b->g, -1));
  struct value *share = build_div(b, build_sub(b, flat, low), build_sub(b, high, low));
  struct value *bin = build_unop(b, OP_FLOOR, BUILD(b, OP_MUL_TENSOR, TENSOR(share), ARG_E(bins)));
  // The last interval is closed.
  bin = build_where(b, build_binop(b, OP_EQ_TENSOR, flat, high),
                    BUILD(b, OP_SUB_TENSOR, TENSOR(bin), arg_int(b->g, 1)), bin);
  struct value *index = build_convert(b, build_iota(b, bins, 0, 2), x->dtype);
  struct value *here = build_binop(b, OP_EQ_TENSOR, index, bin);
  n->results[0] =
      build_convert(b, build_sum(b, build_convert(b, here, x->dtype), &one, false), X->dtype);
}
