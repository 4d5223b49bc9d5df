// SPDX-License-Identifier: Apache-2.0
// Scenarios whose allocations are made to fail, one after the other (main.c).
#ifndef TILE_TESTS_OUT_OF_MEMORY_INJECTION_H
#define TILE_TESTS_OUT_OF_MEMORY_INJECTION_H

#include <tile/runtime.h>

#include <stdbool.h>

#define MAX_WORDS 32

struct scenario {
  const char *name;
  // What tilec is called with; @ in front of a word stands for the project's root, NULL ends. Or a
  // function on the C API, which prints what it computed.
  const char *words[MAX_WORDS];
  tile_status (*call)(void);
  const char *setup[MAX_WORDS]; // tilec is called with these before, without failures
  bool is_timed; // numbers of the output differ from run to run: files are not compared
};

extern const struct scenario scenarios[];
extern const unsigned scenario_count;

// ---- api.c ----
tile_status call_kernel(void);   // opened from text, compiled for the host, launched
tile_status call_cached(void);   // the same by the disk cache, twice; what is on disk is whole
tile_status call_program(void);  // a graph's text, compiled and run
tile_status call_captured(void); // a C function on tensors
tile_status call_replay(void);
tile_status call_pack(void); // kernels.tpk, loaded by a stand-in for the CUDA driver and launched
tile_status call_weights(void); // weights.safetensors
tile_status call_tuned(void);   // add.tune.json

#endif
