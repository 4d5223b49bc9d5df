// SPDX-License-Identifier: Apache-2.0
// Random kernels over tiles of i32, for tests of passes: loads, stores, shape operations,
// reductions, scans, pairs, gathers, histograms, loops and branches.
#ifndef TEST_LOWERING_RANDOM_KERNEL_H
#define TEST_LOWERING_RANDOM_KERNEL_H

#include "pass_session.h"

enum {
  RANDOM_KERNEL_INPUT = 256, // elements that a kernel reads
  RANDOM_KERNEL_STORES = 12  // locations behind them, of as many elements each, that it writes
};

// Appends the kernel `k(pointer, number)` to the session's module. One that `runs` stays within
// its memory, and what it computes does not depend on the order of threads.
void random_kernel_build(struct pass_session *s, uint64_t seed, bool runs);

#endif
