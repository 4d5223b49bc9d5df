// SPDX-License-Identifier: Apache-2.0
// Compiler attributes, and a few integer helpers for all of the tree.
#ifndef TILE_BASE_ATTRS_H
#define TILE_BASE_ATTRS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#define NODISCARD __attribute__((warn_unused_result))
#define UNUSED __attribute__((unused))
#define UNREACHABLE() __builtin_unreachable()
#else
#define PRINTF(fmt_at, args_at)
#define NODISCARD
#define UNUSED
#define UNREACHABLE() ((void)0)
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline bool is_pow2(uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

// Floor of the base-2 logarithm; x must not be 0.
static inline unsigned log2_floor(uint64_t x) {
  assert(x != 0);
  return 63u - (unsigned)__builtin_clzll(x);
}

// a * b into *ret; false (and *ret untouched) on overflow.
static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *ret) {
  uint64_t r;
  if (__builtin_mul_overflow(a, b, &r))
    return false;
  *ret = r;
  return true;
}

#endif
