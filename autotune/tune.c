// SPDX-License-Identifier: Apache-2.0
// The event loop: takes results of builder and worker as they are ready, asks the search for the
// next steps, and advances every configuration that can advance. The arrays are filled in a thread
// while the worker starts; the builder starts when the worker has reported the device.
#include "autotune/tune_internal.h"
#include "base/clock.h"
#include "runtime/runtime_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TICK_MS 50 // how often flags and the clock are checked when nothing happens
#define USUAL_TIMEOUT_MS 10e3
#define ANALYSIS_SHARE 0.4 // of the budget, at most

// ---- the arrays ----

struct filling {
  tune_fill_fn fill;
  void *user, *data;
  pthread_t thread;
  bool is_running, is_told;
  atomic_int state; // 0: running, 1: done, -1: failed
};

static void *run_fill(void *arg) {
  struct filling *f = arg;
  atomic_store(&f->state, !f->fill || f->fill(f->user, f->data) ? 1 : -1);
  return NULL;
}

static void begin_fill(struct filling *f) {
  f->is_running = pthread_create(&f->thread, NULL, run_fill, f) == 0;
  if (!f->is_running)
    run_fill(f);
}

static void end_fill(struct filling *f) {
  if (f->is_running)
    pthread_join(f->thread, NULL);
  f->is_running = false;
}

// ---- progress and the end ----

static double elapsed(const struct tune_loop *l) { return l->hooks->now_ms() - l->began_ms; }

static bool is_stopped(const struct tune_loop *l) {
  const struct tune_options *o = l->options;
  return (o->stop && *(const volatile int *)o->stop) ||
         (o->budget_ms > 0 && elapsed(l) >= o->budget_ms);
}

// False: the caller wants to stop.
static bool report(struct tune_loop *l) {
  struct tune_progress *p = &l->progress;
  uint32_t best;
  char *spelled = NULL;
  if (!l->options->progress)
    return true;
  p->measured = p->pruned = 0;
  for (size_t i = 0; i < l->space->count; i++) {
    p->measured += l->trials[i].outcome == TUNE_MEASURED;
    p->pruned += l->trials[i].outcome == TUNE_PRUNED;
  }
  p->to_measure = tune_search_planned(l->search);
  p->elapsed_ms = elapsed(l);
  p->budget_ms = l->options->budget_ms;
  p->latest = l->latest;
  p->best = NULL;
  if (tune_search_best(l->search, &best) && l->trials[best].sample.count) {
    struct strbuf text = {0};
    tune_config_print(l->space, best, &text);
    p->best = spelled = strbuf_take(&text);
    p->best_ms = l->trials[best].sample.median;
  }
  bool go_on = l->options->progress(l->options->user, p);
  free(spelled);
  p->best = NULL;
  l->latest = NULL;
  return go_on;
}

// ---- the loop ----

static tile_status open_worker(struct tune_loop *l, int data_fd, uint64_t data_bytes) {
  const struct tune_options *o = l->options;
  struct tune_worker_options w = {.device = o->device,
                                  .timeout_ms =
                                      o->timeout_ms > 0 ? o->timeout_ms : USUAL_TIMEOUT_MS,
                                  .rtol = o->rtol,
                                  .atol = o->atol};
  return l->hooks->worker_open(&w, l->problem, data_fd, data_bytes, &l->worker);
}

static tile_status open_builder(struct tune_loop *l, const char *target) {
  l->target = target_find(str_from(target));
  if (!l->target)
    return status_set(TILE_INVALID_ARGUMENT, "no such target: %s", target);
  return l->hooks->builder_open(l->problem, l->space, &l->device, l->options->threads, &l->builder);
}

// The target, if it is known before the device has answered: the builder starts with the properties
// of a typical device.
static tile_status begin_early(struct tune_loop *l) {
  const char *target = l->problem->target ? l->problem->target : l->options->guess;
  if (!target && l->options->device && strcmp(l->options->device, "cpu") == 0)
    target = "cpu";
  return target && tune_device_assumed(target, &l->device) ? open_builder(l, target) : TILE_OK;
}

// The device is known: loads results of an earlier run on it.
static tile_status meet_device(struct tune_loop *l) {
  const struct tune_options *o = l->options;
  l->has_device = true;
  l->is_misled =
      l->builder && !l->problem->target && target_find(str_from(l->device.target)) != l->target;
  if (l->is_misled)
    return TILE_OK;
  if (!l->journal && o->journal_of)
    l->journal = o->journal_of(o->user, &l->device);
  if (l->journal && o->resume)
    tune_loop_resume(l);
  if (l->builder)
    l->hooks->builder_device(l->builder, &l->device);
  return l->builder ? TILE_OK
                    : open_builder(l, l->problem->target ? l->problem->target : l->device.target);
}

// Asks the search for steps and advances configurations until nothing changes. True: the search is
// over.
static bool step(struct tune_loop *l) {
  for (;;) {
    struct tune_step s = tune_search_next(l->search);
    if (s.action == TUNE_ANALYSE || s.action == TUNE_MEASURE) {
      tune_loop_want(l, &s);
      continue;
    }
    if (tune_loop_advance(l))
      continue;
    return s.action == TUNE_DONE;
  }
}

static void wait(struct tune_loop *l) {
  struct pollfd fds[2];
  unsigned long count = 0;
  fds[count++] = (struct pollfd){.fd = l->hooks->worker_fd(l->worker), .events = POLLIN};
  if (l->builder)
    fds[count++] = (struct pollfd){.fd = l->hooks->builder_fd(l->builder), .events = POLLIN};
  l->hooks->wait(fds, count, TICK_MS);
}

static tile_status take_answers(struct tune_loop *l, bool *ret_any) {
  struct tune_built b;
  struct tune_reply r;
  tile_status status = TILE_OK;
  *ret_any = false;
  while (l->builder && l->hooks->built(l->builder, 0, &b)) {
    if (b.is_out_of_memory) // says nothing about the configuration
      return status_set(TILE_OUT_OF_MEMORY, "out of memory for a configuration");
    tune_loop_analysed(l, &b);
    *ret_any = true;
  }
  while (l->hooks->replied(l->worker, 0, &r)) {
    tune_loop_replied(l, &r);
    *ret_any = true;
  }
  if (!l->hooks->device(l->worker, &l->device, &status))
    return status;
  if (l->has_device)
    return TILE_OK;
  *ret_any = true;
  return meet_device(l);
}

static tile_status run_loop(struct tune_loop *l, struct filling *f, bool *ret_stopped) {
  double shown_ms = 0;
  for (;;) {
    bool any;
    tile_status status = take_answers(l, &any);
    if (status != TILE_OK || l->is_misled)
      return status;
    int filled = atomic_load(&f->state);
    if (filled < 0)
      return status_set(TILE_IO_ERROR, "the arguments could not be filled");
    if (filled && !f->is_told)
      l->hooks->data_ready(l->worker);
    f->is_told |= filled != 0;
    if (l->options->budget_ms > 0 && elapsed(l) > ANALYSIS_SHARE * l->options->budget_ms)
      tune_search_truncate(l->search);
    bool is_over = l->builder && step(l) && l->has_device;
    if (is_over || l->latest || elapsed(l) - shown_ms > 100) {
      shown_ms = elapsed(l);
      *ret_stopped = !report(l);
    }
    *ret_stopped |= is_stopped(l) && !is_over;
    if (is_over || *ret_stopped)
      return TILE_OK;
    if (!any)
      wait(l);
  }
}

static void conclude(struct tune_loop *l, bool stopped, struct tune_result *ret) {
  uint32_t best = 0;
  tune_loop_mark_spills(l);
  bool has_best = tune_search_best(l->search, &best);
  if (has_best)
    tune_loop_part_spills(l, best);
  *ret = (struct tune_result){.trials = l->trials,
                              .count = l->space->count,
                              .has_best = has_best,
                              .best = best,
                              .reference = l->reference,
                              .device = l->device,
                              .copy_gbs = l->hooks->copy_gbs(l->worker),
                              .elapsed_ms = elapsed(l),
                              .bound_ms = has_best ? l->trials[best].prediction.bound_ms : 0,
                              .stopped = stopped,
                              .agreed = (uint32_t)l->agreed,
                              .disagreed = (uint32_t)l->disagreed};
}

static void prepare(struct tune_loop *l) {
  size_t n = l->space->count;
  l->items = arena_array(l->arena, struct tune_item, n + 1);
  l->trials = arena_array(l->arena, struct tune_trial, n + 1);
  for (uint32_t i = 0; i < n; i++)
    l->trials[i].config = i;
  l->by_hash_size = 2 * n + 1;
  l->by_hash = arena_array(l->arena, uint32_t, l->by_hash_size);
  struct tune_search_options search = {l->options->effort, l->options->candidates,
                                       l->options->seed};
  l->search = tune_search_create(l->arena, l->space, &search);
  l->began_ms = l->hooks->now_ms();
}

static tile_status run_loop_on(struct tune_loop *l, struct filling *f, int data_fd,
                               uint64_t data_bytes, struct tune_result *ret) {
  bool stopped = false;
  tile_status status = open_worker(l, data_fd, data_bytes);
  if (status != TILE_OK)
    return status;
  begin_fill(f);
  status = begin_early(l);
  if (status == TILE_OK)
    status = run_loop(l, f, &stopped);
  if (status == TILE_OK && !l->is_misled)
    conclude(l, stopped, ret);
  return status;
}

// When memory is out, also on the caller's arena, which its callbacks use, threads and the worker
// must end before returning: they use the caller's memory.
static tile_status run_guarded(struct tune_loop *l, struct arena *a, struct filling *f, int data_fd,
                               uint64_t data_bytes, struct tune_result *ret) {
  jmp_buf out_of_memory;
  jmp_buf *const before = arena_set_oom(a, &out_of_memory);
  tile_status status;
  if (setjmp(out_of_memory)) {
    status = status_set(TILE_OUT_OF_MEMORY, "out of memory for the tuning");
  } else {
    arena_set_oom(l->arena, &out_of_memory);
    prepare(l);
    status = run_loop_on(l, f, data_fd, data_bytes, ret);
  }
  if (l->worker)
    l->hooks->worker_close(l->worker);
  end_fill(f);
  if (l->builder)
    l->hooks->builder_close(l->builder);
  arena_set_oom(l->arena, NULL);
  arena_set_oom(a, before);
  return status;
}

struct kept_trials {
  struct arena *arena;
  struct tune_result *result;
};

// Copies the result, which outlives the tuning's own memory.
static void keep_trials(void *user) {
  struct tune_result *r = ((struct kept_trials *)user)->result;
  struct arena *a = ((struct kept_trials *)user)->arena;
  r->trials = arena_dup(a, r->trials, r->count * sizeof *r->trials, _Alignof(struct tune_trial));
  for (size_t i = 0; i < r->count; i++) {
    struct tune_trial *t = &r->trials[i];
    t->reason = t->reason ? arena_strdup(a, t->reason) : NULL;
    t->prediction.limiter = t->prediction.limiter ? arena_strdup(a, t->prediction.limiter) : NULL;
  }
}

tile_status tune_run_with(const struct tune_hooks *h, struct arena *a, const struct tune_problem *p,
                          const struct tune_space *s, const struct tune_options *o,
                          struct tune_journal *journal, tune_fill_fn fill, void *fill_user,
                          uint64_t data_bytes, struct tune_result *ret) {
  struct tune_loop l = {.hooks = h, .problem = p, .space = s, .options = o, .journal = journal};
  struct filling f = {.fill = fill, .user = fill_user};
  int fd = -1;
  uint64_t mapped = data_bytes ? data_bytes : 1;
  if (s->count == 0)
    return status_set(TILE_INVALID_ARGUMENT, "the space is empty");
  tile_status status = tune_data_create(mapped, &fd, &f.data);
  if (status != TILE_OK)
    return status;
  l.arena = arena_create();
  status = l.arena ? run_guarded(&l, a, &f, fd, mapped, ret)
                   : status_set(TILE_OUT_OF_MEMORY, "out of memory for the tuning");
  if (l.journal != journal)
    tune_journal_close(l.journal);
  munmap(f.data, mapped);
  close(fd);
  struct kept_trials kept = {a, ret};
  if (status == TILE_OK && !l.is_misled && !arena_guard(a, keep_trials, &kept))
    status = status_set(TILE_OUT_OF_MEMORY, "out of memory for the tuning");
  arena_destroy(l.arena);
  if (status == TILE_OK && l.is_misled) {
    struct tune_options again = *o;
    again.guess = NULL;
    return tune_run_with(h, a, p, s, &again, journal, fill, fill_user, data_bytes, ret);
  }
  return status;
}

// ---- the real ones ----

static int wait_on(struct pollfd *fds, unsigned long count, int timeout_ms) {
  int n = poll(fds, count, timeout_ms);
  return n < 0 && errno == EINTR ? 0 : n;
}

static const struct tune_hooks hooks = {.builder_open = tune_builder_open,
                                        .builder_device = tune_builder_device,
                                        .submit = tune_builder_submit,
                                        .built = tune_builder_next,
                                        .builder_fd = tune_builder_fd,
                                        .builder_close = tune_builder_close,
                                        .worker_open = tune_worker_open,
                                        .data_ready = tune_worker_data_ready,
                                        .load = tune_worker_load,
                                        .check = tune_worker_check,
                                        .measure = tune_worker_measure,
                                        .replied = tune_worker_next,
                                        .worker_fd = tune_worker_fd,
                                        .device = tune_worker_device,
                                        .worker_close = tune_worker_close,
                                        .copy_gbs = tune_worker_copy_gbs,
                                        .now_ms = clock_ms,
                                        .wait = wait_on};

tile_status tune_run(struct arena *a, const struct tune_problem *p, const struct tune_space *s,
                     const struct tune_options *o, struct tune_journal *journal, tune_fill_fn fill,
                     void *fill_user, uint64_t data_bytes, struct tune_result *ret) {
  return tune_run_with(&hooks, a, p, s, o, journal, fill, fill_user, data_bytes, ret);
}
