// SPDX-License-Identifier: Apache-2.0
// Samples of long loops. Tests run every step of them; where TILE_TEST_EVERY is K, as it is in
// builds with a sanitizer (tests/meson.build), each K-th.
#ifndef TILE_TESTS_SAMPLE_H
#define TILE_TESTS_SAMPLE_H

#include <stdlib.h>

static inline unsigned sample_step(void) {
  const char *every = getenv("TILE_TEST_EVERY");
  int step = every ? atoi(every) : 1;
  return step > 1 ? (unsigned)step : 1;
}

#endif
