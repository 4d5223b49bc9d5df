// SPDX-License-Identifier: Apache-2.0
// The process that launches candidates, so that a crash, a hang or an illegal access costs one
// configuration. It is a fresh process (posix_spawn), never a fork of one that has used CUDA.
// Parent and worker exchange frames over a socket pair (worker/frames.h) and share the arrays in an
// anonymous file. This header is the parent's side; autotune/worker/main.c is the worker's.
#ifndef TILE_AUTOTUNE_WORKER_WORKER_H
#define TILE_AUTOTUNE_WORKER_WORKER_H

#include "autotune/tune_build.h"

// The worker's main, called by tilec (a hidden option). Returns the exit status.
int tune_worker_main(int argc, char **argv);
// The main of tile-worker, which is this worker or the compiler's (jit/worker/pool.h).
TILE_API int tile_worker_main(int argc, char **argv);

enum tune_outcome {
  TUNE_UNTRIED,
  TUNE_PRUNED,     // not compiled: reason
  TUNE_BAD_BUILD,  // the compiler or the driver rejected it
  TUNE_SAME_CODE,  // has another configuration's code, and its time
  TUNE_BAD_LAUNCH, // the launch failed (illegal address, ...), or the worker crashed
  TUNE_TIMEOUT,    // no reply before the deadline
  TUNE_WRONG,      // results differ from the reference's
  TUNE_SPILLS,     // measured, but it spills registers and others do not; set at the end
  TUNE_MEASURED
};
const char *tune_outcome_name(enum tune_outcome o); // "pruned", "timeout", ...

struct tune_sample { // milliseconds, of `count` launches, each after a flush of the L2 cache
  double median, p20, p80;
  unsigned count;
  unsigned rounds; // of the finals (finals.h); 0: one long measurement
};

struct tune_reply {
  uint32_t config;
  // TUNE_MEASURED: success; TUNE_UNTRIED: the worker is gone for good, or lacks what the request
  // needs, and no configuration is to blame.
  enum tune_outcome outcome;
  char reason[256];
  struct tune_sample sample; // of a measurement
  int registers, local_bytes;
  double load_ms, check_ms;
  double max_abs, max_rel; // against the reference
};

struct tune_worker;
struct tune_worker_options {
  const char *device; // "cuda", "cuda:1", "cpu"
  double timeout_ms;  // of one request, after which the worker is killed and restarted; 0: 10 s
  double rtol, atol;  // negative: by type
  // NULL: found (see worker/process.c), or a thread of this process, without isolation
  // (autotune/worker/thread.c).
  const char *program;
};
// Starts the worker and its device; returns at once. `data` has the arrays' first contents
// (tune_array.offset); `data_fd` is the file it is mapped from (tune_data_create).
tile_status tune_worker_open(const struct tune_worker_options *o, const struct tune_problem *p,
                             int data_fd, uint64_t data_bytes, struct tune_worker **ret);
// An anonymous file of that size, mapped. The caller unmaps and closes it.
tile_status tune_data_create(uint64_t bytes, int *ret_fd, void **ret_data);
void tune_worker_data_ready(struct tune_worker *w); // the arrays are filled and may be uploaded

// Requests are queued and answered in order, except loads, which run concurrently (the driver
// assembles PTX in several threads) and are answered when done. What `b` points to must stay valid
// until the worker is closed: it may be loaded again.
void tune_worker_load(struct tune_worker *w, const struct tune_built *b);
// One launch from the first contents. With is_reference its results become the reference; otherwise
// they are compared with it (or with `expected` of the arrays).
void tune_worker_check(struct tune_worker *w, uint32_t config, bool is_reference);
// Timed launches for about `budget_ms`, at least `least`, at most `most`; stops early once the
// median is surely above `give_up_ms` (0: never).
void tune_worker_measure(struct tune_worker *w, uint32_t config, double budget_ms, unsigned least,
                         unsigned most, double give_up_ms);
int tune_worker_fd(
    const struct tune_worker *w); // readable when a reply or news of the device is there
// The next reply, waiting up to `timeout_ms`. A crash or timeout of the worker is the reply of the
// request it worked on; the other requests are sent to the next worker. A failure is also the reply
// of the configuration's later requests. False: no reply yet, or the device became known.
bool tune_worker_next(struct tune_worker *w, int timeout_ms, struct tune_reply *ret);
// The device's properties, once the worker has opened it. False: not yet (*ret_status is TILE_OK),
// or it failed, with the thread's message; also when memory ran out later.
bool tune_worker_device(struct tune_worker *w, tile_device_properties *ret,
                        tile_status *ret_status);
double tune_worker_copy_gbs(struct tune_worker *w); // of a copy on the device; 0: unknown (yet)
unsigned tune_worker_restarts(struct tune_worker *w);
void tune_worker_close(struct tune_worker *w);

#endif
