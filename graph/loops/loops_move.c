// SPDX-License-Identifier: Apache-2.0
// Operators that move data: each element of a result belongs to one operand, selected by masks.
#include "graph/loops/loops_internal.h"

static const struct expr **copy_offset(struct builder *b, uint32_t rank, coordinates at) {
  const struct expr **ret = loops_coordinates(b, rank);
  for (uint32_t i = 0; i < rank; i++)
    ret[i] = at[i];
  return ret;
}

static bool lower_flip(struct builder *b, const struct node *n, struct deferred *z) {
  const struct arg *dims;
  size_t count = node_list(n, 1, &dims);
  const struct expr **at = copy_offset(b, z->value->rank, z->at);
  for (size_t i = 0; i < count; i++) {
    int64_t d = dims[i].number->value;
    at[d] = expr_sub(b->x, expr_addi(b->x, z->value->shape[d], -1), z->at[d]);
  }
  return loops_define(b, n, z, loops_element(b, node_value(n, 0), at));
}

// The list has pairs for the last dimension, the one before, ...
static bool lower_pad(struct builder *b, const struct node *n, struct deferred *z) {
  const struct value *of = node_value(n, 0);
  const struct arg *pads;
  size_t count = node_list(n, 1, &pads);
  const struct expr **at = copy_offset(b, of->rank, z->at);
  const struct scalar *inside = scalar_int(b->s, DTYPE_I1, 1);
  for (size_t i = 0; i + 1 < count; i += 2) {
    uint32_t d = of->rank - 1 - (uint32_t)(i / 2);
    at[d] = expr_sub(b->x, z->at[d], pads[i].number);
    const struct scalar *here = loops_between(b, at[d], expr_const(b->x, 0), of->shape[d]);
    inside = loops_binary(b, SCALAR_AND, DTYPE_I1, inside, here);
  }
  enum dtype t = dtype_to_compute(z->value->dtype);
  const struct scalar *fill = loops_number(b, &n->args[2], t);
  return loops_define(b, n, z, scalar_masked(b->s, inside, loops_element(b, of, at), fill));
}

// ---- slice_scatter ----

static bool lower_select_scatter(struct builder *b, const struct node *n, struct deferred *z) {
  const struct value *src = node_value(n, 1);
  uint32_t dim = node_dim(n, 2, z->value->rank), j = 0;
  const struct expr **at = loops_coordinates(b, src->rank);
  for (uint32_t i = 0; i < z->value->rank; i++)
    if (i != dim)
      at[j++] = z->at[i];
  const struct scalar *here = loops_binary(b, SCALAR_EQ, DTYPE_I1, scalar_index(b->s, z->at[dim]),
                                           scalar_index(b->s, node_expr(n, 3)));
  return loops_define(b, n, z,
                      scalar_masked(b->s, here, loops_element(b, src, at),
                                    loops_element(b, node_value(n, 0), z->at)));
}

static bool lower_slice_scatter(struct builder *b, const struct node *n, struct deferred *z) {
  const struct value *src = node_value(n, 1);
  uint32_t dim = node_dim(n, 2, z->value->rank);
  const struct expr *start = node_expr(n, 3), *end = node_expr(n, 4), *step = node_expr(n, 5);
  const struct expr *from = expr_sub(b->x, z->at[dim], start);
  const struct expr **at = copy_offset(b, z->value->rank, z->at);
  at[dim] = expr_floordiv(b->x, from, step);
  const struct scalar *here = loops_between(b, z->at[dim], start, end);
  const struct scalar *hit =
      loops_binary(b, SCALAR_EQ, DTYPE_I1, scalar_index(b->s, expr_mod(b->x, from, step)),
                   scalar_int(b->s, DTYPE_I64, 0));
  here = loops_binary(b, SCALAR_AND, DTYPE_I1, here, hit);
  return loops_define(b, n, z,
                      scalar_masked(b->s, here, loops_element(b, src, at),
                                    loops_element(b, node_value(n, 0), z->at)));
}

bool loops_lower_move(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  switch (n->op) {
  case OP_FLIP: return lower_flip(b, n, z);
  case OP_CONSTANT_PAD_ND: return lower_pad(b, n, z);
  case OP_SELECT_SCATTER: return lower_select_scatter(b, n, z);
  case OP_SLICE_SCATTER: return lower_slice_scatter(b, n, z);
  default: return loops_refuse(b, n, "it should have been decomposed");
  }
}
