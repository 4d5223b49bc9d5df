// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients as implicit matrix products (without im2col): the operand is an
// expression tree that computes the offset of its element, masked in the padding. Groups are the
// batch.
#include "graph/loops/loops_internal.h"

enum { MAX_SPATIAL = 3 };

// The coordinates of the product: image, group, channel of the output and of the input within the
// group, position (of the output; for its gradient, of the input), filter tap.
enum {
  IMAGE,
  GROUP,
  OUT_CHANNEL,
  IN_CHANNEL,
  SPACE,
  TAP = SPACE + MAX_SPATIAL,
  COORDINATES = TAP + MAX_SPATIAL
};

struct convolution {
  enum operator_id op;
  uint32_t spatial;
  const struct value *grad, *x, *w; // one of them is the result
  const struct expr *stride[MAX_SPATIAL], *padding[MAX_SPATIAL], *dilation[MAX_SPATIAL];
  const struct expr *sizes[COORDINATES];
  // Coordinates of each side; of products that are computed side by side.
  unsigned m[COORDINATES], n[COORDINATES], k[COORDINATES], batch[COORDINATES];
  uint32_t m_count, n_count, k_count, batch_count;
  bool is_depthwise;        // a channel of the result from one of the operand, not of the weights
  bool has_channels_inside; // of images, without groups: next to each other in memory
  struct buffer *x_copy, *grad_copy; // NULL, or images whose channels are
  const struct expr *at[COORDINATES];
};

static void read_list(const struct node *n, unsigned i, uint32_t count, const struct expr **ret) {
  const struct arg *list;
  size_t have = node_list(n, i, &list);
  for (uint32_t d = 0; d < count; d++)
    ret[d] = list[have == 1 ? 0 : d].number;
}

static void add(unsigned *list, uint32_t *count, unsigned first, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    list[(*count)++] = first + i;
}

// What k walks over: channels of each tap if they lie next to each other, so that loads are wide;
// else taps of each channel.
static void choose_inner(struct convolution *c, unsigned channels) {
  uint32_t s = c->spatial;
  if (c->has_channels_inside)
    add(c->k, &c->k_count, TAP, s);
  add(c->k, &c->k_count, channels, 1);
  if (!c->has_channels_inside)
    add(c->k, &c->k_count, TAP, s);
}

static void choose_sides(struct convolution *c) {
  uint32_t s = c->spatial;
  add(c->batch, &c->batch_count, GROUP, 1);
  switch (c->op) {
  case OP_CONVOLUTION:
    add(c->m, &c->m_count, IMAGE, 1);
    add(c->m, &c->m_count, SPACE, s);
    add(c->n, &c->n_count, OUT_CHANNEL, 1);
    choose_inner(c, IN_CHANNEL);
    return;
  case OP_CONVOLUTION_GRAD_INPUT:
    add(c->m, &c->m_count, IMAGE, 1);
    add(c->m, &c->m_count, SPACE, s);
    add(c->n, &c->n_count, IN_CHANNEL, 1);
    choose_inner(c, OUT_CHANNEL);
    return;
  default: // each tap by itself if the channels lie next to each other
    add(c->m, &c->m_count, OUT_CHANNEL, 1);
    add(c->n, &c->n_count, IN_CHANNEL, 1);
    if (c->has_channels_inside)
      add(c->batch, &c->batch_count, TAP, s);
    else
      add(c->n, &c->n_count, TAP, s);
    add(c->k, &c->k_count, IMAGE, 1);
    add(c->k, &c->k_count, SPACE, s);
  }
}

struct channels {
  struct builder *b;
  const struct expr *axis;
  bool are_inside;
};

static void note_channels(void *user, const struct scalar *load) {
  struct channels *x = user;
  const struct expr *stride, *rest;
  x->are_inside &= expr_linear(x->b->x, load->index, x->axis, &stride, &rest) && expr_is(stride, 1);
}

// Are the channels of the image next to each other, in vectors of 16 bytes?
static bool has_channels_inside(struct builder *b, const struct value *v) {
  enum { VECTOR_BITS = 128 };
  const struct expr *at[2 + MAX_SPATIAL];
  for (uint32_t d = 0; d < v->rank; d++)
    at[d] = loops_axis(b, 'x', d, v->shape[d]);
  struct channels x = {b, at[1], true};
  scalar_loads(loops_element(b, v, at), note_channels, &x);
  return x.are_inside && expr_is_multiple(v->shape[1], VECTOR_BITS / dtype_bits(v->dtype));
}

// The image with its channels next to each other, computed once.
static struct buffer *image_copy(struct builder *b, const struct node *n, const struct value *v) {
  struct buffer **copy = &b->images[v->id];
  if (*copy)
    return *copy;
  const struct expr *at[2 + MAX_SPATIAL], *axes[2 + MAX_SPATIAL], *shape[2 + MAX_SPATIAL];
  for (uint32_t i = 0; i < v->rank; i++) {
    uint32_t d = i == 0 ? 0 : i + 1 < v->rank ? i + 1 : 1;
    shape[i] = v->shape[d];
    at[d] = axes[i] = loops_axis(b, 'x', i, shape[i]);
  }
  struct stage *s = loops_stage(b, STAGE_MAP, n);
  loops_add_axes(b, s, v->rank, axes, false);
  s->body = loops_element(b, v, at);
  s->dtype = s->body->dtype;
  s->out = loops_buffer(b, BUFFER_TEMP, 0, NULL, arena_printf(b->arena, "%s_copy", v->name),
                        v->dtype, expr_product(b->x, shape, v->rank));
  s->offset = loops_dot(b, v->rank, axes, contiguous_strides(b->x, b->arena, v->rank, shape));
  vec_push(b->arena, &s->origins, "clone");
  return *copy = s->out;
}

// NULL and true: the channels lie next to each other. Else a copy where they do, if one pays.
static bool find_image(struct builder *b, const struct node *n, const struct value *v,
                       struct buffer **ret) {
  enum { LEAST_CHANNELS = 16, VECTOR = 8 };
  *ret = NULL;
  if (has_channels_inside(b, v))
    return true;
  if (!b->g->stores_channels_last || dtype_bits(v->dtype) != 16 ||
      !expr_is_multiple(v->shape[1], VECTOR) || v->shape[1]->lo < LEAST_CHANNELS)
    return false;
  *ret = image_copy(b, n, v);
  return true;
}

// Images that the products read.
static bool find_images(struct builder *b, const struct node *n, struct convolution *c) {
  bool x = n->op == OP_CONVOLUTION_GRAD_INPUT || find_image(b, n, c->x, &c->x_copy);
  return x && (n->op == OP_CONVOLUTION || find_image(b, n, c->grad, &c->grad_copy));
}

static bool read_convolution(struct builder *b, const struct node *n, struct convolution *c) {
  *c = (struct convolution){.op = n->op};
  struct value *result = n->results[0];
  bool forward = n->op == OP_CONVOLUTION, for_input = n->op == OP_CONVOLUTION_GRAD_INPUT;
  unsigned lists = forward ? 3 : 3;
  if (forward && (node_value(n, 2) || node_truth(n, 6)))
    return loops_refuse(b, n, "it should have been decomposed");
  c->x = forward ? node_value(n, 0) : for_input ? result : node_value(n, 2);
  c->w = forward ? node_value(n, 1) : for_input ? node_value(n, 2) : result;
  c->grad = forward ? result : node_value(n, 0);
  if (c->x->rank < 3 || c->x->rank > 2 + MAX_SPATIAL)
    return loops_refuse(b, n, "%u dimensions, not 3 to 5", (unsigned)c->x->rank);
  c->spatial = c->x->rank - 2;
  read_list(n, lists, c->spatial, c->stride);
  read_list(n, lists + 1, c->spatial, c->padding);
  read_list(n, lists + 2, c->spatial, c->dilation);
  const struct expr *groups = node_expr(n, forward ? 8 : 6);
  c->sizes[IMAGE] = c->x->shape[0];
  c->sizes[GROUP] = groups;
  c->sizes[OUT_CHANNEL] = expr_floordiv(b->x, c->w->shape[0], groups);
  c->sizes[IN_CHANNEL] = c->w->shape[1];
  for (uint32_t d = 0; d < c->spatial; d++) {
    c->sizes[SPACE + d] = (for_input ? c->x : c->grad)->shape[2 + d];
    c->sizes[TAP + d] = c->w->shape[2 + d];
  }
  bool is_depthwise = !expr_is(groups, 1) && n->op != OP_CONVOLUTION_GRAD_WEIGHT &&
                      expr_is(c->sizes[IN_CHANNEL], 1) && expr_is(c->sizes[OUT_CHANNEL], 1);
  bool are_inside = (is_depthwise || expr_is(groups, 1)) && find_images(b, n, c);
  c->is_depthwise = is_depthwise && are_inside;
  c->has_channels_inside = !is_depthwise && are_inside;
  choose_sides(c);
  return true;
}

// ---- elements at coordinates ----

static const struct expr *channel(struct builder *b, const struct convolution *c, unsigned which) {
  return expr_add(b->x, expr_mul(b->x, c->at[GROUP], c->sizes[which]), c->at[which]);
}

// An element of the image, or of its copy.
static const struct scalar *image_element(struct builder *b, const struct value *v,
                                          struct buffer *copy, coordinates at) {
  if (!copy)
    return loops_element(b, v, at);
  const struct expr *to[2 + MAX_SPATIAL], *shape[2 + MAX_SPATIAL];
  for (uint32_t i = 0; i < v->rank; i++) {
    uint32_t d = i == 0 ? 0 : i + 1 < v->rank ? i + 1 : 1;
    to[i] = at[d];
    shape[i] = v->shape[d];
  }
  const struct expr *offset =
      loops_dot(b, v->rank, to, contiguous_strides(b->x, b->arena, v->rank, shape));
  return scalar_convert(b->s, scalar_load(b->s, copy, offset), dtype_to_compute(v->dtype));
}

static const struct scalar *masked_element(struct builder *b, const struct value *v,
                                           struct buffer *copy, coordinates at,
                                           const struct scalar *inside) {
  enum dtype t = dtype_to_compute(v->dtype);
  return scalar_masked(b->s, inside, image_element(b, v, copy, at), scalar_int(b->s, t, 0));
}

// The input element under a tap at a position of the output.
static const struct scalar *input_element(struct builder *b, const struct convolution *c) {
  const struct expr *at[2 + MAX_SPATIAL] = {c->at[IMAGE], channel(b, c, IN_CHANNEL)};
  const struct scalar *inside = scalar_int(b->s, DTYPE_I1, 1);
  for (uint32_t d = 0; d < c->spatial; d++) {
    const struct expr *e = expr_mul(b->x, c->at[SPACE + d], c->stride[d]);
    e = expr_add(b->x, e, expr_mul(b->x, c->at[TAP + d], c->dilation[d]));
    at[2 + d] = expr_sub(b->x, e, c->padding[d]);
    const struct scalar *here =
        loops_between(b, at[2 + d], expr_const(b->x, 0), c->x->shape[2 + d]);
    inside = loops_binary(b, SCALAR_AND, DTYPE_I1, inside, here);
  }
  return masked_element(b, c->x, c->x_copy, at, inside);
}

// The gradient element whose tap reads a given input element: none unless the stride divides.
static const struct scalar *gradient_element(struct builder *b, const struct convolution *c) {
  const struct expr *at[2 + MAX_SPATIAL] = {c->at[IMAGE], channel(b, c, OUT_CHANNEL)};
  const struct scalar *inside = scalar_int(b->s, DTYPE_I1, 1);
  for (uint32_t d = 0; d < c->spatial; d++) {
    const struct expr *e = expr_add(b->x, c->at[SPACE + d], c->padding[d]);
    e = expr_sub(b->x, e, expr_mul(b->x, c->at[TAP + d], c->dilation[d]));
    at[2 + d] = expr_floordiv(b->x, e, c->stride[d]);
    const struct scalar *divides =
        loops_binary(b, SCALAR_EQ, DTYPE_I1, scalar_index(b->s, expr_mod(b->x, e, c->stride[d])),
                     scalar_int(b->s, DTYPE_I64, 0));
    const struct scalar *here =
        loops_between(b, at[2 + d], expr_const(b->x, 0), c->grad->shape[2 + d]);
    here = loops_binary(b, SCALAR_AND, DTYPE_I1, here, divides);
    inside = loops_binary(b, SCALAR_AND, DTYPE_I1, inside, here);
  }
  return masked_element(b, c->grad, c->grad_copy, at, inside);
}

static const struct scalar *weight_element(struct builder *b, const struct convolution *c) {
  const struct expr *at[2 + MAX_SPATIAL] = {channel(b, c, OUT_CHANNEL), c->at[IN_CHANNEL]};
  for (uint32_t d = 0; d < c->spatial; d++)
    at[2 + d] = c->at[TAP + d];
  return loops_element(b, c->w, at);
}

static const struct scalar *plain_gradient(struct builder *b, const struct convolution *c) {
  const struct expr *at[2 + MAX_SPATIAL] = {c->at[IMAGE], channel(b, c, OUT_CHANNEL)};
  for (uint32_t d = 0; d < c->spatial; d++)
    at[2 + d] = c->at[SPACE + d];
  return image_element(b, c->grad, c->grad_copy, at);
}

static void operands(struct builder *b, const struct convolution *c, const struct scalar **ret_a,
                     const struct scalar **ret_b) {
  switch (c->op) {
  case OP_CONVOLUTION:
    *ret_a = input_element(b, c);
    *ret_b = weight_element(b, c);
    return;
  case OP_CONVOLUTION_GRAD_INPUT:
    *ret_a = gradient_element(b, c);
    *ret_b = weight_element(b, c);
    return;
  default: *ret_a = plain_gradient(b, c); *ret_b = input_element(b, c);
  }
}

// The coordinates in the result.
static void result_coordinates(struct builder *b, const struct convolution *c,
                               const struct expr **ret) {
  bool is_weight = c->op == OP_CONVOLUTION_GRAD_WEIGHT;
  ret[0] = is_weight ? channel(b, c, OUT_CHANNEL) : c->at[IMAGE];
  ret[1] = is_weight                            ? c->at[IN_CHANNEL]
           : c->op == OP_CONVOLUTION_GRAD_INPUT ? channel(b, c, IN_CHANNEL)
                                                : channel(b, c, OUT_CHANNEL);
  for (uint32_t d = 0; d < c->spatial; d++)
    ret[2 + d] = c->at[(is_weight ? TAP : SPACE) + d];
}

// ---- a product, or a sum ----

static const struct expr *side_extent(struct builder *b, const struct convolution *c,
                                      const unsigned *side, uint32_t count) {
  const struct expr *e = expr_const(b->x, 1);
  for (uint32_t i = 0; i < count; i++)
    e = expr_mul(b->x, e, c->sizes[side[i]]);
  return e;
}

static void split_side(struct builder *b, struct convolution *c, const unsigned *side,
                       uint32_t count, const struct expr *axis) {
  const struct expr *sizes[COORDINATES] = {0}, *parts[COORDINATES];
  for (uint32_t i = 0; i < count; i++)
    sizes[i] = c->sizes[side[i]];
  loops_unravel(b, axis, count, sizes, parts);
  for (uint32_t i = 0; i < count; i++)
    c->at[side[i]] = expr_is(sizes[i], 1) ? expr_const(b->x, 0) : parts[i];
}

static bool as_product(struct builder *b, const struct node *n, struct deferred *z,
                       struct convolution *c, const struct expr *const sides[3]) {
  const struct expr *axes[4] = {
      loops_symbol(b, 'b', 0, side_extent(b, c, c->batch, c->batch_count)),
      loops_symbol(b, 'm', 0, sides[0]), loops_symbol(b, 'n', 0, sides[1]),
      loops_symbol(b, 'k', 0, sides[2])};
  const struct expr *at[2 + MAX_SPATIAL];
  const struct scalar *x, *y;
  split_side(b, c, c->batch, c->batch_count, axes[0]);
  split_side(b, c, c->m, c->m_count, axes[1]);
  split_side(b, c, c->n, c->n_count, axes[2]);
  split_side(b, c, c->k, c->k_count, axes[3]);
  operands(b, c, &x, &y);
  if (c->has_channels_inside && c->op != OP_CONVOLUTION_GRAD_WEIGHT) // weights in the order of k
    y = loops_product_operand(b, n, c->w, y, axes[0], axes[2], axes[3], false);
  result_coordinates(b, c, at);
  return loops_store_product(b, n, z, axes, NULL, x, y, at);
}

// The weights of each tap next to each other, one for each channel of the result. Axes of one
// element are no symbols.
static const struct scalar *weights_by_taps(struct builder *b, const struct node *n,
                                            const struct convolution *c, const struct scalar *y,
                                            const struct expr *channels) {
  const struct expr *from[1 + COORDINATES], *axes[1 + COORDINATES], *shape[1 + COORDINATES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->k_count; i++)
    if (c->at[c->k[i]]->kind == EXPR_SYMBOL)
      from[count++] = c->at[c->k[i]];
  from[count++] = channels;
  for (uint32_t i = 0; i < count; i++) {
    shape[i] = axis_extent(from[i]);
    axes[i] = loops_axis(b, 'x', i, shape[i]);
  }
  struct stage *s = loops_stage(b, STAGE_MAP, n);
  loops_add_axes(b, s, count, axes, false);
  s->body = scalar_substitute(b->s, y, count, from, axes);
  s->dtype = y->dtype;
  s->out = loops_buffer(b, BUFFER_TEMP, 0, NULL, arena_printf(b->arena, "%s_copy", c->w->name),
                        c->w->dtype, expr_product(b->x, shape, count));
  const struct expr **strides = contiguous_strides(b->x, b->arena, count, shape);
  s->offset = loops_dot(b, count, axes, strides);
  vec_push(b->arena, &s->origins, "clone");
  return scalar_convert(b->s, scalar_load(b->s, s->out, loops_dot(b, count, from, strides)),
                        y->dtype);
}

static bool as_sum(struct builder *b, const struct node *n, struct deferred *z,
                   struct convolution *c) {
  unsigned channels = c->op == OP_CONVOLUTION_GRAD_INPUT ? IN_CHANNEL : OUT_CHANNEL;
  bool is_weight = c->op == OP_CONVOLUTION_GRAD_WEIGHT;
  const struct expr *both = z->at[is_weight ? 0 : 1];
  c->at[GROUP] = expr_floordiv(b->x, both, c->sizes[channels]);
  c->at[channels] = expr_mod(b->x, both, c->sizes[channels]);
  c->at[is_weight ? IN_CHANNEL : IMAGE] = z->at[is_weight ? 1 : 0];
  for (uint32_t d = 0; d < c->spatial; d++)
    c->at[(is_weight ? TAP : SPACE) + d] = z->at[2 + d];
  const struct expr *over[COORDINATES];
  for (uint32_t i = 0; i < c->k_count; i++)
    over[i] = c->at[c->k[i]] = loops_axis(b, 'r', i, c->sizes[c->k[i]]);
  const struct scalar *x, *y;
  operands(b, c, &x, &y);
  if (c->is_depthwise && both->kind == EXPR_SYMBOL)
    y = weights_by_taps(b, n, c, y, both);
  return loops_sums_taps(b, n) ? loops_sum_taps(b, n, z, x, y, c->k_count, over)
                               : loops_sum_product(b, n, z, x, y, c->k_count, over);
}

bool loops_lower_convolution(struct builder *b, const struct node *n) {
  struct convolution c;
  if (!read_convolution(b, n, &c))
    return false;
  struct deferred *z = loops_deferred(b, n->results[0]);
  const struct expr *sides[3] = {side_extent(b, &c, c.m, c.m_count),
                                 side_extent(b, &c, c.n, c.n_count),
                                 side_extent(b, &c, c.k, c.k_count)};
  return !loops_sums_taps(b, n) && loops_pays_as_product(b, z->value, sides[0], sides[1], sides[2])
             ? as_product(b, n, z, &c, sides)
             : as_sum(b, n, z, &c);
}
