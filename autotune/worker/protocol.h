// SPDX-License-Identifier: Apache-2.0
// Shared by both sides of the worker. The child inherits three files: the socket, the arrays' first
// contents (never written), and a page that survives the child, followed by the reference's
// results. Frames (worker/frames.h):
//
//   to the worker                               from it
//   open     device, arguments, tolerances      device    its properties | failed  status, message
//   ready    the data are filled                copied    GB/s of a copy; uploaded
//   load     id, config, info, grid + code      begin     id: the watchdog's time starts
//   check    id, config, reference              end       id, outcome, reason, figures
//   measure  id, config, plan                   leaving  no request is to blame for the end
#ifndef TILE_AUTOTUNE_WORKER_PROTOCOL_H
#define TILE_AUTOTUNE_WORKER_PROTOCOL_H

#include "autotune/worker/bench.h"
#include "worker/process.h"

#include <stdatomic.h>

#define WORKER_OPTION                                                                              \
  "--tune-worker" // of tilec and tile-worker; its argument is the socket's descriptor
enum { WORKER_FILES = 3 };

// The first page of the shared file; the reference's results follow.
#define WORKER_PAGE 4096
struct worker_page {
  _Atomic uint64_t at_fault; // the request of the thread that a signal ended; 0: unknown
  _Atomic uint32_t has_reference, has_copy_rate;
};

// ---- autotune/worker/thread.c ----
// Serves in a thread of this process; the files are duplicated.
struct worker_thread;
tile_status worker_thread_start(const int files[3], struct worker_thread **ret);
// After its socket was closed: waits for its end, at most so long, then detaches it.
void worker_thread_end(struct worker_thread *t, double wait_ms, char *ret, size_t size);

// ---- autotune/worker/server.c ----
// Handles requests until the other side closes. `at_work` (may be NULL) is called in each thread
// that begins a request, or ends one (0), so that a crash can be attributed; `on_end` (may be NULL)
// is called when the socket is closed while the device may be busy, and need not return. Returns
// whether the other side closed; else the device is unusable.
struct worker_hooks {
  void (*at_work)(uint64_t id);
  void (*on_end)(void);
};
bool worker_run_server(const int files[3], const struct worker_hooks *hooks);

#endif
