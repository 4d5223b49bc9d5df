// SPDX-License-Identifier: Apache-2.0
// Runs the tests of the worker; the program is its own worker.
#include "autotune/worker/worker.h"
#include "suites_worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A worker that sends a given text and waits, or ends in the middle of it.
static int say(const char *text) {
  ssize_t done = write(3, text, strlen(text));
  if (done > 0 && text[strlen(text) - 1] == '\n')
    pause();
  return 0;
}

int main(int argc, char **argv) {
  const char *words = getenv("TEST_WORKER_SAYS");
  if (argc > 1)
    return words ? say(words) : tune_worker_main(argc, argv);
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
