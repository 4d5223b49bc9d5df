// SPDX-License-Identifier: Apache-2.0
// Matrix instructions on the CPU: each lane gets the addresses of its rows from the lanes that give
// them, and accesses its own elements.
#include "lowering/targets/cpu_matrices.h"

#include "base/mma.h"

enum { ROWS = 8, WORD_BYTES = 4, F16_BYTES = 2 };

// The row address of lane `number`, relative to the base of shared memory.
static LLVMValueRef row_of_lane(struct emitter *e, LLVMValueRef row, LLVMValueRef number) {
  LLVMValueRef base = e->target->hooks->shared_base(e);
  LLVMValueRef from = LLVMBuildPtrToInt(e->b, base, e->i64, "");
  LLVMValueRef at = LLVMBuildSub(e->b, LLVMBuildPtrToInt(e->b, row, e->i64, ""), from, "");
  at = e->target->hooks->shuffle(e, LLVMBuildTrunc(e->b, at, e->i32, ""), number);
  return LLVMBuildGEP2(e->b, e->i8, base, &at, 1, "");
}

static LLVMValueRef bytes_on(struct emitter *e, LLVMValueRef ptr, LLVMValueRef count,
                             unsigned size) {
  count = LLVMBuildMul(e->b, count, const_i32(e, size), "");
  return LLVMBuildGEP2(e->b, e->i8, ptr, &count, 1, "");
}

// Addresses of the lane's part of matrix `i`: one word, or two elements. Returns their number.
static unsigned parts_of(struct emitter *e, const struct matrices *m, unsigned i,
                         LLVMValueRef ret[2]) {
  LLVMValueRef four = const_i32(e, 4), first = const_i32(e, ROWS * i);
  LLVMValueRef quarter = LLVMBuildUDiv(e->b, e->lane, four, "");
  LLVMValueRef in_quarter = LLVMBuildURem(e->b, e->lane, four, "");
  if (!m->transposed) {
    LLVMValueRef row = row_of_lane(e, m->row, LLVMBuildAdd(e->b, first, quarter, ""));
    ret[0] = bytes_on(e, row, in_quarter, WORD_BYTES);
    return 1;
  }
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef number = LLVMBuildMul(e->b, in_quarter, const_i32(e, 2), "");
    number = LLVMBuildAdd(e->b, number, const_i32(e, ROWS * i + k), "");
    ret[k] = bytes_on(e, row_of_lane(e, m->row, number), quarter, F16_BYTES);
  }
  return 2;
}

void cpu_load_matrices(struct emitter *e, const struct matrices *m, LLVMValueRef *ret) {
  LLVMTypeRef f16x2 = LLVMVectorType(e->i16, 2);
  for (unsigned i = 0; i < m->count; i++) {
    LLVMValueRef at[2];
    if (parts_of(e, m, i, at) == 1) {
      ret[i] = shared_load(e, e->i32, at[0], WORD_BYTES);
      continue;
    }
    LLVMValueRef pair = LLVMGetPoison(f16x2);
    for (unsigned k = 0; k < 2; k++)
      pair = LLVMBuildInsertElement(e->b, pair, shared_load(e, e->i16, at[k], F16_BYTES),
                                    const_i32(e, k), "");
    ret[i] = LLVMBuildBitCast(e->b, pair, e->i32, "");
  }
}

void cpu_store_matrices(struct emitter *e, const struct matrices *m, const LLVMValueRef *words) {
  LLVMTypeRef f16x2 = LLVMVectorType(e->i16, 2);
  for (unsigned i = 0; i < m->count; i++) {
    LLVMValueRef at[2];
    if (parts_of(e, m, i, at) == 1) {
      shared_store(e, words[i], at[0], WORD_BYTES);
      continue;
    }
    LLVMValueRef pair = LLVMBuildBitCast(e->b, words[i], f16x2, "");
    for (unsigned k = 0; k < 2; k++)
      shared_store(e, LLVMBuildExtractElement(e->b, pair, const_i32(e, k), ""), at[k], F16_BYTES);
  }
}

// ---- products ----

enum { MMA_PARTS = 4, PART_BYTES = 8 * MMA_MAX_WORDS };

// Room for the words of A, B, C and D on the stack, one for all products of the function: its first
// instruction.
static LLVMValueRef room_for_words(struct emitter *e) {
  LLVMTypeRef type = LLVMArrayType2(e->i64, MMA_PARTS * MMA_MAX_WORDS);
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(e->function);
  LLVMValueRef first = LLVMGetFirstInstruction(entry);
  if (first && LLVMIsAAllocaInst(first) && LLVMGetAllocatedType(first) == type)
    return first;
  if (first)
    LLVMPositionBuilderBefore(e->entry, first);
  LLVMValueRef room = LLVMBuildAlloca(e->entry, type, "words");
  LLVMPositionBuilderAtEnd(e->entry, entry);
  return room;
}

static LLVMValueRef part_of_room(struct emitter *e, LLVMValueRef room, unsigned part,
                                 LLVMTypeRef type, unsigned word) {
  unsigned bytes = type == e->f64 ? 8 : 4;
  LLVMValueRef at = const_i32(e, part * PART_BYTES + word * bytes);
  return LLVMBuildGEP2(e->b, e->i8, room, &at, 1, "");
}

static void put_words(struct emitter *e, LLVMValueRef room, unsigned part, const LLVMValueRef *x,
                      unsigned count) {
  for (unsigned i = 0; i < count; i++)
    LLVMBuildStore(e->b, x[i], part_of_room(e, room, part, LLVMTypeOf(x[i]), i));
}

void cpu_mma(struct emitter *e, const struct mma_operands *m, LLVMValueRef location,
             LLVMValueRef *ret) {
  const struct mma_instruction *in = m->instruction;
  LLVMValueRef room = room_for_words(e);
  LLVMTypeRef type = LLVMTypeOf(m->c[0]);
  put_words(e, room, 0, m->a, in->a_words);
  put_words(e, room, 1, m->b, in->b_words);
  put_words(e, room, 2, m->c, in->c_words);
  LLVMValueRef args[] = {e->cpu_thread, const_i32(e, in->id), NULL, NULL, NULL, NULL, location};
  for (unsigned i = 0; i < MMA_PARTS; i++)
    args[2 + i] = part_of_room(e, room, i, type, 0);
  call_routine(e, "tile_cpu_mma", LLVMVoidTypeInContext(e->llvm), 7, args);
  for (unsigned i = 0; i < in->c_words; i++)
    ret[i] = LLVMBuildLoad2(e->b, type, part_of_room(e, room, MMA_PARTS - 1, type, i), "");
}
