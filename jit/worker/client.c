// SPDX-License-Identifier: Apache-2.0
// See jit/worker/client.h. The thread that needs a kernel talks to the worker itself: it waits for
// the reply anyway.
#include "jit/worker/client.h"

#include "base/clock.h"
#include "base/debug.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define START_LIMIT_MS 60000 // for a worker's first frame

// ---- starting and ending ----

static void worker_free(struct compile_worker *w) {
  frame_reader_finish(&w->reader);
  free(w->program);
  free(w);
}

tile_status compile_worker_start(const char *program, unsigned generation,
                                 struct compile_worker **ret) {
  struct compile_worker *w = memory_zeroed(1, sizeof *w);
  int pair[2];
  if (!w || !(w->program = memory_strdup(program))) {
    free(w);
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a worker");
  }
  w->generation = generation;
  tile_status s = worker_socket(pair);
  if (s == TILE_OK) {
    w->fd = pair[0];
    s = worker_spawn(program, COMPILE_OPTION, &pair[1], 1, &w->pid);
    close(pair[1]);
    if (s != TILE_OK)
      close(pair[0]);
  }
  if (s != TILE_OK) {
    worker_free(w);
    return s;
  }
  debug_log(DEBUG_LAUNCH, "compile worker %ld is %s", (long)w->pid, program);
  *ret = w;
  return TILE_OK;
}

// Returns its exit status, -1 without one; `how` it ended, in words.
static int worker_bury(struct compile_worker *w, bool is_to_be_killed, char *how, size_t size) {
  close(w->fd);
  int status = worker_reap(w->pid, is_to_be_killed, how, size);
  debug_log(DEBUG_LAUNCH, "compile worker %ld %s", (long)w->pid, how);
  worker_free(w);
  return status;
}

void compile_worker_drop(struct compile_worker *w) {
  char how[128];
  worker_bury(w, true, how, sizeof how);
}

// ---- the first frame ----

static tile_status of_another_build(const char *program, struct str version) {
  return status_set(TILE_INVALID_ARGUMENT,
                    "the worker `%s` is of another build than this library: `%.*s`, not `%s`\n"
                    "  = help: install `tile-worker` with the library that it belongs to",
                    program, STR_ARG(version), compiler_version());
}

// Receives its first frame, which has the worker's build.
static tile_status hear_version(struct compile_worker *w, struct arena *a, bool *ret_ended) {
  struct strbuf nothing = {0};
  struct frame f;
  double until = clock_ms() + START_LIMIT_MS;
  enum frame_status heard = worker_exchange(w->fd, &nothing, &w->reader, a, until, &f);
  *ret_ended = heard == FRAME_END;
  if (heard != FRAME_HERE || !frame_is(f.head, "compiler"))
    return TILE_INTERNAL;
  struct str version = frame_text(f.head, "version");
  w->is_known = str_is(version, compiler_version());
  return w->is_known ? TILE_OK : of_another_build(w->program, version);
}

struct introduction {
  struct compile_worker *worker;
  struct arena *a;
  tile_status status;
  bool has_ended;
};

static void introduce(void *user) {
  struct introduction *i = user;
  i->status = hear_version(i->worker, i->a, &i->has_ended);
}

// A worker without a valid first frame is ended.
tile_status compile_worker_handshake(struct compile_worker *w) {
  struct introduction i = {.worker = w, .a = arena_create()};
  char how[128], program[1024];
  bool is_done = i.a && arena_guard(i.a, introduce, &i);
  arena_destroy(i.a);
  if (is_done && i.status == TILE_OK)
    return TILE_OK;
  snprintf(program, sizeof program, "%s", w->program);
  int status = worker_bury(w, !i.has_ended, how, sizeof how);
  if (!is_done)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a worker");
  if (i.status != TILE_INTERNAL)
    return i.status;
  return status_set(status < 0 ? TILE_INTERNAL : TILE_INVALID_ARGUMENT,
                    "the worker `%s` did not say which compiler it is: it %s", program, how);
}

// ---- one compilation ----

struct job {
  struct arena *a;
  struct diag_engine *diag;
  const struct jit_job *q;
  struct compile_terms terms;
  struct compile_worker *worker;
  struct jit_reply *ret;
  struct strbuf out;
  enum frame_status heard;
  bool is_answered, is_out_of_memory, is_leaving;
  const char *fatal; // LLVM's fatal error, on `a`
};

static void put_question(struct job *j) {
  struct strbuf body = {0};
  struct frame_writer f;
  char folder[4096];
  // Paths in the request are relative to this process's working directory.
  wire_put_text(&body, getcwd(folder, sizeof folder));
  jit_job_put(j->q, &body);
  frame_begin(&f, "compile");
  json_key(&f.json, "memory"), json_int(&f.json, (int64_t)j->terms.bytes);
  frame_end(&f, (struct str){body.ptr, body.len}, &j->out);
  j->out.failed |= body.failed;
  strbuf_finish(&body);
}

// May run out of memory: called by arena_guard.
static void converse(void *user) {
  struct job *j = user;
  struct compile_worker *w = j->worker;
  struct frame f;
  double until = j->terms.seconds > 0 ? clock_ms() + j->terms.seconds * 1e3 : (double)INFINITY;
  put_question(j);
  for (;;) {
    j->heard = worker_exchange(w->fd, &j->out, &w->reader, j->a, until, &f);
    if (j->heard != FRAME_HERE)
      return;
    if (!frame_is(f.head, "fatal"))
      break;
    j->fatal = arena_strndup(j->a, f.bytes.ptr, f.bytes.len);
  }
  j->is_leaving = frame_int(f.head, "leaving", 0) != 0;
  j->is_out_of_memory = frame_int(f.head, "out_of_memory", 0) != 0;
  j->is_answered =
      j->is_out_of_memory || (frame_is(f.head, "compiled") &&
                              jit_reply_get(j->a, j->diag, j->q->request.source, f.bytes, j->ret));
}

static void report_time(struct job *j, struct span at) {
  diag_help(diag_error(j->diag, at, E0950,
                       "kernel `%s` takes more than %g seconds to compile, the limit of its worker",
                       j->q->request.kernel, j->terms.seconds),
            "raise `seconds` of tile_device_set_worker, or use smaller blocks and fewer unrolled "
            "loops");
}

static void report_memory(struct job *j, struct span at) {
  if (j->terms.bytes == 0)
    diag_error(j->diag, at, E0991, "out of memory");
  else
    diag_help(diag_error(j->diag, at, E0950,
                         "kernel `%s` takes more than %llu bytes to compile, the limit of its "
                         "worker",
                         j->q->request.kernel, (unsigned long long)j->terms.bytes),
              "raise `bytes` of tile_device_set_worker, or use smaller blocks and fewer unrolled "
              "loops");
}

static void report_death(struct job *j, struct span at, const char *how) {
  struct diag *d = diag_error(j->diag, at, E0990, "the process that compiled kernel `%s` %s",
                              j->q->request.kernel, how);
  if (j->fatal)
    diag_note(d, SPAN_NONE, "LLVM: %s", j->fatal);
}

// The worker ended, or sent an invalid frame.
static void conclude_without(struct job *j, struct span at) {
  char how[128];
  bool is_late = j->heard == FRAME_NONE;
  int status = worker_bury(j->worker, j->heard != FRAME_END, how, sizeof how);
  if (is_late)
    report_time(j, at);
  else if (status == COMPILE_EXIT_MEMORY)
    report_memory(j, at);
  else
    report_death(j, at, j->heard == FRAME_END ? how : "does not answer as it should");
}

enum compile_outcome compile_worker_run(struct compile_worker *w, const struct compile_terms *terms,
                                        struct arena *a, struct diag_engine *diag,
                                        const struct jit_job *q, struct span at,
                                        struct jit_reply *ret) {
  struct job j = {.a = a, .diag = diag, .q = q, .terms = *terms, .worker = w, .ret = ret};
  bool is_done = arena_guard(a, converse, &j) && !j.out.failed;
  strbuf_finish(&j.out);
  if (!is_done)
    return COMPILE_NO_MEMORY;
  if (!j.is_answered)
    conclude_without(&j, at);
  else if (j.is_out_of_memory)
    report_memory(&j, at);
  return !j.is_answered ? WORKER_DIED : j.is_leaving ? COMPILE_LAST : COMPILE_DONE;
}
