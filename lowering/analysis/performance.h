// SPDX-License-Identifier: Apache-2.0
// What a finished kernel (after all passes) costs, read off its IR: accesses to memory,
// conversions, reductions, shared memory. For reports.
#ifndef TILE_LOWERING_ANALYSIS_PERFORMANCE_H
#define TILE_LOWERING_ANALYSIS_PERFORMANCE_H

#include "base/vec.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// A load, store or atomic operation.
struct memory_access {
  MlirOperation op;
  const char *what;      // "load", "store", "atomic"
  const char *parameter; // whose memory it is; NULL: not known
  unsigned width;        // elements an instruction moves
  unsigned wanted;       // as many as would fit
  const char *why;       // not wider; NULL: it is as wide as can be
  bool cut;              // the mask may cut vectors, which are then done element by element
  // Sectors of 32 bytes that an instruction of a warp touches, and as many as its bytes fill.
  unsigned sectors, least_sectors;
  uint64_t bytes; // of a program, masks left aside; times the trips of loops that are constants
  bool in_loop;   // of a number of trips that is not known
};

struct layout_conversion {
  MlirOperation op;
  const char *kind; // "shuffles", "shared memory"
  uint32_t bytes;   // of shared memory
  // Of a warp, storing and loading: wavefronts, and as few as there could be.
  unsigned wavefronts, least_wavefronts;
};

struct reduction_cost {
  MlirOperation op;
  unsigned axis, in_thread, across_lanes; // steps
  bool across_warps;
  unsigned last; // steps behind the exchange between warps
  uint32_t bytes;
};

struct shared_use {
  MlirOperation op;
  uint32_t offset, bytes;
  const char *purpose;
};

struct performance {
  VEC(struct memory_access) accesses;
  VEC(struct layout_conversion) conversions;
  VEC(struct reduction_cost) reductions;
  VEC(struct shared_use) shared;
  uint32_t shared_bytes, parked_bytes;
  unsigned barriers; // in the code
  uint64_t bytes_read, bytes_written;
  bool in_loop; // the bytes are those of one trip of some loop
};

// All on `a`.
struct performance performance_of(struct ir_context *c, MlirModule module,
                                  const struct target *target, uint32_t num_warps, struct arena *a);

#endif
