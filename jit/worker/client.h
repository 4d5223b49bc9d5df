// SPDX-License-Identifier: Apache-2.0
// One worker that compiles: starting it, asking it for one kernel, and what becomes of both.
#ifndef TILE_JIT_WORKER_CLIENT_H
#define TILE_JIT_WORKER_CLIENT_H

#include "jit/worker/message.h"
#include "worker/process.h"

#define COMPILE_OPTION "--compile-worker" // of tile-worker; takes the socket's number
// What a worker ends with when memory ran out where that is not survived.
enum { COMPILE_EXIT_MEMORY = 12 };

struct compile_worker {
  struct compile_worker *next;
  pid_t pid;
  int fd;
  char *program;
  unsigned generation; // of the settings that it was started with
  bool is_known;       // it has said who it is
  struct frame_reader reader;
};

tile_status compile_worker_start(const char *program, unsigned generation,
                                 struct compile_worker **ret);
// Kills it.
void compile_worker_drop(struct compile_worker *w);
// Hears of which build it is, which has to be this one. If not, it is dropped.
tile_status compile_worker_handshake(struct compile_worker *w);

// What a compilation may take; 0: no limit.
struct compile_terms {
  double seconds;
  uint64_t bytes;
};

enum compile_outcome {
  COMPILE_DONE,     // the worker may go on; `diag` says whether there is an answer
  COMPILE_LAST,     // the same, but it has to be dropped
  WORKER_DIED,      // `diag` says why; there is no worker any more
  COMPILE_NO_MEMORY // this process has none to speak with it; it has to be dropped
};
// As compile_pool_run, of one that has been met.
enum compile_outcome compile_worker_run(struct compile_worker *w, const struct compile_terms *terms,
                                        struct arena *a, struct diag_engine *diag,
                                        const struct jit_job *q, struct span at,
                                        struct jit_reply *ret);

#endif
