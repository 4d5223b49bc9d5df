// SPDX-License-Identifier: Apache-2.0
// Every pipeline: the order of the passes, on one screen. Targets do not differ in it.
#include "lowering/pass.h"

static const enum pass_id whole[] = {
    // tile: values without layouts
    PASS_use_tensor_maps,
    PASS_rewrite_descriptors,
    PASS_canonicalize,
    PASS_reassociate_addresses,
    PASS_cse,
    PASS_reorder_broadcast,
    PASS_canonicalize,
    PASS_licm,
    PASS_sink_loop_reductions,
    PASS_unroll,
    PASS_canonicalize,
    PASS_cse,
    PASS_dce,
    // tilegpu: tiles with layouts
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
    PASS_specialize_warps,
    PASS_dce,
    PASS_pipeline,
    PASS_f32_dot_split,
    PASS_canonicalize,
    PASS_cse,
    PASS_reduce_data_duplication,
    PASS_rematerialize_operands,
    PASS_warp_group_dot,
    PASS_prefetch,
    PASS_reorder,
    PASS_overlap_products,
    PASS_defer_waits,
    PASS_dce,
    // shared memory
    PASS_spill_to_shared,
    PASS_allocate_shared,
    PASS_insert_barriers,
    PASS_insert_grid_dependencies,
    PASS_check_resources,
};

// The first of these. Reductions stay in loops: their accumulators are registers there.
static const enum pass_id processor[] = {
    PASS_rewrite_descriptors,
    PASS_canonicalize,
    PASS_reassociate_addresses,
    PASS_cse,
    PASS_reorder_broadcast,
    PASS_canonicalize,
    PASS_licm,
    PASS_unroll,
    PASS_canonicalize,
    PASS_cse,
    PASS_dce,
};

// The same for a debugger: operations stay where the source has them.
static const enum pass_id debugger[] = {
    PASS_rewrite_descriptors,
    PASS_canonicalize,
    PASS_dce,
};

// For IR that has layouts: it went through the passes before, or was written by hand.
static const enum pass_id shared_memory[] = {
    PASS_spill_to_shared,          PASS_allocate_shared, PASS_insert_barriers,
    PASS_insert_grid_dependencies, PASS_check_resources,
};

const enum pass_id *pipeline_passes(enum pipeline_id id, size_t *ret_count) {
  switch (id) {
  case PIPELINE_WHOLE: *ret_count = COUNT_OF(whole); return whole;
  case PIPELINE_PROCESSOR: *ret_count = COUNT_OF(processor); return processor;
  case PIPELINE_DEBUGGER: *ret_count = COUNT_OF(debugger); return debugger;
  case PIPELINE_SHARED_MEMORY: break;
  }
  *ret_count = COUNT_OF(shared_memory);
  return shared_memory;
}
