// SPDX-License-Identifier: Apache-2.0
// The state of the interpreter of loops, and its buffers.
#ifndef TILE_GRAPH_LOOPS_LOOPS_EXECUTION_H
#define TILE_GRAPH_LOOPS_LOOPS_EXECUTION_H

#include "graph/loops/tape.h"
#include "graph/reference/tensor.h"

struct execution {
  const struct loops *l;
  struct tape_context c;
  struct tape *t;
  const struct stage *s;
  uint32_t body, offset, predicate, a, b; // registers
  union element acc;
  int64_t count; // elements of the reduction so far
  double *fill;  // the next element of the matrix being filled
};

// ---- graph/loops/loops_memory.c ----
// The value of a size; false if it does not fit.
bool execution_size(const struct execution *x, const struct expr *e, int64_t *ret);
bool execution_allocate(struct execution *x);
// Copies inputs into their buffers, and outputs and new values of inputs out of them.
bool execution_move_inputs(struct execution *x, struct tensor *const *inputs);
bool execution_move_outputs(const struct execution *x, struct tensor **ret);
// Stores an element of dtype `from`; does nothing out of bounds.
void execution_put(struct execution *x, struct buffer *b, int64_t offset, union element e,
                   enum dtype from);

#endif
