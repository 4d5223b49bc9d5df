// SPDX-License-Identifier: Apache-2.0
// Short calls that append operators to a graph, for passes and captures that write many of them.
//
// Every call accepts NULL for a tensor and then gives NULL: after an error (which is recorded) a
// chain of calls runs to its end, and who started it asks once. Dimensions are counted from the
// front.
#ifndef TILE_GRAPH_IR_BUILD_H
#define TILE_GRAPH_IR_BUILD_H

#include "graph/ir/graph.h"

struct build {
  struct graph *g;
  struct span at; // what new nodes are blamed for
};

// A list of dimensions.
struct dims {
  uint32_t count;
  uint32_t at[GRAPH_MAX_RANK];
};
struct dims dims_one(uint32_t dim);
struct dims dims_from(uint32_t first, uint32_t end); // [first, end)
// The argument's dimensions, each once and sorted; all of `rank` for None and for an empty list.
struct dims dims_of(const struct node *n, unsigned arg, uint32_t rank);
bool dims_has(const struct dims *d, uint32_t dim);
struct arg dims_arg(struct build *b, const struct dims *d);

// Arguments as they are in FX text; those left out have their defaults. NULL after an error.
struct value *build_apply(struct build *b, enum operator_id op, size_t count,
                          const struct arg *args);
#define BUILD(b, op, ...)                                                                          \
  build_apply((b), (op), sizeof((struct arg[]){__VA_ARGS__}) / sizeof(struct arg),                 \
              (struct arg[]){__VA_ARGS__})
// The argument for a tensor that has to be there.
#define TENSOR(v) ((struct arg){.kind = ARG_VALUE, .value = (v)})

// ---- pointwise ----
struct value *build_unop(struct build *b, enum operator_id op, struct value *x);
struct value *build_binop(struct build *b, enum operator_id op, struct value *x, struct value *y);
// With a number on the right; integral numbers are weak, as Python's are.
struct value *build_real(struct build *b, enum operator_id op, struct value *x, double y);
struct value *build_int(struct build *b, enum operator_id op, struct value *x, int64_t y);
struct value *build_add(struct build *b, struct value *x, struct value *y);
struct value *build_sub(struct build *b, struct value *x, struct value *y);
struct value *build_mul(struct build *b, struct value *x, struct value *y);
struct value *build_div(struct build *b, struct value *x, struct value *y);
struct value *build_scale(struct build *b, struct value *x, double by); // x itself if by 1
// x / n, where n may be symbolic.
struct value *build_over(struct build *b, struct value *x, const struct expr *n);
struct value *build_where(struct build *b, struct value *c, struct value *x, struct value *y);
// A number of x's dtype instead of y, or instead of x.
struct value *build_where_else(struct build *b, struct value *c, struct value *x, double y);
struct value *build_convert(struct build *b, struct value *x, enum dtype t); // x itself if of it
// Half precision as f32, what they are computed in; all else itself.
struct value *build_up(struct build *b, struct value *x);

// ---- shapes; x itself where nothing changes ----
struct value *build_view(struct build *b, struct value *x, uint32_t rank,
                         const struct expr *const *shape);
struct value *build_expand(struct build *b, struct value *x, uint32_t rank,
                           const struct expr *const *shape);
struct value *build_as(struct build *b, struct value *x, const struct value *like); // its shape
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
