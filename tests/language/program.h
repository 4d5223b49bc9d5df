// SPDX-License-Identifier: Apache-2.0
// Small programs: statements that compute `r` from `a` and the scalar integer n. Each runs with a
// scalar, a vector and a matrix as `a`, in several types, for several n.
#ifndef TESTS_LANGUAGE_PROGRAM_H
#define TESTS_LANGUAGE_PROGRAM_H

#include "tile.h"

struct program {
  const char *name;
  const char *prelude; // functions and constants in front, or NULL
  const char *body;    // indented by four
  double (*reference)(double a, int n);
  bool scalar_only; // the value of `a` decides
};

void program_cases(struct suite *s, const struct program *p);

#endif
