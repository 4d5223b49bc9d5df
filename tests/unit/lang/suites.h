// SPDX-License-Identifier: Apache-2.0
// The suites of this executable: lexing and parsing, without MLIR.
#ifndef TESTS_UNIT_LANG_SUITES_H
#define TESTS_UNIT_LANG_SUITES_H

#include <check.h>

Suite *lexer_suite(void);
Suite *parser_suite(void);
Suite *extents_suite(void);
Suite *kernels_suite(void);
Suite *goldens_suite(void);
Suite *hostile_suite(void);

#endif
