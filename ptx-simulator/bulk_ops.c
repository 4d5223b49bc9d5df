// SPDX-License-Identifier: Apache-2.0
// The instructions of bulk copies (PTX ISA, "cp.async.bulk", "cp.async.bulk.tensor",
// "cp.reduce.async.bulk", their prefetches, "cp.async.bulk.commit_group", "wait_group";
// "cp.async.mbarrier.arrive", "prefetch"). Each active thread starts one.
#include "ptx-simulator/bulk_copy.h"
#include "ptx-simulator/map_fences.h"

enum { BULK_ALIGN = 16, BOX_ALIGN = 128, MAP_ALIGN = 64, MAX_GROUPS = 1 << 20 };

struct bulk_op {
  enum bulk_kind kind;
  bool is_prefetch, is_tensor;
  unsigned rank;
  struct address to, from; // in shared memory; the global address or tensor map
  struct address mbarrier;
  bool is_cluster;   // shared::cluster
  int32_t multicast; // slot of the mask of CTAs, or NO_SLOT
  const struct reduction *reduction;
};

// Slots: the size, or the coordinates.
enum { SIZE };

// ---- execution ----

static bool aligned(struct warp *w, const struct op *op, unsigned lane, enum sim_space space,
                    uint64_t address, unsigned align, const char *what) {
  struct memory_site at = {space, address, align};
  if (address % align)
    fault(w, op, lane, SIM_MISALIGNED, &at, "%s at %s address 0x%llx, which is no multiple of %u",
          what, sim_space_name(space), (unsigned long long)address, align);
  return address % align == 0;
}

// The tensor map at an address, in parameters or global memory.
static bool read_map(struct warp *w, const struct op *op, unsigned lane, const struct address *a,
                     struct tensor_map *ret, uint64_t *ret_at) {
  uint8_t bytes[SIM_TENSOR_MAP_BYTES];
  enum sim_space space = a->space == SIM_NO_SPACE ? SIM_GENERIC : a->space;
  uint64_t address = address_of(w, a, lane);
  struct location at;
  if (!aligned(w, op, lane, space, address, MAP_ALIGN, "a tensor map") ||
      !locate_bytes(w, op, lane, space, address, sizeof bytes, ACCESS_READ, &at))
    return false;
  *ret_at = at.space == SIM_GLOBAL ? at.offset : 0;
  if (at.space == SIM_GLOBAL && w->undefined && w->program->makes_maps)
    made_map_used(w, op, lane, &at);
  if (at.space == SIM_GLOBAL || at.space == SIM_PARAM || at.space == SIM_CONST) {
    memcpy(bytes, at.bytes, sizeof bytes);
    if (tensor_map_decode(bytes, ret))
      return true;
  }
  struct memory_site site = {at.space, at.offset, sizeof bytes};
  fault(w, op, lane, SIM_BAD_STATE, &site, "there is no tensor map at %s 0x%llx",
        sim_space_name(at.space), (unsigned long long)at.offset);
  return false;
}

static bool check_map(struct warp *w, const struct op *op, unsigned lane, struct bulk_copy *c) {
  const struct bulk_op *x = op->info;
  if (c->map.rank != x->rank) {
    fault(w, op, lane, SIM_BAD_STATE, NULL, "a tensor map of %u dimensions, where %u are wanted",
          c->map.rank, x->rank);
    return false;
  }
  unsigned row = c->map.box[0] * c->map.element;
  if (c->map.swizzle > TENSOR_CHUNK && row != c->map.swizzle) {
    fault(w, op, lane, SIM_BAD_STATE, NULL,
          "a box whose rows have %u bytes, with a swizzle of %u: only rows as long as the swizzle "
          "are supported",
          row, c->map.swizzle);
    return false;
  }
  if (x->reduction && !(c->reduction = reduction_of_tensor(x->reduction, c->map.type))) {
    fault(w, op, lane, SIM_BAD_STATE, NULL, "this reduction is not for the tensor's element type");
    return false;
  }
  c->bytes = tensor_map_box_bytes(&c->map);
  return true;
}

static bool read_tensor(struct warp *w, const struct op *op, unsigned lane, struct bulk_copy *c) {
  const struct bulk_op *x = op->info;
  if (!read_map(w, op, lane, &x->from, &c->map, &c->map_at) || !check_map(w, op, lane, c))
    return false;
  for (unsigned i = 0; i < x->rank; i++) {
    require_defined(w, op, op->slots[i], 1u << lane, 4, "a coordinate");
    c->at[i] = (int32_t)row(w, op->slots[i])[lane];
  }
  // An illegal instruction on the GPU, which the PTX ISA does not say.
  if ((int64_t)c->at[0] * c->map.element % BULK_ALIGN) {
    fault(w, op, lane, SIM_MISALIGNED, NULL,
          "a box that begins at column %d of elements of %u bytes, no multiple of 16 bytes",
          (int)c->at[0], c->map.element);
    return false;
  }
  return true;
}

static bool read_size(struct warp *w, const struct op *op, unsigned lane, struct bulk_copy *c) {
  const struct bulk_op *x = op->info;
  struct location at;
  require_defined(w, op, op->slots[SIZE], 1u << lane, 4, "the size of a copy");
  c->bytes = (uint32_t)row(w, op->slots[SIZE])[lane];
  c->global = address_of(w, &x->from, lane);
  c->reduction = x->reduction;
  if (c->bytes % BULK_ALIGN) {
    fault(w, op, lane, SIM_BAD_STATE, NULL, "a bulk copy of %u bytes, no multiple of 16", c->bytes);
    return false;
  }
  return aligned(w, op, lane, SIM_GLOBAL, c->global, BULK_ALIGN, "a bulk copy") &&
         locate_bytes(w, op, lane, SIM_GLOBAL, c->global, c->bytes,
                      x->kind == BULK_STORE ? ACCESS_WRITE : ACCESS_READ, &at);
}

// The mbarrier that counts a load: in the CTA that it writes to.
static bool count_at(struct bulk_copy *c, enum sim_space space, uint64_t address) {
  struct mbarrier *m = mbarrier_find(c->w, c->op, c->lane, space, address);
  char text[MBARRIER_TEXT];
  if (!m)
    return false;
  if (m->cta != c->cta) {
    fault(c->w, c->op, c->lane, SIM_BAD_MBARRIER, NULL,
          "%s: a copy to the memory of CTA %u of the cluster cannot be counted there",
          mbarrier_text(c->w, m, text, sizeof text), c->cta->rank);
    return false;
  }
  c->mbarrier = (unsigned)(m - m->cta->mbarriers);
  if (c->map_at && c->w->undefined && c->w->program->makes_maps)
    made_map_copied(c->w, c->op, c->map_at, m);
  m->copy = c->op;
  m->copier = c->w;
  m->copier_lane = c->lane;
  m->copied_to = c->shared;
  return true;
}

// A copy for each CTA of the mask, to the same offset, counted by the mbarrier at the same offset.
static bool begin_multicast(const struct bulk_copy *c, uint64_t shared, uint64_t mbarrier) {
  const struct bulk_op *x = c->op->info;
  const struct cluster *k = c->w->cta->cluster;
  uint32_t mask = (uint16_t)row(c->w, x->multicast)[c->lane];
  require_defined(c->w, c->op, x->multicast, 1u << c->lane, 2, "the mask of a multicast");
  if (mask == 0 || mask >> k->count) {
    fault(c->w, c->op, c->lane, SIM_BAD_CLUSTER, NULL,
          "a multicast to the CTAs 0x%x of a cluster that has %u", mask, k->count);
    return false;
  }
  (void)cluster_resolve(c->w->cta, &shared);
  (void)cluster_resolve(c->w->cta, &mbarrier);
  EACH_LANE(rank, mask) {
    struct bulk_copy one = *c;
    struct location at;
    if (!locate_bytes(c->w, c->op, c->lane, SIM_SHARED_CLUSTER, cluster_address(rank, shared),
                      c->bytes, ACCESS_WRITE, &at))
      return false;
    one.cta = at.cta;
    if (!count_at(&one, SIM_SHARED_CLUSTER, cluster_address(rank, mbarrier)) || !bulk_begin(&one))
      return false;
  }
  return true;
}

static bool copy_lane(struct warp *w, const struct op *op, unsigned lane) {
  const struct bulk_op *x = op->info;
  struct bulk_copy c = {.kind = x->kind,
                        .w = w,
                        .op = op,
                        .lane = lane,
                        .is_tensor = x->is_tensor,
                        .group = w->bulk_commits[lane]};
  struct location at;
  if (!(x->is_tensor ? read_tensor(w, op, lane, &c) : read_size(w, op, lane, &c)))
    return false;
  if (x->is_prefetch)
    return true;
  enum sim_space space = x->is_cluster ? SIM_SHARED_CLUSTER : SIM_SHARED;
  uint64_t shared = address_of(w, &x->to, lane);
  if (!aligned(w, op, lane, SIM_SHARED, shared, x->is_tensor ? BOX_ALIGN : BULK_ALIGN,
               x->is_tensor ? "a box" : "a bulk copy") ||
      !locate_bytes(w, op, lane, space, shared, c.bytes, ACCESS_READ, &at))
    return false;
  c.cta = at.cta;
  c.shared = (uint32_t)at.offset;
  if (x->kind == BULK_LOAD && x->multicast != NO_SLOT)
    return begin_multicast(&c, shared, address_of(w, &x->mbarrier, lane));
  if (x->kind == BULK_LOAD && !count_at(&c, space, address_of(w, &x->mbarrier, lane)))
    return false;
  return bulk_begin(&c);
}

static void copy_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct bulk_op *x = op->info;
  require_defined(w, op, x->from.slot, lanes, x->from.bits / 8, "the address");
  if (!x->is_prefetch)
    require_defined(w, op, x->to.slot, lanes, x->to.bits / 8, "the address");
  if (x->kind == BULK_LOAD && !x->is_prefetch)
    require_defined(w, op, x->mbarrier.slot, lanes, x->mbarrier.bits / 8, "the address");
  EACH_LANE(lane, lanes)
  if (!copy_lane(w, op, lane))
    return;
  w->stop = true; // lets the copy happen, or other warps run
}

static void commit_op(struct warp *w, const struct op *op, uint32_t lanes) {
  (void)op;
  EACH_LANE(lane, lanes)
  w->bulk_commits[lane]++;
}

struct wait {
  uint64_t groups;
  bool read;
};

static void wait_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct wait *x = op->info;
  EACH_LANE(lane, lanes)
  bulk_wait(w, lane, x->groups, x->read);
}

struct arrival {
  struct address mbarrier;
  enum sim_space space;
  bool is_expected; // .noinc: the phase counts it already
};

static void arrival_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct arrival *x = op->info;
  require_defined(w, op, x->mbarrier.slot, lanes, x->mbarrier.bits / 8, "the address");
  EACH_LANE(lane, lanes) {
    struct mbarrier *m = mbarrier_find(w, op, lane, x->space, address_of(w, &x->mbarrier, lane));
    if (!m || (!x->is_expected && !mbarrier_add_pending(w, op, lane, m)))
      return;
    struct bulk_copy c = {.kind = BULK_ARRIVE,
                          .w = w,
                          .op = op,
                          .lane = lane,
                          .cta = m->cta,
                          .group = w->copy_serial,
                          .mbarrier = (unsigned)(m - m->cta->mbarriers)};
    if (!bulk_begin(&c))
      return;
  }
}

static void prefetch_map_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct bulk_op *x = op->info;
  struct tensor_map map;
  uint64_t map_at;
  require_defined(w, op, x->from.slot, lanes, x->from.bits / 8, "the address");
  EACH_LANE(lane, lanes)
  if (!read_map(w, op, lane, &x->from, &map, &map_at))
    return;
}

// ---- decoding ----

// `[map, {x, y}]`: the coordinates go to `slots`.
static bool decode_tensor(struct decoder *d, const struct operand *o, struct bulk_op *x,
                          int32_t *slots) {
  const struct operand *items;
  if (o->kind != OPERAND_ADDRESS || o->item_count != 2)
    return decode_error(d, "a tensor map and coordinates in brackets are wanted");
  struct operand map = *o;
  map.item_count = 1;
  if (!decode_address(d, &map, &x->from) || !vector_items(d, &o->items[1], x->rank, &items))
    return false;
  for (unsigned i = 0; i < x->rank; i++)
    slots[i] = source_slot(d, &items[i], 32, false);
  return !d->failed;
}

// `.2d`
static bool take_rank(struct decoder *d, struct bulk_op *x) {
  static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
  int rank = take_one_of(d, ranks);
  x->rank = (unsigned)rank + 1;
  return rank >= 0 || expect_part(d, "2d");
}

// The spaces, and with them what kind of copy it is.
static bool take_direction(struct decoder *d, struct bulk_op *x) {
  if (take_part(d, "global")) {
    x->kind = BULK_STORE;
    return expect_part(d, "shared::cta");
  }
  x->kind = BULK_LOAD;
  x->is_cluster = take_part(d, "shared::cluster");
  return (x->is_cluster || expect_part(d, "shared::cta")) && expect_part(d, "global");
}

// From the operands on; the mask of a multicast and the policy of a cache hint are the last ones.
static bool decode_operands(struct decoder *d, struct bulk_op *x, bool multicast, bool policy) {
  int32_t slots[TENSOR_MAX_RANK] = {NO_SLOT};
  const struct operand *o = d->in->operands;
  bool is_load = x->kind == BULK_LOAD && !x->is_prefetch;
  unsigned want = (x->is_prefetch ? 1 : 2) + !x->is_tensor + is_load + multicast + policy;
  x->multicast = NO_SLOT;
  if (!expect_end(d) || !expect_operands(d, want, want))
    return false;
  const struct operand *to = x->kind == BULK_STORE ? &o[1] : &o[0];
  const struct operand *from = x->is_prefetch || x->kind == BULK_STORE ? &o[0] : &o[1];
  if (!x->is_prefetch && !decode_address(d, to, &x->to))
    return false;
  if (!(x->is_tensor ? decode_tensor(d, from, x, slots) : decode_address(d, from, &x->from)))
    return false;
  if (!x->is_tensor)
    slots[SIZE] = source_slot(d, &o[x->is_prefetch ? 1 : 2], 32, false);
  if (is_load && !decode_address(d, &o[want - policy - multicast - 1], &x->mbarrier))
    return false;
  if (multicast)
    x->multicast = source_slot(d, &o[want - policy - 1], 16, false);
  if (policy)
    source_slot(d, &o[want - 1], 64, false);
  emit(d, copy_op, slots, x->is_tensor ? x->rank : 1, x);
  return !d->failed;
}

static bool decode_bulk_prefetch(struct decoder *d, struct bulk_op *x) {
  x->is_prefetch = true;
  x->is_tensor = take_part(d, "tensor");
  if ((x->is_tensor && !take_rank(d, x)) || !expect_part(d, "L2") || !expect_part(d, "global"))
    return false;
  if (x->is_tensor)
    take_part(d, "tile");
  return decode_operands(d, x, false, take_part(d, "L2::cache_hint"));
}

static bool decode_bulk_wait(struct decoder *d) {
  struct wait *x = arena_new(d->arena, struct wait);
  x->read = take_part(d, "read");
  if (!expect_end(d) || !expect_operands(d, 1, 1) ||
      !constant_value(d, &d->in->operands[0], &x->groups))
    return false;
  if (x->groups > MAX_GROUPS)
    return decode_error(d, "'cp.async.bulk.wait_group' wants a number of groups");
  emit(d, wait_op, NULL, 0, x);
  return !d->failed;
}

bool decode_bulk_copy(struct decoder *d) {
  struct bulk_op *x = arena_new(d->arena, struct bulk_op);
  if (take_part(d, "commit_group"))
    return emit_plain(d, commit_op);
  if (take_part(d, "wait_group"))
    return decode_bulk_wait(d);
  if (take_part(d, "prefetch"))
    return decode_bulk_prefetch(d, x);
  x->is_tensor = take_part(d, "tensor");
  if ((x->is_tensor && !take_rank(d, x)) || !take_direction(d, x))
    return false;
  if (x->is_tensor)
    take_part(d, "tile");
  if (!expect_part(d, x->kind == BULK_LOAD ? "mbarrier::complete_tx::bytes" : "bulk_group"))
    return false;
  bool multicast = x->is_cluster && take_part(d, "multicast::cluster");
  return decode_operands(d, x, multicast, take_part(d, "L2::cache_hint"));
}

// `.add.noftz.f16`; a tensor map has the type. NULL after an error.
static const struct reduction *take_reduction(struct decoder *d, bool is_tensor) {
  struct str operation = peek_part(d);
  struct value_type type;
  char name[8] = "";
  if (operation.len)
    d->next_part++;
  if (is_tensor)
    return reduction_find(d, operation, NULL);
  bool noftz = take_part(d, "noftz");
  if (!take_type(d, &type))
    return NULL;
  if (type.bits < 16 || type.name.len >= sizeof name ||
      (noftz && (type.kind != 'f' || type.bits != 16))) {
    decode_error(d, "a bulk reduction of such a type is not supported");
    return NULL;
  }
  memcpy(name, type.name.ptr, type.name.len);
  return reduction_find(d, operation, name);
}

// cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32, and of tensors
// cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group.
bool decode_bulk_reduction(struct decoder *d) {
  struct bulk_op *x = arena_new(d->arena, struct bulk_op);
  if (!expect_part(d, "async") || !expect_part(d, "bulk"))
    return false;
  x->kind = BULK_STORE;
  x->is_tensor = take_part(d, "tensor");
  if ((x->is_tensor && !take_rank(d, x)) || !expect_part(d, "global") ||
      !expect_part(d, "shared::cta") || (!x->is_tensor && !expect_part(d, "bulk_group")))
    return false;
  bool policy = !x->is_tensor && take_part(d, "L2::cache_hint");
  x->reduction = take_reduction(d, x->is_tensor);
  if (!x->reduction)
    return false;
  if (x->is_tensor) {
    take_part(d, "tile");
    if (!expect_part(d, "bulk_group"))
      return false;
    policy = take_part(d, "L2::cache_hint");
  }
  return decode_operands(d, x, false, policy);
}

// cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [mbarrier]
bool decode_copy_arrival(struct decoder *d) {
  struct arrival *x = arena_new(d->arena, struct arrival);
  if (!expect_part(d, "arrive"))
    return false;
  x->is_expected = take_part(d, "noinc");
  x->space = take_space(d);
  if (!expect_part(d, "b64") || !expect_end(d) || !expect_operands(d, 1, 1) ||
      !decode_address(d, &d->in->operands[0], &x->mbarrier))
    return false;
  if (x->space == SIM_GENERIC && x->mbarrier.space != SIM_NO_SPACE)
    x->space = x->mbarrier.space;
  emit(d, arrival_op, NULL, 0, x);
  return !d->failed;
}

// prefetch{.param,.const}.tensormap [map]
bool decode_prefetch_map(struct decoder *d) {
  struct bulk_op *x = arena_new(d->arena, struct bulk_op);
  enum sim_space space = take_space(d);
  if (!expect_part(d, "tensormap") || !expect_end(d) || !expect_operands(d, 1, 1) ||
      !decode_address(d, &d->in->operands[0], &x->from))
    return false;
  if (space != SIM_GENERIC && space != SIM_PARAM && space != SIM_CONST)
    return decode_error(d, "a tensor map is in parameters, constants or global memory");
  if (space != SIM_GENERIC)
    x->from.space = space;
  emit(d, prefetch_map_op, NULL, 0, x);
  return !d->failed;
}
