// SPDX-License-Identifier: Apache-2.0
// Grouped products, of the experts of a mixture: group g has the rows, columns or inner indices
// from offs[g - 1] to offs[g]. tile.grouped_mm multiplies groups of rows and of inner indices;
// groups of columns are rows of the transpose; operands of three dimensions are a batched product.
#include "graph/ir/compose.h"

static bool check(struct build *b, const struct node *n, const struct value *x,
                  const struct value *y, const struct value *offs) {
  bool needs_offs = x->rank == 2 || y->rank == 2;
  if (x->rank < 2 || x->rank > 3 || y->rank < 2 || y->rank > 3)
    compose_error(b, n, E1004, "operands of %u and %u dimensions; each needs 2 or 3", x->rank,
                  y->rank);
  else if (needs_offs && (!offs || offs->rank != 1))
    compose_error(b, n, E1003, "a matrix of all groups needs `offs`, the end of each group");
  else
    return true;
  return false;
}

// The product in each form. Without groups it is 0.
static struct value *product(struct build *b, struct value *x, struct value *y, struct value *offs,
                             bool is_fast) {
  if (!x || !y)
    return NULL;
  if (x->rank == 3 && y->rank == 3)
    return build_binop(b, OP_BMM, x, y);
  if (x->rank == 3) {
    struct value *z = product(b, build_swap(b, y, 0, 1), build_swap(b, x, 1, 2), offs, is_fast);
    return build_swap(b, z, 0, 1);
  }
  if (y->rank == 3 && expr_is(offs->shape[0], 0)) {
    const struct expr *shape[] = {x->shape[0], y->shape[2]};
    return build_full(b, 2, shape, 0, x->dtype);
  }
  return BUILD(b, OP_TILE_GROUPED_MM, TENSOR(x), TENSOR(y), TENSOR(offs), ARG_B(is_fast));
}

static enum dtype dtype_or(const struct node *n, unsigned i, enum dtype otherwise) {
  return n->args[i].kind == ARG_DTYPE ? n->args[i].dtype : otherwise;
}

// self mat2 offs bias out_dtype
void compose_grouped_mm(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 2);
  if (!check(b, n, x, y, offs))
    return;
  if (n->args[3].kind == ARG_VALUE) {
    compose_error(b, n, E1008, "a bias of a grouped product\nadd it to the result");
    return;
  }
  n->results[0] = build_convert(b, product(b, x, y, offs, false), dtype_or(n, 4, x->dtype));
}

// ---- the operators that the library `transformers` registers for other dtypes than bf16 ----

// input weight offs
void compose_grouped_mm_fallback(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 2);
  if (check(b, n, x, y, offs))
    n->results[0] = product(b, x, y, build_convert(b, offs, DTYPE_I32), false);
}

// input weight offs grad_output
void compose_grouped_mm_fallback_backward(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 2);
  struct value *grad = node_value(n, 3);
  if (!check(b, n, x, y, offs) || !check(b, n, x, grad, offs))
    return;
  offs = build_convert(b, offs, DTYPE_I32);
  n->results[0] = product(b, grad, build_swap(b, y, 1, 2), offs, false);
  n->results[1] = product(b, build_swap(b, x, 0, 1), grad, offs, false);
}

// ---- scales: one for each row of self and each column of mat2, in each group ----

// Scales of a matrix of all groups are a vector. Where its groups are of the inner dimension, that
// has the vectors of all groups one after the other.
static bool fits_scale(struct build *b, const struct value *of, const struct value *scale,
                       uint32_t dim, const struct value *other, const struct value *offs) {
  const struct expr *extent = of->shape[dim + (of->rank == 3)];
  if (of->rank == 3)
    return scale->rank == 2 && scale->shape[0] == of->shape[0] && scale->shape[1] == extent;
  if (other->rank == 2)
    extent = expr_mul(b->g->exprs, extent, offs->shape[0]);
  return scale->rank == 1 && scale->shape[0] == extent;
}

// The operand, [.., k] or [k, ..], times its scales: those of inner groups belong to the results.
static struct value *scaled(struct build *b, struct value *of, struct value *scale, uint32_t dim,
                            const struct value *other) {
  struct value *x = build_convert(b, of, DTYPE_F32);
  if (of->rank == 2 && other->rank == 2)
    return x;
  return build_mul(b, x, build_unsqueeze(b, scale, dim == 0 ? scale->rank : scale->rank - 1));
}

// self mat2 scale_a scale_b offs bias scale_result out_dtype use_fast_accum
void compose_scaled_grouped_mm(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 4);
  struct value *row = node_value(n, 2), *column = node_value(n, 3);
  if (!check(b, n, x, y, offs))
    return;
  if (!node_is_none(n, 5) || !node_is_none(n, 6) || !fits_scale(b, x, row, 0, y, offs) ||
      !fits_scale(b, y, column, 1, x, offs)) {
    compose_error(b, n, E1008,
                  "these scales, or a bias; there is a scale for each row of self and each column "
                  "of mat2, in each group");
    return;
  }
  struct value *sum =
      product(b, scaled(b, x, row, 0, y), scaled(b, y, column, 1, x), offs, node_truth(n, 8));
  if (sum && x->rank == 2 && y->rank == 2) {
    const struct expr *rows[] = {offs->shape[0], x->shape[0], compose_const(b, 1)},
                      *columns[] = {offs->shape[0], compose_const(b, 1), y->shape[1]};
    sum = build_mul(b, build_mul(b, sum, build_view(b, row, 3, rows)),
                    build_view(b, column, 3, columns));
  }
  n->results[0] = build_convert(b, sum, dtype_or(n, 7, DTYPE_BF16));
}
