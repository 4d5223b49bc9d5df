// SPDX-License-Identifier: Apache-2.0
// The suites of this executable: one test_<module>.c each.
#ifndef TESTS_UNIT_BASE_SUITES_H
#define TESTS_UNIT_BASE_SUITES_H

#include <check.h>

#define SUITES(X)                                                                                  \
  X(arena)                                                                                         \
  X(str)                                                                                           \
  X(map)                                                                                           \
  X(source)                                                                                        \
  X(diag) X(json) X(sha256) X(file) X(dtype) X(kernel_info) X(thread_pool) X(utf8) X(debug) X(mma)  \
  X(ptxas_log) X(launch_expr) X(trace)

#define X(name) TCase *name##_tests(void);
SUITES(X)
#undef X

#endif
