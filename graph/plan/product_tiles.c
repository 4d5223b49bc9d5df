// SPDX-License-Identifier: Apache-2.0
// Recognises matrices by their offsets: row * stride + column + start.
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

static struct product_tile tile_of(struct planner *pl, struct buffer *b, const struct expr *offset,
                                   const struct expr *row, const struct expr *column) {
  const struct expr *stride, *one, *rest, *start;
  int64_t elements = TILE_ROW_BYTES / dtype_bytes(b->dtype);
  if (!is_extent(row) || !is_extent(column) || !expr_linear(pl->x, offset, row, &stride, &rest) ||
      !expr_linear(pl->x, rest, column, &one, &start) || !expr_is(one, 1) || stride->lo < 1 ||
      !product_is_of_sizes(stride) || !expr_is_multiple(stride, elements) ||
      !expr_is_const(start, NULL) || !expr_is_multiple(start, elements))
    return none;
  return (struct product_tile){b, start, row, column, stride};
}

const struct scalar *product_operand_load(const struct scalar *v, enum dtype t) {
  const struct scalar *load = operand_load(v);
  bool is_masked =
      v->kind == SCALAR_MASKED || (v->kind == SCALAR_CONVERT && v->in[0]->kind == SCALAR_MASKED);
  return load && !is_masked && load->dtype == t ? load : NULL;
}

struct product_tile product_tile_of_operand(struct planner *pl, const struct scalar *v,
                                            enum dtype t, const struct expr *x,
                                            const struct expr *y) {
  const struct scalar *load = product_operand_load(v, t);
  if (!load)
    return none;
  struct product_tile tile = tile_of(pl, load->buffer, load->index, x, y);
  return tile.buffer ? tile : tile_of(pl, load->buffer, load->index, y, x);
}

struct product_tile product_tile_of_load(struct planner *pl, const struct scalar *load,
                                         const struct expr *m, const struct expr *n) {
  return tile_of(pl, load->buffer, load->index, m, n);
}

struct product_tile product_tile_of_store(struct planner *pl, const struct write_part *w,
                                          const struct expr *m, const struct expr *n) {
  return tile_of(pl, w->buffer, w->offset, m, n);
}
