// SPDX-License-Identifier: Apache-2.0
// device_print, device_assert and the variables that debuggers see.
#include "lowering/llvm/emit.h"

// Values are printed as i64 or f64, pointers as their address.
static LLVMValueRef widened(struct emitter *e, LLVMValueRef x, enum dtype dtype, bool is_signed) {
  if (dtype != DTYPE_NONE && dtype_is_float(dtype))
    return convert_float(e, x, dtype, DTYPE_F64, false);
  LLVMValueRef bits = to_bits(e, x);
  if (LLVMTypeOf(bits) == e->i64)
    return bits;
  return is_signed && dtype != DTYPE_I1 ? LLVMBuildSExt(e->b, bits, e->i64, "")
                                        : LLVMBuildZExt(e->b, bits, e->i64, "");
}

static void print_value(struct emitter *e, MlirOperation op, unsigned i, bool is_signed) {
  MlirType type = operand_type(op, i);
  const struct linear_layout *l = layout_of(e, type);
  const struct emitted *x = operand_of(e, op, i);
  enum dtype dtype = dtype_of_mlir(element_type(type));
  struct print_record p = {
      .prefix =
          arena_strndup(e->arena, op_attr_str(op, "prefix").ptr, op_attr_str(op, "prefix").len),
      .rank = l ? l->out_count : 0,
      .is_float = dtype != DTYPE_NONE && dtype_is_float(dtype),
      .is_signed = is_signed,
      .hex = op_attr_bool(op, "hex") || dtype == DTYPE_NONE,
  };
  LLVMValueRef *indices = arena_array(e->arena, LLVMValueRef, x->count * (p.rank + 1));
  for (unsigned d = 0; d < p.rank; d++)
    layout_indices(e, l, (int)d, indices + d * x->count);
  if (l)
    layout_indices(e, l, -1, indices + p.rank * x->count);
  uint32_t copies = owner_registers(l);
  for (uint32_t r = 0; r < x->count; r++) {
    if (r & copies)
      continue;
    for (unsigned d = 0; d < p.rank; d++)
      p.coords[d] = indices[d * x->count + r];
    p.flat = l ? indices[p.rank * x->count + r] : const_i32(e, UINT32_MAX);
    p.value = widened(e, x->at[r], dtype, is_signed);
    e->target->hooks->print(e, &p);
  }
}

bool emit_print(struct emitter *e, MlirOperation op) {
  unsigned n = (unsigned)mlirOperationGetNumOperands(op);
  int32_t *is_signed = arena_array(e->arena, int32_t, n + 1);
  op_attr_i32_array(op, "is_signed", n, is_signed);
  for (unsigned i = 0; i < n; i++) {
    LLVMValueRef owner = owner_predicate(e, layout_of(e, operand_type(op, i)));
    struct branch br;
    if (owner)
      br = branch_begin(e, owner);
    print_value(e, op, i, is_signed[i] != 0);
    if (owner)
      branch_end(e, &br);
  }
  return true;
}

// Reported by one of the threads that hold the element; the report ends the launch for all.
bool emit_assert(struct emitter *e, MlirOperation op) {
  const struct emitted *x = operand_of(e, op, 0);
  LLVMValueRef all = x->at[0], owner = owner_predicate(e, layout_of(e, operand_type(op, 0)));
  for (unsigned r = 1; r < x->count; r++)
    if (x->at[r] != x->at[r - 1])
      all = LLVMBuildAnd(e->b, all, x->at[r], "");
  LLVMValueRef failed = LLVMBuildNot(e->b, all, "");
  if (owner)
    failed = LLVMBuildAnd(e->b, failed, owner, "");
  struct str message = op_attr_str(op, "message");
  struct branch br = branch_begin(e, failed);
  e->target->hooks->assert_fail(e, op, arena_strndup(e->arena, message.ptr, message.len));
  branch_end(e, &br);
  return true;
}

// The elements that this thread holds, in the order of its registers.
bool emit_debug_value(struct emitter *e, MlirOperation op) {
  MlirType type = operand_type(op, 0);
  const struct linear_layout *l = layout_of(e, type);
  const struct emitted *x = operand_of(e, op, 0);
  unsigned *registers, n = distinct_registers(e, l, &registers);
  LLVMTypeRef element = LLVMTypeOf(x->at[0]);
  bool is_bool = element == e->i1;
  int64_t shape[] = {n};
  element = is_bool ? e->i8 : element;
  LLVMValueRef at = debug_info_variable(e->debug, op, element, l != NULL, shape);
  for (unsigned i = 0; at && i < n; i++) {
    LLVMValueRef index = const_i32(e, i), v = x->at[registers[i]];
    v = is_bool ? LLVMBuildZExt(e->b, v, e->i8, "") : v;
    LLVMBuildStore(e->b, v, LLVMBuildGEP2(e->b, element, at, &index, 1, ""));
  }
  return true;
}
