// SPDX-License-Identifier: Apache-2.0
// What the files that lower graphs to loops share. Each value of the graph is deferred: the
// expression tree of its element at axes of its own. A value that is stored has the load of its
// buffer as expression tree; nothing else tells the two apart.
#ifndef TILE_GRAPH_LOOPS_LOOPS_INTERNAL_H
#define TILE_GRAPH_LOOPS_LOOPS_INTERNAL_H

#include "base/map.h"
#include "graph/ir/graph_operators.h"
#include "graph/loops/loops.h"

enum { LOOPS_MAX_ORIGINS = 12, LOOPS_MAX_UNROLL = 8, LOOPS_MAX_PIECES = 8 };

struct deferred {
  struct value *value;
  const struct expr **at;                 // one a dimension: its axis, or 0 where the extent is 1
  const struct scalar *body;              // half precision as f32
  const char *origins[LOOPS_MAX_ORIGINS]; // operators in it that no stage has had yet
  uint32_t origin_count;
};

// What becomes of a value, views of it included.
struct uses {
  uint32_t count;  // operators that compute with it
  bool in_product; // as an operand
  bool is_output;
  bool meets_itself;      // some operator compares its elements with each other
  double widest;          // elements of the largest domain that reads it
  int32_t output;         // that it can be written to directly, itself or through `via`; -1: none
  const struct node *via; // the next view on the way there; NULL: it is the output
  const struct node
      *toward; // the next view or pointwise operator on the way to a product; NULL: none
};

struct builder {
  struct loops *l;
  struct scalars *s;
  struct exprs *x;
  struct arena *arena;
  struct graph *g;
  bool rounds, failed;
  struct deferred **lazies;          // by value
  struct uses *uses;                 // by value
  struct map axes;                   // symbols by kind, position and extent
  struct map names;                  // of buffers
  struct buffer **inputs, **outputs; // outputs: NULL until one is written
};

// Where a value is stored.
struct assignment {
  struct buffer *buffer;
  const struct value *value;   // that is stored there
  const struct expr **strides; // of what lies in the buffer
  const struct node **path;    // views from `value` to what lies in the buffer
  size_t path_count;
};

// ---- loops.c ----
typedef const struct expr *const *coordinates; // an expression for each dimension
// The same symbol for the same extent at the same position: expression trees of values of one shape
// need no renaming.
const struct expr *loops_symbol(struct builder *b, char kind, unsigned position,
                                const struct expr *extent);
const struct expr *loops_axis(struct builder *b, char kind, unsigned position,
                              const struct expr *extent);               // 0: extent 1
const struct expr **loops_coordinates(struct builder *b, size_t count); // an array to fill
struct deferred *loops_deferred(struct builder *b,
                                struct value *v); // with axes, without a expression tree
const struct scalar *loops_element(struct builder *b, const struct value *v, coordinates at);
// At the coordinates that broadcasting to `rank` dimensions gives.
const struct scalar *loops_broadcast(struct builder *b, const struct value *v, uint32_t rank,
                                     coordinates at);
// Operand i as `t`, a tensor or a number.
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
// E1011: the operator and why.
bool loops_refuse(struct builder *b, const struct node *n, const char *fmt, ...) PRINTF(3, 4);

// ---- graph/loops/materialise.c ----
bool loops_find_uses(struct builder *b);
// Is some result of n an operand or an output?
bool loops_is_used(const struct builder *b, const struct node *n);
// Operators that n adds and those still open in its operands.
void loops_inherit(struct builder *b, struct deferred *z, const struct node *n);
// Sets the expression tree of a result, and stores it where that is better (see there).
bool loops_define(struct builder *b, const struct node *n, struct deferred *z,
                  const struct scalar *body);

// ---- graph/loops/buffer_assignment.c ----
struct assignment loops_assign(struct builder *b, struct value *v);
struct assignment loops_temporary(struct builder *b, struct value *v); // not in an output
const struct expr *loops_offset(struct builder *b, const struct assignment *h, coordinates at);
struct stage *loops_stage(struct builder *b, enum stage_kind kind, const struct node *n);
void loops_add_axes(struct builder *b, struct stage *s, size_t count, coordinates at, bool reduced);
// `z` reads from there from now on.
void loops_stored(struct builder *b, struct deferred *z, const struct assignment *h);
void loops_take_origins(struct builder *b, struct deferred *z, struct stage *s);
struct buffer *loops_buffer(struct builder *b, enum buffer_role role, uint32_t index,
                            const struct value *v, const char *name, enum dtype t,
                            const struct expr *numel);
const struct expr *loops_span(struct builder *b, const struct value *v,
                              const struct expr *const *strides);
bool loops_write_outputs(struct builder *b);
void loops_write_inputs(struct builder *b);

// ---- graph/loops/view_coordinates.c ----
bool loops_is_view(enum operator_id op);
// The value that v is a view of, through any number of views; v itself if it is no view.
const struct value *loops_behind_views(const struct value *v);
// Coordinates of the view `n` as coordinates of its operand; NULL: as_strided.
const struct expr **loops_view_offset(struct builder *b, const struct node *n, coordinates at);
// Coordinates of the operand as coordinates of the view; NULL unless the view only reorders.
const struct expr **loops_view_back(struct builder *b, const struct node *n, coordinates at);

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
bool loops_lower_convolution(struct builder *b, const struct node *n);
bool loops_lower_attention(struct builder *b, const struct node *n);

// How advanced indexing reads: shared by INDEX and INDEX_PUT.
struct indexing {
  uint32_t rank;             // of the result
  const struct expr **shape; // of the result
  uint32_t first, width;     // where the dimensions of the index tensors stand
};
bool loops_indexing(struct builder *b, const struct node *n, struct indexing *ret);
const struct expr **loops_indexed_offset(struct builder *b, const struct node *n,
                                         const struct indexing *x, coordinates at);
// An index that was loaded, of a dimension of `extent`; negative ones count from the end where
// `wraps`.
const struct expr *loops_loaded_index(struct builder *b, const struct scalar *i,
                                      const struct expr *extent, bool wraps);
// The sum of x * y over indices along reduced dimensions: r-axes, or 0. Written out where there are
// few.
bool loops_sum_product(struct builder *b, const struct node *n, struct deferred *z,
                       const struct scalar *x, const struct scalar *y, size_t reduced,
                       const struct expr *const *over);
// The sum of squares around a mean, of a line that is read once only. *ret_done: it was one.
bool loops_variance(struct builder *b, const struct node *n, struct deferred *z,
                    const struct scalar *body, size_t reduced, coordinates over, bool *ret_done);
// Stages that nothing reads are dropped.
void loops_drop_unread(struct builder *b);
// Are matrix instructions worth their while for these extents?
bool loops_pays_as_product(struct builder *b, const struct value *v, const struct expr *m,
                           const struct expr *n, const struct expr *k);
// The operand as products take it: over batch, row and column. Copied first where its elements do
// not lie at even distances.
const struct scalar *loops_product_operand(struct builder *b, const struct node *n,
                                           const struct value *of, const struct scalar *v,
                                           const struct expr *batch, const struct expr *row,
                                           const struct expr *column, bool only_load);
// axes: batch, m, n, k; `at`: the coordinates in the result.
bool loops_store_product(struct builder *b, const struct node *n, struct deferred *z,
                         const struct expr *const axes[4], const struct scalar *x,
                         const struct scalar *y, coordinates at);

#endif
