// SPDX-License-Identifier: Apache-2.0
// Latency and rates come from the machine model, bytes and cycles from the kernel's cost.
#include "lowering/cost/ring_time.h"

#include <assert.h>
#include <math.h>

static double largest(double a, double b) { return a > b ? a : b; }

static bool is_ring(const struct shared_use *u) {
  bool is_copied = u->engine == FEED_CP_ASYNC || u->engine == FEED_TMA;
  return u->copies > 1 && u->use == BUFFER_DATA && is_copied;
}

struct ring_model ring_model_of(const struct performance *p, const struct kernel_cost *c,
                                const struct machine *m) {
  struct ring_model r = {.latency = m->memory_latency, .iterations = c->iterations};
  for (size_t i = 0; i < p->shared.len; i++) {
    const struct shared_use *u = &p->shared.at[i];
    if (!is_ring(u))
      continue;
    r.slots = u->copies > r.slots ? u->copies : r.slots;
    r.bytes += (double)u->bytes / u->copies;
  }
  if (r.slots == 0 || c->iterations < 1)
    return (struct ring_model){0};
  r.copy = r.bytes / m->l2_bytes;
  r.from_memory = r.bytes * m->clock_ghz * m->multiprocessors / m->memory_gbs;
  double busiest = largest(c->tensor_cycles, c->shared_wavefronts / m->wavefronts);
  busiest = largest(busiest, c->arithmetic / m->arithmetic);
  busiest = largest(busiest, c->special / m->special);
  r.compute = largest(busiest, c->instructions / m->issue) / c->iterations;
  return r;
}

void ring_schedule(const struct ring_model *m, uint32_t count, struct ring_step *ret) {
  assert(m->slots > 0);
  double path_is_free = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct ring_step *s = &ret[i];
    s->slot = i % m->slots;
    s->issued = i >= m->slots ? ret[i - m->slots].end : 0;
    path_is_free = largest(path_is_free, s->issued + m->latency) + m->copy;
    s->arrived = path_is_free;
    s->begin = largest(s->arrived, i ? ret[i - 1].end : 0);
    s->end = s->begin + m->compute;
  }
}

uint32_t ring_steps(const struct ring_model *m) {
  if (m->slots == 0)
    return 0;
  double wanted = fmin(m->iterations, 2 * m->slots + 2);
  return (uint32_t)fmin(wanted, RING_MAX_STEPS);
}
