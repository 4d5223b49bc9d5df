// SPDX-License-Identifier: Apache-2.0
// Typed growable array on an arena: `VEC(int) v = {0}; vec_push(arena, &v, 3); v.at[0]; v.len`.
// When it grows, the old storage remains in the arena.
#ifndef TILE_BASE_VEC_H
#define TILE_BASE_VEC_H

#include "base/arena.h"

#include <assert.h>

#define VEC(T)                                                                                     \
  struct {                                                                                         \
    T *at;                                                                                         \
    size_t len, cap;                                                                               \
  }

#define vec_push(a, v, ...)                                                                        \
  (vec_reserve_((a), (void **)&(v)->at, &(v)->cap, (v)->len + 1, sizeof(*(v)->at)),                \
   (void)((v)->at[(v)->len++] = (__VA_ARGS__)))
#define vec_reserve(a, v, n) vec_reserve_((a), (void **)&(v)->at, &(v)->cap, (n), sizeof(*(v)->at))
// Of an array that is not empty.
#define vec_pop(v) ((v)->at[(v)->len = vec_last_index_((v)->len)])
#define vec_last(v) ((v)->at[vec_last_index_((v)->len)])

// Grows *at to a capacity of at least `want` elements of `size` bytes. For the macros.
void vec_reserve_(struct arena *a, void **at, size_t *cap, size_t want, size_t size);
static inline size_t vec_last_index_(size_t len) {
  assert(len > 0);
  return len - 1;
}

#endif
