// SPDX-License-Identifier: Apache-2.0
// Chooses the parts of a stored tile: columns of one swizzle, where each thread has all of its
// part's elements in its own registers. That holds for accumulators of wgmma whose warps are
// stacked.
#include "lowering/passes/map_stores.h"

#include "base/wgmma.h"
#include "layouts/attr.h"
#include "lowering/analysis/part_view.h"

enum {
  SWIZZLE = 128,              // bytes: the widest
  STORING_WARPS = WGMMA_WARPS // that copy their own rows
};

uint32_t map_for_buffer(struct ir_context *c, MlirOperation module, struct kernel_map map,
                        const struct encoding *buffer) {
  map.swizzle = buffer->nvmma.swizzle;
  if (map.swizzle)
    map.box[map.rank - 1] = map.swizzle * 8 / buffer->nvmma.element_bits;
  return module_map_add(c, module, &map);
}

static MlirType value_type(MlirOperation store) {
  return mlirValueGetType(mlirOperationGetOperand(store, 0));
}

static struct encoding buffer_encoding(struct ir_context *c, MlirType tile) {
  unsigned bits = type_bits(c, element_type(tile));
  int64_t inner = tensor_dim(tile, 1) * bits / 8;
  struct encoding e = {.kind = ENC_NVMMA_SHARED, .rank = 2};
  e.nvmma.swizzle = inner < SWIZZLE ? (uint32_t)inner : SWIZZLE;
  e.nvmma.element_bits = bits;
  return e;
}

// The type of the tile's parts of `columns`; null if other threads have elements of them.
static MlirType part_type(struct ir_context *c, MlirType tile, int64_t columns) {
  const struct encoding *whole = encoding_of_attr(c, tensor_encoding(tile));
  MlirType none = {NULL};
  if (!whole || whole->kind != ENC_MMA || whole->mma.version != 3 ||
      whole->mma.instr_shape[1] < columns || tensor_dim(tile, 1) == columns)
    return none;
  struct encoding e = *whole;
  e.mma.instr_shape[1] = (uint32_t)columns;
  int64_t shape[] = {tensor_dim(tile, 0), columns};
  MlirType part = tensor_type(2, shape, element_type(tile), encoding_attr(c, &e));
  const struct linear_layout *l = linear_of_type(c, tile), *p = linear_of_type(c, part);
  struct part_view view;
  for (int32_t at = 0; at < tensor_dim(tile, 1); at += (int32_t)columns)
    if (!l || !p || !part_view_make(l, p, (int32_t[]){0, at}, &view))
      return none;
  return part;
}

static uint32_t part_bytes(struct ir_context *c, const struct map_store *x) {
  return (uint32_t)(tensor_numel(x->part) * type_bits(c, element_type(x->part)) / 8);
}

// Whether each warp has whole rows, MAP_STORE_ROWS of them in the order of the warps.
static bool has_own_rows(struct ir_context *c, MlirType part, uint32_t num_warps) {
  const struct encoding *e = encoding_of_attr(c, tensor_encoding(part));
  return e && e->kind == ENC_MMA && e->mma.version == 3 && e->mma.warps_per_cta[0] == num_warps &&
         tensor_dim(part, 0) % (num_warps * MAP_STORE_ROWS) == 0;
}

uint32_t map_stores_choose(struct map_stores *s, struct ir_context *c, uint32_t num_warps) {
  uint32_t least = 0;
  s->warps = num_warps > STORING_WARPS ? STORING_WARPS : 0;
  for (size_t i = 0; i < s->at.len; i++) {
    struct map_store *x = &s->at.at[i];
    MlirType tile = value_type(x->op);
    struct encoding e = buffer_encoding(c, tile);
    x->part = part_type(c, tile, e.nvmma.swizzle * 8 / e.nvmma.element_bits);
    x->part = mlirTypeIsNull(x->part) ? tile : x->part;
    x->parts = (unsigned)(tensor_dim(tile, 1) / tensor_dim(x->part, 1));
    least += part_bytes(c, x);
    if (!has_own_rows(c, x->part, num_warps))
      s->warps = 0;
  }
  return least;
}

void map_stores_open(struct map_stores *s, struct ir_context *c, MlirOperation module,
                     struct builder *b, const struct kernel_map *maps, uint32_t room) {
  room /= s->at.len ? (uint32_t)s->at.len : 1;
  for (size_t i = 0; i < s->at.len; i++) {
    struct map_store *x = &s->at.at[i];
    struct encoding e = buffer_encoding(c, value_type(x->op));
    bool has_room = part_bytes(c, x) * MAP_STORE_BUFFERS <= room;
    x->buffer_count = x->parts > 1 && has_room ? MAP_STORE_BUFFERS : 1;
    struct kernel_map map = maps[op_attr_int(x->op, "map", 0)];
    if (s->warps)
      map.box[kernel_map_rows(&map)] = (uint32_t)s->warps * MAP_STORE_ROWS;
    x->map = map_for_buffer(c, module, map, &e);
    b->loc = mlirOperationGetLocation(x->op);
    for (unsigned k = 0; k < x->buffer_count; k++)
      x->buffers[k] = build_local_alloc(b, (MlirValue){NULL},
                                        type_with_encoding(x->part, encoding_attr(c, &e)));
  }
}

static void store_part(const struct map_stores *s, struct map_store *x, struct builder *b,
                       unsigned part) {
  MlirValue value = mlirOperationGetOperand(x->op, 0), offsets[KERNEL_MAP_RANK];
  MlirValue buffer = x->buffers[part % x->buffer_count];
  int32_t first = (int32_t)(part * tensor_dim(x->part, 1));
  if (x->parts > 1)
    value = build_part(b, value, x->part, (int32_t[]){0, first});
  if (x->buffer_count == 1)
    build_map_wait(b, s->warps);
  build_local_store(b, value, buffer);
  if (x->buffer_count > 1)
    build_map_wait(b, s->warps);
  unsigned rank = (unsigned)mlirOperationGetNumOperands(x->op) - 1;
  for (unsigned i = 0; i < rank; i++)
    offsets[i] = mlirOperationGetOperand(x->op, 1 + (intptr_t)i);
  if (first)
    offsets[rank - 1] = build_binary(b, OP_ARITH_ADDI, offsets[rank - 1],
                                     build_const_int(b, mlir_of_dtype(b->c, DTYPE_I32), first));
  struct str kind = op_attr_str(x->op, "reduction");
  char reduction[8] = "";
  if (kind.len < sizeof reduction)
    memcpy(reduction, kind.ptr, kind.len);
  build_buffer_map_store(b, x->map, buffer, rank, offsets, s->warps, reduction);
}

void map_stores_lower(struct map_stores *s, struct ir_context *c, struct builder *end) {
  for (size_t i = 0; i < s->at.len; i++) {
    struct map_store *x = &s->at.at[i];
    struct builder b = builder_before(c, x->op);
    for (unsigned part = 0; part < x->parts; part++)
      store_part(s, x, &b, part);
    op_erase(x->op);
  }
  if (s->at.len)
    build_map_wait(end, s->warps);
  for (size_t i = 0; i < s->at.len; i++)
    for (unsigned k = 0; k < s->at.at[i].buffer_count; k++)
      build_ring_end(end, s->at.at[i].buffers[k]);
}
