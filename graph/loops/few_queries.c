// SPDX-License-Identifier: Apache-2.0
// Attention of one query (decoding), written out: softmax(q k) v, where both products have one row.
// Alone they would become sums over columns; here they stay products, which the fuser joins with
// the softmax between them (graph/fuse/attention_match.c). Of operands of 16 bits alone: others
// have no matrix instructions, and a block of 16 rows would compute 15 for nothing.
//
// Recursion is the algorithm: operators form a tree.
#include "graph/loops/loops_internal.h"

enum { LEAST_KEYS = 64, MOST_OPERATORS = 64 };

static bool is_row_product(const struct value *v) {
  return v->def->op == OP_BMM && expr_is(v->shape[1], 1) && dtype_is_float(v->dtype) &&
         dtype_bits(v->dtype) == 16;
}

static const struct value *operand(const struct value *v, unsigned i) {
  return i < v->def->arg_count && v->def->args[i].kind == ARG_VALUE ? node_value(v->def, i) : NULL;
}

static bool is_of(const struct value *v, enum operator_id op) {
  return v && v->def && v->def->op == op;
}

// The value that v has the elements of, in another order or dtype.
static const struct value *bare(const struct value *v) {
  while (v && v->def &&
         (loops_is_view(v->def->op) || v->def->op == OP_CLONE ||
          v->def->op == OP_CONVERT_ELEMENT_TYPE))
    v = operand(v, 0);
  return v;
}

// The exponential of which the softmax `v` is the quotient with its sum; NULL: v is no softmax.
// Selections are those of rows without keys.
static const struct value *exponential_of(const struct value *v) {
  v = bare(v);
  if (is_of(v, OP_WHERE_SELF)) {
    const struct value *found = exponential_of(operand(v, 1));
    return found ? found : exponential_of(operand(v, 2));
  }
  if (is_of(v, OP_DIV_TENSOR))
    return is_of(bare(operand(v, 0)), OP_EXP) ? bare(operand(v, 0)) : NULL;
  for (unsigned i = 0; i < 2 && is_of(v, OP_MUL_TENSOR); i++)
    if (is_of(bare(operand(v, i)), OP_EXP))
      return bare(operand(v, i));
  return NULL;
}

// The product of one row that `v` is computed from, element by element.
static const struct value *product_in(const struct value *v, unsigned *left) {
  v = bare(v);
  if (!v || !v->def || *left == 0)
    return NULL;
  --*left;
  if (v->def->op == OP_BMM)
    return is_row_product(v) ? v : NULL;
  if (operator_row(v->def->op)->class != CLASS_POINTWISE)
    return NULL;
  const struct value *found = NULL;
  for (unsigned i = 0; i < v->def->arg_count && !found; i++)
    found = product_in(operand(v, i), left);
  return found;
}

void loops_find_few_queries(struct builder *b) {
  for (size_t i = 0; i < b->g->nodes.len; i++) {
    const struct node *n = b->g->nodes.at[i];
    if (n->op != OP_BMM || !is_row_product(n->results[0]) ||
        expr_likely(node_value(n, 0)->shape[2]) < LEAST_KEYS)
      continue;
    const struct value *e = exponential_of(node_value(n, 0));
    unsigned left = MOST_OPERATORS;
    const struct value *scores = e ? product_in(operand(e, 0), &left) : NULL;
    if (scores)
      b->uses[scores->id].in_attention = b->uses[n->results[0]->id].in_attention = true;
  }
}
