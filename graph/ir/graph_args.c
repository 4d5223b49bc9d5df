// SPDX-License-Identifier: Apache-2.0
// Reads the arguments of nodes.
#include "graph/ir/compose_dropout.h"
#include "graph/ir/compose_mask_write.h"
#include "graph/ir/graph_operators.h"

#include <math.h>

struct value *node_value(const struct node *n, unsigned i) {
  return n->args[i].kind == ARG_VALUE ? n->args[i].value : NULL;
}

bool node_is_none(const struct node *n, unsigned i) { return n->args[i].kind == ARG_NONE; }

const struct expr *node_expr(const struct node *n, unsigned i) {
  return n->args[i].kind == ARG_INT ? n->args[i].number : NULL;
}

int64_t node_int(const struct node *n, unsigned i) {
  int64_t value = 0;
  if (n->args[i].kind == ARG_INT)
    expr_is_const(n->args[i].number, &value);
  return value;
}

double node_real(const struct node *n, unsigned i) {
  const struct arg *a = &n->args[i];
  int64_t value;
  if (a->kind == ARG_FLOAT)
    return a->real;
  if (a->kind == ARG_BOOL)
    return a->truth;
  return a->kind == ARG_INT && expr_is_const(a->number, &value) ? (double)value : (double)NAN;
}

bool node_truth(const struct node *n, unsigned i) {
  return n->args[i].kind == ARG_BOOL && n->args[i].truth;
}

uint32_t node_dim(const struct node *n, unsigned i, uint32_t rank) {
  int64_t dim = node_int(n, i);
  return (uint32_t)(dim < 0 ? dim + rank : dim);
}

size_t node_list(const struct node *n, unsigned i, const struct arg **ret) {
  if (n->args[i].kind != ARG_LIST) {
    *ret = NULL;
    return 0;
  }
  *ret = n->args[i].list.at;
  return n->args[i].list.count;
}

void node_extents(const struct node *n, unsigned i, uint32_t count, int64_t none, int64_t *ret) {
  const struct arg *a = &n->args[i], *list = a;
  size_t given = a->kind == ARG_NONE ? 0 : 1;
  if (a->kind == ARG_LIST)
    given = node_list(n, i, &list);
  for (uint32_t k = 0; k < count; k++) {
    ret[k] = none;
    if (given)
      expr_is_const(list[k < given ? k : given - 1].number, &ret[k]);
  }
}

bool attention_drops_weights(const struct node *n) {
  bool is_attention = n->op == OP_SDPA || n->op == OP_SDPA_CPU || n->op == OP_SDPA_FLASH ||
                      n->op == OP_SDPA_EFFICIENT || n->op == OP_SDPA_CUDNN;
  return is_attention && node_real(n, (unsigned)operator_parameter(n->op, "dropout_p")) != 0;
}

bool attention_is_random_state(const struct node *n, uint32_t result) {
  enum { OF_EFFICIENT = 2, OF_OTHERS = 6 }; // before it: o, logsumexp; lengths
  return attention_drops_weights(n) &&
         result >= (n->op == OP_SDPA_EFFICIENT ? OF_EFFICIENT : OF_OTHERS);
}

struct value *mask_write_index(const struct node *n, uint32_t *dim) {
  const struct arg *list;
  size_t count = node_list(n, 1, &list), used = 0;
  for (size_t d = 0; d < count; d++)
    if (list[d].kind == ARG_VALUE && used++ == 0)
      *dim = (uint32_t)d;
  return used == 1 ? list[*dim].value : NULL;
}

bool mask_write_is_where(const struct node *n) {
  uint32_t dim = 0;
  if (n->op != OP_INDEX_PUT)
    return false;
  const struct value *x = node_value(n, 0), *mask = mask_write_index(n, &dim),
                     *values = node_value(n, 2);
  if (!mask || mask->dtype != DTYPE_I1 || !values || dim + mask->rank > x->rank)
    return false;
  uint32_t trailing = x->rank - dim - mask->rank;
  return values->rank <= trailing || (values->rank <= trailing + 1 + dim &&
                                      expr_is(values->shape[values->rank - 1 - trailing], 1));
}
