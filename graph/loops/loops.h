// SPDX-License-Identifier: Apache-2.0
// Graphs as loops. Each value becomes a expression tree for one element at coordinates given by
// axes (symbols of graph/expr/size_expr.h); views change the coordinates and vanish. A stage is a
// loop nest that writes a buffer: a map, a reduction, a matrix product, ... Maps are written into
// those who use them unless that would cost more than a buffer.
//
//   softmax over 4096 columns:     max[x]    = reduce max over r of in[4096*x + r]
//                                  sum[x]    = reduce sum over r of exp(in[4096*x + r] - max[x])
//                                  out[4096*x + r] = exp(in[4096*x + r] - max[x]) / sum[x]
#ifndef TILE_GRAPH_LOOPS_LOOPS_H
#define TILE_GRAPH_LOOPS_LOOPS_H

#include "graph/ir/graph.h"
#include "graph/ir/scalar.h"

enum buffer_role { BUFFER_INPUT, BUFFER_OUTPUT, BUFFER_TEMP };

// Memory of elements of one dtype. Offsets in expression trees count elements.
struct buffer {
  uint32_t id;
  const char *name; // as in the graph, made an identifier, unique
  enum dtype dtype;
  enum buffer_role role;
  uint32_t index;            // of the graph's input or output
  const struct expr *numel;  // elements that the largest offset needs
  const struct value *value; // NULL: none of the graph's (partial results)
};

enum scalar_kind {
  SCALAR_CONST,
  SCALAR_INDEX,   // an expression of axes as an i64
  SCALAR_LOAD,    // element `index` of `buffer`
  SCALAR_APPLY,   // op on in[0..arity)
  SCALAR_CONVERT, // in[0] to dtype
  SCALAR_MASKED,  // in[1] where in[0], else in[2]; what in[1] loads is there only where in[0] holds
  SCALAR_RANDOM   // uniform f32: element `index` of random operator `which`
                  // (graph/reference/interpret.h)
};

// The expression tree of one element; hash-consed, so that equal expression trees are the same
// pointer. Half precision is computed as f32: dtype is never f16 or bf16 but for SCALAR_LOAD of
// such a buffer under a SCALAR_CONVERT to f32 (every load of one is), and SCALAR_CONVERT down to a
// half and up again where `rounds` was asked for.
struct scalar {
  enum scalar_kind kind;
  enum dtype dtype;
  enum scalar_op op;
  uint32_t id; // in order of making: operands before users
  union element constant;
  const struct expr *index;
  struct buffer *buffer;
  uint32_t which;
  const struct scalar *in[3];
  struct scalars *set; // that keeps it
  // Of all that it computes, found when it is made: expression trees share parts, so that a walk
  // over all operands of operands may take exponential time.
  bool has_load;     // also in indices that were loaded
  bool is_expensive; // exp, pow, random numbers and the like; this and the next two: not in indices
  bool rounds;       // may be off by a rounding, one way here and another there
  bool has_mask;     // a SCALAR_MASKED
};

enum stage_kind {
  STAGE_MAP,
  STAGE_REDUCE,
  STAGE_SCAN,     // inclusive, along the one reduced axis: out has that axis too
  STAGE_SCATTER,  // writes or adds at indices that were loaded, into a buffer that a map before it
                  // filled
  STAGE_PRODUCT,  // out[batch, m, n] = sum over k of a * b; axes are exactly batch, m, n; reduced k
  STAGE_ATTENTION // axes batch, m (queries), n (columns of the values); made by fusion or from
                  // tile.attention
};

enum reduce_op {
  REDUCE_SUM,
  REDUCE_PROD,
  REDUCE_MAX, // NaN wins
  REDUCE_MIN,
  REDUCE_ANY,
  REDUCE_ALL,
  REDUCE_ARGMAX, // the index of the first of the largest, counted along the reduced axes
  REDUCE_ARGMIN
};
// The operation that combines two elements; SCALAR_NONE for indices of extremes.
enum scalar_op reduce_scalar_op(enum reduce_op op);

// softmax over keys j of score(s) times values, s = scale-free product of queries and keys over d.
struct attention {
  const struct expr *key, *depth; // further axes: j and d; the stage's are batch, query, column
  const struct scalar *q, *k, *v; // over batch, query, depth; batch, key, depth; batch, key, column
  const struct scalar *score;     // of the placeholder `product` at batch, query, key
  const struct scalar *product;   // the placeholder: a SCALAR_LOAD of buffer NULL
  bool zero_empty_rows;           // rows of which every score is -inf give 0, not NaN
  struct buffer *lse;             // log of the sum of exponentials, f32; NULL: not wanted
  const struct expr *lse_offset;  // over batch, query
};

struct stage {
  enum stage_kind kind;
  uint32_t id;
  uint32_t rank, reduced;         // axes, then reduced axes
  const struct expr **axes;       // symbols, each with its extent as limit
  const struct scalar *body;      // of a map, reduction, scan, scatter: the element; products: NULL
  const struct scalar *a, *b;     // products: over batch, m, k and batch, k, n
  enum reduce_op op;              // reductions and scans
  enum dtype dtype;               // in which it is accumulated
  bool accumulates;               // scatter: adds (atomically)
  const struct scalar *predicate; // scatter: only where it holds; NULL: everywhere
  struct attention *attention;
  struct buffer *out;
  const struct expr *offset; // where in `out`, over axes (scans: and the reduced axis)
  struct span span;
  VEC(const char *) origins; // names of the operators it came from ("softmax", "add"), in order
};

struct loops {
  struct arena *arena;
  struct exprs *exprs;
  struct diag_engine *diag;
  struct graph *graph;
  struct scalars *scalars;
  VEC(struct buffer *) buffers;
  VEC(struct stage *) stages; // in an order in which they can run; writes to inputs come last
};

// From a graph of primitives (graph/passes/lowering.def). NULL after an error.
struct loops *loops_build(struct graph *g);
void loops_print(const struct loops *l, struct strbuf *out); // as in the sketch above
void stage_print(const struct stage *s, struct strbuf *out);
// Runs all stages in double precision, for tests: inputs and outputs as graph_interpret.
struct tensor;
bool loops_interpret(const struct loops *l, uint64_t seed, const int64_t *symbols,
                     struct tensor *const *inputs, struct tensor **ret_outputs);

// ---- expression trees (graph/loops/scalar_expr.c) ----
struct scalars *scalars_create(struct arena *a, struct exprs *x);
// Whether constants that are converted to f16 or bf16 are rounded; not unless told.
void scalars_round_half_precision(struct scalars *s, bool rounds);
unsigned scalar_arity(const struct scalar *v); // how many of `in` there are
const struct scalar *scalar_const(struct scalars *s, enum dtype t, union element value);
const struct scalar *scalar_real(struct scalars *s, enum dtype t, double value);
const struct scalar *scalar_int(struct scalars *s, enum dtype t, int64_t value);
const struct scalar *scalar_index(struct scalars *s, const struct expr *e);
const struct scalar *scalar_load(struct scalars *s, struct buffer *b, const struct expr *offset);
// Folds constants and the identities that hold for all values of the dtype (x + 0 of integers, x *
// 1, where(true, ..), comparisons of indices that their ranges decide, ...). `t` is the dtype of
// the result; truth values are I1 whatever it says.
const struct scalar *scalar_apply(struct scalars *s, enum scalar_op op, enum dtype t,
                                  const struct scalar *const *in);
const struct scalar *scalar_convert(struct scalars *s, const struct scalar *v, enum dtype to);
const struct scalar *scalar_masked(struct scalars *s, const struct scalar *condition,
                                   const struct scalar *value, const struct scalar *other);
const struct scalar *scalar_random(struct scalars *s, uint32_t which, const struct expr *index);
// An integer expression tree as an index in [0, limit): an expression where it is one, else a
// symbol for what is loaded; the same symbol for the same expression tree.
const struct expr *scalar_indirect(struct scalars *s, const struct scalar *of,
                                   const struct expr *limit);
// Axes replaced by expressions, also in indices that were loaded.
const struct scalar *scalar_substitute(struct scalars *s, const struct scalar *v, size_t count,
                                       const struct expr *const *from,
                                       const struct expr *const *to);
const struct expr *index_substitute(struct scalars *s, const struct expr *e, size_t count,
                                    const struct expr *const *from, const struct expr *const *to);
// v with each from[i] replaced by to[i] wherever it stands.
const struct scalar *scalar_replace(struct scalars *s, const struct scalar *v, size_t count,
                                    const struct scalar *const *from,
                                    const struct scalar *const *to);
bool scalar_has_axis(const struct scalar *v, const struct expr *axis);
// Calls f for each SCALAR_LOAD in v, also inside of loaded indices, once for each.
void scalar_loads(const struct scalar *v, void (*f)(void *user, const struct scalar *load),
                  void *user);
unsigned scalar_cost(const struct scalar *v); // operations, each node once
void scalar_print(const struct scalar *v, struct strbuf *out);

#endif
