// SPDX-License-Identifier: Apache-2.0
// Reads the frames of the worker process: its device, beginnings and results of requests.
#include "autotune/worker/state.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>

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
      .max_abs =
          frame_double(head, "max_abs", (double)INFINITY), // infinity is not representable in JSON
      .max_rel = frame_double(head, "max_rel", (double)INFINITY),
  };
  copy_text(reply.reason, sizeof reply.reason, frame_text(head, "reason"));
  w->deaths = 0;
  if (reply.outcome == TUNE_MEASURED || reply.outcome == TUNE_UNTRIED)
    worker_finish_request(w, r, &reply);
  else
    worker_fail_request(w, r, &reply);
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

struct receiving {
  struct tune_worker *w;
  bool is_good;
};

static void receive(void *user) {
  struct receiving *h = user;
  h->is_good = take_all(h->w);
}

bool worker_receive(struct tune_worker *w) {
  enum frame_status status = frame_fill(&w->reader, w->fd);
  struct arena_mark mark = arena_mark(w->heads);
  struct receiving h = {.w = w};
  bool has_memory = status != FRAME_BAD && arena_guard(w->heads, receive, &h);
  arena_release(w->heads, mark);
  if (!has_memory)
    worker_give_up(w, TILE_OUT_OF_MEMORY, "out of memory for what the tuner's worker sent");
  return !has_memory || (h.is_good && (status == FRAME_HERE || status == FRAME_NONE));
}
