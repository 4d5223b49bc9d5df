// SPDX-License-Identifier: Apache-2.0
// The supervisor thread of a worker: starts it, sends requests, reads replies. When the worker
// crashes, hangs or sends an invalid frame, it blames a request and starts another worker, which
// gets the code and the open requests again.
#include "autotune/worker/state.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/memory.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define START_LIMIT_MS 60000 // to open the device; to upload the arrays
#define MAX_DEATHS 3         // without a reply between them

// ---- ending ----

static void fail_all(struct tune_worker *w) {
  struct tune_reply r = {.outcome = TUNE_UNTRIED}; // no configuration is to blame
  snprintf(r.reason, sizeof r.reason, "%.*s", (int)strcspn(w->message, "\n"), w->message);
  while (w->requests)
    worker_finish_request(w, w->requests, &r);
}

// Releases the lock while it waits: a process that a GPU keeps busy takes long to end.
static void reap_worker(struct tune_worker *w, bool is_to_be_killed, bool is_late, char *how,
                        size_t size) {
  close(w->fd);
  w->fd = -1;
  pthread_mutex_unlock(&w->lock);
  if (w->server)
    worker_thread_end(w->server, is_late ? 0 : w->timeout_ms, how, size);
  else
    worker_reap(w->pid, is_to_be_killed, how, size);
  pthread_mutex_lock(&w->lock);
  debug_log(DEBUG_TUNE, "worker %u %s", w->starts, how);
  frame_reader_finish(&w->reader);
  strbuf_clear(&w->out);
  w->sent = 0;
}

// The request that the worker crashed in: the one recorded by the crashing thread, else the one
// that used the device, else a load that had begun.
static struct worker_request *request_at_fault(struct tune_worker *w) {
  uint64_t at_fault = atomic_exchange(&w->page->at_fault, 0);
  struct worker_request *load = NULL;
  for (struct worker_request *r = w->requests; r; r = r->next)
    if (at_fault && r->id == at_fault)
      return r;
  for (struct worker_request *r = w->requests; r; r = r->next) {
    if (r->begun && r->kind != REQUEST_LOAD)
      return r;
    if (r->begun && !load)
      load = r;
  }
  return load;
}

static void fail_with(struct tune_worker *w, struct worker_request *r, enum tune_outcome outcome,
                      const char *reason) {
  struct tune_reply reply = {.outcome = outcome};
  snprintf(reply.reason, sizeof reply.reason, "%s", reason);
  worker_fail_request(w, r, &reply);
}

// The open requests are for the next worker; own loads are repeated then.
static void requeue(struct tune_worker *w) {
  const struct tune_reply none = {0};
  for (struct worker_request *r = w->requests, *next; r; r = next) {
    next = r->next;
    r->sent = r->begun = false;
    if (r->is_own)
      worker_finish_request(w, r, &none);
  }
}

static void on_death(struct tune_worker *w, bool is_to_be_killed, struct worker_request *late) {
  char how[128], reason[256];
  reap_worker(w, is_to_be_killed, late != NULL, how, sizeof how);
  struct worker_request *r = late ? late : w->leaves ? NULL : request_at_fault(w);
  w->deaths++;
  if (late) {
    snprintf(reason, sizeof reason, "no answer in %.3g s", w->timeout_ms / 1000);
    fail_with(w, late, TUNE_TIMEOUT, reason);
  } else if (r) {
    snprintf(reason, sizeof reason, "the process that ran it %s", how);
    fail_with(w, r, r->kind == REQUEST_LOAD ? TUNE_BAD_BUILD : TUNE_BAD_LAUNCH, reason);
  }
  if (r)
    w->deaths = 0;
  requeue(w);
  if (w->deaths < MAX_DEATHS)
    return;
  snprintf(reason, sizeof reason, "the tuner's worker does not stay alive: it %s", how);
  worker_give_up(w, TILE_LAUNCH_FAILED, reason);
}

// ---- starting ----

static tile_status start(struct tune_worker *w) {
  int pair[2];
  tile_status s = worker_socket(pair);
  if (s != TILE_OK)
    return s;
  const int files[WORKER_FILES] = {pair[1], w->data_fd, w->shared_fd};
  s = w->program ? worker_spawn(w->program, WORKER_OPTION, files, WORKER_FILES, &w->pid)
                 : worker_thread_start(files, &w->server);
  close(pair[1]);
  if (s != TILE_OK) {
    close(pair[0]);
    return s;
  }
  w->fd = pair[0];
  w->starts++;
  w->started_at = clock_ms();
  debug_log(DEBUG_TUNE, "worker %u is %s", w->starts, w->program ? w->program : "a thread");
  w->opened = w->ready_sent = w->uploaded = w->leaves = false;
  strbuf_put(&w->out, w->hello.ptr, w->hello.len);
  return TILE_OK;
}

// ---- sending ----

// ---- receiving ----

// ---- the watchdog ----

static double limit_of(const struct tune_worker *w, const struct worker_request *r) {
  return r->begun_at + w->timeout_ms + (r->kind == REQUEST_MEASURE ? r->plan.budget_ms : 0);
}

// The first deadline; *ret_late: the request it belongs to, NULL: the worker as a whole.
static double deadline(struct tune_worker *w, struct worker_request **ret_late) {
  double first = (double)INFINITY;
  *ret_late = NULL;
  if (!w->opened)
    first = w->started_at + START_LIMIT_MS;
  else if (w->ready_sent && !w->uploaded)
    first = w->ready_at + START_LIMIT_MS;
  for (struct worker_request *r = w->requests; r; r = r->next)
    if (r->begun && limit_of(w, r) < first) {
      first = limit_of(w, r);
      *ret_late = r;
    }
  return first;
}

// Waits, without the lock, for the caller, the worker or a deadline.
static void wait_for_any(struct tune_worker *w, double until, bool *ret_readable) {
  bool has_output = w->out.len > w->sent;
  struct pollfd fds[2] = {
      {w->wake[0], POLLIN, 0},
      {w->fd, (short)(POLLIN | (has_output ? POLLOUT : 0)), 0},
  };
  double left = until - clock_ms();
  int timeout = w->fd < 0 || !isfinite(left) ? -1
                : left < 0                   ? 0
                : left > 1e6                 ? 1000000
                                             : (int)left + 1;
  pthread_mutex_unlock(&w->lock);
  int ready = poll(fds, w->fd < 0 ? 1 : 2, timeout);
  pthread_mutex_lock(&w->lock);
  *ret_readable = ready > 0 && (fds[1].revents & (POLLIN | POLLHUP | POLLERR));
  char bytes[64];
  while (read(w->wake[0], bytes, sizeof bytes) > 0)
    continue;
}

// Ends a worker that is not replaced.
static void finish(struct tune_worker *w) {
  char how[128];
  if (w->fd >= 0)
    reap_worker(w, true, false, how, sizeof how);
  fail_all(w);
}

static void step(struct tune_worker *w) {
  struct worker_request *late = NULL;
  bool readable = false;
  if (w->status == TILE_OK && w->fd < 0) {
    tile_status s = start(w);
    if (s != TILE_OK)
      worker_give_up(w, s, tile_error_message());
  }
  if (w->status != TILE_OK) {
    finish(w);
    wait_for_any(w, (double)INFINITY, &readable);
    return;
  }
  worker_put_requests(w);
  if (frame_send(w->fd, &w->out, &w->sent) == FRAME_BAD) { // a closed socket shows when reading
    worker_give_up(w, TILE_OUT_OF_MEMORY,
                   "out of memory for what the tuner's worker has to be told");
    return;
  }
  wait_for_any(w, deadline(w, &late), &readable);
  // Frames that have arrived count even if the deadline has passed: this process may have been
  // stopped.
  if (readable && !worker_receive(w))
    on_death(w, true, NULL);
  else if (w->status == TILE_OK && clock_ms() > deadline(w, &late))
    on_death(w, true, late);
}

void *worker_supervise(void *worker) {
  struct tune_worker *w = worker;
  pthread_mutex_lock(&w->lock);
  while (!w->is_closing)
    step(w);
  finish(w);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}
