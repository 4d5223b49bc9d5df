// SPDX-License-Identifier: Apache-2.0
// Launches on the CPU: runs the grid's CTAs on the device's thread pool.
#include "base/debug.h"
#include "base/memory.h"
#include "runtime/cpu_device.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tile_status check_grid(const struct kernel_info *info, tile_grid g, uint64_t *ret_count) {
  uint64_t count;
  if (g.x > INT32_MAX || g.y > INT32_MAX || g.z > INT32_MAX ||
      !checked_mul((uint64_t)g.x * g.y, g.z, &count) || count > (uint64_t)1 << 40)
    return status_set(TILE_INVALID_ARGUMENT,
                      "launch of `%s`: a grid of %u x %u x %u programs is beyond the CPU's limit "
                      "of 2^31-1 an axis and 2^40 in all",
                      info->name, g.x, g.y, g.z);
  *ret_count = count;
  return TILE_OK;
}

// A forked child has none of the pool's threads, and its locks may be held by threads that do not
// exist there: it creates new ones and leaves the parent's records alone. The child's first launch
// must not run concurrently with another one.
static void leave_parent(struct cpu_device *d) {
  if (!d->pool || d->pool_process == (long)getpid())
    return;
  pthread_mutex_init(&d->lock, NULL);
  pthread_mutex_init(&d->print_lock, NULL);
  d->pool = NULL;
  d->workers = NULL;
  d->worker_count = 0;
}

// Creates the pool and the workers' records at the first launch.
static tile_status start_workers(struct cpu_device *d) {
  tile_status s = TILE_OK;
  leave_parent(d);
  pthread_mutex_lock(&d->lock);
  if (!d->pool) {
    struct thread_pool *pool = thread_pool_create(d->thread_count);
    unsigned count = pool ? thread_pool_size(pool) : 0;
    struct cpu_worker *workers = pool ? memory_zeroed(count, sizeof *workers) : NULL;
    if (workers) {
      d->pool_process = (long)getpid();
      d->workers = workers;
      d->worker_count = count;
      d->pool = pool; // last: other threads look at it without the lock
    } else {
      thread_pool_destroy(pool);
      s = status_set(TILE_OUT_OF_MEMORY, "cannot start the CPU device's worker threads");
    }
  }
  pthread_mutex_unlock(&d->lock);
  return s;
}

tile_status cpu_launch_run(struct module *m, void *stream, tile_grid grid, void *const *values,
                           unsigned flags) {
  (void)stream; // all earlier calls have finished
  struct cpu_device *d = cpu_of(m->device);
  bool check = flags & LAUNCH_CHECKED;
  uint64_t count = 0;
  tile_status s = check_grid(m->info, grid, &count);
  if (s == TILE_OK && !m->info->calls_programs && m->info->shared_bytes > CPU_SHARED_LIMIT)
    s = status_set(TILE_LIMIT, "kernel `%s` needs %u bytes of shared memory; the CPU allows %u",
                   m->info->name, m->info->shared_bytes, CPU_SHARED_LIMIT);
  if (s == TILE_OK)
    s = start_workers(d);
  if (s != TILE_OK)
    return s;
  struct cpu_launch l;
  memset(&l, 0, offsetof(struct cpu_launch, violations));
  l.device = d;
  l.module = m;
  l.values = values;
  l.grid = grid;
  l.check = check;
  pthread_mutex_init(&l.lock, NULL);
  if (check && !cpu_check_begin(&l))
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for the checks of a launch");
  if (s == TILE_OK) {
    debug_log(DEBUG_CPU, "%s: %llu programs, %s", m->info->name, (unsigned long long)count,
              m->info->calls_programs     ? "in vectors"
              : m->info->uses_collectives ? "threads as fibers"
                                          : "threads one after another");
    cpu_fault_install();
    thread_pool_for(d->pool, count, cpu_cta_run, &l);
    cpu_fault_remove();
    s = l.status == TILE_OK ? TILE_OK : status_set(l.status, "%s", l.message);
    s = cpu_check_end(&l, s);
    s = check ? s : cpu_watch_end(&l, s);
  }
  pthread_mutex_destroy(&l.lock);
  return s;
}

void device_begin_launches(const tile_device *d) {
  if (d->is_cpu)
    cpu_fault_install();
}

void device_end_launches(const tile_device *d) {
  if (d->is_cpu)
    cpu_fault_remove();
}
