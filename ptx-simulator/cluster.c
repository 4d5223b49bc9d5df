// SPDX-License-Identifier: Apache-2.0
// Clusters (cluster.h): barrier.cluster, mapa, getctarank, and the end of a CTA.
#include "ptx-simulator/cluster.h"

#include "ptx-simulator/shadow_records.h"

#include <stdio.h>

// ---- the end ----

static bool knows(const struct cta *c, unsigned warp, uint32_t clock) {
  for (unsigned i = 0; i < c->warp_count; i++)
    if (clock_covers(&c->warps[i].clock[warp], clock, 0))
      return true;
  return false;
}

void cluster_end(struct warp *w, const struct op *op) {
  const struct cta *c = w->cta;
  for (unsigned i = 0; w->clock && i < clock_warps(c); i++) {
    const struct far_touch *t = &c->touched[i];
    if (!t->clock || knows(c, i, t->clock))
      continue;
    const struct warp *toucher = warp_of_cluster(c, i);
    struct sim_site other = site_of(toucher, &w->program->code.at[t->op], t->lane);
    warn(w, op, 0, SIM_BAD_CLUSTER, NULL, &other,
         "the CTA ends, and CTA %u of the cluster accesses its shared memory in line %u: nothing "
         "orders that access before the end",
         toucher->cta->rank, other.line);
  }
}

// ---- the barrier ----

struct cluster_barrier {
  bool is_wait, is_aligned, is_relaxed;
};

static void arrive_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct cluster_barrier *x = op->info;
  struct cluster *k = w->cta->cluster;
  if (x->is_aligned && !warp_converge(w, op, &lanes, w->live, true))
    return;
  uint32_t again = lanes & (w->cluster_arrived | w->cluster_passed);
  if (again) {
    fault(w, op, (unsigned)__builtin_ctz(again), SIM_BAD_CLUSTER, NULL,
          "the thread arrives at the barrier of the cluster again and has not waited");
    return;
  }
  if (w->clock && !x->is_relaxed) {
    clock_release(w, lanes, k->arriving, true);
    k->acquiring = k->acquiring > w->acquired ? k->acquiring : w->acquired;
  }
  clock_advance(w);
  w->has_news = true;
  w->cluster_arrived |= lanes;
  k->op = op;
  cluster_update(k);
  w->stop = true; // lets other warps run
}

static void wait_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct cluster_barrier *x = op->info;
  const struct cluster *k = w->cta->cluster;
  if (x->is_aligned && !warp_converge(w, op, &lanes, w->live, true))
    return;
  uint32_t over = lanes & w->cluster_passed, waiting = lanes & w->cluster_arrived;
  if (lanes & ~(over | waiting)) {
    fault(w, op, (unsigned)__builtin_ctz(lanes & ~(over | waiting)), SIM_BAD_CLUSTER, NULL,
          "the thread waits for the barrier of the cluster and has not arrived at it");
    return;
  }
  w->cluster_passed &= ~over;
  if (over && w->clock) {
    clock_acquire(w, k->arrived, true);
    w->acquired = w->acquired > k->acquired ? w->acquired : k->acquired;
    w->has_news = true;
  }
  if (waiting)
    warp_block(w, waiting, (struct group){.pc = w->pc - 1, .state = GROUP_CLUSTER});
}

// The warps whose threads have not arrived, the first of each CTA.
const char *cluster_text(const struct warp *w, char *ret, size_t size) {
  const struct cluster *k = w->cta->cluster;
  size_t n =
      (size_t)snprintf(ret, size, "phase %u of the barrier of the cluster; missing:", k->phase);
  for (unsigned i = 0; i < k->count; i++)
    for (unsigned j = 0; j < k->ctas[i]->warp_count && n < size; j++) {
      const struct warp *other = &k->ctas[i]->warps[j];
      if (!(other->live & ~other->cluster_arrived))
        continue;
      n += (size_t)snprintf(ret + n, size - n, " warp %u of CTA %u", j, i);
      break;
    }
  return ret;
}

// barrier.cluster.arrive{.release,.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}
bool decode_cluster_barrier(struct decoder *d) {
  struct cluster_barrier *x = arena_new(d->arena, struct cluster_barrier);
  x->is_wait = take_part(d, "wait");
  if (!x->is_wait && !expect_part(d, "arrive"))
    return false;
  x->is_relaxed = !x->is_wait && take_part(d, "relaxed");
  if (!x->is_relaxed)
    take_part(d, x->is_wait ? "acquire" : "release");
  x->is_aligned = take_part(d, "aligned");
  if (!expect_end(d) || !expect_operands(d, 0, 0))
    return false;
  emit(d, x->is_wait ? wait_op : arrive_op, NULL, 0, x);
  return !d->failed;
}

// ---- mapa, getctarank ----

struct mapping {
  bool is_generic;
  bool gives_rank;
};

// Slots: result, address, rank.
static bool map_lane(struct warp *w, const struct op *op, unsigned lane) {
  const struct mapping *x = op->info;
  uint64_t address = row(w, op->slots[1])[lane], window = x->is_generic ? SHARED_WINDOW : 0;
  uint64_t offset = address - window;
  const struct cta *c = offset < WINDOW_BYTES ? cluster_resolve(w->cta, &offset) : NULL;
  if (!c || offset >= w->run->shared_bytes) {
    fault(w, op, lane, SIM_OUT_OF_BOUNDS, NULL, "0x%llx is no address in shared memory",
          (unsigned long long)address);
    return false;
  }
  if (x->gives_rank) {
    row(w, op->slots[0])[lane] = c->rank;
    return true;
  }
  uint64_t rank = (uint32_t)row(w, op->slots[2])[lane];
  if (rank >= w->cta->cluster->count) {
    fault(w, op, lane, SIM_BAD_CLUSTER, NULL, "CTA %llu of a cluster that has %u",
          (unsigned long long)rank, w->cta->cluster->count);
    return false;
  }
  row(w, op->slots[0])[lane] = window + cluster_address((unsigned)rank, offset);
  return true;
}

static void map_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct mapping *x = op->info;
  unsigned sources = x->gives_rank ? 1 : 2;
  for (unsigned i = 1; i <= sources; i++)
    require_defined(w, op, op->slots[i], lanes, 4, i == 1 ? "the address" : "the rank of a CTA");
  EACH_LANE(lane, lanes)
  if (!map_lane(w, op, lane))
    return;
  set_defined(w, op->slots[0], lanes);
}

static bool decode_mapping(struct decoder *d, bool gives_rank) {
  struct mapping *x = arena_new(d->arena, struct mapping);
  struct value_type type;
  x->is_generic = !take_part(d, "shared::cluster");
  x->gives_rank = gives_rank;
  if (!take_type(d, &type) || !expect_end(d) || !expect_operands(d, 3 - gives_rank, 3 - gives_rank))
    return false;
  if (type.kind != 'u' || (gives_rank ? type.bits != 32 : type.bits < 32))
    return decode_error(d, "'%.*s' is of .u32 or .u64", STR_ARG(d->in->parts[0]));
  if (x->is_generic && d->in->operands[1].kind != OPERAND_REGISTER)
    return decode_error(d, "a generic address in a register is wanted");
  unsigned bits = gives_rank ? slot_bits(d, &d->in->operands[1]) : type.bits;
  int32_t slots[] = {result_slot(d, &d->in->operands[0], type.bits),
                     source_slot(d, &d->in->operands[1], bits, false),
                     gives_rank ? NO_SLOT : source_slot(d, &d->in->operands[2], 32, false)};
  if (slots[0] != NO_SLOT)
    emit(d, map_op, slots, 3, x);
  return !d->failed;
}

bool decode_mapa(struct decoder *d) { return decode_mapping(d, false); }
bool decode_ctarank(struct decoder *d) { return decode_mapping(d, true); }
