// SPDX-License-Identifier: Apache-2.0
// Sizes of scratch and buffers, by op; the emission uses the same functions.
#include "lowering/analysis/scratch.h"

#include "base/vec.h"
#include "layouts/attr.h"
#include "lowering/analysis/collective.h"
#include "lowering/analysis/convert_scratch.h"
#include "lowering/analysis/gather_plan.h"
#include "lowering/analysis/pair_view.h"
#include "lowering/analysis/shape_view.h"

enum { LANES = 32, LANE_BITS_OF_THREAD = 5, ROWS_OF_SWIZZLE = 8 };

uint32_t scratch_offset(MlirOperation op) {
  return (uint32_t)op_attr_int(op, "tilegpu.shared_offset", 0);
}

uint32_t scratch_double_buffer(MlirOperation op) {
  return (uint32_t)op_attr_int(op, "tilegpu.shared_double_buffer", 0);
}

int64_t scratch_total(MlirModule module) {
  return op_attr_int(mlirModuleGetOperation(module), "tilegpu.shared_bytes", -1);
}

// ---- replicated elements ----

uint32_t thread_copies(const struct linear_layout *l, uint32_t num_warps) {
  uint32_t all = LANES * num_warps - 1;
  if (!l)
    return all;
  // Threads beyond those of the layout are replicas too.
  uint32_t free_bits[LL_NO_IN];
  ll_free_masks(l, free_bits);
  uint32_t lanes = free_bits[LL_LANE] | ~(ll_in_size(l, LL_LANE) - 1);
  uint32_t warps = free_bits[LL_WARP] | ~(ll_in_size(l, LL_WARP) - 1);
  return all & ((lanes & (LANES - 1)) | warps << LANE_BITS_OF_THREAD);
}

uint32_t register_copies(const struct linear_layout *l) {
  uint32_t free_bits[LL_NO_IN] = {0};
  if (l)
    ll_free_masks(l, free_bits);
  return free_bits[LL_REGISTER];
}

// ---- op families ----

static MlirType operand_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetOperand(op, i));
}

static uint32_t conversion_bytes(struct ir_context *c, MlirType from,
                                 const struct linear_layout *to) {
  const struct linear_layout *l = linear_of_type(c, from);
  if (!l || !to || !converts_through_shared(l, to))
    return 0;
  return convert_bytes(l, to, memory_bits(c, element_type(from)));
}

static uint32_t shape_bytes(struct ir_context *c, MlirOperation op) {
  struct linear_layout wanted;
  return shape_view(c, op, &wanted) ? conversion_bytes(c, operand_type(op, 0), &wanted) : 0;
}

static MlirType result_type(MlirOperation op, intptr_t i) {
  return mlirValueGetType(mlirOperationGetResult(op, i));
}

// The two operands are converted one after the other.
static uint32_t join_bytes(struct ir_context *c, MlirOperation op) {
  const struct linear_layout *l = linear_of_type(c, result_type(op, 0));
  if (!l || !type_is_tensor(operand_type(op, 0)))
    return 0;
  struct linear_layout half = half_view(l);
  uint32_t first = conversion_bytes(c, operand_type(op, 0), &half);
  uint32_t second = conversion_bytes(c, operand_type(op, 1), &half);
  return first > second ? first : second;
}

static uint32_t split_bytes(struct ir_context *c, MlirOperation op) {
  MlirType half = result_type(op, 0);
  struct linear_layout pairs = pair_view(type_is_tensor(half) ? linear_of_type(c, half) : NULL);
  return conversion_bytes(c, operand_type(op, 0), &pairs);
}

// The thread that did the atomic operation sends the old value to its replicas.
static uint32_t atomic_bytes(struct ir_context *c, MlirOperation op, uint32_t num_warps) {
  MlirValue old = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(old);
  const struct linear_layout *l = type_is_tensor(type) ? linear_of_type(c, type) : NULL;
  if (!value_has_uses(old) || (thread_copies(l, num_warps) | register_copies(l)) == 0)
    return 0;
  return convert_bytes(l, l, memory_bits(c, element_type(type)));
}

// ---- clocks ----

struct values {
  VEC(MlirValue) list;
};

// Does the operand affect control flow?
static bool steers(struct ir_context *c, MlirOperation op, unsigned operand) {
  switch (op_id(c, op)) {
  case OP_SCF_IF: return operand == 0;
  case OP_SCF_FOR:
  case OP_SCF_WHILE:
  case OP_SCF_CONDITION:
  case OP_SCF_YIELD:
  case OP_FUNC_CALL:
  case OP_FUNC_RETURN: return true;
  default: return false;
  }
}

// May control flow depend on v? Then it must be the same in all threads.
static bool value_steers(struct ir_context *c, MlirValue v) {
  struct values todo = {0};
  struct map seen = {0};
  vec_push(c->arena, &todo.list, v);
  while (todo.list.len) {
    MlirValue value = todo.list.at[--todo.list.len];
    if (ptrmap_get(&seen, value.ptr))
      continue;
    ptrmap_put(c->arena, &seen, value.ptr, &seen);
    for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      if (steers(c, user, mlirOpOperandGetOperandNumber(use)))
        return true;
      for (intptr_t i = 0; i < mlirOperationGetNumResults(user); i++)
        vec_push(c->arena, &todo.list, mlirOperationGetResult(user, i));
    }
  }
  return false;
}

// Threads read clocks at different times; where control flow depends on it, one thread sends its
// time to the others.
static uint32_t special_bytes(struct ir_context *c, MlirOperation op) {
  bool differs = str_is(op_attr_str(op, "name"), "globaltimer");
  MlirValue time = mlirOperationGetResult(op, 0);
  return differs && value_steers(c, time) ? exchange_bytes(NULL, 64) : 0;
}

uint32_t scratch_bytes(struct ir_context *c, MlirOperation op, uint32_t num_warps) {
  switch (op_id(c, op)) {
  case OP_GPU_CONVERT_LAYOUT:
    return conversion_bytes(c, operand_type(op, 0),
                            linear_of_type(c, mlirValueGetType(mlirOperationGetResult(op, 0))));
  case OP_TILE_EXPAND_DIMS:
  case OP_TILE_BROADCAST:
  case OP_TILE_RESHAPE:
  case OP_TILE_TRANS: return shape_bytes(c, op);
  case OP_TILE_GATHER: return gather_scratch_bytes(c, op);
  case OP_TILE_HISTOGRAM: return exchange_bytes(linear_of_type(c, result_type(op, 0)), 32);
  case OP_TILE_JOIN: return join_bytes(c, op);
  case OP_TILE_SPLIT: return split_bytes(c, op);
  case OP_TILE_ATOMIC_RMW:
  case OP_TILE_ATOMIC_CAS: return atomic_bytes(c, op, num_warps);
  case OP_TILE_SPECIAL: return special_bytes(c, op);
  case OP_TILE_REDUCE: return reduce_scratch_bytes(c, op);
  case OP_TILE_SCAN: return scan_scratch_bytes(c, op);
  default: return 0;
  }
}

// ---- buffers ----

uint32_t buffer_bytes(struct ir_context *c, MlirType memdesc) {
  MlirType tile = memdesc_tile(c, memdesc);
  const struct linear_layout *l = linear_of_type(c, tile);
  return l ? exchange_bytes(l, memory_bits(c, element_type(tile))) : 0;
}

// TMA and wgmma derive the swizzle from address bits: its unit is 8 rows.
uint32_t buffer_alignment(struct ir_context *c, MlirType memdesc) {
  const struct encoding *e = encoding_of_attr(c, tensor_encoding(memdesc_tile(c, memdesc)));
  uint32_t unit = e && e->kind == ENC_NVMMA_SHARED ? ROWS_OF_SWIZZLE * e->nvmma.swizzle : 0;
  return unit > SCRATCH_ALIGNMENT ? unit : (uint32_t)SCRATCH_ALIGNMENT;
}

uint32_t buffer_stride(struct ir_context *c, MlirType memdesc) {
  uint32_t unit = buffer_alignment(c, memdesc);
  return (buffer_bytes(c, memdesc) + unit - 1) / unit * unit;
}

uint32_t alloc_copies(MlirOperation alloc) { return (uint32_t)op_attr_int(alloc, "copies", 1); }

uint32_t alloc_bytes(struct ir_context *c, MlirOperation alloc) {
  MlirType buffer = mlirValueGetType(mlirOperationGetResult(alloc, 0));
  uint64_t copies = alloc_copies(alloc);
  uint64_t bytes =
      copies > 1 ? copies * buffer_stride(c, buffer) : (uint64_t)buffer_bytes(c, buffer);
  return bytes > INT32_MAX ? INT32_MAX : (uint32_t)bytes;
}

// ---- spilling to shared memory ----

uint32_t spill_bytes(MlirOperation kernel) {
  return (uint32_t)op_attr_int(kernel, "tilegpu.spill_bytes", 0);
}

uint32_t spill_row_count(MlirOperation op) {
  return (uint32_t)op_attr_int(op, "tilegpu.spill_rows", 0);
}

unsigned spill_elements(struct ir_context *c, MlirOperation op) {
  const struct linear_layout *l =
      linear_of_type(c, mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (!l)
    return 0;
  return ll_in_size(l, LL_REGISTER) >> __builtin_popcount(register_copies(l));
}

unsigned spill_elements_per_row(struct ir_context *c, MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  return SPILL_ROW_BYTES * 8 / memory_bits(c, element_type(type));
}
