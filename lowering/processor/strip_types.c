// SPDX-License-Identifier: Apache-2.0
// LLVM types of MLIR types, constants, vectors of equal elements, intrinsics, bits; refusals.
#include "lowering/processor/strips.h"

void refuse(struct strip_emitter *e, MlirOperation op, const char *fmt, ...) {
  va_list ap;
  if (e->refusal.why)
    return;
  va_start(ap, fmt);
  e->refusal = (struct refusal){op, arena_vprintf(e->arena, fmt, ap)};
  va_end(ap);
}

bool is_tile(MlirValue v) { return type_is_tensor(mlirValueGetType(v)); }

unsigned rank_of(MlirValue v) { return is_tile(v) ? tensor_rank(mlirValueGetType(v)) : 0; }

enum dtype dtype_of(MlirValue v) { return dtype_of_mlir(element_type(mlirValueGetType(v))); }

// ---- types ----

LLVMTypeRef register_type(struct strip_emitter *e, MlirType element) {
  if (type_is_ptr(e->c, element))
    return e->ptr;
  if (mlirTypeIsAIndex(element))
    return e->i64;
  switch (dtype_of_mlir(element)) {
  case DTYPE_I1: return e->i1;
  case DTYPE_I8:
  case DTYPE_U8:
  case DTYPE_F8E5:
  case DTYPE_F8E4NV:
  case DTYPE_F8E4B15: return e->i8;
  case DTYPE_I16:
  case DTYPE_U16:
  case DTYPE_BF16: return e->i16;
  case DTYPE_I64:
  case DTYPE_U64: return e->i64;
  case DTYPE_F16: return e->f16;
  case DTYPE_F32: return e->f32;
  case DTYPE_F64: return e->f64;
  case DTYPE_I32:
  case DTYPE_U32:
  case DTYPE_NONE: break;
  }
  return e->i32;
}

static LLVMTypeRef in_memory(struct strip_emitter *e, LLVMTypeRef t) {
  return t == e->i1 ? e->i8 : t == e->ptr ? e->i64 : t;
}

LLVMTypeRef storage_type(struct strip_emitter *e, MlirType element) {
  return in_memory(e, register_type(e, element));
}

unsigned storage_bytes(struct strip_emitter *e, LLVMTypeRef t) {
  if (t == e->i8 || t == e->i1)
    return 1;
  if (t == e->i16 || t == e->f16)
    return 2;
  return t == e->i32 || t == e->f32 ? 4 : 8;
}

LLVMTypeRef vector_of(LLVMTypeRef t, unsigned lanes) {
  return lanes == 1 ? t : LLVMVectorType(t, lanes);
}

unsigned lanes_of(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}

LLVMTypeRef scalar_type(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

LLVMTypeRef like(LLVMValueRef v, LLVMTypeRef element) { return vector_of(element, lanes_of(v)); }

// ---- constants ----

static LLVMValueRef constants(LLVMValueRef one, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
    return one;
  LLVMValueRef all[4 * STRIP];
  unsigned n = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < n && i < COUNT_OF(all); i++)
    all[i] = one;
  return LLVMConstVector(all, n);
}

static LLVMTypeRef element_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

LLVMValueRef int_constant(LLVMTypeRef type, uint64_t value) {
  LLVMTypeRef t = element_of(type);
  unsigned width = LLVMGetIntTypeWidth(t);
  value = width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
  return constants(LLVMConstInt(t, value, false), type);
}

LLVMValueRef float_constant(LLVMTypeRef type, double value) {
  return constants(LLVMConstReal(element_of(type), value), type);
}

LLVMValueRef index_constant(struct strip_emitter *e, int64_t value) {
  return LLVMConstInt(e->i64, (uint64_t)value, true);
}

LLVMValueRef repeat(struct strip_emitter *e, LLVMValueRef scalar, unsigned lanes) {
  if (lanes == 1 || lanes_of(scalar) == lanes)
    return scalar;
  LLVMTypeRef t = vector_of(LLVMTypeOf(scalar), lanes);
  if (LLVMIsAConstantInt(scalar) || LLVMIsAConstantFP(scalar))
    return constants(scalar, t);
  LLVMValueRef one =
      LLVMBuildInsertElement(e->b, LLVMGetPoison(t), scalar, LLVMConstInt(e->i32, 0, false), "");
  return LLVMBuildShuffleVector(e->b, one, LLVMGetPoison(t),
                                LLVMConstNull(LLVMVectorType(e->i32, lanes)), "");
}

LLVMValueRef counting(struct strip_emitter *e, LLVMTypeRef type, unsigned lanes) {
  (void)e;
  LLVMValueRef all[4 * STRIP];
  for (unsigned i = 0; i < lanes && i < COUNT_OF(all); i++)
    all[i] = LLVMConstInt(type, i, false);
  return lanes == 1 ? all[0] : LLVMConstVector(all, lanes);
}

// ---- calls ----

LLVMValueRef call_intrinsic(struct strip_emitter *e, const char *name, unsigned overloads,
                            LLVMTypeRef *types, unsigned n, LLVMValueRef *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, types, overloads);
  return LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, args, n, "");
}

LLVMValueRef plain_intrinsic(struct strip_emitter *e, const char *name, unsigned n,
                             const LLVMValueRef *args) {
  LLVMTypeRef t = LLVMTypeOf(args[0]);
  LLVMValueRef copies[4];
  for (unsigned i = 0; i < n && i < COUNT_OF(copies); i++)
    copies[i] = args[i];
  return call_intrinsic(e, name, 1, &t, n, copies);
}

void function_attribute(struct strip_emitter *e, LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(e->llvm, kind, 0));
}

// ---- bits ----

LLVMValueRef bits_of(struct strip_emitter *e, LLVMValueRef v) {
  LLVMTypeRef t = scalar_type(v);
  if (t == e->ptr)
    return LLVMBuildPtrToInt(e->b, v, like(v, e->i64), "");
  if (t == e->f16 || t == e->f32 || t == e->f64) {
    LLVMTypeRef to = t == e->f16 ? e->i16 : t == e->f32 ? e->i32 : e->i64;
    return LLVMBuildBitCast(e->b, v, like(v, to), "");
  }
  return v;
}

LLVMValueRef of_bits(struct strip_emitter *e, LLVMValueRef bits, LLVMTypeRef element) {
  if (scalar_type(bits) == element)
    return bits;
  if (element == e->ptr)
    return LLVMBuildIntToPtr(e->b, bits, like(bits, e->ptr), "");
  return LLVMBuildBitCast(e->b, bits, like(bits, element), "");
}
