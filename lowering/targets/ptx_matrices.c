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

static const char *register_class(struct emitter *e, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  return t == e->f32 ? "f" : t == e->f64 ? "d" : "r";
}

// Operands of the instruction from number `*next` on: "{$4, $5}, " and "r,r,".
static void put_operands(struct emitter *e, const LLVMValueRef *x, unsigned count, bool is_result,
                         unsigned *next, struct strbuf *text, struct strbuf *constraints) {
  for (unsigned i = 0; i < count; i++) {
    strbuf_printf(text, "%s$%u", i ? ", " : *next ? ", {" : "{", *next + i);
    strbuf_printf(constraints, "%s%s%s", *next + i ? "," : "", is_result ? "=" : "",
                  register_class(e, x[i]));
  }
  strbuf_puts(text, "}");
  *next += count;
}

// Drivers refuse PTX newer than themselves, so only a kernel that needs it says so (codegen.c).
static void require_ptx(struct emitter *e, uint32_t version) {
  size_t length = strlen(PTX_VERSION_FLAG);
  if (!LLVMGetModuleFlag(e->module, PTX_VERSION_FLAG, length))
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorOverride, PTX_VERSION_FLAG, length,
                      LLVMValueAsMetadata(const_i32(e, version)));
}

void ptx_mma(struct emitter *e, const struct mma_operands *m, LLVMValueRef *ret) {
  const struct mma_instruction *in = m->instruction;
  struct strbuf text = {0}, constraints = {0};
  unsigned next = 0, n = in->c_words;
  if (dtype_is_float(in->a) && dtype_bits(in->a) == 8)
    require_ptx(e, PTX_OF_FP8_PRODUCTS);
  strbuf_printf(&text, "mma.sync.aligned.m%un%uk%u.row.col%s ", in->m, MMA_N, in->k, in->ptx);
  put_operands(e, m->c, n, true, &next, &text, &constraints);
  put_operands(e, m->a, in->a_words, false, &next, &text, &constraints);
  put_operands(e, m->b, in->b_words, false, &next, &text, &constraints);
  put_operands(e, m->c, n, false, &next, &text, &constraints);
  strbuf_puts(&text, ";");
  LLVMValueRef args[3 * MMA_MAX_WORDS];
  memcpy(args, m->a, in->a_words * sizeof *args);
  memcpy(args + in->a_words, m->b, in->b_words * sizeof *args);
  memcpy(args + in->a_words + in->b_words, m->c, n * sizeof *args);
  LLVMTypeRef words[MMA_MAX_WORDS];
  for (unsigned i = 0; i < n; i++)
    words[i] = LLVMTypeOf(m->c[i]);
  LLVMTypeRef result = n == 1 ? words[0] : LLVMStructTypeInContext(e->llvm, words, n, false);
  LLVMValueRef d = ptx_pure_asm(e, strbuf_cstr(&text), strbuf_cstr(&constraints), result, args,
                                in->a_words + in->b_words + n);
  // All lanes of the warp meet here: it must not move into a branch.
  unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
  LLVMAddCallSiteAttribute(d, LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(e->llvm, kind, 0));
  for (unsigned i = 0; i < n; i++)
    ret[i] = n == 1 ? d : LLVMBuildExtractValue(e->b, d, i, "");
  strbuf_finish(&text);
  strbuf_finish(&constraints);
}
