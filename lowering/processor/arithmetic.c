// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of scalars and vectors. bf16 is computed in f32 and rounded.
#include "lowering/llvm/opcodes.h"
#include "lowering/processor/strips.h"

// ---- integers ----

static LLVMValueRef integer_binary(struct strip_emitter *e, enum op_id id, LLVMValueRef x,
                                   LLVMValueRef y) {
  LLVMValueRef pair[] = {x, y};
  switch (id) {
  case OP_ARITH_ADDI: return LLVMBuildAdd(e->b, x, y, "");
  case OP_ARITH_SUBI: return LLVMBuildSub(e->b, x, y, "");
  case OP_ARITH_MULI: return LLVMBuildMul(e->b, x, y, "");
  case OP_ARITH_ANDI: return LLVMBuildAnd(e->b, x, y, "");
  case OP_ARITH_ORI: return LLVMBuildOr(e->b, x, y, "");
  case OP_ARITH_XORI: return LLVMBuildXor(e->b, x, y, "");
  case OP_ARITH_SHLI: return LLVMBuildShl(e->b, x, y, "");
  case OP_ARITH_SHRSI: return LLVMBuildAShr(e->b, x, y, "");
  case OP_ARITH_SHRUI: return LLVMBuildLShr(e->b, x, y, "");
  case OP_ARITH_MAXSI: return plain_intrinsic(e, "llvm.smax", 2, pair);
  case OP_ARITH_MAXUI: return plain_intrinsic(e, "llvm.umax", 2, pair);
  case OP_ARITH_MINSI: return plain_intrinsic(e, "llvm.smin", 2, pair);
  case OP_ARITH_MINUI: return plain_intrinsic(e, "llvm.umin", 2, pair);
  case OP_ARITH_DIVSI:
  case OP_ARITH_DIVUI:
  case OP_ARITH_REMSI:
  case OP_ARITH_REMUI: return divide_integers(e, id, x, y);
  default: return NULL;
  }
}

static LLVMValueRef absolute_integer(struct strip_emitter *e, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef args[] = {x, LLVMConstInt(e->i1, 0, false)};
  return call_intrinsic(e, "llvm.abs", 1, &t, 2, args);
}

static LLVMValueRef high_product(struct strip_emitter *e, LLVMValueRef x, LLVMValueRef y) {
  unsigned width = LLVMGetIntTypeWidth(scalar_type(x));
  LLVMTypeRef wide = like(x, LLVMIntTypeInContext(e->llvm, 2 * width));
  LLVMValueRef product =
      LLVMBuildMul(e->b, LLVMBuildZExt(e->b, x, wide, ""), LLVMBuildZExt(e->b, y, wide, ""), "");
  LLVMValueRef shift =
      repeat(e, LLVMConstInt(LLVMIntTypeInContext(e->llvm, 2 * width), width, 0), lanes_of(x));
  return LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, product, shift, ""), LLVMTypeOf(x), "");
}

static LLVMValueRef compare_integers(struct strip_emitter *e, MlirOperation op, LLVMValueRef x,
                                     LLVMValueRef y) {
  static const LLVMIntPredicate predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT, LLVMIntSLE,
                                                LLVMIntSGT, LLVMIntSGE, LLVMIntULT, LLVMIntULE,
                                                LLVMIntUGT, LLVMIntUGE};
  size_t p = (size_t)op_attr_int(op, "predicate", 0);
  return p < COUNT_OF(predicates) ? LLVMBuildICmp(e->b, predicates[p], x, y, "") : NULL;
}

// ---- floats: f16, f32, f64 ----

static LLVMValueRef fusable(MlirOperation op, LLVMValueRef v) {
  if (LLVMIsAInstruction(v) && mlirAttributeIsNull(op_attr(op, "tile.unfused")))
    LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
  return v;
}

static LLVMValueRef compare_floats(struct strip_emitter *e, MlirOperation op, LLVMValueRef x,
                                   LLVMValueRef y) {
  LLVMRealPredicate p;
  return llvm_float_predicate(op_attr_int(op, "predicate", 0), &p)
             ? LLVMBuildFCmp(e->b, p, x, y, "")
             : NULL;
}

static LLVMValueRef clamp(struct strip_emitter *e, MlirOperation op, const LLVMValueRef *x) {
  bool nan = op_attr_bool(op, "propagate_nan");
  LLVMValueRef low[] = {x[0], x[1]};
  LLVMValueRef high[] = {plain_intrinsic(e, nan ? "llvm.maximum" : "llvm.maxnum", 2, low), x[2]};
  return plain_intrinsic(e, nan ? "llvm.minimum" : "llvm.minnum", 2, high);
}

// Functions that exist in f32 only; f64 has roots, quotients and remainders.
static LLVMValueRef function_of(struct strip_emitter *e, enum op_id id, const LLVMValueRef *x) {
  LLVMTypeRef t = LLVMTypeOf(x[0]);
  bool is_f32 = scalar_type(x[0]) == e->f32;
  switch (id) {
  case OP_ARITH_DIVF:
  case OP_TILE_PRECISE_DIVF: return LLVMBuildFDiv(e->b, x[0], x[1], "");
  case OP_ARITH_REMF: return LLVMBuildFRem(e->b, x[0], x[1], "");
  case OP_MATH_SQRT:
  case OP_TILE_PRECISE_SQRT: return plain_intrinsic(e, "llvm.sqrt", 1, x);
  case OP_MATH_RSQRT:
    return LLVMBuildFDiv(e->b, float_constant(t, 1), plain_intrinsic(e, "llvm.sqrt", 1, x), "");
  case OP_MATH_EXP2: return is_f32 ? exp2_of(e, x[0]) : NULL;
  case OP_MATH_LOG2: return is_f32 ? log2_of(e, x[0]) : NULL;
  case OP_MATH_TANH: return is_f32 ? tanh_of(e, x[0]) : NULL;
  default: return NULL;
  }
}

static LLVMValueRef float_op(struct strip_emitter *e, MlirOperation op, enum op_id id,
                             const LLVMValueRef *x) {
  switch (id) {
  case OP_ARITH_ADDF: return fusable(op, LLVMBuildFAdd(e->b, x[0], x[1], ""));
  case OP_ARITH_SUBF: return fusable(op, LLVMBuildFSub(e->b, x[0], x[1], ""));
  case OP_ARITH_MULF: return fusable(op, LLVMBuildFMul(e->b, x[0], x[1], ""));
  case OP_ARITH_NEGF: return LLVMBuildFNeg(e->b, x[0], "");
  case OP_ARITH_MAXNUMF: return plain_intrinsic(e, "llvm.maxnum", 2, x);
  case OP_ARITH_MINNUMF: return plain_intrinsic(e, "llvm.minnum", 2, x);
  case OP_ARITH_MAXIMUMF: return plain_intrinsic(e, "llvm.maximum", 2, x);
  case OP_ARITH_MINIMUMF: return plain_intrinsic(e, "llvm.minimum", 2, x);
  case OP_MATH_ABSF: return plain_intrinsic(e, "llvm.fabs", 1, x);
  case OP_MATH_CEIL: return plain_intrinsic(e, "llvm.ceil", 1, x);
  case OP_MATH_FLOOR: return plain_intrinsic(e, "llvm.floor", 1, x);
  case OP_MATH_ROUNDEVEN: return plain_intrinsic(e, "llvm.rint", 1, x);
  case OP_MATH_FMA: return plain_intrinsic(e, "llvm.fma", 3, x);
  case OP_TILE_CLAMPF: return clamp(e, op, x);
  default: return function_of(e, id, x);
  }
}

static bool is_function(enum op_id id) {
  switch (id) {
  case OP_ARITH_DIVF:
  case OP_ARITH_REMF:
  case OP_MATH_SQRT:
  case OP_MATH_RSQRT:
  case OP_MATH_EXP2:
  case OP_MATH_LOG2:
  case OP_MATH_TANH:
  case OP_TILE_PRECISE_DIVF:
  case OP_TILE_PRECISE_SQRT: return true;
  default: return false;
  }
}

// Signs and magnitudes of bf16 are bits.
static LLVMValueRef sign_op(struct strip_emitter *e, enum op_id id, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  return id == OP_ARITH_NEGF ? LLVMBuildXor(e->b, x, int_constant(t, 0x8000), "")
                             : LLVMBuildAnd(e->b, x, int_constant(t, 0x7fff), "");
}

static LLVMValueRef any_float_op(struct strip_emitter *e, MlirOperation op, enum op_id id,
                                 const LLVMValueRef *x) {
  enum dtype from = dtype_of(operand(op, 0)), to = dtype_of(result(op, 0));
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  bool is_narrow = from == DTYPE_BF16 || (from == DTYPE_F16 && is_function(id));
  if (!is_narrow)
    return from == DTYPE_F16 || from == DTYPE_F32 || from == DTYPE_F64
               ? id == OP_ARITH_CMPF ? compare_floats(e, op, x[0], x[1]) : float_op(e, op, id, x)
               : NULL;
  if (from == DTYPE_BF16 && (id == OP_ARITH_NEGF || id == OP_MATH_ABSF))
    return sign_op(e, id, x[0]);
  LLVMValueRef wide[3] = {NULL};
  for (unsigned i = 0; i < n && i < COUNT_OF(wide); i++)
    wide[i] = float_to_f32(e, x[i], from);
  if (id == OP_ARITH_CMPF)
    return compare_floats(e, op, wide[0], wide[1]);
  LLVMValueRef r = float_op(e, op, id, wide);
  return r ? float_from_f32(e, r, to) : NULL;
}

// ---- conversions ----

static LLVMValueRef int_to_float(struct strip_emitter *e, MlirOperation op, LLVMValueRef x,
                                 bool is_signed) {
  enum dtype to = dtype_of(result(op, 0));
  LLVMTypeRef t = register_type(e, element_type(mlirValueGetType(result(op, 0))));
  if (to == DTYPE_BF16)
    t = e->f32;
  if (to != DTYPE_BF16 && to != DTYPE_F16 && to != DTYPE_F32 && to != DTYPE_F64)
    return NULL;
  LLVMValueRef v = is_signed ? LLVMBuildSIToFP(e->b, x, like(x, t), "")
                             : LLVMBuildUIToFP(e->b, x, like(x, t), "");
  if (to != DTYPE_BF16)
    return v;
  if (LLVMGetIntTypeWidth(scalar_type(x)) > 8)
    return float_from_f32(e, v, to);
  LLVMValueRef bits = bits_of(e, v); // exact: bf16 has 8 bits of precision
  bits = LLVMBuildLShr(e->b, bits, int_constant(LLVMTypeOf(bits), 16), "");
  return LLVMBuildTrunc(e->b, bits, like(bits, e->i16), "");
}

// Out of range is poison in LLVM; a frozen value stays within its lane.
static LLVMValueRef float_to_int(struct strip_emitter *e, MlirOperation op, LLVMValueRef x,
                                 bool is_signed) {
  enum dtype from = dtype_of(operand(op, 0));
  LLVMTypeRef to = register_type(e, element_type(mlirValueGetType(result(op, 0))));
  if (from == DTYPE_BF16 || from == DTYPE_F16)
    x = float_to_f32(e, x, from);
  else if (from != DTYPE_F32 && from != DTYPE_F64)
    return NULL;
  bool is_narrow = LLVMGetIntTypeWidth(to) < 32;
  LLVMTypeRef made = like(x, is_narrow ? e->i32 : to);
  LLVMValueRef v = is_signed || is_narrow ? LLVMBuildFPToSI(e->b, x, made, "")
                                          : LLVMBuildFPToUI(e->b, x, made, "");
  v = LLVMBuildFreeze(e->b, v, "");
  return is_narrow ? LLVMBuildTrunc(e->b, v, like(x, to), "") : v;
}

static LLVMValueRef add_to_pointer(struct strip_emitter *e, MlirOperation op, LLVMValueRef ptr,
                                   LLVMValueRef offset) {
  MlirType pointee = ptr_pointee(e->c, element_type(mlirValueGetType(result(op, 0))));
  if (LLVMGetIntTypeWidth(scalar_type(offset)) < 64)
    offset = LLVMBuildSExt(e->b, offset, like(offset, e->i64), "");
  return LLVMBuildGEP2(e->b, storage_type(e, pointee), ptr, &offset, 1, "");
}

static LLVMValueRef convert(struct strip_emitter *e, MlirOperation op, enum op_id id,
                            const LLVMValueRef *x) {
  LLVMTypeRef element = register_type(e, element_type(mlirValueGetType(result(op, 0))));
  LLVMTypeRef to = like(x[0], element);
  switch (id) {
  case OP_ARITH_EXTSI: return LLVMBuildSExt(e->b, x[0], to, "");
  case OP_ARITH_EXTUI: return LLVMBuildZExt(e->b, x[0], to, "");
  case OP_ARITH_TRUNCI: return LLVMBuildTrunc(e->b, x[0], to, "");
  case OP_ARITH_SITOFP: return int_to_float(e, op, x[0], true);
  case OP_ARITH_UITOFP: return int_to_float(e, op, x[0], false);
  case OP_ARITH_FPTOSI: return float_to_int(e, op, x[0], true);
  case OP_ARITH_FPTOUI: return float_to_int(e, op, x[0], false);
  case OP_ARITH_EXTF:
  case OP_ARITH_TRUNCF:
  case OP_TILE_FP_TO_FP:
    return float_convert(e, op, x[0], dtype_of(operand(op, 0)), dtype_of(result(op, 0)));
  case OP_ARITH_BITCAST:
  case OP_TILE_BITCAST:
  case OP_TILE_INT_TO_PTR:
  case OP_TILE_PTR_TO_INT: return of_bits(e, bits_of(e, x[0]), element);
  default: return NULL;
  }
}

LLVMValueRef compute(struct strip_emitter *e, MlirOperation op, const LLVMValueRef *x) {
  enum op_id id = op_id(e->c, op);
  LLVMValueRef r = NULL;
  switch (id) {
  case OP_TILE_ADDPTR: r = add_to_pointer(e, op, x[0], x[1]); break;
  case OP_ARITH_SELECT: r = LLVMBuildSelect(e->b, x[0], x[1], x[2], ""); break;
  case OP_ARITH_CMPI: r = compare_integers(e, op, x[0], x[1]); break;
  case OP_MATH_ABSI: r = absolute_integer(e, x[0]); break;
  case OP_TILE_MULHIUI: r = high_product(e, x[0], x[1]); break;
  default:
    r = convert(e, op, id, x);
    if (!r && mlirOperationGetNumOperands(op) == 2)
      r = integer_binary(e, id, x[0], x[1]);
    if (!r && dtype_is_float(dtype_of(operand(op, 0))))
      r = any_float_op(e, op, id, x);
  }
  if (r)
    return r;
  refuse(e, op, "`%s` of `%s`", op_info(id)->name, dtype_name(dtype_of(operand(op, 0))));
  LLVMTypeRef t = register_type(e, element_type(mlirValueGetType(result(op, 0))));
  return LLVMGetUndef(like(x[0], t));
}
