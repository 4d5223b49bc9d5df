// SPDX-License-Identifier: Apache-2.0
// Builders of matrix products, of buffers in shared memory and of the copies that fill them.
#include "mlir-dialects/build.h"
#include "mlir-dialects/ir_internal.h"

#include <assert.h>

MlirValue build_dot(struct builder *b, MlirValue x, MlirValue y, MlirValue acc,
                    const char *input_precision, int32_t max_num_imprecise_acc) {
  MlirNamedAttribute a[] = {
      named_attr(b->c, "input_precision", attr_str(b->c, input_precision)),
      named_attr(b->c, "max_num_imprecise_acc", attr_i32(b->c, max_num_imprecise_acc))};
  return build_value(b, OP_TILE_DOT, 3, (MlirValue[]){x, y, acc}, mlirValueGetType(acc), 2, a);
}

MlirValue build_warp_group_dot(struct builder *b, MlirValue x, MlirValue y, MlirValue acc,
                               int32_t pending) {
  MlirNamedAttribute a = named_attr(b->c, "pending", attr_i32(b->c, pending));
  return build_value(b, OP_GPU_WARP_GROUP_DOT, 3, (MlirValue[]){x, y, acc}, mlirValueGetType(acc),
                     1, &a);
}

MlirValue build_promoted_warp_group_dot(struct builder *b, MlirValue x, MlirValue y, MlirValue acc,
                                        int32_t every) {
  MlirNamedAttribute a[] = {named_attr(b->c, "pending", attr_i32(b->c, 0)),
                            named_attr(b->c, "promoted_every", attr_i32(b->c, every))};
  return build_value(b, OP_GPU_WARP_GROUP_DOT, 3, (MlirValue[]){x, y, acc}, mlirValueGetType(acc),
                     2, a);
}

MlirValue build_warp_group_dot_wait(struct builder *b, MlirValue acc, int32_t pending, size_t n,
                                    const MlirValue *uses) {
  MlirNamedAttribute a = named_attr(b->c, "pending", attr_i32(b->c, pending));
  MlirValue operands[1 + WAIT_USES] = {acc};
  assert(n <= WAIT_USES);
  for (size_t i = 0; i < n; i++)
    operands[1 + i] = uses[i];
  return build_value(b, OP_GPU_WARP_GROUP_DOT_WAIT, 1 + n, operands, mlirValueGetType(acc), 1, &a);
}

MlirValue build_part(struct builder *b, MlirValue x, MlirType part, const int32_t *offsets) {
  MlirNamedAttribute a =
      named_attr(b->c, "offsets", attr_i32_array(b->c, tensor_rank(part), offsets));
  return build_value(b, OP_GPU_PART, 1, &x, part, 1, &a);
}

MlirValue build_local_alloc(struct builder *b, MlirValue x, MlirType tile) {
  return build_value(b, OP_GPU_LOCAL_ALLOC, mlirValueIsNull(x) ? 0 : 1, &x,
                     memdesc_type(b->c, tile), 0, NULL);
}

MlirValue build_local_ring(struct builder *b, MlirType tile, int32_t copies) {
  MlirNamedAttribute a = named_attr(b->c, "copies", attr_i32(b->c, copies));
  return build_value(b, OP_GPU_LOCAL_ALLOC, 0, NULL, memdesc_type(b->c, tile), 1, &a);
}

MlirValue build_local_index(struct builder *b, MlirValue ring, MlirValue number, int32_t phase) {
  MlirNamedAttribute a = named_attr(b->c, "phase", attr_i32(b->c, phase));
  return build_value(b, OP_GPU_LOCAL_INDEX, 2, (MlirValue[]){ring, number}, mlirValueGetType(ring),
                     phase < 0 ? 0 : 1, &a);
}

MlirValue build_local_trans(struct builder *b, MlirValue buffer, MlirType tile,
                            const int32_t *order) {
  MlirNamedAttribute a = named_attr(b->c, "order", attr_i32_array(b->c, tensor_rank(tile), order));
  return build_value(b, OP_GPU_LOCAL_TRANS, 1, &buffer, memdesc_type(b->c, tile), 1, &a);
}

MlirValue build_local_load(struct builder *b, MlirValue buffer, MlirAttribute encoding) {
  MlirType tile = memdesc_tile(b->c, mlirValueGetType(buffer));
  return build_value(b, OP_GPU_LOCAL_LOAD, 1, &buffer, type_with_encoding(tile, encoding), 0, NULL);
}

MlirValue build_local_load_part(struct builder *b, MlirValue buffer, MlirType part,
                                const int32_t *offsets) {
  MlirNamedAttribute a =
      named_attr(b->c, "offsets", attr_i32_array(b->c, tensor_rank(part), offsets));
  return build_value(b, OP_GPU_LOCAL_LOAD, 1, &buffer, part, 1, &a);
}

void build_local_store(struct builder *b, MlirValue x, MlirValue buffer) {
  build_op(b, OP_GPU_LOCAL_STORE, 2, (MlirValue[]){x, buffer}, 0, NULL, 0, NULL);
}

void build_async_copy(struct builder *b, MlirValue ptr, MlirValue buffer, MlirValue mask,
                      const char *cache, const char *evict) {
  MlirNamedAttribute a[] = {named_attr(b->c, "cache", attr_str(b->c, cache)),
                            named_attr(b->c, "evict", attr_str(b->c, evict))};
  build_op(b, OP_GPU_ASYNC_COPY, mlirValueIsNull(mask) ? 2 : 3, (MlirValue[]){ptr, buffer, mask}, 0,
           NULL, 2, a);
}

void build_async_commit(struct builder *b) {
  build_op(b, OP_GPU_ASYNC_COMMIT, 0, NULL, 0, NULL, 0, NULL);
}

static bool same_type(MlirValue x, MlirValue y) {
  return mlirTypeEqual(mlirValueGetType(x), mlirValueGetType(y));
}

// IRDL requires operands of one name to have one type: one op per type.
void build_async_wait(struct builder *b, size_t n, const MlirValue *buffers, int32_t pending) {
  MlirNamedAttribute a = named_attr(b->c, "pending", attr_i32(b->c, pending));
  MlirValue *alike = arena_array(b->c->arena, MlirValue, n + 1);
  if (n == 0)
    build_op(b, OP_GPU_ASYNC_WAIT, 0, NULL, 0, NULL, 1, &a);
  for (size_t i = 0; i < n; i++) {
    size_t first = 0, count = 0;
    while (!same_type(buffers[first], buffers[i]))
      first++;
    if (first < i)
      continue;
    for (size_t k = i; k < n; k++)
      if (same_type(buffers[k], buffers[i]))
        alike[count++] = buffers[k];
    build_op(b, OP_GPU_ASYNC_WAIT, count, alike, 0, NULL, 1, &a);
  }
}

void build_gpu_barrier(struct builder *b, bool reads_only, int32_t warps) {
  MlirNamedAttribute a[2];
  intptr_t count = 0;
  if (reads_only)
    a[count++] = named_attr(b->c, "reads_only", attr_bool(b->c, true));
  if (warps)
    a[count++] = named_attr(b->c, "warps", attr_i32(b->c, warps));
  build_op(b, OP_GPU_BARRIER, 0, NULL, 0, NULL, count, a);
}
