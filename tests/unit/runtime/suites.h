// SPDX-License-Identifier: Apache-2.0
// The runtime's test suites, one per file.
#ifndef TILE_TESTS_RUNTIME_SUITES_H
#define TILE_TESTS_RUNTIME_SUITES_H

#include <check.h>

Suite *suite_device(void);
Suite *suite_cuda(void);
Suite *suite_dlpack(void);
Suite *suite_fiber(void);
Suite *suite_launch_maps(void);
Suite *suite_launch_clusters(void);
Suite *suite_launch_pdl(void);
Suite *suite_replay(void);
Suite *suite_trace_device(void);
Suite *suite_weights(void);
Suite *suite_checkpoint(void);
Suite *suite_cpu_cta(void);
Suite *suite_cpu_check(void);
Suite *suite_cpu_races(void);
Suite *suite_cpu_tensor_core(void);
Suite *suite_cpu_async(void);
Suite *suite_cache(void);
Suite *suite_image(void);
Suite *suite_pack(void);
Suite *suite_pack_function(void);
Suite *suite_pack_maps(void);
Suite *suite_pack_descriptors(void);

#endif
