// SPDX-License-Identifier: Apache-2.0
// Runs all suites of ptx-simulator/.
#include "suites.h"

#include <stdlib.h>

int main(void) {
  Suite *s = suite_create("simulator");
#define X(name) suite_add_tcase(s, name##_tests());
  SUITES(X)
#undef X
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
