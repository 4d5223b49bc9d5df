// SPDX-License-Identifier: Apache-2.0
// The order of instructions within a block. The emission goes op by op, each over all registers of
// a tile, so that intermediate values of a chain of ops are live for every register at once. Here
// pure instructions move down to their first user: all of one register's chain, then the next's,
// and sums of many registers from the leaves up. LLVM and ptxas keep that order by and large.
//
//   %a0 = sub %x0   %a1 = sub %x1   %b0 = exp %a0   %b1 = exp %a1   %s = add %b0, %b1
//   ->  %a0 = sub %x0   %b0 = exp %a0   %a1 = sub %x1   %b1 = exp %a1   %s = add %b0, %b1
//
// Accesses to memory, barriers, shuffles and other effects keep their order, except those of
// spilled rows, which no other thread touches (spill.c): loads stand where they are needed, stores
// as soon as they can. Scheduled are functions that spill, and large blocks of kernels for GPUs
// without products: ptxas does not reorder such blocks itself, and spills a chain's intermediate
// values of all registers. Elsewhere registers are not short, and products have an order of their
// own.
#include "base/vec.h"
#include "lowering/llvm/emit.h"

// The size, in instructions of LLVM, from which a block is scheduled: 256 elements a thread of an
// elementwise kernel have 4,000 and more. (GELU, 4 warps, sm_90a, ptxas 13: 256 elements a thread
// spill 4,140 bytes unscheduled, none scheduled; 128 elements none either way.)
enum { LARGE_BLOCK = 4000 };

struct schedule {
  struct arena *a;
  LLVMBuilderRef b;
  unsigned memory, convergent, spilled; // kinds of attributes and metadata
  struct map waiting;                   // pure instruction that has not been emitted yet -> itself
  VEC(LLVMValueRef) order;              // of the block, as it was
  VEC(size_t) rows;                     // where in `order` the stores of spilled rows are
  bool remakes;                         // conditions are recomputed rather than kept
  struct map fresh; // emitted since the last barrier, or recomputed -> the value to use
};

static bool calls(LLVMValueRef call, const char *prefix) {
  size_t length;
  LLVMValueRef callee = LLVMGetCalledValue(call);
  const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : NULL;
  return name && str_starts((struct str){name, length}, prefix);
}

static bool has_no_effect(const struct schedule *s, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  bool is_function = LLVMIsAFunction(callee) != NULL;
  unsigned all = LLVMAttributeFunctionIndex;
  if (calls(call, "llvm.nvvm.mma.")) // all lanes of a warp must take part
    return true;
  if (LLVMGetCallSiteEnumAttribute(call, all, s->convergent) ||
      (is_function && LLVMGetEnumAttributeAtIndex(callee, all, s->convergent)))
    return false;
  LLVMAttributeRef memory = LLVMGetCallSiteEnumAttribute(call, all, s->memory);
  if (!memory && is_function)
    memory = LLVMGetEnumAttributeAtIndex(callee, all, s->memory);
  return memory && LLVMGetEnumAttributeValue(memory) == 0;
}

static bool is_pure(const struct schedule *s, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMCall: return has_no_effect(s, i);
  case LLVMLoad: return LLVMGetMetadata(i, s->spilled) != NULL;
  case LLVMAlloca:
  case LLVMStore:
  case LLVMFence:
  case LLVMAtomicCmpXchg:
  case LLVMAtomicRMW:
  case LLVMPHI:
  case LLVMVAArg: return false;
  default: return LLVMIsATerminatorInst(i) == NULL;
  }
}

// ---- conditions ----

static bool has_constant(LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++)
    if (LLVMIsAConstantInt(LLVMGetOperand(i, (unsigned)k)))
      return true;
  return false;
}

// A condition, or an index that differs from another by a constant: one instruction.
static bool is_cheap(LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  if (!LLVMIsAInstruction(i) || LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
    return false;
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMICmp: return true;
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor: return LLVMGetIntTypeWidth(type) == 1 || has_constant(i);
  case LLVMAdd: return has_constant(i);
  default: return false;
  }
}

// An opaque copy, so that LLVM and ptxas do not merge values computed from it with earlier ones.
static LLVMValueRef opaque_copy(struct schedule *s, LLVMValueRef v) {
  LLVMTypeRef type = LLVMTypeOf(v);
  if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) != 32)
    return v;
  static const char text[] = "mov.b32 $0, $1;", constraints[] = "=r,r";
  LLVMTypeRef fn = LLVMFunctionType(type, &type, 1, false);
  LLVMValueRef code =
      LLVMGetInlineAsm(fn, text, sizeof text - 1, constraints, sizeof constraints - 1,
                       /*HasSideEffects=*/true, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef copy = LLVMBuildCall2(s->b, fn, code, &v, 1, "");
  ptrmap_put(s->a, &s->fresh, v, copy);
  ptrmap_put(s->a, &s->fresh, copy, copy);
  return copy;
}

// The value recomputed in this block, after its last barrier: predicate registers are few, and
// masks kept for the stores at the end would take one each.
static LLVMValueRef remade(struct schedule *s, LLVMValueRef v) {
  LLVMValueRef fresh = LLVMIsAInstruction(v) ? ptrmap_get(&s->fresh, v) : v;
  if (fresh)
    return fresh;
  if (!is_cheap(v))
    return LLVMIsAConstant(v) ? v : opaque_copy(s, v);
  LLVMValueRef copy = LLVMInstructionClone(v);
  for (int k = 0; k < LLVMGetNumOperands(copy); k++)
    LLVMSetOperand(copy, (unsigned)k, remade(s, LLVMGetOperand(copy, (unsigned)k)));
  LLVMInsertIntoBuilder(s->b, copy);
  ptrmap_put(s->a, &s->fresh, v, copy);
  ptrmap_put(s->a, &s->fresh, copy, copy);
  return copy;
}

static void remake_conditions(struct schedule *s, LLVMValueRef i) {
  for (int k = 0; s->remakes && k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    LLVMTypeRef type = LLVMTypeOf(operand);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1)
      LLVMSetOperand(i, (unsigned)k, remade(s, operand));
  }
}

// ---- order ----

// An instruction about to be emitted, and the operand to look at next.
struct visit {
  LLVMValueRef at;
  int operand;
};

// Emits its operands first; without recursion, since chains may be long.
static void emit_now(struct schedule *s, LLVMValueRef instruction) {
  VEC(struct visit) stack = {0};
  vec_push(s->a, &stack, (struct visit){instruction, 0});
  ptrmap_put(s->a, &s->waiting, instruction, NULL);
  while (stack.len) {
    struct visit *v = &vec_last(&stack);
    if (v->operand == LLVMGetNumOperands(v->at)) {
      LLVMInstructionRemoveFromParent(v->at);
      remake_conditions(s, v->at);
      LLVMInsertIntoBuilder(s->b, v->at);
      ptrmap_put(s->a, &s->fresh, v->at, v->at);
      (void)vec_pop(&stack);
      continue;
    }
    LLVMValueRef operand = LLVMGetOperand(v->at, (unsigned)v->operand++);
    if (ptrmap_get(&s->waiting, operand)) {
      ptrmap_put(s->a, &s->waiting, operand, NULL);
      vec_push(s->a, &stack, (struct visit){operand, 0});
    }
  }
}

static void emit_if_waiting(struct schedule *s, LLVMValueRef i) {
  if (ptrmap_get(&s->waiting, i))
    emit_now(s, i);
}

static bool is_barrier(LLVMValueRef i) {
  return LLVMGetInstructionOpcode(i) == LLVMCall && calls(i, "llvm.nvvm.barrier");
}

// ---- spilled rows ----

static LLVMValueRef row_of(const struct schedule *s, LLVMValueRef i) {
  return LLVMGetMetadata(i, s->spilled);
}

static bool spills_row(const struct schedule *s, LLVMValueRef i) {
  return LLVMGetInstructionOpcode(i) == LLVMStore && row_of(s, i);
}

// Stores of rows move up to the last instruction with an effect that they depend on: the sooner
// they are, the sooner their registers are free. ret_behind: for each instruction, 1 + the index of
// that one, 0 without one.
static void find_depths(struct schedule *s, size_t *ret_behind) {
  struct map depth = {0}, last_store = {0}; // instruction, row -> 1 + index
  for (size_t k = 0; k < s->order.len; k++) {
    LLVMValueRef i = s->order.at[k], row = row_of(s, i);
    size_t d = row ? (size_t)(uintptr_t)ptrmap_get(&last_store, row) : 0;
    for (int o = 0; o < LLVMGetNumOperands(i); o++) {
      size_t of = (size_t)(uintptr_t)ptrmap_get(&depth, LLVMGetOperand(i, (unsigned)o));
      d = of > d ? of : d;
    }
    ret_behind[k] = d;
    if (spills_row(s, i))
      ptrmap_put(s->a, &last_store, row, (void *)(uintptr_t)d);
    else if (!is_pure(s, i))
      d = k + 1;
    ptrmap_put(s->a, &depth, i, (void *)(uintptr_t)d);
  }
}

// The store at index k; earlier loads of its row are emitted by now.
static void emit_row(struct schedule *s, size_t k) {
  LLVMValueRef store = s->order.at[k], row = row_of(s, store);
  for (size_t f = 0; f < k; f++)
    if (row_of(s, s->order.at[f]) == row)
      emit_if_waiting(s, s->order.at[f]);
  emit_now(s, store);
}

static void emit_rows_behind(struct schedule *s, const size_t *behind, size_t index) {
  for (size_t r = 0; r < s->rows.len; r++)
    if (behind[s->rows.at[r]] == index)
      emit_row(s, s->rows.at[r]);
}

// ---- blocks ----

static void schedule_block(struct schedule *s, LLVMBasicBlockRef block) {
  s->order.len = s->rows.len = 0;
  s->waiting = s->fresh = (struct map){0};
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    if (is_pure(s, i))
      ptrmap_put(s->a, &s->waiting, i, i);
    if (spills_row(s, i))
      vec_push(s->a, &s->rows, s->order.len);
    vec_push(s->a, &s->order, i);
  }
  size_t *behind = arena_array(s->a, size_t, s->order.len + 1), emitted = 0;
  find_depths(s, behind);
  LLVMPositionBuilderAtEnd(s->b, block);
  size_t first = 0;
  while (LLVMGetInstructionOpcode(s->order.at[first]) == LLVMPHI)
    first++;
  for (size_t k = 0; k <= first; k++)
    emit_rows_behind(s, behind, k);
  for (size_t k = first; k < s->order.len; k++) {
    LLVMValueRef i = s->order.at[k];
    if (is_pure(s, i) || spills_row(s, i))
      continue;
    // Instructions before a barrier stay there: their operands may be many, and die there.
    if (is_barrier(i) || LLVMIsATerminatorInst(i))
      for (; emitted < k; emitted++)
        emit_if_waiting(s, s->order.at[emitted]);
    emit_now(s, i);
    if (s->remakes)
      s->fresh = (struct map){0};
    emit_rows_behind(s, behind, k + 1);
  }
}

static bool is_large(LLVMBasicBlockRef block) {
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    n++;
  return n >= LARGE_BLOCK;
}

static bool spills(const struct schedule *s, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (LLVMGetMetadata(i, s->spilled))
        return true;
  return false;
}

void schedule_module(LLVMModuleRef module, const struct target *target, struct arena *a) {
  LLVMContextRef llvm = LLVMGetModuleContext(module);
  struct schedule s = {.a = a,
                       .b = LLVMCreateBuilderInContext(llvm),
                       .memory = LLVMGetEnumAttributeKindForName("memory", 6),
                       .convergent = LLVMGetEnumAttributeKindForName("convergent", 10),
                       .spilled = spill_kind(llvm)};
  bool has_products = LLVMGetModuleFlag(module, PRODUCT_FLAG, sizeof PRODUCT_FLAG - 1);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    bool spilled = spills(&s, f);
    if (!spilled && (target->is_cpu || has_products))
      continue;
    s.remakes = spilled && !target->is_cpu;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      if (!spilled && !is_large(b))
        continue;
      struct arena_mark mark = arena_mark(a);
      struct schedule block = s;
      schedule_block(&block, b);
      arena_release(a, mark);
    }
  }
  LLVMDisposeBuilder(s.b);
}
