// SPDX-License-Identifier: Apache-2.0
// The parts of ring_protocol.h: one function for each group of rules, and what they share.
#ifndef TILE_LOWERING_ANALYSIS_RING_PROTOCOL_PARTS_H
#define TILE_LOWERING_ANALYSIS_RING_PROTOCOL_PARTS_H

#include "base/vec.h"
#include "lowering/analysis/ring_protocol.h"
#include "mlir-dialects/build.h"

enum { PROTOCOL_RINGS = 32, PROTOCOL_STORES = 32, PROTOCOL_BUFFERS = 8 };

// Who executes an op.
enum protocol_role { ROLE_ALL, ROLE_PRODUCER, ROLE_LEADER, ROLE_COMPUTING };

struct protocol_ring {
  int64_t number, slots;
  int64_t ctas; // that share copies to it; 0: none do
  MlirValue barriers;
  MlirValue buffers[PROTOCOL_BUFFERS]; // local_allocs that its copies fill
  unsigned buffer_count;
  unsigned inits;
  MlirOperation first, first_empty, first_full; // ops of the ring; null: there is none
};

struct protocol {
  struct ir_context *c;
  struct arena *a;
  MlirOperation module, function;
  struct protocol_ring rings[PROTOCOL_RINGS];
  unsigned ring_count;
  MlirValue stores[PROTOCOL_STORES]; // local_allocs that map_store reads
  MlirOperation store_ops[PROTOCOL_STORES];
  unsigned store_count;
  bool has_barriers; // insert-barriers has run
  bool is_quiet;     // while a fixpoint is sought
  bool failed;
  struct map reported; // ops
};

// Reports a violation, once for an op.
void protocol_violation(struct protocol *p, MlirOperation op, const char *fmt, ...) PRINTF(3, 4);
enum protocol_role protocol_role_of(struct protocol *p, MlirOperation op);
// The ring of an op that has the attribute `ring`; the ring that a buffer belongs to. NULL: none.
struct protocol_ring *protocol_ring_of(struct protocol *p, MlirOperation op);
struct protocol_ring *protocol_ring_with(struct protocol *p, MlirValue alloc);
// The local_alloc that a memdesc is a part of, and the number of the slot, null for the whole.
MlirValue protocol_buffer_of(struct protocol *p, MlirValue memdesc, MlirValue *ret_slot);

void protocol_check_producer(struct protocol *p);
void protocol_check_positions(struct protocol *p);
void protocol_check_readers(struct protocol *p); // and stores
void protocol_check_registers(struct protocol *p);
void protocol_check_clusters(struct protocol *p);

#endif
