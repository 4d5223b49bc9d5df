// SPDX-License-Identifier: Apache-2.0
// Images and volumes at given points (grid_sample), and the gradients. A point lies between the
// corners of a cell; its value is their mean, weighted by the distances (torch/_decomp,
// _grid_sampler_2d).
#include "graph/ir/compose.h"

#define X node_value(n, 0)

enum { ZEROS, BORDER, REFLECTION };
enum { BILINEAR, NEAREST, BICUBIC };
enum { MAX_SIDES = 3 };

struct grid {
  struct build *b;
  const struct value *shape;          // of the image
  const struct expr *size[MAX_SIDES]; // width, height, depth
  const struct expr *flat[3];         // N, C, elements of an image
  const struct expr *points[3];       // N, C, points
  struct value *where[MAX_SIDES];     // [N, 1, points]: in elements, before padding
  struct value *at[MAX_SIDES];        // and after
  uint32_t sides;
  int64_t mode, padding;
  bool corners;
  enum dtype t;
};

static struct value *extent(struct grid *g, uint32_t k, int64_t more) {
  return BUILD(g->b, OP_FULL, arg_ints(g->b->g, 0, NULL),
               ARG_E(expr_addi(g->b->g->exprs, g->size[k], more)), ARG_D(g->t));
}

static struct value *both(struct build *b, struct value *x, struct value *y) {
  return x ? build_binop(b, OP_LOGICAL_AND, x, y) : y;
}

// ---- positions ----

// -1 and 1 are the image's borders, or the centres of its first and last element.
static struct value *position(struct grid *g, struct value *at, uint32_t k) {
  struct build *b = g->b;
  at = compose_more(b, at, 1);
  if (g->corners)
    return build_mul(b, build_scale(b, at, 0.5), extent(g, k, -1));
  return build_scale(b, compose_more(b, build_mul(b, at, extent(g, k, 0)), -1), 0.5);
}

static struct value *clipped(struct grid *g, struct value *at, uint32_t k) {
  at = build_real(g->b, OP_MAXIMUM, at, 0);
  return build_binop(g->b, OP_MINIMUM, at, extent(g, k, -1));
}

// Reflected at the border, or at the centres of the border's elements. `ret_odd`: how often, modulo
// two.
static struct value *reflected(struct grid *g, struct value *at, uint32_t k,
                               struct value **ret_odd) {
  struct build *b = g->b;
  double low = g->corners ? 0 : -0.5;
  struct value *span = extent(g, k, g->corners ? -1 : 0);
  span = build_real(b, OP_MAXIMUM, span, g->corners && expr_is(g->size[k], 1) ? 1 : 0);
  struct value *far = build_unop(b, OP_ABS, compose_more(b, at, -low));
  struct value *flips = build_unop(b, OP_FLOOR, build_div(b, far, span));
  struct value *rest = build_binop(b, OP_FMOD_TENSOR, far, span);
  *ret_odd = build_real(b, OP_EQ_TENSOR, build_real(b, OP_REMAINDER_TENSOR, flips, 2), 1);
  return compose_more(b, build_where(b, *ret_odd, build_sub(b, span, rest), rest), low);
}

static struct value *padded(struct grid *g, struct value *at, uint32_t k) {
  struct value *odd;
  return g->padding == BORDER       ? clipped(g, at, k)
         : g->padding == REFLECTION ? clipped(g, reflected(g, at, k, &odd), k)
                                    : at;
}

// The derivative of the padded position by the grid's coordinate. PyTorch's is 0 where a position
// is clipped, also if it is exactly at the end.
static struct value *slope(struct grid *g, uint32_t k) {
  struct build *b = g->b;
  struct value *by = build_scale(b, extent(g, k, g->corners ? -1 : 0), 0.5), *at = g->where[k];
  if (g->padding == REFLECTION) {
    struct value *odd;
    struct value *before = build_real(b, OP_LT_TENSOR, at, g->corners ? 0 : -0.5);
    at = reflected(g, at, k, &odd);
    by = build_where(b, build_binop(b, OP_NE_TENSOR, odd, before), build_unop(b, OP_NEG, by), by);
  }
  if (g->padding == ZEROS)
    return by;
  struct value *within = both(b, build_real(b, OP_GT_TENSOR, at, 0),
                              build_binop(b, OP_LT_TENSOR, at, extent(g, k, -1)));
  return build_where_else(b, within, by, 0);
}

static struct value *coordinate(struct build *b, struct value *grid, uint32_t k, enum dtype t,
                                const struct expr *points) {
  struct value *at = BUILD(b, OP_SELECT, TENSOR(grid), arg_int(b->g, -1), arg_int(b->g, k));
  const struct expr *shape[] = {grid->shape[0], compose_const(b, 1), points};
  return build_convert(b, BUILD(b, OP_RESHAPE, TENSOR(at), arg_exprs(b->g, 3, shape)), t);
}

// `image`, `grid` and three numbers, from argument `first` on.
static bool begin(struct build *b, const struct node *n, unsigned first, struct grid *g) {
  const struct value *image = node_value(n, first);
  struct value *grid = node_value(n, first + 1);
  uint32_t sides = image->rank - 2;
  *g = (struct grid){.b = b,
                     .shape = image,
                     .sides = sides,
                     .mode = node_int(n, first + 2),
                     .padding = node_int(n, first + 3),
                     .corners = node_truth(n, first + 4),
                     .t = dtype_to_compute(image->dtype)};
  if ((image->rank != 4 && image->rank != 5) || grid->rank != image->rank ||
      !expr_is(grid->shape[sides + 1], sides) || g->mode < 0 ||
      g->mode > (sides == 2 ? BICUBIC : NEAREST) || g->padding < 0 || g->padding > REFLECTION) {
    compose_error(b, n, E1004,
                  "an image of %u dimensions and a grid of %u; both need 4, or 5 for volumes, the "
                  "grid as many coordinates as there are sides",
                  image->rank, grid->rank);
    return false;
  }
  const struct expr *points = expr_product(b->g->exprs, grid->shape + 1, sides);
  for (uint32_t i = 0; i < 2; i++)
    g->flat[i] = g->points[i] = image->shape[i];
  g->flat[2] = expr_product(b->g->exprs, image->shape + 2, sides);
  g->points[2] = points;
  for (uint32_t k = 0; k < sides; k++) {
    g->size[k] = image->shape[1 + sides - k];
    g->where[k] = position(g, coordinate(b, grid, k, g->t, points), k);
    g->at[k] = padded(g, g->where[k], k);
  }
  return true;
}

// ---- elements ----

// The elements at whole positions: their indices in an image, and whether they are in it.
struct elements {
  struct value *index, *inside; // [N, 1, points]
};

static struct elements elements_at(struct grid *g, struct value *const *at) {
  struct build *b = g->b;
  struct elements e = {NULL, NULL};
  for (uint32_t k = g->sides; k-- > 0;) {
    struct value *in = both(b, build_real(b, OP_GE_TENSOR, at[k], 0),
                            build_binop(b, OP_LE_TENSOR, at[k], extent(g, k, -1)));
    struct value *i = build_convert(b, clipped(g, at[k], k), DTYPE_I64);
    e.inside = both(b, e.inside, in);
    e.index =
        e.index ? build_add(b, BUILD(b, OP_MUL_TENSOR, TENSOR(e.index), ARG_E(g->size[k])), i) : i;
  }
  return e;
}

// 0 outside.
static struct value *fetch(struct grid *g, struct value *image, const struct elements *e) {
  struct build *b = g->b;
  struct value *index = build_expand(b, e->index, 3, g->points);
  struct value *v = BUILD(b, OP_GATHER, TENSOR(image), arg_int(b->g, 2), TENSOR(index));
  return build_where_else(b, e->inside, v, 0);
}

// A corner of the cell: bit k is the end along side k.
struct corner {
  struct elements of;
  struct value *weight, *slopes[MAX_SIDES]; // derivatives of the weight by the position
};

static struct corner corner(struct grid *g, unsigned bits) {
  struct build *b = g->b;
  struct value *at[MAX_SIDES], *share[MAX_SIDES];
  struct corner c = {.weight = NULL};
  for (uint32_t k = 0; k < g->sides; k++) {
    struct value *low = build_unop(b, OP_FLOOR, g->at[k]), *part = build_sub(b, g->at[k], low);
    bool end = bits >> k & 1;
    at[k] = compose_more(b, low, end);
    share[k] = end ? part : compose_less(b, 1, part);
    c.weight = c.weight ? build_mul(b, c.weight, share[k]) : share[k];
  }
  for (uint32_t k = 0; k < g->sides; k++) {
    struct value *v = NULL;
    for (uint32_t j = 0; j < g->sides; j++)
      if (j != k)
        v = v ? build_mul(b, v, share[j]) : share[j];
    c.slopes[k] = bits >> k & 1 ? v : build_unop(b, OP_NEG, v);
  }
  c.of = elements_at(g, at);
  return c;
}

static struct elements nearest(struct grid *g) {
  struct value *at[MAX_SIDES];
  for (uint32_t k = 0; k < g->sides; k++)
    at[k] = build_unop(g->b, OP_ROUND, g->at[k]);
  return elements_at(g, at);
}

// ---- values ----

static struct value *reshaped(struct build *b, struct value *x, const struct expr *const *shape) {
  x = build_up(b, x);
  return x ? BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, 3, shape)) : NULL;
}

static struct value *linear(struct grid *g, struct value *image) {
  struct build *b = g->b;
  struct value *sum = NULL;
  for (unsigned i = 0; i < 1u << g->sides; i++) {
    struct corner c = corner(g, i);
    struct value *v = build_mul(b, fetch(g, image, &c.of), c.weight);
    sum = sum ? build_add(b, sum, v) : v;
  }
  return sum;
}

static struct value *cubic(struct grid *g, struct value *image) {
  struct build *b = g->b;
  struct value *sum = NULL, *low[2], *part[2];
  for (uint32_t k = 0; k < 2; k++) { // each element is padded by itself
    low[k] = build_unop(b, OP_FLOOR, g->where[k]);
    part[k] = build_sub(b, g->where[k], low[k]);
  }
  for (int i = -1; i < 3; i++)
    for (int j = -1; j < 3; j++) {
      struct value *at[] = {padded(g, compose_more(b, low[0], j), 0),
                            padded(g, compose_more(b, low[1], i), 1)};
      struct elements e = elements_at(g, at);
      struct value *weight =
          build_mul(b, compose_cubic_weight(b, compose_more(b, part[0], -j), -0.75),
                    compose_cubic_weight(b, compose_more(b, part[1], -i), -0.75));
      struct value *v = build_mul(b, fetch(g, image, &e), weight);
      sum = sum ? build_add(b, sum, v) : v;
    }
  return sum;
}

// input [N, C, H, W], grid [N, H', W', 2], interpolation_mode, padding_mode, align_corners
void compose_grid_sampler(struct build *b, struct node *n) {
  struct grid g;
  if (!begin(b, n, 0, &g))
    return;
  struct value *image = reshaped(b, X, g.flat);
  struct elements e;
  struct value *v = g.mode == NEAREST    ? (e = nearest(&g), fetch(&g, image, &e))
                    : g.mode == BILINEAR ? linear(&g, image)
                                         : cubic(&g, image);
  const struct expr *shape[GRAPH_MAX_RANK] = {X->shape[0], X->shape[1]};
  for (uint32_t k = 0; k < g.sides; k++)
    shape[2 + k] = node_value(n, 1)->shape[1 + k];
  n->results[0] = build_convert(b, build_view(b, v, X->rank, shape), X->dtype);
}

// ---- gradients ----

static struct value *scatter(struct grid *g, struct value *sum, const struct elements *e,
                             struct value *v) {
  struct build *b = g->b;
  struct value *index = build_expand(b, e->index, 3, g->points);
  v = build_where_else(b, e->inside, v, 0);
  return sum && index && v
             ? BUILD(b, OP_SCATTER_ADD, TENSOR(sum), arg_int(b->g, 2), TENSOR(index), TENSOR(v))
             : NULL;
}

// The gradient of each coordinate, [N, .., sides].
static struct value *through_weights(struct grid *g, struct value *grad, struct value *image,
                                     const struct value *grid) {
  struct build *b = g->b;
  struct value *sums[MAX_SIDES] = {NULL};
  struct dims channels = dims_one(1);
  for (unsigned i = 0; i < 1u << g->sides; i++) {
    struct corner c = corner(g, i);
    struct value *v = build_mul(b, grad, fetch(g, image, &c.of));
    v = build_sum(b, v, &channels, true);
    for (uint32_t k = 0; k < g->sides; k++) {
      struct value *term = build_mul(b, v, c.slopes[k]);
      sums[k] = sums[k] ? build_add(b, sums[k], term) : term;
    }
  }
  for (uint32_t k = 0; k < g->sides; k++) {
    sums[k] = build_mul(b, sums[k], slope(g, k));
    sums[k] = build_view(b, sums[k], grid->rank - 1, grid->shape);
    if (!sums[k])
      return NULL;
  }
  return BUILD(b, OP_STACK, arg_values(b->g, g->sides, sums), arg_int(b->g, -1));
}

static bool is_wanted(const struct node *n, unsigned i) {
  const struct arg *list;
  return node_list(n, 6, &list) <= i || list[i].truth;
}

// grad_output input grid interpolation_mode padding_mode align_corners output_mask
void compose_grid_sampler_backward(struct build *b, struct node *n) {
  struct grid g;
  const struct value *input = node_value(n, 1), *grid = node_value(n, 2);
  if (!begin(b, n, 1, &g))
    return;
  if (g.mode == BICUBIC) {
    compose_error(b, n, E1008, "the gradient of bicubic samples: use bilinear ones");
    return;
  }
  struct value *grad = reshaped(b, X, g.points);
  if (is_wanted(n, 0)) {
    struct value *sum = build_full(b, 3, g.flat, 0, g.t);
    struct elements e = nearest(&g);
    if (g.mode == NEAREST)
      sum = scatter(&g, sum, &e, grad);
    for (unsigned i = 0; g.mode == BILINEAR && i < 1u << g.sides; i++) {
      struct corner c = corner(&g, i);
      sum = scatter(&g, sum, &c.of, build_mul(b, grad, c.weight));
    }
    n->results[0] = build_convert(b, build_view(b, sum, input->rank, input->shape), input->dtype);
  }
  if (!is_wanted(n, 1))
    return;
  struct value *image = reshaped(b, node_value(n, 1), g.flat);
  n->results[1] = g.mode == NEAREST
                      ? build_full(b, grid->rank, grid->shape, 0, grid->dtype)
                      : build_convert(b, through_weights(&g, grad, image, grid), grid->dtype);
}
