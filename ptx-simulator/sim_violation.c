// SPDX-License-Identifier: Apache-2.0
// Violations: how they are reported, with the locations of the thread, the memory and the source.
#include "ptx-simulator/decode.h"

#include <stdarg.h>
#include <stdio.h>

struct sim_site site_of(const struct warp *w, const struct op *op, unsigned lane) {
  const struct cta *c = w->cta;
  return (struct sim_site){.ctaid = {c->id[0], c->id[1], c->id[2]},
                           .warp = w->index,
                           .lane = lane,
                           .line = op->in->line,
                           .instruction = op->in->text,
                           .source = op->in->source};
}

// The buffer that contains an address, or the nearest one.
static const struct sim_buffer *nearest_buffer(const struct run *r, uint64_t address) {
  const struct sim_buffer *best = NULL;
  uint64_t best_distance = UINT64_MAX;
  for (size_t i = 0; i < r->buffer_count; i++) {
    const struct sim_buffer *b = &r->buffers[i];
    uint64_t distance = address < b->address              ? b->address - address
                        : address >= b->address + b->size ? address - b->address - b->size
                                                          : 0;
    if (distance < best_distance) {
      best = b;
      best_distance = distance;
    }
  }
  return best;
}

static void report(struct warp *w, struct sim_violation *f, const struct memory_site *at) {
  struct run *r = w->run;
  r->violations++;
  if (at) {
    f->space = at->space;
    f->address = at->address;
    f->bytes = at->bytes;
    if (at->space == SIM_GLOBAL && (f->buffer = nearest_buffer(r, at->address)))
      f->buffer_offset = (int64_t)(at->address - f->buffer->address);
  }
  if (r->launch->violation)
    r->launch->violation(r->launch->user, f);
}

void fault(struct warp *w, const struct op *op, unsigned lane, enum sim_kind kind,
           const struct memory_site *at, const char *format, ...) {
  w->stop = true;
  if (w->run->failed)
    return;
  w->run->failed = true;
  struct sim_violation f = {.kind = kind, .at = site_of(w, op, lane)};
  va_list args;
  va_start(args, format);
  vsnprintf(f.text, sizeof f.text, format, args);
  va_end(args);
  report(w, &f, at);
}

// The identity of a report in run.reported.
struct identity {
  const void *op;
  uintptr_t kind;
};

bool has_warned(const struct warp *w, const struct op *op, enum sim_kind kind) {
  struct identity identity = {op, (uintptr_t)kind};
  return map_get(&w->run->reported, (struct str){(const char *)&identity, sizeof identity});
}

void warn(struct warp *w, const struct op *op, unsigned lane, enum sim_kind kind,
          const struct memory_site *at, const struct sim_site *other, const char *format, ...) {
  struct run *r = w->run;
  struct identity identity = {op, (uintptr_t)kind};
  if (has_warned(w, op, kind))
    return;
  map_put(r->arena, &r->reported, (struct str){(const char *)&identity, sizeof identity}, r);
  struct sim_violation f = {.kind = kind, .at = site_of(w, op, lane), .has_other = other != NULL};
  if (other)
    f.other = *other;
  va_list args;
  va_start(args, format);
  vsnprintf(f.text, sizeof f.text, format, args);
  va_end(args);
  report(w, &f, at);
}
