// SPDX-License-Identifier: Apache-2.0
// Checks of one access to shared memory against the records of earlier ones (shadow_records.h).
#include "ptx-simulator/shadow_records.h"

#include "ptx-simulator/bulk_pending.h"

// ---- asynchronous copies and mbarriers ----

const struct warp *warp_of_cluster(const struct cta *c, unsigned id) {
  return &c->cluster->ctas[id / c->warp_count]->warps[id % c->warp_count];
}

// A copy that an mbarrier announces has its issuing warp where others count fences.
struct sim_site site_of_write(const struct cta *c, const struct write_record *r) {
  unsigned id = r->warp < clock_warps(c) ? r->warp : r->proxy_fences;
  const struct warp *w = warp_of_cluster(c, id);
  return site_of(w, &w->program->code.at[r->op], r->lane);
}

static void report_unawaited(const struct access_site *x, const struct write_record *r) {
  const struct cta *c = x->at->cta;
  if (has_warned(x->w, x->op, SIM_EARLY_READ))
    return;
  const struct mbarrier *m = mbarrier_of_agent(c, r->warp);
  struct sim_site other = site_of_write(c, r);
  struct memory_site at = memory_of(x);
  char text[MBARRIER_TEXT];
  warn(x->w, x->op, x->lane, SIM_EARLY_READ, &at, &other,
       "%s is written by the copy of line %u, and the thread has not waited for phase "
       "%u of its mbarrier (%s)",
       shared_text(c->run, x->at->offset).at, other.line, r->clock - 1 - (m->completed - m->phase),
       mbarrier_text(x->w, m, text, sizeof text));
}

static void report_under_way(const struct access_site *x, const struct write_record *r,
                             uint32_t byte) {
  const struct cta *c = x->at->cta;
  if (has_warned(x->w, x->op, SIM_EARLY_READ))
    return;
  const struct bulk_copy *load = bulk_of_byte(c, byte, BULK_LOAD);
  struct sim_site other = site_of_write(c, r);
  struct memory_site at = memory_of(x);
  char text[MBARRIER_TEXT];
  if (load)
    warn(x->w, x->op, x->lane, SIM_EARLY_READ, &at, &other,
         "the copy of line %u to %s may not have arrived (%s)", other.line,
         shared_text(c->run, byte).at,
         mbarrier_text(x->w, mbarrier_at(c, load->mbarrier), text, sizeof text));
  else
    warn(x->w, x->op, x->lane, SIM_EARLY_READ, &at, &other,
         "a cp.async to these bytes may not have arrived");
}

bool check_busy(const struct access_site *x, const struct write_record *r) {
  const struct cta *c = x->at->cta;
  if (r->state != PENDING && r->state != MBARRIER)
    return false;
  if (r->state == PENDING) {
    report_under_way(x, r, (uint32_t)(r - c->shadow->writes));
    return true;
  }
  struct sim_site other = site_of_write(c, r);
  struct memory_site at = memory_of(x);
  char name[64];
  uint32_t byte = (uint32_t)(r - c->shadow->writes) & ~(MBARRIER_BYTES - 1u);
  warn(x->w, x->op, x->lane, SIM_BAD_MBARRIER, &at, &other,
       "an access to the bytes of mbarrier 0x%x%s, which only mbarrier instructions may touch",
       byte, shared_name(c->run, byte, name, sizeof name));
  return true;
}

void check_pins(const struct access_site *x, const struct write_record *r, uint32_t byte) {
  const struct bulk_copy *store = r->pins ? bulk_of_byte(x->at->cta, byte, BULK_STORE) : NULL;
  if (!store)
    return;
  struct sim_site other = site_of(store->w, store->op, store->lane);
  struct memory_site at = memory_of(x);
  warn(x->w, x->op, x->lane, SIM_ASYNC_ORDER, &at, &other,
       "%s is written while the bulk store of line %u may still read it: its thread has "
       "not waited with cp.async.bulk.wait_group",
       shared_text(x->at->cta->run, byte).at, other.line);
}

// ---- races ----

static void report_race(const struct access_site *x, unsigned warp, unsigned lane, uint32_t op,
                        const char *what) {
  const struct op *code = x->w->program->code.at;
  struct sim_site other = site_of(warp_of_cluster(x->w->cta, warp), &code[op], lane);
  char whose[32];
  struct memory_site at = {SIM_SHARED, x->at->offset, x->bytes};
  warn(x->w, x->op, x->lane, SIM_RACE, &at, &other, "%s, and nothing orders them (%s%s, line %u)",
       what, shared_text(x->w->run, x->at->offset).at,
       cluster_whose(x->w, x->at->cta, whose, sizeof whose), other.line);
}

// Whether an access of `warp` at `clock`, by other lanes than this one, is unordered with this one
// by the entries `clocks`.
static bool is_unordered(const struct access_site *x, const struct clock_entry *clocks,
                         unsigned warp, uint32_t clock, uint32_t lanes) {
  const struct clock_entry *e = &clocks[warp];
  if (warp != x->w->id)
    return !clock_covers(e, clock, lanes);
  return clock >= e->base && (lanes & ~(1u << x->lane));
}

void check_write(const struct access_site *x, const struct write_record *r, bool is_read) {
  if (r->state == UNWRITTEN || !is_unordered(x, x->w->clock, r->warp, r->clock, 1u << r->lane))
    return;
  if (r->warp >= clock_warps(x->w->cta))
    report_unawaited(x, r);
  else
    report_race(x, r->warp, r->lane, r->op,
                is_read ? "a read here and a write there of the same shared memory"
                        : "two writes of different values to the same shared memory");
}

static void check_read(const struct access_site *x, unsigned warp, const struct read_record *r) {
  if (!r->clock || !is_unordered(x, clock_reads(x->w), warp, r->clock, r->lanes))
    return;
  uint32_t others = warp == x->w->id ? r->lanes & ~(1u << x->lane) : r->lanes;
  report_race(x, warp, (unsigned)__builtin_ctz(others), r->op,
              "a write here and a read there of the same shared memory");
}

void check_reads(const struct access_site *x, uint32_t byte) {
  const struct cta *c = x->at->cta;
  const struct shadow *s = c->shadow;
  const struct read_record *reads = &s->reads[(size_t)byte * s->warps];
  for (unsigned i = 0; i < s->warps; i++)
    check_read(x, c->warps[i].id, &reads[i]);
  if (s->far)
    check_read(x, s->far[byte].warp, &s->far[byte].at);
}

void record_write(const struct access_site *x, struct write_record *r, unsigned state,
                  bool is_atomic) {
  const struct warp *w = x->w;
  *r = (struct write_record){.clock = w->clock[w->id].clock,
                             .op = op_index(w, x->op),
                             .proxy_fences = w->proxy_fences[x->lane],
                             .warp = w->id,
                             .lane = x->lane,
                             .state = state,
                             .is_atomic = is_atomic,
                             .pins = r->pins};
}

void record_read(const struct access_site *x, uint32_t byte) {
  const struct warp *w = x->w;
  struct shadow *s = x->at->cta->shadow;
  const struct clock_entry *own = &w->clock[w->id];
  bool is_far = x->at->cta != w->cta;
  if (is_far && !s->far)
    s->far = arena_array(w->run->arena, struct far_read, s->bytes + 1);
  struct read_record *read =
      is_far ? &s->far[byte].at : &s->reads[(size_t)byte * s->warps + w->index];
  bool same = !is_far || s->far[byte].warp == w->id;
  if (is_far)
    s->far[byte].warp = w->id;
  uint32_t lanes = same && read->clock >= own->base ? read->lanes : 0;
  *read = (struct read_record){own->clock, op_index(w, x->op), lanes | 1u << x->lane};
}
