// SPDX-License-Identifier: Apache-2.0
// The cost of a kernel after all passes, from its IR: accesses to memory, conversions, reductions,
// shared memory. For reports.
#ifndef TILE_LOWERING_COST_PERFORMANCE_H
#define TILE_LOWERING_COST_PERFORMANCE_H

#include "base/vec.h"
#include "lowering/analysis/liveness.h"
#include "lowering/cost/feed_survey.h"
#include "lowering/cost/op_survey.h"

struct shared_use {
  MlirOperation op;
  uint32_t offset, bytes;
  const char *purpose;
  const char *name;        // of the parameters whose tiles it holds; NULL: not known
  enum feed_engine engine; // of a buffer of data
  enum buffer_use use;     // of a buffer
  uint32_t copies;         // of a ring of buffers; else 1
  // From its first to its last access, in points of the kernel's program order; of a function that
  // the kernel calls: all points.
  struct live_range live;
};

// A loop of the kernel, its points included.
struct loop_points {
  MlirOperation op;
  struct live_range live;
};

struct product_feeds {
  struct feed operands[2];
};

struct performance {
  // Bytes times the trips of loops that are constants; copies inside loops only: those before a
  // loop are for its first iterations.
  VEC(struct memory_access) accesses;
  VEC(struct layout_conversion) conversions;
  VEC(struct product_cost)
  products; // those of one source location, split along K by passes, in one
  VEC(struct reduction_cost) reductions;
  VEC(struct product_feeds) feeds; // [product]
  VEC(struct shared_use) shared;
  VEC(struct loop_points) loops; // outer ones before inner ones
  uint32_t points;               // of the kernel's program order
  uint32_t shared_bytes, spill_bytes;
  unsigned barriers; // in the code
  uint64_t bytes_read, bytes_written;
  uint32_t producer_warps; // that only copy, beside those that compute
  struct warp_registers registers;
  uint32_t cluster;              // programs of a cluster; 1: none
  MlirOperation persistent_loop; // over tiles; null: none
  bool in_loop;                  // the bytes are those of one trip of some loop
};

// All on `a`.
struct performance performance_of(struct ir_context *c, MlirModule module,
                                  const struct target *target, uint32_t num_warps, struct arena *a);

#endif
