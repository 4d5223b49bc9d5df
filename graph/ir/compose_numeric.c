// SPDX-License-Identifier: Apache-2.0
// Composed operators of number theory, distances, positions of elements, and drawn indices.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)
#define A(i) n->args[i]

// ---- greatest common divisor ----

// Euclid's algorithm takes at most 1.4405 steps for each bit (Lame).
static struct value *common_divisor(struct build *b, struct value *x, struct value *y) {
  if (!x || !y)
    return NULL;
  unsigned bits =
      dtype_bits(x->dtype) > dtype_bits(y->dtype) ? dtype_bits(x->dtype) : dtype_bits(y->dtype);
  unsigned steps = bits * 145 / 100 + 1;
  x = build_unop(b, OP_ABS, x), y = build_unop(b, OP_ABS, y);
  for (unsigned i = 0; i < steps; i++) {
    struct value *ends = build_int(b, OP_EQ_TENSOR, y, 0);
    struct value *by =
        build_binop(b, OP_ADD_TENSOR, y, build_convert(b, ends, y ? y->dtype : DTYPE_I64));
    struct value *rest = build_binop(b, OP_REMAINDER_TENSOR, x, by);
    struct value *next = build_where(b, ends, x, y);
    y = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, ends), rest, 0);
    x = next;
  }
  return x;
}

static bool wants_integers(struct build *b, const struct node *n) {
  if (dtype_is_int(X->dtype) && dtype_is_int(Y->dtype) && X->dtype != DTYPE_I1 &&
      Y->dtype != DTYPE_I1)
    return true;
  compose_error(b, n, E1005, "integers are required");
  return false;
}

void compose_gcd(struct build *b, struct node *n) {
  if (wants_integers(b, n))
    n->results[0] = common_divisor(b, X, Y);
}

void compose_lcm(struct build *b, struct node *n) {
  if (!wants_integers(b, n))
    return;
  struct value *d = build_int(b, OP_MAXIMUM, common_divisor(b, X, Y), 1);
  struct value *part = build_binop(b, OP_FLOOR_DIVIDE, build_unop(b, OP_ABS, X), d);
  n->results[0] = build_mul(b, part, build_unop(b, OP_ABS, Y));
}

// self decimals
void compose_round_decimals(struct build *b, struct node *n) {
  double decimals = node_real(n, 1), by = pow(10, fabs(decimals));
  struct value *x = build_up(b, X);
  if (!dtype_is_float(X->dtype)) {
    compose_error(b, n, E1005, "a tensor of floats is required");
    return;
  }
  enum operator_id up = decimals < 0 ? OP_DIV_TENSOR : OP_MUL_TENSOR,
                   down = decimals < 0 ? OP_MUL_TENSOR : OP_DIV_TENSOR;
  x = build_unop(b, OP_ROUND, build_real(b, up, x, by));
  n->results[0] = build_convert(b, build_real(b, down, x, by), X->dtype);
}

// ---- distances ----

// x1[.., p, m] x2[.., r, m]: the norm of each difference, [.., p, r]
static void distances(struct build *b, struct node *n, struct arg norm) {
  if (X->rank < 2 || Y->rank < 2) {
    compose_error(b, n, E1004, "operands of %u and %u dimensions; each needs 2", X->rank, Y->rank);
    return;
  }
  struct value *far =
      build_sub(b, build_unsqueeze(b, X, X->rank - 1), build_unsqueeze(b, Y, Y->rank - 2));
  n->results[0] = BUILD(b, OP_VECTOR_NORM, TENSOR(far), norm, arg_int(b->g, -1));
}

void compose_cdist(struct build *b, struct node *n) { distances(b, n, A(2)); }
void compose_euclidean_dist(struct build *b, struct node *n) { distances(b, n, ARG_F(2)); }

// grad[.., p, r] x1[.., p, m] x2[.., r, m] p cdist[.., p, r]: the gradient of x1
void compose_cdist_backward(struct build *b, struct node *n) {
  struct value *x1 = node_value(n, 1), *x2 = node_value(n, 2), *norm = node_value(n, 4);
  double p = node_real(n, 3);
  uint32_t rank = x1->rank;
  if (rank < 2 || x2->rank != rank || norm->rank != rank || X->rank != rank) {
    compose_error(b, n, E1004, "operands of %u and %u dimensions", rank, x2->rank);
    return;
  }
  struct value *far =
                   build_sub(b, build_unsqueeze(b, x1, rank - 1), build_unsqueeze(b, x2, rank - 2)),
               *size = build_unop(b, OP_ABS, far), *way = build_unop(b, OP_SIGN, far);
  norm = build_unsqueeze(b, norm, rank);
  struct value *slope = way;
  if (isinf(p)) {
    slope = build_where_else(b, build_binop(b, OP_EQ_TENSOR, size, norm), way, 0);
  } else if (p > 1 || p < 1) {
    struct value *is_zero = build_real(b, OP_EQ_TENSOR, p < 1 ? size : norm, 0);
    struct value *one = build_number(b, 1, X->dtype); // the quotient has a gradient everywhere
    slope = build_real(b, OP_POW_TENSOR_SCALAR,
                       build_div(b, size, build_where(b, is_zero, one, norm)), p - 1);
    slope =
        build_mul(b, way, build_where_else(b, build_unop(b, OP_LOGICAL_NOT, is_zero), slope, 0));
  }
  struct dims others = dims_one(rank - 1);
  n->results[0] = build_sum(b, build_mul(b, build_unsqueeze(b, X, rank), slope), &others, false);
}

// The pairs (0, 1), (0, 2), .. (1, 2), .. of the rows of a matrix, as an index of two dimensions.
// Pair k has row i = n' - sqrt(n'^2 - 2k - 1), rounded down, where n' = n - 1/2.
static bool pairs_of(struct build *b, const struct node *n, const struct value *x,
                     struct value **ret) {
  struct exprs *e = b->g->exprs;
  if (x->rank != 2) {
    compose_error(b, n, E1004, "a tensor of %u dimensions; it needs 2", x->rank);
    return false;
  }
  const struct expr *rows = x->shape[0], *two = compose_const(b, 2);
  const struct expr *count = expr_floordiv(e, expr_mul(e, rows, expr_addi(e, rows, -1)), two);
  struct value *k = build_iota(b, count, 0, 1);
  struct value *real = build_convert(b, k, DTYPE_F64);
  struct value *end = BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL), ARG_E(rows), ARG_D(DTYPE_F64));
  end = compose_more(b, end, -0.5);
  struct value *under = build_sub(b, build_mul(b, end, end), build_scale(b, real, 2));
  struct value *root = build_unop(b, OP_SQRT, compose_more(b, under, -1));
  struct value *i = build_convert(b, build_unop(b, OP_FLOOR, build_sub(b, end, root)), DTYPE_I64);
  // j = k - n i + i (i + 1) / 2 + i + 1
  struct value *next = build_int(b, OP_ADD_TENSOR, i, 1);
  struct value *before = build_int(b, OP_FLOOR_DIVIDE, build_mul(b, i, next), 2);
  struct value *j = i ? build_sub(b, k, BUILD(b, OP_MUL_TENSOR, TENSOR(i), ARG_E(rows))) : NULL;
  ret[0] = i;
  ret[1] = build_add(b, build_add(b, j, before), next);
  return ret[0] && ret[1];
}

// self p: the distances of the pairs
void compose_pdist(struct build *b, struct node *n) {
  struct value *pairs[2];
  struct value *all =
      pairs_of(b, n, X, pairs) ? BUILD(b, OP_CDIST, TENSOR(X), TENSOR(X), A(1)) : NULL;
  if (all)
    n->results[0] = BUILD(b, OP_INDEX, TENSOR(all), arg_values(b->g, 2, pairs));
}

// grad self p pdist: each pair counts for both of its rows
void compose_pdist_backward(struct build *b, struct node *n) {
  struct value *pairs[2], *square[2] = {X, node_value(n, 3)};
  if (!pairs_of(b, n, Y, pairs))
    return;
  for (int i = 0; i < 2; i++) {
    const struct expr *shape[] = {Y->shape[0], Y->shape[0]};
    struct value *zeros = build_full(b, 2, shape, 0, square[i]->dtype);
    struct value *half =
        zeros ? BUILD(b, OP_INDEX_PUT, TENSOR(zeros), arg_values(b->g, 2, pairs), TENSOR(square[i]))
              : NULL;
    square[i] = build_add(b, half, build_swap(b, half, 0, 1));
  }
  if (square[0] && square[1])
    n->results[0] = BUILD(b, OP_CDIST_BACKWARD, TENSOR(square[0]), TENSOR(Y), TENSOR(Y), A(2),
                          TENSOR(square[1]));
}

// self p dim maxnorm: each part along `dim` is scaled to that norm if its own is larger.
void compose_renorm(struct build *b, struct node *n) {
  struct value *x = build_up(b, X);
  uint32_t dim = compose_dim(b, n, 2, X->rank);
  struct dims others = {0};
  for (uint32_t d = 0; d < X->rank; d++)
    if (d != dim)
      others.at[others.count++] = d;
  if (X->rank < 2) {
    compose_error(b, n, E1004, "a tensor of %u dimensions; it needs 2", X->rank);
    return;
  }
  double most = node_real(n, 3);
  struct value *norm = BUILD(b, OP_VECTOR_NORM, TENSOR(x), A(1), dims_arg(b, &others), ARG_B(true));
  struct value *by =
      norm ? build_div(b, build_number(b, most, norm->dtype), compose_more(b, norm, 1e-7)) : NULL;
  by = build_where_else(b, build_real(b, OP_GT_TENSOR, norm, most), by, 1);
  n->results[0] = build_convert(b, build_mul(b, x, by), X->dtype);
}

// ---- diagonals and positions ----

// self src offset dim1 dim2: the elements whose indices differ by `offset` are those of src
void compose_diagonal_scatter(struct build *b, struct node *n) {
  uint32_t rank = X->rank, d1 = compose_dim(b, n, 3, rank), d2 = compose_dim(b, n, 4, rank);
  int64_t offset = node_int(n, 2);
  // Checks the shapes; nothing reads the diagonal.
  struct value *old = d1 == d2 ? NULL : BUILD(b, OP_DIAGONAL, TENSOR(X), A(2), A(3), A(4));
  bool same = old && old->rank == Y->rank;
  for (uint32_t d = 0; same && d < old->rank; d++)
    same = graph_require_equal(b->g, old->shape[d], Y->shape[d], b->at);
  if (!same) {
    compose_error(b, n, E1004, "`src` has another shape than the diagonal");
    return;
  }
  struct value *i = build_iota(b, X->shape[d1], d1, rank),
               *k = build_iota(b, X->shape[d2], d2, rank);
  struct value *hit = build_binop(b, OP_EQ_TENSOR, build_int(b, OP_ADD_TENSOR, i, offset), k);
  uint32_t along = offset >= 0 ? d1 : d2, other = offset >= 0 ? d2 : d1;
  // The diagonal is the last dimension of src: it goes to `along`; `other` is a new one.
  struct value *at = build_iota(b, X->shape[along], 0, 1);
  at = BUILD(b, OP_MINIMUM, TENSOR(at), ARG_E(expr_addi(b->g->exprs, Y->shape[Y->rank - 1], -1)));
  if (expr_is(Y->shape[Y->rank - 1], 0)) {
    n->results[0] = BUILD(b, OP_CLONE, TENSOR(X));
    return;
  }
  struct value *src = compose_index(b, Y, Y->rank - 1, at);
  struct dims order = {0};
  uint32_t rest = 0;
  for (uint32_t d = 0; d < rank; d++)
    if (d != other)
      order.at[order.count++] = d == along ? rank - 2 : rest++;
  src = src ? build_unsqueeze(b, build_permute(b, src, &order), other) : NULL;
  n->results[0] = build_where(b, hit, src, X);
}

// self size fill_value: the first `size` positions of elements that are not 0, as rows of indices
void compose_nonzero_static(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  const struct expr *size = node_expr(n, 1), *rows[] = {expr_addi(x, size, 1)};
  struct value *flat = BUILD(b, OP_RESHAPE, TENSOR(X), arg_int(b->g, -1));
  struct value *hit = build_int(b, OP_NE_TENSOR, flat, 0);
  struct value *row =
      BUILD(b, OP_CUMSUM, TENSOR(build_convert(b, hit, DTYPE_I64)), arg_int(b->g, 0));
  row = build_int(b, OP_SUB_TENSOR, row, 1);
  // Row `size` takes what is left over.
  struct value *taken =
      build_binop(b, OP_LOGICAL_AND, hit, BUILD(b, OP_LT_TENSOR, TENSOR(row), ARG_E(size)));
  struct value *beyond = BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL), ARG_E(size), ARG_D(DTYPE_I64));
  struct value *own = build_iota(b, value_numel(x, X), 0, 1);
  struct value *at = compose_put(b, build_full(b, 1, rows, -1, DTYPE_I64), 0,
                                 build_where(b, taken, row, beyond), own, false);
  at = build_slice(b, at, 0, compose_const(b, 0), size, 1);
  struct value *is_found = build_int(b, OP_GE_TENSOR, at, 0), *list[GRAPH_MAX_RANK];
  const struct expr *inner = compose_const(b, 1);
  for (uint32_t d = X->rank; d-- > 0;) {
    struct value *index = BUILD(b, OP_FLOOR_DIVIDE, TENSOR(at), ARG_E(inner));
    index = BUILD(b, OP_REMAINDER_TENSOR, TENSOR(index), ARG_E(X->shape[d]));
    list[d] = build_where_else(b, is_found, index, node_real(n, 2));
    inner = expr_mul(x, inner, X->shape[d]);
  }
  const struct expr *none[] = {size, compose_const(b, 0)};
  n->results[0] = X->rank == 0
                      ? build_full(b, 2, none, 0, DTYPE_I64)
                      : BUILD(b, OP_STACK, arg_values(b->g, X->rank, list), arg_int(b->g, 1));
}

// ---- drawn indices ----

// self num_samples replacement: the largest of p / q with q exponential, each drawn by itself with
// replacement (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006)
void compose_multinomial(struct build *b, struct node *n) {
  struct value *p = build_up(b, X);
  const struct expr *count = node_expr(n, 1), *shape[3];
  uint32_t rank = X->rank;
  if (rank < 1 || rank > 2 || !dtype_is_float(X->dtype)) {
    compose_error(b, n, E1004, "weights of %u dimensions, or not floats", rank);
    return;
  }
  bool each = node_truth(n, 2);
  for (uint32_t d = 0, k = 0; d < rank + each; d++)
    shape[d] = each && d + 2 == rank + 1 ? count : X->shape[k++];
  struct value *u = BUILD(b, OP_RAND, arg_exprs(b->g, rank + each, shape), ARG_D(DTYPE_F32));
  struct value *q = build_unop(b, OP_NEG, build_unop(b, OP_LOG1P, build_unop(b, OP_NEG, u)));
  struct value *key = build_div(b, each ? build_unsqueeze(b, p, rank - 1) : p,
                                build_real(b, OP_MAXIMUM, q, 0x1p-25));
  if (each) {
    n->results[0] = BUILD(b, OP_ARGMAX, TENSOR(key), arg_int(b->g, -1));
    return;
  }
  struct node *top =
      key ? graph_append(b->g, OP_TOPK, (struct arg[]){TENSOR(key), A(1)}, 2, b->at) : NULL;
  n->results[0] = top ? top->results[1] : NULL;
}
