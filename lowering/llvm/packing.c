// SPDX-License-Identifier: Apache-2.0
// Elements as words of memory: elements narrower than 32 bits are packed into one or more words, so
// that accesses are emitted as a number of words of one width.
#include "lowering/llvm/emit.h"

static unsigned bits_in_memory(struct emitter *e, LLVMTypeRef t) {
  switch (LLVMGetTypeKind(t)) {
  case LLVMIntegerTypeKind: return t == e->i1 ? 8 : LLVMGetIntTypeWidth(t);
  case LLVMPointerTypeKind:
  case LLVMDoubleTypeKind: return 64;
  case LLVMFloatTypeKind: return 32;
  default: return 16;
  }
}

struct packing packing_of(struct emitter *e, LLVMTypeRef element, unsigned width) {
  struct packing p = {.element = element, .bits = bits_in_memory(e, element), .width = width};
  unsigned total = p.bits * width;
  p.word_bits = p.bits == 64 ? 64 : total < 32 ? total : 32;
  p.word_count = total / p.word_bits;
  p.per_word = p.word_bits / p.bits;
  return p;
}

// Parts of a word: f16 and bf16 stay floats, so that their vectors match packed arithmetic.
static LLVMTypeRef part_type(struct emitter *e, const struct packing *p) {
  bool is_half_precision = p->element == e->f16 || p->element == e->bf16;
  return is_half_precision ? p->element : LLVMIntTypeInContext(e->llvm, p->bits);
}

static LLVMValueRef element_bits(struct emitter *e, const struct packing *p, LLVMValueRef x) {
  return p->element == e->i1 ? LLVMBuildZExt(e->b, x, e->i8, "") : to_bits(e, x);
}

// The word that these elements were unpacked from, so that no code is built from memory to a matrix
// instruction; NULL: there is none.
static LLVMValueRef unpacked_from(const struct packing *p, const LLVMValueRef *x,
                                  LLVMTypeRef word) {
  LLVMValueRef v = NULL;
  for (unsigned i = 0; i < p->per_word; i++) {
    if (!LLVMIsAExtractElementInst(x[i]))
      return NULL;
    LLVMValueRef from = LLVMGetOperand(x[i], 0), index = LLVMGetOperand(x[i], 1);
    if ((v && v != from) || !LLVMIsAConstantInt(index) || LLVMConstIntGetZExtValue(index) != i)
      return NULL;
    v = from;
  }
  LLVMValueRef whole = v && LLVMIsABitCastInst(v) ? LLVMGetOperand(v, 0) : NULL;
  return whole && LLVMTypeOf(whole) == word ? whole : NULL;
}

void pack_elements(struct emitter *e, const struct packing *p, const LLVMValueRef *elements,
                   LLVMValueRef *ret) {
  LLVMTypeRef word = LLVMIntTypeInContext(e->llvm, p->word_bits);
  for (unsigned w = 0; w < p->word_count; w++) {
    const LLVMValueRef *x = elements + w * p->per_word;
    if (p->per_word == 1) {
      ret[w] = element_bits(e, p, x[0]);
      continue;
    }
    ret[w] = unpacked_from(p, x, word);
    if (ret[w])
      continue;
    LLVMTypeRef part = part_type(e, p);
    LLVMValueRef v = LLVMGetPoison(LLVMVectorType(part, p->per_word));
    for (unsigned i = 0; i < p->per_word; i++) {
      LLVMValueRef y = LLVMTypeOf(x[i]) == part ? x[i] : element_bits(e, p, x[i]);
      v = LLVMBuildInsertElement(e->b, v, y, const_i32(e, i), "");
    }
    ret[w] = LLVMBuildBitCast(e->b, v, word, "");
  }
}

static LLVMValueRef element_of_bits(struct emitter *e, const struct packing *p, LLVMValueRef bits) {
  if (p->element == e->i1)
    return LLVMBuildICmp(e->b, LLVMIntNE, bits, const_int(e->i8, 0), "");
  return from_bits(e, bits, p->element);
}

void unpack_elements(struct emitter *e, const struct packing *p, const LLVMValueRef *words,
                     LLVMValueRef *ret) {
  for (unsigned w = 0; w < p->word_count; w++) {
    LLVMValueRef *x = ret + w * p->per_word;
    if (p->per_word == 1) {
      x[0] = element_of_bits(e, p, words[w]);
      continue;
    }
    LLVMTypeRef part = part_type(e, p);
    LLVMValueRef v = LLVMBuildBitCast(e->b, words[w], LLVMVectorType(part, p->per_word), "");
    for (unsigned i = 0; i < p->per_word; i++) {
      LLVMValueRef y = LLVMBuildExtractElement(e->b, v, const_i32(e, i), "");
      x[i] = part == p->element ? y : element_of_bits(e, p, y);
    }
  }
}

// ---- vectors of words ----

LLVMTypeRef words_type(struct emitter *e, unsigned count, unsigned word_bits) {
  LLVMTypeRef word = LLVMIntTypeInContext(e->llvm, word_bits);
  return count == 1 ? word : LLVMVectorType(word, count);
}

LLVMValueRef join_words(struct emitter *e, unsigned count, const LLVMValueRef *words) {
  if (count == 1)
    return words[0];
  LLVMValueRef v = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(words[0]), count));
  for (unsigned i = 0; i < count; i++)
    v = LLVMBuildInsertElement(e->b, v, words[i], const_i32(e, i), "");
  return v;
}

void split_words(struct emitter *e, unsigned count, LLVMValueRef joined, LLVMValueRef *ret) {
  for (unsigned i = 0; i < count; i++)
    ret[i] = count == 1 ? joined : LLVMBuildExtractElement(e->b, joined, const_i32(e, i), "");
}
