// SPDX-License-Identifier: Apache-2.0
// allocate-shared: writes the offset in the CTA's shared memory of every buffer and every op's
// scratch to the ops. lowering/plan/shared_allocation.h decides the offsets; spilled registers
// (spill-to-shared) come after them.
//
//   %1 = tilegpu.local_alloc ...        %1 = tilegpu.local_alloc {tilegpu.shared_offset = 0}
//   %2 = tile.reduce ...            ->  %2 = tile.reduce {tilegpu.shared_offset = 8192}
//                                       module attributes {tilegpu.shared_bytes = 8256}
//
// Small scratch of an op in a loop has two slots, which alternate from iteration to iteration;
// attribute tilegpu.shared_double_buffer is the distance between them.
#include "lowering/analysis/scratch.h"
#include "lowering/pass.h"
#include "lowering/plan/shared_allocation.h"

struct state {
  struct ir_context *c;
  bool changed;
};

static void set_number(struct state *s, MlirOperation op, const char *name, uint32_t value) {
  if (op_attr_int(op, name, -1) == (int64_t)value)
    return;
  MlirStringRef ref = mlirStringRefCreateFromCString(name);
  mlirOperationSetAttributeByName(op, ref, attr_i32(s->c, (int32_t)value));
  s->changed = true;
}

// The end of the spill rows, which begin after `total`.
static uint32_t reserve_spill_rows(struct state *s, MlirOperation kernel, uint32_t total) {
  uint32_t bytes = mlirOperationIsNull(kernel) ? 0 : spill_bytes(kernel);
  if (bytes == 0)
    return total;
  uint32_t at = (total + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
  set_number(s, kernel, "tilegpu.spill_offset", at);
  return at + bytes;
}

enum pass_result pass_allocate_shared(struct pass_context *p) {
  struct state s = {.c = p->c};
  struct shared_allocation slots =
      shared_allocation_of(p->c, p->module, p->target, p->num_warps, p->scratch);
  for (size_t i = 0; i < slots.at.len; i++) {
    const struct shared_slot *at = &slots.at.at[i];
    set_number(&s, at->op, "tilegpu.shared_offset", at->offset);
    if (at->double_buffer || scratch_double_buffer(at->op))
      set_number(&s, at->op, "tilegpu.shared_double_buffer", at->double_buffer);
  }
  set_number(&s, mlirModuleGetOperation(p->module), "tilegpu.shared_bytes",
             reserve_spill_rows(&s, module_kernel(p->c, p->module), slots.total));
  return s.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
