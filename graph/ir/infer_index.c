// SPDX-License-Identifier: Apache-2.0
// Results of operators that read or write at indices given by tensors.
#include "graph/ir/infer.h"

bool infer_embedding(struct infer *in) {
  const struct value *weight = infer_value(in, 0), *indices = infer_value(in, 1);
  struct extent e = extent_of(indices);
  if (!infer_wants_rank(in, weight, "weight", 2) ||
      !infer_wants_integer(in, indices, "indices", false))
    return false;
  if (e.rank == GRAPH_MAX_RANK)
    return infer_error(in, E1009, "more than %d dimensions", GRAPH_MAX_RANK);
  e.shape[e.rank++] = weight->shape[1];
  return infer_result(in, 0, weight->dtype, e.rank, e.shape, NULL);
}

bool infer_embedding_backward(struct infer *in) {
  const struct value *grad = infer_value(in, 0), *indices = infer_value(in, 1);
  if (!infer_wants_integer(in, indices, "indices", false))
    return false;
  bool fits = grad->rank == indices->rank + 1;
  for (uint32_t d = 0; d < indices->rank && fits; d++)
    fits = infer_same_size(in, grad->shape[d], indices->shape[d]);
  if (!fits)
    return infer_error(in, E1004, "`grad_output` is %s, `indices` are %s",
                       infer_type_text(in, grad), infer_type_text(in, indices));
  const struct expr *shape[2] = {node_expr(in->n, 2), grad->shape[grad->rank - 1]};
  return infer_result(in, 0, grad->dtype, 2, shape, NULL);
}

bool infer_gather(struct infer *in) {
  const struct value *v = infer_value(in, 0), *index = infer_value(in, 2);
  uint32_t d;
  if (!infer_wants_integer(in, index, "index", false) || !infer_dim(in, 1, v->rank, &d))
    return false;
  if (index->rank != v->rank && index->rank + v->rank > 1)
    return infer_error(in, E1004,
                       "`self` is %s, `index` is %s: they have different numbers of dimensions",
                       infer_type_text(in, v), infer_type_text(in, index));
  for (uint32_t k = 0; k < v->rank && index->rank == v->rank; k++)
    if (k != d && !infer_not_above(in, index->shape[k], v->shape[k],
                                   "the indices of a gather are larger than its tensor"))
      return infer_error(in, E1004, "`index`, %s, is larger than `self`, %s",
                         infer_type_text(in, index), infer_type_text(in, v));
  return infer_contiguous_like(in, 0, v->dtype, index);
}

bool infer_index_select(struct infer *in) {
  const struct value *v = infer_value(in, 0), *index = infer_value(in, 2);
  struct extent e = extent_of(v);
  uint32_t d;
  if (!infer_wants_integer(in, index, "index", false) || !infer_dim(in, 1, v->rank, &d))
    return false;
  if (index->rank > 1)
    return infer_error(in, E1004, "`index` is %s; it may have 1 dimension",
                       infer_type_text(in, index));
  if (v->rank > 0)
    e.shape[d] = index->rank ? index->shape[0] : expr_const(in->g->exprs, 1);
  return infer_result(in, 0, v->dtype, e.rank, e.shape, NULL);
}

// The dimensions of the broadcast indices replace the first indexed dimension, or come first if a
// None separates the indices.
bool infer_index(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  const struct arg *list;
  size_t count = node_list(in->n, 1, &list);
  struct extent among = {0}, e = {0};
  uint32_t first = 0, last = 0, used = 0;
  if (count > v->rank)
    return infer_error(in, E1004, "%zu indices for %s", count, infer_type_text(in, v));
  for (uint32_t d = 0; d < count; d++) {
    const struct value *index = list[d].kind == ARG_VALUE ? list[d].value : NULL;
    if (!index)
      continue;
    if (index->dtype == DTYPE_I1)
      return infer_error(
          in, E1005, "index %u is of bool: the size of the result would depend on its contents", d);
    if (!infer_wants_integer(in, index, "indices", false) || !infer_broadcast(in, &among, index))
      return false;
    first = used++ == 0 ? d : first;
    last = d;
  }
  if (used == 0)
    return infer_error(in, E1003, "all indices are None");
  if (v->rank - used + among.rank > GRAPH_MAX_RANK)
    return infer_error(in, E1009, "more than %d dimensions", GRAPH_MAX_RANK);
  uint32_t position = last - first + 1 == used ? first : 0;
  for (uint32_t d = 0; d <= v->rank; d++) {
    if (d == position)
      for (uint32_t k = 0; k < among.rank; k++)
        e.shape[e.rank++] = among.shape[k];
    if (d < v->rank && !(d < count && list[d].kind == ARG_VALUE))
      e.shape[e.rank++] = v->shape[d];
  }
  return infer_result(in, 0, v->dtype, e.rank, e.shape, NULL);
}
