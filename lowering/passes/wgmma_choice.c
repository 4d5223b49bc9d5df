// SPDX-License-Identifier: Apache-2.0
// The types and shapes of wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions") that products are computed by.
//
// Only 16-bit operands may have M or N as the contiguous dimension in shared memory.
//
// Sums of 8-bit floats keep fewer bits than f32 has. A product that bounds the elements in such a
// sum (`max_num_imprecise_acc`) takes wgmma if the bound is at least one instruction's.
#include "lowering/passes/wgmma_choice.h"

#include "base/wgmma.h"
#include "layouts/attr.h"

enum { LEAST_N = 16 }; // rows of B of 32 bytes

static MlirType operand_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(op, i));
}

static enum dtype operand_dtype(MlirOperation op, intptr_t i) {
  return dtype_of_mlir(element_type(operand_type(op, i)));
}

static int64_t min_of(int64_t x, int64_t y) { return x < y ? x : y; }

MlirValue value_as_computed(struct ir_context *c, MlirValue v) {
  MlirOperation def = value_def(v);
  bool converted = !mlirOperationIsNull(def) && op_is(c, def, OP_GPU_CONVERT_LAYOUT);
  return converted ? mlirOperationGetOperand(def, 0) : v;
}

// ---- types ----

static bool is_fp8(enum dtype t) { return t == DTYPE_F8E5 || t == DTYPE_F8E4NV; }

static bool has_types(MlirOperation dot) {
  enum dtype a = operand_dtype(dot, 0), b = operand_dtype(dot, 1), sum = operand_dtype(dot, 2);
  if (is_fp8(a) && is_fp8(b))
    return sum == DTYPE_F16 ||
           (sum == DTYPE_F32 && op_attr_int(dot, "max_num_imprecise_acc", 0) >= WGMMA_K_BYTES);
  if (a != b)
    return false;
  switch (a) {
  case DTYPE_F16: return sum == DTYPE_F16 || sum == DTYPE_F32;
  case DTYPE_BF16: return sum == DTYPE_F32;
  case DTYPE_F32: return sum == DTYPE_F32 && str_is(op_attr_str(dot, "input_precision"), "tf32");
  case DTYPE_I8: return sum == DTYPE_I32;
  default: return false;
  }
}

// ---- operands ----

// Whether K is the contiguous dimension of the operand's load.
static bool has_k_inside(struct ir_context *c, MlirOperation dot, intptr_t i) {
  MlirValue v = mlirOperationGetOperand(dot, i);
  for (MlirValue from = value_as_computed(c, v); !mlirValueEqual(from, v);
       from = value_as_computed(c, v))
    v = from;
  const struct encoding *e = encoding_of_attr(c, tensor_encoding(mlirValueGetType(v)));
  return e && e->kind == ENC_BLOCKED && e->blocked.order[0] == (i == 0 ? 1u : 0u);
}

bool wgmma_needs_k_inside(MlirOperation dot) { return dtype_bits(operand_dtype(dot, 0)) != 16; }

// ---- the layout ----

// Warpgroups are stacked along M as long as each has 64 rows, then along N.
static void place_warpgroups(MlirType acc, uint32_t num_warps, uint32_t ret[2]) {
  int64_t high = min_of(tensor_dim(acc, 0) / WGMMA_M, num_warps / WGMMA_WARPS);
  ret[0] = (uint32_t)high * WGMMA_WARPS;
  ret[1] = num_warps / ret[0];
}

const char *wgmma_why_not(const struct target *target, uint32_t num_warps, MlirOperation dot) {
  MlirType acc = operand_type(dot, 2);
  if (!target->has_wgmma)
    return "the target does not have it";
  if (tensor_rank(acc) != 2)
    return "it is one of batches";
  if (!has_types(dot))
    return "it does not have these types";
  if (num_warps % WGMMA_WARPS != 0)
    return "the number of warps is not a multiple of 4";
  if (tensor_dim(acc, 0) < WGMMA_M)
    return "it has fewer than 64 rows";
  if (tensor_dim(operand_type(dot, 1), 0) < WGMMA_K_BYTES / dtype_bytes(operand_dtype(dot, 0)))
    return "its K is less than 32 bytes";
  uint32_t warps[2];
  place_warpgroups(acc, num_warps, warps);
  return tensor_dim(acc, 1) / warps[1] >= LEAST_N ? NULL
                                                  : "a warpgroup has fewer than 16 columns of it";
}

bool wgmma_has_whole_rows(uint32_t num_warps, MlirOperation dot) {
  return tensor_dim(operand_type(dot, 2), 0) / WGMMA_M >= num_warps / WGMMA_WARPS;
}

bool wgmma_computes(struct ir_context *c, const struct target *target, uint32_t num_warps,
                    MlirOperation dot) {
  return !wgmma_why_not(target, num_warps, dot) &&
         (!wgmma_needs_k_inside(dot) || (has_k_inside(c, dot, 0) && has_k_inside(c, dot, 1)));
}

MlirAttribute wgmma_layout(struct ir_context *c, uint32_t num_warps, MlirOperation dot) {
  MlirType acc = operand_type(dot, 2);
  struct encoding e = {.kind = ENC_MMA, .rank = 2};
  e.mma.version = 3;
  place_warpgroups(acc, num_warps, e.mma.warps_per_cta);
  e.mma.instr_shape[0] = WGMMA_M / WGMMA_WARPS;
  e.mma.instr_shape[1] = (uint32_t)min_of(tensor_dim(acc, 1) / e.mma.warps_per_cta[1], WGMMA_MAX_N);
  e.mma.instr_shape[2] = WGMMA_K_BYTES / dtype_bytes(operand_dtype(dot, 0));
  return encoding_attr(c, &e);
}
