// SPDX-License-Identifier: Apache-2.0
// Operands in shared memory are given by descriptors: the address of the first element, and the
// strides of the pieces (layouts/shared.c: nvmma_to_linear has the same order).
//
//   K contiguous      strips of `swizzle` bytes of K; SBO: 8 rows
//   K not contiguous  strips of `swizzle` bytes of M or N; LBO: a strip; SBO: 8 elements of K
#include "lowering/llvm/warp_group.h"

enum {
  ROWS_OF_SWIZZLE = 8,
  SHARED_ADDRESS_BITS = 18, // of an offset in a CTA's shared memory
  DESCRIPTOR_UNIT_BITS = 4,
  DESCRIPTOR_LBO = 16,
  DESCRIPTOR_SBO = 32,
  DESCRIPTOR_SWIZZLE = 62
};

static uint32_t offset_of(const struct shared_operand *x, uint32_t outer, uint32_t k) {
  uint32_t inner = x->k_is_inner ? k : outer, row = x->k_is_inner ? outer : k;
  uint32_t width = x->encoding->nvmma.swizzle, bytes = x->encoding->nvmma.element_bits / 8;
  return inner / x->strip * x->rows * width + row * width + inner % x->strip * bytes;
}

static uint64_t constant_part(const struct shared_operand *x) {
  static const uint64_t swizzles[] = {[128 / 32] = 1, [64 / 32] = 2, [32 / 32] = 3};
  uint32_t width = x->encoding->nvmma.swizzle;
  uint64_t lbo = x->k_is_inner ? 1 : x->rows * width >> DESCRIPTOR_UNIT_BITS;
  uint64_t sbo = ROWS_OF_SWIZZLE * width >> DESCRIPTOR_UNIT_BITS;
  return lbo << DESCRIPTOR_LBO | sbo << DESCRIPTOR_SBO | swizzles[width / 32] << DESCRIPTOR_SWIZZLE;
}

// The index of the warpgroup along M or N. ptxas keeps descriptors in uniform registers if it sees
// that all lanes have the same: the shuffle says so.
static LLVMValueRef group_index(struct emitter *e, const struct warp_group_product *p, unsigned i) {
  LLVMValueRef warp = e->target->hooks->shuffle(e, e->warp, const_i32(e, 0));
  LLVMValueRef group = LLVMBuildLShr(e->b, warp, const_i32(e, 2), "");
  if (i == 1)
    return LLVMBuildUDiv(e->b, group, const_i32(e, p->groups[0]), "");
  return p->groups[1] == 1 ? group : LLVMBuildURem(e->b, group, const_i32(e, p->groups[0]), "");
}

void warp_group_describe(struct emitter *e, struct warp_group_product *p, unsigned i) {
  struct shared_operand *x = i == 0 ? &p->a : &p->b;
  MlirType tile = memdesc_tile(e->c, operand_type(p->op, i));
  x->encoding = encoding_of_attr(e->c, tensor_encoding(tile));
  unsigned inner = x->encoding->nvmma.transposed ? 0 : 1;
  x->k_is_inner = inner == (i == 0 ? 1u : 0u);
  x->rows = (uint32_t)tensor_dim(tile, 1 - inner);
  x->strip = x->encoding->nvmma.swizzle * 8 / x->encoding->nvmma.element_bits;
  LLVMValueRef base = LLVMBuildPtrToInt(e->b, e->target->hooks->shared_base(e), e->i32, "");
  LLVMValueRef at = LLVMBuildAdd(e->b, base, operand_of(e, p->op, i)->at[0], "");
  if (p->groups[i] > 1) {
    LLVMValueRef step = const_i32(e, offset_of(x, i == 0 ? WGMMA_M : p->n, 0));
    at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, group_index(e, p, i), step, ""), "");
  }
  // In a cluster, addresses have the CTA's rank above the offset.
  if (e->info->num_ctas > 1)
    at = LLVMBuildAnd(e->b, at, const_i32(e, (1u << SHARED_ADDRESS_BITS) - 1), "");
  at = LLVMBuildLShr(e->b, at, const_i32(e, DESCRIPTOR_UNIT_BITS), "");
  x->descriptor = LLVMBuildOr(e->b, LLVMBuildZExt(e->b, at, e->i64, ""),
                              const_int(e->i64, constant_part(x)), "");
}

LLVMValueRef warp_group_descriptor(struct emitter *e, const struct warp_group_product *p,
                                   unsigned i, unsigned tile, uint32_t first, uint32_t k) {
  const struct shared_operand *x = i == 0 ? &p->a : &p->b;
  uint32_t step = (i == 0 ? WGMMA_M : p->n) * p->groups[i];
  uint32_t offset = offset_of(x, tile * step + first, k) >> DESCRIPTOR_UNIT_BITS;
  return LLVMBuildAdd(e->b, x->descriptor, const_int(e->i64, offset), "");
}
