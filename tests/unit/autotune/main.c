// SPDX-License-Identifier: Apache-2.0
// Runs the tuner's unit tests over a fake CUDA driver, without the user's cache; the program is its
// own worker.
#include "autotune/worker/worker.h"
#include "suites.h"

#include <stdlib.h>

// Read by AddressSanitizer: tests of running out of memory request impossible sizes and expect
// NULL.
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

int main(int argc, char **argv) {
  if (argc > 1) // started by the tuner, or to compile
    return tile_worker_main(argc, argv);
  setenv("TILE_WORKER", "/proc/self/exe", 1);
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  setenv("TILE_CACHE_DIR", "", 1);
  SRunner *runner = srunner_create(NULL);
#define X(name) srunner_add_suite(runner, name##_suite());
  SUITES(X)
#undef X
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
