// SPDX-License-Identifier: Apache-2.0
// Workers: processes of the program for work that may crash, hang or exhaust memory. The tuner
// launches candidates in one (autotune/worker/); the compiler runs in others if a program enables
// it (jit/worker/). A worker is a fresh process (posix_spawn), never a fork of a process that has
// used CUDA, and exits when its socket is closed. This is the parent's side; worker/child.h is the
// worker's.
#ifndef TILE_WORKER_PROCESS_H
#define TILE_WORKER_PROCESS_H

#include "runtime/runtime_internal.h"
#include "worker/frames.h"

#include <sys/types.h>

// The worker's first descriptor: its end of the socket; further files follow.
enum { WORKER_FIRST_FILE = 3, WORKER_MAX_FILES = 4 };

// The program to run: `given`, or the one found. malloc'ed.
tile_status worker_find_program(const char *given, char **ret);
// A socket pair; the first end, for the parent, does not block. Both are close-on-exec.
tile_status worker_socket(int ret[2]);
// Starts `program option 3` with those files as descriptors 3, 4, .... The files are close-on-exec.
tile_status worker_spawn(const char *program, const char *option, const int *files, size_t count,
                         pid_t *ret);
// Kills the worker (if asked to) and waits for its end, described in words: "was killed by SIGSEGV
// ...". Returns the exit status, -1 when there is none.
int worker_reap(pid_t pid, bool is_to_be_killed, char *ret, size_t size);

// For one request at a time: sends `out`, then waits for a frame. FRAME_NONE: none arrived before
// that time of clock_ms (infinity: no limit).
enum frame_status worker_exchange(int fd, struct strbuf *out, struct frame_reader *reader,
                                  struct arena *a, double until, struct frame *ret);
// Whether an idle worker has ended, or sent something unexpected.
bool worker_is_gone(int fd);

#endif
