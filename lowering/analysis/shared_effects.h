// SPDX-License-Identifier: Apache-2.0
// What operations do to the CTA's shared memory. A function has items: buffers
// (tilegpu.local_alloc) and the scratch of single ops; each has an offset, and ops read and write
// them.
#ifndef TILE_LOWERING_ANALYSIS_SHARED_EFFECTS_H
#define TILE_LOWERING_ANALYSIS_SHARED_EFFECTS_H

#include "base/vec.h"
#include "lowering/analysis/liveness.h"

struct shared_item {
  MlirOperation op, loop; // the innermost loop around the op; null: none
  bool is_scratch;
  uint32_t bytes, alignment;
  uint32_t copies, stride; // of a ring: the number of its buffers and their distance; else 1, 0
  struct live_range live, loop_range; // points; of the loop, where there is one
  // From the op's attributes; allocate-shared changes them.
  uint32_t offset;
  uint32_t double_buffer; // distance to the slot of odd iterations; 0: there is one slot
};

static inline uint32_t shared_item_end(const struct shared_item *i) {
  return i->offset + i->double_buffer + i->bytes;
}
// With two slots it is in use throughout its loop.
static inline struct live_range shared_item_live(const struct shared_item *i) {
  return i->double_buffer ? i->loop_range : i->live;
}

struct shared_items {
  struct ir_context *c;
  struct arena *arena;
  VEC(struct shared_item) items; // in program order
  struct map scratch;            // op -> index + 1
  struct map buffers;            // memdesc value -> struct part_set *: what it may be
  const struct liveness *live;
};

// A buffer of an item that a value may be, or that an op accesses.
enum { SHARED_ANY = UINT32_MAX };
struct shared_part {
  uint32_t item;
  uint32_t number;    // of the buffer in its ring; SHARED_ANY: every one
  MlirOperation loop; // null, or: in its iteration t (from 0) it is (t + number) modulo the copies
};

struct part_set {
  VEC(struct shared_part) at;
};

// Of one function, on `a`.
struct shared_items *shared_items_of(struct ir_context *c, MlirOperation func, uint32_t num_warps,
                                     struct arena *a);

// The buffers that a value of a memdesc type may be.
const struct part_set *shared_parts_of(const struct shared_items *s, MlirValue buffer);

// The order of an op's effects: it reads and writes; if it `synchronizes`, that is a barrier, and
// then it reads once more. Asynchronous copies write from `starts` until a wait at which they have
// `completed` for the waiting thread; other threads need a barrier after it. Products by wgmma read
// `product_reads` until an op that waits for them.
struct shared_effects {
  bool synchronizes;
  bool completes_all; // all copies in flight
  bool waits_for_products;
  unsigned products_left; // groups in flight after that wait: the youngest, the op's own included
  struct part_set reads, writes, late_reads, starts, completed, product_reads;
};

// On the arena of the items. Of the op itself, not of what its regions hold.
struct shared_effects shared_effects_of(const struct shared_items *s, MlirOperation op);
bool shared_effects_any(const struct shared_effects *e);

#endif
