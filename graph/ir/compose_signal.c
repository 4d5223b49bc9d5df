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

// ---- short transforms ----

// The window in the middle of n_fft elements.
static struct value *centred(struct build *b, struct value *window, int64_t n_fft) {
  int64_t have;
  if (!expr_is_const(window->shape[0], &have) || have >= n_fft)
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
  if (X->rank < 1 || X->rank > 2 || n_fft < 1 || hop < 1 || (window && window->rank != 1)) {
    compose_error(b, n, E1004,
                  "a signal of 1 or 2 dimensions, n_fft, hop_length and a window of 1");
    return;
  }
  if (!window && !node_is_none(n, 3) && node_int(n, 3) != n_fft) {
    const struct expr *length = node_expr(n, 3);
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
