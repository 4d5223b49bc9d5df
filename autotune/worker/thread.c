// SPDX-License-Identifier: Apache-2.0
// The worker as a thread of this process, for programs without a worker program. It speaks the same
// protocol, but without isolation: a crash ends the program, and a hanging kernel cannot be ended;
// its thread is detached.
#include "autotune/worker/protocol.h"
#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct worker_thread {
  int files[3];
  pthread_mutex_t lock; // guards what follows
  pthread_cond_t over;
  bool is_over, is_left; // is_left: the thread frees this
};

static void thread_free(struct worker_thread *t) {
  for (int i = 0; i < 3; i++)
    if (t->files[i] >= 0)
      close(t->files[i]);
  pthread_cond_destroy(&t->over);
  pthread_mutex_destroy(&t->lock);
  free(t);
}

static void *run_server(void *user) {
  struct worker_thread *t = user;
  const struct worker_hooks none = {0};
  worker_run_server(t->files, &none);
  pthread_mutex_lock(&t->lock);
  t->is_over = true;
  bool is_left = t->is_left;
  pthread_cond_signal(&t->over);
  pthread_mutex_unlock(&t->lock);
  if (is_left)
    thread_free(t);
  return NULL;
}

static struct worker_thread *thread_new(const int files[3]) {
  struct worker_thread *t = memory_zeroed(1, sizeof *t);
  if (!t)
    return NULL;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->over, &monotonic);
  pthread_condattr_destroy(&monotonic);
  for (int i = 0; i < 3; i++)
    t->files[i] = fcntl(files[i], F_DUPFD_CLOEXEC, 0);
  return t;
}

tile_status worker_thread_start(const int files[3], struct worker_thread **ret) {
  struct worker_thread *t = thread_new(files);
  pthread_t thread;
  if (!t)
    return status_set(TILE_OUT_OF_MEMORY, "out of memory for a worker");
  bool has_files = t->files[0] >= 0 && t->files[1] >= 0 && t->files[2] >= 0;
  if (!has_files || pthread_create(&thread, NULL, run_server, t) != 0) {
    thread_free(t);
    return status_set(TILE_LIMIT, "no %s for a worker", has_files ? "thread" : "files");
  }
  pthread_detach(thread);
  *ret = t;
  return TILE_OK;
}

void worker_thread_end(struct worker_thread *t, double wait_ms, char *ret, size_t size) {
  const struct timespec until = clock_after(wait_ms);
  pthread_mutex_lock(&t->lock);
  while (!t->is_over && pthread_cond_timedwait(&t->over, &t->lock, &until) != ETIMEDOUT)
    continue;
  bool is_over = t->is_over;
  t->is_left = !is_over;
  pthread_mutex_unlock(&t->lock);
  snprintf(ret, size, is_over ? "ended" : "was left behind in a thread");
  if (is_over)
    thread_free(t);
}
