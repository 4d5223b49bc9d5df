// SPDX-License-Identifier: Apache-2.0
// The worker's side: handles one request after the other until the parent closes the socket. A
// crash of the compiler ends this process only, which is the purpose.
#include "jit/worker/client.h"
#include "jit/worker/pool.h"
#include "worker/child.h"

#include <llvm-c/ErrorHandling.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int to_parent; // handlers take no argument

// ---- the end of the process ----

// Counts failed allocations, even those that LLVM or MLIR do not survive.
static void note_fault(void) {
  if (errno == ENOMEM)
    _exit(COMPILE_EXIT_MEMORY);
}

static void send_kind(int fd, const char *kind, const char *key, const char *value,
                      struct str bytes) {
  struct strbuf out = {0};
  struct frame_writer f;
  size_t sent = 0;
  frame_begin(&f, kind);
  if (key)
    json_key(&f.json, key), json_cstring(&f.json, value);
  frame_end(&f, bytes, &out);
  (void)frame_send(fd, &out, &sent); // a closed socket shows when reading
  strbuf_finish(&out);
}

static void on_llvm_fatal_error(const char *reason) {
  send_kind(to_parent, "fatal", NULL, NULL, str_from(reason));
  abort();
}

// ---- memory ----

// Bytes of data memory of this process.
static uint64_t data_bytes(void) {
  unsigned long long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
    pages = 0;
  if (f)
    fclose(f);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct memory {
  uint64_t own, allowed; // before the first request; allowed beyond that, 0: no limit
};

static void allow(struct memory *m, uint64_t bytes) {
  struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};
  m->allowed = bytes;
  getrlimit(RLIMIT_DATA, &r);
  r.rlim_cur = bytes && bytes < r.rlim_max - m->own ? m->own + bytes : r.rlim_max;
  setrlimit(RLIMIT_DATA, &r);
}

// Memory that earlier compilations leaked must not count against later ones.
static bool has_grown(const struct memory *m) {
  return m->allowed && data_bytes() > m->own + m->allowed / 4;
}

// ---- questions ----

struct work {
  struct arena *a;
  struct str bytes;
  struct memory *memory;
  struct strbuf body;
  bool is_good;
};

static void compile_job(void *user) {
  struct work *t = user;
  struct wire_reader r = {.rest = t->bytes};
  const char *folder = wire_get_text(&r, t->a);
  struct jit_job q;
  struct jit_reply made = {0};
  if (r.failed || !jit_job_get(t->a, r.rest, &q))
    return;
  if (folder && chdir(folder) != 0) // relative names then count as missing
    folder = NULL;
  struct diag_engine *diag = diag_engine_create(t->a);
  errno = 0;
  jit_reply_make(t->a, diag, &q, &made);
  if (diag_first_error_code(diag) == E0991)
    arena_raise(t->a);
  jit_reply_put(&made, diag, q.request.source, &t->body);
  t->is_good = true;
}

// Sends the reply. False: the request is invalid, or the parent is gone.
static bool handle_job(int fd, struct work *t) {
  bool is_done = arena_guard(t->a, compile_job, t) && !t->body.failed;
  bool leaves = !is_done || has_grown(t->memory);
  struct strbuf out = {0};
  struct frame_writer f;
  size_t sent = 0;
  if (is_done && !t->is_good)
    return false;
  frame_begin(&f, "compiled");
  json_key(&f.json, "out_of_memory"), json_int(&f.json, !is_done);
  json_key(&f.json, "leaving"), json_int(&f.json, leaves);
  frame_end(&f, is_done ? (struct str){t->body.ptr, t->body.len} : (struct str){"", 0}, &out);
  bool is_sent = frame_send(fd, &out, &sent) == FRAME_HERE;
  strbuf_finish(&out);
  return is_sent && !leaves;
}

// A frame from the parent, on its request's arena.
struct message {
  int fd;
  struct frame_reader *reader;
  struct arena *a;
  struct frame frame;
  bool is_job;
};

static void receive(void *user) {
  struct message *h = user;
  struct strbuf nothing = {0};
  h->is_job = worker_exchange(h->fd, &nothing, h->reader, h->a, (double)INFINITY, &h->frame) ==
                  FRAME_HERE &&
              frame_is(h->frame.head, "compile");
}

static bool receive_and_handle(int fd, struct frame_reader *reader, struct memory *memory) {
  struct arena *a = arena_create();
  if (!a)
    return false;
  struct message h = {.fd = fd, .reader = reader, .a = a};
  struct work t = {.a = a, .memory = memory};
  bool goes_on = arena_guard(a, receive, &h) && h.is_job;
  if (goes_on) {
    allow(memory, (uint64_t)frame_int(h.frame.head, "memory", 0));
    t.bytes = h.frame.bytes;
    goes_on = handle_job(fd, &t);
  }
  strbuf_finish(&t.body);
  arena_destroy(a);
  return goes_on;
}

int compile_worker_main(int argc, char **argv) {
  struct frame_reader reader = {0};
  to_parent = worker_started(argc, argv, COMPILE_OPTION);
  if (to_parent < 0)
    return 2;
  worker_begin(note_fault);
  LLVMInstallFatalErrorHandler(on_llvm_fatal_error);
  if (!worker_ends_with(to_parent))
    return 1;
  send_kind(to_parent, "compiler", "version", compiler_version(), (struct str){"", 0});
  struct memory memory = {.own = data_bytes()};
  while (receive_and_handle(to_parent, &reader, &memory))
    continue;
  _exit(0); // skips exit handlers: no state needs saving
}
