// SPDX-License-Identifier: Apache-2.0
// Shared by the functions of graph/reference/reference.def: evaluated arguments of a node, and
// loops over tensors. Results are allocated before a function is called, with the shapes and dtypes
// of the graph's values, filled with zeros. The caller wraps integers to their dtype.
#ifndef TILE_GRAPH_REFERENCE_REFERENCE_H
#define TILE_GRAPH_REFERENCE_REFERENCE_H

#include "base/thread_pool.h"
#include "graph/ir/graph_operators.h"
#include "graph/reference/interpret.h"

#define REFERENCE(id, function) bool function(struct reference_call *c);
#include "graph/reference/reference.def"
#undef REFERENCE

struct reference_call {
  const struct graph *graph;
  const struct node *node;
  const struct interpret_options *options;
  const int64_t *symbols;
  struct thread_pool *pool;      // NULL: one thread
  uint32_t stream;               // of random operators: the number of those before it
  struct tensor *const *tensors; // by value id
  struct tensor **out;           // by result; NULL: the operator omits it
  bool adds_sizes;               // add the absolute values of terms that could cancel, for bounds
};

// ---- arguments (graph/reference/interpret.c) ----
// Records E1010 at the operator, E0991 if the text begins with "out of memory". Always false.
bool call_fail(const struct reference_call *c, const char *fmt, ...) PRINTF(2, 3);
struct tensor *call_tensor(const struct reference_call *c, unsigned i); // NULL: None or a number
struct tensor *arg_tensor(const struct reference_call *c, const struct arg *a);
int64_t arg_integer(const struct reference_call *c, const struct arg *a);
int64_t call_int(const struct reference_call *c, unsigned i);
int64_t call_int_or(const struct reference_call *c, unsigned i, int64_t none);
// The first GRAPH_MAX_RANK integers of a list; returns how many.
uint32_t call_ints(const struct reference_call *c, unsigned i, int64_t *ret);
// A list of integers for `count` dimensions: one counts for all, an empty list is `none`.
void call_extents(const struct reference_call *c, unsigned i, uint32_t count, int64_t none,
                  int64_t *ret);
double call_real(const struct reference_call *c, unsigned i); // of any number
// A number as an element of dtype t.
union element call_element(const struct reference_call *c, unsigned i, enum dtype t);
bool call_is_word(const struct reference_call *c, unsigned i, const char *word);
// Calls body(user, i) for i in [0, n), on threads if each has enough `work`.
void call_for(const struct reference_call *c, int64_t n, int64_t work,
              void (*body)(void *user, int64_t i), void *user);

// ---- loops (graph/reference/reference_walk.c) ----
enum { WALK_MAX = 4 };
// A loop nest over a shape, with each tensor's offset by strides. Adjacent dimensions are merged
// where all tensors allow it.
struct walk {
  uint32_t rank;
  int64_t shape[GRAPH_MAX_RANK];
  unsigned count;
  int64_t strides[WALK_MAX][GRAPH_MAX_RANK], start[WALK_MAX];
};
void walk_init(struct walk *w, uint32_t rank, const int64_t *shape);
// Adds a tensor, from `start` on; tensors are in the order of calls.
void walk_add(struct walk *w, int64_t start, const int64_t *strides);
// Adds a tensor that is broadcast to the shape.
void walk_add_broadcast(struct walk *w, const struct tensor *t);
// Innermost runs: offsets at[k], at[k] + step[k], ... `length` of them. May be called from threads.
typedef void (*walk_fn)(void *user, const int64_t *at, const int64_t *step, int64_t length);
void walk_run(const struct reference_call *c, struct walk *w, walk_fn body, void *user);

// A tensor as lines along some of its dimensions, in row-major order.
struct lines {
  int64_t count, length;
  uint32_t rank; // of the dimensions kept
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  int64_t step, *offsets; // offsets within a line: j * step, or from the list
};
// Bit d of `along`: dimension d is part of lines. False: out of memory.
bool lines_init(struct lines *l, const struct tensor *t, uint32_t along);
void lines_free(struct lines *l);
int64_t line_start(const struct lines *l, int64_t i);
static inline int64_t line_offset(const struct lines *l, int64_t start, int64_t j) {
  return start + (l->offsets ? l->offsets[j] : j * l->step);
}

void dense_strides(uint32_t rank, const int64_t *shape, int64_t *ret);
// The dimensions that parameter i names, as a bit mask; all if it is None or empty.
uint32_t call_dims(const struct reference_call *c, unsigned i, uint32_t rank);
// Reads `in` at start + index * strides.
void copy_strided(const struct reference_call *c, struct tensor *out, const struct tensor *in,
                  int64_t start, const int64_t *strides);
// Writes all of `in`, converted, at start + index * strides.
void place_strided(const struct reference_call *c, struct tensor *out, int64_t start,
                   const int64_t *strides, const struct tensor *in);

// ---- products (graph/reference/reference_product.c) ----
// A matrix: element (i, j) at p[i * row + j * column].
struct matrix {
  union element *p;
  int64_t row, column;
};
// c += a b, of m rows, n columns and depth k; of floats if `real`. pool NULL: this thread.
void matrix_product(struct thread_pool *pool, bool real, int64_t m, int64_t n, int64_t k,
                    struct matrix a, struct matrix b, struct matrix c);

// ---- elements ----
static inline double to_real(enum dtype t, union element e) {
  return dtype_is_float(t) ? e.real : element_convert(e, t, DTYPE_F64).real;
}
static inline union element from_real(double x) { return (union element){.real = x}; }
static inline union element from_int(int64_t x) { return (union element){.integer = x}; }

#endif
