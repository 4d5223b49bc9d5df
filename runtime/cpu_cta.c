// SPDX-License-Identifier: Apache-2.0
// Runs one CTA on the CPU: its threads one after another if the kernel has no collectives, else as
// fibers, which the scheduler switches at barriers, shuffles and matrix instructions. Threads that
// would wait forever are reported as divergence.
#include "base/debug.h"
#include "base/memory.h"
#include "runtime/cpu_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARP 32
#define SHARED_ALIGN 1024 // as TMA boxes with 128-byte swizzle require

enum thread_state { RUNNABLE, AT_BARRIER, AT_SHUFFLE, AT_MMA, ENDED };

// One CUDA thread of a CTA that runs as fibers. Generated code sees the first member only.
struct cta_thread {
  struct cpu_thread t;
  enum thread_state state;
  uint32_t value, source_lane; // of the pending shuffle
  enum mma_id mma_id;          // of the pending matrix instruction
  struct mma_lane mma;
  const struct cpu_location *location; // of the pending collective
  sigjmp_buf *leave;                   // jump target after a fault
};

static void not_collective(struct cpu_thread *t, const char *what) {
  struct cpu_launch *l = t->cta->launch;
  char text[256];
  snprintf(text, sizeof text, "kernel `%s` uses a %s but was not compiled for collectives",
           l->module->info->name, what);
  cpu_launch_fail(l, TILE_INTERNAL, text);
  cpu_cta_stop(t);
}

// ---- the calls of generated code ----

void tile_cpu_barrier(struct cpu_thread *t, const struct cpu_location *location) {
  struct cpu_cta *cta = t->cta;
  if (!cta->fibers)
    not_collective(t, "barrier");
  struct cta_thread *self = &cta->worker->threads[t->thread_id];
  self->location = location;
  self->state = AT_BARRIER;
  fiber_yield(cta->worker->fibers, (unsigned)t->thread_id);
}

uint32_t tile_cpu_shuffle(struct cpu_thread *t, uint32_t value, uint32_t source_lane,
                          const struct cpu_location *location) {
  struct cpu_cta *cta = t->cta;
  if (!cta->fibers)
    not_collective(t, "shuffle");
  struct cta_thread *self = &cta->worker->threads[t->thread_id];
  self->value = value;
  self->source_lane = source_lane;
  self->location = location;
  self->state = AT_SHUFFLE;
  fiber_yield(cta->worker->fibers, (unsigned)t->thread_id);
  return self->value; // exchange_lanes stored the other lane's value
}

void tile_cpu_mma(struct cpu_thread *t, uint32_t id, const void *a, const void *b, const void *c,
                  void *d, const struct cpu_location *location) {
  struct cpu_cta *cta = t->cta;
  if (!cta->fibers)
    not_collective(t, "matrix instruction");
  struct cta_thread *self = &cta->worker->threads[t->thread_id];
  self->mma_id = (enum mma_id)id;
  self->mma = (struct mma_lane){a, b, c, d};
  self->location = location;
  self->state = AT_MMA;
  fiber_yield(cta->worker->fibers, (unsigned)t->thread_id);
}

static _Noreturn void stop_at_fault(struct cpu_thread *t) {
  cpu_check_fault(t);
  cpu_cta_stop(t);
}

// ---- a CTA as fibers ----

static void thread_main(void *user) {
  struct cta_thread *self = user;
  const struct cpu_launch *l = self->t.cta->launch;
  sigjmp_buf here;
  if (sigsetjmp(here, 0))
    stop_at_fault(&self->t);
  self->leave = &here;
  self->t.cta->fault.leave = &here;
  l->module->cpu_fn(&self->t, l->values);
  self->state = ENDED;
}

// Runs the thread until it waits or ends.
static void run_thread(struct cpu_cta *cta, unsigned i) {
  cta->fault.leave = cta->worker->threads[i].leave;
  fiber_resume(cta->worker->fibers, i);
  cta->fault.leave = NULL;
}

static void exchange_lanes(struct cta_thread *warp) {
  uint32_t given[WARP];
  for (unsigned i = 0; i < WARP; i++)
    given[i] = warp[i].value;
  for (unsigned i = 0; i < WARP; i++) {
    warp[i].value = given[warp[i].source_lane % WARP];
    warp[i].state = RUNNABLE;
  }
}

// The first thread of [from, to) in this state, or -1.
static int first_in(const struct cta_thread *threads, unsigned from, unsigned to,
                    enum thread_state state) {
  for (unsigned i = from; i < to; i++)
    if (threads[i].state == state)
      return (int)i;
  return -1;
}

// Thread `waiting` waits at a collective that thread `absent` does not reach.
static void report_divergence(struct cpu_cta *cta, int waiting, const char *at, int absent) {
  struct cpu_launch *l = cta->launch;
  const struct cta_thread *w = &cta->worker->threads[waiting], *a = &cta->worker->threads[absent];
  struct cpu_violation v = cpu_check_violation(&w->t, CPU_DIVERGENCE, w->location);
  v.other_thread = absent;
  if (a->state != ENDED && a->location)
    v.other_location = *a->location;
  snprintf(v.message, sizeof v.message,
           "thread %d waits at a %s that thread %d does not reach (it %s)", waiting, at, absent,
           a->state == ENDED ? "has ended" : "waits elsewhere");
  cta->stopped = true;
  if (l->check) {
    cpu_check_record(l, &v);
    return;
  }
  char text[sizeof v.message + 256];
  snprintf(text, sizeof text, "kernel `%s`: divergence in program (%d, %d, %d): %s",
           l->module->info->name, cta->program_id[0], cta->program_id[1], cta->program_id[2],
           v.message);
  cpu_launch_fail(l, TILE_LAUNCH_FAILED, text);
}

static bool same_location(const struct cpu_location *a, const struct cpu_location *b) {
  return a == b || (a && b && a->line == b->line && a->col == b->col);
}

// For checked launches: all of [from, from + count) must wait at one location.
static bool wait_together(struct cpu_cta *cta, unsigned from, unsigned count, const char *at) {
  const struct cta_thread *threads = cta->worker->threads;
  for (unsigned i = from + 1; i < from + count; i++)
    if (!same_location(threads[i].location, threads[from].location)) {
      report_divergence(cta, (int)from, at, (int)i);
      return false;
    }
  return true;
}

// True when all lanes of the warp are at `at`. Else reports divergence: some lane is at `at`, and
// another one ended or waits at a different kind of collective.
static bool meet(struct cpu_cta *cta, unsigned first, enum thread_state at) {
  const struct cta_thread *threads = cta->worker->threads;
  const char *what = at == AT_SHUFFLE ? "shuffle" : "matrix instruction";
  static const enum thread_state elsewhere[] = {ENDED, AT_BARRIER, AT_SHUFFLE, AT_MMA};
  for (unsigned i = 0; i < COUNT_OF(elsewhere); i++) {
    int absent = elsewhere[i] != at ? first_in(threads, first, first + WARP, elsewhere[i]) : -1;
    if (absent >= 0) {
      report_divergence(cta, first_in(threads, first, first + WARP, at), what, absent);
      return false;
    }
  }
  return !cta->launch->check || wait_together(cta, first, WARP, what);
}

static void multiply_matrices(struct cta_thread *warp) {
  struct mma_lane lanes[WARP];
  for (unsigned i = 0; i < WARP; i++) {
    lanes[i] = warp[i].mma;
    warp[i].state = RUNNABLE;
  }
  mma_product(mma_instruction(warp->mma_id), false, lanes);
}

// Runs one warp until each lane is at a barrier or has ended.
static void run_warp(struct cpu_cta *cta, unsigned first) {
  struct cpu_worker *w = cta->worker;
  for (;;) {
    for (unsigned i = first; i < first + WARP; i++) {
      if (w->threads[i].state != RUNNABLE)
        continue;
      run_thread(cta, i);
      if (cta->stopped)
        return;
    }
    int waiting = first_in(w->threads, first, first + WARP, AT_SHUFFLE);
    if (waiting < 0)
      waiting = first_in(w->threads, first, first + WARP, AT_MMA);
    if (waiting < 0)
      return;
    enum thread_state at = w->threads[waiting].state;
    if (!meet(cta, first, at))
      return;
    if (at == AT_SHUFFLE)
      exchange_lanes(&w->threads[first]);
    else
      multiply_matrices(&w->threads[first]);
  }
}

static void run_fibers(struct cpu_cta *cta, const struct cpu_thread *proto) {
  struct cpu_worker *w = cta->worker;
  for (unsigned i = 0; i < cta->threads; i++) {
    w->threads[i] = (struct cta_thread){.t = *proto, .state = RUNNABLE};
    w->threads[i].t.thread_id = (int32_t)i;
    fiber_start(w->fibers, i, thread_main, &w->threads[i]);
  }
  for (;;) {
    for (unsigned first = 0; first < cta->threads; first += WARP) {
      run_warp(cta, first);
      if (cta->stopped)
        return;
    }
    int waiting = first_in(w->threads, 0, cta->threads, AT_BARRIER);
    int ended = first_in(w->threads, 0, cta->threads, ENDED);
    if (waiting < 0)
      return; // all have ended
    if (ended >= 0) {
      report_divergence(cta, waiting, "barrier", ended);
      return;
    }
    if (cta->launch->check && !wait_together(cta, 0, cta->threads, "barrier"))
      return;
    if (cta->shadow)
      cpu_shadow_barrier(cta);
    for (unsigned i = 0; i < cta->threads; i++)
      w->threads[i].state = RUNNABLE;
  }
}

static void run_one_by_one(struct cpu_cta *cta, struct cpu_thread *t) {
  const struct cpu_launch *l = cta->launch;
  sigjmp_buf fault;
  if (setjmp(cta->leave))
    return;
  if (sigsetjmp(fault, 0))
    stop_at_fault(t);
  cta->fault.leave = &fault;
  for (unsigned i = 0; i < cta->threads; i++) {
    t->thread_id = (int32_t)i;
    l->module->cpu_fn(t, l->values);
  }
  cta->fault.leave = NULL;
}

// ---- a worker's memory ----

static void worker_clear(struct cpu_worker *w) {
  free(w->shared);
  free(w->threads);
  fiber_pool_destroy(w->fibers);
  cpu_shadow_free(w->shadow);
  cpu_copies_free(w->copies);
  *w = (struct cpu_worker){0};
}

void cpu_workers_free(struct cpu_device *d) {
  for (unsigned i = 0; d->workers && i < d->worker_count; i++)
    worker_clear(&d->workers[i]);
  free(d->workers);
}

static bool worker_reserve(struct cpu_worker *w, const struct kernel_info *info) {
  if (info->shared_bytes > w->shared_bytes) {
    size_t bytes = (info->shared_bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
    free(w->shared);
    w->shared = memory_aligned(SHARED_ALIGN, bytes);
    w->shared_bytes = w->shared ? bytes : 0;
    if (!w->shared)
      return false;
  }
  unsigned threads = kernel_info_threads(info);
  if (!info->uses_collectives || threads <= w->thread_cap)
    return true;
  fiber_pool_destroy(w->fibers);
  free(w->threads);
  w->fibers = fiber_pool_create(threads);
  w->threads = memory_zeroed(threads, sizeof *w->threads);
  w->thread_cap = w->fibers && w->threads ? threads : 0;
  return w->thread_cap != 0;
}

void cpu_cta_run(void *user, uint64_t index, unsigned worker) {
  struct cpu_launch *l = user;
  const struct kernel_info *info = l->module->info;
  if (atomic_load_explicit(&l->stop, memory_order_relaxed))
    return;
  struct cpu_worker *w = &l->device->workers[worker];
  bool shadow = l->check && info->shared_bytes;
  if (!worker_reserve(w, info) || (shadow && !cpu_shadow_reserve(w, info->shared_bytes))) {
    cpu_launch_fail(l, TILE_OUT_OF_MEMORY, "out of memory for the stacks of a CTA's threads");
    return;
  }
  uint64_t row = index / l->grid.x;
  struct cpu_cta cta = {
      .launch = l,
      .worker = w,
      .program_id = {(int32_t)(index % l->grid.x), (int32_t)(row % l->grid.y),
                     (int32_t)(row / l->grid.y)},
      .fibers = info->uses_collectives,
      .shadow = shadow,
      .threads = info->calls_programs ? 1 : kernel_info_threads(info),
  };
  struct cpu_thread t = {
      .num_programs = {(int32_t)l->grid.x, (int32_t)l->grid.y, (int32_t)l->grid.z},
      .shared = w->shared,
      .cta = &cta,
  };
  memcpy(t.program_id, cta.program_id, sizeof t.program_id);
  if (shadow) {
    memset(w->shared, CPU_POISON, info->shared_bytes);
    cpu_shadow_begin_cta(&cta);
  }
  cpu_copies_begin_cta(&cta);
  cpu_fault_catch(&cta.fault);
  if (cta.fibers)
    run_fibers(&cta, &t);
  else
    run_one_by_one(&cta, &t);
  cpu_fault_catch(NULL);
  if (shadow)
    cpu_shadow_barrier(&cta);
}
