// SPDX-License-Identifier: Apache-2.0
// A program can run before its kernels are compiled: products run in their quick forms, or as they
// are but assembled at a low level, and threads of the background put the best code in its place,
// kernel by kernel.
#include "base/memory.h"
#include "base/thread_pool.h"
#include "graph/run/internal.h"
#include "jit/jit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct settling {
  pthread_t thread;
  bool has_thread;
  atomic_bool is_over; // what was not begun stays as it is
  size_t count;
  struct loaded_kernel *kernels[];
};

static void settle_one(void *user, uint64_t i, unsigned worker) {
  (void)worker;
  struct settling *s = user;
  struct loaded_kernel *k = s->kernels[i];
  if (atomic_load_explicit(&s->is_over, memory_order_relaxed))
    return;
  if (!k->quick)
    jit_kernel_settle(k->kernel);
  else if (jit_kernel_prepare_like(k->kernel, k->quick) == TILE_OK)
    atomic_store_explicit(&k->is_there, true, memory_order_release);
}

static bool is_settled(const struct loaded_kernel *k) {
  return k->quick ? atomic_load(&k->is_there) : jit_kernel_is_settled(k->kernel);
}

static void *settle_all(void *user) {
  struct settling *s = user;
  struct thread_pool *pool = thread_pool_create(0);
  if (pool)
    thread_pool_for(pool, s->count, settle_one, s);
  for (size_t i = 0; !pool && i < s->count; i++)
    settle_one(s, i, 0);
  thread_pool_destroy(pool);
  return NULL;
}

void loaded_begin_settling(struct loaded_program *l) {
  size_t n = l->p->kernels.len;
  struct settling *s = memory_zeroed(1, sizeof *s + n * sizeof s->kernels[0]);
  if (!s)
    return; // quick code is right, too
  for (size_t i = 0; i < n; i++)
    if (!is_settled(&l->kernels[i]))
      s->kernels[s->count++] = &l->kernels[i];
  if (s->count == 0) {
    free(s);
    return;
  }
  l->settling = s;
  s->has_thread = pthread_create(&s->thread, NULL, settle_all, s) == 0;
  if (!s->has_thread)
    settle_all(s);
}

static void end(struct loaded_program *l) {
  if (l->settling && l->settling->has_thread)
    pthread_join(l->settling->thread, NULL);
  free(l->settling);
  l->settling = NULL;
}

void loaded_stop_settling(struct loaded_program *l) {
  if (l->settling)
    atomic_store_explicit(&l->settling->is_over, true, memory_order_relaxed);
  end(l);
}

void program_settle(struct loaded_program *l) { end(l); }
