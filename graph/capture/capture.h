// SPDX-License-Identifier: Apache-2.0
// What the parts of the public calls on graphs (include/tile/graph.h) share.
#ifndef TILE_GRAPH_CAPTURE_CAPTURE_H
#define TILE_GRAPH_CAPTURE_CAPTURE_H

#include "base/map.h"
#include "graph/ir/graph_operators.h"
#include "runtime/runtime_internal.h"

#include <tile/graph.h>

struct tile_graph {
  struct arena *arena;
  struct diag_engine *diag;
  struct graph *g;
  VEC(const struct expr *) sizes; // what numbers from FIRST_SIZE on stand for
  struct map size_ids;            // by address of the expression: its index in `sizes`, plus one
  tile_status status;             // of the first error
  char *message;                  // its words, on the heap
  struct strbuf text;
  bool is_closed; // compiled: no more changes
};

struct tile_value {
  tile_graph *graph;
  struct value *v;
};

// Numbers below the last one stand for sizes.
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

// Keeps the graph's first error, and sets the thread's message to it. Returns the status.
tile_status capture_fail(tile_graph *g, tile_status status, const char *fmt, ...) PRINTF(3, 4);
// The same from what was recorded in g->diag.
tile_status capture_fail_diag(tile_graph *g);
// Does the graph take changes? Sets the thread's message again where it has an error.
bool capture_is_open(tile_graph *g);
// The expression that a number of the caller stands for; NULL after an error.
const struct expr *capture_size(tile_graph *g, int64_t number);
int64_t capture_number(tile_graph *g, const struct expr *e); // the other way
tile_value *capture_value(tile_graph *g, struct value *v);

// Declares the jmp_buf `name` and makes it the arena's handler until the function returns,
// whichever way: the handler that was there is put back. setjmp(name) must follow at once.
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

#endif
