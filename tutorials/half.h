/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs with f16 arrays share: conversions on the host, and TRY for calls of the
 * library. */
#ifndef TUTORIALS_HALF_H
#define TUTORIALS_HALF_H

#include <tile/tile.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tile_status status = (call);                                                                   \
    if (status != TILE_OK) {                                                                       \
      fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_error_message());                 \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

/* IEEE half precision, round to nearest even; inputs here are small and normal or zero. */
static inline uint16_t half_of(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof(u));
  uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
  if (magnitude < 0x38800000u) /* below the smallest normal half: flush */
    return (uint16_t)sign;
  magnitude += 0xfffu + ((magnitude >> 13) & 1u);
  return (uint16_t)(sign | ((magnitude - 0x38000000u) >> 13));
}

static inline double double_of(uint16_t h) {
  int exponent = (h >> 10) & 31, fraction = h & 1023;
  double v = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
             : exponent     ? ldexp(1024 + fraction, exponent - 25)
                            : ldexp(fraction, -24);
  return h & 0x8000 ? -v : v;
}

#endif
