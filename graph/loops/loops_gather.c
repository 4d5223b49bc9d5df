// SPDX-License-Identifier: Apache-2.0
// Reads at loaded indices: embeddings, gather, advanced indexing.
#include "graph/loops/loops_internal.h"

const struct expr *loops_loaded_index(struct builder *b, const struct scalar *i,
                                      const struct expr *extent, bool wraps) {
  i = scalar_convert(b->s, i, DTYPE_I64);
  if (wraps) {
    const struct scalar *in[3] = {
        loops_binary(b, SCALAR_LT, DTYPE_I1, i, scalar_int(b->s, DTYPE_I64, 0)),
        loops_binary(b, SCALAR_ADD, DTYPE_I64, i, scalar_index(b->s, extent)), i};
    i = scalar_apply(b->s, SCALAR_WHERE, DTYPE_I64, in);
  }
  return scalar_indirect(b->s, i, extent);
}

static bool lower_embedding(struct builder *b, const struct node *n, struct deferred *z) {
  const struct value *weight = node_value(n, 0), *indices = node_value(n, 1);
  const struct expr *at[2] = {
      loops_loaded_index(b, loops_element(b, indices, z->at), weight->shape[0], false),
      z->at[indices->rank]};
  return loops_define(b, n, z, loops_element(b, weight, at));
}

static bool lower_gather(struct builder *b, const struct node *n, struct deferred *z) {
  const struct value *of = node_value(n, 0), *index = node_value(n, 2);
  if (of->rank == 0)
    return loops_define(b, n, z, loops_element(b, of, z->at));
  uint32_t dim = node_dim(n, 1, of->rank);
  const struct expr **at = loops_coordinates(b, of->rank), *i;
  if (n->op == OP_GATHER)
    i = loops_loaded_index(b, loops_element(b, index, z->at), of->shape[dim], false);
  else
    i = loops_loaded_index(b, loops_element(b, index, z->at + dim), of->shape[dim], false);
  for (uint32_t d = 0; d < of->rank; d++)
    at[d] = d == dim ? i : z->at[d];
  return loops_define(b, n, z, loops_element(b, of, at));
}

// ---- advanced indexing ----

static const struct expr *broadcast_extent(const struct arg *list, size_t count,
                                           uint32_t from_last) {
  const struct expr *e = NULL;
  for (size_t i = 0; i < count; i++) {
    const struct value *v = list[i].kind == ARG_VALUE ? list[i].value : NULL;
    if (v && v->rank > from_last && (!e || expr_is(e, 1)))
      e = v->shape[v->rank - 1 - from_last];
  }
  return e;
}

bool loops_indexing(struct builder *b, const struct node *n, struct indexing *ret) {
  const struct value *of = node_value(n, 0);
  const struct arg *list;
  size_t count = node_list(n, 1, &list), first = count, last = 0, indexed = 0;
  *ret = (struct indexing){.shape = loops_coordinates(b, (size_t)2 * GRAPH_MAX_RANK)};
  for (size_t i = 0; i < count; i++) {
    if (list[i].kind != ARG_VALUE)
      continue;
    if (list[i].value->dtype == DTYPE_I1)
      return loops_refuse(b, n, "a mask as index makes sizes depend on data");
    ret->width = list[i].value->rank > ret->width ? list[i].value->rank : ret->width;
    first = i < first ? i : first;
    last = i;
    indexed++;
  }
  if (indexed == 0)
    return loops_refuse(b, n, "there is no index");
  // The dimensions of index tensors separated by None come first.
  ret->first = last - first + 1 == indexed ? (uint32_t)first : 0;
  if (ret->width + of->rank - indexed > GRAPH_MAX_RANK)
    return loops_refuse(b, n, "more than %d dimensions", GRAPH_MAX_RANK);
  for (uint32_t d = 0; d <= of->rank; d++) {
    if (ret->rank == ret->first)
      for (uint32_t k = ret->width; k-- > 0;)
        ret->shape[ret->rank++] = broadcast_extent(list, count, k);
    if (d < of->rank && (d >= count || list[d].kind != ARG_VALUE))
      ret->shape[ret->rank++] = of->shape[d];
  }
  return true;
}

const struct expr **loops_indexed_offset(struct builder *b, const struct node *n,
                                         const struct indexing *x, coordinates at) {
  const struct value *of = node_value(n, 0);
  const struct arg *list;
  size_t count = node_list(n, 1, &list);
  const struct expr **ret = loops_coordinates(b, of->rank);
  for (uint32_t d = 0, j = 0; d < of->rank; d++) {
    if (d < count && list[d].kind == ARG_VALUE) {
      const struct scalar *i = loops_broadcast(b, list[d].value, x->width, at + x->first);
      ret[d] = loops_loaded_index(b, i, of->shape[d], true);
      continue;
    }
    j += j == x->first ? x->width : 0;
    ret[d] = at[j++];
  }
  return ret;
}

bool loops_lower_gather(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  struct indexing x;
  switch (n->op) {
  case OP_EMBEDDING: return lower_embedding(b, n, z);
  case OP_INDEX:
    if (!loops_indexing(b, n, &x))
      return false;
    return loops_define(b, n, z,
                        loops_element(b, node_value(n, 0), loops_indexed_offset(b, n, &x, z->at)));
  default: return lower_gather(b, n, z);
  }
}
