// SPDX-License-Identifier: Apache-2.0
// LLVM types of MLIR types, constants, calls, bit casts, branches.
#include "lowering/llvm/emit.h"

#include <assert.h>

// ---- types ----

LLVMTypeRef type_of_dtype(struct emitter *e, enum dtype t) {
  switch (t) {
  case DTYPE_I1: return e->i1;
  case DTYPE_I8:
  case DTYPE_U8:
  case DTYPE_F8E5:
  case DTYPE_F8E4NV:
  case DTYPE_F8E4B15: return e->i8;
  case DTYPE_I16:
  case DTYPE_U16: return e->i16;
  case DTYPE_I32:
  case DTYPE_U32: return e->i32;
  case DTYPE_I64:
  case DTYPE_U64: return e->i64;
  case DTYPE_F16: return e->f16;
  case DTYPE_BF16: return e->bf16;
  case DTYPE_F32: return e->f32;
  case DTYPE_F64: return e->f64;
  case DTYPE_NONE: break;
  }
  return e->i32;
}

LLVMTypeRef type_of_mlir(struct emitter *e, MlirType scalar) {
  if (type_is_ptr(e->c, scalar))
    return e->ptr;
  if (mlirTypeIsAIndex(scalar))
    return e->i64;
  return type_of_dtype(e, dtype_of_mlir(scalar));
}

// ---- layouts ----

const struct linear_layout *layout_of(struct emitter *e, MlirType t) {
  return type_is_tensor(t) ? linear_of_type(e->c, t) : NULL;
}

unsigned register_count(const struct linear_layout *l) {
  return l ? ll_in_size(l, LL_REGISTER) : 1;
}

uint32_t register_replicas(const struct linear_layout *l) {
  int at = l ? ll_find_in(l, LL_REGISTER) : -1;
  uint32_t mask = 0;
  for (unsigned b = 0; at >= 0 && b < l->in_bits[at]; b++) {
    bool zero = true;
    for (unsigned d = 0; d < l->out_count; d++)
      zero &= l->basis[at][b][d] == 0;
    mask |= zero ? 1u << b : 0;
  }
  return mask;
}

// ---- constants ----

LLVMValueRef const_int(LLVMTypeRef type, uint64_t v) {
  unsigned width = LLVMGetIntTypeWidth(type);
  return LLVMConstInt(type, width < 64 ? v & ((UINT64_C(1) << width) - 1) : v, false);
}

LLVMValueRef const_i32(struct emitter *e, uint32_t v) { return LLVMConstInt(e->i32, v, false); }

// ---- calls ----

LLVMValueRef intrinsic(struct emitter *e, const char *name, unsigned overload_count,
                       LLVMTypeRef *overloads, unsigned n, LLVMValueRef *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, overloads, overload_count);
  return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, n, "");
}

LLVMValueRef call_routine(struct emitter *e, const char *name, LLVMTypeRef result, unsigned n,
                          LLVMValueRef *args) {
  LLVMTypeRef types[8];
  assert(n <= COUNT_OF(types));
  for (unsigned i = 0; i < n; i++)
    types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(result, types, n, false);
  LLVMValueRef fn = LLVMGetNamedFunction(e->module, name);
  if (!fn)
    fn = LLVMAddFunction(e->module, name, type);
  return LLVMBuildCall2(e->b, type, fn, args, n, "");
}

LLVMValueRef text_pointer(struct emitter *e, const char *text) {
  LLVMValueRef global = map_get(&e->strings, str_from(text));
  if (!global) {
    LLVMValueRef value =
        LLVMConstStringInContext2(e->llvm, text, strlen(text), /*DontNullTerminate=*/false);
    // NVPTX keeps constants in global memory (address space 1).
    global = LLVMAddGlobalInAddressSpace(e->module, LLVMTypeOf(value), "text",
                                         e->target->is_cpu ? 0 : 1);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    map_put(e->arena, &e->strings, str_from(text), global);
  }
  return e->target->is_cpu ? global : LLVMConstAddrSpaceCast(global, e->generic_ptr);
}

// ---- bits ----

LLVMValueRef to_bits(struct emitter *e, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  switch (LLVMGetTypeKind(t)) {
  case LLVMIntegerTypeKind: return x;
  case LLVMPointerTypeKind: return LLVMBuildPtrToInt(e->b, x, e->i64, "");
  case LLVMFloatTypeKind: return LLVMBuildBitCast(e->b, x, e->i32, "");
  case LLVMDoubleTypeKind: return LLVMBuildBitCast(e->b, x, e->i64, "");
  default: return LLVMBuildBitCast(e->b, x, e->i16, "");
  }
}

LLVMValueRef from_bits(struct emitter *e, LLVMValueRef bits, LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind: return bits;
  case LLVMPointerTypeKind: return LLVMBuildIntToPtr(e->b, bits, type, "");
  default: return LLVMBuildBitCast(e->b, bits, type, "");
  }
}

// ---- failures and branches ----

bool emit_unsupported(struct emitter *e, MlirOperation op, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(e->c->arena, fmt, ap);
  va_end(ap);
  diag_error(e->c->diag, op_span(e->c, op), E0604, "%s", text);
  return false;
}

struct branch branch_begin(struct emitter *e, LLVMValueRef cond) {
  struct branch br = {.from = LLVMGetInsertBlock(e->b)};
  LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(e->llvm, e->function, "then");
  br.after = LLVMAppendBasicBlockInContext(e->llvm, e->function, "after");
  LLVMBuildCondBr(e->b, cond, then, br.after);
  LLVMPositionBuilderAtEnd(e->b, then);
  return br;
}

void branch_end(struct emitter *e, const struct branch *br) {
  LLVMBuildBr(e->b, br->after);
  LLVMPositionBuilderAtEnd(e->b, br->after);
}
