// SPDX-License-Identifier: Apache-2.0
// Machine models of the targets: resources and throughput of a multiprocessor, and the numbers of a
// typical device. For occupancy, costs and predictions.
#ifndef TILE_LOWERING_COST_MACHINE_H
#define TILE_LOWERING_COST_MACHINE_H

#include "lowering/target.h"

struct machine {
  unsigned sm; // 0: the CPU
  // Resources of a multiprocessor.
  unsigned warps, programs, registers;
  // Per cycle of a multiprocessor.
  double half_precision_flops; // operations of mma on f16 or bf16, accumulated in f32
  double issue;                // warp instructions
  double arithmetic;           // of those, arithmetic on elements, which depend on each other
  double special;              // warp instructions of exp2, rsqrt, ..., and conversions of integers
  double wavefronts;           // of shared memory
  double sectors;              // of 32 bytes, to and from the L1 cache
  double l2_bytes;             // from the L2 cache
  // In cycles.
  double memory_latency, barrier, program_start;
  // A typical device; replaced by what the driver reports.
  unsigned multiprocessors;
  double clock_ghz, memory_gbs;
  double l2_megabytes;
  double launch_us; // of an empty kernel, measured by events
};

// Never NULL: the latest row for a target that is not listed.
const struct machine *machine_of(const struct target *t);

// Operations per cycle of matrix instructions on operands of that width, f64 included.
double machine_tensor_flops(const struct machine *m, unsigned operand_bits, bool is_integer);
// The same of wgmma.
double machine_wgmma_flops(const struct machine *m, unsigned operand_bits);

#endif
