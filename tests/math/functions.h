// SPDX-License-Identifier: Apache-2.0
// The tested mathematical functions, with references in long double.
#ifndef TILE_TESTS_MATH_FUNCTIONS_H
#define TILE_TESTS_MATH_FUNCTIONS_H

#include <stddef.h>

typedef long double real;

struct function {
  const char *name;  // as docs/math.md has it, and libdevice
  real (*one)(real); // one of these
  real (*two)(real, real);
  real (*three)(real, real, real);
  double lo, hi;            // range of dense arguments, besides those of all magnitudes
  double f32_cap, f64_cap;  // no documented error may be larger, in ulp; 0: not in this type
  double smallest, largest; // magnitudes of arguments that count, where not all do (0: all)
  // Near zeros, errors of f64 count in ulp of what the function is around them (NULL: of its
  // value).
  real (*peak)(const double *x);
  int orders; // the first argument is an integer, in magnitude below this (0: a number as others)
};

extern const struct function functions[];
extern const size_t function_count;

#endif
