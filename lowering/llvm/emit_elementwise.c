// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: one scalar lowering an op, looked up by op id and applied to each
// register. The layouts of operands and result are equal, so that registers correspond.
#include "lowering/analysis/axis_info.h"
#include "lowering/llvm/emit.h"
#include "lowering/llvm/opcodes.h"

typedef LLVMValueRef (*scalar_fn)(struct emitter *e, MlirOperation op, const LLVMValueRef *x);

// ---- integers ----

#define INT_BINARY(name, build)                                                                    \
  static LLVMValueRef name(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {           \
    (void)op;                                                                                      \
    return build(e->b, x[0], x[1], "");                                                            \
  }
INT_BINARY(addi, LLVMBuildAdd)
INT_BINARY(subi, LLVMBuildSub)
INT_BINARY(muli, LLVMBuildMul)
INT_BINARY(andi, LLVMBuildAnd)
INT_BINARY(ori, LLVMBuildOr)
INT_BINARY(xori, LLVMBuildXor)
INT_BINARY(shli, LLVMBuildShl)
INT_BINARY(shrsi, LLVMBuildAShr)
INT_BINARY(shrui, LLVMBuildLShr)

// Division by zero, and the signed quotient that overflows, give a number on GPUs and trap on most
// CPUs: the CPU divides by 1 instead. Zero divisors then give -1, as on GPUs.
static LLVMValueRef divide(struct emitter *e, LLVMOpcode opcode, const LLVMValueRef *x) {
  if (!e->target->is_cpu)
    return LLVMBuildBinOp(e->b, opcode, x[0], x[1], "");
  LLVMTypeRef t = LLVMTypeOf(x[0]);
  unsigned width = LLVMGetIntTypeWidth(t);
  LLVMValueRef zero = LLVMBuildICmp(e->b, LLVMIntEQ, x[1], const_int(t, 0), ""), bad = zero;
  if (opcode == LLVMSDiv || opcode == LLVMSRem) {
    LLVMValueRef lowest = const_int(t, UINT64_C(1) << (width - 1));
    LLVMValueRef overflow =
        LLVMBuildAnd(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, x[0], lowest, ""),
                     LLVMBuildICmp(e->b, LLVMIntEQ, x[1], const_int(t, UINT64_MAX), ""), "");
    bad = LLVMBuildOr(e->b, zero, overflow, "");
  }
  LLVMValueRef safe = LLVMBuildSelect(e->b, bad, const_int(t, 1), x[1], "");
  LLVMValueRef r = LLVMBuildBinOp(e->b, opcode, x[0], safe, "");
  LLVMValueRef of_zero = opcode == LLVMSDiv || opcode == LLVMUDiv ? const_int(t, UINT64_MAX) : x[0];
  return LLVMBuildSelect(e->b, zero, of_zero, r, "");
}

#define INT_DIVISION(name, opcode)                                                                 \
  static LLVMValueRef name(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {           \
    (void)op;                                                                                      \
    return divide(e, opcode, x);                                                                   \
  }
INT_DIVISION(divsi, LLVMSDiv)
INT_DIVISION(divui, LLVMUDiv)
INT_DIVISION(remsi, LLVMSRem)
INT_DIVISION(remui, LLVMURem)

#define OVERLOADED(fn, name, n)                                                                    \
  static LLVMValueRef fn(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {             \
    (void)op;                                                                                      \
    LLVMTypeRef t = LLVMTypeOf(x[0]);                                                              \
    LLVMValueRef args[3];                                                                          \
    memcpy(args, x, (n) * sizeof *args);                                                           \
    return intrinsic(e, name, 1, &t, n, args);                                                     \
  }
OVERLOADED(maxsi, "llvm.smax", 2)
OVERLOADED(maxui, "llvm.umax", 2)
OVERLOADED(minsi, "llvm.smin", 2)
OVERLOADED(minui, "llvm.umin", 2)

static LLVMValueRef absi(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  (void)op;
  LLVMTypeRef t = LLVMTypeOf(x[0]);
  LLVMValueRef args[] = {x[0], const_int(e->i1, 0)};
  return intrinsic(e, "llvm.abs", 1, &t, 2, args);
}

static LLVMValueRef mulhiui(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  (void)op;
  LLVMTypeRef t = LLVMTypeOf(x[0]);
  unsigned width = LLVMGetIntTypeWidth(t);
  LLVMTypeRef wide = LLVMIntTypeInContext(e->llvm, 2 * width);
  LLVMValueRef product = LLVMBuildMul(e->b, LLVMBuildZExt(e->b, x[0], wide, ""),
                                      LLVMBuildZExt(e->b, x[1], wide, ""), "");
  LLVMValueRef high = LLVMBuildLShr(e->b, product, LLVMConstInt(wide, width, false), "");
  return LLVMBuildTrunc(e->b, high, t, "");
}

// MLIR numbers its predicates in LLVM's order, from another base.
static LLVMValueRef cmpi(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  static const LLVMIntPredicate predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT, LLVMIntSLE,
                                                LLVMIntSGT, LLVMIntSGE, LLVMIntULT, LLVMIntULE,
                                                LLVMIntUGT, LLVMIntUGE};
  size_t p = (size_t)op_attr_int(op, "predicate", 0);
  return p < COUNT_OF(predicates) ? LLVMBuildICmp(e->b, predicates[p], x[0], x[1], "") : NULL;
}

// ---- floats ----

static LLVMValueRef fusable(struct emitter *e, MlirOperation op, LLVMValueRef v) {
  if (LLVMIsAInstruction(v) && may_fuse(e, op))
    LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
  return v;
}

#define FLOAT_BINARY(name, build)                                                                  \
  static LLVMValueRef name(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {           \
    return fusable(e, op, build(e->b, x[0], x[1], ""));                                            \
  }
FLOAT_BINARY(addf, LLVMBuildFAdd)
FLOAT_BINARY(subf, LLVMBuildFSub)
FLOAT_BINARY(mulf, LLVMBuildFMul)
OVERLOADED(maxnumf, "llvm.maxnum", 2)
OVERLOADED(minnumf, "llvm.minnum", 2)
OVERLOADED(maximumf, "llvm.maximum", 2)
OVERLOADED(minimumf, "llvm.minimum", 2)
OVERLOADED(absf, "llvm.fabs", 1)
OVERLOADED(ceilf_, "llvm.ceil", 1)
OVERLOADED(floorf_, "llvm.floor", 1)
OVERLOADED(rintf_, "llvm.rint", 1)
OVERLOADED(fmaf_, "llvm.fma", 3)

static LLVMValueRef negf(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  (void)op;
  return LLVMBuildFNeg(e->b, x[0], "");
}

static LLVMValueRef cmpf(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  LLVMRealPredicate p;
  return llvm_float_predicate(op_attr_int(op, "predicate", 0), &p)
             ? LLVMBuildFCmp(e->b, p, x[0], x[1], "")
             : NULL;
}

static LLVMValueRef clampf(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  bool nan = op_attr_bool(op, "propagate_nan");
  LLVMTypeRef t = LLVMTypeOf(x[0]);
  LLVMValueRef low[] = {x[0], x[1]};
  LLVMValueRef high[] = {intrinsic(e, nan ? "llvm.maximum" : "llvm.maxnum", 1, &t, 2, low), x[2]};
  return intrinsic(e, nan ? "llvm.minimum" : "llvm.minnum", 1, &t, 2, high);
}

// ---- conversions ----

#define CAST(name, build)                                                                          \
  static LLVMValueRef name(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {           \
    return build(e->b, x[0], type_of_mlir(e, element_type(result_type(op, 0))), "");               \
  }
CAST(extsi, LLVMBuildSExt)
CAST(extui, LLVMBuildZExt)
CAST(trunci, LLVMBuildTrunc)
CAST(sitofp, LLVMBuildSIToFP)
CAST(uitofp, LLVMBuildUIToFP)

// Out of range is poison in LLVM. Freeze and truncation keep it within its element: 8-bit results
// are in 16-bit registers (cvt.rzi.u16), and several share a word.
static LLVMValueRef float_to_int(struct emitter *e, MlirOperation op, const LLVMValueRef *x,
                                 LLVMOpcode opcode) {
  LLVMTypeRef to = type_of_mlir(e, element_type(result_type(op, 0)));
  unsigned bits = LLVMGetIntTypeWidth(to);
  LLVMTypeRef made = bits < 16 ? LLVMInt16TypeInContext(e->llvm) : to;
  LLVMValueRef v = LLVMBuildCast(e->b, opcode, x[0], made, "");
  if (bits <= 16)
    v = LLVMBuildFreeze(e->b, v, "");
  return bits < 16 ? LLVMBuildTrunc(e->b, v, to, "") : v;
}

static LLVMValueRef fptosi(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  return float_to_int(e, op, x, LLVMFPToSI);
}

static LLVMValueRef fptoui(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  return float_to_int(e, op, x, LLVMFPToUI);
}

static LLVMValueRef float_to_float(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  return convert_float(e, x[0], dtype_of_mlir(element_type(operand_type(op, 0))),
                       dtype_of_mlir(element_type(result_type(op, 0))),
                       str_is(op_attr_str(op, "rounding"), "rtz"));
}

static LLVMValueRef bitcast(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  LLVMTypeRef to = type_of_mlir(e, element_type(result_type(op, 0)));
  if (LLVMTypeOf(x[0]) == to)
    return x[0];
  return from_bits(e, to_bits(e, x[0]), to);
}

static LLVMValueRef select_(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  (void)op;
  return LLVMBuildSelect(e->b, x[0], x[1], x[2], "");
}

// ---- pointers ----

static LLVMValueRef addptr(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  MlirType pointee = ptr_pointee(e->c, element_type(result_type(op, 0)));
  LLVMTypeRef t = type_of_mlir(e, pointee), offset = LLVMTypeOf(x[1]);
  LLVMValueRef index = x[1];
  if (LLVMGetIntTypeWidth(offset) < 64)
    index = LLVMBuildSExt(e->b, index, e->i64, "");
  return LLVMBuildGEP2(e->b, t == e->i1 ? e->i8 : t, x[0], &index, 1, "");
}

static LLVMValueRef int_to_ptr(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  (void)op;
  return LLVMBuildIntToPtr(e->b, x[0], e->ptr, "");
}

static LLVMValueRef ptr_to_int(struct emitter *e, MlirOperation op, const LLVMValueRef *x) {
  (void)op;
  return LLVMBuildPtrToInt(e->b, x[0], e->i64, "");
}

// ---- the table ----

// fp8 values are bytes to LLVM: most float operations must not see them.
struct lowering {
  scalar_fn fn;
  bool takes_fp8;
};

static const struct lowering lowerings[OP_ID_COUNT] = {
    [OP_TILE_ADDPTR] = {addptr, true},
    [OP_TILE_BITCAST] = {bitcast, true},
    [OP_TILE_INT_TO_PTR] = {int_to_ptr, true},
    [OP_TILE_PTR_TO_INT] = {ptr_to_int, true},
    [OP_TILE_FP_TO_FP] = {float_to_float, true},
    [OP_TILE_CLAMPF] = {clampf, false},
    [OP_TILE_MULHIUI] = {mulhiui, true},
    [OP_TILE_PRECISE_SQRT] = {emit_math, false},
    [OP_TILE_PRECISE_DIVF] = {emit_math, false},
    [OP_ARITH_ADDI] = {addi, true},
    [OP_ARITH_SUBI] = {subi, true},
    [OP_ARITH_MULI] = {muli, true},
    [OP_ARITH_DIVSI] = {divsi, true},
    [OP_ARITH_DIVUI] = {divui, true},
    [OP_ARITH_REMSI] = {remsi, true},
    [OP_ARITH_REMUI] = {remui, true},
    [OP_ARITH_ANDI] = {andi, true},
    [OP_ARITH_ORI] = {ori, true},
    [OP_ARITH_XORI] = {xori, true},
    [OP_ARITH_SHLI] = {shli, true},
    [OP_ARITH_SHRSI] = {shrsi, true},
    [OP_ARITH_SHRUI] = {shrui, true},
    [OP_ARITH_MAXSI] = {maxsi, true},
    [OP_ARITH_MAXUI] = {maxui, true},
    [OP_ARITH_MINSI] = {minsi, true},
    [OP_ARITH_MINUI] = {minui, true},
    [OP_ARITH_ADDF] = {addf, false},
    [OP_ARITH_SUBF] = {subf, false},
    [OP_ARITH_MULF] = {mulf, false},
    [OP_ARITH_DIVF] = {emit_math, false},
    [OP_ARITH_REMF] = {emit_math, false},
    [OP_ARITH_NEGF] = {negf, false},
    [OP_ARITH_MAXNUMF] = {maxnumf, false},
    [OP_ARITH_MINNUMF] = {minnumf, false},
    [OP_ARITH_MAXIMUMF] = {maximumf, false},
    [OP_ARITH_MINIMUMF] = {minimumf, false},
    [OP_ARITH_CMPI] = {cmpi, true},
    [OP_ARITH_CMPF] = {cmpf, false},
    [OP_ARITH_SELECT] = {select_, true},
    [OP_ARITH_EXTSI] = {extsi, true},
    [OP_ARITH_EXTUI] = {extui, true},
    [OP_ARITH_TRUNCI] = {trunci, true},
    [OP_ARITH_EXTF] = {float_to_float, true},
    [OP_ARITH_TRUNCF] = {float_to_float, true},
    [OP_ARITH_SITOFP] = {sitofp, false},
    [OP_ARITH_UITOFP] = {uitofp, false},
    [OP_ARITH_FPTOSI] = {fptosi, false},
    [OP_ARITH_FPTOUI] = {fptoui, false},
    [OP_ARITH_BITCAST] = {bitcast, true},
    [OP_MATH_ABSF] = {absf, false},
    [OP_MATH_ABSI] = {absi, true},
    [OP_MATH_CEIL] = {ceilf_, false},
    [OP_MATH_FLOOR] = {floorf_, false},
    [OP_MATH_ROUNDEVEN] = {rintf_, false},
    [OP_MATH_EXP2] = {emit_math, false},
    [OP_MATH_LOG2] = {emit_math, false},
    [OP_MATH_SQRT] = {emit_math, false},
    [OP_MATH_RSQRT] = {emit_math, false},
    [OP_MATH_TANH] = {emit_math, false},
    [OP_MATH_FMA] = {fmaf_, false},
};

enum { MAX_OPERANDS = 3 };

static bool is_fp8(MlirType t) {
  enum dtype d = dtype_of_mlir(element_type(t));
  return d == DTYPE_F8E5 || d == DTYPE_F8E4NV;
}

static bool operands_repeat(const struct emitted *const *x, unsigned n, unsigned r) {
  for (unsigned i = 0; i < n; i++)
    if (x[i]->at[r] != x[i]->at[0])
      return false;
  return true;
}

// Register bits that stay within groups of elements known to be equal: a mask `column < n` is the
// same for neighbours if n is divisible enough, so it is computed once for all of them.
static uint32_t equal_registers(struct emitter *e, MlirOperation op,
                                const struct linear_layout *l) {
  const struct axis_info *info = axis_info_of(e->axis, mlirOperationGetResult(op, 0));
  int at = l ? ll_find_in(l, LL_REGISTER) : -1;
  uint32_t mask = 0;
  for (unsigned b = 0; at >= 0 && b < l->in_bits[at]; b++) {
    bool equal = info->rank == l->out_count;
    for (unsigned d = 0; equal && d < l->out_count; d++)
      equal = l->basis[at][b][d] == 0 || l->basis[at][b][d] < info->constancy[d];
    mask |= equal ? 1u << b : 0;
  }
  return mask;
}

// One op while it is emitted.
struct elementwise {
  MlirOperation op;
  const char *name;
  const struct lowering *l;
  unsigned n; // operands
  const struct emitted *x[MAX_OPERANDS];
  struct emitted *ret;
  enum pairing pairing;
};

// arith.select may take one condition for all.
static LLVMValueRef operand_at(const struct elementwise *w, unsigned i, unsigned r) {
  return w->x[i]->at[w->x[i]->count == 1 ? 0 : r];
}

static bool emit_one(struct emitter *e, const struct elementwise *w, unsigned r) {
  LLVMValueRef args[MAX_OPERANDS];
  for (unsigned i = 0; i < w->n; i++)
    args[i] = operand_at(w, i, r);
  w->ret->at[r] = w->l->fn(e, w->op, args);
  return w->ret->at[r] ||
         emit_unsupported(e, w->op, "`%s` of `%s` has no lowering on `%s`", w->name,
                          dtype_name(dtype_of_mlir(element_type(operand_type(w->op, 0)))),
                          e->target->name);
}

static bool emit_two(struct emitter *e, const struct elementwise *w, unsigned r, unsigned s) {
  if (w->pairing == PAIRS_CONVERT) {
    const LLVMValueRef x[] = {operand_at(w, 0, r), operand_at(w, 0, s)};
    LLVMValueRef both_of[2];
    convert_float_pair(e, x, dtype_of_mlir(element_type(operand_type(w->op, 0))),
                       dtype_of_mlir(element_type(result_type(w->op, 0))), both_of);
    w->ret->at[r] = both_of[0];
    w->ret->at[s] = both_of[1];
    return true;
  }
  LLVMValueRef args[MAX_OPERANDS];
  for (unsigned i = 0; i < w->n; i++)
    args[i] = pair_of(e, operand_at(w, i, r), operand_at(w, i, s));
  LLVMValueRef v = w->l->fn(e, w->op, args);
  w->ret->at[r] = LLVMBuildExtractElement(e->b, v, const_i32(e, 0), "");
  w->ret->at[s] = LLVMBuildExtractElement(e->b, v, const_i32(e, 1), "");
  return true;
}

// All registers except replicas; in pairs where the op takes pairs.
static bool emit_registers(struct emitter *e, const struct elementwise *w, uint32_t replicas) {
  const unsigned none = UINT32_MAX;
  unsigned waiting = none;
  for (unsigned r = 0; r < w->ret->count; r++) {
    if (r & replicas)
      continue;
    bool splat = r > 0 && w->x[0]->count == w->ret->count && operands_repeat(w->x, w->n, r);
    if (splat && waiting == 0) {
      if (!emit_one(e, w, 0))
        return false;
      waiting = none;
    }
    if (splat)
      w->ret->at[r] = w->ret->at[0];
    else if (w->pairing != PAIRS_NEVER && waiting == none)
      waiting = r;
    else if (!(waiting == none ? emit_one(e, w, r) : emit_two(e, w, waiting, r)))
      return false;
    else
      waiting = none;
  }
  return waiting == none || emit_one(e, w, waiting);
}

// Four registers at a time, which are bytes of a word. False: it has to be one by one.
static bool emit_bytes(struct emitter *e, const struct elementwise *w, uint32_t replicas) {
  enum { BYTES = 4 };
  LLVMValueRef x[MAX_OPERANDS][BYTES];
  if (e->target->is_cpu || !type_is_tensor(result_type(w->op, 0)) || w->ret->count % BYTES ||
      replicas || type_bits(e->c, element_type(operand_type(w->op, 0))) != 8)
    return false;
  for (unsigned r = 0; r < w->ret->count; r += BYTES) {
    for (unsigned i = 0; i < w->n; i++)
      for (unsigned k = 0; k < BYTES; k++)
        x[i][k] = operand_at(w, i, r + k);
    if (!compute_bytes(e, w->op, x[0], x[1], w->ret->at + r))
      return false;
  }
  return true;
}

bool emit_elementwise(struct emitter *e, MlirOperation op) {
  enum op_id id = op_id(e->c, op);
  struct elementwise w = {.op = op,
                          .name = op_info(id)->name,
                          .l = &lowerings[id],
                          .n = (unsigned)mlirOperationGetNumOperands(op)};
  if (!w.l->fn || w.n == 0 || w.n > MAX_OPERANDS)
    return emit_unsupported(e, op, "`%s` has no lowering", w.name);
  for (unsigned i = 0; i < w.n; i++) {
    if (!w.l->takes_fp8 && is_fp8(operand_type(op, i)))
      return emit_unsupported(e, op, "`%s` of 8-bit floats: convert them first", w.name);
    w.x[i] = operand_of(e, op, i);
  }
  if (!w.l->takes_fp8 && is_fp8(result_type(op, 0)))
    return emit_unsupported(e, op, "`%s` to 8-bit floats: use `tile.fp_to_fp`", w.name);
  w.ret = result_of(e, op, 0);
  w.pairing = pairing_of(e, op);
  uint32_t replicas = equal_registers(e, op, layout_of(e, result_type(op, 0)));
  if (!emit_bytes(e, &w, replicas) && !emit_registers(e, &w, replicas))
    return false;
  for (unsigned r = 0; r < w.ret->count; r++)
    w.ret->at[r] = w.ret->at[r & ~replicas];
  return true;
}
