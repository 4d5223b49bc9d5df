// SPDX-License-Identifier: Apache-2.0
// The suites of lowering/, one a test file.
#ifndef TEST_LOWERING_SUITES_H
#define TEST_LOWERING_SUITES_H

#include "assertions.h"

// Analyses, plans and passes, on IR alone.
#define IR_SUITES(X)                                                                               \
  X(axis_info)                                                                                     \
  X(axis_soundness)                                                                                \
  X(canonicalize)                                                                                  \
  X(int_arith)                                                                                     \
  X(intervals)                                                                                     \
  X(layout_passes)                                                                                 \
  X(liveness)                                                                                      \
  X(loop_schedule)                                                                                 \
  X(occupancy)                                                                                     \
  X(pass_manager)                                                                                  \
  X(pass_soundness)                                                                                \
  X(provenance)                                                                                    \
  X(ring_races)                                                                                    \
  X(rings)                                                                                         \
  X(trips)

// Kernels compiled and run on the CPU: one op each.
#define EMIT_SUITES(X)                                                                             \
  X(emit)                                                                                          \
  X(emit_dot)                                                                                      \
  X(emit_gather)                                                                                   \
  X(emit_layouts)                                                                                  \
  X(emit_pairs)                                                                                    \
  X(emit_reduce)

// The same, whole kernels.
#define RUN_SUITES(X)                                                                              \
  X(async)                                                                                         \
  X(compile)                                                                                       \
  X(compile_time)                                                                                  \
  X(layout_soundness)                                                                              \
  X(prefetch)                                                                                      \
  X(shared_memory)

#define X(name) TCase *name##_tests(void);
IR_SUITES(X)
EMIT_SUITES(X)
RUN_SUITES(X)
#undef X

#endif
