// SPDX-License-Identifier: Apache-2.0
// What TMA can copy, and the maps of accesses (use_tensor_maps_blocks.h).
#include "lowering/passes/use_tensor_maps_blocks.h"

#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/launch_value.h"
#include "lowering/analysis/provenance.h"
#include "mlir-dialects/descriptor.h"

enum {
  MAX_BOX = 256,    // elements of a dimension (cuTensorMapEncodeTiled)
  LEAST_ROWS = 8,   // that a swizzle permutes
  LEAST_INNER = 32, // bytes: the narrowest swizzle
};

MlirType map_block_matrix(MlirType block) {
  unsigned rank = tensor_rank(block);
  int64_t shape[2] = {1, rank ? tensor_dim(block, rank - 1) : 1};
  for (unsigned i = 0; i + 1 < rank; i++) {
    if (shape[0] > 1 && tensor_dim(block, i) > 1)
      return (MlirType){NULL};
    shape[0] *= tensor_dim(block, i);
  }
  return rank < 2    ? (MlirType){NULL}
         : rank == 2 ? block
                     : tensor_type(2, shape, element_type(block), tensor_encoding(block));
}

uint64_t map_block_bytes(struct map_uses *s, MlirType block) {
  return (uint64_t)tensor_numel(block) * type_bits(s->c, element_type(block)) / 8;
}

const char *map_why_not_block(struct map_uses *s, MlirType block) {
  MlirType matrix = map_block_matrix(block);
  if (mlirTypeIsNull(matrix))
    return "the block does not have two dimensions";
  unsigned bits = type_bits(s->c, element_type(matrix));
  int64_t inner = tensor_dim(matrix, 1) * bits / 8;
  if (bits < 8 || bits > 32)
    return "its elements do not have 8, 16 or 32 bits";
  if (tensor_dim(matrix, 0) < LEAST_ROWS || tensor_dim(matrix, 0) > MAX_BOX || inner < LEAST_INNER)
    return "the block does not have 8 to 256 rows of at least 32 bytes";
  return NULL;
}

const char *map_why_not_row(struct map_uses *s, MlirType block) {
  MlirType matrix = map_block_matrix(block);
  unsigned bits = type_bits(s->c, element_type(block));
  if (mlirTypeIsNull(matrix) || tensor_dim(matrix, 0) > 1)
    return "the block is not one row";
  if (bits < 8 || bits > 32)
    return "its elements do not have 8, 16 or 32 bits";
  if (tensor_dim(matrix, 1) > MAX_BOX || tensor_dim(matrix, 1) * bits / 8 < LEAST_INNER)
    return "the row does not have 32 bytes to 256 elements";
  return NULL;
}

bool map_is_unaligned(struct map_uses *s, MlirOperation op) {
  return pointer_is_unaligned(s->c, s->kernel, op, mlirOperationGetOperand(op, 0));
}

bool map_begins_in_chunk(struct map_uses *s, MlirOperation op, MlirType block) {
  struct descriptor_access x;
  if (!descriptor_access_of(s->c, op, &x))
    return true;
  int64_t chunk = DESCRIPTOR_ALIGNMENT * 8 / type_bits(s->c, element_type(block));
  return axis_info_of(s->axis, x.offsets[x.of.rank - 1])->divisibility[0] % chunk != 0;
}

bool map_of_access(struct map_uses *s, MlirOperation op, MlirType block, struct kernel_map *ret) {
  struct descriptor_access x;
  struct arena *a = s->p->scratch;
  if (!descriptor_access_of(s->c, op, &x))
    return false;
  *ret = (struct kernel_map){.dtype = dtype_of_mlir(element_type(block)),
                             .rank = x.of.rank,
                             .pads_nan = str_is(op_attr_str(op, "padding"), "nan")};
  for (unsigned i = 0; i < x.of.rank; i++)
    ret->box[i] = (uint32_t)tensor_dim(block, i);
  if (!launch_pointer_of(s->c, s->kernel, x.of.base, a, &ret->base, &ret->offset))
    return false;
  for (unsigned i = 0; i < x.of.rank; i++) {
    if (!launch_value_of(s->c, s->kernel, x.of.sizes[i], a, &ret->sizes[i]))
      return false;
    if (i + 1 < x.of.rank &&
        !launch_value_of(s->c, s->kernel, x.of.strides[i], a, &ret->strides[i]))
      return false;
  }
  return true;
}
