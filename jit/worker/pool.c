// SPDX-License-Identifier: Apache-2.0
// See jit/worker/pool.h. The thread that needs a kernel takes an idle worker or starts one, sends
// it the request, and returns it to the pool.
#include "jit/worker/pool.h"

#include "base/memory.h"
#include "jit/worker/client.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct compile_pool {
  pthread_mutex_t lock; // guards all members
  pthread_cond_t freed;
  bool is_on;
  char *program;
  double seconds;
  uint64_t bytes;
  unsigned generation; // of the settings above
  struct compile_worker *idle;
  unsigned count, most; // workers that exist, and their limit
};

// ---- taking and giving back ----

// With the lock. Removes and returns idle workers with outdated settings.
static struct compile_worker *sort_out(struct compile_pool *p) {
  struct compile_worker *useless = NULL;
  for (struct compile_worker **at = &p->idle, *w; (w = *at);) {
    if (p->is_on && w->generation == p->generation && !worker_is_gone(w->fd)) {
      at = &w->next;
      continue;
    }
    *at = w->next;
    w->next = useless;
    useless = w;
    p->count--;
  }
  return useless;
}

static void drop_all(struct compile_worker *w) {
  for (struct compile_worker *next; w; w = next) {
    next = w->next;
    compile_worker_drop(w);
  }
}

// NULL without an error: the pool no longer has workers.
static tile_status take(struct compile_pool *p, struct compile_terms *ret_terms,
                        struct compile_worker **ret) {
  tile_status s = TILE_OK;
  pthread_mutex_lock(&p->lock);
  struct compile_worker *useless = sort_out(p);
  while (p->is_on && !p->idle && p->count >= p->most)
    pthread_cond_wait(&p->freed, &p->lock);
  *ret_terms = (struct compile_terms){p->seconds, p->bytes};
  if (p->is_on && p->idle) {
    *ret = p->idle;
    p->idle = (*ret)->next;
  } else if (p->is_on) {
    s = compile_worker_start(p->program, p->generation, ret);
    p->count += s == TILE_OK;
  }
  pthread_mutex_unlock(&p->lock);
  drop_all(useless);
  return s;
}

static void put_back(struct compile_pool *p, struct compile_worker *w) {
  pthread_mutex_lock(&p->lock);
  w->next = p->idle;
  p->idle = w;
  struct compile_worker *useless = sort_out(p); // its settings may be outdated by now
  pthread_cond_signal(&p->freed);
  pthread_mutex_unlock(&p->lock);
  drop_all(useless);
}

// Its worker is gone, or will be dropped.
static void forget(struct compile_pool *p) {
  pthread_mutex_lock(&p->lock);
  p->count--;
  pthread_cond_signal(&p->freed);
  pthread_mutex_unlock(&p->lock);
}

// ---- one compilation ----

tile_status compile_pool_run(struct compile_pool *p, struct arena *a, struct diag_engine *diag,
                             const struct jit_job *q, struct span at, struct jit_reply *ret) {
  struct compile_terms terms;
  struct compile_worker *w = NULL;
  *ret = (struct jit_reply){0};
  tile_status s = take(p, &terms, &w);
  if (s == TILE_OK && !w) {
    jit_reply_make(a, diag, q, ret);
    return TILE_OK;
  }
  if (s == TILE_OK && !w->is_known && (s = compile_worker_handshake(w)) != TILE_OK)
    forget(p);
  if (s != TILE_OK)
    return s;
  enum compile_outcome outcome = compile_worker_run(w, &terms, a, diag, q, at, ret);
  if (outcome == COMPILE_DONE)
    put_back(p, w);
  else
    forget(p);
  if (outcome == COMPILE_LAST || outcome == COMPILE_NO_MEMORY)
    compile_worker_drop(w);
  if (outcome == COMPILE_NO_MEMORY)
    diag_error(diag, SPAN_NONE, E0991, "out of memory"); // ends in the caller's handler
  return TILE_OK;
}

// ---- the device's pool ----

static void pool_close(void *pool) {
  struct compile_pool *p = pool;
  drop_all(p->idle);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->freed);
  free(p->program);
  free(p);
}

static struct compile_pool *pool_create(void) {
  struct compile_pool *p = memory_zeroed(1, sizeof *p);
  if (!p)
    return NULL;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  p->most = cores > 0 ? (unsigned)cores : 1;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->freed, NULL);
  return p;
}

struct compile_pool *compile_pool_of(tile_device *device) {
  struct compile_pool *p = device_kept(device);
  if (!p)
    return NULL;
  pthread_mutex_lock(&p->lock);
  bool is_on = p->is_on;
  pthread_mutex_unlock(&p->lock);
  return is_on ? p : NULL;
}

void compile_pool_share(tile_device *device, const tile_device *with) {
  void *pool = device_kept(with);
  if (pool)
    device_keep(device, pool, NULL);
}

// Applies the settings and adds a worker started with them; NULL: no workers.
static void pool_set(struct compile_pool *p, const tile_worker_options *o, char *program,
                     struct compile_worker *first) {
  pthread_mutex_lock(&p->lock);
  free(p->program);
  p->program = program;
  p->is_on = o != NULL;
  p->seconds = o ? o->seconds : 0;
  p->bytes = o ? o->bytes : 0;
  p->generation++;
  struct compile_worker *useless = sort_out(p);
  if (first) {
    first->generation = p->generation;
    first->next = p->idle;
    p->idle = first;
    p->count++;
  }
  pthread_cond_broadcast(&p->freed);
  pthread_mutex_unlock(&p->lock);
  drop_all(useless);
}

static struct compile_pool *pool_for(tile_device *device) {
  struct compile_pool *p = device_kept(device);
  struct compile_pool *made = p ? NULL : pool_create();
  if (p || !made)
    return p;
  p = device_keep(device, made, pool_close);
  if (p != made) // another thread created the pool first
    pool_close(made);
  return p;
}

// Starts a worker and waits for its first frame: a wrong program is reported here, not at a launch.
static tile_status start_first(const char *program, struct compile_worker **ret) {
  struct compile_worker *w;
  tile_status s = compile_worker_start(program, 0, &w);
  if (s == TILE_OK)
    s = compile_worker_handshake(w);
  if (s == TILE_OK)
    *ret = w;
  return s;
}

tile_status tile_device_set_worker(tile_device *device, const tile_worker_options *options) {
  if (!device)
    return status_set(TILE_INVALID_ARGUMENT, "tile_device_set_worker: `device` is NULL");
  if (options && !(options->seconds >= 0))
    return status_set(TILE_INVALID_ARGUMENT,
                      "tile_device_set_worker: `seconds` is %g; it is 0 (no limit) or more",
                      options->seconds);
  if (!options && !device_kept(device))
    return TILE_OK;
  struct compile_pool *p = pool_for(device);
  if (!p)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a worker");
  struct compile_worker *first = NULL;
  char *program = NULL;
  tile_status s = options ? worker_find_program(options->program, &program) : TILE_OK;
  if (s == TILE_OK && options)
    s = start_first(program, &first);
  if (s == TILE_OK)
    pool_set(p, options, program, first);
  else
    free(program);
  return s;
}
