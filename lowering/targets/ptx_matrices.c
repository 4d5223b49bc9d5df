// SPDX-License-Identifier: Apache-2.0
// Matrices between registers and shared memory: ldmatrix and stmatrix.
#include "lowering/targets/ptx.h"

enum { MAX_MATRICES = 4 };

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
