// SPDX-License-Identifier: Apache-2.0
// Checks of rings of buffers and of accesses through tensor maps.
#include "mlir-dialects/rings.h"
#include "mlir-dialects/verify_needs.h"

static bool read_map(struct checked *k, struct kernel_map *ret) {
  int64_t number;
  MlirOperation module = k->op;
  while (!mlirOperationIsNull(mlirOperationGetParentOperation(module)))
    module = mlirOperationGetParentOperation(module);
  if (!want_i32(k, "map", &number))
    return false;
  return (number >= 0 && module_map(k->c, module, (uint32_t)number, ret)) ||
         wrong(k, "needs map %lld of the module's `tile.maps`", (long long)number);
}

static bool want_map(struct checked *k, unsigned rank) {
  struct kernel_map map;
  if (!read_map(k, &map))
    return false;
  return map.rank == rank ||
         wrong(k, "has %u offsets for a map of rank %u", rank, (unsigned)map.rank);
}

static bool want_positive(struct checked *k, const char *name, int64_t most) {
  int64_t n;
  return want_i32(k, name, &n) &&
         ((n >= 1 && n <= most) || wrong(k, "cannot have %lld `%s`", (long long)n, name));
}

enum { MAX_SLOTS = 1024, MAX_BYTES = (1 << 20) - 1 }; // of a phase: PTX ISA, "mbarrier"

static bool want_ring(struct checked *k, intptr_t barriers) {
  int64_t ring;
  if (!want_i32(k, "ring", &ring) || !want_positive(k, "slots", MAX_SLOTS))
    return false;
  MlirType t = operand_type(k, barriers);
  MlirType tile = type_is_memdesc(k->c, t) ? memdesc_tile(k->c, t) : t;
  bool ok = type_is_memdesc(k->c, t) && tensor_rank(tile) == 1 &&
            tensor_dim(tile, 0) >= 2 * op_attr_int(k->op, "slots", 0) &&
            mlirTypeEqual(element_type(tile), mlir_of_dtype(k->c, DTYPE_I64));
  return ok || wrong(k, "needs a buffer of two i64 for each slot, not `%s`", text(k, t));
}

// A tile has the columns and the rows of a block; other dimensions of the map have one element.
static bool want_block(struct checked *k, MlirType tile, intptr_t offsets) {
  if ((intptr_t)tensor_rank(tile) > offsets)
    return wrong(k, "needs an offset for each dimension of `%s`", text(k, tile));
  if (tensor_rank(tile) != 2)
    return wrong(k, "needs a matrix, not `%s`", text(k, tile));
  return want_map(k, (unsigned)offsets);
}

static bool check_map_load(struct checked *k) {
  MlirType block = result_type(k);
  if (!type_is_tensor(block))
    return wrong(k, "cannot load `%s`", text(k, block));
  return want_block(k, block, operand_count(k));
}

// `ctas`: how many CTAs share it.
static bool want_ctas(struct checked *k) {
  int64_t n = op_attr_int(k->op, "ctas", 2);
  return (n > 1 && kernel_ctas_are_valid((uint32_t)n)) ||
         wrong(k, "cannot be shared by %lld CTAs", (long long)n);
}

// Operands from number `first` on: the base, sizes, and strides.
static bool check_map_make(struct checked *k, intptr_t first) {
  struct kernel_map map;
  if (!read_map(k, &map))
    return false;
  intptr_t numbers = operand_count(k) - first - 1;
  if (!map.made)
    return wrong(k, "makes a map that the launch makes");
  if (numbers != 2 * (intptr_t)map.rank - 1)
    return wrong(k, "has %d sizes and strides for a map of rank %u", (int)numbers,
                 (unsigned)map.rank);
  return type_is_ptr(k->c, operand_type(k, first)) ||
         wrong(k, "needs a pointer, not `%s`", text(k, operand_type(k, first)));
}

static bool check_map_copy(struct checked *k) {
  MlirType t = operand_type(k, 0);
  if (!type_is_memdesc(k->c, t))
    return wrong(k, "cannot load `%s`", text(k, t));
  return want_ring(k, 1) && want_block(k, memdesc_tile(k->c, t), operand_count(k) - 3) &&
         want_ctas(k);
}

// `warps`: the size of groups of warps, if there is one.
static bool want_groups(struct checked *k) {
  return mlirAttributeIsNull(op_attr(k->op, "warps")) || want_positive(k, "warps", 32);
}

// The first operand is the tile or the buffer.
static bool check_map_store(struct checked *k) {
  MlirType t = operand_type(k, 0);
  bool is_buffer = k->id == OP_GPU_MAP_STORE;
  if (is_buffer ? !type_is_memdesc(k->c, t) : !type_is_tensor(t))
    return wrong(k, "cannot store `%s`", text(k, t));
  MlirType tile = is_buffer ? memdesc_tile(k->c, t) : t;
  return want_block(k, tile, operand_count(k) - 1) && want_groups(k);
}

static bool check_set_registers(struct checked *k) {
  int64_t count;
  return want_i32(k, "count", &count) && want_bool(k, "grows") &&
         ((count >= 24 && count <= 256 && count % 8 == 0) || // PTX ISA, "setmaxnreg"
          wrong(k, "cannot set %lld registers", (long long)count));
}

static bool check_ping_pong(struct checked *k) {
  int64_t step;
  return want_i32(k, "step", &step) && ((step >= PING_PONG_OPEN && step <= PING_PONG_END) ||
                                        wrong(k, "ping-pong has no step %lld", (long long)step));
}

static bool check_ring_release(struct checked *k) {
  int64_t keep;
  return want_ring(k, 0) && want_i32(k, "keep", &keep) &&
         ((keep >= 0 && keep < op_attr_int(k->op, "slots", 0)) ||
          wrong(k, "cannot keep %lld slots", (long long)keep));
}

static bool want_buffer(struct checked *k) {
  return type_is_memdesc(k->c, operand_type(k, 0)) ||
         wrong(k, "needs a buffer, not `%s`", text(k, operand_type(k, 0)));
}

bool check_ring(struct checked *k) {
  switch (k->id) {
  case OP_TILE_MAP_LOAD: return check_map_load(k);
  case OP_TILE_MAP_STORE:
  case OP_GPU_MAP_STORE: return check_map_store(k);
  case OP_GPU_RING_INIT: return want_ring(k, 0) && want_ctas(k);
  case OP_TILE_MAP_MAKE: return check_map_make(k, 0);
  case OP_GPU_MAP_MAKE: return want_buffer(k) && check_map_make(k, 1);
  case OP_GPU_RING_DRAIN:
  case OP_GPU_RING_FULL: return want_ring(k, 0);
  case OP_GPU_RING_EMPTY: return want_ring(k, 0) && want_positive(k, "bytes", MAX_BYTES);
  case OP_GPU_RING_RELEASE: return check_ring_release(k);
  case OP_GPU_MAP_COPY: return check_map_copy(k);
  case OP_GPU_MAP_WAIT:
  case OP_GPU_BARRIER: return want_groups(k);
  case OP_GPU_IS_PRODUCER: return want_bool(k, "leader");
  case OP_GPU_SET_REGISTERS: return check_set_registers(k);
  case OP_GPU_PING_PONG: return check_ping_pong(k);
  case OP_GPU_MAPS_OPEN:
  case OP_GPU_RING_END: return want_buffer(k);
  default: return true;
  }
}
