// SPDX-License-Identifier: Apache-2.0
// tilegpu.warp_group_dot by wgmma (PTX ISA, "wgmma.mma_async"; warp_group_products.c), and the wait
// for products in flight.
//
// Targets without wgmma read both operands into registers and multiply as tile.dot does.
#include "lowering/analysis/buffer_access.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/llvm/warp_group.h"

// ---- without wgmma ----

// The operand in the register layout of mma.sync.
static bool read_operand(struct emitter *e, MlirOperation op, unsigned i, MlirType *ret_type,
                         struct emitted *ret) {
  MlirType type = operand_type(op, i);
  if (type_is_tensor(type)) {
    *ret_type = type;
    *ret = *operand_of(e, op, i);
    return true;
  }
  MlirType tile = memdesc_tile(e->c, type);
  unsigned k_width = 32 / type_bits(e->c, element_type(tile));
  *ret_type = type_with_encoding(
      tile, layout_dot_operand(e->c, tensor_encoding(operand_type(op, 2)), i, k_width));
  const struct linear_layout *l = layout_of(e, *ret_type);
  struct exchange_side side;
  if (!l || !buffer_read_side(e->c, e->target, *ret_type, type, &side))
    return false;
  ret->count = register_count(l);
  ret->at = arena_array(e->arena, LLVMValueRef, ret->count);
  buffer_load(e, &side, type_of_mlir(e, element_type(tile)), operand_of(e, op, i)->at[0], ret->at);
  return true;
}

static bool multiply_in_registers(struct emitter *e, MlirOperation op) {
  struct emitted x[2] = {0};
  MlirType types[2];
  for (unsigned i = 0; i < 2; i++)
    if (!read_operand(e, op, i, &types[i], &x[i]))
      return emit_unsupported(e, op, "a buffer whose layout does not fit its tile");
  return emit_dot_of(e, op, types, x);
}

bool emit_warp_group_dot(struct emitter *e, MlirOperation op) {
  if (!warp_group_fits(e, op))
    return false;
  if (!e->target->has_wgmma)
    return multiply_in_registers(e, op);
  MlirType acc = operand_type(op, 2), a = warp_group_tile(e, op, 0);
  MlirType b = warp_group_tile(e, op, 1);
  struct warp_group_product p = {
      .op = op,
      .mma = encoding_of_attr(e->c, tensor_encoding(acc)),
      .dtype = {dtype_of_mlir(element_type(a)), dtype_of_mlir(element_type(b))},
      .acc_dtype = dtype_of_mlir(element_type(acc)),
      .k = (uint32_t)tensor_dim(b, 0)};
  p.promoted_every = (uint32_t)op_attr_int(op, "promoted_every", 0);
  p.n = p.mma->mma.instr_shape[1];
  p.k_step = p.mma->mma.instr_shape[2];
  p.groups[0] = p.mma->mma.warps_per_cta[0] / WGMMA_WARPS;
  p.groups[1] = p.mma->mma.warps_per_cta[1];
  p.row_tiles = (unsigned)tensor_dim(acc, 0) / (WGMMA_M * p.groups[0]);
  p.column_tiles = (unsigned)tensor_dim(acc, 1) / (p.n * p.groups[1]);
  p.a_in_registers = type_is_tensor(operand_type(op, 0));
  if (!p.a_in_registers)
    warp_group_describe(e, &p, 0);
  warp_group_describe(e, &p, 1);
  e->uses_collectives = true;
  warp_group_multiply(e, &p);
  return true;
}

// ptxas moves what the program computes in front of a wait behind it, unless an access to memory
// needs the result: a store that no thread executes, since every grid has a program.
static unsigned pin(struct emitter *e, MlirOperation op, unsigned i, unsigned first,
                    struct strbuf *text, struct strbuf *constraints, LLVMValueRef *args) {
  const struct emitted *x = operand_of(e, op, i);
  bool is_float = dtype_of_mlir(element_type(operand_type(op, i))) == DTYPE_F32;
  for (unsigned k = 0; k < x->count; k++) {
    args[k] = x->at[k];
    strbuf_puts(constraints, is_float ? ",f" : ",r");
    strbuf_printf(text, "@never st.shared.%s [programs], $%u;\n", is_float ? "f32" : "b32", first + k);
  }
  return x->count;
}

// The accumulators pass through the wait, so that nothing reads them before it.
bool emit_warp_group_dot_wait(struct emitter *e, MlirOperation op) {
  const struct emitted *acc = operand_of(e, op, 0);
  struct emitted *ret = result_of(e, op, 0);
  enum dtype t = dtype_of_mlir(element_type(operand_type(op, 0)));
  if (t != DTYPE_F32 && t != DTYPE_I32)
    return emit_unsupported(e, op, "an accumulator of less than 32 bits in flight");
  if (!e->target->has_wgmma) {
    memcpy(ret->at, acc->at, acc->count * sizeof *acc->at);
    return true;
  }
  struct strbuf constraints = {.arena = e->arena}, text = {.arena = e->arena};
  LLVMTypeRef result = warp_group_tie(e, acc->count, t == DTYPE_F32, &constraints);
  unsigned most = 0, count = acc->count, n = (unsigned)mlirOperationGetNumOperands(op);
  for (unsigned i = 0; i < n; i++)
    most += operand_of(e, op, i)->count;
  LLVMValueRef *args = arena_array(e->arena, LLVMValueRef, most);
  memcpy(args, acc->at, acc->count * sizeof *args);
  if (n > 1)
    strbuf_puts(&text, "{\n.reg .pred never;\n.reg .b32 programs;\n"
                       "mov.u32 programs, %nctaid.x;\nsetp.eq.u32 never, programs, 0;\n");
  for (unsigned i = 1; i < n; i++)
    count += pin(e, op, i, acc->count + count, &text, &constraints, args + count);
  strbuf_printf(&text, "wgmma.wait_group.sync.aligned %d;%s", (int)op_attr_int(op, "pending", 0),
                n > 1 ? "\n}" : "");
  LLVMValueRef words = e->target->hooks->warp_group_asm(
      e, strbuf_cstr(&text), strbuf_cstr(&constraints), result, args, count);
  for (unsigned i = 0; i < acc->count; i++)
    ret->at[i] = LLVMBuildExtractValue(e->b, words, i, "");
  return true;
}
