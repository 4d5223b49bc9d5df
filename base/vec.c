// SPDX-License-Identifier: Apache-2.0
// Growth of the typed arrays of base/vec.h.
#include "base/vec.h"

#include <string.h>

void vec_reserve_(struct arena *a, void **at, size_t *cap, size_t want, size_t size) {
  if (want <= *cap)
    return;
  size_t grown = *cap ? *cap * 2 : 8;
  if (grown < want)
    grown = want;
  uint64_t bytes;
  // A size that overflows is requested unchanged: the arena reports that memory is out.
  if (!checked_mul(grown, size, &bytes))
    bytes = SIZE_MAX;
  // If the arena has no handler, the array is unchanged: vec_push must not follow.
  void *p = arena_alloc(a, (size_t)bytes, _Alignof(max_align_t));
  if (!p)
    return;
  if (*at)
    memcpy(p, *at, *cap * size);
  *at = p;
  *cap = grown;
}
