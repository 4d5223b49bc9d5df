// SPDX-License-Identifier: Apache-2.0
// Time for measuring how long something took.
#ifndef TILE_BASE_CLOCK_H
#define TILE_BASE_CLOCK_H

#include <time.h>

// Milliseconds since some fixed moment; never goes back. Thread-safe.
static inline double clock_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

#endif
