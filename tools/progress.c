// SPDX-License-Identifier: Apache-2.0
// A thread writes the line, so that stages need not be able to: compilations and kernels run
// undisturbed. It exists only where a line may be shown.
#include "tools/progress.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SILENT_MS 1000 // a stage that takes less shows nothing
#define STEP_MS 200

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t writer;
  bool has_writer, ends, is_verbose, is_shown;
  char what[96]; // empty: no stage
  unsigned done, of;
  double begin_ms;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

bool progress_is_shown(const struct tool *t) {
  const char *term = getenv("TERM");
  return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0 && !t->o.quiet;
}

static void erase(void) {
  if (state.is_shown)
    fputs("\r\033[K", stderr);
  state.is_shown = false;
}

static void show(double elapsed_ms) {
  fprintf(stderr, "\r\033[K%.60s", state.what);
  if (state.of)
    fprintf(stderr, "  %u/%u", state.done, state.of);
  fprintf(stderr, "  %.0f s", elapsed_ms * 1e-3);
  fflush(stderr);
  state.is_shown = true;
}

static void *write_lines(void *unused) {
  (void)unused;
  pthread_mutex_lock(&state.lock);
  while (!state.ends) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STEP_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&state.changed, &state.lock, &until);
    double elapsed = clock_ms() - state.begin_ms;
    if (!state.ends && state.what[0] && elapsed >= SILENT_MS)
      show(elapsed);
  }
  erase();
  pthread_mutex_unlock(&state.lock);
  return NULL;
}

// With the lock held.
static void end_stage(void) {
  erase();
  if (state.what[0] && state.is_verbose)
    fprintf(stderr, "tilec: %s: %.1f ms\n", state.what, clock_ms() - state.begin_ms);
  state.what[0] = 0;
}

void progress_stage(struct tool *t, const char *what) {
  pthread_mutex_lock(&state.lock);
  end_stage();
  state.is_verbose = t->o.verbose;
  state.done = state.of = 0;
  state.begin_ms = clock_ms();
  for (size_t i = 0; i + 1 < sizeof state.what && what[i]; i++) { // names come from outside
    state.what[i] = (unsigned char)what[i] < 0x20 || what[i] == 0x7f ? '?' : what[i];
    state.what[i + 1] = 0;
  }
  state.ends = false;
  if (!state.has_writer && progress_is_shown(t))
    state.has_writer = pthread_create(&state.writer, NULL, write_lines, NULL) == 0;
  pthread_mutex_unlock(&state.lock);
}

void progress_count(unsigned done, unsigned of) {
  pthread_mutex_lock(&state.lock);
  state.done = done, state.of = of;
  pthread_mutex_unlock(&state.lock);
}

void progress_end(void) {
  pthread_mutex_lock(&state.lock);
  end_stage();
  bool joins = state.has_writer;
  state.has_writer = false;
  state.ends = true;
  pthread_cond_signal(&state.changed);
  pthread_mutex_unlock(&state.lock);
  if (joins)
    pthread_join(state.writer, NULL);
}
