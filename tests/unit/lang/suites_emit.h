// SPDX-License-Identifier: Apache-2.0
// Test cases of lang/ that need MLIR, one file each.
#ifndef TILE_TESTS_UNIT_LANG_SUITES_EMIT_H
#define TILE_TESTS_UNIT_LANG_SUITES_EMIT_H

#include <check.h>
#include <stdio.h>

#define SUITES_EMIT(X)                                                                             \
  X(types)                                                                                         \
  X(consteval)                                                                                     \
  X(promote)                                                                                       \
  X(emit)                                                                                          \
  X(control)                                                                                       \
  X(collective)                                                                                    \
  X(dot)                                                                                           \
  X(elements)                                                                                      \
  X(records)                                                                                       \
  X(blocks)                                                                                        \
  X(compat)                                                                                        \
  X(library)                                                                                       \
  X(tuning)

#define X(name) TCase *name##_tests(void);
SUITES_EMIT(X)
#undef X

#endif
