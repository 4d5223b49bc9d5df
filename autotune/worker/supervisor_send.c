// SPDX-License-Identifier: Apache-2.0
// Writes the supervisor's frames: code to load, requests to check and measure.
#include "autotune/worker/state.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>

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

// Inserts a load before `r`, for a new worker that lacks the code.
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

void worker_put_requests(struct tune_worker *w) {
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
