// SPDX-License-Identifier: Apache-2.0
// Lowers views. A view becomes no stage: its element is an element of the operand.
#include "graph/loops/loops_internal.h"

// ---- as_strided: offsets in memory ----

// Inverts the strides of a dense tensor.
static const struct expr **coordinates_in_memory(struct builder *b, const struct value *v,
                                                 const struct expr *offset) {
  const struct expr **ret = loops_coordinates(b, v->rank);
  bool done[GRAPH_MAX_RANK] = {false};
  for (uint32_t i = 0; i < v->rank; i++)
    ret[i] = expr_const(b->x, 0);
  for (;;) {
    uint32_t widest = v->rank; // remaining dimension of the largest stride
    for (uint32_t i = 0; i < v->rank; i++)
      if (!done[i] && !expr_is(v->shape[i], 1) && !expr_is(v->strides[i], 0) &&
          (widest == v->rank || expr_hint(v->strides[i]) > expr_hint(v->strides[widest])))
        widest = i;
    if (widest == v->rank)
      return ret;
    done[widest] = true;
    ret[widest] = expr_floordiv(b->x, offset, v->strides[widest]);
    offset = expr_mod(b->x, offset, v->strides[widest]);
  }
}

static const struct expr *first_offset(struct builder *b, const struct value *v,
                                       const struct value **ret_base);

// The offset of the first element of an `as_strided`.
static const struct expr *strided_offset(struct builder *b, const struct node *n,
                                         const struct value **ret_base) {
  const struct expr *offset = first_offset(b, node_value(n, 0), ret_base);
  return node_is_none(n, 3) ? offset : node_expr(n, 3);
}

// The base that v is a view of, and the offset of v's first element in its memory.
static const struct expr *first_offset(struct builder *b, const struct value *v,
                                       const struct value **ret_base) {
  const struct expr **at = loops_coordinates(b, v->rank);
  for (uint32_t i = 0; i < v->rank; i++)
    at[i] = expr_const(b->x, 0);
  while (v->def && loops_is_view(v->def->op)) {
    if (v->def->op == OP_AS_STRIDED) {
      const struct expr *first = strided_offset(b, v->def, ret_base);
      return expr_add(b->x, first, loops_dot(b, v->rank, at, v->strides));
    }
    at = loops_view_offset(b, v->def, at);
    v = node_value(v->def, 0);
  }
  *ret_base = v;
  return loops_dot(b, v->rank, at, v->strides);
}

static bool lower_as_strided(struct builder *b, const struct node *n, struct deferred *z) {
  const struct value *base;
  const struct expr *offset = strided_offset(b, n, &base);
  const struct arg *strides;
  node_list(n, 2, &strides);
  for (uint32_t i = 0; i < z->value->rank; i++)
    offset = expr_add(b->x, offset, expr_mul(b->x, z->at[i], strides[i].number));
  for (size_t i = 0; i < b->g->inputs.len; i++)
    if (b->g->inputs.at[i] == base)
      return loops_define(b, n, z,
                          scalar_convert(b->s, scalar_load(b->s, b->inputs[i], offset),
                                         dtype_to_compute(base->dtype)));
  return loops_define(b, n, z, loops_element(b, base, coordinates_in_memory(b, base, offset)));
}

bool loops_lower_view(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  if (n->op == OP_AS_STRIDED)
    return lower_as_strided(b, n, z);
  const struct expr **at = loops_view_offset(b, n, z->at);
  if (!at)
    return loops_refuse(b, n, "it should have been decomposed");
  return loops_define(b, n, z, loops_element(b, node_value(n, 0), at));
}
