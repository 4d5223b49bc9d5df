// SPDX-License-Identifier: Apache-2.0
// The CTAs of a cluster: their memory, reused by clusters that run one after another, and their
// state when they begin.
#include "ptx-simulator/bulk_copy.h"
#include "ptx-simulator/cluster.h"
#include "ptx-simulator/global.h"
#include "ptx-simulator/register_pool.h"
#include "ptx-simulator/shadow.h"

enum { UNWRITTEN_BYTE = 0xa5, MULTIPROCESSORS = 132 };

static void create_warp(struct run *r, struct cta *c, unsigned index) {
  const struct program *p = r->program;
  struct warp *w = &c->warps[index];
  *w = (struct warp){
      .run = r, .cta = c, .program = p, .index = index, .id = c->rank * c->warp_count + index};
  w->regs = arena_alloc(r->arena, (size_t)(p->slot_count + 1) * sizeof *w->regs, 64);
  w->local = arena_alloc(r->arena, (size_t)p->local_bytes * SIM_LANES + 16, 16);
  for (unsigned i = p->register_count; i < p->slot_count; i++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      w->regs[i][lane] = p->constants[i - p->register_count];
  for (size_t i = 0; i < p->shared_slot_count; i++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      w->regs[p->shared_slots[i].slot][lane] = cluster_address(c->rank, p->shared_slots[i].of);
  if (!r->check)
    return;
  w->undefined = arena_array(r->arena, uint32_t, p->slot_count + 1);
  w->undefined_bytes = arena_alloc(r->arena, (size_t)(p->slot_count + 1) * SIM_LANES, 16);
  w->origin = arena_array(r->arena, const struct op *, p->slot_count + 1);
  w->local_shadow = arena_alloc(r->arena, (size_t)p->local_bytes * SIM_LANES + 16, 16);
  w->clock = arena_array(r->arena, struct clock_entry, clock_count(c));
  w->fence_clock = arena_array(r->arena, struct clock_entry, clock_count(c));
  w->touched = arena_array(r->arena, const struct op *, p->wgmma_registers + 1);
  w->unwritten = arena_array(r->arena, uint64_t *, p->code.len + 1);
  w->events = arena_array(r->arena, uint32_t, p->code.len + 1);
}

static struct cta *create_cta(struct run *r, struct cluster *k, unsigned rank, unsigned warps) {
  struct cta *c = arena_new(r->arena, struct cta);
  c->run = r;
  c->cluster = k;
  c->rank = rank;
  c->arena = r->arena;
  c->warp_count = warps;
  c->shared = arena_alloc(r->arena, r->shared_bytes + 64, 64);
  c->warps = arena_array(r->arena, struct warp, warps);
  for (unsigned i = 0; i < warps; i++)
    create_warp(r, c, i);
  if (r->check) {
    c->shadow = shadow_create(r->arena, r->shared_bytes, warps);
    c->touched = arena_array(r->arena, struct far_touch, clock_warps(c));
    for (unsigned i = 0; i < BARRIER_COUNT; i++)
      c->barriers[i] =
          (struct barrier){.clock = arena_array(r->arena, struct clock_entry, clock_count(c)),
                           .arrivals = arena_array(r->arena, uint32_t, warps),
                           .last_arrivals = arena_array(r->arena, uint32_t, warps)};
  }
  return c;
}

struct cluster *cluster_create(struct run *r, unsigned warps) {
  struct cluster *k = arena_new(r->arena, struct cluster);
  k->count = r->cluster[0] * r->cluster[1] * r->cluster[2];
  for (unsigned i = 0; i < k->count; i++)
    k->ctas[i] = create_cta(r, k, i, warps);
  if (r->check) {
    k->arriving = arena_array(r->arena, struct clock_entry, clock_count(k->ctas[0]));
    k->arrived = arena_array(r->arena, struct clock_entry, clock_count(k->ctas[0]));
  }
  return k;
}

static uint64_t special_value(const struct warp *w, enum special id, unsigned lane) {
  const struct sim_launch *l = w->run->launch;
  const struct cta *c = w->cta;
  const unsigned *shape = w->run->cluster;
  unsigned thread = w->index * SIM_LANES + lane;
  uint32_t bit = 1u << lane;
  switch (id) {
  case SPECIAL_TID_X: return thread % l->block[0];
  case SPECIAL_TID_Y: return thread / l->block[0] % l->block[1];
  case SPECIAL_TID_Z: return thread / l->block[0] / l->block[1];
  case SPECIAL_NTID_X: return l->block[0];
  case SPECIAL_NTID_Y: return l->block[1];
  case SPECIAL_NTID_Z: return l->block[2];
  case SPECIAL_CTAID_X: return c->id[0];
  case SPECIAL_CTAID_Y: return c->id[1];
  case SPECIAL_CTAID_Z: return c->id[2];
  case SPECIAL_NCTAID_X: return l->grid[0];
  case SPECIAL_NCTAID_Y: return l->grid[1];
  case SPECIAL_NCTAID_Z: return l->grid[2];
  case SPECIAL_CLUSTERID_X: return c->id[0] / shape[0];
  case SPECIAL_CLUSTERID_Y: return c->id[1] / shape[1];
  case SPECIAL_CLUSTERID_Z: return c->id[2] / shape[2];
  case SPECIAL_NCLUSTERID_X: return l->grid[0] / shape[0];
  case SPECIAL_NCLUSTERID_Y: return l->grid[1] / shape[1];
  case SPECIAL_NCLUSTERID_Z: return l->grid[2] / shape[2];
  case SPECIAL_CLUSTER_CTAID_X: return c->id[0] % shape[0];
  case SPECIAL_CLUSTER_CTAID_Y: return c->id[1] % shape[1];
  case SPECIAL_CLUSTER_CTAID_Z: return c->id[2] % shape[2];
  case SPECIAL_CLUSTER_NCTAID_X: return shape[0];
  case SPECIAL_CLUSTER_NCTAID_Y: return shape[1];
  case SPECIAL_CLUSTER_NCTAID_Z: return shape[2];
  case SPECIAL_CLUSTER_CTARANK: return c->rank;
  case SPECIAL_CLUSTER_NCTARANK: return c->cluster->count;
  case SPECIAL_IS_EXPLICIT_CLUSTER: return c->cluster->count > 1;
  case SPECIAL_SMID: return c->number % MULTIPROCESSORS;
  case SPECIAL_NSMID: return MULTIPROCESSORS;
  case SPECIAL_LANEID: return lane;
  case SPECIAL_WARPID: return w->index;
  case SPECIAL_NWARPID: return c->warp_count;
  case SPECIAL_LANEMASK_EQ: return bit;
  case SPECIAL_LANEMASK_LE: return bit | (bit - 1);
  case SPECIAL_LANEMASK_LT: return bit - 1;
  case SPECIAL_LANEMASK_GE: return ~(bit - 1);
  case SPECIAL_LANEMASK_GT: return ~(bit | (bit - 1));
  case SPECIAL_DYNAMIC_SMEM_SIZE: return l->dynamic_shared_bytes;
  case SPECIAL_TOTAL_SMEM_SIZE: return w->run->shared_bytes;
  default: return 0;
  }
}

static void start_warp(struct warp *w) {
  const struct program *p = w->program;
  const struct sim_launch *l = w->run->launch;
  unsigned threads = l->block[0] * l->block[1] * l->block[2] - w->index * SIM_LANES;
  w->pc = p->entry;
  w->started = w->live = w->mask = threads >= SIM_LANES ? ~0u : (1u << threads) - 1;
  w->limit = UINT32_MAX;
  w->other_count = 0;
  w->copies.len = w->products.len = 0;
  w->product_commits = 0;
  w->idle_chains = NULL;
  w->streak = 0;
  w->polled = NULL;
  w->cluster_arrived = w->cluster_passed = 0;
  w->is_fenced = false;
  memset(w->commits, 0, sizeof w->commits);
  memset(w->bulk_commits, 0, sizeof w->bulk_commits);
  memset(w->regs, UNWRITTEN_BYTE, p->register_count * sizeof *w->regs);
  memset(w->local, UNWRITTEN_BYTE, (size_t)p->local_bytes * SIM_LANES);
  for (size_t i = 0; i < p->special_count; i++)
    for (unsigned lane = 0; lane < SIM_LANES; lane++)
      w->regs[p->specials[i].slot][lane] = (uint32_t)special_value(w, (enum special)p->specials[i].of, lane);
  if (!w->undefined)
    return;
  memset(w->undefined, 0xff, p->register_count * sizeof *w->undefined);
  memset(w->undefined_bytes, 0xff, (size_t)p->register_count * SIM_LANES);
  memset(w->origin, 0, p->register_count * sizeof *w->origin);
  memset(w->local_shadow, 0, (size_t)p->local_bytes * SIM_LANES);
  memset(w->touched, 0, p->wgmma_registers * sizeof *w->touched);
  global_start_warp(w);
}

static void start_cta(struct run *r, struct cta *c) {
  const unsigned *grid = r->launch->grid, *shape = r->cluster;
  unsigned within[] = {c->rank % shape[0], c->rank / shape[0] % shape[1],
                       c->rank / shape[0] / shape[1]};
  for (unsigned i = 0; i < 3; i++)
    c->id[i] = c->cluster->id[i] * shape[i] + within[i];
  c->number = c->id[0] + grid[0] * (c->id[1] + grid[1] * c->id[2]);
  c->alive = c->warp_count;
  c->instructions = 0;
  memset(c->shared, UNWRITTEN_BYTE, r->shared_bytes);
  for (unsigned i = 0; i < c->warp_count; i++)
    start_warp(&c->warps[i]);
  for (unsigned i = 0; i < BARRIER_COUNT; i++)
    barrier_start(c, &c->barriers[i]);
  mbarriers_start(c);
  bulk_start(c);
  registers_start(c);
}

void cluster_begin(struct cluster *k, struct run *r, uint64_t number) {
  const unsigned *grid = r->launch->grid, *shape = r->cluster;
  unsigned across[] = {grid[0] / shape[0], grid[1] / shape[1]};
  k->id[0] = (unsigned)(number % across[0]);
  k->id[1] = (unsigned)(number / across[0] % across[1]);
  k->id[2] = (unsigned)(number / across[0] / across[1]);
  k->done = false;
  for (unsigned i = 0; i < k->count; i++)
    start_cta(r, k->ctas[i]);
  cluster_start(k);
  if (r->check)
    shadow_start(k);
}
