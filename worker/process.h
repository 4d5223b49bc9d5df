// SPDX-License-Identifier: Apache-2.0
// Workers: processes of the program that do what may crash, hang or take all memory. The tuner
// launches candidates in one (autotune/worker/), the compiler runs in others where a program asks
// for it (jit/worker/). A worker is a fresh process (posix_spawn), never a fork of one that has
// used CUDA, and goes when its socket is closed. This is the side of who starts it; worker/child.h
// is the other.
#ifndef TILE_WORKER_PROCESS_H
#define TILE_WORKER_PROCESS_H

#include "runtime/runtime_internal.h"
#include "worker/frames.h"

#include <sys/types.h>

// A worker finds its files from here on, the first of them its end of the socket.
enum { WORKER_FIRST_FILE = 3, WORKER_MAX_FILES = 4 };

// The program to run: `given`, or one that is looked for. malloc'ed.
tile_status worker_find_program(const char *given, char **ret);
// Two ends; the first, for this side, does not block. Both have close-on-exec set.
tile_status worker_socket(int ret[2]);
// Starts `program option 3` with those files as file descriptors 3, 4, .... The files have
// close-on-exec set.
tile_status worker_spawn(const char *program, const char *option, const int *files, size_t count,
                         pid_t *ret);
// Waits for its end, killing it first. In words: "was killed by SIGSEGV ...". Returns the exit
// status, -1 when there is none.
int worker_reap(pid_t pid, bool is_to_be_killed, char *ret, size_t size);

// For who has one question at a time: sends `out`, then waits for a frame. FRAME_NONE: none came
// until that moment of clock_ms (infinity: no such moment).
enum frame_status worker_hear(int fd, struct strbuf *out, struct frame_reader *reader,
                              struct arena *a, double until, struct frame *ret);
// Of one that was asked nothing: has it ended, or said something all the same?
bool worker_is_gone(int fd);

#endif
