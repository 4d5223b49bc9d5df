// SPDX-License-Identifier: Apache-2.0
// Ends a CTA of the CPU device, or its whole launch, early.
#include "base/debug.h"
#include "runtime/cpu_device.h"

#include <stdio.h>

void cpu_launch_fail(struct cpu_launch *l, tile_status status, const char *message) {
  pthread_mutex_lock(&l->lock);
  if (l->status == TILE_OK) {
    l->status = status;
    snprintf(l->message, sizeof l->message, "%s", message);
  }
  pthread_mutex_unlock(&l->lock);
  atomic_store_explicit(&l->stop, true, memory_order_relaxed);
}

_Noreturn void cpu_cta_stop(struct cpu_thread *t) {
  struct cpu_cta *cta = t->cta;
  cta->stopped = true;
  if (!cta->launch->check) // else the violations of other programs would depend on timing
    atomic_store_explicit(&cta->launch->stop, true, memory_order_relaxed);
  cta->fault.leave = NULL;
  if (!cta->fibers)
    longjmp(cta->leave, 1);
  // The scheduler sees `stopped` and does not resume this fiber.
  fiber_yield(cta->worker->fibers, (unsigned)t->thread_id);
  UNREACHABLE();
}

_Noreturn void cpu_cta_fail(struct cpu_thread *t, tile_status status, const char *message) {
  cpu_launch_fail(t->cta->launch, status, message);
  cpu_cta_stop(t);
}
