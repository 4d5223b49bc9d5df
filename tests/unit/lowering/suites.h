// SPDX-License-Identifier: Apache-2.0
// The suites of lowering/, one a test file.
#ifndef TEST_LOWERING_SUITES_H
#define TEST_LOWERING_SUITES_H

#include "assertions.h"

// Analyses, plans and passes, on IR alone.
#define IR_SUITES(X)                                                                               \
  X(access_cost)                                                                                   \
  X(axis_info)                                                                                     \
  X(axis_lattice)                                                                                  \
  X(axis_rules)                                                                                    \
  X(axis_shape_rules)                                                                              \
  X(axis_soundness)                                                                                \
  X(barrier_plan)                                                                                  \
  X(buffer_access)                                                                                 \
  X(call_effects)                                                                                  \
  X(canonicalize)                                                                                  \
  X(chained_dots)                                                                                  \
  X(collective)                                                                                    \
  X(convert_scratch)                                                                               \
  X(cost_machine)                                                                                  \
  X(feed_survey)                                                                                   \
  X(shared_map)                                                                                    \
  X(gather_plan)                                                                                   \
  X(int_arith)                                                                                     \
  X(intervals)                                                                                     \
  X(kernel_cost)                                                                                   \
  X(narrow_access)                                                                                 \
  X(layout_choice)                                                                                 \
  X(layout_flow)                                                                                   \
  X(layout_passes)                                                                                 \
  X(layout_versions)                                                                               \
  X(liveness)                                                                                      \
  X(loop_buffers)                                                                                  \
  X(loop_loads)                                                                                    \
  X(clone_ops)                                                                                     \
  X(loop_rewrite)                                                                                  \
  X(loop_schedule)                                                                                 \
  X(occupancy)                                                                                     \
  X(op_survey)                                                                                     \
  X(pair_view)                                                                                     \
  X(part_view)                                                                                     \
  X(ring_protocol)                                                                                 \
  X(pass_manager)                                                                                  \
  X(pass_soundness)                                                                                \
  X(performance)                                                                                   \
  X(launch_value)                                                                                  \
  X(producer_slice)                                                                                \
  X(cluster_share)                                                                                 \
  X(provenance)                                                                                    \
  X(reduced_axes)                                                                                  \
  X(register_shares)                                                                               \
  X(registers)                                                                                     \
  X(ring_races)                                                                                    \
  X(ring_sites)                                                                                    \
  X(ring_slots)                                                                                    \
  X(ring_time)                                                                                     \
  X(rings)                                                                                         \
  X(scratch)                                                                                       \
  X(shape_view)                                                                                    \
  X(shared_allocation)                                                                             \
  X(shared_effects)                                                                                \
  X(speculation)                                                                                   \
  X(trips)                                                                                         \
  X(users)

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
  X(shared_memory)                                                                                 \
  X(vectors)

#define X(name) TCase *name##_tests(void);
IR_SUITES(X)
EMIT_SUITES(X)
RUN_SUITES(X)
#undef X

#endif
