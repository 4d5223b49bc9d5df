// SPDX-License-Identifier: Apache-2.0
// Grouped products, of the experts of a mixture: group g has the rows, columns or inner indices
// from offs[g - 1] to offs[g].
//
// Rows of groups, each with a matrix of its own: the rows are cut into tiles that begin where a
// group does. A batched product multiplies each tile's rows by the matrix of its group; both are
// read where they are. So the work is that of the rows, and of at most one more tile for each
// group. Other forms multiply everything for each group, with zeros for what belongs to others.
#include "graph/ir/compose.h"

// Is the index along dimension `dim` of [groups, .., ..] in the group?
static struct value *is_in_group(struct build *b, struct value *offs, const struct expr *extent,
                                 uint32_t dim) {
  const struct expr *shift[] = {compose_const(b, 1), compose_const(b, -1)};
  struct value *begin =
      BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(offs), arg_exprs(b->g, 2, shift), arg_int(b->g, 0));
  struct value *at = build_iota(b, extent, dim, 3);
  return build_binop(b, OP_LOGICAL_AND,
                     build_binop(b, OP_GE_TENSOR, at, build_along(b, begin, 0, 3)),
                     build_binop(b, OP_LT_TENSOR, at, build_along(b, offs, 0, 3)));
}

// The matrix for each group, zero outside of it along dimension `dim` of the matrix.
static struct value *in_groups(struct build *b, struct value *x, struct value *offs, uint32_t dim) {
  struct value *inside = is_in_group(b, offs, x->shape[dim], dim + 1);
  return build_where_else(b, inside, build_unsqueeze(b, x, 0), 0);
}

// ---- rows of groups, in tiles ----

struct tiles {
  int64_t rows;                                      // of a tile
  const struct expr *count;                          // of tiles, at most
  struct value *begin, *end, *first_tile, *tile_end; // [groups], in i64
};

// The number of groups that end at or before each of `at`, a vector; at most the last group.
static struct value *group_at(struct build *b, struct value *ends, struct value *at) {
  struct value *passed =
      build_binop(b, OP_LE_TENSOR, build_along(b, ends, 1, 2), build_along(b, at, 0, 2));
  struct dims last = dims_one(1);
  struct value *group = build_sum(b, build_convert(b, passed, DTYPE_I64), &last, false);
  const struct expr *most = ends ? expr_addi(b->g->exprs, ends->shape[0], -1) : NULL;
  return group ? BUILD(b, OP_MINIMUM, TENSOR(group), ARG_E(most)) : NULL;
}

static struct value *pick(struct build *b, struct value *of, struct value *at) {
  return compose_index(b, of, 0, at);
}

static struct tiles tiles_of(struct build *b, const struct value *x, struct value *offs) {
  enum { LEAST = 16, MOST = 128 };
  struct exprs *e = b->g->exprs;
  const struct expr *groups = offs->shape[0];
  int64_t share = expr_likely(x->shape[0]) / (expr_likely(groups) + 1);
  struct tiles t = {.rows = LEAST};
  while (t.rows < share && t.rows < MOST)
    t.rows *= 2;
  const struct expr *full = expr_floordiv(e, x->shape[0], compose_const(b, t.rows));
  t.count = expr_min(e, x->shape[0], expr_add(e, full, groups));
  const struct expr *shift[] = {compose_const(b, 1), compose_const(b, -1)};
  t.end = build_convert(b, offs, DTYPE_I64);
  t.begin =
      BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(t.end), arg_exprs(b->g, 2, shift), arg_int(b->g, 0));
  struct value *size = build_sub(b, t.end, t.begin);
  struct value *tiles =
      build_int(b, OP_FLOOR_DIVIDE, build_int(b, OP_ADD_TENSOR, size, t.rows - 1), t.rows);
  t.tile_end = BUILD(b, OP_CUMSUM, TENSOR(tiles), arg_int(b->g, 0));
  t.first_tile = build_sub(b, t.tile_end, tiles);
  return t;
}

// The rows of x in each tile, [tiles, rows]; those beyond the group are any.
static struct value *rows_of(struct build *b, const struct tiles *t, struct value *group,
                             const struct expr *end) {
  struct value *tile = build_iota(b, t->count, 0, 1);
  struct value *first = build_sub(b, tile, pick(b, t->first_tile, group));
  first = build_add(b, build_int(b, OP_MUL_TENSOR, first, t->rows), pick(b, t->begin, group));
  struct value *row =
      build_add(b, build_along(b, first, 0, 2), build_iota(b, compose_const(b, t->rows), 1, 2));
  row = BUILD(b, OP_MINIMUM, TENSOR(row), ARG_E(expr_addi(b->g->exprs, end, -1)));
  return build_int(b, OP_MAXIMUM, row, 0);
}

// x[rows, k] y[groups, k, n]; rows beyond the last group are 0. `ret_group`: of each row.
static struct value *rows_product(struct build *b, struct value *x, struct value *y,
                                  struct value *offs, struct value **ret_group) {
  struct exprs *e = b->g->exprs;
  struct tiles t = tiles_of(b, x, offs);
  struct value *group = group_at(b, t.tile_end, build_iota(b, t.count, 0, 1));
  struct value *index = rows_of(b, &t, group, x->shape[0]);
  struct value *product = build_binop(b, OP_BMM, pick(b, x, index), pick(b, y, group));
  const struct expr *flat[] = {expr_muli(e, t.count, t.rows), y->shape[2]};
  product = BUILD(b, OP_RESHAPE, TENSOR(product), arg_exprs(b->g, 2, flat));
  struct value *row = build_iota(b, x->shape[0], 0, 1);
  *ret_group = group_at(b, t.end, row);
  struct value *at = build_sub(b, row, pick(b, t.begin, *ret_group));
  at = build_add(b, at, build_int(b, OP_MUL_TENSOR, pick(b, t.first_tile, *ret_group), t.rows));
  at = BUILD(b, OP_MINIMUM, TENSOR(at), ARG_E(expr_addi(e, flat[0], -1)));
  struct value *last = BUILD(b, OP_SELECT, TENSOR(t.end), arg_int(b->g, 0), arg_int(b->g, -1));
  struct value *inside = build_binop(b, OP_LT_TENSOR, row, last);
  return build_where_else(b, build_along(b, inside, 0, 2), pick(b, product, at), 0);
}

// ---- the operators ----

static bool check(struct build *b, const struct node *n, const struct value *x,
                  const struct value *y, const struct value *offs) {
  bool needs_offs = x->rank == 2 || y->rank == 2;
  if (x->rank < 2 || x->rank > 3 || y->rank < 2 || y->rank > 3)
    compose_error(b, n, E1004, "operands of %u and %u dimensions; each needs 2 or 3", x->rank,
                  y->rank);
  else if (needs_offs && (!offs || offs->rank != 1))
    compose_error(b, n, E1003, "a matrix of all groups needs `offs`, the end of each group");
  else if (n->args[3].kind == ARG_VALUE)
    compose_error(b, n, E1008, "a bias of a grouped product: add it to the result");
  else
    return true;
  return false;
}

// self mat2 offs bias out_dtype
void compose_grouped_mm(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 2);
  if (!check(b, n, x, y, offs))
    return;
  enum dtype t = n->args[4].kind == ARG_DTYPE ? n->args[4].dtype : x->dtype;
  if (x->rank == 2 && y->rank == 3 && !expr_is(x->shape[0], 0) && !expr_is(offs->shape[0], 0)) {
    struct value *group;
    n->results[0] = build_convert(b, rows_product(b, x, y, offs, &group), t);
    return;
  }
  bool is_sum = x->rank != y->rank;
  struct value *left = x, *right = y;
  if (x->rank == 2)
    left = in_groups(b, x, offs, y->rank == 3 ? 0 : 1);
  if (y->rank == 2 && x->rank == 3)
    right = in_groups(b, y, offs, 1);
  if (y->rank == 2 && x->rank == 2 && left) { // inner indices: zeros of one operand suffice
    const struct expr *shape[] = {left->shape[0], y->shape[0], y->shape[1]};
    right = build_expand(b, build_unsqueeze(b, y, 0), 3, shape);
  }
  struct value *product = build_binop(b, OP_BMM, left, right);
  struct dims groups = dims_one(0);
  if (is_sum)
    product = build_sum(b, product, &groups, false);
  n->results[0] = build_convert(b, product, t);
}

// self mat2 scale_a scale_b offs bias scale_result out_dtype use_fast_accum: a scale for each row
// of self, and for each group and column
void compose_scaled_grouped_mm(struct build *b, struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 4), *group;
  struct value *row = node_value(n, 2), *column = node_value(n, 3);
  if (x->rank != 2 || y->rank != 3 || !offs || offs->rank != 1 || row->rank != 1 ||
      column->rank != 2 || !node_is_none(n, 5) || !node_is_none(n, 6)) {
    compose_error(b, n, E1008,
                  "other operands than rows of groups, without bias; scales are [rows] "
                  "and [groups, columns]");
    return;
  }
  x = build_convert(b, x, DTYPE_F32), y = build_convert(b, y, DTYPE_F32);
  struct value *sum = x && y ? rows_product(b, x, y, offs, &group) : NULL;
  if (sum)
    sum = build_mul(b, build_mul(b, sum, build_along(b, row, 0, 2)), pick(b, column, group));
  n->results[0] =
      build_convert(b, sum, n->args[7].kind == ARG_DTYPE ? n->args[7].dtype : DTYPE_BF16);
}
