// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms as products with matrices of roots of unity. A length splits as
// n = n1 n2 (Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier
// series", 1965) until n is at most MAX_DIRECT; a large prime length becomes a convolution of a
// power of two (Bluestein, "A linear filtering approach to the computation of discrete Fourier
// transform", 1970). Roots are computed from exact integers, reduced to an eighth of the circle.
#include "graph/ir/complex.h"
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)

enum { MAX_DIRECT = 128, MAX_PRIME = 256, MAX_LENGTH = 1 << 24 };

struct roots {
  struct value *cos, *sin;
};

// e^(2 pi i k / n) for 0 <= k < n: k = q n/4 + r/4 with |r| <= n/2.
static struct roots roots_of_unity(struct build *b, struct value *k, int64_t n, enum dtype t) {
  struct value *q = build_int(b, OP_ADD_TENSOR, build_int(b, OP_MUL_TENSOR, k, 8), n);
  q = build_int(b, OP_FLOOR_DIVIDE, q, 2 * n);
  struct value *r =
      build_sub(b, build_int(b, OP_MUL_TENSOR, k, 4), build_int(b, OP_MUL_TENSOR, q, n));
  struct value *angle = build_scale(b, build_convert(b, r, t), M_PI / (2 * (double)n));
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
static struct value *dft_matrix(struct build *b, int64_t n, int sign, bool is_real, enum dtype t) {
  struct value *k = build_mul(b, iota(b, n, 0, 4), iota(b, n, 2, 4));
  struct roots w = roots_of_unity(b, build_int(b, OP_REMAINDER_TENSOR, k, n), n, t);
  int64_t rows = is_real ? 1 : 2;
  struct value *p = iota(b, rows, 1, 4), *q = iota(b, 2, 3, 4); // 0 real, 1 imaginary
  struct value *same = build_binop(b, OP_EQ_TENSOR, p, q),
               *down = build_binop(b, OP_GT_TENSOR, p, q);
  struct value *s = sign < 0 ? build_unop(b, OP_NEG, w.sin) : w.sin;
  s = build_where(b, down, build_unop(b, OP_NEG, s), s);
  struct value *all = build_where(b, same, w.cos, s);
  const struct expr *shape[] = {compose_const(b, n * rows), compose_const(b, n * 2)};
  return BUILD(b, OP_RESHAPE, TENSOR(all), arg_exprs(b->g, 2, shape));
}

static struct value *transform(struct build *b, struct value *x, const struct expr *batch,
                               int64_t n, int sign, bool is_real);

static struct value *direct(struct build *b, struct value *x, const struct expr *batch, int64_t n,
                            int sign, bool is_real) {
  if (!x)
    return NULL;
  struct value *rows = view(b, x, 2, batch, is_real ? n : 2 * n, 0, 0);
  struct value *all = build_binop(b, OP_MM, rows, dft_matrix(b, n, sign, is_real, x->dtype));
  return view(b, all, 3, batch, n, 2, 0);
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
  v = rotate(b, v, roots_of_unity(b, k, n1 * n2, x->dtype), sign);
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
  struct roots chirp = roots_of_unity(b, square, 2 * n, x->dtype);
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
    return direct(b, x, batch, n, sign, is_real);
  if (is_real && x)
    x = complex_pairs(
        b, BUILD(b, OP_RESHAPE, TENSOR(x),
                 arg_exprs(b->g, 2, (const struct expr *[]){batch, compose_const(b, n)})));
  return convolved(b, x, batch, n, sign);
}

// The transform of dimension `dim` of x, complex or real; complex.
static struct value *along(struct build *b, const struct node *n, struct value *x, uint32_t dim,
                           int sign) {
  int64_t length;
  if (!x)
    return NULL;
  if (!expr_is_const(x->shape[dim], &length) || length < 1 || length > MAX_LENGTH) {
    compose_error(b, n, E1008, "a transform of a length that is symbolic, or beyond %d",
                  MAX_LENGTH);
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
  v = transform(b, v, batch, length, sign, is_real);
  v = BUILD(b, OP_RESHAPE, TENSOR(v), arg_exprs(b->g, x->rank + 1, shape));
  return complex_of_pairs(b, build_swap(b, v, dim, x->rank - 1));
}

// ---- the operators ----

enum { NORM_NONE, NORM_ROOT, NORM_SIZE }; // 1, 1 / sqrt(n), 1 / n

static struct value *normalised(struct build *b, struct value *z, int64_t how, double size) {
  double by = how == NORM_ROOT ? 1 / sqrt(size) : how == NORM_SIZE ? 1 / size : 1;
  if (!z || by == 1)
    return z;
  if (z->complex)
    return complex_of_pairs(b, build_scale(b, complex_pairs(b, z), by));
  return build_scale(b, z, by);
}

struct fft {
  uint32_t count, dims[GRAPH_MAX_RANK];
  bool forward;
  int64_t norm;
};

static double lengths(const struct fft *f, const struct value *x) {
  double size = 1;
  int64_t length;
  for (uint32_t i = 0; i < f->count; i++)
    size *= expr_is_const(x->shape[f->dims[i]], &length) ? (double)length : 1;
  return size;
}

static struct value *up(struct build *b, struct value *x) {
  if (!x || !x->complex)
    return build_up(b, dtype_is_float(x->dtype) ? x : build_convert(b, x, DTYPE_F32));
  if (dtype_to_compute(x->dtype) == x->dtype)
    return x;
  return complex_of_pairs(b, build_up(b, complex_pairs(b, x)));
}

static struct value *down(struct build *b, struct value *z, enum dtype t) {
  if (!z || z->dtype == t || !dtype_is_float(t))
    return z;
  return z->complex ? complex_of_pairs(b, build_convert(b, complex_pairs(b, z), t))
                    : build_convert(b, z, t);
}

// Every dimension, the last one first.
static struct value *complex_to_complex(struct build *b, const struct node *n, const struct fft *f,
                                        struct value *x) {
  struct value *v = x;
  for (uint32_t i = f->count; i-- > 0;)
    v = along(b, n, v, f->dims[i], f->forward ? -1 : 1);
  return normalised(b, v, f->norm, lengths(f, x));
}

// Half of the last dimension determines the rest.
static struct value *real_to_complex(struct build *b, const struct node *n, const struct fft *f,
                                     struct value *x, bool onesided) {
  uint32_t last = f->dims[f->count - 1];
  struct value *v = along(b, n, x, last, f->forward ? -1 : 1);
  if (onesided && v) {
    const struct expr *half =
        expr_addi(b->g->exprs, expr_floordiv(b->g->exprs, x->shape[last], compose_const(b, 2)), 1);
    v = complex_of_pairs(b,
                         build_slice(b, complex_pairs(b, v), last, compose_const(b, 0), half, 1));
  }
  for (uint32_t i = f->count - 1; i-- > 0;)
    v = along(b, n, v, f->dims[i], f->forward ? -1 : 1);
  return normalised(b, v, f->norm, lengths(f, x));
}

// The conjugates of the first half of dimension `dim`, in reverse order, follow it.
static struct value *mirrored(struct build *b, struct value *z, uint32_t dim, int64_t size) {
  int64_t half = size / 2 + 1, rest = size - half;
  struct value *head =
      build_slice(b, complex_pairs(b, z), dim, compose_const(b, 0), compose_const(b, half), 1);
  if (rest == 0)
    return complex_of_pairs(b, head);
  struct value *tail =
      build_slice(b, head, dim, compose_const(b, 1), compose_const(b, 1 + rest), 1);
  struct value *w = complex_of_pairs(b, BUILD(b, OP_FLIP, TENSOR(tail), arg_int(b->g, dim)));
  w = complex_of_parts(b, complex_real(b, w), build_unop(b, OP_NEG, complex_imag(b, w)));
  struct value *both[] = {complex_of_pairs(b, head), w};
  return BUILD(b, OP_CAT, arg_values(b->g, 2, both), arg_int(b->g, dim));
}

static struct value *complex_to_real(struct build *b, const struct node *n, const struct fft *f,
                                     struct value *z, int64_t size) {
  uint32_t last = f->dims[f->count - 1];
  int64_t have;
  struct value *v = z;
  if (!expr_is_const(z->shape[last], &have) || size < 1 || have < size / 2 + 1) {
    compose_error(b, n, E1004, "the last transformed dimension is too short for %lld results",
                  (long long)size);
    return NULL;
  }
  double length = (double)size;
  for (uint32_t i = 0; i + 1 < f->count; i++) {
    int64_t other = 1;
    v = along(b, n, v, f->dims[i], f->forward ? -1 : 1);
    expr_is_const(z->shape[f->dims[i]], &other);
    length *= (double)other;
  }
  v = v ? along(b, n, mirrored(b, v, last, size), last, f->forward ? -1 : 1) : NULL;
  return normalised(b, complex_real(b, v), f->norm, length);
}

// The dimensions of argument i in their order; all of them for None.
static bool read_dims(struct build *b, const struct node *n, unsigned i, struct fft *ret) {
  const struct arg *list = NULL;
  uint32_t rank = X->rank;
  ret->count = node_is_none(n, i) ? rank : 0;
  for (uint32_t d = 0; d < ret->count; d++)
    ret->dims[d] = d;
  size_t count = ret->count ? 0 : node_list(n, i, &list);
  for (size_t k = 0; k < count; k++) {
    int64_t dim;
    if (!expr_is_const(list[k].number, &dim) || dim < -(int64_t)rank || dim >= rank ||
        ret->count == GRAPH_MAX_RANK) {
      compose_error(b, n, E1004, "there is no such dimension in a tensor of %u dimensions", rank);
      return false;
    }
    ret->dims[ret->count++] = (uint32_t)(dim < 0 ? dim + rank : dim);
  }
  if (rank >= GRAPH_MAX_RANK - 2)
    compose_error(b, n, E1009, "a transform of a tensor of %u dimensions", rank);
  return rank < GRAPH_MAX_RANK - 2;
}

// self dim normalization forward
void complex_fft_c2c(struct build *b, struct node *n) {
  struct fft f = {.forward = node_truth(n, 3), .norm = node_int(n, 2)};
  if (read_dims(b, n, 1, &f))
    n->results[0] = down(b, complex_to_complex(b, n, &f, up(b, X)), X->dtype);
}

// self dim normalization onesided
void compose_fft_r2c(struct build *b, struct node *n) {
  struct fft f = {.forward = true, .norm = node_int(n, 2)};
  if (read_dims(b, n, 1, &f) && f.count)
    n->results[0] = down(b, real_to_complex(b, n, &f, up(b, X), node_truth(n, 3)), X->dtype);
}

// self dim normalization last_dim_size
void complex_fft_c2r(struct build *b, struct node *n) {
  struct fft f = {.norm = node_int(n, 2)};
  if (read_dims(b, n, 1, &f) && f.count)
    n->results[0] = down(b, complex_to_real(b, n, &f, up(b, X), node_int(n, 3)), X->dtype);
}

// ---- torch.fft ----

// Pads dimension `dim` with zeros, or cuts it, to `size`; None: as it is.
static struct value *resized(struct build *b, struct value *x, uint32_t dim,
                             const struct arg *size) {
  int64_t want, have;
  if (!x || !size || size->kind != ARG_INT || !expr_is_const(size->number, &want) || want < 1 ||
      !expr_is_const(x->shape[dim], &have) || want == have)
    return x;
  if (want < have)
    return BUILD(b, OP_SLICE, TENSOR(x), arg_int(b->g, dim), arg_int(b->g, 0), arg_int(b->g, want));
  int64_t pads[2 * GRAPH_MAX_RANK] = {0};
  uint32_t behind = x->rank - 1 - dim;
  pads[2 * behind + 1] = want - have;
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(x), arg_ints(b->g, 2 * (behind + 1), pads), ARG_F(0));
}

static int64_t norm_of(struct build *b, const struct node *n, const struct arg *a, bool forward) {
  if (a->kind == ARG_NONE || str_is(a->string, "backward"))
    return forward ? NORM_NONE : NORM_SIZE;
  if (str_is(a->string, "forward"))
    return forward ? NORM_SIZE : NORM_NONE;
  if (!str_is(a->string, "ortho"))
    compose_error(b, n, E1003, "the norm `%.*s`; there are `backward`, `ortho` and `forward`",
                  STR_ARG(a->string));
  return NORM_ROOT;
}

// self n dim norm; self s dim norm
void complex_fft_public(struct build *b, struct node *n) {
  const struct operator_row *row = operator_row(n->op);
  bool inverse = strncmp(row->name, "aten.fft_i", 10) == 0;
  struct fft f = {.forward = !inverse, .norm = norm_of(b, n, &n->args[3], !inverse)};
  const struct arg *sizes = NULL;
  if (!read_dims(b, n, 2, &f) || f.count == 0)
    return;
  size_t count = node_is_none(n, 1) ? 0 : node_list(n, 1, &sizes);
  if (count && node_is_none(n, 2) && count <= f.count) { // the last dimensions
    for (uint32_t i = 0; i < count; i++)
      f.dims[i] = f.dims[f.count - count + i];
    f.count = (uint32_t)count;
  }
  struct value *x = up(b, X);
  uint32_t last = f.dims[f.count - 1];
  int64_t size = 0, have = 0;
  bool halves = row->part == OP_FFT_C2R;
  if (x)
    expr_is_const(x->shape[last], &have);
  size = 2 * (have - 1);
  for (uint32_t i = 0; i < count && i < f.count; i++) {
    bool is_half = halves && f.dims[i] == last;
    if (is_half)
      expr_is_const(sizes[i].number, &size);
    struct arg half = arg_int(b->g, size / 2 + 1);
    x = resized(b, x, f.dims[i], is_half ? &half : &sizes[i]);
  }
  if (x && !x->complex && row->part != OP_FFT_R2C)
    x = complex_of_parts(b, x, complex_imag(b, x));
  if (x)
    n->results[0] = down(b,
                         row->part == OP_FFT_R2C   ? real_to_complex(b, n, &f, x, true)
                         : row->part == OP_FFT_C2R ? complex_to_real(b, n, &f, x, size)
                                                   : complex_to_complex(b, n, &f, x),
                         X->dtype);
}

void compose_fft_public(struct build *b, struct node *n) { complex_fft_public(b, n); }
