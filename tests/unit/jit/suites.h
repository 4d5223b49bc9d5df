// SPDX-License-Identifier: Apache-2.0
// The JIT's test suites.
#ifndef TILE_TESTS_JIT_SUITES_H
#define TILE_TESTS_JIT_SUITES_H

#include <check.h>

Suite *suite_specialise(void); // with the fake compiler
Suite *suite_launch_path(void);
Suite *suite_orc(void);
Suite *suite_prepared(void);

#endif
