// SPDX-License-Identifier: Apache-2.0
// Shadow of shared and local memory, and dispatch to that of global memory: which bytes were
// written, and races between accesses. Barriers order accesses of warps: each warp has a vector
// clock, which it advances when it arrives and joins with those of the others when it leaves (as in
// FastTrack, Flanagan and Freund, PLDI 2009). Within a warp, `*.sync` instructions order the lanes.
#include "ptx-simulator/shadow.h"

#include "ptx-simulator/decode.h"
#include "ptx-simulator/global.h"

#include <assert.h>

enum { UNWRITTEN, WRITTEN, UNDEFINED, PENDING };

struct write_record {
  uint32_t clock, op;
  uint32_t proxy_fences; // that the lane had executed
  uint8_t warp, lane, state, is_atomic;
};
struct read_record {
  uint32_t clock, op, lanes;
};
struct shadow {
  uint32_t bytes, warps, first_clock;
  struct write_record *writes;
  struct read_record *reads; // [byte][warp]
};

struct shadow *shadow_create(struct arena *a, uint32_t bytes, unsigned warps) {
  struct shadow *s = arena_new(a, struct shadow);
  s->bytes = bytes;
  s->warps = warps;
  s->writes = arena_array(a, struct write_record, bytes + 1);
  s->reads = arena_array(a, struct read_record, (size_t)bytes * warps + 1);
  return s;
}

void shadow_start(struct cta *c) {
  struct shadow *s = c->shadow;
  uint32_t highest = s->first_clock;
  for (unsigned i = 0; i < c->warp_count; i++)
    if (c->warps[i].clock[i] > highest)
      highest = c->warps[i].clock[i];
  s->first_clock = highest;
  for (unsigned i = 0; i < c->warp_count; i++) {
    for (unsigned k = 0; k < c->warp_count; k++)
      c->warps[i].clock[k] = highest;
    c->warps[i].clock[i] = highest + 1;
  }
  memset(s->writes, 0, s->bytes * sizeof *s->writes);
}

// ---- races ----

struct access_site {
  struct warp *w;
  const struct op *op;
  unsigned lane, bytes;
  const struct location *at;
};

static void report_race(const struct access_site *x, unsigned warp, unsigned lane, uint32_t op,
                        const char *what) {
  const struct op *code = x->w->program->code.at;
  struct sim_site other = site_of(&x->w->cta->warps[warp], &code[op], lane);
  struct memory_site at = {SIM_SHARED, x->at->offset, x->bytes};
  warn(x->w, x->op, x->lane, SIM_RACE, &at, &other, "%s, and nothing orders them", what);
}

static void report_pending(const struct access_site *x, const struct write_record *r) {
  const struct op *code = x->w->program->code.at;
  struct sim_site other = site_of(&x->w->cta->warps[r->warp], &code[r->op], r->lane);
  struct memory_site at = {SIM_SHARED, x->at->offset, x->bytes};
  warn(x->w, x->op, x->lane, SIM_EARLY_READ, &at, &other,
       "a cp.async to these bytes may not have arrived");
}

// Whether an access of `warp` at `clock`, by other lanes than this one, is unordered with this one.
static bool is_unordered(const struct access_site *x, unsigned warp, uint32_t clock,
                         uint32_t lanes) {
  const struct warp *w = x->w;
  if (warp != w->index)
    return clock > w->clock[warp];
  return clock == w->clock[warp] && (lanes & ~(1u << x->lane));
}

static void check_write(const struct access_site *x, const struct write_record *r, bool is_read) {
  if (r->state == UNWRITTEN || !is_unordered(x, r->warp, r->clock, 1u << r->lane))
    return;
  report_race(x, r->warp, r->lane, r->op,
              is_read ? "a read here and a write there of the same shared memory"
                      : "two writes of different values to the same shared memory");
}

static void check_reads(const struct access_site *x, uint32_t byte) {
  const struct shadow *s = x->w->cta->shadow;
  const struct read_record *reads = &s->reads[(size_t)byte * s->warps];
  for (unsigned i = 0; i < x->w->cta->warp_count; i++)
    if (reads[i].clock && is_unordered(x, i, reads[i].clock, reads[i].lanes)) {
      uint32_t others = i == x->w->index ? reads[i].lanes & ~(1u << x->lane) : reads[i].lanes;
      report_race(x, i, (unsigned)__builtin_ctz(others), reads[i].op,
                  "a write here and a read there of the same shared memory");
    }
}

static uint32_t op_index(const struct warp *w, const struct op *op) {
  return (uint32_t)(op - w->program->code.at);
}

static void record_write(const struct access_site *x, struct write_record *r, unsigned state,
                         bool is_atomic) {
  const struct warp *w = x->w;
  *r = (struct write_record){.clock = w->clock[w->index],
                             .op = op_index(w, x->op),
                             .proxy_fences = w->proxy_fences[x->lane],
                             .warp = (uint8_t)w->index,
                             .lane = (uint8_t)x->lane,
                             .state = (uint8_t)state,
                             .is_atomic = is_atomic};
}

// ---- accesses ----

static uint32_t local_read(struct warp *w, unsigned lane, const struct location *at,
                           unsigned bytes) {
  const uint8_t *shadow = w->local_shadow + (size_t)lane * w->program->local_bytes + at->offset;
  uint32_t undefined = 0;
  for (unsigned i = 0; i < bytes; i++)
    undefined |= (uint32_t)(shadow[i] == 0) << i;
  return undefined;
}

uint32_t shadow_read(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                     unsigned bytes, unsigned order) {
  if (at->space == SIM_LOCAL)
    return local_read(w, lane, at, bytes);
  if (at->space == SIM_GLOBAL) {
    uint32_t raced = global_read(w, op, lane, at, bytes, order);
    return raced | unwritten_bytes(w, op, lane, at, bytes);
  }
  if (at->space != SIM_SHARED)
    return 0;
  struct shadow *s = w->cta->shadow;
  struct access_site x = {w, op, lane, bytes, at};
  uint32_t undefined = 0, clock = w->clock[w->index], index = op_index(w, op);
  for (unsigned i = 0; i < bytes; i++) {
    uint32_t byte = (uint32_t)at->offset + i;
    const struct write_record *r = &s->writes[byte];
    struct read_record *read = &s->reads[(size_t)byte * s->warps + w->index];
    if (r->state == PENDING)
      report_pending(&x, r);
    else
      check_write(&x, r, true);
    undefined |= (uint32_t)(r->state == UNWRITTEN || r->state == UNDEFINED) << i;
    uint32_t lanes = read->clock == clock ? read->lanes : 0;
    *read = (struct read_record){clock, index, lanes | 1u << lane};
  }
  return undefined;
}

void shadow_write(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                  unsigned bytes, unsigned order, uint32_t undefined_bytes, const uint8_t *values) {
  if (at->space == SIM_LOCAL) {
    uint8_t *shadow = w->local_shadow + (size_t)lane * w->program->local_bytes + at->offset;
    for (unsigned i = 0; i < bytes; i++)
      shadow[i] = !(undefined_bytes >> i & 1);
  }
  if (at->space == SIM_GLOBAL)
    global_write(w, op, lane, at, bytes, order, values);
  if (at->space != SIM_SHARED)
    return;
  struct shadow *s = w->cta->shadow;
  struct access_site x = {w, op, lane, bytes, at};
  for (unsigned i = 0; i < bytes; i++) {
    uint32_t byte = (uint32_t)at->offset + i;
    struct write_record *r = &s->writes[byte];
    if (r->state == PENDING)
      report_pending(&x, r);
    else if (values[i] != at->bytes[i]) // two threads may write the same value
      check_write(&x, r, false);
    check_reads(&x, byte);
    record_write(&x, r, undefined_bytes >> i & 1 ? UNDEFINED : WRITTEN, false);
  }
}

static void warn_unwritten(struct warp *w, const struct op *op, unsigned lane,
                           const struct location *at, unsigned bytes) {
  struct memory_site site = {at->space, at->offset, bytes};
  warn(w, op, lane, SIM_UNINITIALISED, &site, NULL,
       "an atomic operation on %s memory that was never written", sim_space_name(at->space));
}

void shadow_atomic(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                   unsigned bytes, unsigned order, const uint8_t *values) {
  if (at->space == SIM_GLOBAL) {
    global_atomic(w, op, lane, at, bytes, order, values);
    if (unwritten_bytes(w, op, lane, at, bytes))
      warn_unwritten(w, op, lane, at, bytes);
  }
  if (at->space != SIM_SHARED)
    return;
  struct shadow *s = w->cta->shadow;
  struct access_site x = {w, op, lane, bytes, at};
  for (unsigned i = 0; i < bytes; i++) {
    uint32_t byte = (uint32_t)at->offset + i;
    struct write_record *r = &s->writes[byte];
    if (r->state == PENDING)
      report_pending(&x, r);
    else if (!r->is_atomic)
      check_write(&x, r, true);
    check_reads(&x, byte);
    if (r->state == UNWRITTEN || r->state == UNDEFINED)
      warn_unwritten(w, op, lane, at, bytes);
    record_write(&x, r, WRITTEN, true);
  }
}

void shadow_copy_begins(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                        unsigned bytes) {
  assert(offset + bytes <= w->run->shared_bytes);
  struct shadow *s = w->cta->shadow;
  struct location at = {.space = SIM_SHARED, .offset = offset};
  struct access_site x = {w, op, lane, bytes, &at};
  for (uint32_t byte = offset; byte < offset + bytes; byte++) {
    check_write(&x, &s->writes[byte], false);
    check_reads(&x, byte);
    record_write(&x, &s->writes[byte], PENDING, false);
  }
}

// `op` is the wait; the record names the copy, at the time of the wait.
void shadow_copy_arrives(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                         unsigned bytes, uint32_t undefined_bytes) {
  assert(offset + bytes <= w->run->shared_bytes);
  struct location at = {.space = SIM_SHARED, .offset = offset};
  struct access_site x = {w, op, lane, bytes, &at};
  for (uint32_t i = 0; i < bytes; i++)
    record_write(&x, &w->cta->shadow->writes[offset + i],
                 undefined_bytes >> i & 1 ? UNDEFINED : WRITTEN, false);
}

// ---- proxies ----

// The async proxy reads what a thread wrote through the generic proxy after a fence.proxy.async of
// that thread, or of the reader if the write is ordered before it (PTX ISA, 8.6 "Proxies").
void shadow_proxy_fence(struct warp *w, const struct op *op, uint32_t lanes) {
  (void)op;
  EACH_LANE(lane, lanes)
  w->proxy_fences[lane]++;
  if (w->undefined)
    memcpy(w->fence_clock, w->clock, w->cta->warp_count * sizeof *w->clock);
}

static bool is_fenced(const struct warp *reader, const struct write_record *r) {
  const struct warp *writer = &reader->cta->warps[r->warp];
  return writer->proxy_fences[r->lane] > r->proxy_fences ||
         (writer != reader && r->clock <= reader->fence_clock[r->warp]);
}

static void report_unfenced(const struct access_site *x, const struct write_record *r) {
  const struct op *code = x->w->program->code.at;
  struct sim_site other = site_of(&x->w->cta->warps[r->warp], &code[r->op], r->lane);
  struct memory_site at = {SIM_SHARED, x->at->offset, x->bytes};
  warn(x->w, x->op, x->lane, SIM_ASYNC_ORDER, &at, &other,
       "wgmma reads shared memory through the async proxy that was written through the generic "
       "proxy, without a fence.proxy.async between them");
}

uint64_t shadow_async_read(struct warp *w, const struct op *op, const struct location *at,
                           unsigned bytes, uint64_t hash) {
  struct access_site x = {w, op, 0, bytes, at};
  for (unsigned i = 0; i < bytes; i++) {
    const struct write_record *r = &w->cta->shadow->writes[at->offset + i];
    if (r->state != UNWRITTEN && r->state != PENDING && !is_fenced(w, r))
      report_unfenced(&x, r);
    uint64_t written = (uint64_t)r->clock << 32 | (r->op << 8 ^ (uint32_t)r->warp << 3 ^ r->state);
    hash = (hash ^ written ^ (uint64_t)at->bytes[i] << 56) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  if (shadow_read(w, op, 0, at, bytes, 0))
    warn(w, op, 0, SIM_UNINITIALISED, &(struct memory_site){SIM_SHARED, at->offset, bytes}, NULL,
         "a product reads shared memory that was never written");
  return hash;
}
