// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms as products with matrices of roots of unity. A length splits as
// n = n1 n2 (Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier
// series", 1965) until n is at most MAX_DIRECT; a large prime length becomes a convolution of a
// power of two (Bluestein, "A linear filtering approach to the computation of discrete Fourier
// transform", 1970). Roots are computed from exact integers, reduced to an eighth of the circle.
#include "graph/ir/complex_fft.h"

#include "graph/ir/complex.h"
#include "graph/ir/compose.h"

#include <math.h>

enum { MAX_DIRECT = 128, MAX_PRIME = 256, MAX_LENGTH = 1 << 24 };

struct roots {
  struct value *cos, *sin;
};

// With a size, which may be symbolic, on the right.
static struct value *with_size(struct build *b, enum operator_id op, struct value *x,
                               const struct expr *n) {
  return BUILD(b, op, TENSOR(x), ARG_E(n));
}

// r * pi / (2 n).
static struct value *angle_of(struct build *b, struct value *r, const struct expr *n) {
  int64_t size;
  if (expr_is_const(n, &size))
    return build_scale(b, r, M_PI / (2 * (double)size));
  return build_over(b, build_scale(b, r, M_PI / 2), n);
}

// e^(2 pi i k / n) for 0 <= k < n: k = q n/4 + r/4 with |r| <= n/2.
static struct roots roots_of_unity(struct build *b, struct value *k, const struct expr *n,
                                   enum dtype t) {
  struct value *q = with_size(b, OP_ADD_TENSOR, build_int(b, OP_MUL_TENSOR, k, 8), n);
  q = with_size(b, OP_FLOOR_DIVIDE, q, expr_muli(b->g->exprs, n, 2));
  struct value *r =
      build_sub(b, build_int(b, OP_MUL_TENSOR, k, 4), with_size(b, OP_MUL_TENSOR, q, n));
  struct value *angle = angle_of(b, build_convert(b, r, t), n);
  struct value *c = build_unop(b, OP_COS, angle), *s = build_unop(b, OP_SIN, angle);
  struct value *quarter = build_int(b, OP_BITWISE_AND_TENSOR, q, 3);
  struct value *odd = build_int(b, OP_EQ_TENSOR, build_int(b, OP_BITWISE_AND_TENSOR, q, 1), 1);
  struct value *left = build_int(b, OP_BITWISE_AND_TENSOR, build_int(b, OP_ADD_TENSOR, q, 1), 2);
  left = build_int(b, OP_EQ_TENSOR, left, 2);                   // quarters 1 and 2
  struct value *below = build_int(b, OP_GE_TENSOR, quarter, 2); // quarters 2 and 3
  struct value *x = build_where(b, odd, s, c), *y = build_where(b, odd, c, s);
  return (struct roots){build_where(b, left, build_unop(b, OP_NEG, x), x),
                        build_where(b, below, build_unop(b, OP_NEG, y), y)};
}

static struct value *iota(struct build *b, int64_t n, uint32_t dim, uint32_t rank) {
  return build_iota(b, compose_const(b, n), dim, rank);
}

static struct value *view(struct build *b, struct value *x, uint32_t rank, const struct expr *batch,
                          int64_t d1, int64_t d2, int64_t d3) {
  const struct expr *shape[] = {batch, compose_const(b, d1), compose_const(b, d2),
                                compose_const(b, d3)};
  return BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, rank, shape));
}

// e^(sign i angle) times pairs.
static struct value *rotate(struct build *b, struct value *pairs, struct roots by, int sign) {
  struct value *w = complex_of_parts(b, by.cos, sign < 0 ? build_unop(b, OP_NEG, by.sin) : by.sin);
  struct value *z = complex_of_pairs(b, pairs);
  return complex_pairs(b, build_mul(b, z, w));
}

// The matrix that transforms rows of n pairs, as [2n, 2n]; of n real numbers as [n, 2n].
static struct value *dft_matrix(struct build *b, const struct expr *n, int sign, bool is_real,
                                enum dtype t) {
  struct value *k = build_mul(b, build_iota(b, n, 0, 4), build_iota(b, n, 2, 4));
  struct roots w = roots_of_unity(b, with_size(b, OP_REMAINDER_TENSOR, k, n), n, t);
  int64_t rows = is_real ? 1 : 2;
  struct value *p = iota(b, rows, 1, 4), *q = iota(b, 2, 3, 4); // 0 real, 1 imaginary
  struct value *same = build_binop(b, OP_EQ_TENSOR, p, q),
               *down = build_binop(b, OP_GT_TENSOR, p, q);
  struct value *s = sign < 0 ? build_unop(b, OP_NEG, w.sin) : w.sin;
  s = build_where(b, down, build_unop(b, OP_NEG, s), s);
  struct value *all = build_where(b, same, w.cos, s);
  const struct expr *shape[] = {expr_muli(b->g->exprs, n, rows), expr_muli(b->g->exprs, n, 2)};
  return BUILD(b, OP_RESHAPE, TENSOR(all), arg_exprs(b->g, 2, shape));
}

static struct value *transform(struct build *b, struct value *x, const struct expr *batch,
                               int64_t n, int sign, bool is_real);

// By the matrix: n, which may be symbolic, squared steps.
static struct value *direct(struct build *b, struct value *x, const struct expr *batch,
                            const struct expr *n, int sign, bool is_real) {
  if (!x)
    return NULL;
  const struct expr *flat[] = {batch, expr_muli(b->g->exprs, n, is_real ? 1 : 2)},
                    *pairs[] = {batch, n, compose_const(b, 2)};
  struct value *rows = BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, 2, flat));
  struct value *all = build_binop(b, OP_MM, rows, dft_matrix(b, n, sign, is_real, x->dtype));
  return BUILD(b, OP_RESHAPE, TENSOR(all), arg_exprs(b->g, 3, pairs));
}

// Columns, then rows of x as a matrix of n1 rows and n2 columns.
static struct value *split(struct build *b, struct value *x, const struct expr *batch, int64_t n1,
                           int64_t n2, int sign, bool is_real) {
  if (!x)
    return NULL;
  struct exprs *e = b->g->exprs;
  struct value *v = view(b, x, is_real ? 3 : 4, batch, n1, n2, 2);
  v = transform(b, build_swap(b, v, 1, 2), expr_muli(e, batch, n2), n1, sign, is_real);
  v = view(b, v, 4, batch, n2, n1, 2);
  struct value *k = build_mul(b, iota(b, n2, 1, 3), iota(b, n1, 2, 3));
  v = rotate(b, v, roots_of_unity(b, k, compose_const(b, n1 * n2), x->dtype), sign);
  v = transform(b, build_swap(b, v, 1, 2), expr_muli(e, batch, n1), n2, sign, false);
  v = view(b, v, 4, batch, n1, n2, 2);
  return view(b, build_swap(b, v, 1, 2), 3, batch, n1 * n2, 2, 0);
}

static struct value *pad_rows(struct build *b, struct value *x, int64_t after) {
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(x), arg_ints(b->g, 4, (int64_t[]){0, 0, 0, after}),
               ARG_F(0));
}

// jk = (j^2 + k^2 - (k - j)^2) / 2: a convolution with e^(-sign i pi j^2 / n).
static struct value *convolved(struct build *b, struct value *x, const struct expr *batch,
                               int64_t n, int sign) {
  int64_t m = 1;
  while (m < 2 * n - 1)
    m *= 2;
  if (!x)
    return NULL;
  const struct expr *one = compose_const(b, 1);
  struct value *j = iota(b, n, 1, 2);
  struct value *square = build_int(b, OP_REMAINDER_TENSOR, build_mul(b, j, j), 2 * n);
  struct roots chirp = roots_of_unity(b, square, compose_const(b, 2 * n), x->dtype);
  struct value *a = pad_rows(b, rotate(b, x, chirp, sign), m - n);
  struct value *w = complex_of_parts(b, chirp.cos, build_scale(b, chirp.sin, -sign));
  struct value *head = complex_pairs(b, w); // [1, n, 2], and mirrored at the end
  struct value *tail = build_slice(b, head, 1, one, compose_const(b, n), 1);
  tail = BUILD(b, OP_FLIP, TENSOR(tail), arg_int(b->g, 1));
  struct value *both[] = {pad_rows(b, head, m - 2 * n + 1), tail};
  struct value *kernel = BUILD(b, OP_CAT, arg_values(b->g, 2, both), arg_int(b->g, 1));
  struct value *product = build_mul(b, complex_of_pairs(b, transform(b, a, batch, m, -1, false)),
                                    complex_of_pairs(b, transform(b, kernel, one, m, -1, false)));
  struct value *back = transform(b, complex_pairs(b, product), batch, m, 1, false);
  back = build_slice(b, back, 1, compose_const(b, 0), compose_const(b, n), 1);
  return rotate(b, build_scale(b, back, 1 / (double)m), chirp, sign);
}

// A divisor up to MAX_DIRECT, the least one above the root of n if there is one, else the largest;
// n itself if all its factors are larger.
static int64_t divisor(int64_t n) {
  int64_t best = 1;
  for (int64_t d = 2; d <= MAX_DIRECT; d++)
    if (n % d == 0 && best * best < n)
      best = d;
  for (int64_t d = MAX_DIRECT + 1; best == 1 && d * d <= n; d++)
    if (n % d == 0)
      best = d;
  return best > 1 ? best : n;
}

// Along the second last dimension of x [batch, n, 2], or the last one of a real x [batch, n]:
// pairs.
static struct value *transform(struct build *b, struct value *x, const struct expr *batch,
                               int64_t n, int sign, bool is_real) {
  int64_t d = n <= MAX_DIRECT ? n : divisor(n);
  if (d < n)
    return split(b, x, batch, d, n / d, sign, is_real);
  if (n <= MAX_PRIME)
    return direct(b, x, batch, compose_const(b, n), sign, is_real);
  if (is_real && x)
    x = complex_pairs(
        b, BUILD(b, OP_RESHAPE, TENSOR(x),
                 arg_exprs(b->g, 2, (const struct expr *[]){batch, compose_const(b, n)})));
  return convolved(b, x, batch, n, sign);
}

struct value *complex_fft_along(struct build *b, const struct node *n, struct value *x,
                                uint32_t dim, int sign) {
  int64_t length;
  if (!x)
    return NULL;
  bool is_const = expr_is_const(x->shape[dim], &length);
  if (is_const && (length < 1 || length > MAX_LENGTH)) {
    compose_error(b, n, E1008, "a transform of a length of 0, or beyond %d", MAX_LENGTH);
    return NULL;
  }
  bool is_real = !x->complex;
  struct value *v = is_real ? x : complex_pairs(b, x);
  v = build_swap(b, v, dim, x->rank - 1);
  if (!v)
    return NULL;
  struct exprs *e = b->g->exprs;
  const struct expr *batch = compose_const(b, 1), *shape[GRAPH_MAX_RANK + 1];
  for (uint32_t d = 0; d < x->rank; d++)
    shape[d] = v->shape[d];
  for (uint32_t d = 0; d + 1 < x->rank; d++)
    batch = expr_mul(e, batch, shape[d]);
  shape[x->rank] = compose_const(b, 2);
  v = is_const ? transform(b, v, batch, length, sign, is_real)
               : direct(b, v, batch, x->shape[dim], sign, is_real);
  v = BUILD(b, OP_RESHAPE, TENSOR(v), arg_exprs(b->g, x->rank + 1, shape));
  return complex_of_pairs(b, build_swap(b, v, dim, x->rank - 1));
}
