// SPDX-License-Identifier: Apache-2.0
// From a graph of primitives to loops: the walk over the nodes, axes, and elements of values.
#include "graph/loops/internal.h"

// ---- axes and coordinates ----

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
  const struct expr *below = expr_const(b->x, 1); // elements of the dimensions behind
  for (size_t i = count; i-- > 0;) {
    const struct expr *rest = expr_floordiv(b->x, e, below);
    ret[i] = i ? expr_mod(b->x, rest, sizes[i]) : rest;
    below = expr_mul(b->x, below, sizes[i]);
  }
}

// ---- elements ----

enum dtype loops_compute_dtype(enum dtype t) {
  return dtype_is_float(t) && dtype_bits(t) < 32 ? DTYPE_F32 : t;
}

const struct scalar *loops_element(struct builder *b, const struct value *v, coordinates at) {
  const struct deferred *z = b->lazies[v->id];
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

// ---- the walk ----

bool loops_refuse(struct builder *b, const struct node *n, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *why = arena_vprintf(b->arena, fmt, ap);
  va_end(ap);
  diag_error(b->l->diag, n->span, E1011, "`%s` cannot be written as loops: %s",
             operator_row(n->op)->name, why);
  b->failed = true;
  return false;
}

static bool has_uses(const struct builder *b, const struct node *n) {
  for (uint32_t i = 0; i < n->result_count; i++)
    if (n->results[i]) {
      const struct uses *u = &b->uses[n->results[i]->id];
      if (u->count || u->is_output)
        return true;
    }
  return false;
}

static bool lower(struct builder *b, const struct node *n) {
  switch (n->op) {
  case OP_TILE_RAND:
  case OP_FULL:
  case OP_IOTA: return loops_lower_create(b, n);
  case OP_EMBEDDING:
  case OP_GATHER:
  case OP_INDEX:
  case OP_INDEX_SELECT: return loops_lower_gather(b, n);
  case OP_INDEX_PUT:
  case OP_SCATTER_VALUE:
  case OP_SCATTER_SRC:
  case OP_SCATTER_ADD: return loops_lower_scatter(b, n);
  case OP_CUMSUM: return loops_lower_scan(b, n);
  case OP_MM:
  case OP_BMM: return loops_lower_product(b, n);
  case OP_CONVOLUTION:
  case OP_CONVOLUTION_GRAD_INPUT:
  case OP_CONVOLUTION_GRAD_WEIGHT: return loops_lower_convolution(b, n);
  case OP_TILE_ATTENTION: return loops_lower_attention(b, n);
  default: break;
  }
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE: return loops_lower_pointwise(b, n);
  case CLASS_VIEW: return loops_lower_view(b, n);
  case CLASS_SHAPE: return loops_lower_move(b, n);
  case CLASS_REDUCTION: return loops_lower_reduction(b, n);
  default: return loops_refuse(b, n, "it should have been decomposed");
  }
}

static void add_input(struct builder *b, struct value *v, uint32_t index) {
  struct deferred *z = loops_deferred(b, v);
  struct buffer *buffer =
      loops_buffer(b, BUFFER_INPUT, index, v, v->name, v->dtype, loops_span(b, v, v->strides));
  b->inputs[index] = buffer;
  z->body =
      scalar_convert(b->s, scalar_load(b->s, buffer, loops_dot(b, v->rank, z->at, v->strides)),
                     loops_compute_dtype(v->dtype));
  b->lazies[v->id] = z;
}

static bool check_stages(const struct loops *l, struct span at) {
  return l->stages.len <= LIMIT_GRAPH_STAGES || limit_error(l->diag, at, LIMIT_ID_GRAPH_STAGES, 0);
}

struct loops *loops_build(struct graph *g) {
  struct arena *a = g->arena;
  struct loops *l = arena_new(a, struct loops);
  *l = (struct loops){.arena = a, .exprs = g->exprs, .diag = g->diag, .graph = g};
  l->scalars = scalars_create(a, g->exprs);
  scalars_round_half_precision(l->scalars, g->keeps_casts);
  struct builder b = {.l = l,
                      .s = l->scalars,
                      .x = g->exprs,
                      .arena = a,
                      .g = g,
                      .rounds = g->keeps_casts,
                      .lazies = arena_array(a, struct deferred *, g->value_count + 1),
                      .inputs = arena_array(a, struct buffer *, g->inputs.len + 1),
                      .outputs = arena_array(a, struct buffer *, g->outputs.len + 1)};
  if (!loops_find_uses(&b))
    return NULL;
  for (size_t i = 0; i < g->inputs.len; i++)
    add_input(&b, g->inputs.at[i], (uint32_t)i);
  for (size_t i = 0; i < g->nodes.len; i++)
    if (has_uses(&b, g->nodes.at[i]) &&
        !(lower(&b, g->nodes.at[i]) && check_stages(l, g->nodes.at[i]->span)))
      return NULL;
  if (!loops_write_outputs(&b) || !check_stages(l, SPAN_NONE))
    return NULL;
  loops_write_inputs(&b);
  loops_drop_unread(&b);
  return l;
}
