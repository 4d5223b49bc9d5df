// SPDX-License-Identifier: Apache-2.0
// The operators of Fourier transforms: several dimensions, norms, halves of real transforms, sizes.
// Lengths may be symbolic.
#include "graph/ir/complex.h"
#include "graph/ir/complex_fft.h"
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)

enum { NORM_NONE, NORM_ROOT, NORM_SIZE }; // 1, 1 / sqrt(n), 1 / n

static struct value *divided(struct build *b, struct value *x, int64_t how,
                             const struct expr *size) {
  int64_t n;
  if (expr_is_const(size, &n))
    return build_scale(b, x, how == NORM_ROOT ? 1 / sqrt((double)n) : 1 / (double)n);
  if (how == NORM_SIZE)
    return build_over(b, x, size);
  struct value *root =
      BUILD(b, OP_IOTA, arg_int(b->g, 1), ARG_E(size), arg_int(b->g, 0), ARG_D(DTYPE_I64));
  return build_div(b, x, build_unop(b, OP_SQRT, build_convert(b, root, x->dtype)));
}

static struct value *normalised(struct build *b, struct value *z, int64_t how,
                                const struct expr *size) {
  if (!z || how == NORM_NONE)
    return z;
  if (z->complex)
    return complex_of_pairs(b, divided(b, complex_pairs(b, z), how, size));
  return divided(b, z, how, size);
}

struct fft {
  uint32_t count, dims[GRAPH_MAX_RANK];
  bool forward;
  int64_t norm;
};

static const struct expr *lengths(struct build *b, const struct fft *f, const struct value *x) {
  const struct expr *size = compose_const(b, 1);
  for (uint32_t i = 0; i < f->count; i++)
    size = expr_mul(b->g->exprs, size, x->shape[f->dims[i]]);
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
    v = complex_fft_along(b, n, v, f->dims[i], f->forward ? -1 : 1);
  return normalised(b, v, f->norm, lengths(b, f, x));
}

// Half of the last dimension determines the rest.
static struct value *real_to_complex(struct build *b, const struct node *n, const struct fft *f,
                                     struct value *x, bool onesided) {
  uint32_t last = f->dims[f->count - 1];
  struct value *v = complex_fft_along(b, n, x, last, f->forward ? -1 : 1);
  if (onesided && v) {
    const struct expr *half =
        expr_addi(b->g->exprs, expr_floordiv(b->g->exprs, x->shape[last], compose_const(b, 2)), 1);
    v = complex_of_pairs(b,
                         build_slice(b, complex_pairs(b, v), last, compose_const(b, 0), half, 1));
  }
  for (uint32_t i = f->count - 1; i-- > 0;)
    v = complex_fft_along(b, n, v, f->dims[i], f->forward ? -1 : 1);
  return normalised(b, v, f->norm, lengths(b, f, x));
}

// The conjugates of the first half of dimension `dim`, in reverse order, follow it.
static struct value *mirrored(struct build *b, struct value *z, uint32_t dim,
                              const struct expr *half, const struct expr *rest) {
  struct exprs *e = b->g->exprs;
  struct value *head = build_slice(b, complex_pairs(b, z), dim, compose_const(b, 0), half, 1);
  if (expr_is(rest, 0))
    return complex_of_pairs(b, head);
  struct value *tail = build_slice(b, head, dim, compose_const(b, 1), expr_addi(e, rest, 1), 1);
  struct value *w = complex_of_pairs(b, BUILD(b, OP_FLIP, TENSOR(tail), arg_int(b->g, dim)));
  w = complex_of_parts(b, complex_real(b, w), build_unop(b, OP_NEG, complex_imag(b, w)));
  struct value *both[] = {complex_of_pairs(b, head), w};
  return BUILD(b, OP_CAT, arg_values(b->g, 2, both), arg_int(b->g, dim));
}

static struct value *complex_to_real(struct build *b, const struct node *n, const struct fft *f,
                                     struct value *z, const struct expr *size) {
  struct exprs *e = b->g->exprs;
  uint32_t last = f->dims[f->count - 1];
  const struct expr *half = expr_addi(e, expr_floordiv(e, size, compose_const(b, 2)), 1);
  if (size->hi < 1 || z->shape[last]->hi < half->lo) {
    compose_error(b, n, E1004, "the last transformed dimension is too short for the results");
    return NULL;
  }
  struct value *v = z;
  const struct expr *length = size;
  for (uint32_t i = 0; i + 1 < f->count; i++) {
    v = complex_fft_along(b, n, v, f->dims[i], f->forward ? -1 : 1);
    length = expr_mul(e, length, z->shape[f->dims[i]]);
  }
  v = v ? mirrored(b, v, last, half, expr_sub(e, size, half)) : NULL;
  v = v ? complex_fft_along(b, n, v, last, f->forward ? -1 : 1) : NULL;
  return normalised(b, complex_real(b, v), f->norm, length);
}

// The dimensions of argument i in their order; all of them for None.
static bool read_dims(struct build *b, const struct node *n, unsigned i, struct fft *ret) {
  const struct arg *list = NULL;
  uint32_t rank = X->rank;
  bool is_seen[GRAPH_MAX_RANK] = {false};
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
    dim += dim < 0 ? rank : 0;
    if (is_seen[dim]) {
      compose_error(b, n, E1004, "dimension %lld is named twice", (long long)dim);
      return false;
    }
    is_seen[dim] = true;
    ret->dims[ret->count++] = (uint32_t)dim;
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
    n->results[0] = down(b, complex_to_real(b, n, &f, up(b, X), node_expr(n, 3)), X->dtype);
}

// ---- torch.fft ----

// Pads dimension `dim` with zeros, or cuts it, to `want`.
static struct value *resized(struct build *b, const struct node *n, struct value *x, uint32_t dim,
                             const struct expr *want) {
  if (!x || x->shape[dim] == want)
    return x;
  const struct expr *more = expr_sub(b->g->exprs, want, x->shape[dim]);
  if (more->hi <= 0)
    return build_slice(b, x, dim, compose_const(b, 0), want, 1);
  if (more->lo < 0) {
    compose_error(b, n, E1008, "dimension %u is resized by symbols: pad it, or cut it", dim);
    return NULL;
  }
  const struct expr *pads[2 * GRAPH_MAX_RANK];
  uint32_t behind = x->rank - 1 - dim, count = 2 * (behind + 1);
  for (uint32_t i = 0; i < count; i++)
    pads[i] = i == 2 * behind + 1 ? more : compose_const(b, 0);
  return BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(x), arg_exprs(b->g, count, pads), ARG_F(0));
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
  struct exprs *e = b->g->exprs;
  struct value *x = up(b, X);
  uint32_t last = f.dims[f.count - 1];
  bool halves = row->part == OP_FFT_C2R;
  const struct expr *size = expr_muli(e, expr_addi(e, X->shape[last], -1), 2);
  for (uint32_t i = 0; i < count && i < f.count; i++) {
    const struct expr *want = sizes[i].number;
    int64_t least;
    if (sizes[i].kind != ARG_INT || (expr_is_const(want, &least) && least < 0))
      continue;
    if (halves && f.dims[i] == last) {
      size = want;
      want = expr_addi(e, expr_floordiv(e, size, compose_const(b, 2)), 1);
    }
    x = resized(b, n, x, f.dims[i], want);
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

// ---- transforms of what is real on the other side ----

static struct arg other_norm(const struct arg *norm) {
  if (norm->kind == ARG_STRING && str_is(norm->string, "ortho"))
    return *norm;
  bool is_forward = norm->kind == ARG_STRING && str_is(norm->string, "forward");
  return (struct arg){.kind = ARG_STRING, .string = is_forward ? STR("backward") : STR("forward")};
}

// An argument that may be None, as a list.
static struct arg as_list(struct build *b, const struct arg *a) {
  return a->kind == ARG_NONE ? *a : arg_exprs(b->g, 1, &a->number);
}

// self n dim norm
void complex_fft_hfft(struct build *b, struct node *n) {
  struct value *z = BUILD(b, OP_CONJ, TENSOR(X));
  if (z)
    n->results[0] = BUILD(b, OP_FFT_IRFFT, TENSOR(z), as_list(b, &n->args[1]),
                          as_list(b, &n->args[2]), other_norm(&n->args[3]));
}

// self n dim norm
void compose_fft_ihfft(struct build *b, struct node *n) {
  struct value *z = BUILD(b, OP_FFT_RFFT, TENSOR(X), as_list(b, &n->args[1]),
                          as_list(b, &n->args[2]), other_norm(&n->args[3]));
  n->results[0] = z ? BUILD(b, OP_CONJ, TENSOR(z)) : NULL;
}
