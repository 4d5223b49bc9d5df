// SPDX-License-Identifier: Apache-2.0
// The tests' own CUDA driver: a shared library with the driver's entry points over host memory,
// which fails on demand and notes what it was asked. TILE_LIBCUDA leads the loader to it.
//
// Assembling puts "\177ELF" in front of the text, "\177ELFquick " at a low level of optimisation.
// What a kernel does is said by words in the first bytes of its module, for tests whose driver
// lives in another process:
//   store=N   puts the byte N where the first parameter points to
//   ms=X      how long a launch takes, as events tell
//   error=N   from now on all calls give CUresult N, as after an illegal address
//   crash, hang, exit   what it does to the process
//   bad       does not assemble; badcrash: the assembler crashes
#ifndef TILE_TESTS_FAKE_CUDA_H
#define TILE_TESTS_FAKE_CUDA_H

#include "runtime/cuda_api.h"

#include <stdatomic.h>

#define FAKE_MAX_PARAMS 16

struct fake_cuda {
  int fail[CUDA_CALL_COUNT];  // result to give instead of working; 0: work
  int calls[CUDA_CALL_COUNT]; // how often each was called
  int device_count;           // 1
  int major, minor;           // 9.0
  const char *error_log;      // what cuModuleLoadDataEx says when it fails
  int live_allocations, live_streams, live_events, live_modules, live_contexts, live_links,
      live_graphs;
  unsigned grid[3], block, shared_bytes; // of the last launch
  void *stream;
  unsigned param_count;             // how many parameters to copy at a launch
  uint64_t params[FAKE_MAX_PARAMS]; // their first eight bytes
  bool refuse_cubins;               // modules that begin as ELF get CUDA_ERROR_NO_BINARY_FOR_GPU
  char launched[64];                // the first bytes of the module whose kernel was launched
  int max_shared;                   // what cuFuncSetAttribute was given
  int capture_mode;                 // what cuThreadExchangeStreamCaptureMode was given last
  atomic_bool holds_best;           // only what is assembled at a low level gets done meanwhile
};

// The library's state, found by dlsym.
#define FAKE_CUDA_STATE "fake_cuda_state"

#endif
