// SPDX-License-Identifier: Apache-2.0
// Stores and atomic operations through tensor maps, in kernels that load through them.
#include "lowering/passes/use_tensor_maps_blocks.h"
#include "lowering/plan/ring_sites.h"
#include "lowering/plan/ring_slots.h"
#include "mlir-dialects/descriptor.h"
#include "mlir-dialects/rings.h"

// TMA writes asynchronously: the kernel's other accesses would not wait for it.
static bool may_be_accessed(struct map_uses *s, const struct map_store_use *store) {
  for (size_t i = 0; i < s->accessed.len; i++)
    if (store->memory < 0 || s->accessed.at[i] < 0 || s->accessed.at[i] == store->memory)
      return true;
  for (size_t i = 0; i < s->stores.len; i++) {
    const struct map_store_use *other = &s->stores.at[i];
    bool same_kind = other->id == store->id && str_eq(other->kind, store->kind);
    bool same_memory = store->memory < 0 || other->memory < 0 || other->memory == store->memory;
    if (!same_kind && same_memory)
      return true;
  }
  return false;
}

// The operation of cp.reduce.async.bulk.tensor for a kind of tile.descriptor_reduce, whose elements
// have 16 or 32 bits; NULL: there is none. Sets the sign of the map's elements.
static const char *reduction_of(struct str kind, struct kernel_map *map) {
  static const struct {
    const char *kind, *name;
    bool is_unsigned;
  } rows[] = {{"add", "add", false},  {"fadd", "add", false}, {"and", "and", false},
              {"or", "or", false},    {"xor", "xor", false},  {"max", "max", false},
              {"min", "min", false},  {"umax", "max", true},  {"umin", "min", true},
              {"fmax", "max", false}, {"fmin", "min", false}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (str_is(kind, rows[i].kind)) {
      map->dtype = rows[i].is_unsigned ? DTYPE_U32 : map->dtype;
      return rows[i].name;
    }
  return NULL;
}

// Does the block have room beside the rings, if its layout does not let it be cut?
static bool store_fits(struct map_uses *s, MlirType block) {
  uint64_t bytes = s->other_bytes + map_block_bytes(s, block);
  return bytes < UINT32_MAX &&
         ring_slots_that_fit(s->p->target, s->slot_bytes, (uint32_t)bytes) >= LEAST_RING_SLOTS;
}

// TMA writes whole chunks of 16 bytes. Elements behind the end of a row keep their values only if
// rows end with a chunk, as those of a dense tensor do.
static bool rows_are_chunks(struct map_uses *s, const struct descriptor_access *x, MlirType block) {
  MlirValue size = x->of.sizes[x->of.rank - 1];
  int64_t chunk = DESCRIPTOR_ALIGNMENT * 8 / type_bits(s->c, element_type(block));
  return descriptor_stride_of_size(s->c, &x->of, x->of.rank - 1) >= 0 ||
         axis_info_of(s->axis, size)->divisibility[0] % chunk == 0;
}

// The stored block without its dimensions of one element.
static MlirValue matrix_of(struct map_uses *s, struct builder *b, MlirValue block) {
  MlirType matrix = map_block_matrix(mlirValueGetType(block));
  MlirOperation def = value_def(block);
  if (mlirTypeEqual(matrix, mlirValueGetType(block)))
    return block;
  if (!mlirOperationIsNull(def) && op_is(s->c, def, OP_TILE_RESHAPE) &&
      mlirTypeEqual(matrix, mlirValueGetType(mlirOperationGetOperand(def, 0))))
    return mlirOperationGetOperand(def, 0);
  int64_t shape[] = {tensor_dim(matrix, 0), tensor_dim(matrix, 1)};
  return build_reshape(b, block, 2, shape, false);
}

void map_rewrite_store(struct map_uses *s, const struct map_store_use *use) {
  MlirOperation store = use->op;
  struct descriptor_access x;
  struct kernel_map map;
  if (!descriptor_access_of(s->c, store, &x))
    return;
  MlirType block = mlirValueGetType(x.value);
  const char *why = map_why_not_block(s, block);
  if (!why && may_be_accessed(s, use))
    why = "the kernel may access that memory otherwise";
  if (!why && map_is_unaligned(s, store))
    why = "its base is not aligned to 16 bytes";
  if (!why && map_begins_in_chunk(s, store, block))
    why = "its first column may not be a multiple of 16 bytes";
  if (!why && !rows_are_chunks(s, &x, block))
    why = "rows may end within 16 bytes, all of which it would write";
  if (!why && !store_fits(s, block))
    why = "shared memory does not hold the block beside those that are loaded";
  if (!why && !map_of_access(s, store, block, &map))
    why = "the launch cannot compute its base, sizes and strides";
  bool reduces = use->id == OP_TILE_DESCRIPTOR_REDUCE;
  const char *reduction = reduces && !why ? reduction_of(use->kind, &map) : "";
  if (!why && !reduction)
    why = "TMA has no such atomic operation";
  if (why) {
    pass_remark(s->p, store, "descriptors", "%s without TMA: %s", reduces ? "combined" : "stored",
                why);
    return;
  }
  s->other_bytes += map_block_bytes(s, block);
  struct builder b = builder_before(s->c, store);
  build_map_store(&b, module_map_add(s->c, mlirModuleGetOperation(s->p->module), &map),
                  matrix_of(s, &b, x.value), x.of.rank, x.offsets, reduction);
  op_erase(store);
}
