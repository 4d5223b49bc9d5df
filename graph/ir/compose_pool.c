// SPDX-License-Identifier: Apache-2.0
// Composed gradients of average pooling and of upsampling. Each is computed one dimension at a
// time: every position gathers the gradients of the results that it contributed to.
#include "graph/ir/compose.h"

#define X node_value(n, 0)
#define Y node_value(n, 1)

// sum over o of g[.., o, ..] by[o, h]: dimension `dim` of `g` becomes the columns of `by`.
static struct value *collect(struct build *b, struct value *g, uint32_t dim, struct value *by) {
  if (!g || !by)
    return NULL;
  uint32_t rank = g->rank + 1;
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = i == dim ? by->shape[0] : i == dim + 1 ? by->shape[1] : compose_const(b, 1);
  struct dims d = dims_one(dim);
  struct value *all = build_mul(b, build_unsqueeze(b, g, dim + 1), build_view(b, by, rank, shape));
  return build_sum(b, all, &d, false);
}

static struct value *integers(struct build *b, const struct expr *count, int64_t start,
                              int64_t step, bool down) {
  struct value *v =
      BUILD(b, OP_IOTA, ARG_E(count), arg_int(b->g, start), arg_int(b->g, step), ARG_D(DTYPE_I64));
  return build_along(b, v, !down, 2);
}

static struct value *both(struct build *b, struct value *x, struct value *y) {
  return build_binop(b, OP_LOGICAL_AND, x, y);
}

static bool require_image(struct build *b, const struct node *n, const struct value *x) {
  if (x->rank == 3 || x->rank == 4)
    return true;
  compose_error(b, n, E1004, "a tensor of %u dimensions", x->rank);
  return false;
}

static int64_t number(const struct node *n, unsigned i, unsigned k, int64_t none) {
  const struct arg *list;
  size_t count = node_list(n, i, &list);
  int64_t value = none;
  if (count)
    expr_is_const(list[count > 1 ? k : 0].number, &value);
  return value;
}

// ---- average pooling ----

struct windows {
  int64_t size, step, padding;
  bool counts_padding, has_divisor;
};

// 1 / the number of elements in each window, along one dimension.
static struct value *reciprocal_counts(struct build *b, const struct windows *w,
                                       const struct expr *outputs, const struct expr *inputs,
                                       enum dtype t) {
  if (w->has_divisor)
    return NULL;
  struct value *start = integers(b, outputs, -w->padding, w->step, true);
  const struct expr *limit = expr_addi(b->g->exprs, inputs, w->counts_padding ? w->padding : 0);
  struct value *end =
      BUILD(b, OP_MINIMUM, TENSOR(build_int(b, OP_ADD_TENSOR, start, w->size)), ARG_E(limit));
  start = build_int(b, OP_MAXIMUM, start, w->counts_padding ? -w->padding : 0);
  return build_unop(b, OP_RECIPROCAL, build_convert(b, build_sub(b, end, start), t));
}

// The gradient along a dimension: position h is in the windows (h + padding - i) / step, i < size.
static struct value *from_windows(struct build *b, struct value *g, uint32_t dim,
                                  const struct windows *w, const struct expr *inputs) {
  if (!g)
    return NULL;
  const struct expr *outputs = g->shape[dim];
  struct value *by = reciprocal_counts(b, w, outputs, inputs, g->dtype);
  if (by)
    g = build_mul(b, g, build_along(b, build_squeeze(b, by, 1), dim, g->rank));
  struct value *at = build_sub(b, integers(b, inputs, w->padding, 1, false),
                               integers(b, compose_const(b, w->size), 0, 1, true));
  struct value *window = build_int(b, OP_FLOOR_DIVIDE, at, w->step);
  struct value *here = both(b, build_int(b, OP_GE_TENSOR, at, 0),
                            BUILD(b, OP_LT_TENSOR, TENSOR(window), ARG_E(outputs)));
  here =
      both(b, here, build_int(b, OP_EQ_TENSOR, build_int(b, OP_REMAINDER_TENSOR, at, w->step), 0));
  struct value *index = build_int(b, OP_MAXIMUM, window, 0);
  index = BUILD(b, OP_MINIMUM, TENSOR(index), ARG_E(expr_addi(b->g->exprs, outputs, -1)));
  struct value *all = compose_index(b, g, dim, index); // [.., size, inputs, ..]
  if (!all || !here)
    return NULL;
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < all->rank; i++)
    shape[i] = i == dim || i == dim + 1 ? all->shape[i] : compose_const(b, 1);
  struct dims d = dims_one(dim);
  return build_sum(b, build_where_else(b, build_view(b, here, all->rank, shape), all, 0), &d,
                   false);
}

// grad_output self kernel_size stride padding ceil_mode count_include_pad divisor_override
void compose_avg_pool2d_backward(struct build *b, struct node *n) {
  struct value *g = build_up(b, X);
  if (!require_image(b, n, Y) || X->rank != Y->rank)
    return;
  bool has_divisor = !node_is_none(n, 7);
  for (unsigned k = 0; k < 2; k++) {
    struct windows w = {.size = number(n, 2, k, 1),
                        .padding = number(n, 4, k, 0),
                        .counts_padding = node_truth(n, 6),
                        .has_divisor = has_divisor};
    w.step = number(n, 3, k, w.size);
    if (w.step < 1 || w.size < 1) {
      compose_error(b, n, E1004, "windows of size %lld with stride %lld", (long long)w.size,
                    (long long)w.step);
      return;
    }
    uint32_t dim = Y->rank - 2 + k;
    g = from_windows(b, g, dim, &w, Y->shape[dim]);
  }
  if (has_divisor)
    g = build_scale(b, g, 1 / node_real(n, 7));
  n->results[0] = build_convert(b, g, X->dtype);
}

// Window o of O over I elements: [o I / O, (o + 1) I / O), rounded outwards.
static struct value *adaptive_share(struct build *b, const struct expr *outputs,
                                    const struct expr *inputs, enum dtype t) {
  struct value *o = integers(b, outputs, 0, 1, true), *h = integers(b, inputs, 0, 1, false);
  struct value *start =
      BUILD(b, OP_FLOOR_DIVIDE, TENSOR(BUILD(b, OP_MUL_TENSOR, TENSOR(o), ARG_E(inputs))),
            ARG_E(outputs));
  struct value *end = build_int(b, OP_ADD_TENSOR, o, 1);
  end = BUILD(b, OP_MUL_TENSOR, TENSOR(end), ARG_E(inputs));
  end = BUILD(b, OP_ADD_TENSOR, TENSOR(end), ARG_E(expr_addi(b->g->exprs, outputs, -1)));
  end = BUILD(b, OP_FLOOR_DIVIDE, TENSOR(end), ARG_E(outputs));
  struct value *here =
      both(b, build_binop(b, OP_GE_TENSOR, h, start), build_binop(b, OP_LT_TENSOR, h, end));
  struct value *part = build_unop(b, OP_RECIPROCAL, build_convert(b, build_sub(b, end, start), t));
  return build_where_else(b, here, part, 0);
}

// grad_output self
void compose_adaptive_avg_pool2d_backward(struct build *b, struct node *n) {
  struct value *g = build_up(b, X);
  if (!require_image(b, n, Y) || X->rank != Y->rank)
    return;
  for (uint32_t dim = Y->rank - 2; dim < Y->rank && g; dim++) {
    if (expr_is(g->shape[dim], 1)) {
      const struct expr *shape[GRAPH_MAX_RANK];
      for (uint32_t i = 0; i < g->rank; i++)
        shape[i] = i == dim ? Y->shape[dim] : g->shape[i];
      g = build_over(b, build_expand(b, g, g->rank, shape), Y->shape[dim]);
    } else {
      g = collect(b, g, dim, adaptive_share(b, g->shape[dim], Y->shape[dim], g->dtype));
    }
  }
  n->results[0] = build_convert(b, g, X->dtype);
}

// ---- upsampling ----

// Sizes of the small image, and the step in it for one step of the large one.
static bool enlarged(struct build *b, struct node *n, unsigned scale_at, unsigned k,
                     const struct expr **ret_size, double *ret_scale) {
  const struct arg *sizes;
  int64_t small, large;
  if (X->rank != 4 || node_list(n, 2, &sizes) != 4 || !expr_is_const(sizes[2 + k].number, &small) ||
      !expr_is_const(X->shape[2 + k], &large)) {
    compose_error(b, n, E1004, "an image of symbolic size");
    return false;
  }
  *ret_size = sizes[2 + k].number;
  *ret_scale = node_is_none(n, scale_at + k) || node_real(n, scale_at + k) <= 0
                   ? (double)small / (double)large
                   : 1 / node_real(n, scale_at + k);
  return true;
}

// The size after upsampling dimension 2 + k, and the step in the small image.
static bool larger(struct build *b, struct node *n, unsigned k, const struct expr **ret_size,
                   double *ret_scale) {
  const struct arg *sizes, *factors;
  bool is_vec = n->op == OP_UPSAMPLE_NEAREST2D_VEC;
  size_t count = node_is_none(n, 1) ? 0 : node_list(n, 1, &sizes);
  int64_t small, large = 0;
  double factor = 0;
  bool ok = X->rank == 4 && expr_is_const(X->shape[2 + k], &small);
  if (ok && is_vec && !node_is_none(n, 2) && node_list(n, 2, &factors) == 2) {
    struct node one = {.args = (struct arg[]){factors[k]}, .arg_count = 1};
    factor = node_real(&one, 0);
    ok = factor > 0 && (double)small * factor < 0x1p46;
    large = ok ? (int64_t)((double)small * factor) : 0;
  } else if (ok && !is_vec && !node_is_none(n, 2 + k)) {
    factor = node_real(n, 2 + k);
  }
  ok = ok && (count == 2 ? expr_is_const(sizes[k].number, &large) : is_vec);
  if (!ok || large < 1 || small < 1) {
    compose_error(b, n, E1004, "an image of symbolic size");
    return false;
  }
  *ret_size = compose_const(b, large);
  *ret_scale = factor > 0 ? 1 / factor : (double)small / (double)large;
  return true;
}

void compose_upsample_nearest2d(struct build *b, struct node *n) {
  struct value *x = X;
  for (unsigned k = 0; k < 2; k++) {
    const struct expr *size;
    double scale;
    if (!x || !larger(b, n, k, &size, &scale))
      return;
    int64_t times = (int64_t)(1 / scale);
    struct value *from = build_iota(b, size, 0, 1);
    if ((double)times * scale == 1) {
      from = build_int(b, OP_FLOOR_DIVIDE, from, times);
    } else {
      from = build_unop(b, OP_FLOOR, build_scale(b, build_convert(b, from, DTYPE_F32), scale));
      from = build_convert(b, from, DTYPE_I64);
    }
    const struct expr *last = expr_addi(b->g->exprs, x->shape[2 + k], -1);
    x = compose_index(b, x, 2 + k, BUILD(b, OP_MINIMUM, TENSOR(from), ARG_E(last)));
  }
  n->results[0] = x;
}

// grad_output output_size input_size scales_h scales_w
void compose_upsample_nearest2d_backward(struct build *b, struct node *n) {
  struct value *g = build_up(b, X);
  for (unsigned k = 0; k < 2; k++) {
    const struct expr *size;
    double scale;
    if (!enlarged(b, n, 3, k, &size, &scale) || !g)
      return;
    struct value *from = build_convert(b, integers(b, g->shape[2 + k], 0, 1, true), DTYPE_F32);
    from = build_convert(b, build_unop(b, OP_FLOOR, build_scale(b, from, scale)), DTYPE_I64);
    from = BUILD(b, OP_MINIMUM, TENSOR(from), ARG_E(expr_addi(b->g->exprs, size, -1)));
    struct value *here = build_binop(b, OP_EQ_TENSOR, integers(b, size, 0, 1, false), from);
    g = collect(b, g, 2 + k, build_convert(b, here, g->dtype));
  }
  n->results[0] = build_convert(b, g, X->dtype);
}

// The weight of position h of the small image in position o of the large one: 1 - distance.
static struct value *linear_share(struct build *b, const struct expr *outputs,
                                  const struct expr *inputs, double scale, bool corners,
                                  enum dtype t) {
  struct value *o = build_convert(b, integers(b, outputs, 0, 1, true), t);
  if (corners)
    o = build_scale(b, o, scale);
  else
    o = build_real(b, OP_ADD_TENSOR, build_scale(b, build_real(b, OP_ADD_TENSOR, o, 0.5), scale),
                   -0.5);
  o = build_real(b, OP_MAXIMUM, o, 0);
  struct value *last = BUILD(b, OP_FULL, arg_ints(b->g, 0, NULL),
                             ARG_E(expr_addi(b->g->exprs, inputs, -1)), ARG_D(t));
  o = build_binop(b, OP_MINIMUM, o, last);
  struct value *h = build_convert(b, integers(b, inputs, 0, 1, false), t);
  struct value *far = build_unop(b, OP_ABS, build_sub(b, h, o));
  return build_real(b, OP_MAXIMUM, BUILD(b, OP_SUB_TENSOR, ARG_F(1), TENSOR(far)), 0);
}

// grad_output output_size input_size align_corners scales_h scales_w
void compose_upsample_bilinear2d_backward(struct build *b, struct node *n) {
  struct value *g = build_up(b, X);
  bool corners = node_truth(n, 3);
  for (unsigned k = 0; k < 2; k++) {
    const struct expr *size;
    double scale;
    if (!enlarged(b, n, 4, k, &size, &scale) || !g)
      return;
    int64_t small = size->value, large = g->shape[2 + k]->value;
    if (corners)
      scale = large > 1 ? (double)(small - 1) / (double)(large - 1) : 0;
    g = collect(b, g, 2 + k, linear_share(b, g->shape[2 + k], size, scale, corners, g->dtype));
  }
  n->results[0] = build_convert(b, g, X->dtype);
}

// self indices output_size: each element at its position in its plane, zeros elsewhere
void compose_max_unpool2d(struct build *b, struct node *n) {
  const struct arg *size;
  struct value *x = X, *index = node_value(n, 1);
  uint32_t lead = x->rank - 2;
  if ((x->rank != 3 && x->rank != 4) || index->rank != x->rank || node_list(n, 2, &size) != 2) {
    compose_error(b, n, E1004, "a tensor of %u dimensions; it needs 3 or 4", x->rank);
    return;
  }
  const struct expr *from[GRAPH_MAX_RANK], *flat[GRAPH_MAX_RANK], *to[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d < lead; d++)
    from[d] = flat[d] = to[d] = x->shape[d];
  from[lead] = expr_mul(b->g->exprs, x->shape[lead], x->shape[lead + 1]);
  to[lead] = size[0].number, to[lead + 1] = size[1].number;
  flat[lead] = expr_mul(b->g->exprs, to[lead], to[lead + 1]);
  x = BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, lead + 1, from));
  index = BUILD(b, OP_RESHAPE, TENSOR(index), arg_exprs(b->g, lead + 1, from));
  struct value *zeros = build_full(b, lead + 1, flat, 0, X->dtype);
  if (x && index && zeros)
    zeros = BUILD(b, OP_SCATTER_SRC, TENSOR(zeros), arg_int(b->g, lead), TENSOR(index), TENSOR(x));
  n->results[0] = zeros ? BUILD(b, OP_RESHAPE, TENSOR(zeros), arg_exprs(b->g, lead + 2, to)) : NULL;
}
