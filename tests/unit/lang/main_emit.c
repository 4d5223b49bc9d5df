// SPDX-License-Identifier: Apache-2.0
// Runs the suites of lang/ that emit IR.
#include "suites_emit.h"

#include <stdlib.h>

int main(void) {
  Suite *s = suite_create("lang-emit");
#define X(name) suite_add_tcase(s, name##_tests());
  SUITES_EMIT(X)
#undef X
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
