// SPDX-License-Identifier: Apache-2.0
// The functions of reductions and scans.
#include "lowering/analysis/collective.h"
#include "lowering/processor/strips.h"

#include <math.h>

bool reduction_of(struct strip_emitter *e, MlirOperation op, struct reduction *ret) {
  struct combine_info info = combine_info_of(e->c, op);
  *ret = (struct reduction){
      .op = op, .function = info.function, .count = info.count, .commutative = info.commutative};
  if (mlirOperationIsNull(info.function) || info.count > MAX_VALUES) {
    refuse(e, op, "a reduction by an unknown function");
    return false;
  }
  for (unsigned i = 0; i < info.count; i++)
    ret->simple[i] = info.simple[i];
  return true;
}

static LLVMValueRef neutral_float(struct strip_emitter *e, enum op_id id, enum dtype dtype,
                                  LLVMTypeRef t) {
  double x;
  switch (id) {
  case OP_ARITH_ADDF: x = -0.0; break;
  case OP_ARITH_MULF: x = 1; break;
  case OP_ARITH_MAXNUMF:
  case OP_ARITH_MINNUMF: x = NAN; break;
  case OP_ARITH_MAXIMUMF: x = -INFINITY; break;
  case OP_ARITH_MINIMUMF: x = INFINITY; break;
  default: return NULL;
  }
  if (dtype == DTYPE_F16 || dtype == DTYPE_F32 || dtype == DTYPE_F64)
    return float_constant(t, x);
  if (dtype != DTYPE_BF16)
    return NULL;
  (void)e;
  return int_constant(t, bfloat_from_float((float)x));
}

LLVMValueRef neutral_element(struct strip_emitter *e, const struct reduction *r, unsigned i,
                             unsigned lanes) {
  MlirType element = element_type(mlirValueGetType(operand(r->op, i)));
  LLVMTypeRef scalar = register_type(e, element), t = vector_of(scalar, lanes);
  enum dtype dtype = dtype_of_mlir(element);
  for (unsigned k = 0; k < r->count; k++)
    if (r->simple[k] == OP_UNKNOWN)
      return NULL;
  if (dtype_is_float(dtype))
    return neutral_float(e, r->simple[i], dtype, t);
  unsigned width = LLVMGetTypeKind(scalar) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(scalar) : 0;
  if (!width)
    return NULL;
  uint64_t lowest = UINT64_C(1) << (width - 1);
  switch (r->simple[i]) {
  case OP_ARITH_ADDI:
  case OP_ARITH_ORI:
  case OP_ARITH_XORI:
  case OP_ARITH_MAXUI: return int_constant(t, 0);
  case OP_ARITH_MULI: return int_constant(t, 1);
  case OP_ARITH_ANDI:
  case OP_ARITH_MINUI: return int_constant(t, UINT64_MAX);
  case OP_ARITH_MAXSI: return int_constant(t, lowest);
  case OP_ARITH_MINSI: return int_constant(t, lowest - 1);
  default: return NULL;
  }
}

void combine(struct strip_emitter *e, const struct reduction *r, const LLVMValueRef *x,
             const LLVMValueRef *y, LLVMValueRef *ret) {
  LLVMValueRef args[2 * MAX_VALUES];
  memcpy(args, x, r->count * sizeof *args);
  memcpy(args + r->count, y, r->count * sizeof *args);
  LLVMValueRef made[MAX_VALUES];
  if (apply_function(e, r->function, args, made))
    memcpy(ret, made, r->count * sizeof *made);
}

LLVMValueRef half_of(struct strip_emitter *e, LLVMValueRef v, unsigned from) {
  LLVMValueRef picks[STRIP];
  unsigned n = lanes_of(v) / 2;
  if (n == 1)
    return LLVMBuildExtractElement(e->b, v, LLVMConstInt(e->i32, from, false), "");
  for (unsigned i = 0; i < n; i++)
    picks[i] = LLVMConstInt(e->i32, from + i, false);
  return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(picks, n),
                                "");
}

void combine_lanes(struct strip_emitter *e, const struct reduction *r, const LLVMValueRef *x,
                   LLVMValueRef *ret) {
  memcpy(ret, x, r->count * sizeof *x);
  while (lanes_of(ret[0]) > 1 && !e->refusal.why) {
    LLVMValueRef low[MAX_VALUES], high[MAX_VALUES];
    for (unsigned i = 0; i < r->count; i++) {
      low[i] = half_of(e, ret[i], 0);
      high[i] = half_of(e, ret[i], lanes_of(ret[i]) / 2);
    }
    combine(e, r, low, high, ret);
  }
}
