// SPDX-License-Identifier: Apache-2.0
// What compilers do at their worst, by the name of the kernel that is compiled: `aborts`,
// `crashes`, `is_killed`, `hangs`, `eats`, `eats_arena`, `is_llvms_end`, `ends_later` (once it is
// compiled). Everything else is
// compiled.
#ifndef TILE_TESTS_WORKER_FAULTS_H
#define TILE_TESTS_WORKER_FAULTS_H

#include <stdbool.h>

extern bool compiles_in_worker; // in a program that is one

#endif
