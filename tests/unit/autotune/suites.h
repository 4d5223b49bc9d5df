// SPDX-License-Identifier: Apache-2.0
// The tuner's test suites, one per file. To add a suite: a row here, its file in meson.build.
#ifndef TESTS_UNIT_AUTOTUNE_SUITES_H
#define TESTS_UNIT_AUTOTUNE_SUITES_H

#include <check.h>

// clang-format off
#define SUITES(X)                                                                                  \
  X(build)                                                                                         \
  X(database)                                                                                      \
  X(database_kill)                                                                                 \
  X(journal)                                                                                       \
  X(outcome)                                                                                       \
  X(predict)                                                                                       \
  X(report)                                                                                        \
  X(search)                                                                                        \
  X(space)                                                                                         \
  X(space_derived)                                                                                 \
  X(tune)                                                                                          \
  X(tuned)
// clang-format on

#define X(name) Suite *name##_suite(void);
SUITES(X)
#undef X

#endif
