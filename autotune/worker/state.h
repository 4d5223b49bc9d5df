// SPDX-License-Identifier: Apache-2.0
// The tuner's side of the worker: requests until they are answered, and the supervisor thread.
// Shared by the calls (worker.c), the requests (requests.c) and the supervisor (supervisor.c,
// supervisor_send.c, supervisor_receive.c).
#ifndef TILE_AUTOTUNE_WORKER_STATE_H
#define TILE_AUTOTUNE_WORKER_STATE_H

#include "autotune/worker/protocol.h"

#include <pthread.h>

enum request_kind { REQUEST_LOAD, REQUEST_CHECK, REQUEST_MEASURE };

struct worker_request {
  uint64_t id; // from 1 on
  enum request_kind kind;
  uint32_t config;
  bool is_reference, is_own; // own: a repeated load for a new worker, without a reply to the caller
  struct measure_plan plan;
  bool sent, begun;
  double begun_at;
  struct tune_reply reply; // once it is answered
  struct worker_request *next;
};

struct worker_candidate {
  struct tune_built built;
  unsigned loaded_in; // number of the worker start that got its load; 0: none
  bool is_bad;        // its later requests get this outcome
  enum tune_outcome outcome;
  char reason[256];
};

struct tune_worker {
  char *program; // NULL: none, a thread of this process is the worker
  double timeout_ms;
  struct strbuf hello; // the open frame
  int data_fd, shared_fd;
  struct worker_page *page;
  int wake[2];   // wakes the supervisor
  int notify[2]; // readable when the caller has a reply or news
  pthread_t thread;
  bool has_thread;

  pthread_mutex_t lock; // guards what follows
  pthread_cond_t news;
  struct arena *arena;                       // candidates
  VEC(struct worker_candidate *) candidates; // by configuration; NULL: not given
  struct worker_request *requests;           // unanswered, in order
  uint64_t last_id;
  struct worker_request *replies, **replies_end; // answered, not taken
  bool is_closing, is_ready, has_device, has_device_news, is_notified;
  tile_device_properties device;
  double copy_gbs;
  tile_status status; // not TILE_OK: no further worker is started
  char message[512];

  // The running worker; used by the supervisor only:
  int fd; // -1: none
  pid_t pid;
  struct worker_thread *server; // instead of a process
  unsigned starts, deaths;      // deaths: since the last answer
  double started_at, ready_at;
  bool opened, ready_sent, uploaded, leaves;
  struct frame_reader reader;
  struct arena *heads;
  struct strbuf out;
  size_t sent;
};

// ---- autotune/worker/requests.c; with the lock ----
struct worker_candidate *worker_candidate(struct tune_worker *w,
                                          uint32_t config); // NULL: not given
// Stores the reply for the caller; an own request is freed.
void worker_finish_request(struct tune_worker *w, struct worker_request *r,
                           const struct tune_reply *reply);
void worker_notify(struct tune_worker *w);
uint64_t worker_next_id(struct tune_worker *w);
// Finishes a failed request; later requests of its configuration get the same reply.
void worker_fail_request(struct tune_worker *w, struct worker_request *r,
                         const struct tune_reply *reply);
// No further worker is started. The first reason counts.
void worker_give_up(struct tune_worker *w, tile_status status, const char *message);

// ---- autotune/worker/supervisor_send.c; with the lock ----
// Writes the requests that were not sent into w->out.
void worker_put_requests(struct tune_worker *w);

// ---- autotune/worker/supervisor_receive.c; with the lock ----
// False: the worker is gone, or sent an invalid frame.
bool worker_receive(struct tune_worker *w);

// ---- autotune/worker/supervisor.c ----
void *worker_supervise(void *worker);

#endif
