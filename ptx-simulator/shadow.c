// SPDX-License-Identifier: Apache-2.0
// Shadow of shared and local memory, and dispatch to that of global memory: which bytes were
// written, and races between accesses. Barriers order accesses of warps: each warp has a vector
// clock (vector_clock.h), which it advances when it arrives and joins with those of the others when
// it leaves. Within a warp, `*.sync` instructions order the lanes.
#include "ptx-simulator/bulk_pending.h"
#include "ptx-simulator/global.h"
#include "ptx-simulator/map_fences.h"
#include "ptx-simulator/shadow_records.h"

struct shadow *shadow_create(struct arena *a, uint32_t bytes, unsigned warps) {
  struct shadow *s = arena_new(a, struct shadow);
  s->bytes = bytes;
  s->warps = warps;
  s->writes = arena_array(a, struct write_record, bytes + 1);
  s->reads = arena_array(a, struct read_record, (size_t)bytes * warps + 1);
  return s;
}

// The highest clock that a warp of the cluster has had.
static uint32_t highest_clock(const struct cluster *k) {
  uint32_t highest = k->ctas[0]->shadow->first_clock;
  for (unsigned n = 0; n < k->count; n++)
    for (unsigned i = 0; i < k->ctas[n]->warp_count; i++) {
      const struct warp *w = &k->ctas[n]->warps[i];
      if (w->clock[w->id].clock > highest)
        highest = w->clock[w->id].clock;
    }
  return highest;
}

static void start_clock(struct warp *w, uint32_t highest) {
  unsigned count = clock_count(w->cta);
  for (unsigned k = 0; k < count; k++)
    w->clock[k] = (struct clock_entry){0, 0, ~0u};
  for (unsigned k = 0; k < clock_warps(w->cta); k++)
    w->clock[k].clock = clock_reads(w)[k].clock = highest;
  clock_set_own(w, (struct clock_entry){highest + 1, highest + 1, ~0u});
  memset(w->fence_clock, 0, count * sizeof *w->clock);
}

void shadow_start(struct cluster *k) {
  uint32_t highest = highest_clock(k);
  for (unsigned n = 0; n < k->count; n++) {
    struct cta *c = k->ctas[n];
    c->shadow->first_clock = highest;
    for (unsigned i = 0; i < c->warp_count; i++)
      start_clock(&c->warps[i], highest);
    memset(c->shadow->writes, 0, c->shadow->bytes * sizeof *c->shadow->writes);
    memset(c->touched, 0, clock_warps(c) * sizeof *c->touched);
  }
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
    bulk_check_global(w, op, lane, at, bytes);
    uint32_t raced = global_read(w, op, lane, at, bytes, order);
    return raced | unwritten_bytes(w, op, lane, at, bytes);
  }
  if (at->space != SIM_SHARED)
    return 0;
  struct shadow *s = at->cta->shadow;
  cluster_touch(w, op, lane, at->cta);
  struct access_site x = {w, op, lane, bytes, at};
  uint32_t undefined = 0;
  for (unsigned i = 0; i < bytes; i++) {
    uint32_t byte = (uint32_t)at->offset + i;
    const struct write_record *r = &s->writes[byte];
    if (!check_busy(&x, r))
      check_write(&x, r, true);
    undefined |= (uint32_t)(r->state == UNWRITTEN || r->state == UNDEFINED) << i;
    record_read(&x, byte);
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
  if (at->space == SIM_GLOBAL) {
    bulk_check_global(w, op, lane, at, bytes);
    global_write(w, op, lane, at, bytes, order, values);
    if (w->program->makes_maps)
      made_map_written(w, op, lane, at, bytes);
  }
  if (at->space != SIM_SHARED)
    return;
  struct shadow *s = at->cta->shadow;
  cluster_touch(w, op, lane, at->cta);
  struct access_site x = {w, op, lane, bytes, at};
  for (unsigned i = 0; i < bytes; i++) {
    uint32_t byte = (uint32_t)at->offset + i;
    struct write_record *r = &s->writes[byte];
    check_pins(&x, r, byte);
    if (!check_busy(&x, r) && values[i] != at->bytes[i]) // two threads may write the same value
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
  struct shadow *s = at->cta->shadow;
  cluster_touch(w, op, lane, at->cta);
  struct access_site x = {w, op, lane, bytes, at};
  for (unsigned i = 0; i < bytes; i++) {
    uint32_t byte = (uint32_t)at->offset + i;
    struct write_record *r = &s->writes[byte];
    check_pins(&x, r, byte);
    if (!check_busy(&x, r) && !r->is_atomic)
      check_write(&x, r, true);
    check_reads(&x, byte);
    if (r->state == UNWRITTEN || r->state == UNDEFINED)
      warn_unwritten(w, op, lane, at, bytes);
    record_write(&x, r, WRITTEN, true);
  }
}
