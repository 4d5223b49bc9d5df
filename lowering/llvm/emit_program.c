// SPDX-License-Identifier: Apache-2.0
// Program ids, ranges and constants: the values a kernel starts from.
#include "lowering/llvm/emit.h"

bool emit_program(struct emitter *e, MlirOperation op) {
  struct emitted *r = result_of(e, op, 0);
  int64_t axis64 = op_attr_int(op, "axis", 0);
  int axis = axis64 >= 0 && axis64 <= 2 ? (int)axis64 : 0;
  switch (op_id(e->c, op)) {
  case OP_TILE_PROGRAM_ID: r->at[0] = e->target->hooks->program_id(e, axis); return true;
  case OP_TILE_NUM_PROGRAMS: r->at[0] = e->target->hooks->num_programs(e, axis); return true;
  default: break;
  }
  layout_indices(e, layout_of(e, result_type(op, 0)), 0, r->at);
  int64_t start = op_attr_int(op, "start", 0);
  for (unsigned i = 0; start != 0 && i < r->count; i++)
    r->at[i] = LLVMBuildAdd(e->b, r->at[i], const_i32(e, (uint32_t)start), "");
  return true;
}

// The constant as a value of its type; NULL when it is none we know.
static LLVMValueRef scalar_constant(struct emitter *e, MlirType type, MlirAttribute a) {
  LLVMTypeRef t = type_of_mlir(e, type);
  enum dtype dtype = dtype_of_mlir(type);
  if (mlirAttributeIsAInteger(a))
    return const_int(t, (uint64_t)mlirIntegerAttrGetValueInt(a));
  if (!mlirAttributeIsAFloat(a))
    return NULL;
  double v = mlirFloatAttrGetValueDouble(a);
  if (dtype == DTYPE_F8E5 || dtype == DTYPE_F8E4NV) {
    uint8_t bits;
    dtype_store(dtype, &bits, v);
    return const_int(t, bits);
  }
  return LLVMConstReal(t, v);
}

bool emit_constant(struct emitter *e, MlirOperation op) {
  struct emitted *r = result_of(e, op, 0);
  MlirAttribute a = op_attr(op, "value");
  if (mlirAttributeIsADenseElements(a)) {
    if (!mlirDenseElementsAttrIsSplat(a))
      return emit_unsupported(e, op, "a constant tile with different elements");
    a = mlirDenseElementsAttrGetSplatValue(a);
  }
  LLVMValueRef v = scalar_constant(e, element_type(result_type(op, 0)), a);
  if (!v)
    return emit_unsupported(e, op, "a constant that is neither an integer nor a float");
  for (unsigned i = 0; i < r->count; i++)
    r->at[i] = v;
  return true;
}
