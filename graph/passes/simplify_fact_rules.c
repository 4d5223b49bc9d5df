// SPDX-License-Identifier: Apache-2.0
// Value facts of the results of operators other than pointwise ones.
// Recursion is the algorithm: the facts of a result follow from those of its operands.
#include "graph/passes/simplify.h"

static bool count_of(struct simplify *s, const struct node *n, const struct value *x,
                     int64_t *ret) {
  struct dims dims = dims_of(n, 1, x->rank);
  return expr_is_const(build_count(&s->b, x, &dims), ret) && *ret > 0;
}

// Reductions of a uniform value.
static bool fact_of_reduction(struct simplify *s, const struct node *n, struct fact *ret) {
  const struct value *x = node_value(n, 0);
  int64_t count = 0;
  if (n->op != OP_SUM_DIM && n->op != OP_AMAX && n->op != OP_AMIN && n->op != OP_ANY_DIMS)
    return false;
  *ret = *fact_of(s, x);
  if (!fact_is_uniform(ret) || !count_of(s, n, x, &count))
    return false;
  if (n->op != OP_SUM_DIM)
    return true;
  if (x->dtype != n->results[0]->dtype)
    return false;
  ret->real *= (double)count;
  return ret->kind == FACT_REAL || fact_scale(ret, count);
}

// 1, 2, 3, .. times the number.
static bool fact_of_scan(struct simplify *s, const struct node *n, struct fact *ret) {
  const struct value *x = node_value(n, 0);
  *ret = *fact_of(s, x);
  if (n->op != OP_CUMSUM || !fact_is_uniform(ret) || ret->kind != FACT_AFFINE || x->rank == 0)
    return false;
  if (n->results[0]->dtype != DTYPE_I64)
    return false;
  uint32_t dim = node_dim(n, 1, x->rank);
  if (!expr_is(x->shape[dim], 1))
    ret->coefficient[dim] = ret->base;
  return true;
}

// Reads of a uniform value, at any index; writes of the same number into it.
static bool fact_of_moved(struct simplify *s, const struct node *n, struct fact *ret) {
  struct fact other;
  *ret = *fact_of(s, node_value(n, 0));
  if (!fact_is_uniform(ret))
    return false;
  switch (n->op) {
  case OP_EMBEDDING:
  case OP_GATHER:
  case OP_INDEX:
  case OP_INDEX_SELECT: return true;
  case OP_SELECT_SCATTER:
  case OP_SLICE_SCATTER: other = *fact_of(s, node_value(n, 1)); break;
  case OP_CONSTANT_PAD_ND:
    if (!fact_uniform(n->args[2], n->results[0]->dtype, &other))
      return false;
    break;
  default: return false;
  }
  return other.kind == ret->kind && fact_is_uniform(&other) && other.base == ret->base &&
         memcmp(&other.real, &ret->real, sizeof other.real) == 0;
}

static bool fact_of_made(const struct node *n, struct fact *ret) {
  const struct value *v = n->results[0];
  if (n->op == OP_FULL)
    return fact_uniform(n->args[1], v->dtype, ret);
  int64_t start = 0, step = 0;
  if (n->op != OP_IOTA || dtype_is_float(v->dtype) || !expr_is_const(node_expr(n, 1), &start) ||
      !expr_is_const(node_expr(n, 2), &step))
    return false;
  *ret = (struct fact){
      .kind = FACT_AFFINE, .base = start, .coefficient = {expr_is(v->shape[0], 1) ? 0 : step}};
  return true;
}

struct fact fact_of_node(struct simplify *s, const struct node *n) {
  const struct fact none = {.kind = FACT_NONE};
  struct fact f = none;
  bool is_known = false;
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE: is_known = fact_of_pointwise(s, n, &f); break;
  case CLASS_REDUCTION: is_known = fact_of_reduction(s, n, &f); break;
  case CLASS_SCAN: is_known = fact_of_scan(s, n, &f); break;
  case CLASS_CREATE: is_known = fact_of_made(n, &f); break;
  case CLASS_VIEW:
    f = fact_of_view(s, n);
    is_known = f.kind != FACT_NONE;
    break;
  case CLASS_SHAPE:
    if (n->op == OP_CAT || n->op == OP_FLIP) {
      f = fact_of_view(s, n);
      is_known = f.kind != FACT_NONE;
      break;
    }
    is_known = fact_of_moved(s, n, &f);
    break;
  case CLASS_GATHER: is_known = fact_of_moved(s, n, &f); break;
  default: break;
  }
  if (!is_known || (f.kind == FACT_AFFINE && !fact_fits(&f, n->results[0])))
    return none;
  return f;
}
