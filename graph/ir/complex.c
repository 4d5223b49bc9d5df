// SPDX-License-Identifier: Apache-2.0
// Complex tensors as pairs and as parts.
#include "graph/ir/complex.h"

// Of the shape of `like` without its last `dropped` dimensions.
static struct value *create(struct build *b, const struct value *like, uint32_t dropped) {
  struct value *v = arena_new(b->g->arena, struct value);
  *v = (struct value){.id = like->id,
                      .dtype = like->dtype,
                      .rank = like->rank - dropped,
                      .shape = like->shape,
                      .span = b->at};
  v->strides = contiguous_strides(b->g->exprs, b->g->arena, v->rank, v->shape);
  v->complex = arena_new(b->g->arena, struct complex_parts);
  return v;
}

struct value *complex_of_pairs(struct build *b, struct value *pairs) {
  if (!pairs)
    return NULL;
  struct value *v = create(b, pairs, 1);
  *v->complex = (struct complex_parts){.pairs = pairs};
  return v;
}

// Expands both to a common shape.
static void broadcast(struct build *b, struct value **x, struct value **y) {
  const struct value *longer = (*x)->rank >= (*y)->rank ? *x : *y;
  const struct value *other = longer == *x ? *y : *x;
  const struct expr *shape[GRAPH_MAX_RANK];
  uint32_t rank = longer->rank, missing = rank - other->rank;
  for (uint32_t d = 0; d < rank; d++)
    shape[d] =
        d >= missing && expr_is(longer->shape[d], 1) ? other->shape[d - missing] : longer->shape[d];
  *x = build_expand(b, *x, rank, shape);
  *y = build_expand(b, *y, rank, shape);
}

struct value *complex_of_parts(struct build *b, struct value *real, struct value *imag) {
  if (!real || !imag)
    return NULL;
  if (!value_same_shape(real, imag)) // one is a broadcast, as in `x + 1i` with a real x
    broadcast(b, &real, &imag);
  imag = real ? build_convert(b, imag, real->dtype) : NULL;
  if (!imag)
    return NULL;
  struct value *v = create(b, real, 0);
  *v->complex = (struct complex_parts){.real = real, .imag = imag};
  return v;
}

static struct value *part_of_pairs(struct build *b, struct value *pairs, int64_t which) {
  return BUILD(b, OP_SELECT, TENSOR(pairs), arg_int(b->g, -1), arg_int(b->g, which));
}

struct value *complex_real(struct build *b, struct value *v) {
  if (!v || !v->complex)
    return v;
  struct complex_parts *c = v->complex;
  if (!c->real)
    c->real = part_of_pairs(b, c->pairs, 0);
  return c->real;
}

struct value *complex_imag(struct build *b, struct value *v) {
  if (!v)
    return NULL;
  if (!v->complex)
    return BUILD(b, OP_ZEROS_LIKE, TENSOR(v));
  struct complex_parts *c = v->complex;
  if (!c->imag)
    c->imag = part_of_pairs(b, c->pairs, 1);
  return c->imag;
}

struct value *complex_pairs(struct build *b, struct value *v) {
  if (!v)
    return NULL;
  if (!v->complex) {
    struct value *both[] = {v, complex_imag(b, v)};
    return BUILD(b, OP_STACK, arg_values(b->g, 2, both), arg_int(b->g, -1));
  }
  struct complex_parts *c = v->complex;
  if (!c->pairs)
    c->pairs = BUILD(b, OP_STACK, arg_values(b->g, 2, (struct value *[]){c->real, c->imag}),
                     arg_int(b->g, -1));
  return c->pairs;
}

// ---- inputs and outputs ----

// Strides of pairs, in real elements.
static const struct expr **strides_of_pairs(struct graph *g, uint32_t rank,
                                            const struct expr *const *strides) {
  const struct expr **all = arena_array(g->arena, const struct expr *, rank + 1);
  for (uint32_t d = 0; d < rank; d++)
    all[d] = expr_muli(g->exprs, strides[d], 2);
  all[rank] = expr_const(g->exprs, 1);
  return all;
}

struct value *complex_input(struct graph *g, const char *name, enum dtype part, uint32_t rank,
                            const struct expr *const *shape, const struct expr *const *strides,
                            struct span at) {
  struct build b = {g, at};
  const struct expr *all[GRAPH_MAX_RANK];
  if (rank == GRAPH_MAX_RANK) {
    diag_error(g->diag, at, E1009, "a complex tensor of more than %d dimensions",
               GRAPH_MAX_RANK - 1);
    return NULL;
  }
  for (uint32_t d = 0; d < rank; d++)
    all[d] = shape[d];
  all[rank] = expr_const(g->exprs, 2);
  if (!strides)
    strides = contiguous_strides(g->exprs, g->arena, rank, shape);
  struct value *pairs =
      graph_add_input(g, name, part, rank + 1, all, strides_of_pairs(g, rank, strides), at);
  struct value *v = complex_of_pairs(&b, pairs);
  for (uint32_t d = 0; d < rank; d++)
    v->strides[d] = strides[d];
  v->name = pairs->name;
  v->span = at;
  return v;
}

static bool has_strides(const struct value *pairs, const struct expr *const *strides) {
  for (uint32_t d = 0; d < pairs->rank; d++)
    if (pairs->strides[d] != strides[d])
      return false;
  return true;
}

struct value *complex_output(struct graph *g, struct value *v, struct span at) {
  struct build b = {g, at};
  bool is_new = !v->complex->pairs;
  struct value *pairs = complex_pairs(&b, v);
  if (!pairs)
    return NULL;
  const struct expr **strides = strides_of_pairs(g, v->rank, v->strides);
  bool is_alike = is_new || has_strides(pairs, strides);
  if (!is_alike || (!is_new && v->name && strcmp(pairs->name, v->name) != 0)) {
    const struct arg whole = TENSOR(pairs);
    pairs = graph_apply(g, is_alike ? OP_ALIAS : OP_CLONE, &whole, 1, at);
    is_new = !is_alike;
  }
  if (!pairs)
    return NULL;
  if (is_new)
    pairs->strides = strides;
  if (v->name)
    pairs->name = v->name;
  return pairs;
}
