// SPDX-License-Identifier: Apache-2.0
// Global memory on the CPU: loads, stores and atomic operations behind branches, for their
// predicate and, in kernels compiled with checks, for the check of their addresses.
#include "base/cpu_abi.h"
#include "lowering/analysis/provenance.h"
#include "lowering/llvm/opcodes.h"
#include "lowering/targets/cpu.h"

// Buffers on the CPU need not have the alignment that the kernel assumes: vector accesses are
// unaligned, which is free on current CPUs.

int cpu_param_of(struct emitter *e, const struct access *a) {
  // Only parameters of the kernel have numbers.
  bool in_kernel = mlirOperationEqual(e->func, e->kernel);
  return in_kernel ? pointer_argument(e->c, mlirOperationGetOperand(a->op, 0)) : -1;
}

static LLVMValueRef check_call(struct emitter *e, const struct access *a, int kind) {
  LLVMValueRef args[] = {e->cpu_thread,
                         cpu_location(e, a->op),
                         const_i32(e, (uint32_t)cpu_param_of(e, a)),
                         a->ptr,
                         const_i32(e, a->count * a->word_bits / 8),
                         const_i32(e, (uint32_t)kind)};
  LLVMValueRef ok = call_routine(e, "tile_cpu_check", e->i8, 6, args);
  return LLVMBuildICmp(e->b, LLVMIntNE, ok, const_int(e->i8, 0), "");
}

// A store's check sees what is stored: equal values of two programs are no race.
static LLVMValueRef check_store_call(struct emitter *e, const struct access *a, LLVMValueRef v) {
  LLVMValueRef room = LLVMBuildAlloca(e->entry, LLVMTypeOf(v), "stored");
  LLVMBuildStore(e->b, v, room);
  LLVMValueRef args[] = {e->cpu_thread,
                         cpu_location(e, a->op),
                         const_i32(e, (uint32_t)cpu_param_of(e, a)),
                         a->ptr,
                         const_i32(e, a->count * a->word_bits / 8),
                         room};
  LLVMValueRef ok = call_routine(e, "tile_cpu_check_store", e->i8, 6, args);
  return LLVMBuildICmp(e->b, LLVMIntNE, ok, const_int(e->i8, 0), "");
}

// Up to two branches around an access: its predicate, and the check of its address.
struct guards {
  unsigned count;
  struct branch at[2];
};

// `stored`: of a store, else NULL.
static struct guards guards_begin(struct emitter *e, const struct access *a, int kind,
                                  LLVMValueRef stored) {
  struct guards g = {0};
  if (a->pred)
    g.at[g.count++] = branch_begin(e, a->pred);
  if (e->check) {
    LLVMValueRef ok = stored ? check_store_call(e, a, stored) : check_call(e, a, kind);
    g.at[g.count++] = branch_begin(e, ok);
  }
  return g;
}

// Ends the branches; the result is `inside` where all were taken, else `otherwise`. Both may be
// NULL.
static LLVMValueRef guards_end(struct emitter *e, struct guards *g, LLVMValueRef inside,
                               LLVMValueRef otherwise) {
  while (g->count) {
    const struct branch *br = &g->at[--g->count];
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->b), skipped = br->from;
    branch_end(e, br);
    if (!inside)
      continue;
    LLVMValueRef phi = LLVMBuildPhi(e->b, LLVMTypeOf(inside), "");
    LLVMAddIncoming(phi, &inside, &from, 1);
    LLVMAddIncoming(phi, &otherwise, &skipped, 1);
    inside = phi;
  }
  return inside;
}

void cpu_load_words(struct emitter *e, const struct access *a, const LLVMValueRef *other,
                    LLVMValueRef *ret) {
  LLVMTypeRef type = words_type(e, a->count, a->word_bits);
  LLVMValueRef otherwise = other ? join_words(e, a->count, other) : LLVMConstNull(type);
  bool is_volatile = op_attr_bool(a->op, "is_volatile");
  struct guards g = guards_begin(e, a, is_volatile ? CPU_LOAD | CPU_VOLATILE : CPU_LOAD, NULL);
  LLVMValueRef v = LLVMBuildLoad2(e->b, type, a->ptr, "");
  LLVMSetAlignment(v, 1);
  LLVMSetVolatile(v, is_volatile);
  v = guards_end(e, &g, v, otherwise);
  split_words(e, a->count, v, ret);
}

void cpu_store_words(struct emitter *e, const struct access *a, const LLVMValueRef *words) {
  LLVMValueRef v = join_words(e, a->count, words);
  struct guards g = guards_begin(e, a, CPU_STORE, v);
  LLVMSetAlignment(LLVMBuildStore(e->b, v, a->ptr), 1);
  guards_end(e, &g, NULL, NULL);
}

// ---- atomic operations ----

unsigned cpu_atomic_width(struct emitter *e, const struct atomic *a) {
  (void)e;
  LLVMAtomicRMWBinOp op;
  enum dtype t = a->dtype;
  bool is_float = t != DTYPE_NONE && dtype_is_float(t), of_floats = a->kind.ptr[0] == 'f';
  return llvm_atomic_opcode(a->kind, &op) && (str_is(a->kind, "xchg") || is_float == of_floats) &&
                 (t == DTYPE_NONE || dtype_bits(t) >= (of_floats ? 16 : 32))
             ? 1
             : 0;
}

static LLVMValueRef combined(struct emitter *e, LLVMAtomicRMWBinOp op, LLVMValueRef a,
                             LLVMValueRef b) {
  if (op == LLVMAtomicRMWBinOpFAdd)
    return LLVMBuildFAdd(e->b, a, b, "");
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef args[] = {a, b};
  return intrinsic(e, op == LLVMAtomicRMWBinOpFMax ? "llvm.maxnum" : "llvm.minnum", 1, &type, 2,
                   args);
}

// *at = op(*at, x) for 16 bits, on its bits: LLVM's own loop compares a recomputed number with
// memory, and never ends where that is a signalling NaN.
static LLVMValueRef rmw_half(struct emitter *e, LLVMAtomicRMWBinOp op, LLVMValueRef at,
                             LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
  LLVMBasicBlockRef again = LLVMAppendBasicBlockInContext(e->llvm, e->function, "again");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->llvm, e->function, "added");
  LLVMValueRef first = LLVMBuildLoad2(e->b, e->i16, at, "");
  LLVMBuildBr(e->b, again);
  LLVMPositionBuilderAtEnd(e->b, again);
  LLVMValueRef old = LLVMBuildPhi(e->b, e->i16, "");
  LLVMValueRef sum = combined(e, op, from_bits(e, old, type), x);
  LLVMValueRef pair = LLVMBuildAtomicCmpXchg(e->b, at, old, to_bits(e, sum),
                                             LLVMAtomicOrderingSequentiallyConsistent,
                                             LLVMAtomicOrderingSequentiallyConsistent, false);
  LLVMValueRef found = LLVMBuildExtractValue(e->b, pair, 0, "");
  LLVMAddIncoming(old, &first, &before, 1);
  LLVMAddIncoming(old, &found, &again, 1);
  LLVMBuildCondBr(e->b, LLVMBuildExtractValue(e->b, pair, 1, ""), after, again);
  LLVMPositionBuilderAtEnd(e->b, after);
  return from_bits(e, found, type);
}

// Every memory order is implemented by the strongest one.
void cpu_atomic_rmw(struct emitter *e, const struct atomic *a, const LLVMValueRef *values,
                    LLVMValueRef *ret) {
  LLVMAtomicRMWBinOp op = LLVMAtomicRMWBinOpXchg;
  llvm_atomic_opcode(a->kind, &op);
  bool takes_bits = op == LLVMAtomicRMWBinOpXchg;
  LLVMValueRef operand = takes_bits ? to_bits(e, values[0]) : values[0];
  struct guards g = guards_begin(e, &a->access, CPU_ATOMIC, NULL);
  bool is_half = a->dtype == DTYPE_BF16 || (a->dtype == DTYPE_F16 && !str_is(a->kind, "fadd"));
  LLVMValueRef old = is_half && !takes_bits
                         ? rmw_half(e, op, a->access.ptr, operand)
                         : LLVMBuildAtomicRMW(e->b, op, a->access.ptr, operand,
                                              LLVMAtomicOrderingSequentiallyConsistent, false);
  old = guards_end(e, &g, old, LLVMConstNull(LLVMTypeOf(operand)));
  ret[0] = takes_bits ? from_bits(e, old, a->element) : old;
}

LLVMValueRef cpu_atomic_cas(struct emitter *e, const struct access *a, LLVMValueRef compare,
                            LLVMValueRef value) {
  struct guards g = guards_begin(e, a, CPU_ATOMIC, NULL);
  LLVMValueRef pair =
      LLVMBuildAtomicCmpXchg(e->b, a->ptr, compare, value, LLVMAtomicOrderingSequentiallyConsistent,
                             LLVMAtomicOrderingSequentiallyConsistent, false);
  LLVMValueRef old = LLVMBuildExtractValue(e->b, pair, 0, "");
  return guards_end(e, &g, old, LLVMConstNull(LLVMTypeOf(value)));
}
