// SPDX-License-Identifier: Apache-2.0
// What wgmma can compute: types, layouts of accumulators, operands that a descriptor or the
// registers of A can express (PTX ISA, "wgmma.mma_async").
#include "layouts/encoding.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/llvm/warp_group.h"

enum { LEAST_SWIZZLE = 32 };

MlirType warp_group_tile(struct emitter *e, MlirOperation op, unsigned i) {
  MlirType t = operand_type(op, i);
  return type_is_memdesc(e->c, t) ? memdesc_tile(e->c, t) : t;
}

// The accumulator: 64 rows a warpgroup at least, tiles of one instruction, all warps.
static bool accumulator_fits(struct emitter *e, MlirType type) {
  const struct encoding *x = encoding_of_attr(e->c, tensor_encoding(type));
  if (!x || x->kind != ENC_MMA || x->mma.version != 3 || x->rank != 2)
    return false;
  const uint32_t *warps = x->mma.warps_per_cta;
  return warps[0] * warps[1] == e->num_warps &&
         tensor_dim(type, 0) % (WGMMA_M / WGMMA_WARPS * warps[0]) == 0 &&
         tensor_dim(type, 1) % (x->mma.instr_shape[1] * warps[1]) == 0;
}

static unsigned element_bits_of(struct emitter *e, MlirType tile) {
  return type_bits(e->c, element_type(tile));
}

static bool buffer_fits(struct emitter *e, MlirType acc, MlirType tile, unsigned i) {
  const struct encoding *x = encoding_of_attr(e->c, tensor_encoding(tile));
  const struct encoding *mma = encoding_of_attr(e->c, tensor_encoding(acc));
  if (!x || x->kind != ENC_NVMMA_SHARED || x->nvmma.swizzle < LEAST_SWIZZLE ||
      x->nvmma.element_bits != element_bits_of(e, tile) || !layout_of(e, tile))
    return false;
  bool k_is_inner = (x->nvmma.transposed ? 0u : 1u) == (i == 0 ? 1u : 0u);
  uint32_t strip = x->nvmma.swizzle / 2, outer = i == 0 ? WGMMA_M : mma->mma.instr_shape[1];
  if (!k_is_inner && x->nvmma.element_bits != 16)
    return false;
  return k_is_inner || outer % strip == 0; // a warpgroup begins with a strip
}

static bool operand_fits(struct emitter *e, MlirOperation op, unsigned i) {
  MlirType type = operand_type(op, i), acc = operand_type(op, 2);
  if (type_is_memdesc(e->c, type))
    return buffer_fits(e, acc, memdesc_tile(e->c, type), i);
  unsigned k_width = 32 / element_bits_of(e, type);
  return i == 0 && mlirAttributeEqual(tensor_encoding(type),
                                      layout_dot_operand(e->c, tensor_encoding(acc), 0, k_width));
}

static bool is_fp8(enum dtype t) { return t == DTYPE_F8E5 || t == DTYPE_F8E4NV; }

static bool has_instruction(enum dtype a, enum dtype b, enum dtype acc) {
  if (is_fp8(a) && is_fp8(b))
    return acc == DTYPE_F16 || acc == DTYPE_F32;
  if (a != b)
    return false;
  switch (a) {
  case DTYPE_F16: return acc == DTYPE_F16 || acc == DTYPE_F32;
  case DTYPE_BF16:
  case DTYPE_F32: return acc == DTYPE_F32;
  case DTYPE_I8: return acc == DTYPE_I32;
  default: return false;
  }
}

static bool types_fit(struct emitter *e, MlirOperation op, MlirType a, MlirType b) {
  MlirType sum = operand_type(op, 2);
  enum dtype x = dtype_of_mlir(element_type(a)), y = dtype_of_mlir(element_type(b));
  const struct encoding *mma = encoding_of_attr(e->c, tensor_encoding(sum));
  if (!has_instruction(x, y, dtype_of_mlir(element_type(sum))))
    return false;
  uint32_t k_step = WGMMA_K_BYTES / dtype_bytes(x);
  return mma->mma.instr_shape[2] == k_step && tensor_dim(b, 0) % k_step == 0 &&
         op_attr_int(op, "promoted_every", 0) % k_step == 0;
}

// The IR may be hand-written.
bool warp_group_fits(struct emitter *e, MlirOperation op) {
  if (!accumulator_fits(e, operand_type(op, 2)))
    return emit_unsupported(e, op, "an accumulator without a layout of wgmma for all warps");
  if (!types_fit(e, op, warp_group_tile(e, op, 0), warp_group_tile(e, op, 1)))
    return emit_unsupported(e, op, "types or a K that wgmma is not used for");
  for (unsigned i = 0; i < 2; i++)
    if (!operand_fits(e, op, i))
      return emit_unsupported(e, op,
                              "an operand that wgmma cannot read: `nvmma_shared` buffers, or "
                              "registers of A as `dot_op` of the accumulator's layout");
  return true;
}
