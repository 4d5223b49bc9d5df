// SPDX-License-Identifier: Apache-2.0
// The suites of the worker's tests, one per file.
#ifndef TESTS_UNIT_AUTOTUNE_SUITES_WORKER_H
#define TESTS_UNIT_AUTOTUNE_SUITES_WORKER_H

#include <check.h>

#define SUITES(X) X(frames) X(measure) X(worker) X(worker_gpu) X(worker_thread)

#define X(name) Suite *name##_suite(void);
SUITES(X)
#undef X

#endif
