// SPDX-License-Identifier: Apache-2.0
// Runs the JIT's unit tests over a fake compiler and a fake CUDA driver.
#include "suites.h"

#include <stdlib.h>

int main(void) {
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  setenv("TILE_CACHE_DIR", "", 1);
  SRunner *r = srunner_create(suite_specialise());
  srunner_add_suite(r, suite_launch_path());
  srunner_add_suite(r, suite_orc());
  srunner_add_suite(r, suite_prepared());
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
