// SPDX-License-Identifier: Apache-2.0
// A tensor's memory as elements of another dtype: integers of the old width are split or joined
// along the last dimension, the lowest bits first.
#include "graph/ir/compose.h"

// The elements as signed integers of their width.
static struct value *to_integers(struct build *b, struct value *x) {
  return dtype_is_float(x->dtype) ? BUILD(b, OP_TO_BITS, TENSOR(x))
                                  : build_convert(b, x, dtype_of_bits(x->dtype));
}

static struct value *from_integers(struct build *b, struct value *x, enum dtype t) {
  return x && dtype_is_float(t) ? BUILD(b, OP_FROM_BITS, TENSOR(x), ARG_D(t))
                                : build_convert(b, x, t);
}

// Each element as `parts` of dtype `t`: [.., n] becomes [.., n * parts].
static struct value *split(struct build *b, struct value *x, int64_t parts, enum dtype t) {
  if (!x)
    return NULL;
  uint32_t rank = x->rank;
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < rank; d++)
    shape[d] = x->shape[d];
  shape[rank - 1] = expr_mul(b->g->exprs, shape[rank - 1], compose_const(b, parts));
  struct value *by = build_iota(b, compose_const(b, parts), rank, rank + 1);
  by = build_int(b, OP_MUL_TENSOR, by, dtype_bits(t));
  by = build_convert(b, by, x->dtype);
  x = build_binop(b, OP_RIGHT_SHIFT, build_unsqueeze(b, x, rank), by);
  x = build_convert(b, x, t);
  return x ? BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, rank, shape)) : NULL;
}

// `parts` neighbours as one element of dtype `t`: [.., n * parts] becomes [.., n].
static struct value *join(struct build *b, struct value *x, int64_t parts, enum dtype t) {
  if (!x)
    return NULL;
  uint32_t rank = x->rank, bits = dtype_bits(x->dtype);
  const struct expr *shape[GRAPH_MAX_RANK + 1], *count = compose_const(b, parts);
  for (uint32_t d = 0; d < rank; d++)
    shape[d] = x->shape[d];
  shape[rank - 1] = expr_floordiv(b->g->exprs, shape[rank - 1], count);
  shape[rank] = count;
  struct value *all = build_view(b, x, rank + 1, shape), *sum = NULL;
  for (int64_t i = 0; i < parts; i++) {
    struct value *part = build_slice(b, all, rank, compose_const(b, i), compose_const(b, i + 1), 1);
    part = build_convert(b, build_squeeze(b, part, rank), t);
    if (i + 1 < parts) // of the highest part the shift drops what its sign has filled
      part = build_int(b, OP_BITWISE_AND_SCALAR, part, ((int64_t)1 << bits) - 1);
    part = i ? build_int(b, OP_LEFT_SHIFT, part, i * bits) : part;
    sum = sum ? build_binop(b, OP_BITWISE_OR_TENSOR, sum, part) : part;
  }
  return sum;
}

// self dtype
void compose_view_dtype(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *ints = to_integers(b, x);
  enum dtype to = n->args[1].dtype;
  int64_t old = dtype_bytes(x->dtype), new = dtype_bytes(to), last = 0;
  if (old != new && x->rank == 0) {
    compose_error(b, n, E1004, "a tensor without dimensions has no elements of another size");
    return;
  }
  if (new > old && x->rank == GRAPH_MAX_RANK) {
    compose_error(b, n, E1004, "more than %d dimensions", GRAPH_MAX_RANK - 1);
    return;
  }
  if (new > old && expr_is_const(x->shape[x->rank - 1], &last) && last % (new / old) != 0) {
    compose_error(b, n, E1004,
                  "the last dimension, of %lld elements, is no multiple of %lld elements",
                  (long long)last, (long long)(new / old));
    return;
  }
  enum dtype bits = dtype_of_bits(to);
  if (new < old)
    ints = split(b, ints, old / new, bits);
  else if (new > old)
    ints = join(b, ints, new / old, bits);
  n->results[0] = from_integers(b, ints, to);
}
