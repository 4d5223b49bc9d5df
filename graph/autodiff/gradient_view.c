// SPDX-License-Identifier: Apache-2.0
// Rules of views: the inverse view, or a tensor of zeros with the gradient in the part that was
// viewed.
#include "graph/autodiff/gradient_rules.h"

// The same elements in another shape.
void rule_view(struct gradient *d, const struct node *n, struct value *const *g) {
  const struct value *x = node_value(n, 0);
  gradient_give(d, n, 0, build_view(&d->b, g[0], x->rank, x->shape));
}

void rule_permute(struct gradient *d, const struct node *n, struct value *const *g) {
  const struct arg *list;
  struct dims inverse = {.count = (uint32_t)node_list(n, 1, &list)};
  for (uint32_t i = 0; i < inverse.count; i++) {
    int64_t dim = 0;
    expr_is_const(list[i].number, &dim);
    inverse.at[dim < 0 ? dim + inverse.count : dim] = i;
  }
  gradient_give(d, n, 0, build_permute(&d->b, g[0], &inverse));
}

void rule_transpose(struct gradient *d, const struct node *n, struct value *const *g) {
  uint32_t rank = node_value(n, 0)->rank, left = 0, right = 1;
  if (n->op == OP_TRANSPOSE && rank)
    left = node_dim(n, 1, rank), right = node_dim(n, 2, rank);
  gradient_give(d, n, 0, rank < 2 ? g[0] : build_swap(&d->b, g[0], left, right));
}

void rule_select(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0,
                BUILD(b, OP_SELECT_BACKWARD, TENSOR(g[0]), gradient_shape(b, node_value(n, 0)),
                      n->args[1], n->args[2]));
}

// self dim start end step
void rule_slice(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  const struct value *x = node_value(n, 0);
  struct arg start = n->args[2], end = n->args[3];
  if (start.kind == ARG_NONE)
    start = arg_int(b->g, 0);
  if (end.kind == ARG_NONE)
    end = ARG_E(x->shape[node_dim(n, 1, x->rank)]);
  gradient_give(d, n, 0,
                BUILD(b, OP_SLICE_BACKWARD, TENSOR(g[0]), gradient_shape(b, x), n->args[1], start,
                      end, n->args[4]));
}

// split, split_with_sizes, unbind: the gradients of all parts together.
void rule_split(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value **parts = arena_array(b->g->arena, struct value *, n->result_count + 1);
  for (uint32_t i = 0; i < n->result_count; i++)
    parts[i] = gradient_or_zeros(b, g[i], n->results[i]);
  bool is_unbind = n->op == OP_UNBIND;
  gradient_give(d, n, 0,
                BUILD(b, is_unbind ? OP_STACK : OP_CAT, arg_values(b->g, n->result_count, parts),
                      n->args[is_unbind ? 1 : 2]));
}

// self offset dim1 dim2
void rule_diagonal(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  gradient_give(d, n, 0,
                BUILD(b, OP_DIAGONAL_BACKWARD, TENSOR(g[0]), gradient_shape(b, node_value(n, 0)),
                      n->args[1], n->args[2], n->args[3]));
}

// ---- as_strided ----

// The offset of each element in a view of the storage, as i64.
static struct value *offsets(struct build *b, const struct value *v, const struct expr *const *by,
                             struct arg first) {
  struct value *sum = NULL;
  for (uint32_t i = 0; i < v->rank; i++) {
    struct value *along =
        BUILD(b, OP_MUL_TENSOR, TENSOR(build_iota(b, v->shape[i], i, v->rank)), ARG_E(by[i]));
    sum = sum ? build_add(b, sum, along) : along;
  }
  if (!sum)
    sum = build_number(b, 0, DTYPE_I64);
  if (first.kind == ARG_INT)
    sum = BUILD(b, OP_ADD_TENSOR, TENSOR(sum), first);
  return build_expand(b, sum, v->rank, v->shape);
}

// The elements of the storage that x spans.
static const struct expr *span_of(struct build *b, const struct value *x) {
  struct exprs *e = b->g->exprs;
  const struct expr *span = expr_const(e, 1);
  for (uint32_t i = 0; i < x->rank; i++)
    span = expr_add(e, span, expr_mul(e, expr_addi(e, x->shape[i], -1), x->strides[i]));
  return span;
}

// Into the storage, where elements of the view may be one, and from there to x. Elements of x that
// are one in memory all get its gradient.
void rule_as_strided(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  const struct value *x = node_value(n, 0), *y = n->results[0];
  const struct arg *list;
  const struct expr *strides[GRAPH_MAX_RANK], *span = span_of(b, x);
  size_t rank = node_list(n, 2, &list);
  for (size_t i = 0; i < rank && i < GRAPH_MAX_RANK; i++)
    strides[i] = list[i].number;
  struct value *to = offsets(b, y, strides, n->args[3]),
               *from = offsets(b, x, x->strides, (struct arg){0});
  struct value *storage = build_full(b, 1, &span, 0, y->dtype);
  if (!to || !from || !storage) {
    gradient_give(d, n, 0, NULL);
    return;
  }
  storage =
      BUILD(b, OP_INDEX_PUT, TENSOR(storage), arg_values(b->g, 1, &to), TENSOR(g[0]), ARG_B(true));
  gradient_give(d, n, 0, BUILD(b, OP_INDEX, TENSOR(storage), arg_values(b->g, 1, &from)));
}
