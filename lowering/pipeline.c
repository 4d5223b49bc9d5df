// SPDX-License-Identifier: Apache-2.0
// The order of passes for a target, on one screen.
#include "lowering/pass.h"

static const enum pass_id pipeline[] = {
    // tile: values without layouts
    PASS_canonicalize,
    PASS_combine,
    PASS_cse,
    PASS_reorder_broadcast,
    PASS_canonicalize,
    PASS_licm,
    PASS_thread_locality,
    PASS_unroll,
    PASS_canonicalize,
    PASS_cse,
    PASS_dce,
    // tilegpu: who holds what
    PASS_assign_layouts,
    PASS_coalesce,
    PASS_accelerate_dot,
    PASS_remove_layout_conversions,
    PASS_canonicalize,
    PASS_cse,
    PASS_licm,
    PASS_optimize_dot_operands,
    PASS_canonicalize,
    PASS_cse,
    PASS_pipeline,
    PASS_f32_dot_split,
    PASS_canonicalize,
    PASS_cse,
    PASS_reduce_data_duplication,
    PASS_reload_operands,
    PASS_prefetch,
    PASS_reorder,
    PASS_dce,
    // shared memory
    PASS_park_registers,
    PASS_allocate_shared,
    PASS_insert_barriers,
    PASS_check_resources,
};

const enum pass_id *pipeline_for(const struct target *t, size_t *ret_count) {
  (void)t; // every target takes the same road so far
  *ret_count = COUNT_OF(pipeline);
  return pipeline;
}
