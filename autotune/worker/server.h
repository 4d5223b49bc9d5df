// SPDX-License-Identifier: Apache-2.0
// The worker's side, in parts: one thread reads frames (autotune/worker/request_reader.c), so that
// the parent's end is noticed whatever a kernel does; others handle candidates and requests
// (autotune/worker/handler.c); autotune/worker/server.c starts and ends them.
#ifndef TILE_AUTOTUNE_WORKER_SERVER_H
#define TILE_AUTOTUNE_WORKER_SERVER_H

#include "autotune/worker/protocol.h"

#include <pthread.h>

enum candidate_state { CANDIDATE_COMING, CANDIDATE_ASSEMBLED, CANDIDATE_LOADED, CANDIDATE_BAD };

struct candidate {
  uint32_t config;
  uint64_t load_id;
  enum candidate_state state;
  enum tune_outcome outcome; // of a failed one, with the reason
  char reason[256];
  struct arena *arena; // of info's parts
  char *code;          // malloc'ed; NULL once it is loaded
  size_t size;
  double assemble_ms;
  struct bench_candidate bench;
  struct candidate *next;
  struct candidate *next_to_assemble;
};

struct request {
  uint64_t id;
  uint32_t config;
  bool measures, is_reference;
  struct measure_plan plan;
  struct request *next;
};

struct server {
  int fd;
  const struct worker_hooks *hooks;
  struct bench bench;
  struct bench_problem problem;
  struct worker_page *page;
  char *data, *reference;
  int data_fd, shared_fd;
  size_t data_bytes;
  struct arena *arena; // of the problem; written by the reader, then by the device's thread
  pthread_mutex_t sending;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  // Guarded by `lock`:
  bool opened, ready, uploaded, ended, failed;
  struct candidate *candidates;
  struct candidate *to_assemble, **to_assemble_end;
  struct request *requests, **requests_end;
};

// ---- autotune/worker/request_reader.c ----
void *worker_read_frames(void *server);
void worker_candidate_free(struct candidate *c);

// ---- autotune/worker/handler.c ----
void worker_send_device(struct server *s);
void worker_send_copied(struct server *s, double gbs);
void worker_send_leaving(struct server *s); // running requests are not to blame for the end
void worker_send_failed(struct server *s, tile_status status); // with the thread's message
void worker_out_of_memory(struct server *s);                   // ends the tuning; allocates nothing
void *worker_assemble_all(void *server);
// Called by the device's thread, without the lock.
void worker_load(struct server *s, struct candidate *c);
void worker_upload(struct server *s);
void worker_finish_request_request(struct server *s, const struct request *q, struct candidate *c);

#endif
