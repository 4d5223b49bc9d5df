// SPDX-License-Identifier: Apache-2.0
// What a finished kernel (after all passes) costs, read off its IR: accesses to memory,
// conversions, reductions, shared memory. For reports.
#ifndef TILE_LOWERING_ANALYSIS_PERFORMANCE_H
#define TILE_LOWERING_ANALYSIS_PERFORMANCE_H

#include "base/vec.h"
#include "lowering/target.h"
#include "mlir-dialects/ir.h"

// A load, store, atomic operation or asynchronous copy to shared memory (of each turn of a loop;
// those in front of it stand for its first turns).
struct memory_access {
  MlirOperation op;
  const char *what;      // "load", "store", "atomic", "copy"
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

// The matrix products of one place: passes cut them along K.
struct product_cost {
  MlirOperation op;        // the first of them
  const char *instruction; // "m16n8k16.f32.f16.f16.f32"; NULL: multiplications and additions
  uint64_t count;          // instructions of a warp, or multiplications of a thread
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
  uint32_t copies; // of a ring of buffers; else 1
};

struct performance {
  VEC(struct memory_access) accesses;
  VEC(struct layout_conversion) conversions;
  VEC(struct product_cost) products;
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
