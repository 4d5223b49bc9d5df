// SPDX-License-Identifier: Apache-2.0
// use-tensor-maps: blocks of tensor descriptors that feed products in loops are loaded through
// tensor maps, which the launch makes from the kernel's arguments (base/kernel_info.h).
//
//   %t = descriptor_load(%p, [%m, %n], [%s], [%i, %j])   ->   %t = map_load(%i, %j) {map = 0}
//   module {tile.maps = [{base = 0, sizes = ["p3", "p4"], strides = ["p5"], box = ..., ...}]}
//
// specialize-warps gives these loads to warps of their own. So the pass takes only loads of
// products that wgmma computes, whose descriptor the launch can compute, and whose offsets and
// control flow one thread can. In a kernel with such loads, the blocks that its epilogue loads come
// in the same way, and blocks are stored so (map_store), unless it accesses that memory in other
// ways too. All others are left to rewrite-descriptors.
//
// Tiles have two dimensions. Those of one element in a block of [1, M, N] or [1, M, 1, N] have an
// offset, but are no dimension of the tile:
//
//   %b = descriptor_load(...) -> tensor<1xMxN>, %t = reshape(%b)   ->   %t = map_load(%b, %i, %j)
#include "base/vec.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/chained_dots.h"
#include "lowering/analysis/launch_value.h"
#include "lowering/analysis/producer_slice.h"
#include "lowering/analysis/provenance.h"
#include "lowering/pass.h"
#include "lowering/passes/wgmma_choice.h"
#include "lowering/plan/ring_sites.h"
#include "lowering/plan/ring_slots.h"
#include "mlir-dialects/descriptor.h"
#include "mlir-dialects/rings.h"

enum {
  MAX_BOX = 256,    // elements of a dimension (cuTensorMapEncodeTiled)
  LEAST_ROWS = 8,   // that a swizzle permutes
  GOOD_STAGES = 3,  // of products: what the epilogue loads leaves room for them
  LEAST_INNER = 32, // bytes: the narrowest swizzle
};

struct load {
  MlirOperation op;
  struct kernel_map map;
};

struct state {
  struct pass_context *p;
  struct ir_context *c;
  MlirOperation kernel;
  struct axis_analysis *axis;
  VEC(MlirOperation) loads, stores;
  VEC(MlirOperation) asked; // loops with `warp_specialize=True`
  VEC(struct load) chosen;
  // Of all products' loads; of other loads, and of stores if they are not cut.
  uint64_t slot_bytes, other_bytes;
  VEC(int) accessed; // arguments that other ops than these access; -1: unknown
  VEC(int) written;  // arguments that any op writes to
  bool has_assembly; // with effects: it may have barriers of the CTA
};

static void note_access(struct state *s, MlirOperation op) {
  unsigned flags = op_flags(s->c, op);
  bool calls = op_is(s->c, op, OP_FUNC_CALL);
  if (!calls && !(flags & (OP_READ | OP_WRITE)))
    return;
  int at = calls ? -1 : pointer_argument(s->c, mlirOperationGetOperand(op, 0));
  if (!op_is(s->c, op, OP_TILE_DESCRIPTOR_STORE))
    vec_push(s->p->scratch, &s->accessed, at);
  if (calls || (flags & OP_WRITE))
    vec_push(s->p->scratch, &s->written, at);
}

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_attr_bool(op, "tile.warp_specialize"))
    vec_push(s->p->scratch, &s->asked, op);
  if (op_is(s->c, op, OP_TILE_DESCRIPTOR_LOAD))
    vec_push(s->p->scratch, &s->loads, op);
  if (op_is(s->c, op, OP_TILE_DESCRIPTOR_STORE))
    vec_push(s->p->scratch, &s->stores, op);
  if (op_is(s->c, op, OP_TILE_INLINE_ASM))
    s->has_assembly |= !op_is_pure(s->c, op);
  note_access(s, op);
  return true;
}

// The tile of a block: its rows, the only dimension in front of the last with more than one
// element, and its columns. Null if there are more such dimensions.
static MlirType block_matrix(MlirType block) {
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

// Is it a block without its dimensions of one element?
static bool is_matrix_view(struct state *s, MlirOperation op) {
  if (!op_is(s->c, op, OP_TILE_RESHAPE))
    return false;
  MlirType matrix = block_matrix(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  return !mlirTypeIsNull(matrix) &&
         mlirTypeEqual(matrix, mlirValueGetType(mlirOperationGetResult(op, 0)));
}

static bool is_view(struct state *s, MlirOperation op) {
  return op_is(s->c, op, OP_TILE_TRANS) || is_matrix_view(s, op);
}

// The product that the tile is an operand of, maybe transposed; null if it has other users.
static MlirOperation product_of(struct state *s, MlirValue tile) {
  MlirOperation product = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(tile); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    bool is_operand = op_is(s->c, user, OP_TILE_DOT) && mlirOpOperandGetOperandNumber(use) < 2;
    product = is_view(s, user) ? product_of(s, mlirOperationGetResult(user, 0))
              : is_operand     ? user
                               : (MlirOperation){NULL};
    if (mlirOperationIsNull(product))
      return product;
  }
  return product;
}

// Is the load in a loop, or before a loop that has the product?
static bool is_repeated(struct state *s, MlirOperation load, MlirOperation product) {
  MlirOperation parent = mlirOperationGetParentOperation(load);
  return op_is(s->c, parent, OP_SCF_FOR) ||
         (mlirOperationEqual(parent, s->kernel) &&
          op_is(s->c, mlirOperationGetParentOperation(product), OP_SCF_FOR));
}

static uint64_t block_bytes(struct state *s, MlirType block) {
  return (uint64_t)tensor_numel(block) * type_bits(s->c, element_type(block)) / 8;
}

// NULL: the block is one that TMA copies and wgmma reads.
static const char *why_not_block(struct state *s, MlirType block) {
  MlirType matrix = block_matrix(block);
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

// Is K the contiguous dimension of the tile, or of its transpose, wherever it is an operand?
static bool has_k_inside(struct state *s, MlirValue tile, bool transposed) {
  bool inside = true;
  for (MlirOpOperand use = mlirValueGetFirstUse(tile); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (is_view(s, user))
      inside &= has_k_inside(s, mlirOperationGetResult(user, 0),
                             transposed != op_is(s->c, user, OP_TILE_TRANS));
    else
      inside &= (mlirOpOperandGetOperandNumber(use) == 0) != transposed;
  }
  return inside;
}

static bool wgmma_reads(struct state *s, MlirValue tile, MlirOperation product) {
  return wgmma_fits(s->p->target, s->p->num_warps, product) &&
         (!wgmma_needs_k_inside(product) || has_k_inside(s, tile, false));
}

static const char *why_not(struct state *s, MlirOperation load) {
  MlirOperation product = product_of(s, mlirOperationGetResult(load, 0));
  if (mlirOperationIsNull(product))
    return "it has users that are no products";
  if (!is_repeated(s, load, product))
    return "it is not in a loop";
  if (!wgmma_reads(s, mlirOperationGetResult(load, 0), product))
    return "wgmma does not compute the product";
  if (!wgmma_has_whole_rows(s->p->num_warps, product) &&
      dot_is_chained(s->c, product, s->p->scratch))
    return "the product feeds another one, or is fed by it, and warps have parts of rows";
  const char *why = why_not_block(s, mlirValueGetType(mlirOperationGetResult(load, 0)));
  return why ? why : producer_cannot_compute(s->c, s->kernel, load, s->p->scratch);
}

static bool is_unaligned(struct state *s, MlirOperation op) {
  return pointer_is_unaligned(s->c, s->kernel, op, mlirOperationGetOperand(op, 0));
}

// The map of the descriptor; its box and swizzle are chosen with the buffers (specialize_warps.c).
static bool map_of(struct state *s, MlirOperation op, MlirType block, struct kernel_map *ret) {
  struct descriptor_access x;
  struct arena *a = s->p->scratch;
  if (!descriptor_access_of(s->c, op, &x))
    return false;
  *ret = (struct kernel_map){.dtype = dtype_of_mlir(element_type(block)),
                             .rank = x.of.rank,
                             .pads_nan = str_is(op_attr_str(op, "padding"), "nan")};
  if (!launch_pointer_of(s->c, s->kernel, x.of.base, a, &ret->base, &ret->offset))
    return false;
  for (unsigned i = 0; i < x.of.rank; i++) {
    ret->box[i] = (uint32_t)tensor_dim(block, i);
    if (!launch_value_of(s->c, s->kernel, x.of.sizes[i], a, &ret->sizes[i]))
      return false;
    if (i + 1 < x.of.rank &&
        !launch_value_of(s->c, s->kernel, x.of.strides[i], a, &ret->strides[i]))
      return false;
  }
  return true;
}

// ---- loads ----

// The producer runs ahead: what the kernel writes is not there yet.
static bool may_be_written(struct state *s, MlirOperation load) {
  int from = pointer_argument(s->c, mlirOperationGetOperand(load, 0));
  for (size_t i = 0; i < s->written.len; i++)
    if (from < 0 || s->written.at[i] < 0 || s->written.at[i] == from)
      return true;
  return false;
}

static void explain(struct state *s, MlirOperation load, const char *why) {
  pass_remark(s->p, load, "descriptors", "loaded without TMA: %s", why);
}

// NULL: the launch can make the load's map, *ret.
static const char *why_no_map(struct state *s, MlirOperation load, struct kernel_map *ret) {
  MlirType block = mlirValueGetType(mlirOperationGetResult(load, 0));
  if (is_unaligned(s, load))
    return "its base is not aligned to 16 bytes";
  if (may_be_written(s, load))
    return "the kernel may write that memory";
  if (!map_of(s, load, block, ret))
    return "the launch cannot compute its base, sizes and strides";
  return NULL;
}

static void choose(struct state *s, MlirOperation load) {
  struct load l = {.op = load};
  const char *why = why_not(s, load);
  why = why ? why : why_no_map(s, load, &l.map);
  if (why)
    explain(s, load, why);
  else
    vec_push(s->p->scratch, &s->chosen, l);
}

// Shared memory has two slots of each ring.
static bool rings_fit(struct state *s) {
  struct ring_sites sites;
  VEC(MlirOperation) loads = {0};
  for (size_t i = 0; i < s->chosen.len; i++)
    vec_push(s->p->scratch, &loads, s->chosen.at[i].op);
  ring_sites_find(s->c, loads.at, loads.len, s->p->scratch, &sites);
  s->slot_bytes = ring_sites_slot_bytes(s->c, &sites, false);
  s->other_bytes = ring_sites_slot_bytes(s->c, &sites, true);
  bool fit = s->other_bytes < UINT32_MAX &&
             ring_slots_that_fit(s->p->target, s->slot_bytes, (uint32_t)s->other_bytes) >=
                 LEAST_RING_SLOTS;
  for (size_t i = 0; i < s->chosen.len && !fit; i++)
    explain(s, s->chosen.at[i].op, "shared memory does not hold two blocks of each load");
  return fit;
}

// Does a product read the tile, or its transpose?
static bool feeds_product(struct state *s, MlirValue tile) {
  for (MlirOpOperand use = mlirValueGetFirstUse(tile); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (op_is(s->c, user, OP_TILE_DOT) ||
        (is_view(s, user) && feeds_product(s, mlirOperationGetResult(user, 0))))
      return true;
  }
  return false;
}

// A block of the epilogue has one slot, beside as many slots of products as keep them fast.
static bool leaves_stages(struct state *s, MlirType block) {
  unsigned good = s->p->num_stages < GOOD_STAGES ? s->p->num_stages : GOOD_STAGES;
  uint64_t bytes = s->other_bytes + block_bytes(s, block);
  return bytes < UINT32_MAX &&
         ring_slots_that_fit(s->p->target, s->slot_bytes, (uint32_t)bytes) >= good;
}

static const char *why_not_other(struct state *s, MlirOperation load, struct kernel_map *ret) {
  MlirType block = mlirValueGetType(mlirOperationGetResult(load, 0));
  MlirOperation parent = mlirOperationGetParentOperation(load);
  if (!op_is(s->c, parent, OP_SCF_FOR) && !mlirOperationEqual(parent, s->kernel))
    return "it is in a branch";
  const char *why = why_not_block(s, block);
  why = why ? why : producer_cannot_compute(s->c, s->kernel, load, s->p->scratch);
  if (!why && !leaves_stages(s, block))
    why = "shared memory does not hold it beside three slots of the operands";
  return why ? why : why_no_map(s, load, ret);
}

// Loads of blocks that products do not read, beside loads that they do.
static void choose_other(struct state *s, MlirOperation load) {
  struct load l = {.op = load};
  MlirValue tile = mlirOperationGetResult(load, 0);
  const char *why = why_not_other(s, load, &l.map);
  if (why) {
    explain(s, load, why);
    return;
  }
  s->other_bytes += block_bytes(s, mlirValueGetType(tile));
  vec_push(s->p->scratch, &s->chosen, l);
}

// Uses the matrix instead of the block's views; other users get the block.
static void replace_block(struct state *s, struct builder *b, MlirValue block, MlirValue matrix) {
  MlirType type = mlirValueGetType(block);
  if (mlirTypeEqual(type, mlirValueGetType(matrix))) {
    value_replace(block, matrix);
    return;
  }
  VEC(MlirOperation) views = {0};
  for (MlirOpOperand use = mlirValueGetFirstUse(block); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (is_matrix_view(s, mlirOpOperandGetOwner(use)))
      vec_push(s->p->scratch, &views, mlirOpOperandGetOwner(use));
  for (size_t i = 0; i < views.len; i++) {
    value_replace(mlirOperationGetResult(views.at[i], 0), matrix);
    op_erase(views.at[i]);
  }
  int64_t shape[KERNEL_MAP_RANK];
  for (unsigned i = 0; i < tensor_rank(type); i++)
    shape[i] = tensor_dim(type, i);
  if (value_has_uses(block))
    value_replace(block, build_reshape(b, matrix, tensor_rank(type), shape, false));
}

static void rewrite(struct state *s, const struct load *load) {
  struct descriptor_access x;
  descriptor_access_of(s->c, load->op, &x);
  uint32_t number = module_map_add(s->c, mlirModuleGetOperation(s->p->module), &load->map);
  struct builder b = builder_before(s->c, load->op);
  MlirValue old = mlirOperationGetResult(load->op, 0);
  MlirType matrix = block_matrix(mlirValueGetType(old));
  replace_block(s, &b, old, build_map_load(&b, number, x.of.rank, x.offsets, matrix));
  op_erase(load->op);
}

// ---- stores ----

// TMA writes asynchronously: the kernel's other accesses would not wait for it.
static bool may_be_accessed(struct state *s, MlirOperation store) {
  int to = pointer_argument(s->c, mlirOperationGetOperand(store, 0));
  for (size_t i = 0; i < s->accessed.len; i++)
    if (to < 0 || s->accessed.at[i] < 0 || s->accessed.at[i] == to)
      return true;
  return false;
}

// Does the block have room beside the rings, if its layout does not let it be cut?
static bool store_fits(struct state *s, MlirType block) {
  uint64_t bytes = s->other_bytes + block_bytes(s, block);
  return bytes < UINT32_MAX &&
         ring_slots_that_fit(s->p->target, s->slot_bytes, (uint32_t)bytes) >= LEAST_RING_SLOTS;
}

// TMA writes whole chunks of 16 bytes. Elements behind the end of a row keep their values only if
// rows end with a chunk, as those of a dense tensor do.
static bool rows_are_chunks(struct state *s, const struct descriptor_access *x, MlirType block) {
  MlirValue size = x->of.sizes[x->of.rank - 1];
  int64_t chunk = DESCRIPTOR_ALIGNMENT * 8 / type_bits(s->c, element_type(block));
  return descriptor_stride_of_size(s->c, &x->of, x->of.rank - 1) >= 0 ||
         axis_info_of(s->axis, size)->divisibility[0] % chunk == 0;
}

// The stored block without its dimensions of one element.
static MlirValue matrix_of(struct state *s, struct builder *b, MlirValue block) {
  MlirType matrix = block_matrix(mlirValueGetType(block));
  MlirOperation def = value_def(block);
  if (mlirTypeEqual(matrix, mlirValueGetType(block)))
    return block;
  if (!mlirOperationIsNull(def) && op_is(s->c, def, OP_TILE_RESHAPE) &&
      mlirTypeEqual(matrix, mlirValueGetType(mlirOperationGetOperand(def, 0))))
    return mlirOperationGetOperand(def, 0);
  int64_t shape[] = {tensor_dim(matrix, 0), tensor_dim(matrix, 1)};
  return build_reshape(b, block, 2, shape, false);
}

static void rewrite_store(struct state *s, MlirOperation store) {
  struct descriptor_access x;
  struct kernel_map map;
  if (!descriptor_access_of(s->c, store, &x))
    return;
  MlirType block = mlirValueGetType(x.value);
  const char *why = why_not_block(s, block);
  if (!why && may_be_accessed(s, store))
    why = "the kernel may access that memory otherwise";
  if (!why && is_unaligned(s, store))
    why = "its base is not aligned to 16 bytes";
  if (!why && !rows_are_chunks(s, &x, block))
    why = "rows may end within 16 bytes, all of which it would write";
  if (!why && !store_fits(s, block))
    why = "shared memory does not hold the block beside those that are loaded";
  if (!why && !map_of(s, store, block, &map))
    why = "the launch cannot compute its base, sizes and strides";
  if (why) {
    pass_remark(s->p, store, "descriptors", "stored without TMA: %s", why);
    return;
  }
  s->other_bytes += block_bytes(s, block);
  struct builder b = builder_before(s->c, store);
  build_map_store(&b, module_map_add(s->c, mlirModuleGetOperation(s->p->module), &map),
                  matrix_of(s, &b, x.value), x.of.rank, x.offsets);
  op_erase(store);
}

// Why the kernel has no producer; NULL: it has one.
static const char *choose_loads(struct state *s) {
  if (!s->p->target->has_tma)
    return "the target has no tensor maps";
  if (s->p->num_stages < LEAST_RING_SLOTS)
    return "one stage leaves nothing to load ahead";
  if (s->has_assembly)
    return "inline assembly with effects may have barriers of all warps";
  for (size_t i = 0; i < s->loads.len; i++)
    if (feeds_product(s, mlirOperationGetResult(s->loads.at[i], 0)))
      choose(s, s->loads.at[i]);
  if (s->chosen.len == 0)
    return "no product by wgmma reads blocks of tensor descriptors that the launch can describe";
  return rings_fit(s) ? NULL : "shared memory does not hold two blocks of each load";
}

enum pass_result pass_use_tensor_maps(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c, .kernel = module_kernel(p->c, p->module)};
  if (mlirOperationIsNull(s.kernel))
    return PASS_UNCHANGED;
  s.axis = axis_analyse(p->c, mlirModuleGetOperation(p->module), p->scratch);
  ir_walk(s.kernel, collect, &s);
  const char *why = choose_loads(&s);
  for (size_t i = 0; i < s.asked.len && why; i++)
    pass_remark(p, s.asked.at[i], "descriptors", "`warp_specialize` has no effect: %s", why);
  if (why)
    return PASS_UNCHANGED;
  for (size_t i = 0; i < s.loads.len; i++)
    if (!feeds_product(&s, mlirOperationGetResult(s.loads.at[i], 0)))
      choose_other(&s, s.loads.at[i]);
  for (size_t i = 0; i < s.chosen.len; i++)
    rewrite(&s, &s.chosen.at[i]);
  for (size_t i = 0; i < s.stores.len; i++)
    rewrite_store(&s, s.stores.at[i]);
  return PASS_CHANGED;
}
