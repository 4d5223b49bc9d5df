// SPDX-License-Identifier: Apache-2.0
// The cost of single ops after all passes, by families: for reports (performance.h) and for the
// totals of kernel_cost.h.
#ifndef TILE_LOWERING_COST_OP_SURVEY_H
#define TILE_LOWERING_COST_OP_SURVEY_H

#include "lowering/cost/narrow_access.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

struct op_survey {
  struct ir_context *c;
  const struct target *target;
  uint32_t num_warps;
  struct arena *arena; // for texts of the results
  struct axis_analysis *axis;
};

// A load, store, atomic operation or asynchronous copy to shared memory. By TMA (a copy or store
// through a tensor map) one thread moves the whole tile: width, count and sectors are 0.
struct memory_access {
  MlirOperation op;
  const char *what;      // "load", "store", "atomic", "copy"
  const char *parameter; // whose memory it is; NULL: not known
  unsigned width;        // elements an instruction moves
  unsigned wanted;       // the widest that is possible
  const char *why;       // why it is not wider; NULL: it is the widest
  bool is_tma;
  bool few;                    // the tile has too few elements for all threads
  narrow_root_list roots;      // what keeps it narrow
  bool cut;                    // the mask may cut vectors, which are then done element by element
  narrow_root_list mask_roots; // what lets the mask cut them
  unsigned count;              // instructions of a warp
  // Sectors of 32 bytes that an instruction of a warp touches, and the least for its bytes.
  unsigned sectors, least_sectors;
  uint64_t bytes;         // of the whole tile, masks ignored
  uint32_t element_bytes; // by TMA 0
  bool in_loop;           // set by performance_of: with an unknown trip count
};
// False: another op, or its layouts do not match.
bool survey_access(const struct op_survey *s, MlirOperation op, struct memory_access *ret);

struct product_cost {
  MlirOperation op;
  const char
      *instruction;   // "mma.sync.m16n8k16.f32.f16.f16.f32"; NULL: multiplications and additions
  uint64_t count;     // instructions of a warp, or multiplications of a thread
  uint64_t flops;     // of an instruction of a warp; 0 without
  uint64_t additions; // of a thread: promoted sums to the accumulator
  bool is_wgmma;      // a warp does a fourth of the instruction
};
bool survey_product(const struct op_survey *s, MlirOperation op, struct product_cost *ret);

struct layout_conversion {
  MlirOperation op;
  const char *kind;      // "shuffles", "shared memory"
  uint32_t bytes;        // of shared memory
  unsigned instructions; // of a warp
  // Of a warp, storing and loading: wavefronts, and the least possible.
  unsigned wavefronts, least_wavefronts;
};
// False where nothing moves between threads.
bool survey_conversion(const struct op_survey *s, MlirOperation op, struct layout_conversion *ret);

struct reduction_cost {
  MlirOperation op;
  unsigned axis, in_thread, across_lanes; // steps
  bool across_warps;
  unsigned last; // steps after the exchange between warps
  uint32_t bytes;
};
bool survey_reduction(const struct op_survey *s, MlirOperation op, struct reduction_cost *ret);

#endif
