// SPDX-License-Identifier: Apache-2.0
// The most frequent element of a line. Every element is compared with every other.
#include "graph/ir/compose.h"

static bool is_float(const struct value *x) { return x && dtype_is_float(x->dtype); }

static struct value *both(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_LOGICAL_AND, x, y);
}

// Equal, or both NaN.
static struct value *same(struct build *b, struct value *x, struct value *y) {
  struct value *v = build_binop(b, OP_EQ_TENSOR, x, y);
  if (is_float(x))
    v = build_binop(b, OP_LOGICAL_OR, v,
                    both(b, build_unop(b, OP_ISNAN, x), build_unop(b, OP_ISNAN, y)));
  return v;
}

// NaN is the largest.
static struct value *less(struct build *b, struct value *x, struct value *y) {
  struct value *v = build_binop(b, OP_LT_TENSOR, x, y);
  if (is_float(x)) {
    struct value *number = build_unop(b, OP_LOGICAL_NOT, build_unop(b, OP_ISNAN, x));
    v = build_binop(b, OP_LOGICAL_OR, v, both(b, number, build_unop(b, OP_ISNAN, y)));
  }
  return v;
}

// The last position of the smallest of the most frequent elements of each line, [.., 1].
static struct value *find(struct build *b, struct value *x) {
  uint32_t rank = x->rank;
  struct dims last = dims_one(rank - 1), other = dims_one(rank);
  struct value *mine = build_unsqueeze(b, x, rank), *theirs = build_unsqueeze(b, x, rank - 1);
  struct value *count =
      build_sum(b, build_convert(b, same(b, mine, theirs), DTYPE_I64), &other, false);
  struct value *often = build_binop(b, OP_EQ_TENSOR, count, build_amax(b, count, &last, true));
  struct value *smaller =
      both(b, often ? build_unsqueeze(b, often, rank - 1) : NULL, less(b, theirs, mine));
  struct value *beaten =
      smaller ? BUILD(b, OP_ANY_DIM, TENSOR(smaller), arg_int(b->g, rank)) : NULL;
  struct value *chosen = both(b, often, build_unop(b, OP_LOGICAL_NOT, beaten));
  struct value *own = build_iota(b, x->shape[rank - 1], rank - 1, rank);
  return build_amax(b, build_where_else(b, chosen, own, 0), &last, true);
}

// self dim keepdim
void compose_mode(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0);
  int64_t size;
  if (x->rank == 0) {
    n->results[0] = BUILD(b, OP_CLONE, n->args[0]);
    n->results[1] = build_number(b, 0, DTYPE_I64);
    return;
  }
  uint32_t dim = compose_dim(b, n, 1, x->rank);
  if (expr_is(x->shape[dim], 0)) {
    compose_error(b, n, E1004, "a line without elements has no mode");
    return;
  }
  if (expr_is_const(x->shape[dim], &size) && size > LIMIT_GRAPH_SORTED) {
    compose_error(b, n, E1008, "the mode of more than %d elements", LIMIT_GRAPH_SORTED);
    return;
  }
  x = compose_to_last(b, x, dim);
  struct value *index = x ? find(b, x) : NULL;
  if (!index)
    return;
  uint32_t last = x->rank - 1;
  struct value *value = BUILD(b, OP_GATHER, TENSOR(x), arg_int(b->g, last), TENSOR(index));
  value = build_squeeze(b, value, last);
  index = build_squeeze(b, index, last);
  bool keepdim = node_truth(n, 2);
  n->results[0] = keepdim && value ? build_unsqueeze(b, value, dim) : value;
  n->results[1] = keepdim && index ? build_unsqueeze(b, index, dim) : index;
}
