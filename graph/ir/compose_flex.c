// SPDX-License-Identifier: Apache-2.0
// flex_attention and its gradients: attention whose scores are values, computed from the product of
// queries and keys by the score and mask functions. The kernels of attention compute these values
// for one pair at a time (graph/loops/scores.c).
//
// The functions are subgraphs of scalars: the score, and the indices of batch, head, query and key.
// Each scalar becomes a tensor over the dimensions of the scores that it depends on. The mask
// function decides, as in PyTorch's own definition. Where it reads tensors (documents), the tables
// of the block mask bound the keys that a query sees, if all heads share them: blocks outside of
// the bounds are skipped.
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

// By value: does the function's first result depend on it?
static const bool *find_needed(struct build *b, const struct graph *f) {
  bool *needed = arena_array(b->g->arena, bool, f->value_count + 1);
  needed[f->outputs.at[0]->id] = true;
  for (size_t i = f->nodes.len; i-- > 0;) {
    const struct node *n = f->nodes.at[i];
    bool is_needed = false;
    for (uint32_t r = 0; r < n->result_count; r++)
      is_needed = is_needed || (n->results[r] && needed[n->results[r]->id]);
    struct value **operands;
    size_t count = is_needed ? node_tensors(n, 0, n->arg_count, b->g->arena, &operands) : 0;
    for (size_t k = 0; k < count; k++)
      needed[operands[k]->id] = true;
  }
  return needed;
}

static bool is_needed(const struct node *n, const bool *needed) {
  for (uint32_t r = 0; r < n->result_count; r++)
    if (n->results[r] && needed[n->results[r]->id])
      return true;
  return false;
}

// The function's first result for scalars `lanes`, and tensors `rest` that all scores share. NULL
// after an error.
static struct value *apply(struct build *b, const struct node *flex, const struct graph *f,
                           size_t lane_count, struct value *const *lanes, size_t rest_count,
                           struct value *const *rest) {
  struct lanes l = {.b = b, .flex = flex, .of = f};
  struct value **tensors = arena_array(b->g->arena, struct value *, rest_count + 1);
  size_t kept = 0;
  for (size_t i = 0; i < rest_count; i++) // sizes are no inputs of the function
    if (rest[i]->rank > 0 || f->inputs.len == lane_count + rest_count)
      tensors[kept++] = rest[i];
  rest = tensors;
  rest_count = kept;
  l.map = arena_array(b->g->arena, struct value *, f->value_count + 1);
  l.is_lane = arena_array(b->g->arena, bool, f->value_count + 1);
  if (f->inputs.len != lane_count + rest_count || f->outputs.len < 1 || !f->outputs.at[0] ||
      f->outputs.at[0]->rank != 0) {
    compose_error(b, flex, E1003, "`%s` needs %zu inputs and a first result without dimensions",
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
  const bool *needed = find_needed(b, f);
  for (size_t i = 0; i < f->nodes.len; i++)
    if (is_needed(f->nodes.at[i], needed) && !lane_node(&l, f->nodes.at[i]))
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

// ---- scores ----

// The operator's arguments that both directions have, at their positions in each.
struct flex {
  struct build *b;
  const struct node *n;
  unsigned function, block_mask, scale, buffers; // then those of the mask function
  struct value *product;
  struct value *lanes[1 + SCORE_RANK]; // the scaled product and the indices
};

static const struct graph *mask_function(const struct flex *f) {
  const struct arg *list;
  size_t count = node_list(f->n, f->block_mask, &list);
  return count && list[count - 1].kind == ARG_GRAPH ? list[count - 1].graph : NULL;
}

// Products in f32 (or f64), and the indices of each.
static bool begin_scores(struct flex *f, struct value *q, struct value *k) {
  struct build *b = f->b;
  f->product = build_up(b, build_binop(b, OP_MATMUL, q, build_swap(b, k, 2, 3)));
  struct value *s = f->lanes[0] = build_scale(b, f->product, node_real(f->n, f->scale));
  for (uint32_t d = 0; s && d < SCORE_RANK; d++)
    f->lanes[1 + d] = build_convert(b, build_iota(b, s->shape[d], d, SCORE_RANK), DTYPE_I32);
  return s != NULL;
}

// After both functions.
static struct value *scores(const struct flex *f) {
  struct build *b = f->b;
  struct value *like = f->lanes[0], **rest;
  size_t count = node_tensors(f->n, f->buffers, f->buffers + 1, b->g->arena, &rest);
  struct value *s =
      apply(b, f->n, node_graph(f->n, f->function), 1 + SCORE_RANK, f->lanes, count, rest);
  s = s ? build_as(b, build_convert(b, s, like->dtype), like) : NULL;
  const struct graph *mask = mask_function(f);
  if (!s || !mask)
    return s;
  count = node_tensors(f->n, f->buffers + 1, f->buffers + 2, b->g->arena, &rest);
  struct value *seen = apply(b, f->n, mask, SCORE_RANK, f->lanes + 1, count, rest);
  return seen ? build_where_else(b, build_convert(b, seen, DTYPE_I1), s, -(double)INFINITY) : NULL;
}

// ---- bounds by the tables of the block mask ----

// The arguments of the block mask: two lengths; for blocks of queries the number and the indices of
// blocks of keys, partial and full ones; the same for blocks of keys; sizes and the function last.
enum { KEYS_OF_QUERIES = 2, BLOCK_TABLES = 4, QUERIES_OF_KEYS = 6, FROM_END_QUERIES = 3 };

struct row_bounds {
  struct value *first, *end; // of rows of the other side, for each row; NULL: not known
};

static struct value *reduce_last(struct build *b, struct value *x, bool is_largest) {
  struct dims last = dims_one(x ? x->rank - 1 : 0);
  if (!x || is_largest)
    return x ? build_amax(b, x, &last, false) : NULL;
  return build_int(b, OP_MUL_TENSOR,
                   build_amax(b, build_int(b, OP_MUL_TENSOR, x, -1), &last, false), -1);
}

// x where the condition holds, else the number.
static struct value *where_number(struct build *b, struct value *condition, struct value *x,
                                  const struct expr *number) {
  return x ? build_where(b, condition, x,
                         build_convert(b,
                                       BUILD(b, OP_FULL, arg_exprs(b->g, 0, NULL), ARG_E(number),
                                             ARG_D(x->dtype)),
                                       x->dtype))
           : NULL;
}

// The least, or the largest, block that a table lists for each block: [blocks].
static struct value *extreme_block(struct build *b, const struct arg *table, bool is_largest,
                                   const struct expr *otherwise) {
  struct value *count = table[0].value, *list = table[1].value;
  const struct expr *blocks = list->shape[2], *most = list->shape[3];
  const struct expr *rows[] = {blocks, compose_const(b, 1)}, *all[] = {blocks, most};
  struct value *used = build_binop(b, OP_LT_TENSOR, build_iota(b, most, 1, 2),
                                   build_convert(b, build_view(b, count, 2, rows), DTYPE_I64));
  struct value *index = build_convert(b, build_view(b, list, 2, all), DTYPE_I64);
  return reduce_last(b, where_number(b, used, index, otherwise), is_largest);
}

// Makes the bounds of blocks rise: the least of those from each block on, the largest up to it.
static struct value *rising(struct build *b, struct value *x, bool is_largest,
                            const struct expr *otherwise) {
  if (!x)
    return NULL;
  struct value *row = build_iota(b, x->shape[0], 0, 2), *column = build_iota(b, x->shape[0], 1, 2);
  struct value *counts = build_binop(b, is_largest ? OP_LE_TENSOR : OP_GE_TENSOR, column, row);
  return reduce_last(b, where_number(b, counts, build_along(b, x, 1, 2), otherwise), is_largest);
}

static bool is_table(const struct arg *table) {
  return table[0].kind == ARG_VALUE && table[1].kind == ARG_VALUE && table[0].value->rank == 3 &&
         table[1].value->rank == 4 && expr_is(table[1].value->shape[0], 1) &&
         expr_is(table[1].value->shape[1], 1);
}

// Bounds of `others` rows, in blocks of `size`, for each of `rows` in blocks of `own` rows.
static struct row_bounds bounds_of(struct build *b, const struct arg *tables,
                                   const struct expr *rows, int64_t own, const struct expr *others,
                                   int64_t size) {
  struct row_bounds ret = {NULL, NULL};
  struct value *at = build_int(b, OP_FLOOR_DIVIDE, build_iota(b, rows, 0, 1), own);
  const struct expr *no_block[2] = {expr_cdiv(b->g->exprs, others, compose_const(b, size)),
                                    compose_const(b, -1)};
  for (unsigned last = 0; last < 2; last++) {
    struct value *block = extreme_block(b, tables, last, no_block[last]);
    if (is_table(tables + 2))
      block = build_binop(b, last ? OP_MAXIMUM : OP_MINIMUM, block,
                          extreme_block(b, tables + 2, last, no_block[last]));
    block = rising(b, block, last, no_block[last]);
    if (last && block)
      block = build_int(b, OP_ADD_TENSOR, block, 1);
    struct value *row =
        block && at ? build_int(b, OP_MUL_TENSOR, compose_index(b, block, 0, at), size) : NULL;
    row = row ? BUILD(b, OP_MINIMUM, TENSOR(row), ARG_E(others)) : NULL;
    *(last ? &ret.end : &ret.first) = build_convert(b, row, DTYPE_I32);
  }
  return ret;
}

// The block mask's tables, if its function reads tensors and all heads share them; else NULL. Sets
// the rows of a block of queries and of keys.
static const struct arg *tables_of(const struct flex *f, int64_t sizes[2]) {
  const struct arg *list;
  struct value **buffers;
  size_t count = node_list(f->n, f->block_mask, &list);
  bool reads = node_tensors(f->n, f->buffers + 1, f->buffers + 2, f->b->g->arena, &buffers) > 0;
  if (!reads || count < KEYS_OF_QUERIES + BLOCK_TABLES + FROM_END_QUERIES)
    return NULL;
  for (unsigned i = 0; i < 2; i++) {
    const struct arg *size = &list[count - FROM_END_QUERIES + i];
    if (size->kind != ARG_INT || !expr_is_const(size->number, &sizes[i]) || sizes[i] < 1)
      return NULL;
  }
  bool has_queries = count >= QUERIES_OF_KEYS + BLOCK_TABLES + FROM_END_QUERIES;
  return is_table(list + KEYS_OF_QUERIES) && (!has_queries || is_table(list + QUERIES_OF_KEYS))
             ? list
             : NULL;
}

// Of the keys that each query sees.
static struct row_bounds bounds_of_keys(const struct flex *f, const struct value *q,
                                        const struct value *k) {
  int64_t sizes[2];
  const struct arg *tables = tables_of(f, sizes);
  return tables ? bounds_of(f->b, tables + KEYS_OF_QUERIES, q->shape[2], sizes[0], k->shape[2],
                            sizes[1])
                : (struct row_bounds){NULL, NULL};
}

// Of the queries that see each key.
static struct row_bounds bounds_of_queries(const struct flex *f, const struct value *q,
                                           const struct value *k) {
  int64_t sizes[2];
  const struct arg *tables = tables_of(f, sizes), *list;
  size_t count = node_list(f->n, f->block_mask, &list);
  bool has_queries = count >= QUERIES_OF_KEYS + BLOCK_TABLES + FROM_END_QUERIES;
  return tables && has_queries ? bounds_of(f->b, tables + QUERIES_OF_KEYS, k->shape[2], sizes[1],
                                           q->shape[2], sizes[0])
                               : (struct row_bounds){NULL, NULL};
}

// query key value score_mod block_mask scale kernel_options score_mod_other_buffers
// mask_mod_other_buffers; results: the attention, the base-2 logarithm of the sum of exponentials
// of each row, and its largest score in the same unit
void compose_flex_attention(struct build *b, struct node *n) {
  struct value *q = node_value(n, 0), *k = node_value(n, 1), *v = node_value(n, 2);
  struct flex f = {b, n, .function = 3, .block_mask = 4, .scale = 5, .buffers = 7};
  if (!check(b, n, q, k, v))
    return;
  k = repeated(b, k, q);
  v = repeated(b, v, q);
  struct value *s = k && v && begin_scores(&f, q, k) ? scores(&f) : NULL;
  if (!s)
    return;
  struct row_bounds keys = bounds_of_keys(&f, q, k);
  struct arg args[] = {TENSOR(q),         TENSOR(k),      TENSOR(v),         {.kind = ARG_NONE},
                       ARG_B(false),      ARG_F(1.0),     TENSOR(f.product), TENSOR(s),
                       ARG_V(keys.first), ARG_V(keys.end)};
  const struct node *whole = graph_append(b->g, OP_TILE_ATTENTION, args, COUNT_OF(args), b->at);
  if (!whole)
    return;
  struct dims row = dims_one(3);
  n->results[0] = whole->results[0];
  n->results[1] = build_scale(b, whole->results[1], log2_e);
  n->results[2] = build_squeeze(b, build_scale(b, build_amax(b, s, &row, true), log2_e), 3);
}

// ---- gradients ----

// The gradient of `x` from that of `repeated` x: sums over the queries that share it.
static struct value *sum_shared(struct build *b, struct value *gradient, const struct value *x) {
  struct exprs *e = b->g->exprs;
  if (!gradient || value_same_shape(gradient, x))
    return gradient;
  const struct expr *apart[] = {x->shape[0], expr_floordiv(e, gradient->shape[0], x->shape[0]),
                                x->shape[1], expr_floordiv(e, gradient->shape[1], x->shape[1]),
                                x->shape[2], x->shape[3]};
  struct dims shared = {.at = {1, 3}, .count = 2};
  struct value *sum = build_sum(b, build_view(b, build_up(b, gradient), 6, apart), &shared, false);
  return build_convert(b, sum, gradient->dtype);
}

// The derivative of the score for the scaled product: the joint function's result for a gradient
// of 1.
static struct value *derivative(const struct flex *f) {
  struct build *b = f->b;
  struct value *s = f->lanes[0], **rest, *lanes[2 + SCORE_RANK];
  for (unsigned i = 0; i < COUNT_OF(f->lanes); i++)
    lanes[i] = f->lanes[i];
  lanes[1 + SCORE_RANK] = build_full(b, SCORE_RANK, s->shape, 1, s->dtype);
  size_t count = node_tensors(f->n, f->buffers, f->buffers + 1, b->g->arena, &rest);
  struct value *d =
      apply(b, f->n, node_graph(f->n, f->function + 1), COUNT_OF(lanes), lanes, count, rest);
  return d ? build_as(b, build_convert(b, d, s->dtype), s) : NULL;
}

// query key value out logsumexp grad_out grad_logsumexp fw_graph joint_graph block_mask scale
// kernel_options score_mod_other_buffers mask_mod_other_buffers; results: the gradients of query,
// key and value
void compose_flex_attention_backward(struct build *b, struct node *n) {
  struct value *q = node_value(n, 0), *k = node_value(n, 1), *v = node_value(n, 2),
               *out = node_value(n, 3), *lse = node_value(n, 4), *g = node_value(n, 5),
               *of_lse = node_value(n, 6);
  struct flex f = {b, n, .function = 7, .block_mask = 9, .scale = 10, .buffers = 12};
  struct dims row = dims_one(3);
  if (!check(b, n, q, k, v))
    return;
  if (!g)
    g = build_full(b, out->rank, out->shape, 0, out->dtype);
  struct value *all_k = repeated(b, k, q), *all_v = repeated(b, v, q);
  struct value *s = all_k && all_v && begin_scores(&f, q, all_k) ? scores(&f) : NULL;
  struct value *factor = s ? derivative(&f) : NULL;
  struct value *delta = build_sum(b, build_mul(b, build_up(b, g), build_up(b, out)), &row, false);
  if (of_lse) // of a base-2 logarithm
    delta = build_sub(b, delta, build_scale(b, build_up(b, of_lse), log2_e));
  lse = build_scale(b, build_up(b, lse), 1 / log2_e);
  if (!factor || !delta || !lse)
    return;
  bool is_batched = k->shape[0] == q->shape[0]; // else batches share keys
  struct row_bounds keys = bounds_of_keys(&f, q, k), queries = bounds_of_queries(&f, q, k);
  struct arg args[] = {TENSOR(build_convert(b, g, q->dtype)),
                       TENSOR(q),
                       TENSOR(is_batched ? k : all_k),
                       TENSOR(is_batched ? v : all_v),
                       TENSOR(lse),
                       TENSOR(delta),
                       TENSOR(f.product),
                       TENSOR(s),
                       TENSOR(factor),
                       ARG_F(node_real(n, f.scale)),
                       ARG_V(keys.first),
                       ARG_V(keys.end),
                       ARG_V(queries.first),
                       ARG_V(queries.end)};
  const struct node *all =
      graph_append(b->g, OP_TILE_ATTENTION_GRADIENTS, args, COUNT_OF(args), b->at);
  if (!all)
    return;
  n->results[0] = all->results[0];
  n->results[1] = sum_shared(b, all->results[1], k);
  n->results[2] = sum_shared(b, all->results[2], v);
}
