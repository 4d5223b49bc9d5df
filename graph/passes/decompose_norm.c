// SPDX-License-Identifier: Apache-2.0
// Softmax and norms, forward and backward. Statistics are the mean of the input and the mean of
// squares of the centred input, so that a kernel that keeps a row in registers computes both from
// it. Half precision is computed in f32.
#include "graph/passes/decompose.h"

#include <float.h>

#define MINUS_INFINITY (-__builtin_inf())

static struct dims row_of(const struct node *n, unsigned i, const struct value *x) {
  return x->rank ? dims_one(node_dim(n, i, x->rank)) : dims_from(0, 0);
}

bool decompose_softmax(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_convert(b, node_value(n, 0), dtype_to_compute(n->results[0]->dtype));
  if (!x)
    return false;
  struct dims row = row_of(n, 1, x);
  struct value *top = build_amax(b, x, &row, true), *rest = build_sub(b, x, top),
               *e = build_unop(b, OP_EXP, rest);
  struct value *sum = build_sum(b, e, &row, true);
  if (n->op == OP_LOG_SOFTMAX || n->op == OP_LOG_SOFTMAX_INT)
    return decompose_is(d, n, ret, build_sub(b, rest, build_unop(b, OP_LOG, sum)));
  struct value *y = build_div(b, e, sum);
  if (n->op == OP_SAFE_SOFTMAX && y) { // rows without an entry are 0
    struct value *is_empty = build_real(b, OP_EQ_TENSOR, top, MINUS_INFINITY);
    y = build_where(b, is_empty, build_number(b, 0, y->dtype), y);
  }
  return decompose_is(d, n, ret, y);
}

bool decompose_softmax_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = build_up(b, node_value(n, 0)), *y = build_up(b, node_value(n, 1));
  if (!g || !y)
    return false;
  struct dims row = row_of(n, 2, y);
  if (n->op == OP_LOG_SOFTMAX_BACKWARD) {
    struct value *share = build_mul(b, build_unop(b, OP_EXP, y), build_sum(b, g, &row, true));
    return decompose_is(d, n, ret, build_sub(b, g, share));
  }
  struct value *gy = build_mul(b, g, y);
  return decompose_is(d, n, ret, build_sub(b, gy, build_mul(b, y, build_sum(b, gy, &row, true))));
}

// ---- statistics ----

struct statistics {
  struct value *centred, *mean, *var, *rstd; // with the reduced dimensions kept
};

static struct statistics statistics_of(struct build *b, struct value *x, const struct dims *dims,
                                       double eps) {
  struct statistics s = {.mean = build_mean(b, x, dims, true)};
  s.centred = build_sub(b, x, s.mean);
  s.var = build_mean(b, build_mul(b, s.centred, s.centred), dims, true);
  s.rstd = build_unop(b, OP_RSQRT, build_real(b, OP_ADD_TENSOR, s.var, eps));
  return s;
}

static struct value *scaled_and_shifted(struct build *b, struct value *y, struct value *weight,
                                        struct value *bias) {
  if (weight)
    y = build_mul(b, y, build_up(b, weight));
  if (bias)
    y = build_add(b, y, build_up(b, bias));
  return y;
}

// Result i in its own shape, which may omit dimensions of size 1.
static void give_shaped(struct decompose *d, const struct node *n, struct value **ret, uint32_t i,
                        struct value *v) {
  const struct value *old = n->results[i];
  if (old)
    decompose_give(d, n, ret, i, build_view(&d->b, v, old->rank, old->shape));
}

// The last dimensions, as many as argument i lists.
static struct dims last_dims(const struct node *n, unsigned i, const struct value *x) {
  const struct arg *list;
  return dims_from(x->rank - (uint32_t)node_list(n, i, &list), x->rank);
}

bool decompose_layer_norm(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0));
  if (!x)
    return false;
  struct dims row = last_dims(n, 1, x);
  struct statistics s = statistics_of(b, x, &row, node_real(n, 4));
  struct value *y = build_mul(b, s.centred, s.rstd);
  decompose_give(d, n, ret, 0, scaled_and_shifted(b, y, node_value(n, 2), node_value(n, 3)));
  give_shaped(d, n, ret, 1, s.mean);
  give_shaped(d, n, ret, 2, s.rstd);
  return true;
}

// rstd (g - mean(g) - x mean(g x)), where x is normalised and g its gradient.
static struct value *normalised_gradient(struct build *b, struct value *g, struct value *x,
                                         struct value *rstd, const struct dims *row) {
  struct value *left = build_sub(b, g, build_mean(b, g, row, true));
  struct value *along = build_mul(b, x, build_mean(b, build_mul(b, g, x), row, true));
  return build_mul(b, rstd, build_sub(b, left, along));
}

bool decompose_layer_norm_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = build_up(b, node_value(n, 0)), *in = build_up(b, node_value(n, 1));
  if (!g || !in)
    return false;
  struct dims row = last_dims(n, 2, in), outer = dims_from(0, in->rank - row.count);
  struct value *mean = build_up(b, node_value(n, 3)), *rstd = build_up(b, node_value(n, 4)),
               *weight = node_value(n, 5);
  struct value *x = build_mul(b, build_sub(b, in, mean), rstd);
  struct value *gw = weight ? build_mul(b, g, build_up(b, weight)) : g;
  if (n->results[0])
    decompose_give(d, n, ret, 0, normalised_gradient(b, gw, x, rstd, &row));
  if (n->results[1])
    decompose_give(d, n, ret, 1, build_sum(b, build_mul(b, g, x), &outer, false));
  if (n->results[2])
    decompose_give(d, n, ret, 2, build_sum(b, g, &outer, false));
  return true;
}

// Epsilon of the dtype that norms are computed in: f32 for half precision.
static double epsilon_of(enum dtype t) {
  return t == DTYPE_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
}

bool decompose_rms_norm(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  double eps = node_is_none(n, 3) ? epsilon_of(node_value(n, 0)->dtype) : node_real(n, 3);
  struct value *x = build_up(b, node_value(n, 0));
  if (!x)
    return false;
  struct dims row = last_dims(n, 1, x);
  struct value *square = build_mean(b, build_mul(b, x, x), &row, true);
  struct value *rstd = build_unop(b, OP_RSQRT, build_real(b, OP_ADD_TENSOR, square, eps));
  decompose_give(d, n, ret, 0,
                 scaled_and_shifted(b, build_mul(b, x, rstd), node_value(n, 2), NULL));
  give_shaped(d, n, ret, 1, rstd);
  return true;
}

// A vector of channels, viewed for a tensor of that rank: [1, C, 1, ..].
static struct value *channels(struct build *b, struct value *v, uint32_t rank) {
  return v ? build_along(b, build_up(b, v), 1, rank) : NULL;
}

// Input [N, C, ..] as [N, groups, rest]: statistics are those of `rest`.
bool decompose_group_norm(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = build_up(b, node_value(n, 0));
  if (!x)
    return false;
  const struct expr *groups = node_expr(n, 6);
  const struct expr *inner =
      expr_floordiv(b->g->exprs, expr_mul(b->g->exprs, node_expr(n, 4), node_expr(n, 5)), groups);
  const struct expr *shape[] = {node_expr(n, 3), groups, inner};
  struct dims row = dims_one(2);
  struct statistics s = statistics_of(b, build_view(b, x, 3, shape), &row, node_real(n, 7));
  struct value *y = build_view(b, build_mul(b, s.centred, s.rstd), x->rank, x->shape);
  y = scaled_and_shifted(b, y, channels(b, node_value(n, 1), x->rank),
                         channels(b, node_value(n, 2), x->rank));
  decompose_give(d, n, ret, 0, y);
  give_shaped(d, n, ret, 1, s.mean);
  give_shaped(d, n, ret, 2, s.rstd);
  return true;
}

// ---- batch norm ----

static struct dims all_but_channels(const struct value *x) {
  struct dims dims = dims_from(0, x->rank);
  dims.count--;
  for (uint32_t i = 1; i < dims.count; i++)
    dims.at[i]++;
  return dims;
}

static struct value *rstd_of(struct build *b, struct value *var, double eps) {
  return build_unop(b, OP_RSQRT, build_real(b, OP_ADD_TENSOR, var, eps));
}

static struct statistics running_statistics(struct build *b, struct value *x, struct value *mean,
                                            struct value *var, double eps) {
  struct statistics s = {.mean = channels(b, mean, x->rank), .var = channels(b, var, x->rank)};
  s.rstd = rstd_of(b, s.var, eps);
  s.centred = build_sub(b, x, s.mean);
  return s;
}

// momentum * current + (1 - momentum) * old
static struct value *moved(struct build *b, struct value *old, struct value *fresh,
                           double momentum) {
  if (!old)
    return NULL;
  struct value *now = build_scale(b, build_view(b, fresh, old->rank, old->shape), momentum);
  return build_add(b, now, build_scale(b, build_up(b, old), 1 - momentum));
}

// var * count / (count - 1)
static struct value *unbiased(struct build *b, struct value *var, const struct expr *count) {
  struct value *scaled = BUILD(b, OP_MUL_TENSOR, TENSOR(var), ARG_E(count));
  return build_over(b, scaled, expr_addi(b->g->exprs, count, -1));
}

// The saved statistics of the batch; those of inference are empty.
static void give_saved(struct decompose *d, const struct node *n, struct value **ret, uint32_t i,
                       struct value *v) {
  const struct value *old = n->results[i];
  if (old && expr_is(old->shape[0], 0))
    ret[i] = build_full(&d->b, old->rank, old->shape, 0, old->dtype);
  else
    give_shaped(d, n, ret, i, v);
}

bool decompose_batch_norm(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  bool is_functional = n->op == OP_NATIVE_BATCH_NORM_FUNCTIONAL,
       trains = is_functional && node_truth(n, 5);
  double momentum = node_real(n, is_functional ? 6 : 5), eps = node_real(n, is_functional ? 7 : 6);
  struct value *x = build_up(b, node_value(n, 0)), *mean = node_value(n, 3),
               *var = node_value(n, 4);
  if (!x)
    return false;
  struct dims dims = all_but_channels(x);
  struct statistics s =
      trains ? statistics_of(b, x, &dims, eps) : running_statistics(b, x, mean, var, eps);
  struct value *weight = channels(b, node_value(n, 1), x->rank),
               *bias = channels(b, node_value(n, 2), x->rank);
  decompose_give(d, n, ret, 0,
                 scaled_and_shifted(b, build_mul(b, s.centred, s.rstd), weight, bias));
  give_saved(d, n, ret, 1, s.mean);
  give_saved(d, n, ret, 2, s.rstd);
  if (!is_functional)
    return true;
  decompose_give(d, n, ret, 3, trains ? moved(b, mean, s.mean, momentum) : mean);
  return decompose_give(
      d, n, ret, 4,
      trains ? moved(b, var, unbiased(b, s.var, build_count(b, x, &dims)), momentum) : var);
}

// grad_out:0 input:1 weight:2 running_mean:3 running_var:4 save_mean:5 save_invstd:6 train:7 eps:8
bool decompose_batch_norm_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = build_up(b, node_value(n, 0)), *in = build_up(b, node_value(n, 1)),
               *saved = node_value(n, 5);
  if (!g || !in)
    return false;
  bool trains = node_truth(n, 7),
       is_saved = trains && saved && node_value(n, 6) && !expr_is(saved->shape[0], 0);
  struct dims dims = all_but_channels(in);
  struct statistics s;
  if (is_saved) {
    s = (struct statistics){.mean = channels(b, saved, in->rank),
                            .rstd = channels(b, node_value(n, 6), in->rank)};
    s.centred = build_sub(b, in, s.mean);
  } else if (trains)
    s = statistics_of(b, in, &dims, node_real(n, 8));
  else
    s = running_statistics(b, in, node_value(n, 3), node_value(n, 4), node_real(n, 8));
  struct value *x = build_mul(b, s.centred, s.rstd), *weight = node_value(n, 2);
  struct value *scale = weight ? build_mul(b, s.rstd, channels(b, weight, in->rank)) : s.rstd;
  if (n->results[0])
    decompose_give(d, n, ret, 0,
                   trains ? normalised_gradient(b, g, x, scale, &dims) : build_mul(b, g, scale));
  if (n->results[1])
    decompose_give(d, n, ret, 1, build_sum(b, build_mul(b, g, x), &dims, false));
  if (n->results[2])
    decompose_give(d, n, ret, 2, build_sum(b, g, &dims, false));
  return true;
}
