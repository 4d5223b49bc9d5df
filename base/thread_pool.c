// SPDX-License-Identifier: Apache-2.0
// Workers sleep on a condition variable; a loop wakes them all, each takes chunks of the index
// range from an atomic counter, and the caller works as worker 0. One loop runs at a time; further
// callers wait.
#include "base/thread_pool.h"

#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNKS_PER_WORKER 8

struct loop {
  uint64_t n, chunk;
  void (*body)(void *user, uint64_t i, unsigned worker);
  void *user;
  _Atomic uint64_t next;
};

struct worker {
  struct thread_pool *pool;
  pthread_t thread;
  unsigned id;
};

struct thread_pool {
  pthread_mutex_t exclusive; // held by the caller whose loop runs
  pthread_mutex_t lock;      // guards what follows
  pthread_cond_t wake, done;
  struct loop *loop; // NULL: idle
  uint64_t generation;
  unsigned busy; // workers that have not finished the current loop
  bool stop;
  unsigned size; // workers and caller
  struct worker *workers;
};

static void run_chunks(struct loop *l, unsigned worker) {
  for (;;) {
    uint64_t begin = atomic_fetch_add_explicit(&l->next, l->chunk, memory_order_relaxed);
    if (begin >= l->n)
      return;
    uint64_t end = l->n - begin > l->chunk ? begin + l->chunk : l->n;
    for (uint64_t i = begin; i < end; i++)
      l->body(l->user, i, worker);
  }
}

static void *worker_main(void *arg) {
  struct worker *w = arg;
  struct thread_pool *p = w->pool;
  uint64_t seen = 0;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (!p->stop && p->generation == seen)
      pthread_cond_wait(&p->wake, &p->lock);
    if (p->stop)
      break;
    seen = p->generation;
    struct loop *l = p->loop;
    pthread_mutex_unlock(&p->lock);
    run_chunks(l, w->id);
    pthread_mutex_lock(&p->lock);
    if (--p->busy == 0)
      pthread_cond_signal(&p->done);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

// Starts up to `want` workers. They block signals, except those that a thread raises itself:
// blocked, these would end the process even if it has a handler.
static unsigned start_workers(struct thread_pool *p, unsigned want) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < COUNT_OF(own); i++)
    sigdelset(&all, own[i]);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  unsigned n = 0;
  for (; n < want; n++) {
    p->workers[n] = (struct worker){.pool = p, .id = n + 1};
    if (pthread_create(&p->workers[n].thread, NULL, worker_main, &p->workers[n]) != 0)
      break;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return n;
}

struct thread_pool *thread_pool_create(unsigned threads) {
  if (!threads) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    threads = cores > 0 ? (unsigned)cores : 1;
  }
  struct thread_pool *p = memory_zeroed(1, sizeof *p);
  struct worker *workers = memory_zeroed(threads, sizeof *workers);
  if (!p || !workers) {
    free(p);
    free(workers);
    return NULL;
  }
  p->workers = workers;
  pthread_mutex_init(&p->exclusive, NULL);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->done, NULL);
  p->size = 1 + start_workers(p, threads - 1);
  if (p->size == 1 && threads > 1) {
    thread_pool_destroy(p);
    return NULL;
  }
  return p;
}

void thread_pool_destroy(struct thread_pool *p) {
  if (!p)
    return;
  pthread_mutex_lock(&p->lock);
  p->stop = true;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  for (unsigned i = 0; i + 1 < p->size; i++)
    pthread_join(p->workers[i].thread, NULL);
  pthread_cond_destroy(&p->wake);
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->lock);
  pthread_mutex_destroy(&p->exclusive);
  free(p->workers);
  free(p);
}

unsigned thread_pool_size(const struct thread_pool *p) { return p->size; }

void thread_pool_for(struct thread_pool *p, uint64_t n,
                     void (*body)(void *user, uint64_t i, unsigned worker), void *user) {
  struct loop l = {.n = n, .body = body, .user = user};
  l.chunk = n / ((uint64_t)p->size * CHUNKS_PER_WORKER);
  if (!l.chunk)
    l.chunk = 1;
  pthread_mutex_lock(&p->exclusive);
  if (p->size == 1 || n <= 1) {
    run_chunks(&l, 0);
    pthread_mutex_unlock(&p->exclusive);
    return;
  }
  pthread_mutex_lock(&p->lock);
  p->loop = &l;
  p->busy = p->size - 1;
  p->generation++;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  run_chunks(&l, 0);
  // Every worker is waited for, since `l` lives on this stack.
  pthread_mutex_lock(&p->lock);
  while (p->busy)
    pthread_cond_wait(&p->done, &p->lock);
  p->loop = NULL;
  pthread_mutex_unlock(&p->lock);
  pthread_mutex_unlock(&p->exclusive);
}
