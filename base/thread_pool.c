// SPDX-License-Identifier: Apache-2.0
// Each worker has a range of the indices, in order, and takes chunks from its front; one whose
// range is empty takes the back half of another's. The caller is worker 0: it begins alone, and
// wakes the others only if the loop takes longer than that costs. Workers wait for the next loop
// for a short time before they sleep. One loop runs at a time; further callers wait.
#define _GNU_SOURCE // sched_getaffinity, CPU_COUNT
#include "base/thread_pool.h"

#include "base/clock.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNKS_PER_WORKER 64
#define WAKING_MS 0.02  // a sleeping worker begins that late
#define WAITING_MS 0.03 // before a worker sleeps
#define LINE 128        // of caches, in pairs

// Chunks [begin, end) that wait, as begin << 32 | end.
struct range {
  _Alignas(LINE) _Atomic uint64_t packed;
};

struct loop {
  uint64_t first, n, chunk; // indices [first, n)
  void (*body)(void *user, uint64_t i, unsigned worker);
  void *user;
};

struct worker {
  struct thread_pool *pool;
  pthread_t thread;
  unsigned id;
};

struct thread_pool {
  pthread_mutex_t exclusive; // held by the caller whose loop runs
  pthread_mutex_t lock;      // guards what follows, down to `stop`
  pthread_cond_t wake, done;
  struct loop loop;
  bool is_open;    // workers may still begin with the loop
  unsigned active; // workers that began and have not finished
  unsigned asleep;
  bool stop;
  _Atomic uint64_t generation; // of loops that workers take part in
  _Atomic unsigned waiting;    // workers that are about to sleep
  unsigned size;               // workers and caller
  struct worker *workers;
  struct range *ranges; // by worker
};

// The loop that the calling thread is in: a call from its body runs in order.
static _Thread_local struct thread_pool *inside;
static _Thread_local unsigned inside_worker;

// ---- ranges ----

static uint64_t packed_range(uint64_t begin, uint64_t end) { return begin << 32 | end; }

static bool take_chunk(struct range *r, uint64_t *ret) {
  uint64_t seen = atomic_load_explicit(&r->packed, memory_order_relaxed), begin;
  do {
    begin = seen >> 32;
    if (begin >= (uint32_t)seen)
      return false;
  } while (
      !atomic_compare_exchange_weak(&r->packed, &seen, packed_range(begin + 1, (uint32_t)seen)));
  *ret = begin;
  return true;
}

// Moves the back half of another worker's range to that of `self`, which is empty.
static bool steal_half(struct thread_pool *p, unsigned self) {
  for (unsigned k = 1; k < p->size; k++) {
    struct range *other = &p->ranges[(self + k) % p->size];
    uint64_t seen = atomic_load(&other->packed), begin, end, middle;
    do {
      begin = seen >> 32;
      end = (uint32_t)seen;
      middle = begin + (end - begin) / 2;
    } while (begin < end &&
             !atomic_compare_exchange_weak(&other->packed, &seen, packed_range(begin, middle)));
    if (begin < end) {
      atomic_store(&p->ranges[self].packed, packed_range(middle, end));
      return true;
    }
  }
  return false;
}

static void run_chunks(struct thread_pool *p, unsigned self) {
  const struct loop *l = &p->loop;
  uint64_t chunk;
  do {
    while (take_chunk(&p->ranges[self], &chunk)) {
      uint64_t begin = l->first + chunk * l->chunk;
      uint64_t end = l->n - begin > l->chunk ? begin + l->chunk : l->n;
      for (uint64_t i = begin; i < end; i++)
        l->body(l->user, i, self);
    }
  } while (steal_half(p, self));
}

// ---- workers ----

// Waits for a loop after generation `seen`: without the lock for a short time, then asleep with it.
static void wait_for_loop(struct thread_pool *p, uint64_t seen) {
  double until = clock_ms() + WAITING_MS;
  pthread_mutex_unlock(&p->lock);
  atomic_fetch_add(&p->waiting, 1);
  while (atomic_load_explicit(&p->generation, memory_order_relaxed) == seen && clock_ms() < until)
    ;
  atomic_fetch_sub(&p->waiting, 1);
  pthread_mutex_lock(&p->lock);
  p->asleep++;
  while (!p->stop && atomic_load(&p->generation) == seen)
    pthread_cond_wait(&p->wake, &p->lock);
  p->asleep--;
}

static void *worker_main(void *arg) {
  struct worker *w = arg;
  struct thread_pool *p = w->pool;
  uint64_t seen = 0;
  inside_worker = w->id;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    wait_for_loop(p, seen);
    if (p->stop)
      break;
    seen = atomic_load(&p->generation);
    if (!p->is_open)
      continue;
    p->active++;
    pthread_mutex_unlock(&p->lock);
    inside = p;
    run_chunks(p, w->id);
    inside = NULL;
    pthread_mutex_lock(&p->lock);
    if (--p->active == 0)
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

unsigned thread_pool_cores(void) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return (unsigned)CPU_COUNT(&set);
#endif
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? (unsigned)cores : 1;
}

struct thread_pool *thread_pool_create(unsigned threads) {
  if (!threads)
    threads = thread_pool_cores();
  struct thread_pool *p = memory_zeroed(1, sizeof *p);
  struct worker *workers = memory_zeroed(threads, sizeof *workers);
  struct range *ranges = memory_aligned(LINE, threads * sizeof *ranges);
  if (!p || !workers || !ranges) {
    free(p);
    free(workers);
    free(ranges);
    return NULL;
  }
  for (unsigned i = 0; i < threads; i++)
    atomic_init(&ranges[i].packed, 0);
  p->workers = workers;
  p->ranges = ranges;
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
  free(p->ranges);
  free(p);
}

unsigned thread_pool_size(const struct thread_pool *p) { return p->size; }

// ---- loops ----

static void run_in_order(uint64_t n, unsigned worker,
                         void (*body)(void *user, uint64_t i, unsigned worker), void *user) {
  for (uint64_t i = 0; i < n; i++)
    body(user, i, worker);
}

// Shares the indices from l->first on out to all workers.
static void open_loop(struct thread_pool *p) {
  struct loop *l = &p->loop;
  uint64_t left = l->n - l->first, chunks;
  l->chunk = left / ((uint64_t)p->size * CHUNKS_PER_WORKER);
  l->chunk = l->chunk ? l->chunk : 1;
  chunks = (left + l->chunk - 1) / l->chunk;
  pthread_mutex_lock(&p->lock);
  for (unsigned i = 0; i < p->size; i++)
    atomic_store(&p->ranges[i].packed,
                 packed_range(chunks * i / p->size, chunks * (i + 1) / p->size));
  p->is_open = true;
  atomic_fetch_add(&p->generation, 1);
  if (p->asleep)
    pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

// Workers that come too late do not begin; those that began are waited for.
static void close_loop(struct thread_pool *p) {
  pthread_mutex_lock(&p->lock);
  p->is_open = false;
  while (p->active)
    pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

// The caller alone, for the time that waking takes; returns the first index that is left.
static uint64_t begin_alone(struct thread_pool *p, uint64_t n,
                            void (*body)(void *user, uint64_t i, unsigned worker), void *user) {
  uint64_t i = 0;
  double start = clock_ms();
  while (i < n && atomic_load_explicit(&p->waiting, memory_order_relaxed) == 0 &&
         clock_ms() - start < WAKING_MS)
    body(user, i++, 0);
  return i;
}

void thread_pool_for(struct thread_pool *p, uint64_t n,
                     void (*body)(void *user, uint64_t i, unsigned worker), void *user) {
  if (inside == p) {
    run_in_order(n, inside_worker, body, user);
    return;
  }
  struct thread_pool *outer = inside;
  unsigned outer_worker = inside_worker;
  pthread_mutex_lock(&p->exclusive);
  inside = p;
  inside_worker = 0;
  if (p->size == 1 || n <= 1) {
    run_in_order(n, 0, body, user);
  } else {
    p->loop = (struct loop){.n = n, .body = body, .user = user};
    p->loop.first = begin_alone(p, n, body, user);
    if (p->loop.first < n) {
      open_loop(p);
      run_chunks(p, 0);
      close_loop(p);
    }
  }
  inside = outer;
  inside_worker = outer_worker;
  pthread_mutex_unlock(&p->exclusive);
}
