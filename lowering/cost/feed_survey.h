// SPDX-License-Identifier: Apache-2.0
// What fills the buffers and operands of a kernel after all passes: which engine copies, and whose
// memory. For reports.
#ifndef TILE_LOWERING_COST_FEED_SURVEY_H
#define TILE_LOWERING_COST_FEED_SURVEY_H

#include "mlir-dialects/ir.h"

enum feed_engine {
  FEED_COMPUTED, // from values that the kernel computes
  FEED_LOADS,    // loads into registers
  FEED_CP_ASYNC, // cp.async of the warps that compute
  FEED_TMA,      // copies through tensor maps, by the producer warpgroup
};
const char *feed_engine_name(enum feed_engine e); // "computed", "loads", "cp.async", "TMA"

struct feed {
  enum feed_engine engine;
  const char *parameter; // whose memory; NULL: not known
  MlirOperation buffer;  // the local_alloc that it comes through; null: registers only
};
// Of operand `i` of a product. Names are on the context's arena.
struct feed operand_feed(struct ir_context *c, MlirOperation product, intptr_t i);
// Of a buffer.
struct feed buffer_feed(struct ir_context *c, MlirOperation alloc);

// What a tilegpu.local_alloc is for.
enum buffer_use {
  BUFFER_DATA,
  BUFFER_BARRIERS, // mbarriers of a ring
  BUFFER_STAGING   // of a tile that TMA stores
};
enum buffer_use buffer_use_of(struct ir_context *c, MlirOperation alloc);
// The slots of the ring whose mbarriers (BUFFER_BARRIERS) these are.
uint32_t ring_slots(struct ir_context *c, MlirOperation barriers);
// "a", "a, b" for the mbarriers of a ring, the parameter that TMA stores to; NULL: not known.
const char *buffer_name(struct ir_context *c, MlirOperation alloc);

// The name of the parameter whose memory tensor map `number` describes; NULL: not known.
const char *map_parameter(struct ir_context *c, MlirOperation op, uint32_t number);

// The outermost loop over tiles of a persistent kernel: its step depends on the number of programs.
// Null: there is none.
MlirOperation persistent_loop(struct ir_context *c, MlirOperation kernel);

// Registers per thread of the warps that compute and of those that only copy (setmaxnreg), and of
// all at first; 0: the kernel does not set them.
struct warp_registers {
  uint32_t entry, computing, producer;
};
struct warp_registers warp_registers_of(struct ir_context *c, MlirOperation module);

#endif
