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
#include "base/wgmma.h"
#include "lowering/passes/clone_ops.h"
#include "lowering/passes/specialize_warps_rings.h"

static bool collect(MlirOperation op, void *user) {
  struct specialization *s = user;
  if (op_is(s->c, op, OP_TILE_MAP_LOAD))
    vec_push(s->p->scratch, &s->loads, op);
  if (op_is(s->c, op, OP_TILE_MAP_MAKE))
    vec_push(s->p->scratch, &s->made.makes, op);
  if (op_is(s->c, op, OP_TILE_MAP_STORE))
    vec_push(s->p->scratch, &s->stores.at, (struct map_store){.op = op});
  return true;
}

static bool collect_copy(MlirOperation op, void *user) {
  struct specialization *s = user;
  if (op_is(s->c, op, OP_TILE_MAP_LOAD))
    vec_push(s->p->scratch, &s->copies, op);
  if (op_is(s->c, op, OP_TILE_MAP_MAKE))
    vec_push(s->p->scratch, &s->made.copies, op);
  return true;
}

// ---- the producer ----

// Copies of the ops from `first` up to the block's terminator.
static void clone_ops(struct specialization *s, MlirOperation first, MlirBlock to) {
  struct clone_map m = {.arena = s->p->scratch};
  MlirOperation end = mlirBlockGetTerminator(mlirOperationGetBlock(first));
  for (MlirOperation op = first; !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op))
    clone_op(&m, op, to);
}

static bool gives_buffer(struct specialization *s, MlirOperation op) {
  return mlirOperationGetNumResults(op) == 1 &&
         type_is_memdesc(s->c, mlirValueGetType(mlirOperationGetResult(op, 0)));
}

// From the end of each block: the users of a buffer are dropped before it.
static bool drop_effect(MlirOperation op, void *user) {
  struct specialization *s = user;
  switch (op_id(s->c, op)) {
  case OP_TILE_MAP_LOAD:
  case OP_TILE_MAP_MAKE:
  case OP_TILE_LOAD:
  case OP_TILE_GRID_DEPENDENCY: // the producer's copies wait for the grid in front, too
  case OP_SCF_YIELD:
  case OP_SCF_CONDITION:
  case OP_GPU_IS_PRODUCER: return true;
  default:
    if (mlirOperationGetNumRegions(op) == 0 &&
        ((op_flags(s->c, op) & (OP_READ | OP_WRITE | OP_EFFECT)) || gives_buffer(s, op)))
      specialization_drop(s, op);
    return true;
  }
}

// ---- registers ----

static void set_registers(struct specialization *s, MlirBlock block, int32_t count, bool grows) {
  struct builder b = builder_before(s->c, mlirBlockGetFirstOperation(block));
  build_set_registers(&b, count, grows);
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
static MlirBlock split(struct specialization *s, struct builder *b, MlirOperation first,
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

// leader: the branch of the producer's first thread.
static void make_maps(struct specialization *s, MlirOperation leader, MlirBlock computing) {
  const struct ring_ref **rings =
      arena_array(s->p->scratch, const struct ring_ref *, s->sites.ring_count + 1);
  for (size_t i = 0; i < s->sites.ring_count; i++)
    rings[i] = &s->rings[i].ref;
  struct builder end = builder_before(s->c, mlirBlockGetTerminator(computing));
  producer_maps_lower(&s->made, s->c, mlirRegionGetFirstBlock(mlirOperationGetRegion(leader, 0)),
                      rings, &end);
}

static void specialize(struct specialization *s) {
  MlirBlock entry = func_entry(s->kernel), computing;
  MlirOperation first = mlirBlockGetFirstOperation(entry);
  struct builder b = builder_before(s->c, first);
  specialization_take_maps(s);
  s->store_bytes = map_stores_choose(&s->stores, s->c, s->p->num_warps);
  specialization_open_rings(s, &b);
  map_stores_open(&s->stores, s->c, s->module, &b, s->maps, specialization_room(s));
  specialization_init_rings(s, &b);
  producer_maps_open(&s->made, &b);
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
    specialization_fill_ring(s, &s->sites.at.at[i]);
  for (size_t i = 0; i < s->sites.at.len; i++)
    specialization_drain_ring(s, &s->sites.at.at[i]);
  make_maps(s, parts, computing);
  specialization_end_rings(s, computing, b.loc);
  if (specialization_shares_rings(
          s)) { // others may still write to this CTA's memory, and arrive there
    struct builder last = builder_before(s->c, mlirBlockGetTerminator(entry));
    last.loc = b.loc;
    build_cluster_barrier(&last);
  }
  if (s->shares.computing) {
    set_registers(s, producer, (int32_t)s->shares.producer, false);
    set_registers(s, computing, (int32_t)s->shares.computing, true);
    specialization_set_number(s, "tilegpu.entry_registers", s->shares.entry);
  }
  specialization_set_number(s, "tilegpu.producer_warps", PRODUCER_WARPS);
}

// The loads were removed: all warps compute, and there is no ring.
static void only_stores(struct specialization *s) {
  MlirBlock entry = func_entry(s->kernel);
  struct builder begin = builder_before(s->c, mlirBlockGetFirstOperation(entry));
  struct builder end = builder_before(s->c, mlirBlockGetTerminator(entry));
  specialization_take_maps(s);
  for (size_t i = 0; i < s->made.makes.len; i++)
    op_erase(s->made.makes.at[i]);
  if (!s->stores.at.len)
    return;
  s->store_bytes = map_stores_choose(&s->stores, s->c, s->p->num_warps);
  map_stores_open(&s->stores, s->c, s->module, &begin, s->maps, specialization_room(s));
  map_stores_lower(&s->stores, s->c, &end);
}

enum pass_result pass_specialize_warps(struct pass_context *p) {
  struct specialization s = {.p = p, .c = p->c, .module = mlirModuleGetOperation(p->module)};
  s.made.a = p->scratch;
  s.kernel = module_kernel(p->c, p->module);
  if (mlirOperationIsNull(s.kernel))
    return PASS_UNCHANGED;
  ir_walk(s.kernel, collect, &s);
  s.clusters = cluster_loads_of(p, s.kernel);
  if (!s.loads.len)
    cluster_loads_explain(&s.clusters);
  if (s.loads.len + s.stores.at.len + s.made.makes.len == 0)
    return PASS_UNCHANGED;
  s.shares = register_shares_of(p->c, s.module, s.kernel, p->num_warps);
  ring_sites_find(p->c, s.loads.at, s.loads.len, p->scratch, &s.sites);
  if (s.loads.len)
    specialize(&s);
  else
    only_stores(&s);
  return PASS_CHANGED;
}
