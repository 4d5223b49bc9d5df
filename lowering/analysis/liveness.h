// SPDX-License-Identifier: Apache-2.0
// Live ranges of values, in points of the program order. An op has one point; one with regions has
// its point before them and a second one after them.
//
//   0  %a = ...
//   1  scf.for {          %a is used in a loop: it is live from 0 to 4
//   2    use %a
//   3    scf.yield
//   4  }
#ifndef TILE_LOWERING_ANALYSIS_LIVENESS_H
#define TILE_LOWERING_ANALYSIS_LIVENESS_H

#include "mlir-dialects/ir.h"

struct live_range {
  uint32_t begin, end; // points, both included
};

static inline bool live_ranges_overlap(struct live_range a, struct live_range b) {
  return a.begin <= b.end && b.begin <= a.end;
}

struct liveness;

// Numbers the ops of `func`; the results are on `a` and are valid until the IR changes.
struct liveness *liveness_of(struct ir_context *c, MlirOperation func, struct arena *a);
uint32_t liveness_point(const struct liveness *l, MlirOperation op);
uint32_t liveness_end(const struct liveness *l, MlirOperation op); // after its regions
uint32_t liveness_count(const struct liveness *l);                 // of points
// From the definition (a block argument: the begin of its block's op; the result of an op with
// regions: its end) to the last use.
struct live_range liveness_range(const struct liveness *l, MlirValue v);

bool op_is_loop(struct ir_context *c, MlirOperation op);
// The innermost loop of the function around the op; null without one.
MlirOperation op_loop_around(struct ir_context *c, MlirOperation op);

// Calls fn for every pair of values such that `to` may be `from` by control flow: loop inits,
// carried values, results of ops with regions.
void flow_of_values(struct ir_context *c, MlirOperation op,
                    void (*fn)(MlirValue from, MlirValue to, void *user), void *user);

#endif
