// SPDX-License-Identifier: Apache-2.0
// Builders of the ops on rings of buffers and of accesses through tensor maps.
#include "mlir-dialects/ir_internal.h"
#include "mlir-dialects/rings.h"

MlirValue build_map_load(struct builder *b, uint32_t map, unsigned rank, const MlirValue *offsets,
                         MlirType type) {
  MlirNamedAttribute a = named_attr(b->c, "map", attr_i32(b->c, (int32_t)map));
  return build_value(b, OP_TILE_MAP_LOAD, rank, offsets, type, 1, &a);
}

void build_map_make(struct builder *b, uint32_t map, unsigned rank, MlirValue base,
                    const MlirValue *sizes, const MlirValue *strides) {
  MlirNamedAttribute a = named_attr(b->c, "map", attr_i32(b->c, (int32_t)map));
  MlirValue operands[2 * KERNEL_MAP_RANK] = {base};
  for (unsigned i = 0; i < rank; i++)
    operands[1 + i] = sizes[i];
  for (unsigned i = 0; i + 1 < rank; i++)
    operands[1 + rank + i] = strides[i];
  build_op(b, OP_TILE_MAP_MAKE, 2 * rank, operands, 0, NULL, 1, &a);
}

void build_maps_open(struct builder *b, MlirValue buffer) {
  build_op(b, OP_GPU_MAPS_OPEN, 1, &buffer, 0, NULL, 0, NULL);
}

void build_maps_close(struct builder *b) {
  build_op(b, OP_GPU_MAPS_CLOSE, 0, NULL, 0, NULL, 0, NULL);
}

MlirOperation build_made_map(struct builder *b, uint32_t map, MlirValue buffer, unsigned numbers,
                             MlirValue base, const MlirValue *sizes_and_strides) {
  MlirNamedAttribute a = named_attr(b->c, "map", attr_i32(b->c, (int32_t)map));
  MlirValue operands[1 + 2 * KERNEL_MAP_RANK] = {buffer, base};
  for (unsigned i = 0; i < numbers; i++)
    operands[2 + i] = sizes_and_strides[i];
  return build_op(b, OP_GPU_MAP_MAKE, 2 + numbers, operands, 0, NULL, 1, &a);
}

void map_make_joins(struct ir_context *c, MlirOperation make) {
  mlirOperationSetAttributeByName(make, mlirStringRefCreateFromCString("joins"),
                                  mlirUnitAttrGet(c->mlir));
}

static void build_store_by(struct builder *b, enum op_id id, uint32_t map, MlirValue what,
                           unsigned rank, const MlirValue *offsets, int32_t warps,
                           const char *reduction) {
  MlirNamedAttribute a[3] = {named_attr(b->c, "map", attr_i32(b->c, (int32_t)map))};
  size_t n = 1;
  if (warps)
    a[n++] = named_attr(b->c, "warps", attr_i32(b->c, warps));
  if (*reduction)
    a[n++] = named_attr(b->c, "reduction", attr_str(b->c, reduction));
  MlirValue operands[1 + KERNEL_MAP_RANK] = {what};
  for (unsigned i = 0; i < rank; i++)
    operands[1 + i] = offsets[i];
  build_op(b, id, 1 + rank, operands, 0, NULL, n, a);
}

void build_map_store(struct builder *b, uint32_t map, MlirValue value, unsigned rank,
                     const MlirValue *offsets, const char *reduction) {
  build_store_by(b, OP_TILE_MAP_STORE, map, value, rank, offsets, 0, reduction);
}

void build_buffer_map_store(struct builder *b, uint32_t map, MlirValue buffer, unsigned rank,
                            const MlirValue *offsets, int32_t warps, const char *reduction) {
  build_store_by(b, OP_GPU_MAP_STORE, map, buffer, rank, offsets, warps, reduction);
}

void build_map_wait(struct builder *b, int32_t warps) {
  MlirNamedAttribute a = named_attr(b->c, "warps", attr_i32(b->c, warps));
  build_op(b, OP_GPU_MAP_WAIT, 0, NULL, 0, NULL, warps != 0, &a);
}

MlirValue build_is_producer(struct builder *b, bool leader) {
  MlirNamedAttribute a = named_attr(b->c, "leader", attr_bool(b->c, leader));
  return build_value(b, OP_GPU_IS_PRODUCER, 0, NULL, mlir_of_dtype(b->c, DTYPE_I1), 1, &a);
}

void build_set_registers(struct builder *b, int32_t count, bool grows) {
  MlirNamedAttribute a[] = {named_attr(b->c, "count", attr_i32(b->c, count)),
                            named_attr(b->c, "grows", attr_bool(b->c, grows))};
  build_op(b, OP_GPU_SET_REGISTERS, 0, NULL, 0, NULL, 2, a);
}

void build_ping_pong(struct builder *b, enum ping_pong step) {
  MlirNamedAttribute a = named_attr(b->c, "step", attr_i32(b->c, (int32_t)step));
  build_op(b, OP_GPU_PING_PONG, 0, NULL, 0, NULL, 1, &a);
}

// The attributes that all ops of a ring have, and one more.
static void ring_attrs(struct builder *b, const struct ring_ref *r, const char *name, int32_t value,
                       MlirNamedAttribute ret[3]) {
  ret[0] = named_attr(b->c, "ring", attr_i32(b->c, r->number));
  ret[1] = named_attr(b->c, "slots", attr_i32(b->c, r->slots));
  if (name)
    ret[2] = named_attr(b->c, name, attr_i32(b->c, value));
}

static MlirValue build_position(struct builder *b, enum op_id id, const struct ring_ref *r,
                                const char *name, int32_t value) {
  MlirNamedAttribute a[3];
  ring_attrs(b, r, name, value, a);
  return build_value(b, id, 1, &r->barriers, mlir_of_dtype(b->c, DTYPE_I32), name ? 3 : 2, a);
}

void build_ring_init(struct builder *b, const struct ring_ref *r) {
  MlirNamedAttribute a[3];
  MlirValue operands[] = {r->barriers, r->in_step};
  ring_attrs(b, r, r->ctas ? "ctas" : NULL, r->ctas, a);
  build_op(b, OP_GPU_RING_INIT, mlirValueIsNull(r->in_step) ? 1 : 2, operands, 0, NULL,
           r->ctas ? 3 : 2, a);
}

MlirValue build_ring_empty(struct builder *b, const struct ring_ref *r, int32_t bytes) {
  return build_position(b, OP_GPU_RING_EMPTY, r, "bytes", bytes);
}

void build_ring_drain(struct builder *b, const struct ring_ref *r) {
  MlirNamedAttribute a[3];
  ring_attrs(b, r, NULL, 0, a);
  build_op(b, OP_GPU_RING_DRAIN, 1, &r->barriers, 0, NULL, 2, a);
}

MlirValue build_ring_full(struct builder *b, const struct ring_ref *r) {
  return build_position(b, OP_GPU_RING_FULL, r, NULL, 0);
}

void build_ring_release(struct builder *b, const struct ring_ref *r, int32_t keep) {
  MlirNamedAttribute a[3];
  ring_attrs(b, r, "keep", keep, a);
  build_op(b, OP_GPU_RING_RELEASE, 1, &r->barriers, 0, NULL, 3, a);
}

void build_map_copy(struct builder *b, const struct ring_ref *r, uint32_t map, MlirValue buffer,
                    MlirValue slot, unsigned rank, const MlirValue *offsets, int32_t ctas) {
  MlirValue operands[3 + KERNEL_MAP_RANK] = {buffer, r->barriers, slot};
  MlirNamedAttribute a[4];
  for (unsigned i = 0; i < rank; i++)
    operands[3 + i] = offsets[i];
  ring_attrs(b, r, "map", (int32_t)map, a);
  if (ctas)
    a[3] = named_attr(b->c, "ctas", attr_i32(b->c, ctas));
  build_op(b, OP_GPU_MAP_COPY, 3 + rank, operands, 0, NULL, ctas ? 4 : 3, a);
}

void build_cluster_barrier(struct builder *b) {
  build_op(b, OP_GPU_CLUSTER_BARRIER, 0, NULL, 0, NULL, 0, NULL);
}

void build_ring_end(struct builder *b, MlirValue buffer) {
  build_op(b, OP_GPU_RING_END, 1, &buffer, 0, NULL, 0, NULL);
}
