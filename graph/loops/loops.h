// SPDX-License-Identifier: Apache-2.0
// Graphs as loops. Each value becomes an expression tree for one element at coordinates given by
// axes (symbols of graph/expr/size_expr.h); views only change the coordinates. A stage is a loop
// nest that writes a buffer: a map, a reduction, a matrix product, ... Maps are inlined into their
// users unless that costs more than a buffer.
// those who use them unless that would cost more than a buffer.
//
//   softmax over 4096 columns:     max[x]    = reduce max over r of in[4096*x + r]
//                                  sum[x]    = reduce sum over r of exp(in[4096*x + r] - max[x])
//                                  out[4096*x + r] = exp(in[4096*x + r] - max[x]) / sum[x]
#ifndef TILE_GRAPH_LOOPS_LOOPS_H
#define TILE_GRAPH_LOOPS_LOOPS_H

#include "graph/ir/graph.h"
#include "graph/ir/scalar.h"

enum buffer_role { BUFFER_INPUT, BUFFER_OUTPUT, BUFFER_TEMP, BUFFER_SLICE };

// Memory of elements of one dtype. Offsets in expression trees count elements; those of a slice
// count from its own first element.
struct buffer {
  uint32_t id;
  const char *name; // the graph's, made a unique identifier
  enum dtype dtype;
  enum buffer_role role;
  uint32_t index;            // of the graph's input or output
  const struct expr *numel;  // elements, by the largest offset
  const struct value *value; // NULL: not a value of the graph (partial results)
  // BUFFER_SLICE: the buffer that it lies in, which is no slice, and the element where it starts.
  struct buffer *home; // others: the buffer itself
  const struct expr *start;
  VEC(struct buffer *) parts; // the slices through which it is written; none: stages write it
};
// Do two different buffers share elements? Slices that stages write are disjoint.
static inline bool buffers_overlap(const struct buffer *a, const struct buffer *b) {
  return a != b && a->home == b->home && (a->parts.len || b->parts.len);
}

enum scalar_kind {
  SCALAR_CONST,
  SCALAR_INDEX,   // an expression of axes as an i64
  SCALAR_LOAD,    // element `index` of `buffer`
  SCALAR_APPLY,   // op on in[0..arity)
  SCALAR_CONVERT, // in[0] to dtype
  SCALAR_MASKED,  // in[1] where in[0], else in[2]; loads in in[1] are valid only where in[0] holds
  SCALAR_RANDOM   // uniform f32: element `index` of random operator `which`
                  // (graph/reference/interpret.h)
};

// The expression tree of one element; hash-consed, so that equal trees have equal pointers. Half
// precision is computed in f32: dtype is f16 or bf16 only for a SCALAR_LOAD of such a buffer,
// always under a SCALAR_CONVERT to f32, and for a SCALAR_CONVERT that rounds to half precision and
// back.
struct scalar {
  enum scalar_kind kind;
  enum dtype dtype;
  enum scalar_op op;
  uint32_t id; // in the order of creation: operands before users
  union element constant;
  const struct expr *index;
  struct buffer *buffer;
  uint32_t which;
  const struct scalar *in[3];
  struct scalars *set; // its owner
  // Properties of the whole tree, computed when it is built: trees share subtrees, so a walk over
  // operands of operands may take exponential time.
  bool has_load;     // also in loaded indices
  bool is_expensive; // exp, pow, random numbers and the like; this and the next two: not in indices
  bool rounds;       // inexact: two kernels may round it differently
  bool has_mask;     // a SCALAR_MASKED
};

enum stage_kind {
  STAGE_MAP,
  STAGE_REDUCE,
  STAGE_SCAN,    // inclusive, along the one reduced axis, which `out` has too
  STAGE_SCATTER, // writes or adds at loaded indices, into a buffer that a preceding map has filled
  STAGE_PRODUCT, // out[batch, m, n] = sum over k of a * b; axes are exactly batch, m, n; reduced: k
  STAGE_ATTENTION, // axes batch, m (queries), n (columns of the values); from fusion or from
                   // tile.attention
  STAGE_CALL       // no axes
};

enum reduce_op {
  REDUCE_SUM,
  REDUCE_PROD,
  REDUCE_MAX, // NaN wins
  REDUCE_MIN,
  REDUCE_ANY,
  REDUCE_ALL,
  REDUCE_ARGMAX, // the index of the first maximum, counted along the reduced axes
  REDUCE_ARGMIN
};
// The operation that combines two elements; SCALAR_NONE for indices of extremes.
enum scalar_op reduce_scalar_op(enum reduce_op op);

// softmax over keys j of score(s) times values, s = the product of queries and keys over d, not
// scaled.
struct attention {
  const struct expr *key, *depth; // further axes: j and d; the stage's are batch, query, column
  const struct scalar *q, *k, *v; // over batch, query, depth; batch, key, depth; batch, key, column
  const struct scalar *score;     // of the placeholder `product`, at batch, query, key
  const struct scalar *product;   // the placeholder: a SCALAR_LOAD of buffer NULL
  const struct scalar *kept;      // a factor of the weight of batch, query, key; NULL: 1
  bool zero_empty_rows;           // rows with all scores -inf give 0, not NaN
  // Of the keys that a query sees, expressions of the query that rise with it, loaded from tables;
  // `score` is -inf elsewhere. NULL: unknown.
  const struct expr *first, *end;
  struct buffer *lse;            // logsumexp, f32; NULL: not computed
  const struct expr *lse_offset; // over batch, query
};

// The groups of a grouped product: of its rows (m), or of its inner indices (k). Group g is from
// the end of group g - 1, 0 for the first, to its own end. Results in rows behind the last group
// are 0.
struct groups {
  bool of_rows;             // each has a matrix b of its own; else a result: the batch
  const struct expr *group; // an axis beside those of the stage, of `end` and, of rows, of b
  const struct scalar *end; // i64, over `group`
};
// Have they the same groups? NULL: none.
bool groups_are_same(const struct groups *a, const struct groups *b);

// A node that is no loop nest: it reads whole operands and writes whole results, in row-major
// order.
struct call {
  const struct node *node;
  size_t operand_count;
  const struct scalar **operands; // loads of element 0, in the order of the node's tensors
  // If the kernel computes scores (custom.h): batch, head, query and key. From operand `scores` on,
  // these are a placeholder for the product, as in struct attention, the score and its derivative,
  // expression trees of it over these axes, and tables of bounds at the query or key. NULL: all
  // operands are loads.
  const struct expr **score_axes;
  size_t scores;
  const struct scalar *kept;    // the last operand, a factor of weights over score_axes; NULL: 1
  const struct expr *bounds[4]; // the tables' elements, of keys, then of queries; NULL: none
  const struct expr ***strides; // by operand, of those that may be strided (custom.h); NULL: none
  struct buffer **results;      // by result; NULL: not used
};

struct stage {
  enum stage_kind kind;
  uint32_t id;
  uint32_t rank, reduced;     // axes, then reduced axes
  const struct expr **axes;   // symbols, each with its extent as limit
  const struct scalar *body;  // of a map, reduction, scan, scatter: the element; products: NULL
  const struct scalar *a, *b; // products: over batch, m, k and batch, k, n
  bool is_fast;      // products of 8-bit floats: the tensor core may keep few bits of their sums
  enum reduce_op op; // reductions and scans
  enum dtype dtype;  // accumulation dtype
  bool accumulates;  // scatter: atomic add
  bool sums_taps;    // a map of a window: a kernel of maps alone, whose axes are the image's
  const struct scalar *predicate; // scatter: only where it holds; NULL: everywhere
  const struct groups *groups;    // products; NULL: none
  struct attention *attention;
  struct call *call;
  struct buffer *out;        // of a call: the first result
  const struct expr *offset; // into `out`, over axes (scans: and the reduced axis)
  enum node_part part;
  struct span span;
  VEC(const char *) origins; // operators it came from ("softmax", "add"), in order
};

struct loops {
  struct arena *arena;
  struct exprs *exprs;
  struct diag_engine *diag;
  struct graph *graph;
  bool parts_stay_apart; // of the graph
  struct scalars *scalars;
  VEC(struct buffer *) buffers;
  VEC(struct stage *) stages; // in an execution order; writes to inputs come last
};

// Lowers a graph of primitives (graph/passes/lowering.def). NULL after an error.
struct loops *loops_build(struct graph *g);
void loops_print(const struct loops *l, struct strbuf *out); // as in the example above
void stage_print(const struct stage *s, struct strbuf *out);
// Interprets all stages in double precision, for tests: inputs and outputs as in graph_interpret.
struct tensor;
bool loops_interpret(const struct loops *l, uint64_t seed, const int64_t *symbols,
                     struct tensor *const *inputs, struct tensor **ret_outputs);

// ---- expression trees (graph/loops/scalar_expr.c) ----
struct scalars *scalars_create(struct arena *a, struct exprs *x);
// Whether constants converted to f16 or bf16 are rounded; default no.
void scalars_round_half_precision(struct scalars *s, bool rounds);
unsigned scalar_arity(const struct scalar *v); // number of operands
const struct scalar *scalar_const(struct scalars *s, enum dtype t, union element value);
const struct scalar *scalar_real(struct scalars *s, enum dtype t, double value);
const struct scalar *scalar_int(struct scalars *s, enum dtype t, int64_t value);
const struct scalar *scalar_index(struct scalars *s, const struct expr *e);
const struct scalar *scalar_load(struct scalars *s, struct buffer *b, const struct expr *offset);
// Folds constants and identities that hold for all values of the dtype (x + 0 of integers, x * 1,
// where(true, ..), comparisons of indices decided by their ranges, ...). `t` is the dtype of the
// result; booleans are always I1.
const struct scalar *scalar_apply(struct scalars *s, enum scalar_op op, enum dtype t,
                                  const struct scalar *const *in);
const struct scalar *scalar_convert(struct scalars *s, const struct scalar *v, enum dtype to);
const struct scalar *scalar_masked(struct scalars *s, const struct scalar *condition,
                                   const struct scalar *value, const struct scalar *other);
const struct scalar *scalar_random(struct scalars *s, uint32_t which, const struct expr *index);
// An integer expression tree as an index in [0, limit): an expression if it is affine, else a
// symbol for the loaded index; equal trees give the same symbol.
const struct expr *scalar_indirect(struct scalars *s, const struct scalar *of,
                                   const struct expr *limit);
// Replaces axes by expressions, also in loaded indices.
const struct scalar *scalar_substitute(struct scalars *s, const struct scalar *v, size_t count,
                                       const struct expr *const *from,
                                       const struct expr *const *to);
const struct expr *index_substitute(struct scalars *s, const struct expr *e, size_t count,
                                    const struct expr *const *from, const struct expr *const *to);
// v with each subtree from[i] replaced by to[i].
const struct scalar *scalar_replace(struct scalars *s, const struct scalar *v, size_t count,
                                    const struct scalar *const *from,
                                    const struct scalar *const *to);
// The same in the values that an index is loaded from.
const struct expr *index_replace(struct scalars *s, const struct expr *e, size_t count,
                                 const struct scalar *const *from, const struct scalar *const *to);
bool scalar_has_axis(const struct scalar *v, const struct expr *axis);
// Calls f once for each distinct SCALAR_LOAD in v, also in loaded indices.
void scalar_loads(const struct scalar *v, void (*f)(void *user, const struct scalar *load),
                  void *user);
unsigned scalar_cost(const struct scalar *v); // operations, shared ones once
// Is v computed from 8-bit floats by conversions and factors?
bool scalar_is_scaled_bytes(const struct scalar *v);
void scalar_print(const struct scalar *v, struct strbuf *out);

#endif
