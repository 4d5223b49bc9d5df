// SPDX-License-Identifier: Apache-2.0
// A fake CUDA driver: a shared library with the driver's entry points over memory of the CPU. It
// fails on demand and records its calls. TILE_LIBCUDA makes the loader open it.
//
// Assembling puts "\177ELF" before the text, "\177ELFquick " at a low level of optimisation. Words
// in the first bytes of a module control its kernel, for tests whose driver is in another process:
//   store=N   stores the byte N where the first parameter points to
//   ms=X      duration of a launch, as measured by events
//   error=N   from now on all calls return CUresult N, as after an illegal address
//   crash, hang, exit   ends or blocks the process
//   bad       does not assemble; badcrash: the assembler crashes
#ifndef TILE_TESTS_FAKE_CUDA_H
#define TILE_TESTS_FAKE_CUDA_H

#include "runtime/cuda_api.h"

#include <stdatomic.h>

#define FAKE_MAX_PARAMS 16

// Arguments of a cuTensorMapEncodeTiled.
struct fake_map {
  int type, interleave, swizzle, promotion, fill;
  unsigned rank;
  uint64_t address, sizes[5], strides[4];
  uint32_t box[5], element_strides[5];
};

struct fake_cuda {
  int fail[CUDA_CALL_COUNT];  // result to return without doing anything; 0: work
  int calls[CUDA_CALL_COUNT]; // number of calls
  int device_count;           // 1
  int major, minor;           // 9.0
  const char *error_log;      // log of cuModuleLoadDataEx when it fails
  const char *info_log;       // of cuModuleLoadDataEx and links
  const char *quick_log;      // info log of links at a low level of optimisation
  int live_allocations, live_streams, live_events, live_modules, live_contexts, live_links,
      live_graphs;
  unsigned grid[3], block, shared_bytes; // of the last launch
  unsigned cluster;                      // of the last cuLaunchKernelEx; 0: none
  bool large_clusters;                   // non-portable sizes were allowed
  void *stream;
  unsigned param_count;             // how many parameters to record at a launch
  uint64_t params[FAKE_MAX_PARAMS]; // their first eight bytes
  bool refuse_cubins;               // modules that are ELF fail with CUDA_ERROR_NO_BINARY_FOR_GPU
  char launched[64];                // the first bytes of the module whose kernel was launched
  int max_shared;                   // argument of cuFuncSetAttribute
  int capture_mode;                 // last argument of cuThreadExchangeStreamCaptureMode
  struct fake_map map;              // the last one
  atomic_bool holds_best;           // assembling at the highest level blocks meanwhile
  int is_captured;                  // status of cuStreamIsCapturing
  int driver_version;               // 13000
  // While parameters are recorded: launches ('k', 'p' with programmatic stream serialization, '?'
  // with other attributes), fills ('m') and copies on the device ('c') in order.
  char work[64];
};

// The library's state, for dlsym.
#define FAKE_CUDA_STATE "fake_cuda_state"

#endif
