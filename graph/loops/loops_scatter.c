// SPDX-License-Identifier: Apache-2.0
// Writes at loaded indices: a stage that fills the buffer, then one that writes or adds. If each
// line has one written element, the result is a comparison of indices instead, which fuses.
#include "graph/loops/loops_internal.h"

// The buffer, initialised with the operand.
static struct assignment fill(struct builder *b, const struct node *n, struct deferred *z) {
  struct assignment h = loops_assign(b, z->value);
  struct stage *s = loops_stage(b, STAGE_MAP, n);
  loops_add_axes(b, s, z->value->rank, z->at, false);
  s->body = loops_element(b, node_value(n, 0), z->at);
  s->dtype = s->body->dtype;
  s->out = h.buffer;
  s->offset = loops_offset(b, &h, z->at);
  loops_inherit(b, z, n);
  for (uint32_t i = 0; i < z->origin_count; i++)
    vec_push(b->arena, &s->origins, z->origins[i]);
  return h;
}

static bool scatter(struct builder *b, const struct node *n, struct deferred *z, uint32_t rank,
                    coordinates over, coordinates to, const struct scalar *body, bool accumulates) {
  if (accumulates && b->g->is_deterministic && dtype_is_float(z->value->dtype))
    return loops_refuse(b, n, "it adds floats in any order, and the graph asks for a fixed one");
  struct assignment h = fill(b, n, z);
  struct stage *s = loops_stage(b, STAGE_SCATTER, n);
  loops_add_axes(b, s, rank, over, false);
  s->body = body;
  s->dtype = body->dtype;
  s->accumulates = accumulates;
  s->out = h.buffer;
  s->offset = loops_offset(b, &h, to);
  loops_take_origins(b, z, s);
  loops_stored(b, z, &h);
  return true;
}

// ---- index_put ----

static bool lower_index_put(struct builder *b, const struct node *n, struct deferred *z) {
  struct indexing x;
  if (!loops_indexing(b, n, &x))
    return false;
  const struct expr **over = loops_coordinates(b, x.rank);
  for (uint32_t i = 0; i < x.rank; i++)
    over[i] = loops_axis(b, 'x', i, x.shape[i]);
  const struct scalar *body =
      loops_operand(b, n, 2, dtype_to_compute(z->value->dtype), x.rank, over);
  return scatter(b, n, z, x.rank, over, loops_indexed_offset(b, n, &x, over), body,
                 node_truth(n, 3));
}

// ---- scatter along a dimension ----

static const struct scalar *source(struct builder *b, const struct node *n, coordinates at) {
  enum dtype t = dtype_to_compute(n->results[0]->dtype);
  const struct value *src = node_value(n, 3);
  return src ? scalar_convert(b->s, loops_element(b, src, at), t) : loops_number(b, &n->args[3], t);
}

// One element of each line: the new value where the index matches.
static bool is_one_index(const struct node *n, uint32_t dim) {
  const struct value *of = node_value(n, 0), *index = node_value(n, 2);
  for (uint32_t i = 0; i < of->rank; i++)
    if (i == dim ? !expr_is(index->shape[i], 1) : index->shape[i] != of->shape[i])
      return false;
  return true;
}

static bool compare_indices(struct builder *b, const struct node *n, struct deferred *z,
                            uint32_t dim) {
  const struct value *of = node_value(n, 0);
  const struct expr *at[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < of->rank; i++)
    at[i] = i == dim ? expr_const(b->x, 0) : z->at[i];
  enum dtype t = dtype_to_compute(z->value->dtype);
  const struct scalar *i = scalar_convert(b->s, loops_element(b, node_value(n, 2), at), DTYPE_I64);
  const struct expr *own = of->rank ? z->at[dim] : expr_const(b->x, 0);
  const struct scalar *here = loops_binary(b, SCALAR_EQ, DTYPE_I1, i, scalar_index(b->s, own));
  const struct scalar *x = loops_element(b, of, z->at), *y = source(b, n, at);
  if (n->op == OP_SCATTER_ADD)
    y = loops_binary(b, SCALAR_ADD, t, x, y);
  return loops_define(b, n, z, scalar_masked(b->s, here, y, x));
}

bool loops_lower_scatter(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  if (n->op == OP_INDEX_PUT)
    return lower_index_put(b, n, z);
  const struct value *of = node_value(n, 0), *index = node_value(n, 2);
  uint32_t rank = of->rank, dim = rank ? node_dim(n, 1, rank) : 0;
  if (index->rank != rank)
    return loops_refuse(b, n, "its index and its operand have different ranks");
  if (rank == 0 || is_one_index(n, dim))
    return compare_indices(b, n, z, dim);
  const struct expr **over = loops_coordinates(b, rank), **to = loops_coordinates(b, rank);
  for (uint32_t i = 0; i < rank; i++)
    to[i] = over[i] = loops_axis(b, 'x', i, index->shape[i]);
  to[dim] = loops_loaded_index(b, loops_element(b, index, over), of->shape[dim], false);
  return scatter(b, n, z, rank, over, to, source(b, n, over), n->op == OP_SCATTER_ADD);
}
