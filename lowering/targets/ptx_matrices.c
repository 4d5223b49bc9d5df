// SPDX-License-Identifier: Apache-2.0
// Matrices between registers and shared memory, ldmatrix and stmatrix, and their products.
#include "base/mma.h"
#include "lowering/targets/ptx.h"

enum { MAX_MATRICES = 4, PTX_OF_FP8_PRODUCTS = 84 };

static const char *name_of(struct emitter *e, const char *op, const struct matrices *m) {
  return arena_printf(e->arena, "llvm.nvvm.%s.sync.aligned.m8n8.x%u%s.b16", op, m->count,
                      m->transposed ? ".trans" : "");
}

void ptx_load_matrices(struct emitter *e, const struct matrices *m, LLVMValueRef *ret) {
  LLVMTypeRef type = LLVMTypeOf(m->row);
  LLVMValueRef row = m->row, words = intrinsic(e, name_of(e, "ldmatrix", m), 1, &type, 1, &row);
  for (unsigned i = 0; i < m->count; i++)
    ret[i] = m->count == 1 ? words : LLVMBuildExtractValue(e->b, words, i, "");
}

void ptx_store_matrices(struct emitter *e, const struct matrices *m, const LLVMValueRef *words) {
  LLVMTypeRef type = LLVMTypeOf(m->row);
  LLVMValueRef args[1 + MAX_MATRICES] = {m->row};
  for (unsigned i = 0; i < m->count; i++)
    args[1 + i] = words[i];
  intrinsic(e, name_of(e, "stmatrix", m), 1, &type, 1 + m->count, args);
}

// ---- products ----

static const char *const products[MMA_COUNT] = {
    [MMA_F16_F32] = "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
    [MMA_F16_F16] = "llvm.nvvm.mma.m16n8k16.row.col.f16.f16",
    [MMA_BF16_F32] = "llvm.nvvm.mma.m16n8k16.row.col.bf16",
    [MMA_TF32_F32] = "llvm.nvvm.mma.m16n8k8.row.col.tf32",
    [MMA_S8_S32] = "llvm.nvvm.mma.m16n8k32.row.col.s8",
    [MMA_F64_F64] = "llvm.nvvm.mma.m8n8k4.row.col.f64",
    [MMA_F64_F64_WIDE] = "llvm.nvvm.mma.m16n8k8.row.col.f64",
    [MMA_E4M3_E4M3_F32] = "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32",
    [MMA_E4M3_E5M2_F32] = "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    [MMA_E5M2_E4M3_F32] = "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32",
    [MMA_E5M2_E5M2_F32] = "llvm.nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32",
};

// Drivers refuse PTX newer than themselves, so only a kernel that needs it says so (codegen.c).
static void require_ptx(struct emitter *e, uint32_t version) {
  size_t length = strlen(PTX_VERSION_FLAG);
  if (!LLVMGetModuleFlag(e->module, PTX_VERSION_FLAG, length))
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorOverride, PTX_VERSION_FLAG, length,
                      LLVMValueAsMetadata(const_i32(e, version)));
}

// ---- warpgroups ----

LLVMValueRef ptx_warp_group_asm(struct emitter *e, const char *text, const char *constraints,
                                LLVMTypeRef result, LLVMValueRef *args, unsigned n) {
  LLVMValueRef call = ptx_memory_asm(e, text, constraints, result, args, n);
  ptx_set_convergent(e, call);
  return call;
}

void ptx_async_proxy_fence(struct emitter *e) {
  ptx_memory_asm(e, "fence.proxy.async.shared::cta;", "", LLVMVoidTypeInContext(e->llvm), NULL, 0);
}

// Pairs of f16 are vectors to the intrinsics of f16, words to all others.
void ptx_mma(struct emitter *e, const struct mma_operands *m, LLVMValueRef *ret) {
  const struct mma_instruction *in = m->instruction;
  unsigned n = in->a_words + in->b_words + in->c_words;
  LLVMValueRef args[3 * MMA_MAX_WORDS];
  memcpy(args, m->a, in->a_words * sizeof *args);
  memcpy(args + in->a_words, m->b, in->b_words * sizeof *args);
  memcpy(args + in->a_words + in->b_words, m->c, in->c_words * sizeof *args);
  if (dtype_is_float(in->a) && dtype_bits(in->a) == 8)
    require_ptx(e, PTX_OF_FP8_PRODUCTS);
  LLVMTypeRef f16x2 = LLVMVectorType(e->f16, 2);
  for (unsigned i = 0; in->a == DTYPE_F16 && i < n; i++)
    if (LLVMTypeOf(args[i]) == e->i32)
      args[i] = LLVMBuildBitCast(e->b, args[i], f16x2, "");
  LLVMValueRef d = intrinsic(e, products[in->id], 0, NULL, n, args);
  ptx_set_convergent(e, d); // LLVM's intrinsics of products do not say so
  for (unsigned i = 0; i < in->c_words; i++) {
    ret[i] = LLVMBuildExtractValue(e->b, d, i, "");
    if (LLVMTypeOf(ret[i]) == f16x2)
      ret[i] = LLVMBuildBitCast(e->b, ret[i], e->i32, "");
  }
}
