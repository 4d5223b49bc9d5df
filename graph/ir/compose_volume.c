// SPDX-License-Identifier: Apache-2.0
// Composed pools of volumes, and adaptive maximum pools. A window of a volume is a window of its
// planes, then one of the depths, for each index of a plane: sums, counts and maxima separate so.
// The positions of maxima also do: the first one in a plane, then the first plane.
#include "graph/ir/compose.h"

#define X node_value(n, 0)
#define A(i) n->args[i]

// Depth, height, width of a volume or of windows; the rest of its dimensions is the batch.
struct volume {
  const struct expr *batch, *depth, *height, *width;
};

static bool volume_of(struct build *b, const struct node *n, const struct value *x,
                      struct volume *ret) {
  struct exprs *e = b->g->exprs;
  if (x->rank != 4 && x->rank != 5) {
    compose_error(b, n, E1004, "a tensor of %u dimensions; it needs 4 or 5", x->rank);
    return false;
  }
  *ret = (struct volume){compose_const(b, 1), x->shape[x->rank - 3], x->shape[x->rank - 2],
                         x->shape[x->rank - 1]};
  for (uint32_t d = 0; d + 3 < x->rank; d++)
    ret->batch = expr_mul(e, ret->batch, x->shape[d]);
  return true;
}

static struct value *reshape(struct build *b, struct value *x, uint32_t rank,
                             const struct expr *const *shape) {
  return BUILD(b, OP_RESHAPE, TENSOR(x), arg_exprs(b->g, rank, shape));
}

// [batch, depth, height, width]
static struct value *planes(struct build *b, struct value *x, const struct volume *v) {
  return reshape(b, x, 4, (const struct expr *[]){v->batch, v->depth, v->height, v->width});
}

// [batch, depth, height width]: the indices of a plane are columns.
static struct value *columns(struct build *b, struct value *x, const struct volume *v) {
  const struct expr *area = expr_mul(b->g->exprs, v->height, v->width);
  return reshape(b, x, 3, (const struct expr *[]){v->batch, v->depth, area});
}

// To the rank and the batch of `like`.
static struct value *unplaned(struct build *b, struct value *x, const struct value *like,
                              const struct volume *v) {
  const struct expr *shape[GRAPH_MAX_RANK];
  for (uint32_t d = 0; d + 3 < like->rank; d++)
    shape[d] = like->shape[d];
  shape[like->rank - 3] = v->depth;
  shape[like->rank - 2] = v->height;
  shape[like->rank - 1] = v->width;
  return reshape(b, x, like->rank, shape);
}

// The last two of the list's three numbers, or the first and `other`. One number stands for all.
static struct arg in_plane(struct build *b, const struct node *n, unsigned i) {
  const struct arg *list;
  if (node_list(n, i, &list) != 3)
    return A(i);
  return arg_exprs(b->g, 2, (const struct expr *[]){list[1].number, list[2].number});
}

static struct arg in_depth(struct build *b, const struct node *n, unsigned i, int64_t other) {
  const struct arg *list;
  if (node_list(n, i, &list) == 0)
    return A(i);
  return arg_exprs(b->g, 2, (const struct expr *[]){list[0].number, compose_const(b, other)});
}

static bool check_lists(struct build *b, const struct node *n, unsigned first, unsigned end) {
  const struct arg *list;
  for (unsigned i = first; i < end; i++) {
    size_t count = node_list(n, i, &list);
    if (count > 1 && count != 3) {
      compose_error(b, n, E1004, "%zu numbers for 3 dimensions", count);
      return false;
    }
  }
  return true;
}

static struct value *dim_of(struct value *x, uint32_t d, const struct expr **ret) {
  if (x)
    *ret = x->shape[d];
  return x;
}

// ---- mean ----

// self kernel_size stride padding ceil_mode count_include_pad divisor_override
void compose_avg_pool3d(struct build *b, struct node *n) {
  struct volume v;
  if (!volume_of(b, n, X, &v) || !check_lists(b, n, 1, 4))
    return;
  struct arg one = node_is_none(n, 6) ? A(6) : arg_int(b->g, 1);
  struct value *x = BUILD(b, OP_AVG_POOL2D, TENSOR(planes(b, X, &v)), in_plane(b, n, 1),
                          in_plane(b, n, 2), in_plane(b, n, 3), A(4), A(5), A(6));
  if (!dim_of(dim_of(x, 2, &v.height), 3, &v.width))
    return;
  x = BUILD(b, OP_AVG_POOL2D, TENSOR(columns(b, x, &v)), in_depth(b, n, 1, 1), in_depth(b, n, 2, 1),
            in_depth(b, n, 3, 0), A(4), A(5), one);
  if (dim_of(x, 1, &v.depth))
    n->results[0] = unplaned(b, x, X, &v);
}

// grad_output self kernel_size stride padding ceil_mode count_include_pad divisor_override
void compose_avg_pool3d_backward(struct build *b, struct node *n) {
  struct volume in, out;
  const struct value *self = node_value(n, 1);
  if (!volume_of(b, n, X, &out) || !volume_of(b, n, self, &in) || !check_lists(b, n, 2, 5))
    return;
  struct arg one = node_is_none(n, 7) ? A(7) : arg_int(b->g, 1);
  const struct expr *area = expr_mul(b->g->exprs, out.height, out.width);
  struct value *like =
      build_full(b, 3, (const struct expr *[]){in.batch, in.depth, area}, 0, X->dtype);
  struct value *g =
      BUILD(b, OP_AVG_POOL2D_BACKWARD, TENSOR(columns(b, X, &out)), TENSOR(like),
            in_depth(b, n, 2, 1), in_depth(b, n, 3, 1), in_depth(b, n, 4, 0), A(5), A(6), one);
  out.depth = in.depth;
  like = build_full(b, 4, (const struct expr *[]){in.batch, in.depth, in.height, in.width}, 0,
                    X->dtype);
  g = BUILD(b, OP_AVG_POOL2D_BACKWARD, TENSOR(planes(b, g, &out)), TENSOR(like), in_plane(b, n, 2),
            in_plane(b, n, 3), in_plane(b, n, 4), A(5), A(6), A(7));
  n->results[0] = unplaned(b, g, self, &in);
}

// self output_size
void compose_adaptive_avg_pool3d(struct build *b, struct node *n) {
  struct volume v;
  const struct arg *size;
  if (!volume_of(b, n, X, &v))
    return;
  if (node_list(n, 1, &size) != 3) {
    compose_error(b, n, E1004, "the output has 3 sizes");
    return;
  }
  struct value *x = BUILD(b, OP_ADAPTIVE_AVG_POOL2D, TENSOR(planes(b, X, &v)), in_plane(b, n, 1));
  v.height = size[1].number, v.width = size[2].number;
  const struct expr *area = expr_mul(b->g->exprs, v.height, v.width);
  x = BUILD(b, OP_ADAPTIVE_AVG_POOL2D, TENSOR(columns(b, x, &v)),
            arg_exprs(b->g, 2, (const struct expr *[]){size[0].number, area}));
  v.depth = size[0].number;
  n->results[0] = unplaned(b, x, X, &v);
}

// grad_output self
void compose_adaptive_avg_pool3d_backward(struct build *b, struct node *n) {
  struct volume in, out;
  const struct value *self = node_value(n, 1);
  if (!volume_of(b, n, X, &out) || !volume_of(b, n, self, &in))
    return;
  const struct expr *area = expr_mul(b->g->exprs, out.height, out.width);
  struct value *like =
      build_full(b, 3, (const struct expr *[]){in.batch, in.depth, area}, 0, X->dtype);
  struct value *g =
      BUILD(b, OP_ADAPTIVE_AVG_POOL2D_BACKWARD, TENSOR(columns(b, X, &out)), TENSOR(like));
  out.depth = in.depth;
  like = build_full(b, 4, (const struct expr *[]){in.batch, in.depth, in.height, in.width}, 0,
                    X->dtype);
  g = BUILD(b, OP_ADAPTIVE_AVG_POOL2D_BACKWARD, TENSOR(planes(b, g, &out)), TENSOR(like));
  n->results[0] = unplaned(b, g, self, &in);
}

// ---- maximum ----

static bool both_results(struct build *b, enum operator_id op, const struct arg *args, size_t count,
                         struct value **ret_value, struct value **ret_index) {
  struct node *two = args[0].value ? graph_append(b->g, op, args, count, b->at) : NULL;
  *ret_value = two ? two->results[0] : NULL;
  *ret_index = two ? two->results[1] : NULL;
  return two;
}

// self kernel_size stride padding dilation ceil_mode: values and positions in the volume
static void max_pool3d(struct build *b, struct node *n, struct value **ret) {
  struct volume v;
  if (!volume_of(b, n, X, &v) || !check_lists(b, n, 1, 5))
    return;
  const struct expr *area = expr_mul(b->g->exprs, v.height, v.width);
  struct value *x, *inner, *first;
  const struct arg plane[] = {TENSOR(planes(b, X, &v)), in_plane(b, n, 1), in_plane(b, n, 2),
                              in_plane(b, n, 3),        in_plane(b, n, 4), A(5)};
  if (!both_results(b, OP_MAX_POOL2D, plane, COUNT_OF(plane), &x, &inner))
    return;
  v.height = x->shape[2], v.width = x->shape[3];
  const struct expr *small = expr_mul(b->g->exprs, v.height, v.width), *depth = v.depth;
  const struct arg deep[] = {TENSOR(columns(b, x, &v)), in_depth(b, n, 1, 1), in_depth(b, n, 2, 1),
                             in_depth(b, n, 3, 0),      in_depth(b, n, 4, 1), A(5)};
  if (!both_results(b, OP_MAX_POOL2D, deep, COUNT_OF(deep), &x, &first))
    return;
  v.depth = x->shape[1];
  ret[0] = unplaned(b, x, X, &v);
  // `first` is depth * small + column; the index in that plane is loaded.
  const struct expr *from[] = {v.batch, expr_mul(b->g->exprs, depth, small)};
  const struct expr *to[] = {v.batch, expr_mul(b->g->exprs, v.depth, small)};
  first = reshape(b, first, 2, to);
  struct value *at =
      BUILD(b, OP_GATHER, TENSOR(reshape(b, inner, 2, from)), arg_int(b->g, 1), TENSOR(first));
  struct value *plane_of = BUILD(b, OP_FLOOR_DIVIDE, TENSOR(first), ARG_E(small));
  at = build_add(b, at, BUILD(b, OP_MUL_TENSOR, TENSOR(plane_of), ARG_E(area)));
  ret[1] = unplaned(b, at, X, &v);
}

void compose_max_pool3d_indices(struct build *b, struct node *n) { max_pool3d(b, n, n->results); }

void compose_max_pool3d(struct build *b, struct node *n) {
  struct value *both[2] = {NULL};
  max_pool3d(b, n, both);
  n->results[0] = both[0];
}

// grad_output self .. indices: the volume as an image of depth * height rows. Part NO_PART: of an
// image.
void compose_max_pool_backward(struct build *b, struct node *n) {
  struct value *self = node_value(n, 1), *g = X, *indices = node_value(n, n->arg_count - 1);
  bool is_volume = operator_row(n->op)->part != OPERATOR_COUNT;
  struct volume in = {0}, out = {0};
  const struct value *like = self;
  if (is_volume) {
    if (!volume_of(b, n, self, &in) || !volume_of(b, n, g, &out))
      return;
    struct exprs *e = b->g->exprs;
    const struct expr *small[] = {compose_const(b, 1), out.batch,
                                  expr_mul(e, out.depth, out.height), out.width};
    g = reshape(b, g, 4, small), indices = reshape(b, indices, 4, small);
    self = reshape(b, self, 4,
                   (const struct expr *[]){compose_const(b, 1), in.batch,
                                           expr_mul(e, in.depth, in.height), in.width});
  }
  struct arg one = arg_int(b->g, 1), zero = arg_int(b->g, 0);
  g = BUILD(b, OP_MAX_POOL2D_BACKWARD, TENSOR(g), TENSOR(self), one, one, zero, one, ARG_B(false),
            TENSOR(indices));
  n->results[0] = is_volume ? unplaned(b, g, like, &in) : g;
}

// ---- adaptive maximum ----

// Windows [floor(i size / out), ceil((i + 1) size / out)) along one dimension: values and their
// positions in it.
static bool adaptive_along(struct build *b, struct value *x, uint32_t dim, const struct expr *out,
                           struct value **ret_value, struct value **ret_index) {
  *ret_value = *ret_index = NULL;
  if (!x)
    return false;
  const struct expr *size = x->shape[dim];
  uint32_t rank = x->rank + 1;
  struct value *i = build_iota(b, out, dim, rank), *at = build_iota(b, size, dim + 1, rank);
  struct value *begin = BUILD(b, OP_FLOOR_DIVIDE,
                              TENSOR(BUILD(b, OP_MUL_TENSOR, TENSOR(i), ARG_E(size))), ARG_E(out));
  struct value *next =
      BUILD(b, OP_MUL_TENSOR, TENSOR(build_int(b, OP_ADD_TENSOR, i, 1)), ARG_E(size));
  next = BUILD(b, OP_ADD_TENSOR, TENSOR(next), ARG_E(expr_addi(b->g->exprs, out, -1)));
  struct value *end = BUILD(b, OP_FLOOR_DIVIDE, TENSOR(next), ARG_E(out));
  struct value *inside = build_binop(b, OP_LOGICAL_AND, build_binop(b, OP_GE_TENSOR, at, begin),
                                     build_binop(b, OP_LT_TENSOR, at, end));
  struct value *each = build_where_else(b, inside, build_unsqueeze(b, x, dim), -__builtin_inf());
  const struct arg args[] = {TENSOR(each), arg_int(b->g, dim + 1)};
  if (!both_results(b, OP_MAX_DIM, args, COUNT_OF(args), ret_value, ret_index))
    return false;
  // A window of -inf only: its first position.
  struct value *first = build_squeeze(b, begin, dim + 1);
  *ret_index = build_binop(b, OP_MAXIMUM, *ret_index, first);
  return *ret_index;
}

// self output_size: values and positions in the image or volume
void compose_adaptive_max_pool(struct build *b, struct node *n) {
  struct exprs *e = b->g->exprs;
  const struct arg *out;
  uint32_t count = (uint32_t)node_list(n, 1, &out), rank = X->rank;
  uint32_t want = operator_row(n->op)->part == OP_MAX_DIM      ? 1
                  : operator_row(n->op)->part == OP_MAX_POOL2D ? 2
                                                               : 3;
  if (count != want || rank <= count || rank > count + 2) {
    compose_error(b, n, E1004, "%u output sizes for a tensor of %u dimensions", count, rank);
    return;
  }
  if (!dtype_is_float(X->dtype)) {
    compose_error(b, n, E1005, "a tensor of floats is required");
    return;
  }
  struct value *x = X, *position = NULL;
  const struct expr *inner = compose_const(b, 1); // the size of the dimensions behind
  for (uint32_t dim = rank; dim-- > rank - count;) {
    struct value *value, *index;
    const struct expr *size = x->shape[dim];
    if (!adaptive_along(b, x, dim, out[dim + count - rank].number, &value, &index))
      return;
    struct value *beyond = BUILD(b, OP_MUL_TENSOR, TENSOR(index), ARG_E(inner));
    if (position)
      position = BUILD(b, OP_GATHER, TENSOR(position), arg_int(b->g, dim), TENSOR(index));
    position = position ? build_add(b, position, beyond) : beyond;
    inner = expr_mul(e, inner, size);
    if (!(x = value) || !position)
      return;
  }
  n->results[0] = x;
  n->results[1] = position;
}
