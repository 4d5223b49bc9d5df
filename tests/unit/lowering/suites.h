// SPDX-License-Identifier: Apache-2.0
// The suites of lowering/, one a test file.
#ifndef TEST_LOWERING_SUITES_H
#define TEST_LOWERING_SUITES_H

#include <check.h>

#define SUITES(X)                                                                                  \
  X(async)                                                                                         \
  X(axis_info)                                                                                     \
  X(axis_soundness)                                                                                \
  X(canonicalize)                                                                                  \
  X(compile)                                                                                       \
  X(compile_time)                                                                                  \
  X(emit)                                                                                          \
  X(emit_layouts)                                                                                  \
  X(emit_dot)                                                                                      \
  X(emit_gather) X(emit_pairs) X(emit_reduce) X(layout_passes) X(layout_soundness) X(int_arith)    \
      X(intervals) X(liveness) X(loop_schedule) X(occupancy) X(provenance) X(pass_manager)         \
          X(pass_soundness) X(prefetch) X(ring_races) X(rings) X(shared_memory) X(trips)

#define X(name) TCase *name##_tests(void);
SUITES(X)
#undef X

#endif
