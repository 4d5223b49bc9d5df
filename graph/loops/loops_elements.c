// SPDX-License-Identifier: Apache-2.0
// Axes, coordinates, and elements of values at coordinates, for the lowering of all operators.
#include "graph/loops/loops_internal.h"

const struct expr **loops_coordinates(struct builder *b, size_t count) {
  return arena_array(b->arena, const struct expr *, count + 1);
}

const struct expr *loops_symbol(struct builder *b, char kind, unsigned position,
                                const struct expr *extent) {
  struct {
    const struct expr *extent;
    uint32_t kind, position;
  } key = {extent, (uint32_t)kind, position};
  struct str bytes = {(const char *)&key, sizeof key};
  const struct expr *found = map_get(&b->axes, bytes);
  if (found)
    return found;
  int64_t hi = extent->hi == INT64_MAX ? INT64_MAX : extent->hi > 0 ? extent->hi - 1 : 0;
  const char *name = kind == 'x' || kind == 'r' ? arena_printf(b->arena, "%c%u", kind, position)
                                                : arena_printf(b->arena, "%c", kind);
  found = expr_symbol(b->x, name, 0, hi, extent);
  map_put(b->arena, &b->axes, bytes, (void *)(uintptr_t)found);
  return found;
}

const struct expr *loops_axis(struct builder *b, char kind, unsigned position,
                              const struct expr *extent) {
  return expr_is(extent, 1) ? expr_const(b->x, 0) : loops_symbol(b, kind, position, extent);
}

struct deferred *loops_deferred(struct builder *b, struct value *v) {
  struct deferred *z = arena_new(b->arena, struct deferred);
  z->value = v;
  z->at = loops_coordinates(b, v->rank);
  for (uint32_t i = 0; i < v->rank; i++)
    z->at[i] = loops_axis(b, 'x', i, v->shape[i]);
  return z;
}

const struct expr *loops_dot(struct builder *b, size_t count, coordinates at,
                             const struct expr *const *strides) {
  const struct expr *e = expr_const(b->x, 0);
  for (size_t i = 0; i < count; i++)
    e = expr_add(b->x, e, expr_mul(b->x, at[i], strides[i]));
  return e;
}

const struct expr *loops_linear(struct builder *b, const struct value *v, coordinates at) {
  return loops_dot(b, v->rank, at, contiguous_strides(b->x, b->arena, v->rank, v->shape));
}

void loops_unravel(struct builder *b, const struct expr *e, size_t count,
                   const struct expr *const *sizes, const struct expr **ret) {
  const struct expr *below = expr_const(b->x, 1); // elements of the inner dimensions
  for (size_t i = count; i-- > 0;) {
    const struct expr *rest = expr_floordiv(b->x, e, below);
    ret[i] = i ? expr_mod(b->x, rest, sizes[i]) : rest;
    below = expr_mul(b->x, below, sizes[i]);
  }
}

const struct scalar *loops_element(struct builder *b, const struct value *v, coordinates at) {
  const struct deferred *z = b->deferred[v->id];
  const struct expr *from[GRAPH_MAX_RANK], *to[GRAPH_MAX_RANK];
  size_t count = 0;
  for (uint32_t i = 0; i < v->rank; i++)
    if (z->at[i]->kind == EXPR_SYMBOL && z->at[i] != at[i]) {
      from[count] = z->at[i];
      to[count++] = at[i];
    }
  return scalar_substitute(b->s, z->body, count, from, to);
}

const struct scalar *loops_broadcast(struct builder *b, const struct value *v, uint32_t rank,
                                     coordinates at) {
  const struct expr *index[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < v->rank; i++)
    index[i] = expr_is(v->shape[i], 1) ? expr_const(b->x, 0) : at[rank - v->rank + i];
  return loops_element(b, v, index);
}

const struct scalar *loops_number(struct builder *b, const struct arg *a, enum dtype t) {
  switch (a->kind) {
  case ARG_BOOL: return scalar_convert(b->s, scalar_int(b->s, DTYPE_I1, a->truth), t);
  case ARG_FLOAT: return scalar_convert(b->s, scalar_real(b->s, DTYPE_F64, a->real), t);
  default: return scalar_convert(b->s, scalar_index(b->s, a->number), t);
  }
}

const struct scalar *loops_operand(struct builder *b, const struct node *n, unsigned i,
                                   enum dtype t, uint32_t rank, coordinates at) {
  const struct value *v = node_value(n, i);
  return v ? scalar_convert(b->s, loops_broadcast(b, v, rank, at), t)
           : loops_number(b, &n->args[i], t);
}

const struct scalar *loops_binary(struct builder *b, enum scalar_op op, enum dtype t,
                                  const struct scalar *x, const struct scalar *y) {
  const struct scalar *in[2] = {x, y};
  return scalar_apply(b->s, op, t, in);
}

const struct scalar *loops_between(struct builder *b, const struct expr *e, const struct expr *from,
                                   const struct expr *to) {
  const struct scalar *i = scalar_index(b->s, e);
  return loops_binary(b, SCALAR_AND, DTYPE_I1,
                      loops_binary(b, SCALAR_LE, DTYPE_I1, scalar_index(b->s, from), i),
                      loops_binary(b, SCALAR_LT, DTYPE_I1, i, scalar_index(b->s, to)));
}

bool loops_refuse(struct builder *b, const struct node *n, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *why = arena_vprintf(b->arena, fmt, ap);
  va_end(ap);
  diag_error(b->l->diag, n->span, E1011, "`%s` cannot be lowered to loops: %s",
             operator_row(n->op)->name, why);
  b->failed = true;
  return false;
}
