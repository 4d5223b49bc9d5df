// SPDX-License-Identifier: Apache-2.0
// Structured control flow as blocks and phis. Conditions and bounds are scalars, so that all
// threads of a CTA take the same branch and collectives inside are safe.
#include "lowering/llvm/narrow.h"

static LLVMBasicBlockRef new_block(struct emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->llvm, e->function, name);
}

static void begin_block(struct emitter *e, LLVMBasicBlockRef b) {
  LLVMPositionBuilderAtEnd(e->b, b);
}

// One phi per register that is no replica, for a value of v's type; binds v to them.
static struct emitted *bind_phis(struct emitter *e, MlirValue v) {
  struct emitted *x = value_bind(e, v);
  MlirType t = mlirValueGetType(v);
  LLVMTypeRef type = type_of_mlir(e, element_type(t));
  uint32_t replicas = register_replicas(layout_of(e, t));
  for (uint32_t r = 0; r < x->count; r++)
    x->at[r] = r & replicas ? x->at[r & ~replicas] : LLVMBuildPhi(e->b, type, "");
  return x;
}

static void add_incoming(struct emitter *e, const struct emitted *phis, MlirType t,
                         const struct emitted *x, LLVMBasicBlockRef from) {
  uint32_t replicas = register_replicas(layout_of(e, t));
  for (uint32_t r = 0; r < phis->count; r++)
    if (!(r & replicas))
      LLVMAddIncoming(phis->at[r], &x->at[r], &from, 1);
}

static void incoming_of(struct emitter *e, MlirValue phi, MlirValue v, LLVMBasicBlockRef from) {
  add_incoming(e, value_of(e, phi), mlirValueGetType(phi), value_of(e, v), from);
}

static void bind_same(struct emitter *e, MlirValue v, MlirValue as) {
  ptrmap_put(e->arena, &e->values, v.ptr, ptrmap_get(&e->values, as.ptr));
}

static MlirBlock region_block(MlirOperation op, intptr_t i) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
}

// ---- if ----

// The values a branch yields, added to the phis at the end.
static bool emit_arm(struct emitter *e, MlirBlock arm, LLVMBasicBlockRef merge,
                     LLVMBasicBlockRef *ret_end) {
  if (!mlirBlockIsNull(arm) && !emit_block(e, arm))
    return false;
  *ret_end = LLVMGetInsertBlock(e->b);
  LLVMBuildBr(e->b, merge);
  return true;
}

// Assumes the condition false, and adds it to e->skipped->taken.
static bool emit_skipping(struct emitter *e, MlirOperation op) {
  LLVMValueRef cond = operand_of(e, op, 0)->at[0], *taken = &e->skipped->taken;
  *taken = *taken ? LLVMBuildOr(e->b, *taken, cond, "") : cond;
  MlirBlock arm = region_block(op, 1);
  if (!emit_block(e, arm))
    return false;
  for (intptr_t r = 0; r < mlirOperationGetNumResults(op); r++)
    bind_same(e, mlirOperationGetResult(op, r),
              mlirOperationGetOperand(mlirBlockGetTerminator(arm), r));
  return true;
}

bool emit_scf_if(struct emitter *e, MlirOperation op) {
  if (e->skipped && mlirOperationEqual(op, e->skipped->op))
    return emit_skipping(e, op);
  LLVMValueRef cond = operand_of(e, op, 0)->at[0];
  MlirBlock arms[2] = {region_block(op, 0), region_block(op, 1)};
  LLVMBasicBlockRef blocks[2] = {new_block(e, "then"), new_block(e, "else")}, ends[2];
  LLVMBasicBlockRef merge = new_block(e, "endif");
  LLVMBuildCondBr(e->b, cond, blocks[0], blocks[1]);
  for (int i = 0; i < 2; i++) {
    begin_block(e, blocks[i]);
    if (!emit_arm(e, arms[i], merge, &ends[i]))
      return false;
  }
  begin_block(e, merge);
  for (intptr_t r = 0; r < mlirOperationGetNumResults(op); r++) {
    MlirValue result = mlirOperationGetResult(op, r);
    bind_phis(e, result);
    for (int i = 0; i < 2; i++)
      incoming_of(e, result, mlirOperationGetOperand(mlirBlockGetTerminator(arms[i]), r), ends[i]);
  }
  return true;
}

// ---- for ----

// A value the loop carries: phis of its registers, or of words (lowering/llvm/narrow.h).
struct carried {
  bool is_narrow;
  struct narrow_tile narrow;
};

static struct carried carry(struct emitter *e, MlirValue arg) {
  struct carried c = {0};
  c.is_narrow = narrow_begin(e, arg, &c.narrow);
  if (c.is_narrow)
    narrow_phis(e, &c.narrow);
  else
    bind_phis(e, arg);
  return c;
}

static void carry_from(struct emitter *e, const struct carried *c, MlirValue arg, MlirValue v,
                       LLVMBasicBlockRef from) {
  if (c->is_narrow)
    narrow_incoming(e, &c->narrow, value_of(e, v), from);
  else
    incoming_of(e, arg, v, from);
}

// The first values: packing them needs instructions in front of the loop.
static void carry_initial(struct emitter *e, struct carried *c, MlirValue arg, MlirValue v,
                          LLVMBasicBlockRef before) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  LLVMPositionBuilderBefore(e->b, LLVMGetBasicBlockTerminator(before));
  carry_from(e, c, arg, v, before);
  begin_block(e, here);
}

static bool emit_for_body(struct emitter *e, MlirBlock body, struct carried *c, intptr_t n,
                          const struct narrow_tiles *used) {
  for (intptr_t i = 0; i < n; i++)
    if (c[i].is_narrow)
      narrow_unpack(e, &c[i].narrow, mlirBlockGetArgument(body, i + 1));
  for (size_t i = 0; i < used->len; i++)
    narrow_unpack(e, &used->at[i], used->at[i].value);
  return emit_block(e, body);
}

bool emit_scf_for(struct emitter *e, MlirOperation op) {
  MlirBlock body = region_block(op, 0);
  LLVMValueRef lower = operand_of(e, op, 0)->at[0], upper = operand_of(e, op, 1)->at[0];
  LLVMValueRef step = operand_of(e, op, 2)->at[0];
  bool is_unsigned = !mlirAttributeIsNull(op_attr(op, "unsignedCmp"));
  intptr_t n = mlirOperationGetNumResults(op);
  struct carried *c = arena_array(e->arena, struct carried, (size_t)n + 1);
  struct narrow_tiles used = {0};
  narrow_enter(e, op, &used);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), header = new_block(e, "for");
  LLVMBasicBlockRef inside = new_block(e, "for.body"), after = new_block(e, "for.end");
  LLVMBuildBr(e->b, header);

  begin_block(e, header);
  struct emitted *iv = bind_phis(e, mlirBlockGetArgument(body, 0));
  LLVMAddIncoming(iv->at[0], &lower, &before, 1);
  for (intptr_t i = 0; i < n; i++)
    c[i] = carry(e, mlirBlockGetArgument(body, i + 1));
  for (intptr_t i = 0; i < n; i++)
    carry_initial(e, &c[i], mlirBlockGetArgument(body, i + 1), mlirOperationGetOperand(op, i + 3),
                  before);
  struct double_buffer *outer = double_buffers_begin(e, op, before);
  LLVMIntPredicate less = is_unsigned ? LLVMIntULT : LLVMIntSLT;
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, less, iv->at[0], upper, ""), inside, after);

  begin_block(e, inside);
  if (!emit_for_body(e, body, c, n, &used))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(body);
  LLVMValueRef next = LLVMBuildAdd(e->b, iv->at[0], step, "");
  if (LLVMIsAInstruction(next)) // the language's loops do not wrap around
    (is_unsigned ? LLVMSetNUW : LLVMSetNSW)(next, true);
  double_buffers_end(e, outer);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  LLVMAddIncoming(iv->at[0], &next, &latch, 1);
  for (intptr_t i = 0; i < n; i++)
    carry_from(e, &c[i], mlirBlockGetArgument(body, i + 1), mlirOperationGetOperand(yield, i),
               latch);
  LLVMBuildBr(e->b, header);

  begin_block(e, after);
  narrow_exit_loop(e, &used);
  for (intptr_t i = 0; i < n; i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    if (c[i].is_narrow)
      narrow_unpack(e, &c[i].narrow, result);
    else
      bind_same(e, result, mlirBlockGetArgument(body, i + 1));
  }
  return true;
}

// ---- while ----

bool emit_scf_while(struct emitter *e, MlirOperation op) {
  MlirBlock before = region_block(op, 0), body = region_block(op, 1);
  LLVMBasicBlockRef entry = LLVMGetInsertBlock(e->b), header = new_block(e, "while");
  LLVMBasicBlockRef inside = new_block(e, "while.body"), after = new_block(e, "while.end");
  LLVMBuildBr(e->b, header);

  begin_block(e, header);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++) {
    MlirValue arg = mlirBlockGetArgument(before, i);
    bind_phis(e, arg);
    incoming_of(e, arg, mlirOperationGetOperand(op, i), entry);
  }
  struct double_buffer *outer = double_buffers_begin(e, op, entry);
  if (!emit_block(e, before))
    return false;
  MlirOperation condition = mlirBlockGetTerminator(before);
  // Operands of the condition go to the body and, at the end, to the results.
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue passed = mlirOperationGetOperand(condition, i + 1);
    bind_same(e, mlirOperationGetResult(op, i), passed);
    bind_same(e, mlirBlockGetArgument(body, i), passed);
  }
  LLVMBuildCondBr(e->b, operand_of(e, condition, 0)->at[0], inside, after);

  begin_block(e, inside);
  if (!emit_block(e, body))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(body);
  double_buffers_end(e, outer);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++)
    incoming_of(e, mlirBlockGetArgument(before, i), mlirOperationGetOperand(yield, i), latch);
  LLVMBuildBr(e->b, header);
  begin_block(e, after);
  return true;
}
