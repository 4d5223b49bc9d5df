// SPDX-License-Identifier: Apache-2.0
// Tiered recompilation: a program runs before its kernels are fully compiled. Products run as
// tier-1 code, or assembled at a low optimisation level, while background threads compile the
// optimised code and replace it, kernel by kernel.
#include "base/memory.h"
#include "base/thread_pool.h"
#include "graph/run/run.h"
#include "graph/run/run_internal.h"
#include "jit/jit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct recompilation {
  pthread_t thread;
  bool has_thread;
  atomic_bool is_over; // stop: kernels not yet begun keep their code
  size_t count;
  struct loaded_kernel *kernels[];
};

static void recompile_one(void *user, uint64_t i, unsigned worker) {
  (void)worker;
  struct recompilation *s = user;
  struct loaded_kernel *k = s->kernels[i];
  if (atomic_load_explicit(&s->is_over, memory_order_relaxed))
    return;
  if (!k->tier1)
    jit_kernel_optimize(k->kernel);
  else if (jit_kernel_prepare_like(k->kernel, k->tier1) == TILE_OK)
    atomic_store_explicit(&k->is_there, true, memory_order_release);
}

static bool is_recompiled(const struct loaded_kernel *k) {
  return k->tier1 ? atomic_load(&k->is_there) : jit_kernel_is_optimized(k->kernel);
}

static void *recompile_all(void *user) {
  struct recompilation *s = user;
  struct thread_pool *pool = thread_pool_create(0);
  if (pool)
    thread_pool_for(pool, s->count, recompile_one, s);
  for (size_t i = 0; !pool && i < s->count; i++)
    recompile_one(s, i, 0);
  thread_pool_destroy(pool);
  return NULL;
}

void loaded_begin_recompilation(struct loaded_program *l) {
  size_t n = l->p->kernels.len;
  struct recompilation *s = memory_zeroed(1, sizeof *s + n * sizeof s->kernels[0]);
  if (!s)
    return; // tier-1 code is correct too
  for (size_t i = 0; i < n; i++)
    if (!is_recompiled(&l->kernels[i]))
      s->kernels[s->count++] = &l->kernels[i];
  if (s->count == 0) {
    free(s);
    return;
  }
  l->recompilation = s;
  s->has_thread = pthread_create(&s->thread, NULL, recompile_all, s) == 0;
  if (!s->has_thread)
    recompile_all(s);
}

static void end(struct loaded_program *l) {
  if (l->recompilation && l->recompilation->has_thread)
    pthread_join(l->recompilation->thread, NULL);
  free(l->recompilation);
  l->recompilation = NULL;
}

void loaded_stop_recompilation(struct loaded_program *l) {
  if (l->recompilation)
    atomic_store_explicit(&l->recompilation->is_over, true, memory_order_relaxed);
  end(l);
}

void program_await_best_code(struct loaded_program *l) { end(l); }
