// SPDX-License-Identifier: Apache-2.0
// A fake front end and compiler for tests of the JIT: returns at once (or slowly, or fails), counts
// its calls and records their arguments.
#ifndef TILE_TESTS_FAKE_COMPILER_H
#define TILE_TESTS_FAKE_COMPILER_H

#include "jit/jit.h"

#include <stdatomic.h>

#define FAKE_DECLARED 32

struct fake_compiler {
  struct lang_param params[FAKE_DECLARED]; // of its one kernel
  size_t param_count;
  atomic_int reads; // of a source
  atomic_int compilations;
  atomic_int fail;    // how many of the next compilations fail
  unsigned delay_us;  // how long each takes
  char bindings[512]; // of the last compilation: "x:*f32%16 n:i32=1 BLOCK='128'"
  uint32_t num_warps, num_stages;
  bool check;
  enum emit_kind emit;
  char target[16];
  char folders[64]; // of imports, with a blank after each
  bool is_detached;
  bool has_unit; // the last compilation got a parsed unit
};

extern struct fake_compiler fake_compiler;

#endif
