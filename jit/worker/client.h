// SPDX-License-Identifier: Apache-2.0
// One compile worker: starts it, requests one kernel from it, and handles its end.
#ifndef TILE_JIT_WORKER_CLIENT_H
#define TILE_JIT_WORKER_CLIENT_H

#include "jit/worker/message.h"
#include "worker/process.h"

#define COMPILE_OPTION "--compile-worker" // of tile-worker; its argument is the socket's descriptor
// Exit status of a worker that ran out of memory where it cannot recover.
enum { COMPILE_EXIT_MEMORY = 12 };

struct compile_worker {
  struct compile_worker *next;
  pid_t pid;
  int fd;
  char *program;
  unsigned generation; // of the settings it was started with
  bool is_known;       // its first frame was valid
  struct frame_reader reader;
};

tile_status compile_worker_start(const char *program, unsigned generation,
                                 struct compile_worker **ret);
// Kills it.
void compile_worker_drop(struct compile_worker *w);
// Receives the worker's build, which must be this one; else the worker is dropped.
tile_status compile_worker_handshake(struct compile_worker *w);

// Limits of one compilation; 0: none.
struct compile_terms {
  double seconds;
  uint64_t bytes;
};

enum compile_outcome {
  COMPILE_DONE,     // the worker stays usable; `diag` says whether there is a result
  COMPILE_LAST,     // the same, but the worker must be dropped
  WORKER_DIED,      // `diag` has the reason; the worker is gone
  COMPILE_NO_MEMORY // this process is out of memory; the worker must be dropped
};
// As compile_pool_run, for a worker whose first frame was received.
enum compile_outcome compile_worker_run(struct compile_worker *w, const struct compile_terms *terms,
                                        struct arena *a, struct diag_engine *diag,
                                        const struct jit_job *q, struct span at,
                                        struct jit_reply *ret);

#endif
