// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies on the CPU. The data of a copy is written as late as allowed: when its thread
// waits for the copy's group. Until then the destination holds poison, so that a read before the
// wait gives NaNs, as it may on a GPU. Checked launches also report it (cpu_shared.c). Copies that
// no thread waits for are dropped when the CTA ends.
#include "base/memory.h"
#include "runtime/cpu_device.h"

#include <stdlib.h>
#include <string.h>

struct copy {
  void *to;
  const void *from; // NULL: zeros
  const struct cpu_location *location;
  uint32_t bytes, group;
};

// Copies of a thread in the order of their issue.
struct queue {
  struct copy *at;
  size_t head, end, cap; // pending copies are [head, end)
  uint32_t groups;       // number of committed groups
};

struct cpu_copies {
  bool used; // by the current CTA
  unsigned count;
  struct queue queues[];
};

void cpu_copies_free(struct cpu_copies *c) {
  for (unsigned i = 0; c && i < c->count; i++)
    free(c->queues[i].at);
  free(c);
}

void cpu_copies_begin_cta(struct cpu_cta *cta) {
  struct cpu_copies *c = cta->worker->copies;
  if (!c || !c->used)
    return;
  for (unsigned i = 0; i < c->count; i++)
    c->queues[i].head = c->queues[i].end = c->queues[i].groups = 0;
  c->used = false;
}

// ---- the queue of a thread ----

static _Noreturn void out_of_memory(struct cpu_thread *t) {
  cpu_cta_fail(t, TILE_OUT_OF_MEMORY, "out of memory for the asynchronous copies of a CTA");
}

static struct queue *queue_of(struct cpu_thread *t) {
  struct cpu_worker *w = t->cta->worker;
  if (!w->copies || w->copies->count < t->cta->threads) {
    // Nothing is pending yet: the first copy of a CTA allocates the queues of all its threads.
    struct cpu_copies *c = memory_zeroed(1, sizeof *c + t->cta->threads * sizeof c->queues[0]);
    if (!c)
      out_of_memory(t);
    c->count = t->cta->threads;
    cpu_copies_free(w->copies);
    w->copies = c;
  }
  w->copies->used = true;
  return &w->copies->queues[t->thread_id];
}

static void push(struct cpu_thread *t, struct queue *q, const struct copy *c) {
  if (q->head == q->end)
    q->head = q->end = 0;
  if (q->end == q->cap) {
    size_t cap = q->cap ? 2 * q->cap : 16;
    struct copy *at = memory_resize(q->at, cap * sizeof *at);
    if (!at)
      out_of_memory(t);
    q->at = at;
    q->cap = cap;
  }
  q->at[q->end++] = *c;
}

// ---- checks ----

// False when the source must not be read; that was reported.
static bool may_read(struct cpu_thread *t, const struct cpu_location *location, int32_t param,
                     const void *from, uint32_t bytes) {
  if ((uintptr_t)from % bytes == 0)
    return tile_cpu_check(t, location, param, from, bytes, CPU_LOAD);
  struct cpu_violation v = cpu_check_violation(t, CPU_MISALIGNED, location);
  v.param = param;
  v.access = CPU_COPY;
  v.elements = bytes;
  cpu_check_record(t->cta->launch, &v);
  return false;
}

// ---- the calls of generated code ----

void tile_cpu_async_copy(struct cpu_thread *t, const struct cpu_location *location, int32_t param,
                         void *to, const void *from, uint32_t bytes) {
  struct queue *q = queue_of(t);
  bool check = t->cta->launch->check;
  if (check)
    tile_cpu_shared_check(t, location, to, bytes, CPU_COPY);
  if (check && from && !may_read(t, location, param, from, bytes))
    from = NULL;
  memset(to, CPU_POISON, bytes);
  push(t, q, &(struct copy){to, from, location, bytes, q->groups});
}

void tile_cpu_async_commit(struct cpu_thread *t) { queue_of(t)->groups++; }

static void arrive(struct cpu_thread *t, const struct copy *c) {
  if (t->cta->shadow)
    cpu_shadow_arrival(t, c->location, c->to, c->bytes);
  if (c->from)
    memcpy(c->to, c->from, c->bytes);
  else
    memset(c->to, 0, c->bytes);
}

void tile_cpu_async_wait(struct cpu_thread *t, uint32_t pending) {
  struct queue *q = queue_of(t);
  while (q->head < q->end && q->groups - q->at[q->head].group > pending)
    arrive(t, &q->at[q->head++]);
}
