// SPDX-License-Identifier: Apache-2.0
// Instruction sets of processors that code made ahead of time is for.
#ifndef TILE_BASE_INSTRUCTION_SET_H
#define TILE_BASE_INSTRUCTION_SET_H

#include "base/attrs.h"

// name, number, name of the target. The number is that of packs (docs/aot.md): a thousand for the
// architecture, and a level; code of a lower level runs on processors of a higher one. The levels
// of x86-64 are those of its System V psABI ("Micro-Architecture Levels"): v3 has AVX2, FMA and
// F16C, v4 has AVX-512 F, BW, CD, DQ and VL. AArch64 is Armv8.0 with Advanced SIMD.
#define INSTRUCTION_SETS(X)                                                                        \
  X(ISA_X86_64_V3, 1003, "cpu:x86-64-v3")                                                          \
  X(ISA_X86_64_V4, 1004, "cpu:x86-64-v4")                                                          \
  X(ISA_AARCH64, 2008, "cpu:aarch64")

enum instruction_set {
#define X(id, number, target) id = number,
  INSTRUCTION_SETS(X)
#undef X
};

// Whether this processor, under this operating system, runs code of a pack with that number; false
// for numbers that this library does not know. It looks at features (CPUID, XGETBV), never at the
// processor's name. The environment variable TILE_CPU_NAME = "x86-64-v3" hides the sets above it.
// Thread-safe.
bool instruction_set_runs(uint32_t number);
// The same for features that the processor has; the variable is not read.
bool instruction_set_exists(uint32_t number);

#endif
