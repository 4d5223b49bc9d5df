// SPDX-License-Identifier: Apache-2.0
// Scaled products of 8-bit floats: `_scaled_mm` and `_scaled_mm_v2`. An operand is multiplied by
// its scales, which planning moves to the sums (graph/plan/product_scales.c). There are scales of
// the tensor, of rows of self and columns of mat2, and of blocks of 128 elements along k or of
// 128 x 128 elements (torch.nn.functional.ScalingType).
#include "graph/ir/compose.h"

enum { BLOCK = 128, PADDED_BLOCKS = 4 };

// ---- scales of an operand, a matrix ----

// How an extent of the operand has so many scales: each element one, each block, or all the same.
// `is_padded`: also as many as a multiple of 4 blocks.
static int64_t elements_of_scale(struct build *b, const struct expr *extent,
                                 const struct expr *scales, bool is_padded) {
  struct exprs *x = b->g->exprs;
  const struct expr *blocks = expr_cdiv(x, extent, compose_const(b, BLOCK));
  const struct expr *more =
      expr_muli(x, expr_cdiv(x, blocks, compose_const(b, PADDED_BLOCKS)), PADDED_BLOCKS);
  if (scales == extent)
    return 1;
  return scales == blocks || (is_padded && scales == more) ? BLOCK : 0;
}

static bool fits_dim(struct build *b, const struct expr *extent, const struct expr *scales,
                     bool is_padded) {
  return expr_is(scales, 1) || elements_of_scale(b, extent, scales, is_padded);
}

// Do the scales have the operand's dimensions, in its order?
static bool fits(struct build *b, const struct value *operand, const struct value *scale,
                 unsigned k_dim) {
  return scale->rank == 2 && fits_dim(b, operand->shape[0], scale->shape[0], k_dim == 0) &&
         fits_dim(b, operand->shape[1], scale->shape[1], k_dim == 1);
}

// Scale dimension `dim` for each element of the operand.
static struct value *spread(struct build *b, struct value *scale, const struct value *operand,
                            uint32_t dim, bool is_padded) {
  if (!scale || expr_is(scale->shape[dim], 1))
    return scale;
  int64_t each = elements_of_scale(b, operand->shape[dim], scale->shape[dim], is_padded);
  if (each == 1)
    return scale;
  struct value *at = build_iota(b, operand->shape[dim], 0, 1);
  return compose_index(b, scale, dim, build_int(b, OP_FLOOR_DIVIDE, at, each));
}

// The operand in f32, times its scales. `k_dim`: its dimension that is summed over.
static struct value *scaled(struct build *b, struct value *operand, struct value *scale,
                            unsigned k_dim) {
  struct value *x = build_convert(b, operand, DTYPE_F32);
  if (!scale || !x)
    return NULL;
  if (scale->rank == 2)
    for (uint32_t dim = 0; dim < 2; dim++)
      scale = spread(b, scale, operand, dim, dim == k_dim);
  return build_mul(b, x, scale);
}

// ---- products ----

static bool check_scale(struct build *b, const struct node *n, const struct value *operand,
                        const struct value *scale, unsigned k_dim) {
  bool is_f32 = dtype_is_float(scale->dtype) && dtype_bits(scale->dtype) == 32;
  bool is_plain = scale->rank == 0 || (scale->rank == 1 && expr_is(scale->shape[0], 1));
  if (is_f32 && (is_plain || fits(b, operand, scale, k_dim)))
    return true;
  compose_error(b, n, E1008,
                "these scales; there are f32 scales of tensors, of rows and columns, and of blocks "
                "of 1x128 and 128x128 elements");
  return false;
}

static bool check_matrices(struct build *b, const struct node *n) {
  const struct value *x = node_value(n, 0), *y = node_value(n, 1);
  if (!dtype_is_float(x->dtype) || !dtype_is_float(y->dtype)) {
    compose_error(b, n, E1005, "operands of %s and %s; both need 8-bit floats",
                  dtype_name(x->dtype), dtype_name(y->dtype));
    return false;
  }
  if (x->rank == 2 && y->rank == 2)
    return true;
  compose_error(b, n, E1004, "operands of %u and %u dimensions; both need 2", x->rank, y->rank);
  return false;
}

static struct value *product(struct build *b, const struct node *n, struct value *scale_a,
                             struct value *scale_b, struct value *bias, bool is_fast) {
  struct value *sum =
      build_binop(b, is_fast ? OP_TILE_FAST_MM : OP_MM, scaled(b, node_value(n, 0), scale_a, 1),
                  scaled(b, node_value(n, 1), scale_b, 0));
  return bias ? build_add(b, sum, build_convert(b, bias, DTYPE_F32)) : sum;
}

static enum dtype dtype_or(const struct node *n, unsigned i) {
  return n->args[i].kind == ARG_DTYPE ? n->args[i].dtype : node_value(n, 0)->dtype;
}

// self mat2 scale_a scale_b bias scale_result out_dtype use_fast_accum
void compose_scaled_mm(struct build *b, struct node *n) {
  struct value *a = node_value(n, 2), *c = node_value(n, 3);
  if (!check_matrices(b, n) || !check_scale(b, n, node_value(n, 0), a, 1) ||
      !(c->rank == 1 || check_scale(b, n, node_value(n, 1), c, 0)))
    return;
  struct value *sum = product(b, n, a, c, node_value(n, 4), node_truth(n, 7));
  if (!node_is_none(n, 5) && dtype_bits(dtype_or(n, 6)) == 8)
    sum = build_mul(b, sum, node_value(n, 5));
  n->results[0] = build_convert(b, sum, dtype_or(n, 6));
}

// ---- version 2: recipes ----

enum recipe { TENSOR_WISE, ROW_WISE, BLOCK_1X16, BLOCK_1X32, BLOCK_1X128, BLOCK_128X128 };

// Does memory hold the scales of k next to each other, although k is dimension 0?
static bool is_stored_along_k(const struct value *scale) {
  return expr_is(scale->strides[0], 1) && scale->strides[1] == scale->shape[0];
}

// The scales of mat2 are of rows along k, [n, k]: those of its transpose. Scales of 128 x 128 are
// of the operand's rows along k, or the transpose of that, padded along k.
static struct value *oriented(struct build *b, struct value *scale, const struct value *operand,
                              unsigned k_dim, enum recipe recipe) {
  if (scale->rank != 2 || recipe == TENSOR_WISE)
    return scale;
  struct value *swapped = build_swap(b, scale, 0, 1);
  struct value *along_k = k_dim == 1 ? scale : swapped, *across = k_dim == 1 ? swapped : scale;
  if (recipe == BLOCK_128X128 && fits(b, operand, across, k_dim) &&
      (!fits(b, operand, along_k, k_dim) || is_stored_along_k(scale)))
    return across;
  if (recipe == ROW_WISE && !fits(b, operand, along_k, k_dim))
    return across;
  return along_k;
}

// The one scale in argument i, and its recipe in argument i + 1; NULL after an error.
static struct value *scale_of(struct build *b, const struct node *n, unsigned i, unsigned k_dim) {
  const struct arg *scales = &n->args[i], *recipes = &n->args[i + 1];
  int64_t recipe;
  bool is_one = scales->kind == ARG_LIST && scales->list.count == 1 &&
                scales->list.at[0].kind == ARG_VALUE && recipes->kind == ARG_LIST &&
                recipes->list.count == 1 && recipes->list.at[0].kind == ARG_INT &&
                expr_is_const(recipes->list.at[0].number, &recipe);
  if (!is_one || recipe == BLOCK_1X16 || recipe == BLOCK_1X32) {
    compose_error(b, n, E1008,
                  "scales of blocks of 16 or 32 elements; there are scales of tensors, of rows and "
                  "columns, and of blocks of 1x128 and 128x128 elements");
    return NULL;
  }
  const struct value *operand = node_value(n, k_dim == 1 ? 0 : 1);
  struct value *scale = oriented(b, scales->list.at[0].value, operand, k_dim, (enum recipe)recipe);
  return scale && check_scale(b, n, operand, scale, k_dim) ? scale : NULL;
}

// self mat2 scale_a recipe_a swizzle_a scale_b recipe_b swizzle_b bias out_dtype contraction_dim
// use_fast_accum
void compose_scaled_mm_v2(struct build *b, struct node *n) {
  if (!check_matrices(b, n))
    return;
  struct value *a = scale_of(b, n, 2, 1), *c = a ? scale_of(b, n, 5, 0) : NULL;
  if (c)
    n->results[0] =
        build_convert(b, product(b, n, a, c, node_value(n, 8), node_truth(n, 11)), dtype_or(n, 9));
}
