// SPDX-License-Identifier: Apache-2.0
// The calls of worker.h: they queue requests and take replies; the supervisor thread
// (autotune/worker/supervisor.c) does the rest, so that deadlines and restarts do not depend on the
// caller.
#include "autotune/worker/state.h"
#include "base/clock.h"
#include "base/memory.h"
#include "runtime/args.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_MS 10000

// ---- opening ----

// `a`: the array of a pointer; NULL: none.
static void write_arg(const char *name, const tile_arg *arg, const struct tune_array *a,
                      struct json_writer *w) {
  int64_t bits = 0;
  memcpy(&bits, &arg->value, sizeof arg->value); // also for a double or a pointer
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, name);
  json_key(w, "type"), json_cstring(w, dtype_name((enum dtype)arg->type));
  json_key(w, "pointer"), json_int(w, arg->is_pointer);
  json_key(w, "bits"), json_int(w, bits);
  if (a && arg->is_pointer) {
    json_key(w, "bytes"), json_int(w, (int64_t)a->bytes);
    json_key(w, "offset"), json_int(w, (int64_t)a->offset);
    json_key(w, "reset"), json_int(w, a->reset);
    json_key(w, "zero"), json_int(w, a->zero);
    if (a->has_expected)
      json_key(w, "expected"), json_int(w, (int64_t)a->expected);
  }
  json_end_object(w);
}

// The worker sees the parameters of the compiled kernel: a descriptor is several.
static void write_args(const struct tune_problem *p, struct json_writer *w) {
  json_key(w, "args");
  json_begin_array(w);
  for (size_t i = 0; i < p->arg_count; i++) {
    tile_arg flat[ARG_MAX_VALUES];
    const tile_arg *parts = args_flatten(&p->args[i], 1, flat);
    size_t count = args_flat_count(&p->args[i], 1);
    for (size_t k = 0; k < count; k++) {
      char suffix[32];
      struct strbuf name = {0};
      arg_part_suffix(&p->args[i], k, suffix);
      strbuf_printf(&name, "%s%s", p->arg_names[i], suffix);
      w->out->failed |= name.failed;
      if (!name.failed)
        write_arg(strbuf_cstr(&name), &parts[k], p->arrays ? &p->arrays[i] : NULL, w);
      strbuf_finish(&name);
    }
  }
  json_end_array(w);
}

static void write_hello(const struct tune_worker_options *o, const struct tune_problem *p,
                        uint64_t data_bytes, struct strbuf *out) {
  struct frame_writer w;
  frame_begin(&w, "open");
  json_key(&w.json, "device"), json_cstring(&w.json, o->device ? o->device : "auto");
  json_key(&w.json, "data_bytes"), json_int(&w.json, (int64_t)data_bytes);
  json_key(&w.json, "rtol"), json_double(&w.json, o->rtol);
  json_key(&w.json, "atol"), json_double(&w.json, o->atol);
  write_args(p, &w.json);
  frame_end(&w, (struct str){0}, out);
}

static bool make_pipe(int fds[2]) {
  if (pipe(fds) != 0) {
    fds[0] = fds[1] = -1;
    return false;
  }
  for (int i = 0; i < 2; i++) {
    fcntl(fds[i], F_SETFD, FD_CLOEXEC);
    fcntl(fds[i], F_SETFL, O_NONBLOCK);
  }
  return true;
}

static tile_status share_page(struct tune_worker *w, uint64_t data_bytes) {
  void *all;
  tile_status s = tune_data_create(WORKER_PAGE + data_bytes, &w->shared_fd, &all);
  if (s == TILE_OK) {
    w->page = all;
    // Only the worker maps the results behind the page.
    if (data_bytes)
      munmap((char *)all + WORKER_PAGE, data_bytes);
  }
  return s;
}

// The supervisor thread blocks all signals.
static bool start_thread(struct tune_worker *w) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  w->has_thread = pthread_create(&w->thread, NULL, worker_supervise, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return w->has_thread;
}

static struct tune_worker *worker_new(int data_fd) {
  struct tune_worker *w = memory_zeroed(1, sizeof *w);
  if (!w)
    return NULL;
  w->fd = w->shared_fd = w->wake[0] = w->wake[1] = w->notify[0] = w->notify[1] = -1;
  w->data_fd = fcntl(data_fd, F_DUPFD_CLOEXEC, 0);
  w->replies_end = &w->replies;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->news, &monotonic);
  pthread_condattr_destroy(&monotonic);
  w->arena = arena_create();
  w->heads = arena_create();
  return w;
}

tile_status tune_worker_open(const struct tune_worker_options *o, const struct tune_problem *p,
                             int data_fd, uint64_t data_bytes, struct tune_worker **ret) {
  char *program = NULL;
  (void)worker_find_program(o->program, &program); // without one, a thread is the worker
  struct tune_worker *w = worker_new(data_fd);
  if (!w) {
    free(program);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a worker");
  }
  w->program = program;
  w->timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : DEFAULT_TIMEOUT_MS;
  write_hello(o, p, data_bytes, &w->hello);
  tile_status s = share_page(w, data_bytes);
  if (s == TILE_OK && (!w->arena || !w->heads || w->hello.failed))
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a worker");
  if (s == TILE_OK && (w->data_fd < 0 || !make_pipe(w->wake) || !make_pipe(w->notify)))
    s = status_set(TILE_IO_ERROR, "no files for a worker: %s", strerror(errno));
  if (s == TILE_OK && !start_thread(w))
    s = status_set(TILE_LIMIT, "no thread for a worker");
  if (s != TILE_OK) {
    tune_worker_close(w);
    return s;
  }
  *ret = w;
  return TILE_OK;
}

static void close_file(int fd) {
  if (fd >= 0)
    close(fd);
}

static void wake(struct tune_worker *w) {
  ssize_t done = write(w->wake[1], "", 1); // a full pipe is readable already
  (void)done;
}

void tune_worker_close(struct tune_worker *w) {
  if (!w)
    return;
  if (w->has_thread) {
    pthread_mutex_lock(&w->lock);
    w->is_closing = true;
    pthread_mutex_unlock(&w->lock);
    wake(w);
    pthread_join(w->thread, NULL);
  }
  for (struct worker_request *r = w->requests, *next; r; r = next) {
    next = r->next;
    free(r);
  }
  for (struct worker_request *r = w->replies, *next; r; r = next) {
    next = r->next;
    free(r);
  }
  if (w->page)
    munmap(w->page, WORKER_PAGE);
  for (int i = 0; i < 2; i++) {
    close_file(w->wake[i]);
    close_file(w->notify[i]);
  }
  close_file(w->data_fd);
  close_file(w->shared_fd);
  strbuf_finish(&w->hello);
  strbuf_finish(&w->out);
  frame_reader_finish(&w->reader);
  arena_destroy(w->arena);
  arena_destroy(w->heads);
  pthread_mutex_destroy(&w->lock);
  pthread_cond_destroy(&w->news);
  free(w->program);
  free(w);
}

// ---- requests ----

static void out_of_memory(struct tune_worker *w) {
  worker_give_up(w, TILE_OUT_OF_MEMORY, "out of memory for the requests to the tuner's worker");
}

static struct worker_request *queue(struct tune_worker *w, enum request_kind kind,
                                    uint32_t config) {
  struct worker_request *r = memory_zeroed(1, sizeof *r), **at = &w->requests;
  if (!r) {
    out_of_memory(w);
    return NULL;
  }
  r->id = worker_next_id(w);
  r->kind = kind;
  r->config = config;
  while (*at)
    at = &(*at)->next;
  *at = r;
  return r;
}

void tune_worker_data_ready(struct tune_worker *w) {
  pthread_mutex_lock(&w->lock);
  w->is_ready = true;
  pthread_mutex_unlock(&w->lock);
  wake(w);
}

struct keeping {
  struct tune_worker *w;
  const struct tune_built *built;
};

static void keep_candidate(void *user) {
  struct tune_worker *w = ((struct keeping *)user)->w;
  const struct tune_built *b = ((struct keeping *)user)->built;
  while (w->candidates.len <= b->config)
    vec_push(w->arena, &w->candidates, NULL);
  struct worker_candidate **c = &w->candidates.at[b->config];
  if (!*c)
    *c = arena_new(w->arena, struct worker_candidate);
  **c = (struct worker_candidate){.built = *b};
}

void tune_worker_load(struct tune_worker *w, const struct tune_built *b) {
  struct keeping k = {w, b};
  pthread_mutex_lock(&w->lock);
  if (!arena_guard(w->arena, keep_candidate, &k))
    out_of_memory(w);
  queue(w, REQUEST_LOAD, b->config);
  pthread_mutex_unlock(&w->lock);
  wake(w);
}

void tune_worker_check(struct tune_worker *w, uint32_t config, bool is_reference) {
  pthread_mutex_lock(&w->lock);
  struct worker_request *r = queue(w, REQUEST_CHECK, config);
  if (r)
    r->is_reference = is_reference;
  pthread_mutex_unlock(&w->lock);
  wake(w);
}

void tune_worker_measure(struct tune_worker *w, uint32_t config, double budget_ms, unsigned least,
                         unsigned most, double give_up_ms) {
  pthread_mutex_lock(&w->lock);
  struct worker_request *r = queue(w, REQUEST_MEASURE, config);
  if (r)
    r->plan = (struct measure_plan){budget_ms, give_up_ms, least, most};
  pthread_mutex_unlock(&w->lock);
  wake(w);
}

// ---- replies ----

int tune_worker_fd(const struct tune_worker *w) { return w->notify[0]; }

static void forget_notice(struct tune_worker *w) {
  char byte;
  if (w->is_notified && !w->replies && !w->has_device_news)
    w->is_notified = read(w->notify[0], &byte, 1) != 1;
}

// Waits for a reply or news of the device. False: the time is over, or nothing is pending.
static bool wait_for_news(struct tune_worker *w, int timeout_ms) {
  const struct timespec until = clock_after(timeout_ms);
  int error = 0;
  while (!w->replies && !w->has_device_news && error == 0) {
    if (timeout_ms < 0 && !w->requests)
      return false;
    error = timeout_ms < 0 ? pthread_cond_wait(&w->news, &w->lock)
                           : pthread_cond_timedwait(&w->news, &w->lock, &until);
  }
  return error == 0;
}

bool tune_worker_next(struct tune_worker *w, int timeout_ms, struct tune_reply *ret) {
  pthread_mutex_lock(&w->lock);
  if (timeout_ms != 0)
    (void)wait_for_news(w, timeout_ms);
  struct worker_request *r = w->replies;
  if (r) {
    w->replies = r->next;
    if (!w->replies)
      w->replies_end = &w->replies;
    *ret = r->reply;
  } else {
    w->has_device_news = false;
  }
  forget_notice(w);
  pthread_mutex_unlock(&w->lock);
  free(r);
  return r != NULL;
}

bool tune_worker_device(struct tune_worker *w, tile_device_properties *ret,
                        tile_status *ret_status) {
  pthread_mutex_lock(&w->lock);
  bool known = w->has_device && w->status != TILE_OUT_OF_MEMORY;
  *ret = w->device;
  *ret_status = known ? TILE_OK : w->status;
  if (*ret_status != TILE_OK)
    status_set(w->status, "%s", w->message);
  w->has_device_news = false;
  forget_notice(w);
  pthread_mutex_unlock(&w->lock);
  return known;
}

double tune_worker_copy_gbs(struct tune_worker *w) {
  pthread_mutex_lock(&w->lock);
  double gbs = w->copy_gbs;
  pthread_mutex_unlock(&w->lock);
  return gbs;
}

unsigned tune_worker_restarts(struct tune_worker *w) {
  pthread_mutex_lock(&w->lock);
  unsigned n = w->starts ? w->starts - 1 : 0;
  pthread_mutex_unlock(&w->lock);
  return n;
}
