// SPDX-License-Identifier: Apache-2.0
// Splits offsets: (row + key) * stride + column + d, where row and column depend on the batch.
// Recursion is the algorithm: an expression is a tree.
#include "graph/plan/attention_tiles.h"

#include "graph/plan/operand.h"
#include "graph/plan/product_tiles.h"

static const struct attention_tile none = {.buffer = NULL};

// The divisor of the first division or remainder of `batch` in `e`; NULL: there is none.
static const struct expr *divisor_of(const struct expr *e, const struct expr *batch) {
  if ((e->kind == EXPR_FLOORDIV || e->kind == EXPR_MOD) && e->in[0] == batch)
    return e->in[1];
  const struct expr *found = NULL;
  for (uint32_t i = 0; i < e->count && !found; i++)
    found = divisor_of(e->in[i], batch);
  return found;
}

// start = row * stride + column, term by term.
static void split_terms(struct exprs *x, const struct expr *start, struct attention_tile *t) {
  bool is_sum = start->kind == EXPR_ADD;
  t->row = t->column = expr_const(x, 0);
  for (uint32_t i = 0; i < (is_sum ? start->count : 1); i++) {
    const struct expr *term = is_sum ? start->in[i] : start;
    const struct expr *rows = expr_divide_exactly(x, term, t->stride);
    if (rows)
      t->row = expr_add(x, t->row, rows);
    else
      t->column = expr_add(x, t->column, term);
  }
}

// Batches and heads are digits of `batch`, which the canonical form does not keep apart: batch =
// high * d + low, where both are symbols here.
static void split_start(struct exprs *x, const struct expr *start, const struct expr *batch,
                        struct attention_tile *t) {
  const struct expr *d = divisor_of(start, batch);
  if (!d || d->lo < 1) {
    split_terms(x, start, t);
    return;
  }
  const struct expr *highs = expr_floordiv(x, expr_addi(x, axis_extent(batch), -1), d);
  const struct expr *low = expr_symbol(x, "low", 0, d->hi == INT64_MAX ? d->hi : d->hi - 1, d);
  const struct expr *high = expr_symbol(x, "high", 0, highs->hi, expr_addi(x, highs, 1));
  const struct expr *digits = expr_add(x, expr_mul(x, high, d), low);
  const struct expr *in_digits = expr_substitute(x, start, 1, &batch, &digits);
  if (expr_has_symbol(in_digits, low))
    split_terms(x, in_digits, t);
  else // heads that share keys: the rest has digits of its own
    split_start(x, in_digits, high, t);
  const struct expr *from[] = {high, low};
  const struct expr *to[] = {expr_floordiv(x, batch, d), expr_mod(x, batch, d)};
  t->row = expr_substitute(x, t->row, 2, from, to);
  t->column = expr_substitute(x, t->column, 2, from, to);
}

// Is 0 <= first <= all - count?
static bool is_part(struct exprs *x, const struct expr *first, const struct expr *count,
                    const struct expr *all) {
  return expr_is_within(x, first, expr_addi(x, expr_sub(x, all, count), 1));
}

struct attention_tile attention_tile_of(struct planner *pl, const struct scalar *v, enum dtype t,
                                        const struct expr *batch, const struct expr *key,
                                        const struct expr *columns) {
  const struct scalar *load = product_operand_load(v, t);
  const struct expr *one, *rest, *start;
  if (!load)
    return none;
  struct attention_tile tile = {.buffer = load->buffer};
  int64_t elements = TILE_ROW_BYTES / dtype_bytes(t);
  const struct expr *keys = axis_extent(key), *width = axis_extent(columns);
  if (!expr_linear(pl->x, load->index, key, &tile.stride, &rest) ||
      !expr_linear(pl->x, rest, columns, &one, &start) || !expr_is(one, 1) ||
      !product_is_of_sizes(tile.stride) || !expr_is_multiple(tile.stride, elements) ||
      tile.stride->lo < 1 || keys->lo < 1)
    return none;
  split_start(pl->x, start, batch, &tile);
  tile.rows = tile.row->hi < INT32_MAX ? expr_addi(pl->x, keys, tile.row->hi)
                                       : expr_mul(pl->x, axis_extent(batch), keys);
  bool fits = tile.rows->hi <= INT32_MAX && tile.stride->hi <= INT32_MAX &&
              is_part(pl->x, tile.row, keys, tile.rows) &&
              is_part(pl->x, tile.column, width, tile.stride);
  return fits ? tile : none;
}
