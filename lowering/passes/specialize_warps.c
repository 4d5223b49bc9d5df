// SPDX-License-Identifier: Apache-2.0
// specialize-warps: loads through tensor maps are issued by a warpgroup of their own, the producer,
// which runs ahead of the warps that compute by as many iterations as a ring has slots (Tawa, arXiv
// 2510.14719). The ring goes on over all loops around the load: in a persistent kernel the producer
// fills slots for the next tile while the others finish this one.
//
//   func {                                 func {
//     for %i {                               ring_init
//       %x = map_load(%i) {map = 0}          if is_producer {
//       dot %x, ...                  ->        for %i { %s = ring_empty   map_copy(%i) ->
//       buffer[%s] }
//     }                                      } else {
//     store ...                                for %i { %s = ring_full   %x = local_load buffer[%s]
//   }                                                   dot %x, ...      ring_release }
//                                              store ...
//                                            } }
//
// Stores through maps go through buffers of their own (map_stores.h). Operands of one product share
// a ring, and so one wait. The producer's code is a copy of the kernel without effects, of which
// dce leaves what the copies need (producer_slice.h).
#include "base/vec.h"
#include "base/wgmma.h"
#include "layouts/attr.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"
#include "lowering/pass.h"
#include "lowering/passes/clone_ops.h"
#include "lowering/passes/map_stores.h"
#include "lowering/plan/loop_buffers.h"
#include "lowering/plan/loop_loads.h"
#include "lowering/plan/ring_sites.h"
#include "lowering/plan/ring_slots.h"
#include "mlir-dialects/rings.h"

enum {
  PRODUCER_WARPS = WGMMA_WARPS, // a warpgroup, for setmaxnreg
  PRODUCER_REGISTERS = 40,
  MAX_REGISTERS = 240,    // of a thread that computes
  SM_REGISTERS = 65536,   // of a multiprocessor
  MANY_ACCUMULATORS = 64, // of a thread: fewer leave registers enough to all warps
  SWIZZLE = 128           // bytes: the widest
};

struct ring {
  struct ring_ref ref;
  MlirValue buffers[MAX_SITE_LOADS];
  unsigned buffer_count;
  uint32_t bytes; // of a slot
};

// A load of a site: map_load of the warps that compute, and of the producer.
struct ring_load {
  MlirOperation op, copy;
  uint32_t map;
};

struct state {
  struct pass_context *p;
  struct ir_context *c;
  MlirOperation module, kernel;
  VEC(MlirOperation) loads, copies; // in program order
  uint32_t *load_maps;              // [load]
  struct ring_sites sites;
  struct ring *rings; // [sites.ring_count]
  struct map_stores stores;
  uint32_t store_bytes; // at least
  bool has_many_accumulators;
  struct kernel_map *maps; // of the loads and stores
};

static bool collect(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_TILE_MAP_LOAD))
    vec_push(s->p->scratch, &s->loads, op);
  if (op_is(s->c, op, OP_TILE_MAP_STORE))
    vec_push(s->p->scratch, &s->stores.at, (struct map_store){.op = op});
  return true;
}

static bool collect_copy(MlirOperation op, void *user) {
  struct state *s = user;
  if (op_is(s->c, op, OP_TILE_MAP_LOAD))
    vec_push(s->p->scratch, &s->copies, op);
  return true;
}

// ---- rings ----

static uint64_t tile_bytes(struct state *s, MlirOperation load) {
  MlirType t = mlirValueGetType(mlirOperationGetResult(load, 0));
  return (uint64_t)tensor_numel(t) * type_bits(s->c, element_type(t)) / 8;
}

// The most slots of rings that run ahead; the others have one.
static unsigned most_slots(struct state *s) {
  uint64_t products = ring_sites_slot_bytes(s->c, &s->sites, false);
  uint64_t others = s->store_bytes + ring_sites_slot_bytes(s->c, &s->sites, true);
  return ring_slots_that_fit(s->p->target, products, (uint32_t)others);
}

// As many slots as the loop has stages, and as shared memory has room for.
static int32_t slots_for(struct state *s, const struct ring_site *site) {
  bool asked;
  if (site->is_held)
    return 1;
  MlirOperation loop = op_loop_around(s->c, site->loads[0]); // null: it had one iteration
  unsigned stages = mlirOperationIsNull(loop) ? LEAST_RING_SLOTS
                                              : loop_stages(s->c, loop, s->p->num_stages, &asked);
  unsigned most = most_slots(s);
  stages = stages < most ? stages : most;
  return (int32_t)(stages < LEAST_RING_SLOTS ? LEAST_RING_SLOTS : stages);
}

// The layout that the product's descriptors have if rows of memory are rows of the buffer; else
// one that TMA writes.
static MlirAttribute buffer_layout(struct state *s, MlirOperation load) {
  MlirType tile = mlirValueGetType(mlirOperationGetResult(load, 0));
  MlirAttribute wanted = loop_buffer_layout(s->c, s->p->target, load);
  const struct encoding *e = encoding_of_attr(s->c, wanted);
  if (e && e->kind == ENC_NVMMA_SHARED && !e->nvmma.transposed)
    return wanted;
  struct encoding own = {.kind = ENC_NVMMA_SHARED, .rank = 2};
  unsigned bits = type_bits(s->c, element_type(tile));
  int64_t inner = tensor_dim(tile, 1) * bits / 8;
  own.nvmma.swizzle = inner < SWIZZLE ? (uint32_t)inner : SWIZZLE;
  own.nvmma.element_bits = bits;
  return encoding_attr(s->c, &own);
}

// Takes the maps from the module: those that copies use are added again.
static void take_maps(struct state *s) {
  uint32_t n = module_map_count(s->module);
  s->maps = arena_array(s->p->scratch, struct kernel_map, n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (!module_map(s->c, s->module, i, &s->maps[i]))
      s->maps[i] = (struct kernel_map){.rank = 1}; // the verifier refuses loads by it
  mlirOperationRemoveAttributeByName(s->module, mlirStringRefCreateFromCString("tile.maps"));
}

// The map with the box and the swizzle of the buffer: rows of one swizzle.
static uint32_t map_for(struct state *s, MlirOperation load, MlirAttribute layout) {
  const struct encoding *e = encoding_of_attr(s->c, layout);
  struct kernel_map map = s->maps[op_attr_int(load, "map", 0)];
  return map_for_buffer(s->c, s->module, map, e);
}

static uint32_t next_pow2(uint32_t n) {
  uint32_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

static MlirValue build_barriers(struct state *s, struct builder *b, int32_t slots) {
  struct encoding e = {.kind = ENC_SHARED, .rank = 1};
  e.shared.vec = e.shared.per_phase = e.shared.max_phase = 1;
  int64_t count = 2 * next_pow2((uint32_t)slots);
  MlirType type = tensor_type(1, &count, mlir_of_dtype(s->c, DTYPE_I64), encoding_attr(s->c, &e));
  return build_local_alloc(b, (MlirValue){NULL}, type);
}

static size_t load_index(struct state *s, MlirOperation load) {
  size_t i = 0;
  while (!mlirOperationEqual(s->loads.at[i], load))
    i++;
  return i;
}

static struct ring_load load_of(struct state *s, const struct ring_site *site, unsigned i) {
  size_t k = load_index(s, site->loads[i]);
  return (struct ring_load){site->loads[i], s->copies.at[k], s->load_maps[k]};
}

// Buffers of the ring for the loads of its first site, whose layouts the others take over.
static void open_ring(struct state *s, struct builder *b, const struct ring_site *site) {
  struct ring *r = &s->rings[site->ring];
  *r = (struct ring){.ref.number = (int32_t)site->ring, .ref.slots = slots_for(s, site)};
  for (unsigned i = 0; i < site->count; i++) {
    MlirType tile = mlirValueGetType(mlirOperationGetResult(site->loads[i], 0));
    b->loc = mlirOperationGetLocation(site->loads[i]);
    MlirType type = type_with_encoding(tile, buffer_layout(s, site->loads[i]));
    r->buffers[r->buffer_count++] = build_local_ring(b, type, r->ref.slots);
    r->bytes += (uint32_t)tile_bytes(s, site->loads[i]);
  }
}

static void open_rings(struct state *s, struct builder *b) {
  struct arena *a = s->p->scratch;
  s->rings = arena_array(a, struct ring, s->sites.ring_count + 1);
  s->load_maps = arena_array(a, uint32_t, s->loads.len + 1);
  for (size_t i = 0; i < s->sites.at.len; i++) {
    const struct ring_site *site = &s->sites.at.at[i];
    struct ring *r = &s->rings[site->ring];
    if (!r->buffer_count)
      open_ring(s, b, site);
    for (unsigned k = 0; k < site->count; k++) {
      MlirType type = memdesc_tile(s->c, mlirValueGetType(r->buffers[k]));
      s->load_maps[load_index(s, site->loads[k])] =
          map_for(s, site->loads[k], tensor_encoding(type));
    }
  }
}

// ---- the producer ----

// Copies of the ops from `first` up to the block's terminator.
static void clone_ops(struct state *s, MlirOperation first, MlirBlock to) {
  struct clone_map m = {.arena = s->p->scratch};
  MlirOperation end = mlirBlockGetTerminator(mlirOperationGetBlock(first));
  for (MlirOperation op = first; !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op))
    clone_op(&m, op, to);
}

// A value for results that nothing live uses.
static MlirValue any_value(struct builder *b, MlirType type) {
  MlirType element = type_is_tensor(type) ? element_type(type) : type;
  MlirType i64 = mlir_of_dtype(b->c, DTYPE_I64);
  if (!type_is_ptr(b->c, element))
    return mlirTypeIsAFloat(element) ? build_const_float(b, type, 0) : build_const_int(b, type, 0);
  MlirType integers = type_is_tensor(type) ? type_with_element(type, i64) : i64;
  return build_cast(b, OP_TILE_INT_TO_PTR, build_const_int(b, integers, 0), type);
}

static void drop(struct state *s, MlirOperation op) {
  struct builder b = builder_before(s->c, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    if (value_has_uses(v))
      value_replace(v, any_value(&b, mlirValueGetType(v)));
  }
  op_erase(op);
}

static bool gives_buffer(struct state *s, MlirOperation op) {
  return mlirOperationGetNumResults(op) == 1 &&
         type_is_memdesc(s->c, mlirValueGetType(mlirOperationGetResult(op, 0)));
}

// From the end of each block: the users of a buffer are dropped before it.
static bool drop_effect(MlirOperation op, void *user) {
  struct state *s = user;
  switch (op_id(s->c, op)) {
  case OP_TILE_MAP_LOAD:
  case OP_TILE_LOAD:
  case OP_TILE_GRID_DEPENDENCY: // the producer's copies wait for the grid in front, too
  case OP_SCF_YIELD:
  case OP_SCF_CONDITION:
  case OP_GPU_IS_PRODUCER: return true;
  default:
    if (mlirOperationGetNumRegions(op) == 0 &&
        ((op_flags(s->c, op) & (OP_READ | OP_WRITE | OP_EFFECT)) || gives_buffer(s, op)))
      drop(s, op);
    return true;
  }
}

static void fill_ring(struct state *s, const struct ring_site *site) {
  const struct ring *r = &s->rings[site->ring];
  MlirValue slot = {NULL};
  for (unsigned i = 0; i < site->count; i++) {
    struct ring_load l = load_of(s, site, i);
    struct builder b = builder_before(s->c, l.copy);
    MlirValue offsets[KERNEL_MAP_RANK];
    unsigned rank = (unsigned)mlirOperationGetNumOperands(l.copy);
    for (unsigned k = 0; k < rank; k++)
      offsets[k] = mlirOperationGetOperand(l.copy, (intptr_t)k);
    if (i == 0)
      slot = build_ring_empty(&b, &r->ref, (int32_t)r->bytes);
    build_map_copy(&b, &r->ref, l.map, build_local_index(&b, r->buffers[i], slot, -1), slot, rank,
                   offsets);
    drop(s, l.copy);
  }
}

// ---- the warps that compute ----

// Users that convert the tile to another layout, or copy it to a buffer of this layout, read the
// slot.
static void read_slot(struct state *s, MlirValue loaded, MlirValue view) {
  VEC(MlirOperation) users = {0};
  for (MlirOpOperand use = mlirValueGetFirstUse(loaded); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    vec_push(s->p->scratch, &users, mlirOpOperandGetOwner(use));
  for (size_t i = 0; i < users.len; i++) {
    MlirOperation user = users.at[i];
    bool converts = op_is(s->c, user, OP_GPU_CONVERT_LAYOUT);
    if (!converts && !op_is(s->c, user, OP_GPU_LOCAL_ALLOC))
      continue;
    MlirValue v = mlirOperationGetResult(user, 0);
    struct builder b = builder_before(s->c, user);
    if (converts)
      value_replace(v, build_local_load(&b, view, tensor_encoding(mlirValueGetType(v))));
    else if (mlirTypeEqual(mlirValueGetType(v), mlirValueGetType(view)))
      value_replace(v, view);
    else
      continue;
    op_erase(user);
  }
  if (!value_has_uses(loaded))
    op_erase(mlirOpResultGetOwner(loaded));
}

// Slots are released at the end of an iteration; warp-group-dot keeps those of products in flight.
static void drain_ring(struct state *s, const struct ring_site *site) {
  const struct ring *r = &s->rings[site->ring];
  MlirOperation end = mlirBlockGetTerminator(mlirOperationGetBlock(site->loads[0]));
  MlirValue slot = {NULL};
  for (unsigned i = 0; i < site->count; i++) {
    MlirValue old = mlirOperationGetResult(site->loads[i], 0);
    struct builder b = builder_before(s->c, site->loads[i]);
    if (i == 0)
      slot = build_ring_full(&b, &r->ref);
    MlirValue view = build_local_index(&b, r->buffers[i], slot, -1);
    MlirValue loaded = build_local_load(&b, view, tensor_encoding(mlirValueGetType(old)));
    value_replace(old, loaded);
    op_erase(site->loads[i]);
    read_slot(s, loaded, view);
  }
  struct builder b = builder_before(s->c, end);
  build_ring_release(&b, &r->ref, 0);
}

// ---- registers ----

static bool continues_sum(struct state *s, MlirOperation dot) {
  MlirOperation from = value_def(mlirOperationGetOperand(dot, 2));
  return !mlirOperationIsNull(from) && op_is(s->c, from, OP_TILE_DOT);
}

// Accumulators of all products in the block: a thread has them at once.
static unsigned accumulators(struct state *s, MlirBlock block) {
  unsigned count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (op_is(s->c, op, OP_TILE_DOT) && !continues_sum(s, op))
      count += layout_registers(s->c, mlirValueGetType(mlirOperationGetResult(op, 0)));
  return count;
}

static bool sees_many(MlirOperation op, void *user) {
  struct state *s = user;
  s->has_many_accumulators |= op_is(s->c, op, OP_TILE_DOT) &&
                              accumulators(s, mlirOperationGetBlock(op)) > MANY_ACCUMULATORS;
  return !s->has_many_accumulators;
}

// The registers that a thread has at first: the given limit, or those of a CTA alone on its SM.
static uint32_t entry_registers(struct state *s) {
  int64_t limit = op_attr_int(s->module, "tilegpu.max_registers", 0);
  uint32_t all = SM_REGISTERS / (32 * (s->p->num_warps + PRODUCER_WARPS)) / 8 * 8;
  return limit && limit < all ? (uint32_t)limit / 8 * 8 : all;
}

// The producer gives most of its share to the warps that compute. 0: every warp keeps its share.
static int32_t computing_registers(struct state *s) {
  uint32_t groups = s->p->num_warps / WGMMA_WARPS, all = groups + 1, entry = entry_registers(s);
  ir_walk(s->kernel, sees_many, s);
  if (!s->has_many_accumulators || entry >= MAX_REGISTERS || entry <= PRODUCER_REGISTERS)
    return 0;
  uint32_t most = (entry * all - PRODUCER_REGISTERS) / groups / 8 * 8;
  return (int32_t)(most < MAX_REGISTERS ? most : MAX_REGISTERS);
}

static void set_registers(struct state *s, MlirBlock block, int32_t count, bool grows) {
  struct builder b = builder_before(s->c, mlirBlockGetFirstOperation(block));
  build_set_registers(&b, count, grows);
}

static void set_number(struct state *s, const char *name, uint32_t number) {
  mlirOperationSetAttributeByName(s->module, mlirStringRefCreateFromCString(name),
                                  attr_i32(s->c, (int32_t)number));
}

// ---- the pass ----

// Moves the ops from `first` up to the terminator to the end of `to`.
static void move_ops(MlirOperation first, MlirBlock to) {
  MlirOperation end = mlirBlockGetTerminator(mlirOperationGetBlock(first));
  while (!mlirOperationEqual(first, end)) {
    MlirOperation next = mlirOperationGetNextInBlock(first);
    mlirOperationRemoveFromParent(first);
    mlirBlockAppendOwnedOperation(to, first);
    first = next;
  }
}

// if is_producer { if leader { copy of the kernel } } else { the kernel }; returns the first block.
static MlirBlock split(struct state *s, struct builder *b, MlirOperation first,
                       MlirBlock *ret_computing) {
  MlirBlock producer, leader;
  MlirOperation branch =
      build_if(b, build_is_producer(b, false), 0, NULL, &producer, ret_computing);
  struct builder in = builder_at_end(s->c, producer, b->loc);
  MlirOperation one = build_if(&in, build_is_producer(&in, true), 0, NULL, &leader, NULL);
  (void)branch, (void)one;
  clone_ops(s, first, leader);
  struct builder end = builder_at_end(s->c, leader, b->loc);
  build_yield(&end, 0, NULL);
  in = builder_at_end(s->c, producer, b->loc);
  build_yield(&in, 0, NULL);
  return producer;
}

// CTAs that share a multiprocessor by the limit of registers.
static uint32_t ctas_by_registers(struct state *s) {
  uint32_t ctas = SM_REGISTERS / (32 * (s->p->num_warps + PRODUCER_WARPS)) / entry_registers(s);
  return ctas ? ctas : 1;
}

// Shared memory that the rings leave, without that of barriers.
static uint32_t room(struct state *s) {
  enum { BARRIERS = 256, SYSTEM = 1024 }; // SYSTEM: of each CTA
  uint32_t ctas = ctas_by_registers(s);
  uint64_t share = (s->p->target->shared_limit + SYSTEM) / ctas - SYSTEM, bytes = BARRIERS;
  for (size_t i = 0; i < s->sites.ring_count; i++)
    bytes += (uint64_t)s->rings[i].bytes * (uint64_t)s->rings[i].ref.slots;
  return bytes < share ? (uint32_t)(share - bytes) : 0;
}

// Behind the release of slots that are read outside of loops.
static void end_rings(struct state *s, MlirBlock computing, MlirLocation loc) {
  struct builder end = builder_before(s->c, mlirBlockGetTerminator(computing));
  end.loc = loc;
  for (size_t i = 0; i < s->sites.ring_count; i++) {
    const struct ring *r = &s->rings[i];
    for (unsigned k = 0; k < r->buffer_count; k++)
      build_ring_end(&end, r->buffers[k]);
    build_ring_end(&end, r->ref.barriers);
  }
}

static void specialize(struct state *s) {
  MlirBlock entry = func_entry(s->kernel), computing;
  MlirOperation first = mlirBlockGetFirstOperation(entry);
  int32_t registers = computing_registers(s);
  struct builder b = builder_before(s->c, first);
  take_maps(s);
  s->store_bytes = map_stores_choose(&s->stores, s->c, s->p->num_warps);
  open_rings(s, &b);
  map_stores_open(&s->stores, s->c, s->module, &b, s->maps, room(s));
  for (size_t i = 0; i < s->sites.ring_count; i++) {
    struct ring_ref *r = &s->rings[i].ref;
    b.loc = mlirOperationGetLocation(value_def(s->rings[i].buffers[0]));
    r->barriers = build_barriers(s, &b, r->slots);
    build_ring_init(&b, r);
  }
  // The branch is before `first`: the ops behind it are cloned, then moved.
  MlirBlock producer = split(s, &b, first, &computing);
  ir_walk(mlirBlockGetParentOperation(producer), collect_copy, s);
  move_ops(first, computing);
  struct builder end = builder_at_end(s->c, computing, b.loc);
  map_stores_lower(&s->stores, s->c, &end);
  build_yield(&end, 0, NULL);
  MlirOperation parts = mlirBlockGetFirstOperation(producer);
  while (!op_is(s->c, parts, OP_SCF_IF))
    parts = mlirOperationGetNextInBlock(parts);
  ir_walk_post(s->p->scratch, parts, drop_effect, s);
  for (size_t i = 0; i < s->sites.at.len; i++)
    fill_ring(s, &s->sites.at.at[i]);
  for (size_t i = 0; i < s->sites.at.len; i++)
    drain_ring(s, &s->sites.at.at[i]);
  end_rings(s, computing, b.loc);
  if (registers) {
    set_registers(s, producer, PRODUCER_REGISTERS, false);
    set_registers(s, computing, registers, true);
    set_number(s, "tilegpu.entry_registers", entry_registers(s));
  }
  set_number(s, "tilegpu.producer_warps", PRODUCER_WARPS);
}

// The loads were removed: all warps compute, and there is no ring.
static void only_stores(struct state *s) {
  MlirBlock entry = func_entry(s->kernel);
  struct builder begin = builder_before(s->c, mlirBlockGetFirstOperation(entry));
  struct builder end = builder_before(s->c, mlirBlockGetTerminator(entry));
  take_maps(s);
  s->store_bytes = map_stores_choose(&s->stores, s->c, s->p->num_warps);
  map_stores_open(&s->stores, s->c, s->module, &begin, s->maps, room(s));
  map_stores_lower(&s->stores, s->c, &end);
}

enum pass_result pass_specialize_warps(struct pass_context *p) {
  struct state s = {.p = p, .c = p->c, .module = mlirModuleGetOperation(p->module)};
  s.kernel = module_kernel(p->c, p->module);
  if (mlirOperationIsNull(s.kernel))
    return PASS_UNCHANGED;
  ir_walk(s.kernel, collect, &s);
  ring_sites_find(p->c, s.loads.at, s.loads.len, p->scratch, &s.sites);
  if (s.loads.len)
    specialize(&s);
  else if (s.stores.at.len)
    only_stores(&s);
  return s.loads.len || s.stores.at.len ? PASS_CHANGED : PASS_UNCHANGED;
}
