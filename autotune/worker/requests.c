// SPDX-License-Identifier: Apache-2.0
// The requests of a worker until they are answered, shared by the caller's thread and the
// supervisor. Every function is called with the lock.
#include "autotune/worker/state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct worker_candidate *worker_candidate(struct tune_worker *w, uint32_t config) {
  return config < w->candidates.len ? w->candidates.at[config] : NULL;
}

uint64_t worker_next_id(struct tune_worker *w) { return ++w->last_id; }

void worker_notify(struct tune_worker *w) {
  if (!w->is_notified)
    w->is_notified = write(w->notify[1], "", 1) == 1;
  pthread_cond_broadcast(&w->news);
}

void worker_finish_request(struct tune_worker *w, struct worker_request *r,
                           const struct tune_reply *reply) {
  assert(w->requests);
  struct worker_request **at = &w->requests;
  while (*at != r)
    at = &(*at)->next;
  *at = r->next;
  if (r->is_own) {
    free(r);
    return;
  }
  r->reply = *reply;
  r->reply.config = r->config;
  r->next = NULL;
  *w->replies_end = r;
  w->replies_end = &r->next;
  worker_notify(w);
}

void worker_give_up(struct tune_worker *w, tile_status status, const char *message) {
  if (w->status != TILE_OK)
    return;
  w->status = status;
  snprintf(w->message, sizeof w->message, "%s", message);
  w->has_device_news = true;
  worker_notify(w);
}

void worker_fail_request(struct tune_worker *w, struct worker_request *r,
                         const struct tune_reply *reply) {
  struct worker_candidate *c = worker_candidate(w, r->config);
  if (c) {
    c->is_bad = true;
    c->outcome = reply->outcome;
    memcpy(c->reason, reply->reason, sizeof c->reason);
  }
  worker_finish_request(w, r, reply);
}
