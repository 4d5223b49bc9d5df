// SPDX-License-Identifier: Apache-2.0
// The thread that keeps a worker: starts it, sends what was not sent to it, takes its frames, and
// when it dies, hangs or talks nonsense, finds whose fault that was and starts another one, which
// gets the code and the requests that are still open.
#include "autotune/worker/state.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/memory.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define START_LIMIT_MS 60000 // to open the device; to take the arrays
#define MAX_DEATHS 3         // without an answer between them

// ---- ending ----

void worker_give_up(struct tune_worker *w, tile_status status, const char *message) {
  if (w->status != TILE_OK)
    return;
  w->status = status;
  snprintf(w->message, sizeof w->message, "%s", message);
  w->has_device_news = true;
  worker_notify(w);
}

static void fail_all(struct tune_worker *w) {
  struct tune_reply r = {.outcome = TUNE_UNTRIED}; // no configuration is to fail_with
  snprintf(r.reason, sizeof r.reason, "%.*s", (int)strcspn(w->message, "\n"), w->message);
  while (w->requests)
    worker_finish_request(w, w->requests, &r);
}

// Without the lock while it waits: the end of a process that a GPU keeps busy takes its time.
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

// The request that the worker died of: the one whose thread says so, else the one that had the
// device, else a load that had begun.
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

// The answer of a request that failed is that of its configuration's later ones.
static void fail_request(struct tune_worker *w, struct worker_request *r,
                         const struct tune_reply *reply) {
  struct worker_candidate *c = worker_candidate(w, r->config);
  if (c) {
    c->is_bad = true;
    c->outcome = reply->outcome;
    memcpy(c->reason, reply->reason, sizeof c->reason);
  }
  worker_finish_request(w, r, reply);
}

static void fail_with(struct tune_worker *w, struct worker_request *r, enum tune_outcome outcome,
                      const char *reason) {
  struct tune_reply reply = {.outcome = outcome};
  snprintf(reply.reason, sizeof reply.reason, "%s", reason);
  fail_request(w, r, &reply);
}

// What is left is for the next worker; its own loads are made anew.
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

static void put_load(struct tune_worker *w, struct worker_request *r, struct worker_candidate *c) {
  struct frame_writer f;
  frame_begin(&f, "load");
  json_key(&f.json, "id"), json_int(&f.json, (int64_t)r->id);
  json_key(&f.json, "config"), json_int(&f.json, r->config);
  json_key(&f.json, "info"), kernel_info_write(&c->built.info, &f.json);
  json_key(&f.json, "grid");
  json_begin_array(&f.json);
  json_int(&f.json, c->built.grid.x);
  json_int(&f.json, c->built.grid.y);
  json_int(&f.json, c->built.grid.z);
  json_end_array(&f.json);
  frame_end(&f, c->built.code, &w->out);
  c->loaded_in = w->starts;
  r->sent = true;
}

static void put_request(struct tune_worker *w, struct worker_request *r) {
  struct frame_writer f;
  frame_begin(&f, r->kind == REQUEST_CHECK ? "check" : "measure");
  json_key(&f.json, "id"), json_int(&f.json, (int64_t)r->id);
  json_key(&f.json, "config"), json_int(&f.json, r->config);
  json_key(&f.json, "reference"), json_int(&f.json, r->is_reference);
  json_key(&f.json, "budget_ms"), json_double(&f.json, r->plan.budget_ms);
  json_key(&f.json, "give_up_ms"), json_double(&f.json, r->plan.give_up_ms);
  json_key(&f.json, "least"), json_int(&f.json, r->plan.least);
  json_key(&f.json, "most"), json_int(&f.json, r->plan.most);
  frame_end(&f, (struct str){0}, &w->out);
  r->sent = true;
}

// Loads the code again in front of `r`, for a worker that does not have it.
static bool put_own_load(struct tune_worker *w, struct worker_request *r,
                         struct worker_candidate *c) {
  struct worker_request *own = memory_zeroed(1, sizeof *own), **at = &w->requests;
  if (!own) {
    worker_give_up(w, TILE_OUT_OF_MEMORY, "out of memory for the requests to the tuner's worker");
    return false;
  }
  while (*at != r)
    at = &(*at)->next;
  *own = (struct worker_request){.id = worker_next_id(w),
                                 .kind = REQUEST_LOAD,
                                 .config = r->config,
                                 .is_own = true,
                                 .next = r};
  *at = own;
  put_load(w, own, c);
  return true;
}

static void put(struct tune_worker *w, struct worker_request *r) {
  struct worker_candidate *c = worker_candidate(w, r->config);
  struct tune_reply reply = {.outcome = TUNE_UNTRIED};
  if (c && !c->is_bad && r->kind == REQUEST_LOAD) {
    put_load(w, r, c);
  } else if (c && !c->is_bad) {
    if (c->loaded_in == w->starts || put_own_load(w, r, c))
      put_request(w, r);
  } else {
    snprintf(reply.reason, sizeof reply.reason, "%s", c ? c->reason : "it was not loaded");
    reply.outcome = c ? c->outcome : TUNE_UNTRIED;
    worker_finish_request(w, r, &reply);
  }
}

static void put_all(struct tune_worker *w) {
  if (w->is_ready && !w->ready_sent) {
    struct frame_writer f;
    frame_begin(&f, "ready");
    frame_end(&f, (struct str){0}, &w->out);
    w->ready_sent = true;
    w->ready_at = clock_ms();
  }
  for (struct worker_request *r = w->requests, *next; r; r = next) {
    next = r->next;
    if (!r->sent)
      put(w, r);
  }
}

// ---- receiving ----

static struct worker_request *find(struct tune_worker *w, const struct json *head) {
  uint64_t id = (uint64_t)frame_int(head, "id", 0);
  struct worker_request *r = w->requests;
  while (r && r->id != id)
    r = r->next;
  return r;
}

static void copy_text(char *to, size_t size, struct str text) {
  snprintf(to, size, "%.*s", (int)(text.len < size ? text.len : size - 1), text.ptr);
}

static void take_device(struct tune_worker *w, const struct json *head) {
  tile_device_properties *d = &w->device;
  *d = (tile_device_properties){0};
  copy_text(d->name, sizeof d->name, frame_text(head, "name"));
  copy_text(d->target, sizeof d->target, frame_text(head, "target"));
  d->is_cpu = (int)frame_int(head, "is_cpu", 0);
  d->multiprocessors = (int)frame_int(head, "multiprocessors", 0);
  d->driver_version = (int)frame_int(head, "driver_version", 0);
  d->memory = (size_t)frame_int(head, "memory", 0);
  d->l2_bytes = (size_t)frame_int(head, "l2_bytes", 0);
  d->shared_limit = (size_t)frame_int(head, "shared_limit", 0);
  d->memory_gbs = frame_double(head, "memory_gbs", 0);
  w->opened = true;
  if (!w->has_device) {
    w->has_device = w->has_device_news = true;
    worker_notify(w);
  }
}

static void take_end(struct tune_worker *w, struct worker_request *r, const struct json *head) {
  int64_t outcome = frame_int(head, "outcome", TUNE_BAD_LAUNCH);
  struct tune_reply reply = {
      .outcome = outcome >= TUNE_UNTRIED && outcome <= TUNE_MEASURED ? (enum tune_outcome)outcome
                                                                     : TUNE_BAD_LAUNCH,
      .sample = {frame_double(head, "median", 0), frame_double(head, "p20", 0),
                 frame_double(head, "p80", 0), (unsigned)frame_int(head, "count", 0)},
      .registers = (int)frame_int(head, "registers", 0),
      .local_bytes = (int)frame_int(head, "local_bytes", 0),
      .load_ms = frame_double(head, "load_ms", 0),
      .check_ms = frame_double(head, "check_ms", 0),
      .max_abs = frame_double(head, "max_abs", (double)INFINITY), // which JSON cannot say
      .max_rel = frame_double(head, "max_rel", (double)INFINITY),
  };
  copy_text(reply.reason, sizeof reply.reason, frame_text(head, "reason"));
  w->deaths = 0;
  if (reply.outcome == TUNE_MEASURED || reply.outcome == TUNE_UNTRIED)
    worker_finish_request(w, r, &reply);
  else
    fail_request(w, r, &reply);
}

static bool take(struct tune_worker *w, const struct frame *f) {
  struct worker_request *r = find(w, f->head);
  if (frame_is(f->head, "device")) {
    take_device(w, f->head);
  } else if (frame_is(f->head, "uploaded")) {
    w->uploaded = true;
  } else if (frame_is(f->head, "leaving")) {
    w->leaves = true;
  } else if (frame_is(f->head, "copied")) {
    w->copy_gbs = frame_double(f->head, "gbs", 0);
  } else if (frame_is(f->head, "failed")) {
    char message[512];
    copy_text(message, sizeof message, frame_text(f->head, "message"));
    int64_t status = frame_int(f->head, "status", TILE_INTERNAL);
    bool known = status > TILE_OK && status <= TILE_INTERNAL;
    worker_give_up(w, known ? (tile_status)status : TILE_INTERNAL, message);
  } else if (r && r->sent && frame_is(f->head, "begin")) {
    r->begun = true;
    r->begun_at = clock_ms();
  } else if (r && r->sent && frame_is(f->head, "end")) {
    take_end(w, r, f->head);
  } else {
    return false;
  }
  return true;
}

static bool take_all(struct tune_worker *w) {
  struct frame f;
  enum frame_status one = FRAME_NONE;
  while (w->status == TILE_OK && (one = frame_next(&w->reader, w->heads, &f)) == FRAME_HERE)
    if (!take(w, &f))
      return false;
  return one != FRAME_BAD;
}

struct hearing {
  struct tune_worker *w;
  bool is_good;
};

static void hear(void *user) {
  struct hearing *h = user;
  h->is_good = take_all(h->w);
}

// False: the worker is gone, or not itself any more.
static bool receive(struct tune_worker *w) {
  enum frame_status status = frame_fill(&w->reader, w->fd);
  struct arena_mark mark = arena_mark(w->heads);
  struct hearing h = {.w = w};
  bool has_memory = status != FRAME_BAD && arena_guard(w->heads, hear, &h);
  arena_release(w->heads, mark);
  if (!has_memory)
    worker_give_up(w, TILE_OUT_OF_MEMORY, "out of memory for what the tuner's worker says");
  return !has_memory || (h.is_good && (status == FRAME_HERE || status == FRAME_NONE));
}

// ---- the watchdog ----

static double limit_of(const struct tune_worker *w, const struct worker_request *r) {
  return r->begun_at + w->timeout_ms + (r->kind == REQUEST_MEASURE ? r->plan.budget_ms : 0);
}

// When the first limit is reached; *ret_late: by whom, NULL: by the worker as a whole.
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

// Waits for the caller, the worker or a deadline; without the lock.
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

// Of a worker that will not be replaced.
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
  put_all(w);
  if (frame_send(w->fd, &w->out, &w->sent) == FRAME_BAD) { // an end shows when reading
    worker_give_up(w, TILE_OUT_OF_MEMORY,
                   "out of memory for what the tuner's worker has to be told");
    return;
  }
  wait_for_any(w, deadline(w, &late), &readable);
  // First what the worker had said, whatever the clock: this process may have been stopped.
  if (readable && !receive(w))
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
