// SPDX-License-Identifier: Apache-2.0
// Runs the unit tests of lexer and parser.
#include "suites.h"

int main(void) {
  SRunner *runner = srunner_create(lexer_suite());
  srunner_add_suite(runner, parser_suite());
  srunner_add_suite(runner, extents_suite());
  srunner_add_suite(runner, kernels_suite());
  srunner_add_suite(runner, goldens_suite());
  srunner_add_suite(runner, hostile_suite());
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
