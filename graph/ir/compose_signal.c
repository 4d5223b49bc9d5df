// SPDX-License-Identifier: Apache-2.0
// Composed windows of signals (Harris, "On the use of windows for harmonic analysis with the
// discrete Fourier transform", 1978), as torch.hann_window and its kind; transforms of parts of
// signals; grids of affine maps.
#include "graph/ir/complex.h"
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define FIRST_OF_KEYWORDS(n) ((n)->arg_count - 4) // dtype layout device pin_memory

// ---- windows ----

// A window of `length` elements: periodic ones are the first of a symmetric one that is longer
// by 1.
struct window {
  enum dtype t;       // of the result
  struct value *turn; // i / period, in the dtype in which it is computed; ones: NULL
  const struct expr *length;
};

static bool begin(struct build *b, struct node *n, struct window *ret) {
  const struct arg *dtype = &n->args[FIRST_OF_KEYWORDS(n)];
  bool is_symmetric = n->args[1].kind == ARG_BOOL && !node_truth(n, 1);
  struct exprs *e = b->g->exprs;
  ret->t = dtype->kind == ARG_DTYPE ? dtype->dtype : DTYPE_F32;
  ret->length = node_expr(n, 0);
  ret->turn = NULL;
  if (!dtype_is_float(ret->t)) {
    compose_error(b, n, E1004, "windows are of floating-point numbers");
    return false;
  }
  const struct expr *period = is_symmetric ? expr_addi(e, ret->length, -1) : ret->length;
  if (is_symmetric && period->lo < 1 && !expr_is(period, 0)) {
    compose_error(b, n, E1008, "a symmetric window whose length may be 1, or 0");
    return false;
  }
  struct value *i = build_convert(b, build_iota(b, ret->length, 0, 1), dtype_to_compute(ret->t));
  if (!expr_is(ret->length, 1))
    ret->turn = build_over(b, i, period);
  return true;
}

// A single element is 1.
static void finish(struct build *b, struct node *n, const struct window *w, struct value *v) {
  int64_t length;
  if (!w->turn) {
    n->results[0] = build_full(b, 1, &w->length, 1, w->t);
    return;
  }
  if (!expr_is_const(w->length, &length) && w->length->lo <= 1) {
    struct value *many =
        BUILD(b, OP_IOTA, arg_int(b->g, 1), ARG_E(w->length), arg_int(b->g, 0), ARG_D(DTYPE_I64));
    v = build_where_else(b, build_int(b, OP_NE_TENSOR, many, 1), v, 1);
  }
  n->results[0] = build_convert(b, v, w->t);
}

// The sum of by[k] cos(2 pi k i / period).
static void cosines(struct build *b, struct node *n, unsigned count, const double *by) {
  struct window w;
  if (!begin(b, n, &w))
    return;
  struct value *v = NULL;
  for (unsigned k = 1; k < count && w.turn; k++) {
    struct value *c = build_unop(b, OP_COS, build_scale(b, w.turn, 2 * M_PI * k));
    c = build_scale(b, c, by[k]);
    v = v ? build_add(b, v, c) : compose_more(b, c, by[0]);
  }
  finish(b, n, &w, v);
}

void compose_hann_window(struct build *b, struct node *n) {
  cosines(b, n, 2, (double[]){0.5, -0.5});
}

// window_length periodic alpha beta, of which the first are given
void compose_hamming_window(struct build *b, struct node *n) {
  double by[] = {0.54, 0.46};
  for (unsigned i = 0; i < 2 && 2 + i < FIRST_OF_KEYWORDS(n); i++)
    by[i] = node_real(n, 2 + i);
  cosines(b, n, 2, (double[]){by[0], -by[1]});
}

void compose_blackman_window(struct build *b, struct node *n) {
  cosines(b, n, 3, (double[]){0.42, -0.5, 0.08});
}

// 2 i / period - 1.
static struct value *from_middle(struct build *b, const struct window *w) {
  return w->turn ? compose_more(b, build_scale(b, w->turn, 2), -1) : NULL;
}

void compose_bartlett_window(struct build *b, struct node *n) {
  struct window w;
  if (!begin(b, n, &w))
    return;
  struct value *far = w.turn ? build_unop(b, OP_ABS, from_middle(b, &w)) : NULL;
  finish(b, n, &w, far ? compose_less(b, 1, far) : NULL);
}

// window_length periodic beta: i0(beta sqrt(1 - x^2)) / i0(beta)
void compose_kaiser_window(struct build *b, struct node *n) {
  struct window w;
  double beta = FIRST_OF_KEYWORDS(n) > 2 ? node_real(n, 2) : 12;
  if (!begin(b, n, &w))
    return;
  struct value *x = from_middle(b, &w), *v = NULL;
  if (x) {
    x = build_unop(b, OP_SQRT,
                   build_real(b, OP_MAXIMUM, compose_less(b, 1, build_mul(b, x, x)), 0));
    v = build_unop(b, OP_BESSEL_I0, build_scale(b, x, beta));
    v = build_div(b, v, build_unop(b, OP_BESSEL_I0, build_number(b, beta, v ? v->dtype : w.t)));
  }
  finish(b, n, &w, v);
}

// ---- grids ----

// Coordinates of `size` points from -1 to 1: of their centres, or with the ends on both.
static struct value *points(struct build *b, const struct node *n, const struct expr *size,
                            bool ends, uint32_t dim, uint32_t rank, enum dtype t) {
  int64_t count;
  struct value *i = build_convert(b, build_iota(b, size, dim, rank), t);
  if (!ends) // (2 i + 1) / size - 1
    return compose_more(b, build_over(b, compose_more(b, build_scale(b, i, 2), 1), size), -1);
  if (!expr_is_const(size, &count)) {
    compose_error(b, n, E1008, "`align_corners` with a symbolic size");
    return NULL;
  }
  return count == 1 ? build_scale(b, i, 0)
                    : compose_more(b, build_scale(b, i, 2 / (double)(count - 1)), -1);
}

// theta[N, k, k + 1] size align_corners: the points [N, .., k] of an affine map, x first
void compose_affine_grid(struct build *b, struct node *n) {
  enum { MOST = 3 };
  const struct arg *size;
  uint32_t rank = (uint32_t)node_list(n, 1, &size), k = rank - 2;
  if (X->rank != 3 || rank < 4 || k > MOST || !expr_is(X->shape[1], k) ||
      !expr_is(X->shape[2], k + 1)) {
    compose_error(b, n, E1004, "theta is [N, 2, 3] for 4 sizes, and [N, 3, 4] for 5");
    return;
  }
  struct value *theta = build_up(b, X), *at[MOST + 1], *result[MOST];
  for (uint32_t j = 0; j < k; j++) // x along the last dimension
    at[j] = points(b, n, size[rank - 1 - j].number, node_truth(n, 2), k - j, k + 1, theta->dtype);
  for (uint32_t i = 0; i < k; i++) {
    struct value *row = BUILD(b, OP_SELECT, TENSOR(theta), arg_int(b->g, 1), arg_int(b->g, i));
    result[i] = NULL;
    for (uint32_t j = 0; j <= k; j++) {
      struct value *by = BUILD(b, OP_SELECT, TENSOR(row), arg_int(b->g, 1), arg_int(b->g, j));
      for (uint32_t d = 0; d < k; d++)
        by = build_unsqueeze(b, by, 1);
      struct value *term = j < k ? build_mul(b, by, at[j]) : by;
      result[i] = result[i] ? build_add(b, result[i], term) : term;
    }
  }
  n->results[0] = build_convert(
      b, BUILD(b, OP_STACK, arg_values(b->g, k, result), arg_int(b->g, -1)), X->dtype);
}

// ---- frequencies ----

// n d: those of a transform of n elements, in cycles for a distance of d
void compose_fft_frequencies(struct build *b, struct node *n) {
  bool is_real = operator_row(n->op)->part == OP_FFT_R2C;
  struct exprs *e = b->g->exprs;
  const struct arg *dtype = &n->args[FIRST_OF_KEYWORDS(n)];
  enum dtype t = dtype->kind == ARG_DTYPE ? dtype->dtype : DTYPE_F32;
  const struct expr *size = node_expr(n, 0), *two = compose_const(b, 2);
  const struct expr *count = is_real ? expr_addi(e, expr_floordiv(e, size, two), 1) : size;
  struct value *i = build_iota(b, count, 0, 1);
  if (!is_real) { // the second half is negative
    struct value *behind =
        BUILD(b, OP_GE_TENSOR, TENSOR(i), ARG_E(expr_floordiv(e, expr_addi(e, size, 1), two)));
    i = build_where(b, behind, BUILD(b, OP_SUB_TENSOR, TENSOR(i), ARG_E(size)), i);
  }
  struct value *v = build_over(b, build_convert(b, i, dtype_to_compute(t)), size);
  n->results[0] = build_convert(b, build_scale(b, v, 1 / node_real(n, 1)), t);
}

// self dim: the frequency 0 comes to the middle, or back to the front
void compose_fft_shift(struct build *b, struct node *n) {
  struct dims d;
  if (!compose_dims(b, n, 1, X->rank, &d))
    return;
  struct exprs *e = b->g->exprs;
  const struct expr *by[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < d.count; i++)
    by[i] = expr_floordiv(e, expr_addi(e, X->shape[d.at[i]], n->op == OP_FFT_UNSHIFT),
                          compose_const(b, 2));
  n->results[0] = BUILD(b, OP_ROLL, TENSOR(X), arg_exprs(b->g, d.count, by), dims_arg(b, &d));
}

// ---- short transforms ----

// Are parts of n_fft elements, `hop` apart, with a window of `length`, argument 4, possible?
static bool has_parts(struct build *b, const struct node *n, int64_t n_fft, int64_t hop,
                      const struct expr *length) {
  const struct value *window = node_value(n, 4);
  if (n_fft < 1 || hop < 1)
    compose_error(b, n, E1004, "`n_fft` and `hop_length` must be positive");
  else if (length->lo < 1 || length->hi > n_fft)
    compose_error(b, n, E1004, "`win_length` must be from 1 to `n_fft`, %lld", (long long)n_fft);
  else if (window && (window->rank != 1 || !compose_same_size(b, window->shape[0], length)))
    compose_error(b, n, E1004, "`window` must have one dimension, of `win_length` elements");
  else
    return true;
  return false;
}

// The window in the middle of n_fft elements; NULL for NULL.
static struct value *centred(struct build *b, struct value *window, int64_t n_fft) {
  int64_t have;
  if (!window || !expr_is_const(window->shape[0], &have) || have >= n_fft)
    return window;
  int64_t before = (n_fft - have) / 2;
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(window),
               arg_ints(b->g, 2, (int64_t[]){before, n_fft - have - before}), ARG_F(0));
}

// self n_fft hop_length win_length window normalized onesided return_complex: the transforms of
// overlapping parts, [.., frequency, part]
void compose_stft(struct build *b, struct node *n) {
  int64_t n_fft = node_int(n, 1);
  int64_t hop = node_is_none(n, 2) ? n_fft / 4 : node_int(n, 2);
  struct value *window = node_value(n, 4);
  const struct expr *length = node_is_none(n, 3) ? compose_const(b, n_fft) : node_expr(n, 3);
  if (X->rank < 1 || X->rank > 2) {
    compose_error(b, n, E1004, "`self` has %u dimensions; a signal has 1 or 2", X->rank);
    return;
  }
  if (!has_parts(b, n, n_fft, hop, length))
    return;
  if (!window && !expr_is(length, n_fft)) {
    window = build_full(b, 1, &length, 1, X->dtype);
  }
  uint32_t parts = X->rank - 1;
  struct value *v = BUILD(b, OP_UNFOLD, TENSOR(X), arg_int(b->g, parts), arg_int(b->g, n_fft),
                          arg_int(b->g, hop));
  if (window)
    v = build_mul(b, v, centred(b, window, n_fft));
  struct dims last = dims_one(X->rank);
  v = BUILD(b, OP_FFT_R2C, TENSOR(v), dims_arg(b, &last), arg_int(b->g, node_truth(n, 5)),
            ARG_B(node_is_none(n, 6) || node_truth(n, 6)));
  v = build_swap(b, complex_pairs(b, v), parts, X->rank);
  bool is_complex = !node_is_none(n, 7) && node_truth(n, 7);
  n->results[0] = is_complex ? complex_of_pairs(b, v) : v;
}

// Adds parts [.., part, element] of a signal, `hop` elements apart.
static struct value *overlapped(struct build *b, struct value *parts, const struct expr *length,
                                int64_t n_fft, int64_t hop) {
  if (!parts)
    return NULL;
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d + 2 < parts->rank; d++)
    shape[d] = parts->shape[d];
  shape[parts->rank - 2] = length;
  return BUILD(b, OP_UNFOLD_BACKWARD, TENSOR(parts), arg_exprs(b->g, parts->rank - 1, shape),
               arg_int(b->g, parts->rank - 2), arg_int(b->g, n_fft), arg_int(b->g, hop));
}

// Of a signal, the elements from `start` to `end`; zeros behind it.
static struct value *between(struct build *b, const struct node *n, struct value *x,
                             const struct expr *start, const struct expr *end) {
  if (!x)
    return NULL;
  uint32_t last = x->rank - 1;
  const struct expr *more = expr_sub(b->g->exprs, end, x->shape[last]);
  if (more->hi > 0 && more->lo < 0) {
    compose_error(b, n, E1008, "`length` may be more or less than the parts give");
    return NULL;
  }
  bool is_short = more->lo > 0;
  x = build_slice(b, x, last, start, is_short ? x->shape[last] : end, 1);
  const struct expr *pads[] = {compose_const(b, 0), more};
  return is_short && x ? BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(x), arg_exprs(b->g, 2, pads), ARG_F(0))
                       : x;
}

// self[.., frequency, part] n_fft hop_length win_length window center normalized onesided length
// return_complex: the signal whose parts have these transforms
void complex_istft(struct build *b, struct node *n) {
  int64_t n_fft = node_int(n, 1), hop = node_is_none(n, 2) ? n_fft / 4 : node_int(n, 2);
  struct value *window = node_value(n, 4);
  struct exprs *e = b->g->exprs;
  const struct expr *size = node_is_none(n, 3) ? compose_const(b, n_fft) : node_expr(n, 3);
  if (X->rank < 2 || X->rank > 3 || node_truth(n, 9)) {
    compose_error(b, n, E1004, "transforms need 2 or 3 dimensions, and `return_complex` False");
    return;
  }
  if (!has_parts(b, n, n_fft, hop, size))
    return;
  uint32_t last = X->rank - 1;
  bool is_half = node_is_none(n, 7) ? !expr_is(X->shape[last - 1], n_fft) : node_truth(n, 7);
  struct dims along = dims_one(last);
  struct value *z = BUILD(b, OP_TRANSPOSE, TENSOR(X), arg_int(b->g, -1), arg_int(b->g, -2));
  struct arg norm = arg_int(b->g, node_truth(n, 6) ? 1 : 2);
  if (z && !is_half) // the second half repeats the first
    z = BUILD(b, OP_SLICE, TENSOR(z), arg_int(b->g, -1), arg_int(b->g, 0),
              arg_int(b->g, n_fft / 2 + 1));
  struct value *v =
      z ? BUILD(b, OP_FFT_C2R, TENSOR(z), dims_arg(b, &along), norm, arg_int(b->g, n_fft)) : NULL;
  if (!v)
    return;
  window = centred(b, window ? window : build_full(b, 1, &size, 1, v->dtype), n_fft);
  const struct expr *parts = X->shape[last];
  const struct expr *length = expr_addi(e, expr_muli(e, expr_addi(e, parts, -1), hop), n_fft);
  struct value *signal = overlapped(b, build_mul(b, v, window), length, n_fft, hop);
  const struct expr *shape[] = {parts, compose_const(b, n_fft)};
  struct value *weight =
      overlapped(b, build_expand(b, build_mul(b, window, window), 2, shape), length, n_fft, hop);
  const struct expr *start = compose_const(b, node_truth(n, 5) ? n_fft / 2 : 0);
  const struct expr *end =
      node_is_none(n, 8) ? expr_sub(e, length, start) : expr_add(e, start, node_expr(n, 8));
  // Behind the parts the signal is 0.
  weight = between(b, n, weight, start, end);
  signal = between(b, n, signal, start, end);
  if (expr_sub(e, end, length)->lo > 0)
    weight = build_where_else(b, build_real(b, OP_NE_TENSOR, weight, 0), weight, 1);
  n->results[0] = build_div(b, signal, weight);
}
