// SPDX-License-Identifier: Apache-2.0
// Runs all suites of base/.
#include "suites.h"

#include <stdlib.h>

// Read by AddressSanitizer where it is linked in: tests of running out of memory ask for the
// impossible and expect NULL.
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

int main(void) {
  Suite *s = suite_create("base");
#define X(name) suite_add_tcase(s, name##_tests());
  SUITES(X)
#undef X
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_FORK); // tests of the environment need fresh processes
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
