// SPDX-License-Identifier: Apache-2.0
// Bulk copies under way (bulk_copy.h): their checks, when they happen, and the waits for them.
#include "ptx-simulator/bulk_copy.h"

#include "ptx-simulator/global.h"
#include "ptx-simulator/shadow_records.h"

enum {
  NOT_ARRIVED = 0xff, // NaN as a float, -1 as an integer
  MAX_UNAWAITED = 32, // stores of a CTA whose sources were read that bulk_check_global knows
  STEP_ODDS = 16,     // one of so many steps of a CTA lets a copy happen
};

void bulk_start(struct cta *c) {
  if (c->bulk)
    c->bulk->copies.len = 0;
}

static struct mbarrier *mbarrier_of(const struct bulk_copy *c) {
  return &c->cta->mbarriers[c->mbarrier];
}

// ---- the instruction ----

// A load's source, or a store's source and destination, as of the instruction.
static bool check_piece(void *user, const struct tensor_piece *p) {
  const struct bulk_copy *c = user;
  struct location at;
  bool is_load = c->kind == BULK_LOAD;
  if (!p->is_inside)
    return true;
  if (!locate_bytes(c->w, c->op, c->lane, SIM_GLOBAL, p->global, p->bytes,
                    is_load ? ACCESS_READ : ACCESS_WRITE, &at))
    return false;
  if (!c->w->undefined)
    return true;
  if (is_load) {
    bulk_check_global(c->w, c->op, c->lane, &at, p->bytes);
    if (global_read(c->w, c->op, c->lane, &at, p->bytes, 0))
      global_report_read(c->w, c->op, c->lane);
    return true;
  }
  struct location from = {
      .space = SIM_SHARED, .cta = c->cta, .offset = p->shared, .bytes = c->cta->shared + p->shared};
  (void)shadow_async_read(c->w, c->op, c->lane, &from, p->bytes, "a bulk store", 0);
  return true;
}

// The async proxy completes bytes of an mbarrier only if it sees its init.
static void check_init(const struct bulk_copy *c) {
  const struct mbarrier *m = mbarrier_of(c);
  const struct warp *maker = warp_of_cluster(c->cta, m->warp);
  char text[MBARRIER_TEXT];
  struct memory_site at = {SIM_SHARED, m->offset, MBARRIER_BYTES};
  if (maker->init_fences[m->lane] > m->fences ||
      clock_covers(&c->w->fence_clock[m->warp], m->clock, 1u << m->lane))
    return;
  struct sim_site other = site_of(maker, m->made, m->lane);
  warn(c->w, c->op, c->lane, SIM_ASYNC_ORDER, &at, &other,
       "%s: a bulk copy completes its bytes, and no fence.mbarrier_init or fence.proxy.async came "
       "after its init in line %u",
       mbarrier_text(c->w, m, text, sizeof text), m->made->in->line);
}

static bool check(struct bulk_copy *c) {
  bool is_load = c->kind == BULK_LOAD;
  if (!bulk_visit(c, check_piece, c))
    return false;
  if (c->w->undefined && is_load) {
    check_init(c);
    shadow_load_begins(c->w, c->op, c->lane, c->cta, c->shared, c->bytes);
  } else if (c->w->undefined) {
    shadow_store_begins(c->w, c->shared, c->bytes);
  }
  if (is_load)
    memset(c->cta->shared + c->shared, NOT_ARRIVED, c->bytes);
  return true;
}

// ---- the copy ----

static bool load_piece(void *user, const struct tensor_piece *p) {
  const struct bulk_copy *c = user;
  struct warp *w = c->w;
  uint8_t *to = c->cta->shared + p->shared;
  struct location at;
  uint32_t undefined = 0;
  if (p->is_inside) {
    if (!locate_bytes(w, c->op, c->lane, SIM_GLOBAL, p->global, p->bytes, ACCESS_READ, &at))
      return false;
    memcpy(to, at.bytes, p->bytes);
    if (w->undefined)
      undefined = unwritten_bytes(w, c->op, c->lane, &at, p->bytes);
  } else {
    uint8_t fill[8];
    tensor_map_fill(&c->map, fill);
    memcpy(to, fill, p->bytes);
  }
  const struct mbarrier *m = mbarrier_of(c);
  if (w->undefined)
    shadow_load_arrives(w, c->op, c->lane, c->cta, p->shared, p->bytes, undefined,
                        mbarrier_agent(m), m->completed + 1);
  return true;
}

static bool store_piece(void *user, const struct tensor_piece *p) {
  const struct bulk_copy *c = user;
  struct warp *w = c->w;
  const uint8_t *from = w->cta->shared + p->shared;
  struct location at;
  if (!p->is_inside)
    return true;
  if (!locate_bytes(w, c->op, c->lane, SIM_GLOBAL, p->global, p->bytes, ACCESS_WRITE, &at))
    return false;
  uint8_t values[TENSOR_CHUNK];
  memcpy(values, c->reduction ? at.bytes : from, p->bytes);
  unsigned step = c->reduction ? reduction_bytes(c->reduction) : p->bytes;
  for (unsigned i = 0; c->reduction && i < p->bytes; i += step)
    reduction_apply(c->reduction, values + i, from + i);
  if (w->undefined && c->reduction)
    shadow_atomic(w, c->op, c->lane, &at, p->bytes, ORDER_STRONG, values);
  else if (w->undefined)
    global_write(w, c->op, c->lane, &at, p->bytes, 0, values);
  memcpy(at.bytes, values, p->bytes);
  mark_location(&at, p->bytes);
  return true;
}

// The mbarrier of a copy that happens.
static struct mbarrier *live_mbarrier(const struct bulk_copy *c) {
  struct mbarrier *m = mbarrier_of(c);
  if (m->live)
    return m;
  fault(c->w, c->op, c->lane, SIM_BAD_MBARRIER, NULL,
        "mbarrier 0x%x ended by mbarrier.inval in line %u before this copy to it completed",
        m->offset, m->ended->in->line);
  return NULL;
}

// The first `serials` cp.async of the warp arrive, as far as they are the lane's: whoever waits for
// the mbarrier will have waited for them.
static void announce(struct warp *w, unsigned lane, uint32_t serials, const struct mbarrier *m) {
  size_t kept = 0;
  for (size_t i = 0; i < w->copies.len; i++) {
    const struct pending_copy *c = &w->copies.at[i];
    if (c->lane != lane || c->serial >= serials) {
      w->copies.at[kept++] = *c;
      continue;
    }
    memcpy(w->cta->shared + c->offset, c->data, c->bytes);
    if (w->undefined)
      shadow_copy_arrives(w, c->op, lane, c->offset, c->bytes, c->undefined_bytes,
                          mbarrier_agent(m), m->completed + 1);
  }
  w->copies.len = kept;
}

// Removes a load or arrival; a store stays until its thread has waited.
static void happen(struct cta *cta, size_t i) {
  VEC(struct bulk_copy) *all = (void *)&cta->bulk->copies;
  struct bulk_copy c = all->at[i];
  if (c.kind == BULK_STORE) {
    all->at[i].is_done = true;
    bulk_visit(&c, store_piece, &c);
    return;
  }
  memmove(&all->at[i], &all->at[i + 1], (all->len - i - 1) * sizeof c);
  all->len--;
  struct mbarrier *m = live_mbarrier(&c);
  if (!m)
    return;
  if (c.kind == BULK_ARRIVE) {
    announce(c.w, c.lane, c.group, m);
    (void)mbarrier_arrive(c.w, c.op, c.lane, m, 1, false, 0, false);
  } else if (bulk_visit(&c, load_piece, &c)) {
    m->loaded = m->completed + 1;
    (void)mbarrier_bytes(c.w, c.op, c.lane, m, -(int64_t)c.bytes);
  }
}

bool bulk_begin(struct bulk_copy *c) {
  struct cta *cta = c->cta;
  if (!cta->bulk)
    cta->bulk = arena_new(cta->arena, struct bulk_state);
  if (c->kind != BULK_ARRIVE && !check(c))
    return false;
  uint64_t dice = run_random(c->w->run) % 4;
  c->is_late = dice == 1;
  vec_push(cta->arena, &cta->bulk->copies, *c);
  if (dice == 0)
    happen(cta, cta->bulk->copies.len - 1);
  return !c->w->run->failed;
}

bool bulk_step(struct cta *c, bool must) {
  if (!c->bulk || !c->bulk->copies.len)
    return false;
  uint64_t dice = run_random(c->run);
  if (!must && dice % STEP_ODDS)
    return false;
  // A late copy happens when nothing else can; now and then before, for those who wait in a loop.
  bool late = must || dice / STEP_ODDS % STEP_ODDS == 0;
  size_t count = c->bulk->copies.len, first = (size_t)((dice >> 32) % count);
  for (int pass = 0; pass < (late ? 2 : 1); pass++)
    for (size_t i = 0; i < count; i++) {
      const struct bulk_copy *x = &c->bulk->copies.at[(first + i) % count];
      if (x->is_done || (x->is_late && pass == 0))
        continue;
      happen(c, (first + i) % count);
      return true;
    }
  return false;
}

// ---- waits and exits ----

static void has_read(struct bulk_copy *c) {
  if (!c->is_read && c->w->undefined)
    shadow_store_has_read(c->w, c->op, c->lane, c->shared, c->bytes);
  c->is_read = true;
}

// Of the stores whose sources were read, only the last are remembered.
static void forget_oldest(struct bulk_state *s) {
  size_t count = 0, kept = 0;
  for (size_t i = 0; i < s->copies.len; i++)
    count += s->copies.at[i].is_read;
  for (size_t i = 0; i < s->copies.len; i++) {
    if (s->copies.at[i].is_read && count > MAX_UNAWAITED)
      count--;
    else
      s->copies.at[kept++] = s->copies.at[i];
  }
  s->copies.len = kept;
}

void bulk_wait(struct warp *w, unsigned lane, uint64_t groups, bool read) {
  struct bulk_state *s = w->cta->bulk;
  uint32_t commits = w->bulk_commits[lane];
  size_t kept = 0;
  for (size_t i = 0; s && i < s->copies.len; i++) {
    struct bulk_copy *c = &s->copies.at[i];
    bool waited = c->kind == BULK_STORE && c->w == w && c->lane == lane && c->group < commits &&
                  commits - c->group > groups;
    if (waited) {
      if (!c->is_done)
        happen(w->cta, i);
      has_read(c);
    }
    if (!waited || read)
      s->copies.at[kept++] = *c;
  }
  if (s) {
    s->copies.len = kept;
    forget_oldest(s);
  }
}

void bulk_arrive_all(struct warp *w, unsigned lane) {
  struct cta *cta = w->cta;
  for (size_t i = 0; cta->bulk && i < cta->bulk->copies.len; i++) {
    const struct bulk_copy *c = &cta->bulk->copies.at[i];
    if (c->kind != BULK_ARRIVE || c->w != w || c->lane != lane)
      continue;
    const struct mbarrier *m = mbarrier_of(c);
    if (w->clock) // the thread itself waits for them here
      w->clock[mbarrier_agent(m)] = (struct clock_entry){m->completed + 1, 0, ~0u};
    happen(cta, i--);
  }
}

void bulk_exit(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct bulk_state *s = w->cta->bulk;
  for (size_t i = 0; s && w->undefined && i < s->copies.len; i++) {
    const struct bulk_copy *c = &s->copies.at[i];
    struct sim_site other = site_of(c->w, c->op, c->lane);
    struct memory_site at = {SIM_SHARED, c->shared, c->bytes};
    if (c->kind == BULK_STORE && c->w == w && (lanes >> c->lane & 1) && !c->is_read)
      warn(
          w, op, c->lane, SIM_ASYNC_ORDER, &at, &other,
          "the thread exits while its bulk store of line %u may still read %s: it has not "
          "waited with cp.async.bulk.wait_group",
          other.line, shared_text(w->run, c->shared).at);
  }
}

// With `check`: a load has come that no thread has waited for. On a GPU it may come later.
static void check_waited(struct warp *w, const struct op *op) {
  struct cta *cta = w->cta;
  for (unsigned i = 0; w->undefined && i < cta->mbarrier_count; i++) {
    const struct mbarrier *m = &cta->mbarriers[i];
    char text[MBARRIER_TEXT];
    struct memory_site at = {SIM_SHARED, m->offset, MBARRIER_BYTES};
    if (!m->live || m->loaded <= m->waited)
      continue;
    struct sim_site other = site_of(m->copier, m->copy, m->copier_lane);
    warn(w, op, 0, SIM_ASYNC_ORDER, &at, &other,
         "the CTA ends, and no thread has waited for the copy of line %u to %s (%s)",
         other.line, shared_text(w->run, m->copied_to).at,
         mbarrier_text(w, m, text, sizeof text));
  }
}

void bulk_end(struct warp *w, const struct op *op) {
  struct cta *cta = w->cta;
  for (size_t i = 0; cta->bulk && i < cta->bulk->copies.len; i++) {
    const struct bulk_copy *c = &cta->bulk->copies.at[i];
    char text[MBARRIER_TEXT];
    struct memory_site at = {SIM_SHARED, c->shared, c->bytes};
    struct sim_site other = site_of(c->w, c->op, c->lane);
    if (c->kind == BULK_STORE && !c->is_done)
      happen(cta, i);
    else if (c->kind == BULK_LOAD && w->undefined)
      warn(w, op, 0, SIM_ASYNC_ORDER, &at, &other,
           "the CTA ends while the copy of line %u to %s is under way (%s)", other.line,
           shared_text(w->run, c->shared).at, mbarrier_text(w, mbarrier_of(c), text, sizeof text));
  }
  check_waited(w, op);
  bulk_start(cta);
}
