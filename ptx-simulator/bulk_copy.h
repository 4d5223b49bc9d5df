// SPDX-License-Identifier: Apache-2.0
// Bulk copies under way (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy" and
// "Tensor copy"), and arrivals at mbarriers that wait for cp.async.
//
// A copy happens as a whole, at any time between its instruction and the end of the wait for it:
// each draws from the schedule whether it is early, late, or somewhere between. With `check`,
// whatever its time: the bytes that it writes have no value before the phase of its mbarrier
// completes, and the source of a store must not be written before its thread has waited.
#ifndef TILE_SIMULATOR_BULK_COPY_H
#define TILE_SIMULATOR_BULK_COPY_H

#include "ptx-simulator/bulk_pending.h"

// The instruction: all checks of addresses and order, then the copy is under way. False after a
// fault. Takes what `c` has of the fields above.
bool bulk_begin(struct bulk_copy *c);

// One of the CTA's copies may happen; `must`: nothing else can go on. Whether one did.
bool bulk_step(struct cta *c, bool must);
void bulk_start(struct cta *c); // a CTA begins
// Lanes exit; the last warp of a CTA exits.
void bulk_exit(struct warp *w, const struct op *op, uint32_t lanes);
void bulk_end(struct warp *w, const struct op *op);
// A lane waits until at most so many of its groups of stores are pending; `read`: for the reads of
// their sources only.
void bulk_wait(struct warp *w, unsigned lane, uint64_t groups, bool read);
// A lane waits for its cp.async: arrivals that were to follow come first.
void bulk_arrive_all(struct warp *w, unsigned lane);

// ---- reductions (bulk_reduce.c) ----

// ".add" and a type of PTX, or NULL after a decode error.
const struct reduction *reduction_find(struct decoder *d, struct str operation, const char *type);
// Of the type of a tensor map: NULL if there is none.
const struct reduction *reduction_of_tensor(const struct reduction *any, enum sim_tensor_type type);
unsigned reduction_bytes(const struct reduction *r); // of an element
void reduction_apply(const struct reduction *r, uint8_t *to, const uint8_t *from);

#endif
