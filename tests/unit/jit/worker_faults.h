// SPDX-License-Identifier: Apache-2.0
// Faults of the compiler, by the name of the compiled kernel: `aborts`, `crashes`, `is_killed`,
// `hangs`, `eats`, `eats_arena`, `is_llvms_end`, `ends_later` (after it is compiled). All other
// kernels are compiled.
#ifndef TILE_TESTS_WORKER_FAULTS_H
#define TILE_TESTS_WORKER_FAULTS_H

#include <stdbool.h>

extern bool compiles_in_worker; // in a worker's process

#endif
