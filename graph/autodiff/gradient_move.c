// SPDX-License-Identifier: Apache-2.0
// Rules of operators that move elements: each is undone.
#include "graph/autodiff/gradient_rules.h"

void rule_cat(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct exprs *e = b->g->exprs;
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  const struct value *y = n->results[0];
  uint32_t dim = node_dim(n, 1, y->rank);
  const struct expr *start = expr_const(e, 0);
  for (size_t i = 0; i < count; i++) {
    struct value *part = list[i].value;
    if (part->rank != y->rank) // PyTorch accepts vectors of size 0 anywhere
      continue;
    const struct expr *end = expr_add(e, start, part->shape[dim]);
    if (gradient_wants(d, part))
      gradient_add(d, part, build_slice(b, g[0], dim, start, end, 1));
    start = end;
  }
}

void rule_stack(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  for (size_t i = 0; i < count; i++)
    if (gradient_wants(d, list[i].value))
      gradient_add(d, list[i].value,
                   BUILD(b, OP_SELECT, TENSOR(g[0]), n->args[1], arg_int(b->g, (int64_t)i)));
}

// Padding by the negative widths: removes what was added, and the reverse.
void rule_pad(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  const struct arg *list;
  size_t count = node_list(n, 1, &list);
  const struct expr *widths[2 * GRAPH_MAX_RANK];
  for (size_t i = 0; i < count && i < COUNT_OF(widths); i++)
    widths[i] = expr_muli(b->g->exprs, list[i].number, -1);
  gradient_give(
      d, n, 0,
      BUILD(b, OP_CONSTANT_PAD_ND, TENSOR(g[0]), arg_exprs(b->g, count, widths), ARG_F(0)));
}

// Sums over the copies: [2a, 3b] as [2, a, 3, b].
void rule_repeat(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  const struct value *x = node_value(n, 0);
  const struct arg *times;
  uint32_t count = (uint32_t)node_list(n, 1, &times), fresh = count - x->rank, rank = 0;
  const struct expr *apart[2 * GRAPH_MAX_RANK];
  struct dims dims = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (!expr_is(times[i].number, 1)) {
      dims.at[dims.count++] = rank;
      apart[rank++] = times[i].number;
    }
    if (i >= fresh)
      apart[rank++] = x->shape[i - fresh];
  }
  struct value *sum = build_view(b, g[0], rank, apart);
  if (dims.count)
    sum = build_sum(b, sum, &dims, false);
  gradient_give(d, n, 0, build_view(b, sum, x->rank, x->shape));
}

void rule_flip(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, BUILD(&d->b, OP_FLIP, TENSOR(g[0]), n->args[1]));
}

void rule_roll(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  const struct arg *list;
  size_t count = node_list(n, 1, &list);
  const struct expr *shifts[GRAPH_MAX_RANK];
  for (size_t i = 0; i < count && i < GRAPH_MAX_RANK; i++)
    shifts[i] = expr_muli(b->g->exprs, list[i].number, -1);
  gradient_give(d, n, 0,
                BUILD(b, OP_ROLL, TENSOR(g[0]), arg_exprs(b->g, count, shifts), n->args[2]));
}

// self src dim index
void rule_select_scatter(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *src = node_value(n, 1);
  struct arg zeros = TENSOR(build_full(b, src->rank, src->shape, 0, g[0]->dtype));
  if (gradient_wants_arg(d, n, 0))
    gradient_give(d, n, 0,
                  BUILD(b, OP_SELECT_SCATTER, TENSOR(g[0]), zeros, n->args[2], n->args[3]));
  if (gradient_wants_arg(d, n, 1))
    gradient_give(d, n, 1, BUILD(b, OP_SELECT, TENSOR(g[0]), n->args[2], n->args[3]));
}

// self src dim start end step
void rule_slice_scatter(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct value *src = node_value(n, 1);
  struct arg zeros = TENSOR(build_full(b, src->rank, src->shape, 0, g[0]->dtype));
  if (gradient_wants_arg(d, n, 0))
    gradient_give(d, n, 0,
                  BUILD(b, OP_SLICE_SCATTER, TENSOR(g[0]), zeros, n->args[2], n->args[3],
                        n->args[4], n->args[5]));
  if (gradient_wants_arg(d, n, 1))
    gradient_give(d, n, 1,
                  BUILD(b, OP_SLICE, TENSOR(g[0]), n->args[2], n->args[3], n->args[4], n->args[5]));
}

// grad_output input_sizes dim index
void rule_select_backward(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, BUILD(&d->b, OP_SELECT, TENSOR(g[0]), n->args[2], n->args[3]));
}

// grad_output input_sizes dim start end step
void rule_slice_backward(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(
      d, n, 0,
      BUILD(&d->b, OP_SLICE, TENSOR(g[0]), n->args[2], n->args[3], n->args[4], n->args[5]));
}

void rule_triangle(struct gradient *d, const struct node *n, struct value *const *g) {
  gradient_give(d, n, 0, BUILD(&d->b, n->op, TENSOR(g[0]), n->args[1]));
}
