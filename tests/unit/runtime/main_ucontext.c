// SPDX-License-Identifier: Apache-2.0
// The fiber tests with ucontext, which is not used on this processor otherwise.
#include "suites.h"

#include <stdlib.h>

int main(void) {
  SRunner *r = srunner_create(suite_fiber());
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
