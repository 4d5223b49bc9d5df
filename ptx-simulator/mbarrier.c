// SPDX-License-Identifier: Apache-2.0
// The state of mbarrier objects (mbarrier.h): phases, pending arrivals, pending bytes.
#include "ptx-simulator/mbarrier.h"

#include "ptx-simulator/bulk_pending.h"
#include "ptx-simulator/shadow_records.h"

static bool bad(struct warp *w, const struct op *op, unsigned lane, const struct mbarrier *m,
                const char *what) {
  char text[MBARRIER_TEXT];
  struct memory_site at = {SIM_SHARED, m->offset, MBARRIER_BYTES};
  fault(w, op, lane, SIM_BAD_MBARRIER, &at, "%s: %s", mbarrier_text(w, m, text, sizeof text), what);
  return false;
}

// ---- objects ----

void mbarriers_start(struct cta *c) {
  if (c->mbarrier_count)
    memset(c->mbarrier_numbers, 0, c->run->shared_bytes / MBARRIER_BYTES + 1);
  c->mbarrier_count = 0;
}

static struct mbarrier *object_at(const struct cta *c, uint64_t offset) {
  unsigned number = c->mbarrier_count ? c->mbarrier_numbers[offset / MBARRIER_BYTES] : 0;
  return number ? &c->mbarriers[number - 1] : NULL;
}

// With `check`: a thread uses it that nothing orders after its init.
static void check_made(struct warp *w, const struct op *op, unsigned lane,
                       const struct mbarrier *m) {
  if (!w->clock)
    return;
  const struct clock_entry *e = &w->clock[m->warp];
  if (m->warp == w->id ? m->clock < e->base || m->lane == lane
                       : clock_covers(e, m->clock, 1u << m->lane))
    return;
  char text[MBARRIER_TEXT];
  struct memory_site at = {SIM_SHARED, m->offset, MBARRIER_BYTES};
  struct sim_site other = site_of(warp_of_cluster(m->cta, m->warp), m->made, m->lane);
  warn(w, op, lane, SIM_BAD_MBARRIER, &at, &other,
       "%s: nothing orders this after its init in line %u", mbarrier_text(w, m, text, sizeof text),
       m->made->in->line);
}

struct mbarrier *mbarrier_find(struct warp *w, const struct op *op, unsigned lane,
                               enum sim_space space, uint64_t address) {
  struct location at;
  char name[64];
  if (!locate(w, op, lane, space, address, MBARRIER_BYTES, ACCESS_WRITE, &at))
    return NULL;
  struct memory_site site = {at.space, at.offset, MBARRIER_BYTES};
  struct mbarrier *m = at.space == SIM_SHARED ? object_at(at.cta, at.offset) : NULL;
  if (m && m->live) {
    check_made(w, op, lane, m);
    return m;
  }
  if (m)
    fault(w, op, lane, SIM_BAD_MBARRIER, &site,
          "mbarrier 0x%x%s is used after mbarrier.inval in line %u", m->offset,
          shared_name(w->run, m->offset, name, sizeof name), m->ended->in->line);
  else
    fault(w, op, lane, SIM_BAD_MBARRIER, &site,
          "there is no mbarrier at %s 0x%llx%s: no mbarrier.init was executed before this",
          sim_space_name(at.space), (unsigned long long)at.offset,
          at.space == SIM_SHARED ? shared_name(w->run, (uint32_t)at.offset, name, sizeof name)
                                 : "");
  return NULL;
}

static void allocate(struct cta *c) {
  c->mbarriers = arena_array(c->arena, struct mbarrier, MAX_MBARRIERS);
  c->mbarrier_numbers = arena_alloc(c->arena, c->run->shared_bytes / MBARRIER_BYTES + 1, 1);
  for (unsigned i = 0; i < MAX_MBARRIERS; i++) {
    c->mbarriers[i].cta = c;
    if (!c->run->check)
      continue;
    c->mbarriers[i].arriving = arena_array(c->arena, struct clock_entry, clock_count(c));
    c->mbarriers[i].arrived = arena_array(c->arena, struct clock_entry, clock_count(c));
  }
}

// An object for this address: the one that was there, an unused one, or one that has ended.
static struct mbarrier *new_object(struct cta *c, uint32_t offset) {
  struct mbarrier *m = object_at(c, offset);
  if (!m && c->mbarrier_count < MAX_MBARRIERS) {
    m = &c->mbarriers[c->mbarrier_count++];
    m->completed = 0;
  }
  for (unsigned i = 0; !m && i < MAX_MBARRIERS; i++)
    if (!c->mbarriers[i].live) {
      m = &c->mbarriers[i];
      c->mbarrier_numbers[m->offset / MBARRIER_BYTES] = 0;
    }
  if (m)
    c->mbarrier_numbers[offset / MBARRIER_BYTES] = (uint8_t)(m - c->mbarriers + 1);
  return m;
}

struct mbarrier *mbarrier_init(struct warp *w, const struct op *op, unsigned lane,
                               const struct location *at, uint32_t count) {
  struct cta *c = w->cta;
  struct mbarrier *m = object_at(c, at->offset);
  if (m && m->live) {
    bad(w, op, lane, m, "mbarrier.init of an object that is in use");
    return NULL;
  }
  if (!c->mbarriers)
    allocate(c);
  m = new_object(c, (uint32_t)at->offset);
  if (!m) {
    fault(w, op, lane, SIM_BAD_MBARRIER, NULL, "more than %d mbarriers in a CTA are not supported",
          MAX_MBARRIERS);
    return NULL;
  }
  *m = (struct mbarrier){.cta = c,
                         .offset = (uint32_t)at->offset,
                         .live = true,
                         .expected = count,
                         .pending = count,
                         .completed = m->completed,
                         .made = op,
                         .warp = w->id,
                         .lane = lane,
                         .clock = w->clock ? w->clock[w->id].clock : 0,
                         .fences = w->init_fences[lane],
                         .arriving = m->arriving,
                         .arrived = m->arrived};
  if (w->clock) {
    memset(m->arriving, 0, clock_count(c) * sizeof *m->arriving);
    memset(m->arrived, 0, clock_count(c) * sizeof *m->arrived);
    shadow_mbarrier(w, op, lane, m->offset, true);
  }
  return m;
}

// The groups of lanes that wait for it look again.
static void wake(const struct mbarrier *m) {
  const struct cta *c = m->cta;
  unsigned number = (unsigned)(m - c->mbarriers);
  for (unsigned i = 0; i < c->warp_count; i++)
    for (unsigned k = 0; k < c->warps[i].other_count; k++) {
      struct group *g = &c->warps[i].others[k];
      if (g->state == GROUP_MBARRIER && g->barrier == number)
        warp_wake(&c->warps[i], g);
    }
}

void mbarrier_inval(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m) {
  m->live = false;
  m->ended = op;
  if (w->clock)
    shadow_mbarrier(w, op, lane, m->offset, false);
  wake(m);
}

// ---- phases ----

// With `check`: copies to it are under way when a phase completes.
static void check_copies(const struct mbarrier *m) {
  const struct cta *c = m->cta;
  char text[MBARRIER_TEXT];
  const struct bulk_copy *x = NULL;
  while ((x = bulk_next_load(c, x, (unsigned)(m - c->mbarriers)))) {
    struct memory_site at = {SIM_SHARED, x->shared, x->bytes};
    warn(x->w, x->op, x->lane, SIM_ASYNC_ORDER, &at, NULL,
         "phase %u completes without the %u bytes of this copy: it expects too few (%s)", m->phase,
         x->bytes, mbarrier_text(x->w, m, text, sizeof text));
  }
}

static void complete_if_done(struct mbarrier *m) {
  struct cta *c = m->cta;
  if (m->pending || m->bytes)
    return;
  if (c->run->check)
    check_copies(m);
  m->phase++;
  m->completed++;
  m->pending = m->expected;
  if (m->arriving) {
    m->arriving[mbarrier_agent(m)] = (struct clock_entry){m->completed, 0, ~0u};
    memcpy(m->arrived, m->arriving, clock_count(c) * sizeof *m->arrived);
    m->acquired = m->acquiring;
  }
  wake(m);
}

bool mbarrier_arrive(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m,
                     uint32_t count, bool drop, uint32_t releases, bool cluster) {
  if (count == 0 || count > MBARRIER_MAX)
    return bad(w, op, lane, m, "an arrival of 0, or more than 1048575");
  if (count > m->pending)
    return bad(w, op, lane, m, "one arrival more than this phase expects");
  if (m->arriving && releases) {
    bool writes = cluster || m->cta == w->cta;
    clock_release(w, releases, m->arriving, writes);
    if (writes)
      m->acquiring = m->acquiring > w->acquired ? m->acquiring : w->acquired;
  }
  m->arrival = op;
  if (drop)
    m->expected -= count;
  m->pending -= count;
  complete_if_done(m);
  return true;
}

bool mbarrier_bytes(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m,
                    int64_t bytes) {
  int64_t sum = m->bytes + bytes;
  if (sum > MBARRIER_MAX || sum < -MBARRIER_MAX)
    return bad(w, op, lane, m, "more than 1048575 bytes in a phase");
  m->bytes = (int32_t)sum;
  if (bytes < 0)
    complete_if_done(m);
  return true;
}

bool mbarrier_add_pending(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m) {
  if (m->pending == MBARRIER_MAX)
    return bad(w, op, lane, m, "more than 1048575 arrivals in a phase");
  m->pending++;
  return true;
}
