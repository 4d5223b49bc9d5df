// SPDX-License-Identifier: Apache-2.0
// Runs the runtime's unit tests.
#include "suites.h"

#include <stdlib.h>

int main(void) {
  // Tests must not use this machine's driver or the user's cache.
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  setenv("TILE_CACHE_DIR", "", 1);
  SRunner *r = srunner_create(suite_device());
  srunner_add_suite(r, suite_cuda());
  srunner_add_suite(r, suite_dlpack());
  srunner_add_suite(r, suite_fiber());
  srunner_add_suite(r, suite_launch_maps());
  srunner_add_suite(r, suite_launch_clusters());
  srunner_add_suite(r, suite_launch_pdl());
  srunner_add_suite(r, suite_replay());
  srunner_add_suite(r, suite_trace_device());
  srunner_add_suite(r, suite_weights());
  srunner_add_suite(r, suite_checkpoint());
  srunner_add_suite(r, suite_cpu_cta());
  srunner_add_suite(r, suite_cpu_check());
  srunner_add_suite(r, suite_cpu_races());
  srunner_add_suite(r, suite_cpu_tensor_core());
  srunner_add_suite(r, suite_cpu_async());
  srunner_add_suite(r, suite_cache());
  srunner_add_suite(r, suite_image());
  srunner_add_suite(r, suite_pack());
  srunner_add_suite(r, suite_pack_function());
  srunner_add_suite(r, suite_pack_maps());
  srunner_add_suite(r, suite_pack_descriptors());
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
