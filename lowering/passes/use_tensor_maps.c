// SPDX-License-Identifier: Apache-2.0
// use-tensor-maps: blocks of tensor descriptors that feed products in loops are loaded through
// tensor maps, which the launch makes from the kernel's arguments (base/kernel_info.h).
//
//   %t = descriptor_load(%p, [%m, %n], [%s], [%i, %j])   ->   %t = map_load(%i, %j) {map = 0}
//   module {tile.maps = [{base = 0, sizes = ["p3", "p4"], strides = ["p5"], box = ..., ...}]}
//
// A descriptor that depends on memory or on the program has a map that the kernel makes
// (made_maps.h).
//
// specialize-warps gives these loads to warps of their own. So the pass takes only loads of
// products that wgmma computes, whose descriptor, offsets and control flow one thread can compute.
// In a kernel with such loads, the blocks that its epilogue loads come in the same way, and blocks
// are stored so (map_store), unless it accesses that memory in other ways too. All others are left
// to rewrite-descriptors.
//
// Tiles have two dimensions. Those of one element in a block of [1, M, N] or [1, M, 1, N] have an
// offset, but are no dimension of the tile:
//
//   %b = descriptor_load(...) -> tensor<1xMxN>, %t = reshape(%b)   ->   %t = map_load(%b, %i, %j)
#include "lowering/analysis/axis_info.h"
#include "lowering/analysis/chained_dots.h"
#include "lowering/analysis/launch_value.h"
#include "lowering/analysis/producer_slice.h"
#include "lowering/analysis/provenance.h"
#include "lowering/pass.h"
#include "lowering/passes/use_tensor_maps_blocks.h"
#include "lowering/passes/use_tensor_maps_requests.h"
#include "lowering/passes/wgmma_choice.h"
#include "lowering/plan/ring_sites.h"
#include "lowering/plan/ring_slots.h"
#include "mlir-dialects/descriptor.h"
#include "mlir-dialects/rings.h"

enum { GOOD_STAGES = 3 }; // of products: what the epilogue loads leaves room for them

static void note_access(struct map_uses *s, MlirOperation op) {
  unsigned flags = op_flags(s->c, op);
  bool calls = op_is(s->c, op, OP_FUNC_CALL);
  if (!calls && !(flags & (OP_READ | OP_WRITE)))
    return;
  int at = calls ? -1 : pointer_memory(s->c, mlirOperationGetOperand(op, 0));
  if (!op_is(s->c, op, OP_TILE_DESCRIPTOR_STORE) && !op_is(s->c, op, OP_TILE_DESCRIPTOR_REDUCE))
    vec_push(s->p->scratch, &s->accessed, at);
  if (calls || (flags & OP_WRITE))
    vec_push(s->p->scratch, &s->written, at);
}

static void note_store(struct map_uses *s, MlirOperation op) {
  struct map_store_use store = {op, op_id(s->c, op), op_attr_str(op, "kind"),
                                pointer_memory(s->c, mlirOperationGetOperand(op, 0))};
  vec_push(s->p->scratch, &s->stores, store);
}

static bool collect(MlirOperation op, void *user) {
  struct map_uses *s = user;
  if (op_is(s->c, op, OP_TILE_DESCRIPTOR_LOAD))
    vec_push(s->p->scratch, &s->loads, op);
  if (op_is(s->c, op, OP_TILE_DESCRIPTOR_STORE) || op_is(s->c, op, OP_TILE_DESCRIPTOR_REDUCE))
    note_store(s, op);
  if (op_is(s->c, op, OP_TILE_INLINE_ASM) && !op_is_pure(s->c, op))
    s->assembly = op;
  note_access(s, op);
  return true;
}

// Is it a block without its dimensions of one element?
static bool is_matrix_view(struct map_uses *s, MlirOperation op) {
  if (!op_is(s->c, op, OP_TILE_RESHAPE))
    return false;
  MlirType matrix = map_block_matrix(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  return !mlirTypeIsNull(matrix) &&
         mlirTypeEqual(matrix, mlirValueGetType(mlirOperationGetResult(op, 0)));
}

static bool is_view(struct map_uses *s, MlirOperation op) {
  return op_is(s->c, op, OP_TILE_TRANS) || is_matrix_view(s, op);
}

// The product that the tile is an operand of, maybe transposed; null if it has other users.
static MlirOperation product_of(struct map_uses *s, MlirValue tile) {
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
static bool is_repeated(struct map_uses *s, MlirOperation load, MlirOperation product) {
  MlirOperation parent = mlirOperationGetParentOperation(load);
  return op_is(s->c, parent, OP_SCF_FOR) ||
         (mlirOperationEqual(parent, s->kernel) &&
          op_is(s->c, mlirOperationGetParentOperation(product), OP_SCF_FOR));
}

// Is K the contiguous dimension of the tile, or of its transpose, wherever it is an operand?
static bool has_k_inside(struct map_uses *s, MlirValue tile, bool transposed) {
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

static const char *why_not(struct map_uses *s, MlirOperation load) {
  if (load_refuses_warps(s->p, load))
    return load_refuses_warps(s->p, load);
  MlirOperation product = product_of(s, mlirOperationGetResult(load, 0));
  if (mlirOperationIsNull(product))
    return "it has users that are no products";
  if (!is_repeated(s, load, product))
    return "it is not in a loop";
  const char *why_no_wgmma = wgmma_why_not(s->p->target, s->p->num_warps, product);
  if (why_no_wgmma)
    return arena_printf(s->c->arena, "wgmma does not compute the product: %s", why_no_wgmma);
  if (wgmma_needs_k_inside(product) && !has_k_inside(s, mlirOperationGetResult(load, 0), false))
    return "wgmma does not compute the product: K is not the contiguous dimension of the operand";
  if (!wgmma_has_whole_rows(s->p->num_warps, product) &&
      dot_is_chained(s->c, product, s->p->scratch))
    return "the product feeds another one, or is fed by it, and warps have parts of rows";
  const char *why = map_why_not_block(s, mlirValueGetType(mlirOperationGetResult(load, 0)));
  return why ? why : producer_cannot_compute(s->c, s->kernel, load, s->p->scratch);
}

// The producer runs ahead: what the kernel writes is not there yet.
static bool may_be_written(struct map_uses *s, MlirOperation load) {
  int from = pointer_memory(s->c, mlirOperationGetOperand(load, 0));
  for (size_t i = 0; i < s->written.len; i++)
    if (from < 0 || s->written.at[i] < 0 || s->written.at[i] == from)
      return true;
  return false;
}

static void explain(struct map_uses *s, MlirOperation load, const char *why) {
  pass_remark(s->p, load, "descriptors", "loaded without TMA: %s", why);
}

// The map that the kernel makes, if it does not have to in each iteration of the load's loop.
static bool made_map_of(struct map_uses *s, struct map_load_use *l) {
  struct descriptor_access x;
  if (!descriptor_access_of(s->c, l->op, &x) || s->made == KERNEL_MAX_MAPS)
    return false;
  l->point = made_map_point_of(s->c, s->kernel, &x.of, s->p->scratch);
  l->map.made = ++s->made;
  bool is_in_loop = op_is(s->c, mlirOperationGetParentOperation(l->op), OP_SCF_FOR);
  return !is_in_loop || !mlirBlockEqual(l->point.block, mlirOperationGetBlock(l->op));
}

// NULL: the launch can make the load's map, or the kernel itself.
static const char *why_no_map(struct map_uses *s, struct map_load_use *l) {
  MlirType block = mlirValueGetType(mlirOperationGetResult(l->op, 0));
  if (map_is_unaligned(s, l->op))
    return "its base is not aligned to 16 bytes";
  if (map_begins_in_chunk(s, l->op, block))
    return "its first column may not be a multiple of 16 bytes";
  if (may_be_written(s, l->op))
    return "the kernel may write that memory";
  if (!map_of_access(s, l->op, block, &l->map) && !made_map_of(s, l))
    return "its base, sizes or strides change in each iteration";
  return NULL;
}

static void choose(struct map_uses *s, MlirOperation load) {
  struct map_load_use l = {.op = load};
  const char *why = why_not(s, load);
  why = why ? why : why_no_map(s, &l);
  if (!why) {
    vec_push(s->p->scratch, &s->chosen, l);
    return;
  }
  explain(s, load, why);
  if (mlirOperationIsNull(s->refused))
    s->refused = load, s->why_refused = why;
}

// Shared memory has two slots of each ring.
static bool rings_fit(struct map_uses *s) {
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
static bool feeds_product(struct map_uses *s, MlirValue tile) {
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
static bool leaves_stages(struct map_uses *s, MlirType block) {
  unsigned good = s->p->num_stages < GOOD_STAGES ? s->p->num_stages : GOOD_STAGES;
  uint64_t bytes = s->other_bytes + map_block_bytes(s, block);
  return bytes < UINT32_MAX &&
         ring_slots_that_fit(s->p->target, s->slot_bytes, (uint32_t)bytes) >= good;
}

// Is it loaded in the iterations of a product's loop, beside an operand that TMA loads?
static bool is_beside_operand(struct map_uses *s, MlirOperation load) {
  bool is_beside = false;
  for (size_t i = 0; i < s->chosen.len; i++)
    is_beside |=
        mlirBlockEqual(mlirOperationGetBlock(s->chosen.at[i].op), mlirOperationGetBlock(load));
  return is_beside && op_is(s->c, mlirOperationGetParentOperation(load), OP_SCF_FOR);
}

// Rows, such as statistics of the rows of an operand, are worth it beside operands alone.
static const char *why_not_other(struct map_uses *s, struct map_load_use *l) {
  MlirOperation load = l->op;
  MlirType block = mlirValueGetType(mlirOperationGetResult(load, 0));
  MlirOperation parent = mlirOperationGetParentOperation(load);
  if (!op_is(s->c, parent, OP_SCF_FOR) && !op_is(s->c, parent, OP_SCF_WHILE) &&
      !mlirOperationEqual(parent, s->kernel))
    return "it is in a branch";
  const char *why =
      is_beside_operand(s, load) && !map_why_not_row(s, block) ? NULL : map_why_not_block(s, block);
  why = why ? why : producer_cannot_compute(s->c, s->kernel, load, s->p->scratch);
  if (!why && !leaves_stages(s, block))
    why = "shared memory does not hold it beside three slots of the operands";
  return why ? why : why_no_map(s, l);
}

// Loads of blocks that products do not read, beside loads that they do.
static void choose_other(struct map_uses *s, MlirOperation load) {
  struct map_load_use l = {.op = load};
  MlirValue tile = mlirOperationGetResult(load, 0);
  const char *why = why_not_other(s, &l);
  if (why) {
    explain(s, load, why);
    return;
  }
  s->other_bytes += map_block_bytes(s, mlirValueGetType(tile));
  vec_push(s->p->scratch, &s->chosen, l);
}

// Uses the matrix instead of the block's views; other users get the block.
static void replace_block(struct map_uses *s, struct builder *b, MlirValue block,
                          MlirValue matrix) {
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

static void rewrite(struct map_uses *s, const struct map_load_use *load) {
  struct descriptor_access x;
  descriptor_access_of(s->c, load->op, &x);
  uint32_t number = module_map_add(s->c, mlirModuleGetOperation(s->p->module), &load->map);
  if (load->map.made)
    made_map_build(s->c, &load->point, number, &x.of, mlirOperationGetLocation(load->op),
                   s->p->scratch);
  struct builder b = builder_before(s->c, load->op);
  MlirValue old = mlirOperationGetResult(load->op, 0);
  MlirType matrix = map_block_matrix(mlirValueGetType(old));
  replace_block(s, &b, old, build_map_load(&b, number, x.of.rank, x.offsets, matrix));
  op_erase(load->op);
}

static unsigned line_of(struct map_uses *s, MlirOperation op) {
  struct span at = op_span(s->c, op);
  return at.source ? source_line_col(at.source, at.begin).line : 0;
}

// Why none of the loads was chosen.
static const char *why_none(struct map_uses *s) {
  if (s->loads.len == 0)
    return "the kernel loads no blocks of tensor descriptors";
  if (mlirOperationIsNull(s->refused))
    return "no product reads a block of a tensor descriptor";
  return arena_printf(s->c->arena, "TMA cannot load the block in line %u, nor another operand: %s",
                      line_of(s, s->refused), s->why_refused);
}

// Why the kernel has no producer; NULL: it has one.
static const char *choose_loads(struct map_uses *s) {
  if (warps_refused(s->p))
    return warps_refused(s->p);
  if (!s->p->target->has_tma)
    return "the target has no tensor maps";
  if (s->p->num_stages < LEAST_RING_SLOTS)
    return "one stage leaves nothing to load ahead";
  if (!mlirOperationIsNull(s->assembly))
    return arena_printf(s->c->arena,
                        "inline assembly with effects in line %u may have barriers of all warps",
                        line_of(s, s->assembly));
  for (size_t i = 0; i < s->loads.len; i++)
    if (feeds_product(s, mlirOperationGetResult(s->loads.at[i], 0)))
      choose(s, s->loads.at[i]);
  if (s->chosen.len == 0)
    return why_none(s);
  return rings_fit(s) ? NULL : "shared memory does not hold two blocks of each load";
}

enum pass_result pass_use_tensor_maps(struct pass_context *p) {
  struct map_uses s = {.p = p, .c = p->c, .kernel = module_kernel(p->c, p->module)};
  if (mlirOperationIsNull(s.kernel))
    return PASS_UNCHANGED;
  s.axis = axis_analyse(p->c, mlirModuleGetOperation(p->module), p->scratch);
  ir_walk(s.kernel, collect, &s);
  const char *why = choose_loads(&s);
  loop_requests_answer(p, s.kernel, why);
  if (why)
    return PASS_UNCHANGED;
  for (size_t i = 0; i < s.loads.len; i++)
    if (!feeds_product(&s, mlirOperationGetResult(s.loads.at[i], 0)))
      choose_other(&s, s.loads.at[i]);
  for (size_t i = 0; i < s.chosen.len; i++)
    rewrite(&s, &s.chosen.at[i]);
  for (size_t i = 0; i < s.stores.len; i++)
    map_rewrite_store(&s, &s.stores.at[i]);
  return PASS_CHANGED;
}
