// SPDX-License-Identifier: Apache-2.0
// Shared by the rules of operators (graph/ir/infer_*.c): results, broadcasting, strides, errors. A
// rule reads the arguments of in->n, whose kinds are checked, and creates each result by
// infer_result.
#ifndef TILE_GRAPH_IR_INFER_H
#define TILE_GRAPH_IR_INFER_H

#include "graph/ir/graph_operators.h"

// The rules: infer_pointwise, ...
#define OPERATOR(id, name, parameters, results, class, promotion, rule, scalar)                    \
  bool infer_##rule(struct infer *in);
#include "graph/ir/graph_operators.def"
#undef OPERATOR

// Shape and strides of a result under construction.
struct extent {
  uint32_t rank;
  const struct expr *shape[GRAPH_MAX_RANK], *strides[GRAPH_MAX_RANK];
};

// ---- errors: each is recorded at the node's location; the result is false ----
bool infer_error(struct infer *in, enum diag_code code, const char *fmt, ...) PRINTF(3, 4);
// E1005 unless v has a float dtype or an integer one (bool counts if `with_bool`).
bool infer_wants_float(struct infer *in, const struct value *v, const char *parameter);
bool infer_wants_integer(struct infer *in, const struct value *v, const char *parameter,
                         bool with_bool);
bool infer_wants_rank(struct infer *in, const struct value *v, const char *parameter,
                      uint32_t rank);
bool infer_same_dtype(struct infer *in, const struct value *a, const struct value *b);
const char *infer_type_text(struct infer *in, const struct value *v); // "f32[2, 3]"
const char *infer_shape_text(struct infer *in, uint32_t rank,
                             const struct expr *const *shape); // "[2, 3]"

// ---- results ----
// Creates result i; `strides` NULL: contiguous. E1009 beyond GRAPH_MAX_RANK, E0911 if a size does
// not fit.
bool infer_result(struct infer *in, unsigned i, enum dtype t, uint32_t rank,
                  const struct expr *const *shape, const struct expr *const *strides);
bool infer_extent(struct infer *in, unsigned i, enum dtype t, const struct extent *e);
// Like v, contiguous, or with the strides of a dense copy that keeps v's order of dimensions.
bool infer_contiguous_like(struct infer *in, unsigned i, enum dtype t, const struct value *v);
bool infer_dense_like(struct infer *in, unsigned i, enum dtype t, const struct value *v);
// Allocates the results of an operator that has MANY.
void infer_results(struct infer *in, uint32_t count);

// ---- arguments ----
struct value *infer_value(struct infer *in, unsigned i);
// Dimension argument i of a tensor of that rank; E1004 if out of range. Rank 0 counts as rank 1.
bool infer_dim(struct infer *in, unsigned i, uint32_t rank, uint32_t *ret);
bool infer_wrap_dim(struct infer *in, const struct expr *e, uint32_t rank, uint32_t *ret);
// Requires `slack` >= 0. False if it is always negative; if that depends on the sizes of a run, the
// graph keeps the condition, with `text` on the graph's arena.
bool infer_require(struct infer *in, const struct expr *slack, const char *text);
// Requires a <= b in the same way.
bool infer_not_above(struct infer *in, const struct expr *a, const struct expr *b,
                     const char *text);
// A list of sizes; -1 is kept. E1009 beyond GRAPH_MAX_RANK.
bool infer_sizes(struct infer *in, unsigned i, struct extent *ret);
enum dtype infer_dtype_or(struct infer *in, unsigned i, enum dtype otherwise); // of a parameter d?
int infer_parameter(const struct infer *in, const char *name);                 // -1 if it has none
// Entry i of `output_mask`, the last argument: result i is asked for.
bool infer_in_output_mask(const struct infer *in, unsigned i);
struct extent extent_of(const struct value *v);

// ---- shapes ----
// Equal, or taken as equal and checked by each run (graph_require_equal).
bool infer_same_size(struct infer *in, const struct expr *a, const struct expr *b);
// Has it one element, or is taken to?
bool infer_is_one(struct infer *in, const struct value *v);
// Takes a size as 1, as one of PyTorch's guards made it: it counts as 1 from here on, and each run
// checks it. False if it is another number, or a symbol.
bool infer_make_one(struct infer *in, const struct expr *size);
// Broadcasts *e with v; E1004 names both shapes. Of two symbolic sizes, one that the likely sizes
// make 1 is taken as 1, others are taken as equal.
bool infer_broadcast(struct infer *in, struct extent *e, const struct value *v);
void extent_make_contiguous(struct exprs *x, struct extent *e);
// Strides of a pointwise result of these operands: the order of dimensions closest to theirs.
void extent_from_operands(struct exprs *x, struct extent *e, size_t count,
                          struct value *const *operands);
// Ranks 4 and 5: images and volumes.
void extent_channels_last(struct exprs *x, struct extent *e);
bool value_is_channels_last(struct exprs *x, const struct value *v);

#endif
