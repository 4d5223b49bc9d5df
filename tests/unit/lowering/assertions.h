// SPDX-License-Identifier: Apache-2.0
// Check's assertions without the mark that Check writes to a file for each one that holds: with
// CK_NOFORK nothing reads the marks, and tests that assert in loops spent most of their time there.
#ifndef TEST_LOWERING_ASSERTIONS_H
#define TEST_LOWERING_ASSERTIONS_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                   \
  do {                                                                                             \
    if (!(expr))                                                                                   \
      _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", __VA_ARGS__);          \
  } while (0)

#endif
