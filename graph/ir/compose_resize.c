// SPDX-License-Identifier: Apache-2.0
// Composed resizing of images: along each dimension a result is a weighted sum of a few elements,
// its taps, whose positions and weights are computed from its own position.
#include "graph/ir/compose.h"
#include "graph/ir/sizes.h"

#include <math.h>

#define X node_value(n, 0)

enum { MAX_TAPS = 4096 };

// Positions and weights [outputs, taps] along one dimension.
struct taps {
  struct value *at, *weight; // weight NULL: 1
};

struct resize {
  const struct expr *in, *out;
  double scale;       // the step in the input for one step of the output; 0: known at run time
  struct value *step; // the same, if it is known at run time only; else NULL
  bool corners, exact;
  enum dtype t;
};

// ---- positions ----

// Where each output, moved by the offset, lies in the input.
static struct value *outputs(struct build *b, const struct resize *r, double offset) {
  struct value *o = build_iota(b, r->out, 0, 2);
  o = compose_more(b, build_convert(b, o, r->t), offset);
  return r->step ? build_mul(b, o, r->step) : build_scale(b, o, r->scale);
}

static struct value *taps_row(struct build *b, int64_t first, int64_t count) {
  struct value *v = BUILD(b, OP_IOTA, arg_int(b->g, count), arg_int(b->g, first), arg_int(b->g, 1),
                          ARG_D(DTYPE_I64));
  return build_along(b, v, 1, 2);
}

static struct value *clamped(struct build *b, struct value *at, const struct expr *size) {
  return BUILD(b, OP_MINIMUM, TENSOR(build_int(b, OP_MAXIMUM, at, 0)),
               ARG_E(expr_addi(b->g->exprs, size, -1)));
}

static struct taps nearest(struct build *b, const struct resize *r) {
  struct value *at = outputs(b, r, r->exact ? 0.5 : 0);
  at = build_convert(b, build_unop(b, OP_FLOOR, at), DTYPE_I64);
  return (struct taps){.at = clamped(b, at, r->in)};
}

// The source position of each output.
static struct value *source(struct build *b, const struct resize *r) {
  if (r->corners)
    return outputs(b, r, 0);
  return compose_more(b, outputs(b, r, 0.5), -0.5);
}

static struct taps linear(struct build *b, const struct resize *r) {
  struct value *at = build_real(b, OP_MAXIMUM, source(b, r), 0);
  struct value *floor = build_unop(b, OP_FLOOR, at), *part = build_sub(b, at, floor);
  struct value *tap = taps_row(b, 0, 2); // weights 1 - part, part
  struct value *first = build_int(b, OP_EQ_TENSOR, tap, 0);
  struct value *at0 = build_convert(b, floor, DTYPE_I64);
  return (struct taps){clamped(b, build_add(b, at0, tap), r->in),
                       build_where(b, first, compose_less(b, 1, part), part)};
}

// Keys, "Cubic convolution interpolation for digital image processing", 1981, with parameter a.
struct value *compose_cubic_weight(struct build *b, struct value *x, double a) {
  struct value *d = build_unop(b, OP_ABS, x);
  // ((a + 2) d - (a + 3)) d d + 1 for d <= 1; ((a d - 5 a) d + 8 a) d - 4 a for d < 2
  struct value *near = compose_more(b, build_scale(b, d, a + 2), -(a + 3));
  near = compose_more(b, build_mul(b, build_mul(b, near, d), d), 1);
  struct value *far = compose_more(b, build_scale(b, d, a), -5 * a);
  far = compose_more(b, build_mul(b, far, d), 8 * a);
  far = compose_more(b, build_mul(b, far, d), -4 * a);
  far = build_where_else(b, build_real(b, OP_LT_TENSOR, d, 2), far, 0);
  return build_where(b, build_real(b, OP_LE_TENSOR, d, 1), near, far);
}

static struct taps cubic(struct build *b, const struct resize *r) {
  struct value *at = source(b, r), *floor = build_unop(b, OP_FLOOR, at);
  struct value *tap = taps_row(b, -1, 4);
  struct value *far = build_sub(b, build_sub(b, at, floor), build_convert(b, tap, r->t));
  struct value *from = build_add(b, build_convert(b, floor, DTYPE_I64), tap);
  return (struct taps){clamped(b, from, r->in), compose_cubic_weight(b, far, -0.75)};
}

// The filter is stretched by the scale where the image becomes smaller; weights sum to 1.
static struct taps antialiased(struct build *b, const struct resize *r, double reach,
                               bool is_cubic) {
  double stretch = r->scale > 1 ? r->scale : 1, support = reach * stretch;
  int64_t count = 2 * (int64_t)ceil(support) + 1;
  struct value *center = outputs(b, r, 0.5);
  struct value *low = build_unop(b, OP_TRUNC, compose_more(b, center, 0.5 - support));
  struct value *high = build_unop(b, OP_TRUNC, compose_more(b, center, 0.5 + support));
  low = build_real(b, OP_MAXIMUM, low, 0);
  high = BUILD(b, OP_MINIMUM, TENSOR(high), ARG_E(r->in));
  struct value *at = build_add(b, low, build_convert(b, taps_row(b, 0, count), r->t));
  struct value *far = build_scale(b, compose_more(b, build_sub(b, at, center), 0.5), 1 / stretch);
  struct value *weight =
      is_cubic ? compose_cubic_weight(b, far, -0.5)
               : build_real(b, OP_MAXIMUM, compose_less(b, 1, build_unop(b, OP_ABS, far)), 0);
  weight = build_where_else(b, build_binop(b, OP_LT_TENSOR, at, high), weight, 0);
  struct dims last = dims_one(1);
  weight = build_div(b, weight, build_sum(b, weight, &last, true));
  return (struct taps){clamped(b, build_convert(b, at, DTYPE_I64), r->in), weight};
}

// ---- the operators ----

// Dimension `dim` of x, resampled.
static struct value *resample(struct build *b, struct value *x, uint32_t dim, struct taps taps) {
  if (!taps.weight)
    return compose_index(b, x, dim, build_squeeze(b, taps.at, 1));
  struct value *all = compose_index(b, x, dim, taps.at); // [.., out, taps, ..]
  if (!all || !taps.weight)
    return NULL;
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < all->rank; d++)
    shape[d] = d == dim || d == dim + 1 ? all->shape[d] : compose_const(b, 1);
  struct dims along = dims_one(dim + 1);
  return build_sum(b, build_mul(b, all, build_view(b, taps.weight, all->rank, shape)), &along,
                   false);
}

static bool number_of(const struct arg *a, double *ret) {
  struct node one = {.args = (struct arg[]){*a}, .arg_count = 1};
  *ret = node_real(&one, 0);
  return *ret > 0;
}

// A size as a number of the graph.
static struct value *size_as(struct build *b, const struct expr *size, int64_t more, enum dtype t) {
  return BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL), ARG_E(expr_addi(b->g->exprs, size, more)),
               ARG_D(t));
}

// `factor`: 0 if the call names none.
static void find_scale(struct build *b, struct resize *r, double factor) {
  int64_t in, out;
  if (factor > 0 && !r->corners) {
    r->scale = 1 / factor;
  } else if (expr_is_const(r->in, &in) && expr_is_const(r->out, &out)) {
    r->scale = (double)in / (double)out;
    if (r->corners)
      r->scale = out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
  } else {
    int64_t more = r->corners ? -1 : 0;
    struct value *under = build_real(b, OP_MAXIMUM, size_as(b, r->out, more, r->t), 1);
    r->step = build_div(b, size_as(b, r->in, more, r->t), under);
  }
}

// Dimension k of the image. self output_size [align_corners] scales..; self output_size?
// [align_corners] scale_factors?
static bool read_size(struct build *b, const struct node *n, uint32_t k, uint32_t space,
                      bool smooth, struct resize *ret) {
  const struct arg *sizes = NULL, *factors = NULL;
  unsigned next = smooth ? 3 : 2;
  size_t count = node_list(n, 1, &sizes);
  bool is_vec = strstr(operator_row(n->op)->name, ".vec") != NULL;
  double factor = 0;
  if (is_vec && node_list(n, next, &factors) == space)
    number_of(&factors[k], &factor);
  else if (!is_vec && next + k < n->arg_count && !node_is_none(n, next + k))
    number_of(&n->args[next + k], &factor);
  ret->in = X->shape[X->rank - space + k];
  ret->out =
      count == space ? sizes[k].number : graph_scaled_size(b->g, ret->in, factor, false, b->at);
  if (!ret->out || ret->out->hi < 1 || ret->in->hi < 1) {
    compose_error(b, n, E1004,
                  "the image's sides after it are not known, or are 0: give `output_size`");
    return false;
  }
  ret->corners = smooth && node_truth(n, 2);
  find_scale(b, ret, factor);
  return true;
}

static struct taps taps_of(struct build *b, const char *name, const struct resize *r) {
  bool is_cubic = strstr(name, "cubic");
  if (strstr(name, "nearest"))
    return nearest(b, r);
  if (strstr(name, "_aa."))
    return antialiased(b, r, is_cubic ? 2 : 1, is_cubic);
  return is_cubic ? cubic(b, r) : linear(b, r);
}

void compose_resize(struct build *b, struct node *n) {
  const char *name = operator_row(n->op)->name;
  const char *digit = strpbrk(name, "123");
  uint32_t space = digit ? (uint32_t)(*digit - '0') : 0;
  bool smooth = !strstr(name, "nearest");
  if (X->rank != space + 2) {
    compose_error(b, n, E1004, "a tensor of %u dimensions; it needs %u", X->rank, space + 2);
    return;
  }
  struct value *x = smooth ? build_up(b, X) : X;
  for (uint32_t k = space; k-- > 0 && x;) {
    struct resize r = {.exact = strstr(name, "exact"),
                       .t = dtype_is_float(x->dtype) ? dtype_to_compute(x->dtype) : DTYPE_F32};
    if (!read_size(b, n, k, space, smooth, &r))
      return;
    if (r.step && strstr(name, "_aa.")) {
      compose_error(b, n, E1004, "a symbolic size: give `scale_factor`");
      return;
    }
    if (r.scale * 5 > MAX_TAPS) {
      compose_error(b, n, E1009, "an image made %g times smaller", r.scale);
      return;
    }
    x = resample(b, x, X->rank - space + k, taps_of(b, name, &r));
  }
  n->results[0] = build_convert(b, x, X->dtype);
}
