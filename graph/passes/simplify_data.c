// SPDX-License-Identifier: Apache-2.0
// Rules for movement, reductions, scatters, products and attention.
#include "graph/passes/simplify.h"

static struct value *seen_as(struct simplify *s, const struct node *n, struct value *v) {
  return build_view(&s->b, v, n->results[0]->rank, n->results[0]->shape);
}

static bool all_zero(const struct node *n, unsigned i) {
  const struct arg *list;
  size_t count = node_list(n, i, &list);
  for (size_t k = 0; k < count; k++)
    if (!expr_is(list[k].number, 0))
      return false;
  return true;
}

// It only affects dimensions of size 1.
static struct value *reduction(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  struct dims dims = n->op == OP_PROD_DIM ? dims_one(node_dim(n, 1, x->rank ? x->rank : 1))
                                          : dims_of(n, 1, x->rank);
  for (uint32_t i = 0; i < dims.count && x->rank; i++)
    if (!expr_is(x->shape[dims.at[i]], 1))
      return NULL;
  return x->dtype == n->results[0]->dtype ? seen_as(s, n, x) : NULL;
}

static struct value *flip(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0);
  struct dims dims = dims_of(n, 1, x->rank);
  const struct arg *list;
  for (uint32_t i = 0; i < dims.count && node_list(n, 1, &list); i++)
    if (!expr_is(x->shape[dims.at[i]], 1))
      return NULL;
  (void)s;
  return x;
}

// A scatter of one element along a dimension becomes a comparison with the index: where(iota ==
// index, src, self).
static struct value *scatter(struct simplify *s, const struct node *n) {
  struct build *b = &s->b;
  struct value *x = node_value(n, 0), *index = node_value(n, 2), *src = node_value(n, 3);
  if (x->rank == 0 || index->rank != x->rank)
    return NULL;
  uint32_t dim = node_dim(n, 1, x->rank);
  if (!expr_is(index->shape[dim], 1) || (src && !value_same_shape(src, index)))
    return NULL;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != dim && index->shape[i] != x->shape[i])
      return NULL;
  if (n->op == OP_SCATTER_VALUE)
    src = BUILD(b, OP_FULL, arg_exprs(b->g, 0, NULL), n->args[3], ARG_D(x->dtype));
  struct value *hits =
      build_binop(b, OP_EQ_TENSOR, build_iota(b, x->shape[dim], dim, x->rank), index);
  src = build_convert(b, src, x->dtype);
  if (n->op != OP_SCATTER_ADD)
    return build_where(b, hits, src, x);
  return build_add(b, x, build_where_else(b, hits, src, 0));
}

// Outer products: of a column and a row.
static struct value *product(struct simplify *s, const struct node *n) {
  struct value *x = node_value(n, 0), *y = node_value(n, 1);
  return expr_is(x->shape[x->rank - 1], 1) ? build_mul(&s->b, x, y) : NULL;
}

struct value *simplify_data(struct simplify *s, const struct node *n) {
  struct value *v = NULL, *x;
  const struct arg *list;
  switch (n->op) {
  case OP_SUM_DIM:
  case OP_AMAX:
  case OP_AMIN:
  case OP_ANY_DIMS:
  case OP_PROD_DIM: v = reduction(s, n); break;
  case OP_CAT: v = node_list(n, 0, &list) == 1 ? list[0].value : NULL; break;
  case OP_CONSTANT_PAD_ND: v = all_zero(n, 1) ? node_value(n, 0) : NULL; break;
  case OP_FLIP: v = flip(s, n); break;
  case OP_SELECT_SCATTER:
    x = node_value(n, 0);
    v = expr_is(x->shape[node_dim(n, 2, x->rank)], 1) ? seen_as(s, n, node_value(n, 1)) : NULL;
    break;
  case OP_SLICE_SCATTER:
    v = value_same_shape(node_value(n, 0), node_value(n, 1)) ? node_value(n, 1) : NULL;
    break;
  case OP_SCATTER_VALUE:
  case OP_SCATTER_SRC:
  case OP_SCATTER_ADD: v = scatter(s, n); break;
  case OP_MM:
  case OP_TILE_FAST_MM:
  case OP_BMM: v = product(s, n); break;
  default: return NULL;
  }
  return v && v->dtype == n->results[0]->dtype && value_same_shape(v, n->results[0]) ? v : NULL;
}

// ---- masks of attention ----

// Does a view only prepend dimensions of size 1?
static bool adds_ones(const struct node *view) {
  const struct value *from = node_value(view, 0), *to = view->results[0];
  if (from->rank > to->rank)
    return false;
  uint32_t more = to->rank - from->rank;
  for (uint32_t i = 0; i < to->rank; i++)
    if (i < more ? !expr_is(to->shape[i], 1) : to->shape[i] != from->shape[i - more])
      return false;
  return true;
}

// The origin of a mask, without broadcasts; NULL: an input.
static const struct node *maker_of(const struct value *mask) {
  const struct node *def = mask->def;
  while (def && (def->op == OP_EXPAND || (def->op == OP_VIEW && adds_ones(def))))
    def = node_value(def, 0)->def;
  return def;
}

// The condition of where(condition, 0, -inf).
static struct value *condition_of(struct simplify *s, const struct value *mask) {
  const struct node *def = maker_of(mask);
  if (!def || def->op != OP_WHERE_SELF)
    return NULL;
  bool is_mask =
      arg_is_number(s, &def->args[1], 0) && arg_is_number(s, &def->args[2], -__builtin_inf());
  return is_mask ? node_value(def, 0) : NULL;
}

// Does the condition mean key <= query?
static bool is_causal(struct simplify *s, const struct value *condition) {
  const struct node *def = maker_of(condition);
  struct fact d;
  if (!def || (def->op != OP_LE_TENSOR && def->op != OP_GE_TENSOR))
    return false;
  bool is_ge = def->op == OP_GE_TENSOR;
  uint32_t rank = def->results[0]->rank;
  if (!fact_difference(s, &def->args[is_ge], &def->args[!is_ge], def->results[0], &d))
    return false; // key - query
  if (rank < 2 || d.base != 0)
    return false;
  for (uint32_t i = 0; i < rank; i++)
    if (d.coefficient[i] != (i + 1 == rank ? 1 : i + 2 == rank ? -1 : 0))
      return false;
  return true;
}

static struct value *four(struct build *b, struct value *v) {
  const struct expr *shape[4];
  if (v->rank > 4)
    return NULL;
  for (uint32_t i = 0; i < 4; i++)
    shape[i] = i < 4 - v->rank ? expr_const(b->g->exprs, 1) : v->shape[i - (4 - v->rank)];
  return build_view(b, v, 4, shape);
}

// Recognises and removes a part of `mask`: *mask is the remaining one, NULL if none; *causal may
// become true.
static bool lighten(struct simplify *s, struct value **mask, bool *causal) {
  struct arg known;
  if (value_is_uniform(s, *mask, &known) && arg_is_number(s, &known, (*mask)->dtype == DTYPE_I1)) {
    *mask = NULL;
    return true;
  }
  if ((*mask)->dtype != DTYPE_I1) {
    struct value *condition = condition_of(s, *mask);
    if (condition)
      *mask = four(&s->b, condition);
    return condition != NULL;
  }
  if (is_causal(s, *mask)) {
    *mask = NULL;
    return *causal = true;
  }
  const struct node *def = maker_of(*mask);
  if (!def || (def->op != OP_BITWISE_AND_TENSOR && def->op != OP_LOGICAL_AND))
    return false;
  struct value *x = node_value(def, 0), *y = node_value(def, 1);
  if (!x || !y || x->dtype != DTYPE_I1 || y->dtype != DTYPE_I1)
    return false;
  bool first = is_causal(s, x);
  if (!first && !is_causal(s, y))
    return false;
  *mask = four(&s->b, first ? y : x);
  return *causal = true;
}

// attn_mask:3 is_causal:4
bool simplify_attention(struct simplify *s, const struct node *n, struct arg *args) {
  struct value *mask = node_value(n, 3);
  bool changes = false, causal = args[4].truth;
  while (mask && lighten(s, &mask, &causal))
    changes = true;
  args[3] = mask ? ARG_V(mask) : (struct arg){.kind = ARG_NONE};
  args[4] = ARG_B(causal);
  return changes;
}
