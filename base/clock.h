// SPDX-License-Identifier: Apache-2.0
// Time for measuring how long something took.
#ifndef TILE_BASE_CLOCK_H
#define TILE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

// Milliseconds since some fixed moment; never goes back. Thread-safe.
static inline double clock_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// The moment in so many milliseconds, for pthread_cond_timedwait on a condition that goes by this
// clock (pthread_condattr_setclock). Thread-safe.
static inline struct timespec clock_after(double ms) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  int64_t ns = t.tv_nsec + (int64_t)(ms * 1e6);
  return (struct timespec){t.tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

#endif
