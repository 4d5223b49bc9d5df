// SPDX-License-Identifier: Apache-2.0
// Creation and random operators: `full`, `iota` and `tile.rand` are the primitives.
#include "graph/passes/decompose.h"
#include "graph/reference/interpret.h"

static struct arg fill_value(struct build *b, const struct node *n) {
  switch (n->op) {
  case OP_FULL:
  case OP_FULL_LIKE: return n->args[1];
  case OP_NEW_FULL: return n->args[2];
  case OP_SCALAR_TENSOR: return n->args[0];
  case OP_ONES:
  case OP_ONES_LIKE:
  case OP_NEW_ONES: return arg_int(b->g, 1);
  default: // zeros; also for uninitialised tensors
    return arg_int(b->g, 0);
  }
}

bool decompose_full(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *old = n->results[0];
  if (n->op == OP_FULL && n->args[2].kind == ARG_DTYPE && n->args[0].kind == ARG_LIST)
    return decompose_keep(d);
  struct arg shape = arg_exprs(b->g, old->rank, old->shape);
  return decompose_is(d, n, ret, BUILD(b, OP_FULL, shape, fill_value(b, n), ARG_D(old->dtype)));
}

// start + i * step, an integer if both are.
bool decompose_arange(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  const struct value *old = n->results[0];
  struct arg start = n->op == OP_ARANGE ? arg_int(b->g, 0) : n->args[0];
  struct arg step = n->op == OP_ARANGE_START_STEP ? n->args[2] : arg_int(b->g, 1);
  if (!dtype_is_float(old->dtype) && start.kind == ARG_INT && step.kind == ARG_INT)
    return decompose_is(d, n, ret,
                        BUILD(b, OP_IOTA, ARG_E(old->shape[0]), start, step, ARG_D(DTYPE_I64)));
  enum dtype t = dtype_is_float(old->dtype) ? dtype_to_compute(old->dtype) : DTYPE_F64;
  struct value *i = build_convert(b, build_iota(b, old->shape[0], 0, 1), t);
  struct value *scaled = BUILD(b, OP_MUL_TENSOR, TENSOR(i), step);
  return decompose_is(d, n, ret, BUILD(b, OP_ADD_TENSOR, TENSOR(scaled), start));
}

// ---- random ----

static struct value *draw(struct decompose *d, const struct value *like, uint32_t stream) {
  struct build *b = &d->b;
  return BUILD(b, OP_TILE_RAND, arg_exprs(b->g, like->rank, like->shape), arg_int(b->g, stream));
}

bool decompose_rand(struct decompose *d, const struct node *n, struct value **ret) {
  return decompose_is(d, n, ret, draw(d, n->results[0], d->stream));
}

// sqrt(-2 log u) cos(2 pi v)
bool decompose_randn(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *u = build_real(b, OP_MAXIMUM, draw(d, n->results[0], d->stream), 1e-7);
  struct value *v = draw(d, n->results[0], d->stream + RANDOM_SECOND);
  struct value *length = build_unop(b, OP_SQRT, build_scale(b, build_unop(b, OP_LOG, u), -2));
  return decompose_is(
      d, n, ret, build_mul(b, length, build_unop(b, OP_COS, build_scale(b, v, 6.283185307179586))));
}

bool decompose_bernoulli(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  return decompose_is(
      d, n, ret, build_real(b, OP_LT_TENSOR, draw(d, n->results[0], d->stream), node_real(n, 1)));
}

bool decompose_dropout(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *x = node_value(n, 0);
  double p = node_real(n, 1);
  if (!node_is_none(n, 2) && !node_truth(n, 2)) {
    decompose_give(d, n, ret, 0, x);
    return decompose_give(d, n, ret, 1, build_full(b, x->rank, x->shape, 1, DTYPE_I1));
  }
  struct value *keeps = build_real(b, OP_GT_TENSOR, draw(d, x, d->stream), p);
  struct value *kept = build_mul(b, build_up(b, x), keeps);
  decompose_give(d, n, ret, 0, build_scale(b, kept, p < 1 ? 1 / (1 - p) : 0));
  return decompose_give(d, n, ret, 1, keeps);
}

bool decompose_dropout_backward(struct decompose *d, const struct node *n, struct value **ret) {
  struct build *b = &d->b;
  struct value *g = build_mul(b, build_up(b, node_value(n, 0)), build_up(b, node_value(n, 1)));
  return decompose_is(d, n, ret, build_scale(b, g, node_real(n, 2)));
}
