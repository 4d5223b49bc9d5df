// SPDX-License-Identifier: Apache-2.0
// Shared by the files that lower graphs to loops. Each value of the graph is deferred: an
// expression tree of its element over axes of its own. For a stored value that tree is a load of
// its buffer; users see no difference.
#ifndef TILE_GRAPH_LOOPS_LOOPS_INTERNAL_H
#define TILE_GRAPH_LOOPS_LOOPS_INTERNAL_H

#include "base/map.h"
#include "graph/ir/graph_operators.h"
#include "graph/ir/unique_name.h"
#include "graph/loops/loops.h"

enum { LOOPS_MAX_ORIGINS = 12, LOOPS_MAX_UNROLL = 8, LOOPS_MAX_PIECES = 8 };

// A concatenation of more than LOOPS_MAX_PIECES parts, which has a buffer of its own
// (graph/loops/concatenation.c).
struct concatenation {
  const struct node *node;
  uint32_t dim;
  size_t count;
  const struct arg *parts;
  const struct expr **starts;     // by part, along `dim`
  struct buffer **slices;         // by part: where it is stored; NULL: not yet
  const struct assignment *whole; // NULL: not assigned yet
};

struct deferred {
  struct value *value;
  const struct expr **at;                 // one per dimension: its axis, or 0 if the extent is 1
  const struct scalar *body;              // half precision in f32
  const char *origins[LOOPS_MAX_ORIGINS]; // its operators that no stage has yet
  uint32_t origin_count;
};

// The uses of a value, including those of its views.
struct uses {
  uint32_t count;            // operators that use it
  bool in_product;           // as an operand
  bool in_taps;              // the image of a convolution that is a sum of taps
  double product_rows;       // of the other operand of a matrix product; 0: none
  bool in_scaled_product;    // both operands come from 8-bit floats
  bool in_attention;         // a product of one row, of scores or with probabilities
  uint32_t computed;         // of `count`: toward scores that a kernel computes one by one
  bool is_product_of_scores; // they are computed from it
  bool is_output;
  bool meets_itself; // some operator compares its elements with each other
  double widest;     // elements of the largest iteration domain that reads it
  int32_t
      output; // the output to which it can be stored directly, itself or through `via`; -1: none
  const struct node *via;    // the next view towards that output; NULL: it is the output
  const struct node *toward; // the next view or pointwise operator towards a product; NULL: none
  struct concatenation *concatenation; // the last one that it, or a view of it, is a part of
  size_t part;
  const struct node *part_via; // the next view towards that part; NULL: it is the part
};

struct builder {
  struct loops *l;
  struct scalars *s;
  struct exprs *x;
  struct arena *arena;
  struct graph *g;
  bool rounds, failed;
  struct deferred **deferred;            // by value
  struct uses *uses;                     // by value
  struct map axes;                       // symbols by kind, position and extent
  struct unique_names names;             // of buffers
  struct buffer **inputs, **outputs;     // outputs: NULL until one is written
  struct concatenation **concatenations; // by value
  struct buffer **images;                // by value: copies for convolutions, channels last
};

// The buffer of a stored value.
struct assignment {
  struct buffer *buffer;
  const struct value *value;   // the stored value
  const struct expr **strides; // of the value as stored
  const struct node **path;    // views from `value` to the value as stored
  size_t path_count;
  // A part of a concatenation: the value as stored is this slice of `whole`. NULL: none.
  const struct concatenation *of;
  size_t part;
};

// ---- graph/loops/quantised.c ----
// Is it computed from small integers, as many as it has elements, and from far fewer parameters?
bool loops_is_quantised(struct builder *b, const struct value *v, const struct scalar *body);
// Is that the operand of a product, which computes it where it reads it?
bool loops_reads_quantised(struct builder *b, const struct value *v, const struct scalar *body);
// Attention with so many queries at most reads keys and values of 8 bits where it needs them.
enum { LOOPS_FEW_QUERIES = 64 };
bool loops_loads_bytes(const struct scalar *body);

// ---- graph/loops/scaled_bytes.c ----
// Is v computed from 8-bit floats by views, conversions and factors?
bool loops_comes_from_bytes(const struct value *v);

// ---- graph/loops/loops_elements.c ----
typedef const struct expr *const *coordinates; // an expression for each dimension
// One symbol for each extent and position: expression trees of values of one shape need no
// renaming.
const struct expr *loops_symbol(struct builder *b, char kind, unsigned position,
                                const struct expr *extent);
const struct expr *loops_axis(struct builder *b, char kind, unsigned position,
                              const struct expr *extent);               // 0: extent 1
const struct expr **loops_coordinates(struct builder *b, size_t count); // an array to fill
struct deferred *loops_deferred(struct builder *b,
                                struct value *v); // with axes, without an expression tree
const struct scalar *loops_element(struct builder *b, const struct value *v, coordinates at);
// At coordinates of a shape of `rank` dimensions that v is broadcast to.
const struct scalar *loops_broadcast(struct builder *b, const struct value *v, uint32_t rank,
                                     coordinates at);
// Operand i, a tensor or a number, converted to `t`.
const struct scalar *loops_operand(struct builder *b, const struct node *n, unsigned i,
                                   enum dtype t, uint32_t rank, coordinates at);
const struct scalar *loops_number(struct builder *b, const struct arg *a, enum dtype t);
const struct expr *loops_dot(struct builder *b, size_t count, coordinates at,
                             const struct expr *const *strides);
const struct expr *loops_linear(struct builder *b, const struct value *v,
                                coordinates at); // in row-major order
void loops_unravel(struct builder *b, const struct expr *e, size_t count,
                   const struct expr *const *sizes, const struct expr **ret);
const struct scalar *loops_binary(struct builder *b, enum scalar_op op, enum dtype t,
                                  const struct scalar *x, const struct scalar *y);
const struct scalar *loops_between(struct builder *b, const struct expr *e, const struct expr *from,
                                   const struct expr *to);
// Reports E1011: the operator and the reason.
bool loops_refuse(struct builder *b, const struct node *n, const char *fmt, ...) PRINTF(3, 4);

// ---- graph/loops/scores.c ----
// Operands of a node that are functions of a product of queries and keys, [batch, heads, queries,
// keys], and that product; NULL: none.
struct loops_scores {
  const struct value *product, *computed[3]; // score, derivative, kept; NULL: none
  const struct value *bounds[4]; // first, end, first_query, end_query; NULL: none
};
struct loops_scores loops_scores_of(const struct node *n);
// Their element as an expression tree of `placeholder`, a load of no buffer, in f32.
const struct scalar *loops_score(struct builder *b, const struct value *product,
                                 const struct value *computed, const struct scalar *placeholder,
                                 coordinates at);

// ---- graph/loops/few_queries.c ----
// Marks the products of attention with one query, by their results.
void loops_find_few_queries(struct builder *b);

// ---- graph/loops/materialise.c ----
bool loops_find_uses(struct builder *b);
// Is some result of n an operand or an output?
bool loops_is_used(const struct builder *b, const struct node *n);
// Adds the origins of n and those of its operands that no stage has yet.
void loops_inherit(struct builder *b, struct deferred *z, const struct node *n);
// Sets the expression tree of a result, and stores it if should_store says so.
bool loops_define(struct builder *b, const struct node *n, struct deferred *z,
                  const struct scalar *body);

// ---- graph/loops/buffer_assignment.c ----
struct assignment loops_assign(struct builder *b, struct value *v);
struct assignment loops_temporary(struct builder *b, struct value *v); // not an output
const struct expr *loops_offset(struct builder *b, const struct assignment *h, coordinates at);
struct stage *loops_stage(struct builder *b, enum stage_kind kind, const struct node *n);
void loops_add_axes(struct builder *b, struct stage *s, size_t count, coordinates at, bool reduced);
// The buffer of a concatenation, and one for parts first..last-1: their slice if the offset in it
// is linear, else the whole.
const struct assignment *loops_assign_whole(struct builder *b, struct concatenation *c);
struct assignment loops_assign_range(struct builder *b, struct concatenation *c, size_t first,
                                     size_t last);
// A stage writes parts first..last-1 to `slice`, their range.
void loops_add_slice(struct builder *b, struct concatenation *c, size_t first, size_t last,
                     struct buffer *slice);
// The offset in the range's buffer, at coordinates of its parts.
const struct expr *loops_part_offset(struct builder *b, const struct concatenation *c, size_t first,
                                     const struct buffer *of, coordinates at);
// From here on `z` is a load of its buffer.
void loops_stored(struct builder *b, struct deferred *z, const struct assignment *h);
void loops_take_origins(struct builder *b, struct deferred *z, struct stage *s);
struct buffer *loops_buffer(struct builder *b, enum buffer_role role, uint32_t index,
                            const struct value *v, const char *name, enum dtype t,
                            const struct expr *numel);
const struct expr *loops_span(struct builder *b, const struct value *v,
                              const struct expr *const *strides);
bool loops_write_outputs(struct builder *b);
void loops_write_inputs(struct builder *b);

// ---- graph/loops/concatenation.c ----
// Notes which values are parts of the node, if it is a concatenation with a buffer of its own.
void loops_find_parts(struct builder *b, const struct node *n);
// Could the value be computed straight into its slice of a concatenation, by the kernel that
// computes what it reads?
bool loops_is_part_of_stage(struct builder *b, const struct value *v, const struct scalar *body);
// Would its stage write a few bytes at a time?
bool loops_is_narrow_part(const struct concatenation *c, size_t part);
// The concatenation, longer than `n`, of which the parts of `n` are neighbouring parts, and the
// first of them; NULL: none.
struct concatenation *loops_longer_concatenation(const struct builder *b, const struct node *n,
                                                 size_t *ret_first);
bool loops_lower_cat(struct builder *b, const struct node *n);

// ---- graph/loops/view_coordinates.c ----
bool loops_is_view(enum operator_id op);
// The value that v is a view of, through any number of views; v itself if it is no view.
const struct value *loops_behind_views(const struct value *v);
// Coordinates of the view `n` as coordinates of its operand; NULL: as_strided.
const struct expr **loops_view_offset(struct builder *b, const struct node *n, coordinates at);
// Coordinates of the operand as coordinates of the view; NULL unless the view only reorders.
const struct expr **loops_view_back(struct builder *b, const struct node *n, coordinates at);

// ---- graph/loops/taps.c ----
// Is the convolution a sum of few taps, written out?
bool loops_sums_taps(const struct builder *b, const struct node *n);
// The sum of `body` over all elements of a channel's weights (r-axes, or 0), term by term.
const struct scalar *loops_tap_terms(struct builder *b, const struct value *weights,
                                     const struct scalar *body, size_t reduced,
                                     const struct expr *const *over);

// ---- families ----
bool loops_lower_pointwise(struct builder *b, const struct node *n);
bool loops_lower_create(struct builder *b, const struct node *n);
bool loops_lower_view(struct builder *b, const struct node *n);
bool loops_lower_move(struct builder *b, const struct node *n);
bool loops_lower_gather(struct builder *b, const struct node *n);
bool loops_lower_scatter(struct builder *b, const struct node *n);
bool loops_lower_reduction(struct builder *b, const struct node *n);
bool loops_lower_scan(struct builder *b, const struct node *n);
bool loops_lower_product(struct builder *b, const struct node *n);
bool loops_lower_grouped(struct builder *b, const struct node *n);
bool loops_lower_convolution(struct builder *b, const struct node *n);
bool loops_lower_attention(struct builder *b, const struct node *n);
bool loops_lower_call(struct builder *b, const struct node *n);

// The geometry of advanced indexing, for INDEX and INDEX_PUT.
struct indexing {
  uint32_t rank;             // of the result
  const struct expr **shape; // of the result
  uint32_t first, width;     // position of the index tensors' dimensions
};
bool loops_indexing(struct builder *b, const struct node *n, struct indexing *ret);
const struct expr **loops_indexed_offset(struct builder *b, const struct node *n,
                                         const struct indexing *x, coordinates at);
// A loaded index of a dimension of `extent`; if `wraps`, negative ones count from the end.
const struct expr *loops_loaded_index(struct builder *b, const struct scalar *i,
                                      const struct expr *extent, bool wraps);
// The sum of x * y over reduced dimensions (r-axes, or 0). Unrolled if there are few elements.
bool loops_sum_product(struct builder *b, const struct node *n, struct deferred *z,
                       const struct scalar *x, const struct scalar *y, size_t reduced,
                       const struct expr *const *over);
// The same for a convolution that is a sum of taps: a map.
bool loops_sum_taps(struct builder *b, const struct node *n, struct deferred *z,
                    const struct scalar *x, const struct scalar *y, size_t reduced,
                    const struct expr *const *over);
// The sum of squares around a mean, for a line that is read once. *ret_done: it was one.
bool loops_variance(struct builder *b, const struct node *n, struct deferred *z,
                    const struct scalar *body, size_t reduced, coordinates over, bool *ret_done);
// Drops stages that nothing reads.
void loops_drop_unread(struct builder *b);
// Do matrix instructions pay for these extents?
bool loops_pays_as_product(struct builder *b, const struct value *v, const struct expr *m,
                           const struct expr *n, const struct expr *k);
// The operand in the form that products need: over batch, row and column. Copied to a buffer first
// if its offset is not linear.
const struct scalar *loops_product_operand(struct builder *b, const struct node *n,
                                           const struct value *of, const struct scalar *v,
                                           const struct expr *batch, const struct expr *row,
                                           const struct expr *column, bool only_load);
// axes: batch, m, n, k; groups: NULL for none; `at`: the coordinates in the result.
bool loops_store_product(struct builder *b, const struct node *n, struct deferred *z,
                         const struct expr *const axes[4], const struct groups *groups,
                         const struct scalar *x, const struct scalar *y, coordinates at);

#endif
