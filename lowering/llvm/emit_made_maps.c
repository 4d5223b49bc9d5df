// SPDX-License-Identifier: Apache-2.0
// Tensor maps that the kernel makes (mlir-dialects/rings.h), by the first thread of the producer.
#include "lowering/llvm/emit.h"
#include "mlir-dialects/rings.h"

// The address of the first map in the buffer, which has room to align it.
static LLVMValueRef words_of(struct emitter *e, MlirOperation op) {
  LLVMValueRef base = LLVMBuildPtrToInt(e->b, e->target->hooks->shared_base(e), e->i32, "");
  LLVMValueRef at = LLVMBuildAdd(e->b, base, operand_of(e, op, 0)->at[0], "");
  at = LLVMBuildAdd(e->b, at, const_i32(e, KERNEL_MAP_BYTES - 1), "");
  return LLVMBuildAnd(e->b, at, const_i32(e, ~(uint32_t)(KERNEL_MAP_BYTES - 1)), "");
}

// An empty tensor has size 1, as in maps that the launch makes.
static LLVMValueRef size_of(struct emitter *e, LLVMValueRef size) {
  LLVMValueRef one = const_int(e->i64, 1);
  LLVMValueRef empty = LLVMBuildICmp(e->b, LLVMIntSLT, size, one, "");
  return LLVMBuildSelect(e->b, empty, one, size, "");
}

static void make(struct emitter *e, MlirOperation op) {
  struct made_map m = {.number = (uint32_t)op_attr_int(op, "map", 0),
                       .joins = !mlirAttributeIsNull(op_attr(op, "joins")),
                       .words = words_of(e, op)};
  const struct kernel_map *map = &e->map_shapes[m.number];
  LLVMValueRef bytes = const_int(e->i64, dtype_bytes(map->dtype));
  m.base = LLVMBuildPtrToInt(e->b, operand_of(e, op, 1)->at[0], e->i64, "");
  for (uint32_t i = 0; i < map->rank; i++)
    m.sizes[i] = size_of(e, operand_of(e, op, 2 + (intptr_t)i)->at[0]);
  for (uint32_t i = 0; i + 1 < map->rank; i++) {
    LLVMValueRef stride = operand_of(e, op, 2 + (intptr_t)map->rank + (intptr_t)i)->at[0];
    m.strides[i] = LLVMBuildMul(e->b, stride, bytes, "");
  }
  e->target->hooks->map_make(e, &m);
}

bool emit_made_maps(struct emitter *e, MlirOperation op) {
  if (!e->target->has_tma)
    return emit_unsupported(e, op, "this target has no TMA");
  e->uses_collectives = true;
  switch (op_id(e->c, op)) {
  case OP_GPU_MAPS_OPEN: e->target->hooks->maps_open(e, words_of(e, op)); break;
  case OP_GPU_MAP_MAKE: make(e, op); break;
  default: e->target->hooks->maps_close(e); break;
  }
  return true;
}
