// SPDX-License-Identifier: Apache-2.0
// Check, with assertions that cost nothing where they hold. Check's own write the source location
// of each assertion to a file, for the report of a crash; loops over thousands of values then take
// most of their time there. The build includes this file into every test that uses Check.
#ifndef TILE_TESTS_UNIT_QUICK_CHECK_H
#define TILE_TESTS_UNIT_QUICK_CHECK_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                   \
  ((expr) ? (void)0                                                                                \
          : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

#endif
