// SPDX-License-Identifier: Apache-2.0
// Shared functions of the fuzz drivers. A driver is one file with one LLVMFuzzerTestOneInput;
// libFuzzer's main calls it in a build with -Dfuzzing=true (tests/fuzz/run), replay.c's main in
// other builds.
#ifndef TESTS_FUZZ_DRIVE_H
#define TESTS_FUZZ_DRIVE_H

#include "base/diag.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The state of one input: an arena and its diagnostics. The diagnostics are rendered at the end in
// both formats, so that rendering is fuzzed too.
struct drive {
  struct arena *arena;
  struct diag_engine *diag;
};
bool drive_begin(struct drive *d);
void drive_end(struct drive *d);

// The input as a file in memory: `path` names it until drive_close. -1 on failure.
int drive_file(const uint8_t *data, size_t size, char path[64]);
void drive_close(int fd);

// Aborts the process if an assertion on a library's results fails.
#define DRIVE_CHECK(condition)                                                                     \
  do {                                                                                             \
    if (!(condition))                                                                              \
      drive_failed(#condition, __FILE__, __LINE__);                                                \
  } while (0)
_Noreturn void drive_failed(const char *condition, const char *file, int line);

#endif
