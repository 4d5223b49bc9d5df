// SPDX-License-Identifier: Apache-2.0
// The cost of one program of a kernel (after all passes, before LLVM) for given scalar arguments:
// loops count with their trip counts, which are evaluated from the arguments and an average program
// id. For the tuner's cost model; performance.h is for reports.
#ifndef TILE_LOWERING_COST_KERNEL_COST_H
#define TILE_LOWERING_COST_KERNEL_COST_H

#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// A run-time scalar argument by name. Floats count as unknown.
struct cost_argument {
  const char *name;
  int64_t value;
};

struct kernel_cost {
  // Totals of one program over all its warps.
  double global_read, global_written; // bytes, masks ignored
  double common_read;                 // those of global_read that are the same for every program
  double sectors;                     // of 32 bytes that loads, stores and copies touch
  double shared_wavefronts;           // of 128 bytes of shared memory, bank conflicts included
  double copied_wavefronts;           // that copies from global memory write, beside those
  double tensor_flops;                // by matrix instructions
  double wgmma_flops;                 // those of them by wgmma
  double tensor_cycles;               // cycles of a multiprocessor's tensor cores on `target`
  double fma_flops;                   // products and sums outside matrix instructions
  double special;                     // exp, log, rsqrt, ...: warp instructions
  double instructions;                // all warp instructions, estimated
  double arithmetic;                  // those of them that compute elements outside matrix products
  double barriers;
  // Of the longest loop that pipelines or loads: iterations, and loads that each iteration waits
  // for.
  double iterations, waits_per_iteration;
  uint32_t stages; // iterations in flight
  // Of a persistent kernel, iterations of its loop over tiles, on average over the programs;
  // else 0.
  double tiles;
  // Resources.
  uint32_t shared_bytes, num_warps;
  uint32_t producer_warps;  // beside num_warps, which only issue copies
  uint32_t entry_registers; // of a thread when it begins, if warps change it (setmaxnreg); else 0
  uint32_t registers;       // a thread, estimated from the values live at once
  uint32_t spilled;         // words of a thread beyond 255 registers, or beyond the bound
  bool is_exact;            // every trip count was known
};

// `grid` is that of the launch, for loops that depend on num_programs and program_id.
struct kernel_cost kernel_cost_of(struct ir_context *c, MlirModule module,
                                  const struct target *target, uint32_t num_warps,
                                  const struct cost_argument *args, size_t arg_count,
                                  const uint32_t grid[3]);

#endif
