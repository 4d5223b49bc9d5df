// SPDX-License-Identifier: Apache-2.0
// Shared by the public calls on graphs (include/tile/graph.h).
#ifndef TILE_GRAPH_CAPTURE_CAPTURE_H
#define TILE_GRAPH_CAPTURE_CAPTURE_H

#include "base/map.h"
#include "graph/ir/graph_operators.h"
#include "runtime/runtime_internal.h"

#include <tile/train.h>

// A parameter of the graph: an input that a trainer owns.
struct graph_parameter {
  tile_value *value;
  tile_initial initial;
};

struct path_capture; // graph/capture/function_internal.h

struct tile_graph {
  struct arena *arena;
  struct diag_engine *diag;
  struct graph *g;
  VEC(const struct expr *) sizes; // the sizes that numbers from FIRST_SIZE on represent
  struct map size_ids;            // by address of the expression: 1 + its index in `sizes`
  tile_status status;             // of the first error
  char *message, *records;        // its message, and its diagnostics as JSON (NULL: none), heap
  struct strbuf text;
  VEC(struct graph_parameter) parameters;
  struct path_capture *path; // while a captured function is called; else NULL
  bool has_gradients;
  bool is_closed; // compiled: it cannot be changed
};

struct tile_value {
  tile_graph *graph;
  struct value *v;
};

// Numbers below the last one represent sizes.
#define FIRST_SIZE (INT64_MIN + 1)
#define MAX_SIZES (1 << 20)

enum operand_kind {
  OPERAND_TENSOR,
  OPERAND_INT,
  OPERAND_REAL,
  OPERAND_BOOL,
  OPERAND_NONE,
  OPERAND_DTYPE,
  OPERAND_WORD,
  OPERAND_INTS,
  OPERAND_TENSORS
};

// Records the graph's first error, and sets the thread's message to it. Returns the status.
tile_status capture_fail(tile_graph *g, tile_status status, const char *fmt, ...) PRINTF(3, 4);
// The same, from the first error in g->diag.
tile_status capture_fail_diag(tile_graph *g);
// Can the graph be changed? Otherwise sets the thread's message to the graph's error.
bool capture_is_open(tile_graph *g);
// The expression that a number of the caller represents; NULL after an error.
const struct expr *capture_size(tile_graph *g, int64_t number);
int64_t capture_number(tile_graph *g, const struct expr *e); // the inverse
tile_value *capture_value(tile_graph *g, struct value *v);
// Does the value belong to this graph? Else an error that calls it `what`.
bool capture_is_own(tile_graph *g, const tile_value *v, const char *what);

// Declares the jmp_buf `name` and makes it the arena's handler; on return from the function the
// previous handler is restored. setjmp(name) must follow at once.
struct capture_handler {
  struct arena *arena;
  jmp_buf *before;
};
static inline void capture_put_back(struct capture_handler *h) {
  arena_set_oom(h->arena, h->before);
}
#define CAPTURE_GUARD(a, name)                                                                     \
  jmp_buf name;                                                                                    \
  struct capture_handler name##_before                                                             \
      __attribute__((cleanup(capture_put_back))) = {(a), arena_set_oom((a), &name)}

// From here to the function's return, out of memory is an error of the graph.
#define GUARDED(g, out_of_memory, otherwise)                                                       \
  CAPTURE_GUARD((g)->arena, out_of_memory);                                                        \
  if (setjmp(out_of_memory)) {                                                                     \
    capture_fail((g), TILE_OUT_OF_MEMORY, "out of memory for a graph");                            \
    return otherwise;                                                                              \
  }                                                                                                \
  (void)0

#endif
