// SPDX-License-Identifier: Apache-2.0
// The targets' machines as numbers: what one multiprocessor holds and does in a cycle, and what a
// usual device of that kind has of everything. For occupancy, costs and predictions.
#ifndef TILE_LOWERING_COST_MACHINE_H
#define TILE_LOWERING_COST_MACHINE_H

#include "lowering/target.h"

struct machine {
  unsigned sm; // 0: the CPU
  // What fits onto a multiprocessor.
  unsigned warps, programs, registers;
  // In a cycle of a multiprocessor.
  double half_precision_flops; // operations of mma on f16 or bf16, summed up in f32
  double issue;                // warp instructions
  double arithmetic;           // of those, ones on elements, which wait for each other's results
  double special;              // warp instructions of exp2, rsqrt, ..., and conversions of integers
  double wavefronts;           // of shared memory
  double sectors;              // of 32 bytes, to and from the L1 cache
  double l2_bytes;             // from the L2 cache
  // In cycles.
  double memory_latency, barrier, program_start;
  // A usual device: what the driver says takes its place.
  unsigned multiprocessors;
  double clock_ghz, memory_gbs;
  double l2_megabytes;
  double launch_us; // of an empty kernel, as events around it see it
};

// Never NULL: what is not listed is like the latest.
const struct machine *machine_of(const struct target *t);

// Operations of matrix instructions on operands of so many bits in a cycle, f64 among them.
double machine_tensor_flops(const struct machine *m, unsigned operand_bits, bool is_integer);
// The same of wgmma.
double machine_wgmma_flops(const struct machine *m, unsigned operand_bits);

#endif
