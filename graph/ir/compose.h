// SPDX-License-Identifier: Apache-2.0
// Composed operators: each function of graph/ir/composed.def appends other operators instead of
// one.
#ifndef TILE_GRAPH_IR_COMPOSE_H
#define TILE_GRAPH_IR_COMPOSE_H

#include "graph/ir/graph_build.h"
#include "graph/ir/graph_operators.h"

#define COMPOSED(id, name, parameters, results, function, part)                                    \
  void compose_##function(struct build *b, struct node *n);
#include "graph/ir/composed.def"
#undef COMPOSED

// Is a loss's argument `reduction` 0, none, 1, mean, or 2, sum? False after E1004.
bool compose_reduction(struct build *b, const struct node *n, unsigned reduction);
// Applies it to the loss's value for each element.
struct value *compose_reduced(struct build *b, const struct node *n, unsigned reduction,
                              struct value *losses);
// The gradient of that: `grad` for each element of `like`.
struct value *compose_spread(struct build *b, const struct node *n, unsigned reduction,
                             struct value *grad, const struct value *like);
static inline bool compose_is_wanted(const struct node *n, unsigned mask, size_t i) {
  const struct arg *list;
  size_t count = node_list(n, mask, &list);
  return i < count && list[i].kind == ARG_BOOL && list[i].truth;
}

// What an attention read and gave: scores with all that is added or hidden, their log-sum-exp, the
// output's gradient, the values and the output; [.., rows, keys], [.., rows], [.., rows, columns].
struct attention_of {
  struct value *score, *lse, *grad, *v, *out;
};
// P (dO V^T - sum(dO O)), summed over what shares an element of the bias; NULL: reported.
struct value *compose_bias_gradient(struct build *b, const struct attention_of *a,
                                    struct value *bias);
// 0, 1, .. along dimension `dim` of a tensor like `x`.
struct value *compose_indices(struct build *b, const struct value *x, uint32_t dim);
// The dimension that argument `i` names, of `rank`; 0 after E1004 if there is none.
uint32_t compose_dim(struct build *b, const struct node *n, unsigned i, uint32_t rank);
// The dimensions of a list, or of None, which are all. False after E1004: out of range, or twice.
bool compose_dims(struct build *b, const struct node *n, unsigned i, uint32_t rank,
                  struct dims *ret);
// A tensor of integers as the index of dimension `dim` of `x`.
struct value *compose_index(struct build *b, struct value *x, uint32_t dim, struct value *index);
// `x` with dimension `dim` moved last; NULL for NULL.
struct value *compose_to_last(struct build *b, struct value *x, uint32_t dim);
struct value *compose_more(struct build *b, struct value *x, double y); // x + y
struct value *compose_less(struct build *b, double y, struct value *x); // y - x
// The weight of an element that far from the point, in cubic interpolation with parameter a.
struct value *compose_cubic_weight(struct build *b, struct value *x, double a);
// index_put of `values` along dimension `dim`; NULL if an operand is.
struct value *compose_put(struct build *b, struct value *x, uint32_t dim, struct value *index,
                          struct value *values, bool adds);
// Equal, or taken as equal and checked by each run.
bool compose_same_size(struct build *b, const struct expr *x, const struct expr *y);
bool compose_same_shape(struct build *b, const struct value *x, const struct value *y);
// Records an error; the results stay NULL.
void compose_error(struct build *b, const struct node *n, enum diag_code code, const char *fmt, ...)
    PRINTF(4, 5);

static inline const struct expr *compose_const(struct build *b, int64_t value) {
  return expr_const(b->g->exprs, value);
}

#endif
