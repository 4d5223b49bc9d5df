// SPDX-License-Identifier: Apache-2.0
// Sums of squares around a mean, in one pass. As written, sum((x - mean)^2) depends on the mean, so
// that long rows and columns are read twice and cannot be split. With any other shift k, s = sum(x
// - k) and q = sum((x - k)^2), it is q - s^2 / n, and the difference loses little precision if k is
// near the mean: k is the line's first element.
//
//   q[x0] = sum over r0<32768 of (x[4096*r0 + x0] - x[x0])^2
//   s[x0] = sum over r0<32768 of x[4096*r0 + x0] - x[x0]
//
// Lines that fit on the chip are not changed: there the second pass costs nothing.
#include "graph/loops/loops_internal.h"

#include <math.h>

enum { FITS_ON_CHIP = 32768, FEW = 256 };

// The only stage that writes `b`; NULL: none, or several.
static const struct stage *maker_of(const struct builder *b, const struct buffer *buffer) {
  const struct stage *found = NULL;
  for (size_t i = b->l->stages.len; i-- > 0;)
    if (b->l->stages.at[i]->out == buffer) {
      if (found)
        return NULL;
      found = b->l->stages.at[i];
    }
  return found;
}

struct line {
  const struct expr *axes[2 * GRAPH_MAX_RANK]; // of the result, then reduced
  uint32_t rank, reduced;
  const struct expr *count; // elements
};

// False if it may be empty: then it has no first element.
static bool line_of(struct builder *b, const struct deferred *z, size_t reduced, coordinates over,
                    struct line *ret) {
  *ret = (struct line){.count = expr_const(b->x, 1)};
  for (uint32_t i = 0; i < z->value->rank; i++)
    if (z->at[i]->kind == EXPR_SYMBOL)
      ret->axes[ret->rank++] = z->at[i];
  for (size_t i = 0; i < reduced; i++) {
    if (over[i]->kind != EXPR_SYMBOL)
      continue;
    ret->axes[ret->rank + ret->reduced++] = over[i];
    ret->count = expr_mul(b->x, ret->count, axis_extent(over[i]));
  }
  return ret->reduced > 0 && ret->count->lo > 0;
}

// The body of the stage that `load` reads from, over the line's axes; NULL if that stage has
// others.
static const struct scalar *made_by(struct builder *b, const struct scalar *load,
                                    const struct line *l, enum stage_kind kind, uint32_t reduced) {
  if (load->kind != SCALAR_LOAD)
    return NULL;
  const struct stage *s = maker_of(b, load->buffer);
  if (!s || s->kind != kind || s->rank != l->rank || s->reduced != reduced)
    return NULL;
  for (uint32_t i = 0; i < s->rank + reduced; i++)
    if (axis_extent(s->axes[i]) != axis_extent(l->axes[i]))
      return NULL;
  uint32_t n = s->rank + reduced;
  if (index_substitute(b->s, s->offset, n, s->axes, l->axes) != load->index ||
      (kind == STAGE_REDUCE && s->op != REDUCE_SUM))
    return NULL;
  return scalar_substitute(b->s, s->body, n, s->axes, l->axes);
}

// Is m the result of `op` over the line, divided by its count?
static bool divides_by_count(const struct scalar *m, const struct line *l) {
  const struct scalar *by = m->in[1];
  int64_t count;
  if (expr_is_const(l->count, &count)) {
    double real = by->kind == SCALAR_CONST ? by->constant.real : 0;
    double n = m->op == SCALAR_DIV ? real : 1 / real;
    return fabs(n - (double)count) < 1e-6 * n;
  }
  while (by->kind == SCALAR_CONVERT)
    by = by->in[0];
  return m->op == SCALAR_DIV && by->kind == SCALAR_INDEX && by->index == l->count;
}

// Is m the mean of x along the line?
static bool is_mean(struct builder *b, const struct scalar *m, const struct scalar *x,
                    const struct line *l) {
  if (m->kind == SCALAR_LOAD && !(m = made_by(b, m, l, STAGE_MAP, 0)))
    return false;
  if (m->kind != SCALAR_APPLY || (m->op != SCALAR_MUL && m->op != SCALAR_DIV))
    return false;
  return divides_by_count(m, l) && made_by(b, m->in[0], l, STAGE_REDUCE, l->reduced) == x;
}

// ---- candidates ----

struct reading {
  struct builder *b;
  const struct line *l;
  bool is_contiguous;
};

static void note_load(void *user, const struct scalar *load) {
  struct reading *r = user;
  const struct expr *coefficient, *rest;
  for (uint32_t i = 0; i < r->l->reduced; i++)
    if (expr_linear(r->b->x, load->index, r->l->axes[r->l->rank + i], &coefficient, &rest) &&
        expr_is(coefficient, 1))
      r->is_contiguous = true;
}

static bool is_long(struct builder *b, const struct scalar *x, const struct line *l) {
  struct reading r = {b, l, false};
  scalar_loads(x, note_load, &r);
  int64_t count = expr_hint(l->count);
  return count > FITS_ON_CHIP || (!r.is_contiguous && count > FEW);
}

// ---- the sums ----

static const struct scalar *sum(struct builder *b, const struct node *n, const struct deferred *z,
                                const struct line *l, const struct scalar *body, const char *name) {
  const struct value *v = z->value;
  struct stage *s = loops_stage(b, STAGE_REDUCE, n);
  loops_add_axes(b, s, l->rank, l->axes, false);
  loops_add_axes(b, s, l->reduced, l->axes + l->rank, true);
  s->body = body;
  s->op = REDUCE_SUM;
  s->dtype = body->dtype;
  s->out = loops_buffer(b, BUFFER_TEMP, 0, NULL, name, body->dtype, value_numel(b->x, v));
  s->offset = loops_linear(b, v, z->at);
  vec_push(b->arena, &s->origins, "var");
  return scalar_load(b->s, s->out, s->offset);
}

// v / count
static const struct scalar *over_count(struct builder *b, const struct scalar *v,
                                       const struct line *l) {
  int64_t count;
  if (expr_is_const(l->count, &count))
    return loops_binary(b, SCALAR_MUL, v->dtype, v, scalar_real(b->s, v->dtype, 1 / (double)count));
  return loops_binary(b, SCALAR_DIV, v->dtype, v,
                      scalar_convert(b->s, scalar_index(b->s, l->count), v->dtype));
}

bool loops_variance(struct builder *b, const struct node *n, struct deferred *z,
                    const struct scalar *body, size_t reduced, coordinates over, bool *ret_done) {
  *ret_done = false;
  struct line l;
  if (body->kind != SCALAR_APPLY || body->op != SCALAR_MUL || body->in[0] != body->in[1])
    return true;
  const struct scalar *d = body->in[0];
  if (d->kind != SCALAR_APPLY || d->op != SCALAR_SUB || !dtype_is_float(d->dtype) ||
      !line_of(b, z, reduced, over, &l) || !is_long(b, d->in[0], &l) ||
      !is_mean(b, d->in[1], d->in[0], &l))
    return true;
  const struct expr *zeros[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < l.reduced; i++)
    zeros[i] = expr_const(b->x, 0);
  enum dtype t = d->dtype;
  const struct scalar *first = scalar_substitute(b->s, d->in[0], l.reduced, l.axes + l.rank, zeros);
  d = loops_binary(b, SCALAR_SUB, t, d->in[0], first);
  const struct scalar *s = sum(b, n, z, &l, d, "shifted");
  const struct scalar *q = sum(b, n, z, &l, loops_binary(b, SCALAR_MUL, t, d, d), "squares");
  s = over_count(b, loops_binary(b, SCALAR_MUL, t, s, s), &l);
  *ret_done = true;
  q = loops_binary(b, SCALAR_SUB, t, q, s);
  return loops_define(b, n, z, loops_binary(b, SCALAR_MAXIMUM, t, q, scalar_real(b->s, t, 0)));
}
