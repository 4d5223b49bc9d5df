// SPDX-License-Identifier: Apache-2.0
// Tensor graphs: values in SSA form, defined by operators of the table
// graph/ir/graph_operators.def. They are functional: no operator changes a tensor; writes to inputs
// are entries of `mutations`. A view is a value like any other (graph/loops/loops.h finds by index
// expressions what it shares with its source).
//
// Passes do not edit graphs: each reads one and builds the next (graph/passes/passes.h).
#ifndef TILE_GRAPH_IR_GRAPH_H
#define TILE_GRAPH_IR_GRAPH_H

#include "base/diag.h"
#include "base/dtype.h"
#include "base/limits.h"
#include "base/vec.h"
#include "graph/expr/size_expr.h"

#define GRAPH_MAX_RANK LIMIT_GRAPH_RANK
#define GRAPH_MAX_SIZE INT32_MAX // of a dimension that is a symbol
#define GRAPH_MAX_NODES LIMIT_GRAPH_NODES
#define GRAPH_MAX_VALUES (1 << 22)
#define GRAPH_MAX_BYTES (INT64_C(1) << 46) // of a tensor, by its strides too

enum operator_id {
#define OPERATOR(id, ...) OP_##id,
#include "graph/ir/graph_operators.def"
#undef OPERATOR
  OPERATOR_COUNT,
  // Composed operators, which append others: no graph contains them.
  COMPOSED_BEFORE = OPERATOR_COUNT - 1,
#define COMPOSED(id, ...) OP_##id,
#include "graph/ir/composed.def"
#undef COMPOSED
  OPERATOR_ALL
};

struct node;
struct complex_parts;

// A tensor. Strides count elements, outermost dimension first. They are binding for inputs and
// outputs of the graph; for values in between they are those of the annotation.
struct value {
  uint32_t id; // in graph order: inputs first
  const char *name;
  enum dtype dtype; // DTYPE_I1 is bool
  uint32_t rank;
  const struct expr **shape, **strides;
  struct node *def;      // NULL: an input
  uint32_t result;       // of `def`
  bool has_free_strides; // an output whose strides the compiler may choose
  // Not NULL: a complex tensor, which only exists while a graph is built: the graph has real values
  // in its place (graph/ir/complex.h). `dtype` is that of its parts; `def` is NULL.
  struct complex_parts *complex;
  struct span span;
};

enum arg_kind {
  ARG_NONE, // Python's None, also for an optional tensor that is absent
  ARG_VALUE,
  ARG_INT, // `number`, which may be symbolic
  ARG_FLOAT,
  ARG_BOOL,
  ARG_DTYPE,
  ARG_COMPLEX, // a complex dtype: `dtype` is that of the parts
  ARG_STRING,  // also memory formats, devices, layouts and dictionaries, as spelled
  ARG_GRAPH,   // a subgraph, for higher-order operators
  ARG_LIST
};

struct graph;
struct arg {
  enum arg_kind kind;
  union {
    struct value *value;
    const struct expr *number;
    double real;
    bool truth;
    enum dtype dtype;
    struct str string;
    struct graph *graph; // on the arena and with the expressions of the graph around it
    struct {
      struct arg *at;
      size_t count;
    } list;
  };
};

// Set by graph_recompute (graph/autodiff/recompute.h).
enum node_part {
  PART_FORWARD, // does not depend on a seed; of other graphs, all operators
  PART_BACKWARD,
  PART_AGAIN // a copy of a forward operator, for those that depend on a seed
};

// The region of what graph_gradient appends.
#define REGION_GRADIENT UINT32_MAX

struct node {
  enum operator_id op;
  uint32_t id;
  struct arg *args; // one for each parameter of the operator, defaults filled in
  uint32_t arg_count, result_count;
  struct value **results; // NULL: the operator omits this result (output_mask)
  const char *name;       // of the tuple where there are several results
  uint32_t region;        // marked for recomputation: its number; 0: none; or REGION_GRADIENT
  enum node_part part;
  bool is_kept; // for gradients: graph_recompute
  // Of a random operator in a part of another graph: 1 + its number there. 0: its place counts.
  uint32_t random_number;
  struct span span;
};

// The graph writes to one of its inputs: after a run that input contains `value`.
struct mutation {
  struct value *input, *value;
};

// How an input determines a symbol: its extent along `dim`, or its stride, is coefficient * symbol
// + rest, in symbols that earlier entries determine. coefficient NULL: it is a polynomial that
// grows with the symbol.
struct size_source {
  uint32_t symbol, input, dim;
  bool is_stride;
  const struct expr *coefficient, *rest;
};

// A symbol that is used but that no input determines: the caller gives it.
struct given_size {
  uint32_t symbol;
  bool is_given;
  int64_t value;
};

// A condition on the symbolic sizes of a run: `slack` is not negative.
struct requirement {
  const struct expr *slack;
  const char *text; // the error message if it is
  struct span span;
};

// The shape that the text gives a result.
struct annotated {
  uint32_t rank;
  const struct expr *const *shape;
};

struct graph {
  struct arena *arena;
  struct exprs *exprs;
  struct diag_engine *diag;
  const char *name;
  VEC(const struct expr *) symbols; // sizes that are inputs, in order of appearance
  VEC(struct value *) inputs;
  VEC(struct node *) nodes;    // in topological order
  VEC(struct value *) outputs; // NULL: None; a value may appear twice
  VEC(struct mutation) mutations;
  uint32_t value_count;                 // all ids are below it
  uint32_t made[OPERATOR_ALL];          // count of values and tuples by operator, for their names
  const char *device;                   // as in annotations; NULL: the text has none
  VEC(struct size_source) size_sources; // graph_find_sizes
  VEC(struct requirement) requirements;
  VEC(struct given_size) given_sizes; // graph_find_sizes, graph_give_size
  const struct annotated *annotated; // while text is read: what it says of the next result, or NULL
  bool keeps_casts;      // round f16 and bf16 values to their dtype after every operator, as eager
                         // PyTorch does; else only where they are stored. 8-bit floats are always
                         // rounded.
  bool is_deterministic; // sums of floats have a fixed order
  // Recomputation for gradients: values that they need are computed again so that at most
  // `saved_limit` bytes of them are kept; 0: no limit, what is cheap is computed again.
  bool recomputes;
  int64_t saved_limit;
  bool parts_stay_apart;     // forward operators share no kernel with others: graph_recompute
  uint32_t region, regions;  // of the operators that are appended: struct node; regions so far
  bool stores_channels_last; // images of convolutions (graph/passes/channels_last.h)
  bool sums_taps;            // for a processor: small convolutions are maps (graph/loops/taps.c)
};

// ---- facts (graph/ir/sizes.c) ----
// Two sizes that the text takes as equal, by one of PyTorch's guards: each run checks it. False:
// they differ for all sizes.
bool graph_require_equal(struct graph *g, const struct expr *a, const struct expr *b,
                         struct span at);

// A condition that each run checks: `slack` is not negative, else the error is `text`. False: it is
// for all sizes.
bool graph_require(struct graph *g, const struct expr *slack, const char *text, struct span at);

// ---- building (graph/ir/graph.c) ----
struct graph *graph_create(struct arena *a, struct diag_engine *diag, struct exprs *x,
                           const char *name);
// `strides` NULL: contiguous. Shape and strides are copied.
struct value *graph_add_input(struct graph *g, const char *name, enum dtype dtype, uint32_t rank,
                              const struct expr *const *shape, const struct expr *const *strides,
                              struct span at);
// Appends a node; the operator's rule gives shapes, strides and dtypes of its results. `args` has
// an entry for each parameter, or ends before trailing ones with defaults; it is copied. NULL after
// an error (E1003 to E1006) at `at`, or if a tensor is missing after an earlier one. A composed
// operator (graph/ir/composed.def) appends others: the returned node is not part of the graph and
// only has their results.
struct node *graph_append(struct graph *g, enum operator_id op, const struct arg *args,
                          size_t arg_count, struct span at);
// The result of such a node with one result; NULL after an error.
struct value *graph_apply(struct graph *g, enum operator_id op, const struct arg *args,
                          size_t arg_count, struct span at);
void graph_add_output(struct graph *g, struct value *v);
void graph_add_mutation(struct graph *g, struct value *input, struct value *v);
// The number of uses of each value by nodes, outputs and mutations, by value id. On `a`.
uint32_t *graph_count_uses(const struct graph *g, struct arena *a);

#define ARG_V(v) ((struct arg){.kind = (v) ? ARG_VALUE : ARG_NONE, .value = (v)})
#define ARG_E(e) ((struct arg){.kind = ARG_INT, .number = (e)})
#define ARG_F(x) ((struct arg){.kind = ARG_FLOAT, .real = (x)})
#define ARG_B(b) ((struct arg){.kind = ARG_BOOL, .truth = (b)})
#define ARG_D(d) ((struct arg){.kind = ARG_DTYPE, .dtype = (d)})
struct arg arg_int(struct graph *g, int64_t value);
struct arg arg_ints(struct graph *g, size_t count, const int64_t *values);
struct arg arg_exprs(struct graph *g, size_t count, const struct expr *const *values);
struct arg arg_values(struct graph *g, size_t count, struct value *const *values);

// ---- arguments of a node, whose kinds the operator's parameters guarantee ----
struct value *node_value(const struct node *n, unsigned i); // NULL: None, or a number
bool node_is_none(const struct node *n, unsigned i);
const struct expr *node_expr(const struct node *n, unsigned i);
int64_t node_int(const struct node *n, unsigned i); // of a constant
double node_real(const struct node *n, unsigned i); // of any number that is constant, also bool
bool node_truth(const struct node *n, unsigned i);
// A dimension, counted from the front: negative ones wrap.
uint32_t node_dim(const struct node *n, unsigned i, uint32_t rank);
size_t node_list(const struct node *n, unsigned i, const struct arg **ret); // its length
// A list of numbers for `count` dimensions: one number counts for all, none is `none`.
void node_extents(const struct node *n, unsigned i, uint32_t count, int64_t none, int64_t *ret);

// ---- properties of values ----
bool value_is_contiguous(struct exprs *x, const struct value *v);
const struct expr *value_numel(struct exprs *x, const struct value *v);
bool shape_is_empty(uint32_t rank, const struct expr *const *shape); // some extent is 0
bool value_has_shape(const struct value *v, uint32_t rank, const struct expr *const *shape);
static inline bool value_same_shape(const struct value *a, const struct value *b) {
  return value_has_shape(a, b->rank, b->shape);
}
// Does it take GRAPH_MAX_BYTES or more for all values of its symbols?
bool value_is_too_large(const struct value *v);
// The strides of a dense tensor of that shape; on `a`.
const struct expr **contiguous_strides(struct exprs *x, struct arena *a, uint32_t rank,
                                       const struct expr *const *shape);

// ---- checking (graph/ir/graph_verify.c) ----
// False with E1007 (order, cycles, values of another graph), or E1003 to E1006 if a node's results
// are not those of its rule.
bool graph_verify(struct graph *g);

// ---- text (graph/ir/graph_print.c) ----
// In PyTorch's format with strides: graph/read/fx.h reads it back to an equal graph.
void graph_print(const struct graph *g, struct strbuf *out);
// "f32[2, 3]" ; with strides "f32[2, 3][3, 1]".
void value_type_print(const struct value *v, bool with_strides, struct strbuf *out);

#endif
