// SPDX-License-Identifier: Apache-2.0
// Loads and stores of global memory. Registers that hold neighbours in memory are accessed
// together, as words: elements narrower than 32 bits are packed, so that a target sees only
// "so many words of so many bits".
#include "lowering/analysis/axis_info.h"
#include "lowering/llvm/emit.h"

// How the elements of one vector access become words.
struct packing {
  LLVMTypeRef element; // as a value; i1 is a byte in memory
  unsigned bits;       // of an element in memory
  unsigned width;      // elements an access
  unsigned word_bits, word_count, per_word;
};

static struct packing packing_of(struct emitter *e, MlirType element, unsigned width) {
  struct packing p = {.element = type_of_mlir(e, element), .width = width};
  unsigned bits = type_bits(e->c, element);
  p.bits = bits < 8 ? 8 : bits;
  unsigned total = p.bits * width;
  p.word_bits = p.bits == 64 ? 64 : total < 32 ? total : 32;
  p.word_count = total / p.word_bits;
  p.per_word = p.word_bits / p.bits;
  return p;
}

static LLVMValueRef element_bits(struct emitter *e, const struct packing *p, LLVMValueRef x) {
  return p->element == e->i1 ? LLVMBuildZExt(e->b, x, e->i8, "") : to_bits(e, x);
}

static void pack(struct emitter *e, const struct packing *p, const LLVMValueRef *elements,
                 LLVMValueRef *ret) {
  LLVMTypeRef word = LLVMIntTypeInContext(e->llvm, p->word_bits);
  for (unsigned w = 0; w < p->word_count; w++) {
    const LLVMValueRef *x = elements + w * p->per_word;
    if (p->per_word == 1) {
      ret[w] = element_bits(e, p, x[0]);
      continue;
    }
    LLVMTypeRef part = LLVMIntTypeInContext(e->llvm, p->bits);
    LLVMValueRef v = LLVMGetPoison(LLVMVectorType(part, p->per_word));
    for (unsigned i = 0; i < p->per_word; i++)
      v = LLVMBuildInsertElement(e->b, v, element_bits(e, p, x[i]), const_i32(e, i), "");
    ret[w] = LLVMBuildBitCast(e->b, v, word, "");
  }
}

static LLVMValueRef element_of_bits(struct emitter *e, const struct packing *p, LLVMValueRef bits) {
  if (p->element == e->i1)
    return LLVMBuildICmp(e->b, LLVMIntNE, bits, const_int(e->i8, 0), "");
  return from_bits(e, bits, p->element);
}

static void unpack(struct emitter *e, const struct packing *p, const LLVMValueRef *words,
                   LLVMValueRef *ret) {
  for (unsigned w = 0; w < p->word_count; w++) {
    LLVMValueRef *x = ret + w * p->per_word;
    if (p->per_word == 1) {
      x[0] = element_of_bits(e, p, words[w]);
      continue;
    }
    LLVMTypeRef part = LLVMIntTypeInContext(e->llvm, p->bits);
    LLVMValueRef v = LLVMBuildBitCast(e->b, words[w], LLVMVectorType(part, p->per_word), "");
    for (unsigned i = 0; i < p->per_word; i++)
      x[i] = element_of_bits(e, p, LLVMBuildExtractElement(e->b, v, const_i32(e, i), ""));
  }
}

// ---- accesses ----

enum { MAX_WIDTH = 32 };

static unsigned access_width(struct emitter *e, MlirOperation op, const struct linear_layout *l) {
  unsigned width = axis_vector_width(e->axis, op, e->target, l, NULL);
  return width < MAX_WIDTH ? width : MAX_WIDTH;
}

static struct access access_of(MlirOperation op, const struct packing *p, LLVMValueRef ptr,
                               LLVMValueRef pred) {
  return (struct access){.op = op,
                         .ptr = ptr,
                         .pred = pred,
                         .count = p->word_count,
                         .word_bits = p->word_bits,
                         .align = p->bits / 8 * p->width};
}

static const struct emitted *optional_operand(struct emitter *e, MlirOperation op, unsigned i) {
  return (unsigned)mlirOperationGetNumOperands(op) > i ? operand_of(e, op, i) : NULL;
}

static LLVMValueRef both(struct emitter *e, LLVMValueRef a, LLVMValueRef b) {
  return a && b ? LLVMBuildAnd(e->b, a, b, "") : a ? a : b;
}

// True masks need no predicate.
static LLVMValueRef mask_at(const struct emitted *mask, unsigned r) {
  if (!mask)
    return NULL;
  LLVMValueRef m = mask->at[r];
  return LLVMIsAConstantInt(m) && LLVMConstIntGetZExtValue(m) != 0 ? NULL : m;
}

bool emit_load(struct emitter *e, MlirOperation op) {
  const struct linear_layout *l = layout_of(e, operand_type(op, 0));
  struct packing p = packing_of(e, element_type(result_type(op, 0)), access_width(e, op, l));
  const struct emitted *ptr = operand_of(e, op, 0), *mask = optional_operand(e, op, 1);
  const struct emitted *other = optional_operand(e, op, 2);
  struct emitted *ret = result_of(e, op, 0);
  uint32_t replicas = register_replicas(l);
  for (unsigned r = 0; r < ret->count; r += p.width) {
    if (r & replicas) {
      for (unsigned i = r; i < r + p.width; i++)
        ret->at[i] = ret->at[i & ~replicas];
      continue;
    }
    LLVMValueRef words[MAX_WIDTH], others[MAX_WIDTH];
    struct access a = access_of(op, &p, ptr->at[r], mask_at(mask, r));
    if (other && a.pred)
      pack(e, &p, other->at + r, others);
    e->target->hooks->load(e, &a, other && a.pred ? others : NULL, words);
    unpack(e, &p, words, ret->at + r);
  }
  return true;
}

bool emit_store(struct emitter *e, MlirOperation op) {
  const struct linear_layout *l = layout_of(e, operand_type(op, 0));
  struct packing p = packing_of(e, element_type(operand_type(op, 1)), access_width(e, op, l));
  const struct emitted *ptr = operand_of(e, op, 0), *value = operand_of(e, op, 1);
  const struct emitted *mask = optional_operand(e, op, 2);
  LLVMValueRef owner = owner_predicate(e, l);
  uint32_t copies = owner_registers(l);
  for (unsigned r = 0; r < ptr->count; r += p.width) {
    if (r & copies)
      continue;
    LLVMValueRef words[MAX_WIDTH];
    pack(e, &p, value->at + r, words);
    struct access a = access_of(op, &p, ptr->at[r], both(e, mask_at(mask, r), owner));
    e->target->hooks->store(e, &a, words);
  }
  return true;
}

bool emit_atomic_rmw(struct emitter *e, MlirOperation op) {
  const struct linear_layout *l = layout_of(e, operand_type(op, 0));
  enum dtype dtype = dtype_of_mlir(element_type(operand_type(op, 1)));
  struct packing p = packing_of(e, element_type(operand_type(op, 1)), 1);
  const struct emitted *ptr = operand_of(e, op, 0), *value = operand_of(e, op, 1);
  const struct emitted *mask = optional_operand(e, op, 2);
  struct emitted *ret = result_of(e, op, 0);
  LLVMValueRef owner = owner_predicate(e, l);
  uint32_t copies = owner_registers(l);
  for (unsigned r = 0; r < ptr->count; r++) {
    if (r & copies) {
      ret->at[r] = ret->at[0]; // replaced below
      continue;
    }
    struct access a = access_of(op, &p, ptr->at[r], both(e, mask_at(mask, r), owner));
    ret->at[r] = e->target->hooks->atomic_rmw(e, &a, op_attr_str(op, "kind"), dtype, value->at[r]);
    if (!ret->at[r])
      return emit_unsupported(e, op, "atomic `%.*s` of `%s` has no lowering on `%s`",
                              STR_ARG(op_attr_str(op, "kind")), dtype_name(dtype), e->target->name);
  }
  // Only owners know what was there before.
  if ((owner || copies) && value_has_uses(mlirOperationGetResult(op, 0)))
    exchange_through_shared(e, LLVMTypeOf(ret->at[0]), l, l, owner, ret->at, ret->at);
  return true;
}
