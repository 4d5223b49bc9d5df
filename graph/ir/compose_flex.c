// SPDX-License-Identifier: Apache-2.0
// flex_attention, written out: products, the score and mask functions applied to all scores at
// once, a softmax. Fusion finds the attention in it (graph/fuse/attention_match.c), with the
// functions as part of its kernel.
//
// The functions are subgraphs of scalars: the score, and the indices of batch, head, query and key.
// Each scalar becomes a tensor over the dimensions of the scores that it depends on. The block mask
// is not read: the mask function decides, as in PyTorch's own definition.
#include "graph/ir/compose.h"
#include "graph/ir/subgraph.h"

#include <math.h>

enum { BATCH, HEAD, QUERY, KEY, SCORE_RANK };
static const double log2_e = 1.4426950408889634;

// ---- functions of scalars ----

// A value of the subgraph: of one score if it is a lane, else the same for all.
struct lanes {
  struct build *b;
  const struct node *flex;
  const struct graph *of;
  struct value **map;
  bool *is_lane;
};

static bool any_lane(const struct lanes *l, const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++)
    if ((args[i].kind == ARG_VALUE && l->is_lane[args[i].value->id]) ||
        (args[i].kind == ARG_LIST && any_lane(l, args[i].list.at, args[i].list.count)))
      return true;
  return false;
}

static struct arg lane_arg(const struct lanes *l, const struct arg *a) {
  struct arg copy = *a;
  if (a->kind == ARG_VALUE)
    copy.value = l->map[a->value->id];
  if (a->kind == ARG_LIST) {
    copy.list.at = arena_array(l->b->g->arena, struct arg, a->list.count + 1);
    for (size_t i = 0; i < a->list.count; i++)
      copy.list.at[i] = lane_arg(l, &a->list.at[i]);
  }
  return copy;
}

// Operators on scalars that mean the same for tensors of them.
static bool is_elementwise(const struct lanes *l, const struct node *n) {
  switch (operator_row(n->op)->class) {
  case CLASS_POINTWISE:
  case CLASS_CREATE: return true;
  case CLASS_GATHER:
    return n->op == OP_INDEX && n->args[0].kind == ARG_VALUE && !l->is_lane[n->args[0].value->id];
  default: return false;
  }
}

static bool lane_node(struct lanes *l, const struct node *n) {
  bool is_lane = any_lane(l, n->args, n->arg_count);
  bool is_scalar = n->result_count == 1 && n->results[0] && n->results[0]->rank == 0;
  if (is_lane && is_scalar && operator_row(n->op)->class == CLASS_VIEW) { // of one element
    l->map[n->results[0]->id] = l->map[n->args[0].value->id];
    l->is_lane[n->results[0]->id] = true;
    return true;
  }
  if (is_lane && (!is_scalar || !is_elementwise(l, n))) {
    compose_error(l->b, l->flex, E1008,
                  "`%s` in `%s`: a score function may use elementwise "
                  "operators and elements of tensors at its indices",
                  operator_row(n->op)->name, l->of->name);
    return false;
  }
  struct arg *args = arena_array(l->b->g->arena, struct arg, n->arg_count + 1);
  for (uint32_t i = 0; i < n->arg_count; i++)
    args[i] = lane_arg(l, &n->args[i]);
  struct node *copy = graph_append(l->b->g, n->op, args, n->arg_count, l->b->at);
  for (uint32_t i = 0; copy && i < n->result_count; i++)
    if (n->results[i]) {
      l->map[n->results[i]->id] = copy->results[i];
      l->is_lane[n->results[i]->id] = is_lane;
    }
  return copy != NULL;
}

// The function's only result for scalars `lanes`, and tensors `rest` that all scores share. NULL
// after an error.
static struct value *apply(struct build *b, const struct node *flex, const struct graph *f,
                           size_t lane_count, struct value *const *lanes, size_t rest_count,
                           struct value *const *rest) {
  struct lanes l = {.b = b, .flex = flex, .of = f};
  l.map = arena_array(b->g->arena, struct value *, f->value_count + 1);
  l.is_lane = arena_array(b->g->arena, bool, f->value_count + 1);
  if (f->inputs.len != lane_count + rest_count || f->outputs.len != 1 || !f->outputs.at[0] ||
      f->outputs.at[0]->rank != 0) {
    compose_error(b, flex, E1003, "`%s` needs %zu inputs and one result without dimensions",
                  f->name, lane_count + rest_count);
    return NULL;
  }
  for (size_t i = 0; i < f->inputs.len; i++) {
    const struct value *in = f->inputs.at[i];
    struct value *v = i < lane_count ? lanes[i] : rest[i - lane_count];
    if (!v)
      return NULL;
    if (i < lane_count ? in->rank != 0 : !value_same_shape(in, v) || in->dtype != v->dtype) {
      compose_error(b, flex, E1004, "input `%s` of `%s` does not have the type of its operand",
                    in->name, f->name);
      return NULL;
    }
    l.map[in->id] = i < lane_count ? build_convert(b, v, in->dtype) : v;
    l.is_lane[in->id] = i < lane_count;
  }
  for (size_t i = 0; i < f->nodes.len; i++)
    if (!lane_node(&l, f->nodes.at[i]))
      return NULL;
  return l.map[f->outputs.at[0]->id];
}

// ---- operands ----

static bool check(struct build *b, const struct node *n, const struct value *q,
                  const struct value *k, const struct value *v) {
  bool fits = q->rank == 4 && k->rank == 4 && v->rank == 4 && q->dtype == k->dtype &&
              q->dtype == v->dtype && dtype_is_float(q->dtype) && q->shape[3] == k->shape[3] &&
              k->shape[2] == v->shape[2] && k->shape[1] == v->shape[1];
  for (int i = 0; fits && i < 2; i++) {
    const struct expr *heads = q->shape[i], *own = k->shape[i];
    fits = own == heads || own == compose_const(b, 1) ||
           (i == 1 && expr_mul(b->g->exprs, expr_floordiv(b->g->exprs, heads, own), own) == heads);
    fits = fits && (v->shape[i] == own);
  }
  if (!fits)
    compose_error(
        b, n, E1004,
        "`query`, `key` and `value` must be [batches, heads, rows, columns] of one float "
        "dtype; key and value have as many rows and heads, query a multiple of the heads");
  return fits;
}

// Keys or values of fewer batches and heads, repeated for the queries that share them.
static struct value *repeated(struct build *b, struct value *x, const struct value *q) {
  struct exprs *e = b->g->exprs;
  const struct expr *whole[] = {q->shape[0], q->shape[1], x->shape[2], x->shape[3]};
  const struct expr *each = expr_floordiv(e, q->shape[1], x->shape[1]);
  const struct expr *apart[] = {x->shape[0], x->shape[1], compose_const(b, 1), x->shape[2],
                                x->shape[3]};
  const struct expr *often[] = {q->shape[0], x->shape[1], each, x->shape[2], x->shape[3]};
  if (value_has_shape(x, 4, whole))
    return x;
  return build_view(b, build_expand(b, build_view(b, x, 5, apart), 5, often), 4, whole);
}

static const struct graph *mask_function(const struct node *n) {
  const struct arg *list;
  size_t count = node_list(n, 4, &list);
  return count && list[count - 1].kind == ARG_GRAPH ? list[count - 1].graph : NULL;
}

// The scores after both functions, in f32 (or f64).
static struct value *scores(struct build *b, const struct node *n, struct value *q,
                            struct value *k) {
  struct value *lanes[1 + SCORE_RANK], **rest;
  const struct graph *mask = mask_function(n);
  struct value *s = build_up(b, build_binop(b, OP_MATMUL, q, build_swap(b, k, 2, 3)));
  lanes[0] = s = build_scale(b, s, node_real(n, 5));
  if (!s)
    return NULL;
  for (uint32_t d = 0; d < SCORE_RANK; d++)
    lanes[1 + d] = build_convert(b, build_iota(b, s->shape[d], d, SCORE_RANK), DTYPE_I32);
  size_t count = node_tensors(n, 7, 8, b->g->arena, &rest);
  struct value *like = s;
  s = apply(b, n, node_graph(n, 3), 1 + SCORE_RANK, lanes, count, rest);
  s = s ? build_as(b, build_convert(b, s, like->dtype), like) : NULL;
  if (!s || !mask)
    return s;
  count = node_tensors(n, 8, 9, b->g->arena, &rest);
  struct value *seen = apply(b, n, mask, SCORE_RANK, lanes + 1, count, rest);
  return seen ? build_where_else(b, build_convert(b, seen, DTYPE_I1), s, -(double)INFINITY) : NULL;
}

// query key value score_mod block_mask scale kernel_options score_mod_other_buffers
// mask_mod_other_buffers; results: the attention, the base-2 logarithm of the sum of exponentials
// of each row, and its largest score in the same unit
void compose_flex_attention(struct build *b, struct node *n) {
  struct value *q = node_value(n, 0), *k = node_value(n, 1), *v = node_value(n, 2);
  if (!check(b, n, q, k, v))
    return;
  k = repeated(b, k, q);
  v = repeated(b, v, q);
  struct value *s = k && v ? scores(b, n, q, k) : NULL;
  struct dims row = dims_one(3);
  struct value *top = build_amax(b, s, &row, true);
  if (!top)
    return;
  struct value *is_empty = build_real(b, OP_EQ_TENSOR, top, -(double)INFINITY);
  struct value *base = build_where(b, is_empty, build_number(b, 0, top->dtype), top);
  struct value *e = build_unop(b, OP_EXP, build_sub(b, s, base));
  struct value *sum = build_sum(b, e, &row, true), *p = build_div(b, e, sum);
  p = p ? build_where(b, is_empty, build_number(b, 0, p->dtype), p) : NULL;
  n->results[0] = build_binop(b, OP_MATMUL, build_convert(b, p, v->dtype), v);
  struct value *lse = build_add(b, top, build_unop(b, OP_LOG, sum));
  n->results[1] = build_squeeze(b, build_scale(b, lse, log2_e), 3);
  n->results[2] = build_squeeze(b, build_scale(b, top, log2_e), 3);
}
