// SPDX-License-Identifier: Apache-2.0
// Matrix products. Those that suit tensor cores badly become sums over rows or columns.
#include "graph/loops/loops_internal.h"

static bool is_large(const struct expr *m, const struct expr *n, const struct expr *k) {
  return expr_likely(m) >= 2 && expr_likely(n) >= 2 && expr_likely(k) >= 16 &&
         expr_likely_product(expr_likely(m), expr_likely(n)) >= 64;
}

bool loops_pays_as_product(struct builder *b, const struct value *v, const struct expr *m,
                           const struct expr *n, const struct expr *k) {
  (void)b;
  // A single row or column is read once in either form; a short k leaves most of an instruction
  // unused.
  return dtype_is_float(v->dtype) && dtype_bits(v->dtype) <= 32 && is_large(m, n, k);
}

// Loaded as i8: sums of products of these have an instruction, whose accumulator is i32.
static bool is_loaded_i8(const struct scalar *v) {
  return v->kind == SCALAR_CONVERT && v->dtype == DTYPE_I32 && v->in[0]->kind == SCALAR_LOAD &&
         v->in[0]->dtype == DTYPE_I8;
}

// The instruction needs k of 32.
static bool pays_as_integers(const struct value *v, const struct expr *m, const struct expr *n,
                             const struct expr *k, const struct scalar *x, const struct scalar *y) {
  return v->dtype == DTYPE_I32 && is_loaded_i8(x) && is_loaded_i8(y) && is_large(m, n, k) &&
         expr_likely(k) >= 32;
}

// A row times quantised weights: they are computed from bytes, block by block.
static bool is_row_of_weights(struct builder *b, const struct value *weights,
                              const struct scalar *v, const struct expr *m, const struct expr *n,
                              const struct expr *k) {
  enum { LEAST = 64 };
  return expr_is(m, 1) && dtype_bits(weights->dtype) == 16 && expr_likely(n) >= LEAST &&
         expr_likely(k) >= LEAST && loops_reads_quantised(b, weights, v);
}

// Moves constant factors of an operand to the users of the product, so that the operand is a plain
// load. NULL: there are none.
static const struct scalar *take_factor(struct builder *b, const struct scalar **a,
                                        const struct scalar **c) {
  const struct scalar *factor = NULL, **sides[2] = {a, c};
  for (unsigned i = 0; i < 2 && !b->rounds && dtype_is_float((*a)->dtype); i++) {
    const struct scalar *v = *sides[i];
    if (v->kind != SCALAR_APPLY || v->op != SCALAR_MUL || v->in[1]->kind != SCALAR_CONST)
      continue;
    *sides[i] = v->in[0];
    factor = factor ? loops_binary(b, SCALAR_MUL, DTYPE_F32, factor, v->in[1]) : v->in[1];
  }
  return factor;
}

bool loops_store_product(struct builder *b, const struct node *n, struct deferred *z,
                         const struct expr *const axes[4], const struct groups *groups,
                         const struct scalar *a, const struct scalar *c, coordinates at) {
  const struct scalar *factor = take_factor(b, &a, &c);
  struct assignment h = factor ? loops_temporary(b, z->value) : loops_assign(b, z->value);
  struct stage *s = loops_stage(b, STAGE_PRODUCT, n);
  for (unsigned i = 0; i < 4; i++)
    s->axes[i] = axes[i];
  s->rank = 3;
  s->reduced = 1;
  s->a = a;
  s->b = c;
  s->dtype = z->value->dtype == DTYPE_I32 ? DTYPE_I32 : DTYPE_F32;
  s->is_fast = n->op == OP_TILE_FAST_MM || (groups && node_truth(n, 3));
  s->groups = groups;
  s->out = h.buffer;
  s->offset = loops_offset(b, &h, at);
  loops_inherit(b, z, n);
  loops_take_origins(b, z, s);
  loops_stored(b, z, &h);
  return !factor || loops_define(b, n, z, loops_binary(b, SCALAR_MUL, DTYPE_F32, z->body, factor));
}

// ---- operands ----

struct evenness {
  struct builder *b;
  const struct expr *row, *column;
  bool is_even;
};

// Linear along both axes, or contiguous along one, whose vector loads are wide at any offset, or
// the same along one, as indices of rows are.
static void note_load(void *user, const struct scalar *load) {
  struct evenness *e = user;
  const struct expr *rows, *columns, *rest;
  bool row = expr_linear(e->b->x, load->index, e->row, &rows, &rest);
  bool column = expr_linear(e->b->x, load->index, e->column, &columns, &rest);
  bool dense = (row && (expr_is(rows, 1) || expr_is(rows, 0))) ||
               (column && (expr_is(columns, 1) || expr_is(columns, 0)));
  e->is_even = e->is_even && ((row && column) || dense);
}

const struct scalar *loops_product_operand(struct builder *b, const struct node *n,
                                           const struct value *of, const struct scalar *v,
                                           const struct expr *batch, const struct expr *row,
                                           const struct expr *column, bool only_load) {
  struct evenness e = {.b = b, .row = row, .column = column, .is_even = true};
  scalar_loads(v, note_load, &e);
  if (loops_reads_quantised(b, of, v) ||
      (b->uses[of->id].in_scaled_product && scalar_is_scaled_bytes(v)))
    return v;
  const struct scalar *inner = v->kind == SCALAR_CONVERT ? v->in[0] : v;
  if (e.is_even && (!only_load || inner->kind == SCALAR_LOAD))
    return v;
  const struct expr *axes[3] = {batch, row, column};
  const struct expr *shape[3] = {axis_extent(batch), axis_extent(row), axis_extent(column)};
  const char *name = arena_printf(b->arena, "%s_copy", of->name);
  struct stage *s = loops_stage(b, STAGE_MAP, n);
  loops_add_axes(b, s, 3, axes, false);
  s->body = v;
  s->dtype = v->dtype;
  s->out = loops_buffer(b, BUFFER_TEMP, 0, NULL, name, of->dtype, expr_product(b->x, shape, 3));
  s->offset = loops_dot(b, 3, axes, contiguous_strides(b->x, b->arena, 3, shape));
  vec_push(b->arena, &s->origins, "clone");
  return scalar_convert(b->s, scalar_load(b->s, s->out, s->offset), v->dtype);
}

static const struct scalar *matrix(struct builder *b, const struct value *v, bool batched,
                                   const struct expr *batch, const struct expr *row,
                                   const struct expr *column) {
  const struct expr *at[3] = {batch, row, column};
  for (unsigned i = 0; i < 3; i++)
    if (i >= (batched ? 0 : 1) && expr_is(v->shape[i - !batched], 1))
      at[i] = expr_const(b->x, 0);
  return loops_element(b, v, batched ? at : at + 1);
}

bool loops_lower_product(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  const struct value *x = node_value(n, 0), *y = node_value(n, 1);
  bool batched = n->op == OP_BMM;
  const struct expr *one = expr_const(b->x, 1);
  const struct expr *batch = batched ? x->shape[0] : one;
  const struct expr *m = x->shape[batched], *k = x->shape[1 + batched],
                    *cols = y->shape[1 + batched];
  const struct expr *axes[4] = {loops_symbol(b, 'b', 0, batch), loops_symbol(b, 'm', 0, m),
                                loops_symbol(b, 'n', 0, cols), loops_symbol(b, 'k', 0, k)};
  const struct scalar *a = matrix(b, x, batched, axes[0], axes[1], axes[3]);
  const struct scalar *c = matrix(b, y, batched, axes[0], axes[3], axes[2]);
  if (!loops_pays_as_product(b, z->value, m, cols, k) && !b->uses[z->value->id].in_attention &&
      !is_row_of_weights(b, y, c, m, cols, k) && !pays_as_integers(z->value, m, cols, k, a, c)) {
    const struct expr *over = loops_axis(b, 'r', 0, k), *zero = expr_const(b->x, 0);
    const struct expr *at = batched ? z->at[0] : zero;
    return loops_sum_product(b, n, z, matrix(b, x, batched, at, z->at[batched], over),
                             matrix(b, y, batched, at, over, z->at[1 + batched]), 1, &over);
  }
  a = loops_product_operand(b, n, x, a, axes[0], axes[1], axes[3], false);
  c = loops_product_operand(b, n, y, c, axes[0], axes[3], axes[2], false);
  return loops_store_product(b, n, z, axes, NULL, a, c, batched ? axes : axes + 1);
}
