// SPDX-License-Identifier: Apache-2.0
// A monotonic clock.
#ifndef TILE_BASE_CLOCK_H
#define TILE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

// Milliseconds since a fixed point in time; monotonic. Thread-safe.
static inline double clock_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// The time that many milliseconds from now, for pthread_cond_timedwait on a condition variable that
// uses this clock (pthread_condattr_setclock). Thread-safe.
static inline struct timespec clock_after(double ms) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  int64_t ns = t.tv_nsec + (int64_t)(ms * 1e6);
  return (struct timespec){t.tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

#endif
