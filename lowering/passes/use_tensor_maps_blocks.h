// SPDX-License-Identifier: Apache-2.0
// Blocks of tensor descriptors that use-tensor-maps looks at: which of them TMA copies, their maps,
// and the blocks that are stored.
#ifndef TILE_LOWERING_PASSES_USE_TENSOR_MAPS_BLOCKS_H
#define TILE_LOWERING_PASSES_USE_TENSOR_MAPS_BLOCKS_H

#include "base/kernel_info.h"
#include "base/vec.h"
#include "lowering/analysis/axis_info.h"
#include "lowering/pass.h"
#include "lowering/passes/made_maps.h"

struct map_load_use {
  MlirOperation op;
  struct kernel_map map;
  struct made_map_point point; // of a map that the kernel makes
};

// A store or atomic operation of a block; the pass replaces ops one by one, the rest stays true.
struct map_store_use {
  MlirOperation op;
  enum op_id id;
  struct str kind; // of an atomic operation
  int memory;      // pointer_memory of its base
};

struct map_uses {
  struct pass_context *p;
  struct ir_context *c;
  MlirOperation kernel;
  struct axis_analysis *axis;
  VEC(MlirOperation) loads;
  VEC(struct map_store_use) stores;
  VEC(struct map_load_use) chosen;
  uint32_t made; // maps that the kernel makes
  // Of all products' loads; of other loads, and of stores if they are not cut.
  uint64_t slot_bytes, other_bytes;
  VEC(int) accessed;      // memory that other ops than these access (pointer_memory)
  VEC(int) written;       // memory that any op writes to
  MlirOperation assembly; // with effects: it may have barriers of the CTA; null: none
  // Of the loads of operands, the first that is not chosen, and why.
  MlirOperation refused;
  const char *why_refused;
};

// The tile of a block: its rows, the only dimension in front of the last with more than one
// element, and its columns. Null if there are more such dimensions.
MlirType map_block_matrix(MlirType block);
uint64_t map_block_bytes(struct map_uses *s, MlirType block);
// NULL: the block is one that TMA copies and wgmma reads.
const char *map_why_not_block(struct map_uses *s, MlirType block);
// NULL: the block is one row that TMA copies.
const char *map_why_not_row(struct map_uses *s, MlirType block);
bool map_is_unaligned(struct map_uses *s, MlirOperation op);
// May the block's rows begin within 16 bytes? TMA ends the program then (an illegal instruction).
bool map_begins_in_chunk(struct map_uses *s, MlirOperation op, MlirType block);
// The map of the access's descriptor; its box and swizzle are chosen with the buffers
// (specialize_warps_rings.c). False: the launch cannot compute it.
bool map_of_access(struct map_uses *s, MlirOperation op, MlirType block, struct kernel_map *ret);
// A store through a map, unless a remark says why not.
void map_rewrite_store(struct map_uses *s, const struct map_store_use *store);

#endif
