// SPDX-License-Identifier: Apache-2.0
// Results of reductions: contiguous, reduced dimensions removed or of extent 1.
#include "graph/ir/infer.h"

static bool is_sum_like(enum operator_id op) {
  return op == OP_SUM || op == OP_SUM_DIM || op == OP_PROD || op == OP_PROD_DIM;
}

static bool find_dtype(struct infer *in, const struct value *v, enum dtype *ret) {
  int at = infer_parameter(in, "dtype");
  *ret = v->dtype;
  if (in->op->promotion == PROMOTE_BOOL)
    *ret = DTYPE_I1;
  else if (at >= 0 && in->n->args[at].kind == ARG_DTYPE)
    *ret = in->n->args[at].dtype;
  else if (is_sum_like(in->op->id))
    *ret = dtype_is_float(v->dtype) ? v->dtype : DTYPE_I64;
  else if (at >= 0 || in->op->id == OP_VAR_DIM || in->op->id == OP_VAR_CORRECTION ||
           in->op->id == OP_VAR_MEAN_CORRECTION) // mean and variance
    return infer_wants_float(in, v, "self");
  return true;
}

// The reduced dimensions, from argument 1: one, a list, or all for None and for an empty list.
static bool find_dims(struct infer *in, const struct value *v, bool *is_reduced) {
  const struct arg *list, *a = &in->n->args[1];
  size_t count = node_list(in->n, 1, &list);
  if (a->kind == ARG_INT) {
    list = a;
    count = 1;
  }
  for (uint32_t d = 0; d < GRAPH_MAX_RANK; d++)
    is_reduced[d] = count == 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t d;
    if (!infer_wrap_dim(in, list[i].number, v->rank, &d))
      return false;
    if (is_reduced[d] && v->rank > 0)
      return infer_error(in, E1004, "dimension %u is reduced twice", d);
    is_reduced[d] = true;
  }
  return true;
}

static bool has_identity(enum operator_id op) {
  switch (op) {
  case OP_AMAX:
  case OP_AMIN:
  case OP_MAX:
  case OP_MIN:
  case OP_MAX_DIM:
  case OP_MIN_DIM:
  case OP_ARGMAX:
  case OP_ARGMIN: return false;
  default: return true;
  }
}

// A maximum or minimum of no elements does not exist: an error, unless the result is empty as well.
static bool has_something(struct infer *in, const struct value *v, const bool *is_reduced) {
  bool reduces_none = false;
  for (uint32_t d = 0; d < v->rank; d++) {
    if (expr_is(v->shape[d], 0) && !is_reduced[d])
      return true;
    reduces_none |= expr_is(v->shape[d], 0);
  }
  return has_identity(in->op->id) || !reduces_none ||
         infer_error(in, E1004, "%s is reduced along a dimension without elements",
                     infer_type_text(in, v));
}

static struct extent without(struct infer *in, const struct value *v, const bool *is_reduced,
                             bool keeps) {
  struct extent e = {0};
  for (uint32_t d = 0; d < v->rank; d++)
    if (!is_reduced[d])
      e.shape[e.rank++] = v->shape[d];
    else if (keeps)
      e.shape[e.rank++] = expr_const(in->g->exprs, 1);
  extent_make_contiguous(in->g->exprs, &e);
  return e;
}

bool infer_reduce_all(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  bool is_reduced[GRAPH_MAX_RANK];
  enum dtype t;
  memset(is_reduced, true, sizeof is_reduced);
  return find_dtype(in, v, &t) && has_something(in, v, is_reduced) &&
         infer_result(in, 0, t, 0, NULL, NULL);
}

bool infer_reduce(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  bool is_reduced[GRAPH_MAX_RANK];
  enum dtype t;
  if (!find_dtype(in, v, &t) || !find_dims(in, v, is_reduced) || !has_something(in, v, is_reduced))
    return false;
  struct extent e =
      without(in, v, is_reduced, node_truth(in->n, (unsigned)infer_parameter(in, "keepdim")));
  for (uint32_t i = 0; i < in->n->result_count; i++)
    if (!infer_extent(in, i, t, &e))
      return false;
  return true;
}

bool infer_reduce_index(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  bool is_reduced[GRAPH_MAX_RANK];
  if (!find_dims(in, v, is_reduced) || !has_something(in, v, is_reduced))
    return false;
  struct extent e = without(in, v, is_reduced, node_truth(in->n, 2));
  return infer_extent(in, 0, v->dtype, &e) && infer_extent(in, 1, DTYPE_I64, &e);
}

bool infer_arg_reduce(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  bool is_reduced[GRAPH_MAX_RANK];
  if (!find_dims(in, v, is_reduced) || !has_something(in, v, is_reduced))
    return false;
  struct extent e = without(in, v, is_reduced, node_truth(in->n, 2));
  return infer_extent(in, 0, DTYPE_I64, &e);
}
