// SPDX-License-Identifier: Apache-2.0
// Helpers that append operators to a graph, for passes and captures.
//
// Every call accepts NULL for a tensor and then returns NULL: after an error, which is recorded, a
// chain of calls completes and its caller checks once. Dimensions count from the front.
#ifndef TILE_GRAPH_IR_BUILD_H
#define TILE_GRAPH_IR_BUILD_H

#include "graph/ir/graph.h"
#include "graph/ir/scalar.h"

struct build {
  struct graph *g;
  struct span at; // source location of new nodes
};

// A list of dimensions.
struct dims {
  uint32_t count;
  uint32_t at[GRAPH_MAX_RANK];
};
struct dims dims_one(uint32_t dim);
struct dims dims_from(uint32_t first, uint32_t end); // [first, end)
// The argument's dimensions, without duplicates, sorted; all of `rank` for None and for an empty
// list.
struct dims dims_of(const struct node *n, unsigned arg, uint32_t rank);
bool dims_has(const struct dims *d, uint32_t dim);
struct arg dims_arg(struct build *b, const struct dims *d);

// Arguments as in FX text; missing ones have their defaults. NULL after an error.
struct value *build_apply(struct build *b, enum operator_id op, size_t count,
                          const struct arg *args);
#define BUILD(b, op, ...)                                                                          \
  build_apply((b), (op), sizeof((struct arg[]){__VA_ARGS__}) / sizeof(struct arg),                 \
              (struct arg[]){__VA_ARGS__})
// The argument for a tensor that is not optional.
#define TENSOR(v) ((struct arg){.kind = ARG_VALUE, .value = (v)})

// ---- pointwise ----
struct value *build_unop(struct build *b, enum operator_id op, struct value *x);
struct value *build_binop(struct build *b, enum operator_id op, struct value *x, struct value *y);
// With a number on the right; integers are weak, as in Python.
struct value *build_real(struct build *b, enum operator_id op, struct value *x, double y);
struct value *build_int(struct build *b, enum operator_id op, struct value *x, int64_t y);
struct value *build_add(struct build *b, struct value *x, struct value *y);
struct value *build_sub(struct build *b, struct value *x, struct value *y);
struct value *build_mul(struct build *b, struct value *x, struct value *y);
struct value *build_div(struct build *b, struct value *x, struct value *y);
struct value *build_scale(struct build *b, struct value *x, double by); // x itself for 1
// x / n, where n may be symbolic.
struct value *build_over(struct build *b, struct value *x, const struct expr *n);
struct value *build_where(struct build *b, struct value *c, struct value *x, struct value *y);
// Instead of y, or instead of x, a number of x's dtype.
struct value *build_where_else(struct build *b, struct value *c, struct value *x, double y);
struct value *build_convert(struct build *b, struct value *x,
                            enum dtype t); // x itself if it has dtype t
// x in the dtype in which it is computed (dtype_to_compute).
struct value *build_up(struct build *b, struct value *x);

// ---- shapes; return x itself if nothing changes ----
struct value *build_view(struct build *b, struct value *x, uint32_t rank,
                         const struct expr *const *shape);
struct value *build_expand(struct build *b, struct value *x, uint32_t rank,
                           const struct expr *const *shape);
struct value *build_as(struct build *b, struct value *x,
                       const struct value *like); // to the shape of `like`
struct value *build_permute(struct build *b, struct value *x, const struct dims *order);
struct value *build_swap(struct build *b, struct value *x, uint32_t d0, uint32_t d1);
struct value *build_unsqueeze(struct build *b, struct value *x, uint32_t dim);
struct value *build_squeeze(struct build *b, struct value *x, uint32_t dim);
// A vector along dimension `dim` of `rank`: [1, .., n, .., 1].
struct value *build_along(struct build *b, struct value *x, uint32_t dim, uint32_t rank);
struct value *build_slice(struct build *b, struct value *x, uint32_t dim, const struct expr *start,
                          const struct expr *end, int64_t step);

// ---- reductions ----
struct value *build_sum(struct build *b, struct value *x, const struct dims *d, bool keepdim);
struct value *build_mean(struct build *b, struct value *x, const struct dims *d, bool keepdim);
struct value *build_amax(struct build *b, struct value *x, const struct dims *d, bool keepdim);
const struct expr *build_count(struct build *b, const struct value *x, const struct dims *d);

// ---- creation ----
struct value *build_full(struct build *b, uint32_t rank, const struct expr *const *shape,
                         double value, enum dtype t);
struct value *build_number(struct build *b, double value, enum dtype t); // of rank 0
// 0, 1, .. n-1 as i64 along dimension `dim` of `rank`.
struct value *build_iota(struct build *b, const struct expr *n, uint32_t dim, uint32_t rank);

#endif
