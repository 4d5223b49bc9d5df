// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory. Each thread copies what its registers of
// pointers point at, in copies as wide as lowering/analysis/async_copy.h says; tiles without such
// copies go through registers, element by element, synchronously.
#include "lowering/analysis/async_copy.h"
#include "lowering/llvm/emit.h"

// Shared by all groups of registers.
struct copy {
  MlirOperation op;
  struct packing packing; // of a group
  struct buffer_addresses addresses;
  const struct emitted *ptr, *mask;
  bool waits; // goes through registers
};

static void copy_group(struct emitter *e, const struct copy *c, uint32_t r) {
  struct access a = access_of(c->op, &c->packing, c->ptr->at[r], mask_at(c->mask, r));
  LLVMValueRef to = buffer_address(e, &c->addresses, r), word;
  if (!c->waits) {
    e->target->hooks->async_copy(e, &a, to);
    return;
  }
  e->target->hooks->load(e, &a, NULL, &word);
  shared_store(e, word, to, c->packing.bits / 8);
}

bool emit_async_copy(struct emitter *e, MlirOperation op) {
  MlirType tile = memdesc_tile(e->c, operand_type(op, 1));
  const struct linear_layout *l = layout_of(e, operand_type(op, 0));
  const struct emitted *mask = optional_operand(e, op, 2);
  struct async_copy_plan plan;
  if (!l ||
      !async_copy_plan_of(e->c, e->axis, e->target, mlirOperationGetOperand(op, 0),
                          mask ? mlirOperationGetOperand(op, 2) : (MlirValue){NULL}, tile, &plan))
    return emit_unsupported(e, op, "a buffer whose layout does not fit its tile");
  struct copy c = {.op = op,
                   .packing = packing_of(e, type_of_mlir(e, element_type(tile)), plan.width),
                   .ptr = operand_of(e, op, 0),
                   .mask = mask,
                   .waits = plan.bytes == 0};
  c.addresses =
      buffer_addresses_of(e, &plan.offsets, 0, c.packing.bits, operand_of(e, op, 1)->at[0]);
  e->uses_collectives = true;
  LLVMValueRef owner = owner_predicate(e, l);
  struct branch br;
  if (owner)
    br = branch_begin(e, owner);
  for (uint32_t r = 0; r < register_count(l); r += plan.width)
    if (!(r & owner_registers(l)))
      copy_group(e, &c, r);
  if (owner)
    branch_end(e, &br);
  return true;
}

bool emit_async_commit(struct emitter *e, MlirOperation op) {
  (void)op;
  e->uses_collectives = true;
  e->target->hooks->async_commit(e);
  return true;
}

// The op in front of it in its block; null if there is none.
static MlirOperation op_before(MlirOperation op) {
  MlirOperation at = mlirBlockGetFirstOperation(mlirOperationGetBlock(op)), last = {NULL};
  for (; !mlirOperationEqual(at, op); at = mlirOperationGetNextInBlock(at))
    last = at;
  return last;
}

// Buffers of several types have several waits, of which the first is enough.
bool emit_async_wait(struct emitter *e, MlirOperation op) {
  MlirOperation before = op_before(op);
  int64_t pending = op_attr_int(op, "pending", 0);
  e->uses_collectives = true;
  if (mlirOperationIsNull(before) || !op_is(e->c, before, OP_GPU_ASYNC_WAIT) ||
      op_attr_int(before, "pending", 0) > pending)
    e->target->hooks->async_wait(e, (unsigned)pending);
  return true;
}
