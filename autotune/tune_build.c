// SPDX-License-Identifier: Apache-2.0
// The builder: a queue, threads that take jobs from it, a list of results. Compilations come before
// analyses, since measurements wait for them. Predictions are computed when a result is taken, with
// the device properties known by then.
#include "autotune/tune_build.h"

#include "autotune/tune_build_config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "jit/worker/pool.h"
#include "runtime/runtime_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// The result's slot is allocated with the job, so that a finished job is never lost.
struct result;
struct job {
  uint32_t config;
  enum tune_stage stage;
  struct result *result;
  struct job *next;
};

struct job_list {
  struct job *first, **end;
};

struct result {
  struct tune_built built;
  enum tune_stage stage;
  struct arena *arena;
  tile_kernel *kernel;
  struct result *next;
};

struct tune_builder {
  const struct tune_problem *problem;
  const struct tune_space *space;
  const struct target *target;
  tile_device *device;
  pthread_t *threads;
  unsigned thread_count;
  int fd;
  pthread_mutex_t grid_lock;

  pthread_mutex_t lock; // guards what follows
  pthread_cond_t work, done;
  tile_device_properties properties;
  struct job_list jobs[2]; // by enum tune_stage
  struct result *ready, **ready_end, *taken;
  size_t open; // queued or running
  size_t lost; // not queued for lack of memory
  bool closing;
};

// ---- threads ----

static struct job *take_job(struct tune_builder *b) {
  for (unsigned i = 0; i < COUNT_OF(b->jobs); i++) {
    struct job_list *l = &b->jobs[TUNE_COMPILED - i];
    struct job *j = l->first;
    if (!j)
      continue;
    l->first = j->next;
    if (!l->first)
      l->end = &l->first;
    return j;
  }
  return NULL;
}

static struct tune_built out_of_memory(uint32_t config) {
  return (struct tune_built){.config = config, .is_out_of_memory = true, .reason = "out of memory"};
}

static struct result *run(struct tune_builder *b, const struct job *j) {
  struct result *r = j->result;
  r->stage = j->stage;
  r->arena = arena_create();
  if (!r->arena) {
    r->built = out_of_memory(j->config);
    return r;
  }
  struct build_request request = {b->problem, b->space, b->device,    b->target,
                                  j->config,  j->stage, &b->grid_lock};
  build_config(r->arena, &request, &r->built, &r->kernel);
  return r;
}

static void tell(struct tune_builder *b) {
  uint64_t one = 1;
  if (write(b->fd, &one, sizeof one) < 0) // a full pipe is readable already
    errno = 0;
  pthread_cond_broadcast(&b->done);
}

static void publish(struct tune_builder *b, struct result *r) {
  b->open--;
  *b->ready_end = r;
  b->ready_end = &r->next;
  tell(b);
}

static void *work(void *user) {
  struct tune_builder *b = user;
  pthread_mutex_lock(&b->lock);
  for (;;) {
    struct job *j = b->closing ? NULL : take_job(b);
    if (j) {
      pthread_mutex_unlock(&b->lock);
      struct result *r = run(b, j);
      free(j);
      pthread_mutex_lock(&b->lock);
      publish(b, r);
    } else if (b->closing) {
      break;
    } else {
      pthread_cond_wait(&b->work, &b->lock);
    }
  }
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

// ---- opening ----

static unsigned core_count(void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (unsigned)n : 1;
}

static tile_status open_device(struct tune_builder *b, const tile_device_properties *device) {
  const char *name = b->problem->target ? b->problem->target : device->target;
  b->target = target_find(str_from(name));
  if (!b->target)
    return status_set(TILE_INVALID_ARGUMENT, "there is no target `%s`", name);
  tile_status s = b->target->is_cpu ? tile_device_open("cpu", &b->device)
                                    : device_open_offline(name, &b->device);
  if (s == TILE_OK && b->problem->like)
    compile_pool_share(b->device, b->problem->like);
  return s;
}

static tile_status start_threads(struct tune_builder *b, unsigned threads) {
  threads = threads ? threads : core_count();
  b->threads = memory_zeroed(threads, sizeof *b->threads);
  if (!b->threads)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for threads");
  while (b->thread_count < threads &&
         pthread_create(&b->threads[b->thread_count], NULL, work, b) == 0)
    b->thread_count++;
  return b->thread_count ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "no thread could be started");
}

tile_status tune_builder_open(const struct tune_problem *p, const struct tune_space *s,
                              const tile_device_properties *device, unsigned threads,
                              struct tune_builder **ret) {
  struct tune_builder *b = memory_zeroed(1, sizeof *b);
  if (!b)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a builder");
  b->problem = p;
  b->space = s;
  b->properties = *device;
  b->ready_end = &b->ready;
  for (unsigned i = 0; i < COUNT_OF(b->jobs); i++)
    b->jobs[i].end = &b->jobs[i].first;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&b->lock, NULL);
  pthread_mutex_init(&b->grid_lock, NULL);
  pthread_cond_init(&b->work, NULL);
  pthread_cond_init(&b->done, &monotonic);
  pthread_condattr_destroy(&monotonic);
  b->fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
  tile_status status = b->fd < 0 ? status_set(TILE_IO_ERROR, "no event descriptor is to be had")
                                 : open_device(b, device);
  if (status == TILE_OK)
    status = start_threads(b, threads);
  if (status == TILE_OK)
    *ret = b;
  else
    tune_builder_close(b);
  return status;
}

void tune_builder_device(struct tune_builder *b, const tile_device_properties *device) {
  pthread_mutex_lock(&b->lock);
  b->properties = *device;
  pthread_mutex_unlock(&b->lock);
}

// ---- work and results ----

void tune_builder_submit(struct tune_builder *b, enum tune_stage stage, uint32_t config) {
  struct job *j = memory_alloc(sizeof *j);
  struct result *r = memory_zeroed(1, sizeof *r);
  pthread_mutex_lock(&b->lock);
  if (j && r) {
    b->open++;
    *j = (struct job){config, stage, r, NULL};
    *b->jobs[stage].end = j;
    b->jobs[stage].end = &j->next;
    pthread_cond_signal(&b->work);
  } else {
    free(j);
    free(r);
    b->lost++;
    tell(b);
  }
  pthread_mutex_unlock(&b->lock);
}

// The lock is held. NULL when the time is over or no result will come.
static struct result *wait_for_result(struct tune_builder *b, int timeout_ms) {
  const struct timespec until = clock_after(timeout_ms < 0 ? 0 : timeout_ms);
  while (!b->ready && b->open && !b->lost) {
    if (timeout_ms < 0)
      pthread_cond_wait(&b->done, &b->lock);
    else if (timeout_ms == 0 || pthread_cond_timedwait(&b->done, &b->lock, &until) == ETIMEDOUT)
      break;
  }
  struct result *r = b->ready;
  if (!r)
    return NULL;
  b->ready = r->next;
  if (!b->ready)
    b->ready_end = &b->ready;
  r->next = b->taken;
  b->taken = r;
  uint64_t one;
  if (read(b->fd, &one, sizeof one) < 0) // the pipe may be empty
    errno = 0;
  return r;
}

struct judging {
  struct tune_builder *b;
  struct result *r;
};

static void predict(void *user) {
  struct judging *j = user;
  const struct tune_builder *b = j->b;
  struct tune_built *t = &j->r->built;
  t->reason = tune_prune_reason(j->r->arena, &b->properties, b->target, &t->cost, t->grid);
  t->ok = !t->reason;
  t->prediction = tune_predict(&b->properties, b->target, &t->cost, t->grid);
}

static void judge(struct tune_builder *b, struct result *r) {
  struct judging j = {b, r};
  if (r->built.ok && r->stage == TUNE_ANALYSED && !arena_guard(r->arena, predict, &j))
    r->built = out_of_memory(r->built.config);
}

bool tune_builder_next(struct tune_builder *b, int timeout_ms, struct tune_built *ret) {
  pthread_mutex_lock(&b->lock);
  struct result *r = wait_for_result(b, timeout_ms);
  bool is_lost = !r && b->lost;
  if (r) {
    judge(b, r);
    *ret = r->built;
  } else if (is_lost) {
    b->lost--;
    *ret = out_of_memory(0);
  }
  pthread_mutex_unlock(&b->lock);
  return r || is_lost;
}

int tune_builder_fd(const struct tune_builder *b) { return b->fd; }

// ---- the end ----

static void free_results(struct result *r) {
  while (r) {
    struct result *next = r->next;
    tile_kernel_close(r->kernel);
    arena_destroy(r->arena);
    free(r);
    r = next;
  }
}

void tune_builder_close(struct tune_builder *b) {
  if (!b)
    return;
  pthread_mutex_lock(&b->lock);
  b->closing = true;
  pthread_cond_broadcast(&b->work);
  pthread_mutex_unlock(&b->lock);
  for (unsigned i = 0; i < b->thread_count; i++)
    pthread_join(b->threads[i], NULL);
  for (struct job *j; (j = take_job(b));) {
    free(j->result);
    free(j);
  }
  free_results(b->ready);
  free_results(b->taken);
  tile_device_close(b->device);
  if (b->fd >= 0)
    close(b->fd);
  pthread_cond_destroy(&b->work);
  pthread_cond_destroy(&b->done);
  pthread_mutex_destroy(&b->lock);
  pthread_mutex_destroy(&b->grid_lock);
  free(b->threads);
  free(b);
}
