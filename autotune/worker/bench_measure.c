// SPDX-License-Identifier: Apache-2.0
// Timed launches: after a warm-up launch, launches until the time budget is spent, each after a
// flush of the L2 cache; fewer if the candidate is surely slower than the best so far.
#include "autotune/worker/bench.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

#define MAX_LAUNCHES 4096u
// A candidate is abandoned when this many launches, or one at twice the time, were all too slow.
#define SURE_LAUNCHES 3u

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct tune_sample tune_sample_of(double *ms, unsigned n) {
  qsort(ms, n, sizeof *ms, by_size);
  return (struct tune_sample){
      .median = ms[n / 2], .p20 = ms[n / 5], .p80 = ms[n - 1 - n / 5], .count = n};
}

static bool surely_slower(double fastest, unsigned n, double limit) {
  return limit > 0 && (fastest > 2 * limit || (n >= SURE_LAUNCHES && fastest > limit));
}

tile_status measure_run(const struct measure_plan *plan, const struct measure_hooks *hooks,
                        struct tune_sample *ret) {
  unsigned least = plan->least ? plan->least : 1, most = plan->most;
  most = most < least ? least : most > MAX_LAUNCHES ? MAX_LAUNCHES : most;
  double *ms = memory_alloc(most * sizeof *ms), start = hooks->now(hooks->user), fastest = 0, warm;
  if (!ms)
    return status_set(TILE_OUT_OF_MEMORY, "no room for %u times", most);
  tile_status s = hooks->once(hooks->user, &warm);
  unsigned n = 0;
  while (s == TILE_OK && n < most) {
    s = hooks->once(hooks->user, &ms[n]);
    if (s != TILE_OK)
      break;
    fastest = n == 0 || ms[n] < fastest ? ms[n] : fastest;
    n++;
    if (surely_slower(fastest, n, plan->give_up_ms) ||
        (n >= least && hooks->now(hooks->user) - start >= plan->budget_ms))
      break;
  }
  if (s == TILE_OK)
    *ret = tune_sample_of(ms, n);
  free(ms);
  return s;
}

struct timed {
  struct bench *b;
  struct bench_candidate *c;
};

static tile_status time_launch(void *user, double *ret_ms) {
  struct timed *t = user;
  struct bench *b = t->b;
  float ms = 0;
  tile_status s = bench_reset(b);
  if (s == TILE_OK)
    s = tile_memset(b->device, NULL, b->flush, 1, b->flush_bytes);
  if (s == TILE_OK)
    s = tile_event_record(b->device, b->start, NULL);
  if (s == TILE_OK)
    s = bench_launch(b, t->c);
  if (s == TILE_OK)
    s = tile_event_record(b->device, b->stop, NULL);
  if (s == TILE_OK)
    s = tile_event_elapsed(b->start, b->stop, &ms);
  *ret_ms = (double)ms;
  return s;
}

static double now(void *user) {
  (void)user;
  return clock_ms();
}

tile_status bench_measure(struct bench *b, struct bench_candidate *c,
                          const struct measure_plan *plan, struct tune_sample *ret) {
  struct timed t = {b, c};
  const struct measure_hooks hooks = {time_launch, now, &t};
  tile_status s = bench_restore(b); // contents left by earlier launches may be infinite
  return s == TILE_OK ? measure_run(plan, &hooks, ret) : s;
}
