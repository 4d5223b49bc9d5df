// SPDX-License-Identifier: Apache-2.0
// Composed operators that spread tensors over common dimensions: grids, broadcasts, diagonals.
#include "graph/ir/compose.h"
#include "graph/ir/infer.h"

#define X node_value(n, 0)

static struct value **results_of(struct build *b, struct node *n, size_t count) {
  n->result_count = (uint32_t)count;
  n->results = arena_array(b->g->arena, struct value *, count);
  return n->results;
}

// tensors indexing: vectors along one dimension each; "xy" swaps the first two
void compose_meshgrid(struct build *b, struct node *n) {
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  bool swaps = count > 1 && n->arg_count > 1 && str_is(n->args[1].string, "xy");
  const struct expr *shape[GRAPH_MAX_RANK];
  if (count > GRAPH_MAX_RANK || count == 0) {
    compose_error(b, n, E1009, "%zu dimensions; there are at most %d", count, GRAPH_MAX_RANK);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const struct value *v = list[i].value;
    if (v->rank > 1) {
      compose_error(b, n, E1004, "a tensor of %u dimensions; vectors are needed", v->rank);
      return;
    }
    if (v->dtype != list[0].value->dtype) {
      compose_error(b, n, E1005, "tensors of different dtypes, %s and %s",
                    dtype_name(list[0].value->dtype), dtype_name(v->dtype));
      return;
    }
    shape[swaps && i < 2 ? 1 - i : i] = v->rank ? v->shape[0] : compose_const(b, 1);
  }
  struct value **results = results_of(b, n, count);
  for (size_t i = 0; i < count; i++) {
    uint32_t dim = (uint32_t)(swaps && i < 2 ? 1 - i : i), rank = (uint32_t)count;
    struct value *v = build_view(b, list[i].value, 1, &shape[dim]);
    results[i] = build_expand(b, build_along(b, v, dim, rank), rank, shape);
  }
}

// tensors: all in their common shape
void compose_broadcast_tensors(struct build *b, struct node *n) {
  const struct arg *list;
  size_t count = node_list(n, 0, &list);
  struct infer in = {b->g, n, operator_row(n->op)};
  struct extent e = {0};
  for (size_t i = 0; i < count; i++)
    if (!infer_broadcast(&in, &e, list[i].value))
      return;
  struct value **results = results_of(b, n, count);
  for (size_t i = 0; i < count; i++) {
    const struct arg args[] = {list[i], arg_exprs(b->g, e.rank, e.shape)};
    results[i] = graph_apply(b->g, OP_EXPAND, args, COUNT_OF(args), b->at);
  }
}

// self diagonal: a matrix with that diagonal, or the diagonal of a matrix
void compose_diag(struct build *b, struct node *n) {
  if (X->rank == 1)
    n->results[0] = BUILD(b, OP_DIAG_EMBED, n->args[0], n->args[1]);
  else if (X->rank == 2)
    n->results[0] = BUILD(b, OP_DIAGONAL, n->args[0], n->args[1]);
  else
    compose_error(b, n, E1004, "a tensor of %u dimensions; it needs 1 or 2", X->rank);
}
