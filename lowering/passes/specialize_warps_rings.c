// SPDX-License-Identifier: Apache-2.0
// Buffers, maps and mbarriers of rings, and the code of both sides (specialize_warps_rings.h).
#include "lowering/passes/specialize_warps_rings.h"

#include "layouts/attr.h"
#include "lowering/analysis/layout_flow.h"
#include "lowering/analysis/liveness.h"
#include "lowering/passes/users.h"
#include "lowering/plan/loop_buffers.h"
#include "lowering/plan/loop_loads.h"
#include "lowering/plan/ring_slots.h"

enum { SWIZZLE = 128 }; // bytes: the widest

static uint64_t tile_bytes(struct specialization *s, MlirOperation load) {
  MlirType t = mlirValueGetType(mlirOperationGetResult(load, 0));
  return (uint64_t)tensor_numel(t) * type_bits(s->c, element_type(t)) / 8;
}

// The most slots of rings that run ahead; the others have one.
static unsigned most_slots(struct specialization *s) {
  uint64_t products = ring_sites_slot_bytes(s->c, &s->sites, false);
  uint64_t others = s->store_bytes + ring_sites_slot_bytes(s->c, &s->sites, true);
  return ring_slots_that_fit(s->p->target, products, (uint32_t)others);
}

// As many slots as the loop has stages, and as shared memory has room for.
static int32_t slots_for(struct specialization *s, const struct ring_site *site) {
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
// one that TMA writes, for a block of one row without a swizzle.
static MlirAttribute buffer_layout(struct specialization *s, MlirOperation load) {
  MlirType tile = mlirValueGetType(mlirOperationGetResult(load, 0));
  MlirAttribute wanted = loop_buffer_layout(s->c, s->p->target, load);
  const struct encoding *e = encoding_of_attr(s->c, wanted);
  bool is_row = tensor_dim(tile, 0) == 1;
  if (e && e->kind == ENC_NVMMA_SHARED && !e->nvmma.transposed && !is_row)
    return wanted;
  struct encoding own = {.kind = ENC_NVMMA_SHARED, .rank = 2};
  unsigned bits = type_bits(s->c, element_type(tile));
  int64_t inner = tensor_dim(tile, 1) * bits / 8;
  own.nvmma.swizzle = is_row ? 0 : inner < SWIZZLE ? (uint32_t)inner : SWIZZLE;
  own.nvmma.element_bits = bits;
  return encoding_attr(s->c, &own);
}

// Takes the maps from the module: those that copies use are added again.
void specialization_take_maps(struct specialization *s) {
  uint32_t n = module_map_count(s->module);
  s->maps = arena_array(s->p->scratch, struct kernel_map, n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (!module_map(s->c, s->module, i, &s->maps[i]))
      s->maps[i] = (struct kernel_map){.rank = 1}; // the verifier refuses loads by it
  mlirOperationRemoveAttributeByName(s->module, mlirStringRefCreateFromCString("tile.maps"));
}

// The map with the box and the swizzle of the buffer: rows of one swizzle.
static uint32_t map_for(struct specialization *s, MlirOperation load, MlirAttribute layout,
                        int32_t ring, int32_t ctas) {
  const struct encoding *e = encoding_of_attr(s->c, layout);
  uint32_t from = (uint32_t)op_attr_int(load, "map", 0);
  struct kernel_map map = s->maps[from];
  assert(!map.made || !ctas);
  if (map.made)
    return producer_map_for(&s->made, s->c, s->module, from, map, e, ring);
  if (ctas)
    map.box[kernel_map_rows(&map)] /= (uint32_t)ctas;
  return map_for_buffer(s->c, s->module, map, e);
}

static uint32_t next_pow2(uint32_t n) {
  uint32_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

static MlirValue build_barriers(struct specialization *s, struct builder *b, int32_t slots) {
  struct encoding e = {.kind = ENC_SHARED, .rank = 1};
  e.shared.vec = e.shared.per_phase = e.shared.max_phase = 1;
  int64_t count = 2 * next_pow2((uint32_t)slots);
  MlirType type = tensor_type(1, &count, mlir_of_dtype(s->c, DTYPE_I64), encoding_attr(s->c, &e));
  return build_local_alloc(b, (MlirValue){NULL}, type);
}

static size_t load_index(struct specialization *s, MlirOperation load) {
  size_t i = 0;
  while (!mlirOperationEqual(s->loads.at[i], load))
    i++;
  return i;
}

static struct ring_load load_of(struct specialization *s, const struct ring_site *site,
                                unsigned i) {
  size_t k = load_index(s, site->loads[i]);
  return (struct ring_load){site->loads[i], s->copies.at[k], s->load_maps[k], s->load_ctas[k]};
}

// Buffers of the ring for the loads of its first site, whose layouts the others take over.
static void open_ring(struct specialization *s, struct builder *b, const struct ring_site *site) {
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

// The CTAs of a cluster fill a ring in step, or each for itself: they share loads of a ring only if
// they share one of each of its sites.
static void share_ring(struct specialization *s, unsigned ring) {
  bool all = true, any = false;
  for (size_t i = 0; i < s->sites.at.len; i++) {
    const struct ring_site *site = &s->sites.at.at[i];
    bool shares = false;
    for (unsigned k = 0; k < site->count && site->ring == ring; k++)
      shares |= s->load_ctas[load_index(s, site->loads[k])] > 0;
    all &= site->ring != ring || shares;
    any |= shares;
  }
  if (all && any)
    s->rings[ring].ref.ctas = (int32_t)s->clusters.share.ctas;
  for (size_t i = 0; i < s->sites.at.len && !all; i++)
    for (unsigned k = 0; k < s->sites.at.at[i].count && s->sites.at.at[i].ring == ring; k++)
      s->load_ctas[load_index(s, s->sites.at.at[i].loads[k])] = 0;
}

static void share_loads(struct specialization *s) {
  s->load_ctas = arena_array(s->p->scratch, int32_t, s->loads.len + 1);
  for (size_t i = 0; i < s->sites.at.len; i++) {
    const struct ring_site *site = &s->sites.at.at[i];
    for (unsigned k = 0; k < site->count && !mlirOperationIsNull(site->product); k++) {
      bool is_made = s->maps[op_attr_int(site->loads[k], "map", 0)].made != 0;
      s->load_ctas[load_index(s, site->loads[k])] =
          cluster_loads_ctas(&s->clusters, site->loads[k], is_made);
    }
  }
}

void specialization_open_rings(struct specialization *s, struct builder *b) {
  struct arena *a = s->p->scratch;
  share_loads(s);
  s->rings = arena_array(a, struct ring, s->sites.ring_count + 1);
  s->load_maps = arena_array(a, uint32_t, s->loads.len + 1);
  for (size_t i = 0; i < s->sites.at.len; i++) {
    const struct ring_site *site = &s->sites.at.at[i];
    struct ring *r = &s->rings[site->ring];
    if (!r->buffer_count) {
      open_ring(s, b, site);
      share_ring(s, site->ring);
    }
    for (unsigned k = 0; k < site->count; k++) {
      MlirType type = memdesc_tile(s->c, mlirValueGetType(r->buffers[k]));
      size_t n = load_index(s, site->loads[k]);
      s->load_maps[n] =
          map_for(s, site->loads[k], tensor_encoding(type), (int32_t)site->ring, s->load_ctas[n]);
    }
  }
}

// ---- the producer ----

// A value for results that nothing live uses.
static MlirValue any_value(struct builder *b, MlirType type) {
  MlirType element = type_is_tensor(type) ? element_type(type) : type;
  MlirType i64 = mlir_of_dtype(b->c, DTYPE_I64);
  if (!type_is_ptr(b->c, element))
    return mlirTypeIsAFloat(element) ? build_const_float(b, type, 0) : build_const_int(b, type, 0);
  MlirType integers = type_is_tensor(type) ? type_with_element(type, i64) : i64;
  return build_cast(b, OP_TILE_INT_TO_PTR, build_const_int(b, integers, 0), type);
}

void specialization_drop(struct specialization *s, MlirOperation op) {
  struct builder b = builder_before(s->c, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue v = mlirOperationGetResult(op, i);
    if (value_has_uses(v))
      value_replace(v, any_value(&b, mlirValueGetType(v)));
  }
  op_erase(op);
}

void specialization_fill_ring(struct specialization *s, const struct ring_site *site) {
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
                   offsets, l.ctas);
    specialization_drop(s, l.copy);
  }
}

// ---- the warps that compute ----

// Users that convert the tile to another layout, or copy it to a buffer of this layout, read the
// slot; others a tile that is loaded in front of the first of them.
static void read_slot(struct specialization *s, MlirValue loaded, MlirValue view) {
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
  MlirOperation load = mlirOpResultGetOwner(loaded);
  if (!value_has_uses(loaded))
    op_erase(load);
  else if (!mlirOperationIsNull(op_first_user(load)))
    mlirOperationMoveBefore(load, op_first_user(load));
}

// Slots are released at the end of an iteration; warp-group-dot keeps those of products in flight.
void specialization_drain_ring(struct specialization *s, const struct ring_site *site) {
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

// ---- the whole kernel ----

void specialization_set_number(struct specialization *s, const char *name, uint32_t number) {
  mlirOperationSetAttributeByName(s->module, mlirStringRefCreateFromCString(name),
                                  attr_i32(s->c, (int32_t)number));
}

// Shared memory that the rings leave, without that of barriers.
uint32_t specialization_room(const struct specialization *s) {
  enum { BARRIERS = 256, SYSTEM = 1024 }; // SYSTEM: of each CTA
  uint32_t ctas = s->shares.ctas;
  uint64_t share = (s->p->target->shared_limit + SYSTEM) / ctas - SYSTEM, bytes = BARRIERS;
  for (size_t i = 0; i < s->sites.ring_count; i++)
    bytes += (uint64_t)s->rings[i].bytes * (uint64_t)s->rings[i].ref.slots;
  return bytes < share ? (uint32_t)(share - bytes) : 0;
}

// Behind the release of slots that are read outside of loops.
void specialization_end_rings(struct specialization *s, MlirBlock computing, MlirLocation loc) {
  struct builder end = builder_before(s->c, mlirBlockGetTerminator(computing));
  end.loc = loc;
  for (size_t i = 0; i < s->sites.ring_count; i++) {
    const struct ring *r = &s->rings[i];
    for (unsigned k = 0; k < r->buffer_count; k++)
      build_ring_end(&end, r->buffers[k]);
    build_ring_end(&end, r->ref.barriers);
  }
}

bool specialization_shares_rings(const struct specialization *s) {
  bool any = false;
  for (size_t i = 0; i < s->sites.ring_count; i++)
    any |= s->rings[i].ref.ctas > 0;
  return any;
}

// The mbarriers of all rings; other CTAs may use them behind the barrier of the cluster.
void specialization_init_rings(struct specialization *s, struct builder *b) {
  MlirValue in_step = {NULL};
  if (specialization_shares_rings(s))
    in_step = build_cluster_check(b, &s->clusters.share);
  for (size_t i = 0; i < s->sites.ring_count; i++) {
    struct ring_ref *r = &s->rings[i].ref;
    b->loc = mlirOperationGetLocation(value_def(s->rings[i].buffers[0]));
    r->barriers = build_barriers(s, b, r->slots);
    if (r->ctas)
      r->in_step = in_step;
    build_ring_init(b, r);
  }
  if (specialization_shares_rings(s)) {
    build_cluster_barrier(b);
    specialization_set_number(s, "tilegpu.num_ctas", (uint32_t)s->clusters.share.ctas);
  } else {
    cluster_loads_explain(&s->clusters);
  }
}
