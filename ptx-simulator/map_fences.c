// SPDX-License-Identifier: Apache-2.0
// Who wrote the map's memory last, which of them has released it since, and who has acquired it:
// one record for each 64 bytes of global memory that a program with such fences writes.
#include "ptx-simulator/map_fences.h"

#include "ptx-simulator/vector_clock.h"

enum { RECORD_BYTES = 64, MAP_RECORDS = SIM_TENSOR_MAP_BYTES / RECORD_BYTES };

struct record {
  const struct op *op; // the last write
  uint32_t cta;
  unsigned warp, lane;
  uint32_t releases; // that the lane had executed
  bool is_acquired;
  uint32_t acquirer, acquirer_warp, lanes; // the CTA and warp of those that acquired it, and lanes
};

static struct record *find(struct run *r, uint64_t address) {
  uint64_t key = address / RECORD_BYTES;
  return map_get(&r->made_maps, (struct str){(const char *)&key, sizeof key});
}

static struct record *record_of(struct run *r, uint64_t address) {
  struct record *x = find(r, address);
  if (x)
    return x;
  uint64_t key = address / RECORD_BYTES;
  x = arena_new(r->arena, struct record);
  map_put(r->arena, &r->made_maps, (struct str){(const char *)&key, sizeof key}, x);
  return x;
}

// ---- copies ----

// The last copies by a map: the phase of each mbarrier that counts one.
struct uses {
  uint32_t cta; // plus 1; 0: none
  uint32_t phases[MAX_MBARRIERS];
  const struct op *ops[MAX_MBARRIERS];
};

static struct uses *uses_of(struct warp *w, uint64_t address, bool makes) {
  uint64_t key = ~address; // apart from those of records
  struct str text = {(const char *)&key, sizeof key};
  struct uses *u = map_get(&w->run->made_maps, text);
  if (!u && makes) {
    u = arena_new(w->run->arena, struct uses);
    map_put(w->run->arena, &w->run->made_maps, text, u);
  }
  if (u && u->cta != w->cta->number + 1)
    *u = (struct uses){.cta = w->cta->number + 1};
  return u;
}

void made_map_copied(struct warp *w, const struct op *op, uint64_t map, const struct mbarrier *m) {
  struct uses *u = uses_of(w, map, true);
  if (m->cta != w->cta) // a multicast: its own CTA has a copy as well
    return;
  size_t number = (size_t)(m - w->cta->mbarriers);
  u->phases[number] = m->completed + 1;
  u->ops[number] = op;
}

// Has the thread waited for the copies by the map that these bytes are of?
static void check_uses(struct warp *w, const struct op *op, unsigned lane, uint64_t address) {
  struct uses *u = uses_of(w, address / RECORD_BYTES * RECORD_BYTES, false);
  for (unsigned i = 0; u && i < MAX_MBARRIERS; i++) {
    if (!u->ops[i])
      continue;
    if (!clock_covers(&w->clock[clock_mbarriers(w->cta) + i], u->phases[i], 0)) {
      struct memory_site at = {SIM_GLOBAL, address, RECORD_BYTES};
      warn(w, op, lane, SIM_ASYNC_ORDER, &at, NULL,
           "a tensor map is overwritten, and this thread has not waited for the copy of line %u by "
           "it",
           u->ops[i]->in->line);
    }
    u->ops[i] = NULL;
  }
}

// ---- writes ----

void made_map_written(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                      unsigned bytes) {
  for (uint64_t a = at->offset / RECORD_BYTES; a <= (at->offset + bytes - 1) / RECORD_BYTES; a++) {
    check_uses(w, op, lane, a * RECORD_BYTES);
    *record_of(w->run, a * RECORD_BYTES) = (struct record){.op = op,
                                                           .cta = w->cta->number,
                                                           .warp = w->index,
                                                           .lane = lane,
                                                           .releases = w->map_releases[lane]};
  }
}

// ---- fences ----

static void release_op(struct warp *w, const struct op *op, uint32_t lanes) {
  (void)op;
  EACH_LANE(lane, lanes)
  w->map_releases[lane]++;
}

// Whether the thread that wrote last has executed a release fence since. A CTA that has ended
// cannot be asked.
static bool is_released(const struct warp *w, const struct record *r) {
  return r->cta != w->cta->number || w->cta->warps[r->warp].map_releases[r->lane] > r->releases;
}

static void acquire(struct warp *w, const struct op *op, unsigned lane, uint64_t address) {
  struct record *r = find(w->run, address);
  if (!r || !r->op)
    return;
  struct memory_site at = {SIM_GLOBAL, address, RECORD_BYTES};
  if (!is_released(w, r)) {
    struct sim_site other = site_of(&w->cta->warps[r->warp], r->op, r->lane);
    warn(w, op, lane, SIM_ASYNC_ORDER, &at, &other,
         "a tensor map is acquired that line %u wrote, and no "
         "fence.proxy.tensormap::generic.release "
         "came after that",
         r->op->in->line);
  }
  if (!r->is_acquired || r->acquirer != w->cta->number || r->acquirer_warp != w->index)
    r->lanes = 0;
  r->is_acquired = true;
  r->acquirer = w->cta->number;
  r->acquirer_warp = w->index;
  r->lanes |= 1u << lane;
}

static void acquire_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct address *a = op->info;
  require_defined(w, op, a->slot, lanes, a->bits / 8, "the address");
  EACH_LANE(lane, lanes) {
    struct location at;
    uint64_t address = address_of(w, a, lane);
    if (!locate_bytes(w, op, lane, SIM_GENERIC, address, SIM_TENSOR_MAP_BYTES, ACCESS_READ, &at))
      return;
    for (unsigned i = 0; w->undefined && at.space == SIM_GLOBAL && i < MAP_RECORDS; i++)
      acquire(w, op, lane, at.offset + (uint64_t)i * RECORD_BYTES);
  }
}

void made_map_used(struct warp *w, const struct op *op, unsigned lane, const struct location *at) {
  for (unsigned i = 0; i < MAP_RECORDS; i++) {
    uint64_t address = at->offset + (uint64_t)i * RECORD_BYTES;
    const struct record *r = find(w->run, address);
    if (!r || !r->op ||
        (r->is_acquired && r->acquirer == w->cta->number && r->acquirer_warp == w->index &&
         (r->lanes >> lane & 1)))
      continue;
    struct memory_site site = {SIM_GLOBAL, address, RECORD_BYTES};
    warn(w, op, lane, SIM_ASYNC_ORDER, &site, NULL,
         "a copy by a tensor map that line %u wrote, and no fence.proxy.tensormap::generic.acquire "
         "of "
         "this thread came after that",
         r->op->in->line);
    return;
  }
}

// fence.proxy.tensormap::generic.release.gpu; fence.proxy.tensormap::generic.acquire.gpu [map], 128
bool decode_map_fence(struct decoder *d) {
  static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
  struct address *a = arena_new(d->arena, struct address);
  uint64_t size;
  bool releases = take_part(d, "release");
  if (!releases && !expect_part(d, "acquire"))
    return false;
  if (take_one_of(d, scopes) < 0)
    return expect_part(d, "gpu");
  d->program->makes_maps = true;
  unsigned operands = releases ? 0 : 2;
  if (!expect_end(d) || !expect_operands(d, operands, operands))
    return false;
  if (releases) {
    emit(d, release_op, NULL, 0, NULL);
    return !d->failed;
  }
  if (!decode_address(d, &d->in->operands[0], a) || !constant_value(d, &d->in->operands[1], &size))
    return false;
  if (size != SIM_TENSOR_MAP_BYTES)
    return decode_error(d, "an acquire fence of a tensor map is of 128 bytes");
  emit(d, acquire_op, NULL, 0, a);
  return !d->failed;
}
