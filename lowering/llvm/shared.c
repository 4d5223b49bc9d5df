// SPDX-License-Identifier: Apache-2.0
// The CTA's shared memory as emissions see it: their op's scratch, and accesses to it.
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

static bool is_planned(const struct emitter *e) { return e->shared_total >= 0; }

// What allocate-shared reserved for the op must be what its emission uses.
static void check_plan(struct emitter *e, MlirOperation op, uint32_t bytes) {
  uint32_t planned = scratch_bytes(e->c, op, e->num_warps);
  if (bytes > planned || scratch_offset(op) + bytes > (uint64_t)e->shared_total)
    diag_error(e->c->diag, op_span(e->c, op), E0990,
               "`%s` uses %u bytes of shared memory at %u; %u of %lld were reserved",
               op_info(op_id(e->c, op))->name, bytes, scratch_offset(op), planned,
               (long long)e->shared_total);
}

LLVMValueRef shared_pointer(struct emitter *e, uint32_t offset) {
  LLVMValueRef at = const_i32(e, offset);
  return LLVMBuildGEP2(e->b, e->i8, e->target->hooks->shared_base(e), &at, 1, "");
}

LLVMValueRef scratch_begin(struct emitter *e, MlirOperation op, uint32_t bytes) {
  uint32_t offset = scratch_offset(op);
  if (is_planned(e))
    check_plan(e, op, bytes);
  if (offset + bytes > e->shared_bytes) {
    e->shared_bytes = offset + bytes;
    e->shared_op = op;
  }
  // A second exchange of one op: its threads may still read what the first one left.
  if (is_planned(e) && mlirOperationEqual(op, e->scratch_op))
    cta_barrier(e);
  e->scratch_op = op;
  return shared_pointer(e, offset);
}

void cta_barrier(struct emitter *e) {
  e->uses_collectives = true;
  e->target->hooks->barrier(e);
}

// Whoever uses the memory next has the barrier of insert-barriers in front of it.
void scratch_end(struct emitter *e) {
  if (!is_planned(e))
    cta_barrier(e);
}

LLVMValueRef shared_load(struct emitter *e, LLVMTypeRef type, LLVMValueRef ptr, unsigned bytes) {
  if (e->check && e->target->hooks->shared_check)
    e->target->hooks->shared_check(e, ptr, bytes, false);
  LLVMValueRef v = LLVMBuildLoad2(e->b, type, ptr, "");
  LLVMSetAlignment(v, bytes);
  return v;
}

void shared_store(struct emitter *e, LLVMValueRef value, LLVMValueRef ptr, unsigned bytes) {
  if (e->check && e->target->hooks->shared_check)
    e->target->hooks->shared_check(e, ptr, bytes, true);
  LLVMSetAlignment(LLVMBuildStore(e->b, value, ptr), bytes);
}
