// SPDX-License-Identifier: Apache-2.0
// Recognises matrices by their offsets: row * stride + column + start, and in front of these terms
// index * stride, where the index is a function of the batch's number:
//
//   batch // 4 * 32768 + batch % 4 * 64 + m * 256 + k     of [batch // 4, m, batch % 4, k]
// Recursion is the algorithm: an expression is a tree.
#include "graph/plan/product_tiles.h"

#include "graph/plan/operand.h"

static const struct product_tile none = {.buffer = NULL};

// Offsets in a tensor map are i32.
static bool is_extent(const struct expr *axis) {
  const struct expr *e = axis_extent(axis);
  return e->lo >= 0 && e->hi <= INT32_MAX;
}

bool product_is_of_sizes(const struct expr *e) {
  if (e->kind == EXPR_SYMBOL)
    return !e->symbol->limit && !e->symbol->indirect;
  for (uint32_t i = 0; i < e->count; i++)
    if (!product_is_of_sizes(e->in[i]))
      return false;
  return true;
}

// ---- the batch ----

static bool is_size_of(const struct expr *e, const struct expr *batch) {
  return product_is_of_sizes(e) && !expr_has_symbol(e, batch);
}

// The exclusive upper bound of an index; NULL: unknown, or not an i32.
static const struct expr *size_of_index(struct exprs *x, const struct expr *index,
                                        const struct expr *batch) {
  if (index->lo < 0 || index->hi > INT32_MAX)
    return NULL;
  if (index == batch)
    return axis_extent(batch);
  if (index->kind == EXPR_MOD && is_size_of(index->in[1], batch))
    return index->in[1];
  if (index->kind == EXPR_FLOORDIV && index->in[0] == batch && is_size_of(index->in[1], batch))
    return expr_cdiv(x, axis_extent(batch), index->in[1]);
  return index->hi < INT32_MAX ? expr_const(x, index->hi + 1) : NULL;
}

// Only the batch, and sizes.
static bool is_of_batch(const struct expr *e, const struct expr *batch) {
  if (e == batch)
    return true;
  if (e->kind == EXPR_SYMBOL)
    return product_is_of_sizes(e);
  for (uint32_t i = 0; i < e->count; i++)
    if (!is_of_batch(e->in[i], batch))
      return false;
  return true;
}

// A term of the offset is a dimension: its factors that depend on the batch, times the others.
static bool add_outer(struct planner *pl, struct product_tile *t, const struct expr *batch,
                      const struct expr_summand *term, int64_t elements) {
  const struct expr *index = expr_const(pl->x, 1), *stride = expr_const(pl->x, term->times);
  const struct expr *const *factors = term->of->kind == EXPR_MUL ? term->of->in : &term->of;
  uint32_t count = term->of->kind == EXPR_MUL ? term->of->count : 1;
  for (uint32_t i = 0; i < count; i++)
    if (expr_has_symbol(factors[i], batch))
      index = expr_mul(pl->x, index, factors[i]);
    else
      stride = expr_mul(pl->x, stride, factors[i]);
  const struct expr *size = is_of_batch(index, batch) ? size_of_index(pl->x, index, batch) : NULL;
  if (t->outer_count == MOST_OUTER || !size || stride->lo < 1 || !product_is_of_sizes(stride) ||
      !expr_is_multiple(stride, elements))
    return false;
  t->outer[t->outer_count++] = (struct product_outer){index, size, stride};
  return true;
}

// rest = start + the dimensions of the batch.
static bool split_batch(struct planner *pl, struct product_tile *t, const struct expr *batch,
                        const struct expr *rest, int64_t elements) {
  struct expr_summand terms[EXPR_SUMMANDS] = {{rest, 1}};
  uint32_t count = 1;
  if (rest->kind == EXPR_ADD && rest->count <= 2 * (MOST_OUTER + 1))
    count = expr_summands(pl->x, rest, terms);
  t->start = expr_const(pl->x, 0);
  for (uint32_t i = 0; i < count; i++) {
    if (expr_has_symbol(terms[i].of, batch) && !add_outer(pl, t, batch, &terms[i], elements))
      return false;
    if (!expr_has_symbol(terms[i].of, batch))
      t->start = expr_add(pl->x, t->start, expr_muli(pl->x, terms[i].of, terms[i].times));
  }
  return expr_is_const(t->start, NULL) && expr_is_multiple(t->start, elements);
}

// ---- matrices ----

// A descriptor's base points to numbers: masks are no matrices.
static struct product_tile tile_of(struct planner *pl, struct buffer *b, const struct expr *offset,
                                   const struct expr *batch, const struct expr *row,
                                   const struct expr *column) {
  const struct expr *one, *rest;
  int64_t elements = TILE_ROW_BYTES / dtype_bytes(b->dtype);
  struct product_tile t = {.buffer = b, .row_axis = row, .column_axis = column};
  if (b->dtype == DTYPE_I1 || !is_extent(row) || !is_extent(column) ||
      !expr_linear(pl->x, offset, row, &t.stride, &rest) ||
      !expr_linear(pl->x, rest, column, &one, &rest) || !expr_is(one, 1) || t.stride->lo < 1 ||
      !product_is_of_sizes(t.stride) || !expr_is_multiple(t.stride, elements))
    return none;
  return split_batch(pl, &t, batch, rest, elements) ? t : none;
}

const struct scalar *product_operand_load(const struct scalar *v, enum dtype t) {
  const struct scalar *load = operand_load(v);
  bool is_masked =
      v->kind == SCALAR_MASKED || (v->kind == SCALAR_CONVERT && v->in[0]->kind == SCALAR_MASKED);
  return load && !is_masked && load->dtype == t ? load : NULL;
}

struct product_tile product_tile_of_operand(struct planner *pl, const struct scalar *v,
                                            enum dtype t, const struct expr *batch,
                                            const struct expr *x, const struct expr *y) {
  const struct scalar *load = product_operand_load(v, t);
  if (!load)
    return none;
  struct product_tile tile = tile_of(pl, load->buffer, load->index, batch, x, y);
  return tile.buffer ? tile : tile_of(pl, load->buffer, load->index, batch, y, x);
}

struct product_tile product_tile_of_load(struct planner *pl, const struct scalar *load,
                                         const struct expr *batch, const struct expr *m,
                                         const struct expr *n) {
  return tile_of(pl, load->buffer, load->index, batch, m, n);
}

struct product_tile product_tile_of_store(struct planner *pl, const struct write_part *w,
                                          const struct expr *batch, const struct expr *m,
                                          const struct expr *n) {
  return tile_of(pl, w->buffer, w->offset, batch, m, n);
}
