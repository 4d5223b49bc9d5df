// SPDX-License-Identifier: Apache-2.0
// The suites of this executable: one test_<module>.c each.
#ifndef TESTS_UNIT_LAYOUTS_SUITES_H
#define TESTS_UNIT_LAYOUTS_SUITES_H

#include <check.h>

#define SUITES(X)                                                                                  \
  X(gf2)                                                                                           \
  X(linear)                                                                                        \
  X(algebra)                                                                                       \
  X(encoding) X(mma) X(shared) X(banks) X(convert) X(exchange) X(reduce) X(scan) X(draw) X(attr)

#define X(name) TCase *name##_tests(void);
SUITES(X)
#undef X

#endif
