// SPDX-License-Identifier: Apache-2.0
// The CTA's shared memory as emissions see it: their op's scratch, and accesses to it.
#include "lowering/analysis/scratch.h"
#include "lowering/llvm/emit.h"

LLVMValueRef scratch_begin(struct emitter *e, MlirOperation op, uint32_t bytes) {
  uint32_t offset = scratch_offset(op);
  if (offset + bytes > e->shared_bytes) {
    e->shared_bytes = offset + bytes;
    e->shared_op = op;
  }
  LLVMValueRef at = const_i32(e, offset);
  return LLVMBuildGEP2(e->b, e->i8, e->target->hooks->shared_base(e), &at, 1, "");
}

void cta_barrier(struct emitter *e) {
  e->uses_collectives = true;
  e->target->hooks->barrier(e);
}

void scratch_end(struct emitter *e) { cta_barrier(e); }

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
