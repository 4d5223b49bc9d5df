// SPDX-License-Identifier: Apache-2.0
// Atomic operations and histograms: one element after the other.
#include "lowering/llvm/opcodes.h"
#include "lowering/processor/strips.h"

// ---- atomics ----

// Floats of 16 bits have no instruction: computed in f32, until nobody else changed the bits.
static LLVMValueRef exchange_narrow(struct strip_emitter *e, MlirOperation op, LLVMValueRef at,
                                    LLVMValueRef value) {
  struct str kind = op_attr_str(op, "kind");
  enum dtype t = dtype_of(result(op, 0));
  LLVMValueRef first = LLVMBuildLoad2(e->b, e->i16, at, "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
  LLVMBasicBlockRef again = LLVMAppendBasicBlockInContext(e->llvm, e->function, "again");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->llvm, e->function, "exchanged");
  LLVMBuildBr(e->b, again);
  LLVMPositionBuilderAtEnd(e->b, again);
  LLVMValueRef old = LLVMBuildPhi(e->b, e->i16, "");
  LLVMValueRef x[] = {float_to_f32(e, of_bits(e, old, scalar_type(value)), t),
                      float_to_f32(e, value, t)};
  LLVMValueRef r = str_is(kind, "fadd")   ? LLVMBuildFAdd(e->b, x[0], x[1], "")
                   : str_is(kind, "fmax") ? plain_intrinsic(e, "llvm.maxnum", 2, x)
                                          : plain_intrinsic(e, "llvm.minnum", 2, x);
  const LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
  LLVMValueRef pair = LLVMBuildAtomicCmpXchg(e->b, at, old, bits_of(e, float_from_f32(e, r, t)),
                                             order, order, false);
  LLVMValueRef found = LLVMBuildExtractValue(e->b, pair, 0, "");
  LLVMAddIncoming(old, &first, &before, 1);
  LLVMAddIncoming(old, &found, &again, 1);
  LLVMBuildCondBr(e->b, LLVMBuildExtractValue(e->b, pair, 1, ""), after, again);
  LLVMPositionBuilderAtEnd(e->b, after);
  return of_bits(e, found, scalar_type(value));
}

struct atomics {
  MlirOperation op;
  struct buffer *to;   // old values; NULL: unused, or a scalar
  LLVMValueRef single; // of a scalar
};

static bool is_float_kind(MlirOperation op) {
  struct str kind = op_attr_str(op, "kind");
  return str_is(kind, "fadd") || str_is(kind, "fmax") || str_is(kind, "fmin");
}

static LLVMValueRef exchange(struct strip_emitter *e, MlirOperation op, LLVMValueRef at,
                             LLVMValueRef value, LLVMValueRef compare) {
  LLVMTypeRef element = scalar_type(value);
  const LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
  if (compare) {
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(e->b, at, bits_of(e, compare), bits_of(e, value),
                                               order, order, false);
    return of_bits(e, LLVMBuildExtractValue(e->b, pair, 0, ""), element);
  }
  if (is_float_kind(op) && storage_bytes(e, element) == 2)
    return exchange_narrow(e, op, at, value);
  LLVMAtomicRMWBinOp kind = LLVMAtomicRMWBinOpXchg;
  llvm_atomic_opcode(op_attr_str(op, "kind"), &kind);
  if (kind != LLVMAtomicRMWBinOpXchg)
    return LLVMBuildAtomicRMW(e->b, kind, at, value, order, false);
  return of_bits(e, LLVMBuildAtomicRMW(e->b, kind, at, bits_of(e, value), order, false), element);
}

static void update(struct strip_emitter *e, const struct position *p, void *user) {
  struct atomics *s = user;
  bool compares = op_is(e->c, s->op, OP_TILE_ATOMIC_CAS);
  LLVMValueRef at = evaluate(e, operand(s->op, 0), p), old;
  LLVMValueRef value = evaluate(e, operand(s->op, compares ? 2 : 1), p);
  LLVMValueRef other = mlirOperationGetNumOperands(s->op) > 2 // what is compared, or the mask
                           ? evaluate(e, operand(s->op, compares ? 1 : 2), p)
                           : NULL;
  if (compares || !other) {
    old = exchange(e, s->op, at, value, compares ? other : NULL);
  } else {
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(e->b), NULL};
    LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(e->llvm, e->function, "then");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->llvm, e->function, "after");
    LLVMBuildCondBr(e->b, other, then, after);
    LLVMPositionBuilderAtEnd(e->b, then);
    LLVMValueRef made = exchange(e, s->op, at, value, NULL);
    LLVMValueRef values[2] = {LLVMConstNull(LLVMTypeOf(value)), made};
    from[1] = LLVMGetInsertBlock(e->b);
    LLVMBuildBr(e->b, after);
    LLVMPositionBuilderAtEnd(e->b, after);
    old = LLVMBuildPhi(e->b, LLVMTypeOf(value), "");
    LLVMAddIncoming(old, values, from, 2);
  }
  s->single = old;
  if (s->to)
    scratch_store(e, s->to, p, to_storage(e, old));
}

void emit_atomic_loops(struct strip_emitter *e, MlirOperation op) {
  MlirValue out = result(op, 0);
  struct atomics s = {.op = op};
  int64_t shape[MAX_RANK];
  finish_loads(e);
  if (is_tile(out) && value_has_uses(out))
    s.to = buffer_for(e, out);
  unsigned rank = rank_of(out);
  for (unsigned d = 0; d < rank; d++)
    shape[d] = tensor_dim(mlirValueGetType(out), d);
  // Values that are not computed from one element alone, and those that are needed again.
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    if (is_tile(operand(op, i)) && !known_value(e, operand(op, i)) &&
        (cost_of(e, operand(op, i)) > STRIP || reads_memory(e, operand(op, i))))
      in_buffer(e, operand(op, i));
  each_strip(e, rank, shape, -1, update, &s);
  if (s.to)
    bind_buffer(e, out, s.to);
  else if (!is_tile(out))
    bind_scalar(e, out, s.single);
}

// ---- histograms ----

static void clear(struct strip_emitter *e, const struct position *p, void *user) {
  scratch_store(e, user, p, LLVMConstNull(vector_of(e->i32, p->lanes)));
}

static void count_element(struct strip_emitter *e, const struct position *p, void *user) {
  struct atomics *s = user;
  LLVMValueRef n = evaluate(e, operand(s->op, 0), p);
  LLVMTypeRef t = LLVMTypeOf(n);
  uint64_t bins = (uint64_t)tensor_numel(mlirValueGetType(result(s->op, 0)));
  unsigned width = LLVMGetIntTypeWidth(t);
  // As unsigned, negative numbers are large. Narrow types cannot hold the number of bins.
  bool all_fit = width < 64 && bins >> width;
  LLVMValueRef on = all_fit ? LLVMConstInt(e->i1, 1, false)
                            : LLVMBuildICmp(e->b, LLVMIntULT, n, int_constant(t, bins), "");
  if (mlirOperationGetNumOperands(s->op) > 1)
    on = LLVMBuildAnd(e->b, on, evaluate(e, operand(s->op, 1), p), "");
  LLVMValueRef index = width < 64 ? LLVMBuildZExt(e->b, n, e->i64, "") : n;
  LLVMValueRef at = LLVMBuildGEP2(e->b, e->i32, s->to->at, &index, 1, "");
  at = LLVMBuildSelect(e->b, on, at, nowhere(e), "");
  LLVMValueRef old = LLVMBuildLoad2(e->b, e->i32, at, "");
  LLVMBuildStore(e->b, LLVMBuildAdd(e->b, old, int_constant(e->i32, 1), ""), at);
}

void emit_histogram_loops(struct strip_emitter *e, MlirOperation op) {
  MlirType in = mlirValueGetType(operand(op, 0)), out = mlirValueGetType(result(op, 0));
  int64_t count = tensor_dim(in, 0), bins = tensor_dim(out, 0);
  flush(e);
  struct atomics s = {.op = op, .to = buffer_for(e, result(op, 0))};
  for (unsigned i = 0; i < (unsigned)mlirOperationGetNumOperands(op); i++)
    if (!known_value(e, operand(op, i)) && cost_of(e, operand(op, i)) > STRIP / 2)
      in_buffer(e, operand(op, i));
  each_strip(e, 1, &bins, 0, clear, s.to);
  each_strip(e, 1, &count, -1, count_element, &s);
  bind_buffer(e, result(op, 0), s.to);
}
