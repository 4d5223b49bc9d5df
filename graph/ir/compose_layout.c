// SPDX-License-Identifier: Apache-2.0
// Composed operators that only arrange, convert or repeat what a tensor has, as programs contain
// them before decomposition.
#include "graph/ir/compose.h"

#include <inttypes.h>
#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)

static struct arg shape_arg(struct build *b, const struct value *like) {
  return arg_exprs(b->g, like->rank, like->shape);
}

// ---- shapes ----

// self start_dim end_dim
void compose_flatten(struct build *b, struct node *n) {
  const struct expr *shape[GRAPH_MAX_RANK + 1];
  uint32_t first = compose_dim(b, n, 1, X->rank), last = compose_dim(b, n, 2, X->rank), rank = 0;
  if (first > last) {
    compose_error(b, n, E1004, "dimension %u is behind dimension %u", first, last);
    return;
  }
  for (uint32_t d = 0; d < first; d++)
    shape[rank++] = X->shape[d];
  shape[rank++] =
      X->rank ? expr_product(b->g->exprs, X->shape + first, last - first + 1) : compose_const(b, 1);
  for (uint32_t d = last + 1; d < X->rank; d++)
    shape[rank++] = X->shape[d];
  n->results[0] = BUILD(b, OP_RESHAPE, n->args[0], arg_exprs(b->g, rank, shape));
}

// self dim sizes, of which one may be -1
void compose_unflatten(struct build *b, struct node *n) {
  const struct arg *sizes;
  size_t count = node_list(n, 2, &sizes);
  const struct expr *shape[GRAPH_MAX_RANK];
  uint32_t dim = compose_dim(b, n, 1, X->rank), rank = 0;
  if (X->rank == 0 || count == 0 || X->rank - 1 + count > GRAPH_MAX_RANK) {
    compose_error(b, n, E1004, "a dimension of %u cannot become %zu", X->rank, count);
    return;
  }
  for (uint32_t d = 0; d < X->rank; d++)
    for (size_t i = 0; i < (d == dim ? count : 1); i++)
      shape[rank++] = d == dim ? sizes[i].number : X->shape[d];
  n->results[0] = BUILD(b, OP_RESHAPE, n->args[0], arg_exprs(b->g, rank, shape));
}

// self other
void compose_expand_as(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, OP_EXPAND, n->args[0], shape_arg(b, Y));
}

void compose_view_as(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, OP_RESHAPE, n->args[0], shape_arg(b, Y));
}

// All dimensions in reverse order.
void compose_reverse_dims(struct build *b, struct node *n) {
  struct dims order = {.count = X->rank};
  for (uint32_t d = 0; d < X->rank; d++)
    order.at[d] = X->rank - 1 - d;
  n->results[0] = X->rank > 1 ? build_permute(b, X, &order) : BUILD(b, OP_ALIAS, n->args[0]);
}

// The last two dimensions exchanged.
void compose_matrix_transpose(struct build *b, struct node *n) {
  if (X->rank < 2)
    compose_error(b, n, E1004, "a tensor of %u dimensions is no matrix", X->rank);
  else
    n->results[0] = BUILD(b, OP_TRANSPOSE, n->args[0], arg_int(b->g, -2), arg_int(b->g, -1));
}

// self source destination
void compose_movedim(struct build *b, struct node *n) {
  uint32_t from = compose_dim(b, n, 1, X->rank), to = compose_dim(b, n, 2, X->rank);
  struct dims order = {.count = X->rank};
  if (X->rank == 0) {
    n->results[0] = BUILD(b, OP_ALIAS, n->args[0]);
    return;
  }
  for (uint32_t d = 0, next = 0; d < X->rank; d++) {
    next += next == from;
    order.at[d] = d == to ? from : next++;
  }
  n->results[0] = build_permute(b, X, &order);
}

// ---- parts ----

static void split_into(struct build *b, struct node *n, enum operator_id op, struct arg sizes,
                       uint32_t dim) {
  struct arg args[] = {n->args[0], sizes, arg_int(b->g, dim)};
  struct node *all = graph_append(b->g, op, args, COUNT_OF(args), b->at);
  if (all)
    n->result_count = all->result_count, n->results = all->results;
}

// The constant size of the dimension that argument 2 names, and a positive argument 1.
static bool takes_parts(struct build *b, struct node *n, uint32_t *ret_dim, int64_t *ret_size,
                        int64_t *ret_parts) {
  *ret_dim = compose_dim(b, n, 2, X->rank);
  *ret_parts = node_int(n, 1);
  if (X->rank > 0 && *ret_parts > 0 && expr_is_const(X->shape[*ret_dim], ret_size))
    return true;
  compose_error(b, n, E1004, "parts of a dimension of symbolic size, or less than one part");
  return false;
}

// self chunks dim: at most so many parts, of equal size but for the last
void compose_chunk(struct build *b, struct node *n) {
  uint32_t dim = compose_dim(b, n, 2, X->rank);
  int64_t parts = node_int(n, 1);
  if (X->rank == 0 || parts < 1) {
    compose_error(b, n, E1004, "less than one part");
    return;
  }
  const struct expr *each = expr_cdiv(b->g->exprs, X->shape[dim], compose_const(b, parts));
  each = expr_max(b->g->exprs, each, compose_const(b, 1));
  split_into(b, n, OP_SPLIT, ARG_E(each), dim);
}

// self sections dim: exactly so many parts, the first ones longer by one
void compose_tensor_split(struct build *b, struct node *n) {
  uint32_t dim;
  int64_t size, parts;
  if (!takes_parts(b, n, &dim, &size, &parts))
    return;
  if (parts > size) { // PyTorch returns empty tensors
    compose_error(b, n, E1004, "%" PRId64 " parts of %" PRId64 " elements", parts, size);
    return;
  }
  int64_t *sizes = arena_array(b->g->arena, int64_t, (size_t)parts);
  for (int64_t i = 0; i < parts; i++)
    sizes[i] = size / parts + (i < size % parts);
  split_into(b, n, OP_SPLIT_WITH_SIZES, arg_ints(b->g, (size_t)parts, sizes), dim);
}

// self dim start length
void compose_narrow(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  uint32_t dim = compose_dim(b, n, 1, X->rank);
  const struct expr *start = node_expr(n, 2);
  if (X->rank == 0) {
    compose_error(b, n, E1004, "a tensor of no dimensions");
    return;
  }
  if (start->hi < 0)
    start = expr_add(x, start, X->shape[dim]);
  struct value *v = build_slice(b, X, dim, start, expr_add(x, start, node_expr(n, 3)), 1);
  int64_t length, taken;
  if (v && expr_is_const(node_expr(n, 3), &length) && expr_is_const(v->shape[dim], &taken) &&
      length != taken) {
    compose_error(b, n, E1004, "%" PRId64 " elements beyond the end of dimension %u", length, dim);
    return;
  }
  n->results[0] = v;
}

// self pad mode value
void compose_pad_mode(struct build *b, struct node *n) {
  static const enum operator_id reflect[] = {OP_REFLECTION_PAD1D, OP_REFLECTION_PAD2D,
                                             OP_REFLECTION_PAD3D},
                                replicate[] = {OP_REPLICATION_PAD1D, OP_REPLICATION_PAD2D,
                                               OP_REPLICATION_PAD3D};
  const struct arg *list;
  struct str mode = node_is_none(n, 2) ? STR("constant") : n->args[2].string;
  size_t dims = node_list(n, 1, &list) / 2;
  bool is_reflect = str_is(mode, "reflect"), is_replicate = str_is(mode, "replicate");
  if (str_is(mode, "constant"))
    n->results[0] = BUILD(b, OP_CONSTANT_PAD_ND, n->args[0], n->args[1],
                          node_is_none(n, 3) ? arg_int(b->g, 0) : n->args[3]);
  else if ((is_reflect || is_replicate) && dims >= 1 && dims <= COUNT_OF(reflect))
    n->results[0] =
        BUILD(b, is_reflect ? reflect[dims - 1] : replicate[dims - 1], n->args[0], n->args[1]);
  else
    compose_error(b, n, E1004, "padding of the kind \"%.*s\" in %zu dimensions", STR_ARG(mode),
                  dims);
}

// ---- copies ----

// self dims: as many as the tensor's, or more in front
void compose_tile(struct build *b, struct node *n) {
  const struct arg *list;
  size_t count = node_list(n, 1, &list), more = X->rank > count ? X->rank - count : 0;
  const struct expr *repeats[2 * GRAPH_MAX_RANK];
  if (more + count > GRAPH_MAX_RANK) {
    compose_error(b, n, E1004, "%zu repetitions", count);
    return;
  }
  for (size_t i = 0; i < more + count; i++)
    repeats[i] = i < more ? compose_const(b, 1) : list[i - more].number;
  n->results[0] = BUILD(b, OP_REPEAT, n->args[0], arg_exprs(b->g, more + count, repeats));
}

// self repeats dim: each element so many times
void compose_repeat_interleave(struct build *b, struct node *n) {
  struct exprs *x = b->g->exprs;
  struct value *v = X;
  uint32_t dim = 0;
  const struct expr *shape[GRAPH_MAX_RANK], *repeats = node_expr(n, 1);
  if (node_is_none(n, 2))
    v = build_view(b, v, 1, (const struct expr *[]){value_numel(x, v)});
  else
    dim = compose_dim(b, n, 2, v->rank);
  if (!v || v->rank == 0 || v->rank == GRAPH_MAX_RANK || repeats->lo < 0) {
    compose_error(b, n, E1004, "a tensor of %u dimensions, or negative repetitions", X->rank);
    return;
  }
  uint32_t rank = v->rank;
  v = build_unsqueeze(b, v, dim + 1);
  if (!v)
    return;
  for (uint32_t d = 0; d < v->rank; d++)
    shape[d] = d == dim + 1 ? repeats : v->shape[d];
  v = build_expand(b, v, v->rank, shape);
  shape[dim] = expr_mul(x, shape[dim], repeats);
  for (uint32_t d = dim + 1; d < rank; d++)
    shape[d] = shape[d + 1];
  n->results[0] = v ? BUILD(b, OP_RESHAPE, TENSOR(v), arg_exprs(b->g, rank, shape)) : NULL;
}

// self vec2
void compose_outer(struct build *b, struct node *n) {
  if (X->rank != 1 || Y->rank != 1) {
    compose_error(b, n, E1004, "operands of %u and %u dimensions, not of 1", X->rank, Y->rank);
    return;
  }
  n->results[0] = build_mul(b, build_unsqueeze(b, X, 1), build_unsqueeze(b, Y, 0));
}

// self num_classes
void compose_one_hot(struct build *b, struct node *n) {
  const struct expr *classes = node_expr(n, 1);
  if (X->dtype != DTYPE_I64) {
    compose_error(b, n, E1005, "`self` holds %s; classes are i64", dtype_name(X->dtype));
    return;
  }
  if (classes->lo < 1 || X->rank == GRAPH_MAX_RANK) {
    compose_error(b, n, E1004, "the number of classes has to be given");
    return;
  }
  struct value *each = build_iota(b, classes, X->rank, X->rank + 1);
  n->results[0] = build_convert(
      b, build_binop(b, OP_EQ_TENSOR, build_unsqueeze(b, X, X->rank), each), DTYPE_I64);
}

// ---- dtypes and memory formats ----

static struct arg row_major(void) {
  return (struct arg){.kind = ARG_STRING, .string = STR("torch.contiguous_format")};
}

// self memory_format
void compose_contiguous(struct build *b, struct node *n) {
  bool is_default = node_is_none(n, 1) || str_ends(n->args[1].string, "contiguous_format");
  if (is_default && value_is_contiguous(b->g->exprs, X))
    n->results[0] = BUILD(b, OP_ALIAS, n->args[0]);
  else
    n->results[0] = BUILD(b, OP_CLONE, n->args[0], node_is_none(n, 1) ? row_major() : n->args[1]);
}

// A copy in that dtype, None: its own; without a change the tensor itself, unless argument `copy`
// is true.
static void convert(struct build *b, struct node *n, struct arg dtype, unsigned copy,
                    struct arg format) {
  bool stays = dtype.kind == ARG_NONE || dtype.dtype == X->dtype;
  const struct arg none = {.kind = ARG_NONE};
  if (stays && format.kind == ARG_NONE && !node_truth(n, copy))
    n->results[0] = BUILD(b, OP_ALIAS, n->args[0]);
  else
    n->results[0] = BUILD(b, OP_TO_COPY, n->args[0], dtype, none, none, none, ARG_B(false), format);
}

// self dtype non_blocking copy memory_format
void compose_to_dtype(struct build *b, struct node *n) { convert(b, n, n->args[1], 3, n->args[4]); }

// self dtype layout device pin_memory non_blocking copy memory_format
void compose_to_layout(struct build *b, struct node *n) {
  convert(b, n, n->args[1], 6, n->args[7]);
}

// self device dtype non_blocking copy memory_format
void compose_to_device(struct build *b, struct node *n) {
  convert(b, n, n->args[2], 4, n->args[5]);
}

// self other non_blocking copy memory_format
void compose_to_other(struct build *b, struct node *n) {
  convert(b, n, ARG_D(Y->dtype), 3, n->arg_count > 4 ? n->args[4] : (struct arg){.kind = ARG_NONE});
}

// ---- elementwise ----

void compose_isfinite(struct build *b, struct node *n) {
  if (dtype_is_float(X->dtype))
    n->results[0] = build_real(b, OP_LT_TENSOR, build_unop(b, OP_ABS, X), INFINITY);
  else
    n->results[0] = build_binop(b, OP_EQ_TENSOR, X, X);
}

void compose_relu6(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, OP_HARDTANH, n->args[0], arg_int(b->g, 0), arg_int(b->g, 6));
}

void compose_selu(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, OP_ELU, n->args[0], ARG_F(1.6732632423543772848170429916717),
                        ARG_F(1.0507009873554804934193349852946), arg_int(b->g, 1));
}

// self weight: one number, or one for each channel
void compose_prelu_channels(struct build *b, struct node *n) {
  struct value *weight = Y;
  const struct expr *channels = X->rank > 1 ? X->shape[1] : compose_const(b, 1);
  bool fits = weight->rank == 0 ||
              (weight->rank == 1 &&
               (expr_is(weight->shape[0], 1) || compose_same_size(b, weight->shape[0], channels)));
  if (!fits) {
    compose_error(b, n, E1004, "`weight` is one number, or one for each channel of `self`");
    return;
  }
  if (weight->rank == 1)
    weight = X->rank > 1 ? build_along(b, weight, 1, X->rank) : build_view(b, weight, 0, NULL);
  n->results[0] = weight ? BUILD(b, OP_PRELU, n->args[0], TENSOR(weight)) : NULL;
}

void compose_logsigmoid(struct build *b, struct node *n) {
  struct node *both = graph_append(b->g, OP_LOG_SIGMOID, n->args, 1, b->at);
  n->results[0] = both ? both->results[0] : NULL;
}

// self unbiased: over all elements; `part` takes dimensions
void compose_of_all(struct build *b, struct node *n) {
  n->results[0] = BUILD(b, operator_row(n->op)->part, n->args[0], (struct arg){.kind = ARG_NONE},
                        n->args[1], ARG_B(false));
}

// x1 x2 dim eps
void compose_cosine_similarity(struct build *b, struct node *n) {
  if (!value_same_shape(X, Y)) {
    struct value *sum = build_add(b, X, Y);
    if (!sum)
      return;
    struct value *x = build_as(b, X, sum), *y = build_as(b, Y, sum);
    n->results[0] =
        x && y ? BUILD(b, OP_COSINE_SIMILARITY, TENSOR(x), TENSOR(y), n->args[2], n->args[3])
               : NULL;
    return;
  }
  struct dims d = dims_one(compose_dim(b, n, 2, X->rank));
  struct value *x = build_up(b, X), *y = build_up(b, Y), *of[2] = {x, y};
  for (unsigned i = 0; i < 2; i++) {
    struct value *length =
        build_unop(b, OP_SQRT, build_sum(b, build_mul(b, of[i], of[i]), &d, true));
    length = length ? BUILD(b, OP_CLAMP, TENSOR(length), n->args[3]) : NULL;
    of[i] = build_div(b, of[i], length);
  }
  n->results[0] = build_convert(b, build_sum(b, build_mul(b, of[0], of[1]), &d, false), X->dtype);
}
