// SPDX-License-Identifier: Apache-2.0
// The shadow of shared memory under asynchronous accesses (shadow.h): bytes under way have no
// value; the async proxy sees what was written through the generic proxy only after a
// fence.proxy.async (PTX ISA, "Memory Consistency Model: Proxies"); only instructions for mbarriers
// access an mbarrier.
#include "ptx-simulator/bulk_pending.h"
#include "ptx-simulator/shadow_records.h"

#include <assert.h>
#include <stdio.h>

// ---- cp.async ----

void shadow_copy_begins(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                        unsigned bytes) {
  assert(offset + bytes <= w->run->shared_bytes);
  struct shadow *s = w->cta->shadow;
  struct location at = {.space = SIM_SHARED, .cta = w->cta, .offset = offset};
  struct access_site x = {w, op, lane, bytes, &at};
  for (uint32_t byte = offset; byte < offset + bytes; byte++) {
    struct write_record *r = &s->writes[byte];
    check_pins(&x, r, byte);
    if (r->state == MBARRIER || bulk_of_byte(w->cta, byte, BULK_LOAD))
      check_busy(&x, r);
    else
      check_write(&x, r, false);
    check_reads(&x, byte);
    record_write(&x, r, PENDING, false);
  }
}

static void arrive(const struct access_site *x, uint32_t undefined_bytes, unsigned agent,
                   uint32_t clock, bool is_async) {
  for (uint32_t i = 0; i < x->bytes; i++) {
    struct write_record *r = &x->at->cta->shadow->writes[x->at->offset + i];
    record_write(x, r, undefined_bytes >> i & 1 ? UNDEFINED : WRITTEN, false);
    r->is_async = is_async;
    if (agent == NO_AGENT)
      continue;
    r->warp = agent & 0x7ff;
    r->clock = clock;
    r->proxy_fences = x->w->id;
  }
}

// `op` is the wait; the record names the copy, at the time of the wait.
void shadow_copy_arrives(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                         unsigned bytes, uint32_t undefined_bytes, unsigned agent, uint32_t clock) {
  assert(offset + bytes <= w->run->shared_bytes);
  struct location at = {.space = SIM_SHARED, .cta = w->cta, .offset = offset};
  arrive(&(struct access_site){w, op, lane, bytes, &at}, undefined_bytes, agent, clock, false);
}

// ---- proxies ----

// The async proxy reads what a thread wrote through the generic proxy after a fence.proxy.async of
// that thread, or of the reader if the write is ordered before it (PTX ISA, 8.6 "Proxies").
void shadow_proxy_fence(struct warp *w, const struct op *op, uint32_t lanes) {
  EACH_LANE(lane, lanes)
  w->proxy_fences[lane]++;
  if (w->undefined)
    memcpy(w->fence_clock, w->clock, clock_count(w->cta) * sizeof *w->clock);
  shadow_init_fence(w, op, lanes);
}

void shadow_init_fence(struct warp *w, const struct op *op, uint32_t lanes) {
  (void)op;
  EACH_LANE(lane, lanes)
  w->init_fences[lane]++;
}

static bool is_fenced(const struct warp *reader, const struct write_record *r) {
  const struct clock_entry *e = &reader->fence_clock[r->warp];
  if (r->is_async)
    return true;
  if (r->warp >= clock_warps(reader->cta))
    return clock_covers(e, r->clock, 0);
  const struct warp *writer = warp_of_cluster(reader->cta, r->warp);
  return writer->proxy_fences[r->lane] > r->proxy_fences ||
         (writer != reader ? clock_covers(e, r->clock, 1u << r->lane) : r->clock < e->base);
}

static bool is_value(const struct write_record *r) {
  return r->state == WRITTEN || r->state == UNDEFINED;
}

static void report_unfenced(const struct access_site *x, const struct write_record *r,
                            const char *what) {
  struct sim_site other = site_of_write(x->at->cta, r);
  struct memory_site at = memory_of(x);
  warn(x->w, x->op, x->lane, SIM_ASYNC_ORDER, &at, &other,
       "%s shared memory through the async proxy that was written through the generic proxy, "
       "without a fence.proxy.async between them (%s, line %u)",
       what, shared_text(x->w->run, x->at->offset).at, other.line);
}

uint64_t shadow_async_read(struct warp *w, const struct op *op, unsigned lane,
                           const struct location *at, unsigned bytes, const char *reader,
                           uint64_t hash) {
  struct access_site x = {w, op, lane, bytes, at};
  char text[64];
  snprintf(text, sizeof text, "%s reads", reader);
  for (unsigned i = 0; i < bytes; i++) {
    const struct write_record *r = &at->cta->shadow->writes[at->offset + i];
    if (is_value(r) && !is_fenced(w, r))
      report_unfenced(&x, r, text);
    uint64_t written = (uint64_t)r->clock << 32 | (r->op << 8 ^ r->warp << 3 ^ r->state);
    hash = (hash ^ written ^ (uint64_t)at->bytes[i] << 56) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  if (shadow_read(w, op, lane, at, bytes, 0))
    warn(w, op, lane, SIM_UNINITIALISED, &(struct memory_site){SIM_SHARED, at->offset, bytes}, NULL,
         "%s shared memory that was never written (%s)", text,
         shared_text(w->run, at->offset).at);
  return hash;
}

// ---- bulk copies ----

void shadow_load_begins(struct warp *w, const struct op *op, unsigned lane, struct cta *to,
                        uint32_t offset, unsigned bytes) {
  struct location at = {.space = SIM_SHARED, .cta = to, .offset = offset};
  struct access_site x = {w, op, lane, bytes, &at};
  for (uint32_t byte = offset; byte < offset + bytes; byte++) {
    struct write_record *r = &to->shadow->writes[byte];
    at.offset = byte;
    check_pins(&x, r, byte);
    if (!check_busy(&x, r)) {
      check_write(&x, r, false);
      if (is_value(r) && !is_fenced(w, r))
        report_unfenced(&x, r, "a bulk copy writes");
    }
    check_reads(&x, byte);
    record_write(&x, r, PENDING, false);
    r->is_async = true;
  }
}

void shadow_load_arrives(struct warp *w, const struct op *op, unsigned lane, struct cta *to,
                         uint32_t offset, unsigned bytes, uint32_t undefined_bytes, unsigned agent,
                         uint32_t clock) {
  struct location at = {.space = SIM_SHARED, .cta = to, .offset = offset};
  arrive(&(struct access_site){w, op, lane, bytes, &at}, undefined_bytes, agent, clock, true);
}

void shadow_store_begins(struct warp *w, uint32_t offset, unsigned bytes) {
  for (uint32_t byte = offset; byte < offset + bytes; byte++)
    w->cta->shadow->writes[byte].pins++;
}

void shadow_store_has_read(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                           unsigned bytes) {
  struct location at = {.space = SIM_SHARED, .cta = w->cta, .offset = offset};
  struct access_site x = {w, op, lane, bytes, &at};
  for (uint32_t byte = offset; byte < offset + bytes; byte++) {
    w->cta->shadow->writes[byte].pins--;
    record_read(&x, byte);
  }
}

// ---- mbarriers ----

void shadow_mbarrier(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                     bool begins) {
  struct location at = {.space = SIM_SHARED, .cta = w->cta, .offset = offset};
  struct access_site x = {w, op, lane, MBARRIER_BYTES, &at};
  for (uint32_t byte = offset; byte < offset + MBARRIER_BYTES; byte++) {
    struct write_record *r = &w->cta->shadow->writes[byte];
    check_pins(&x, r, byte);
    if (begins && !check_busy(&x, r)) {
      check_write(&x, r, false);
      check_reads(&x, byte);
    }
    record_write(&x, r, begins ? MBARRIER : UNDEFINED, false);
  }
}
