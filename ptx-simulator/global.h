// SPDX-License-Identifier: Apache-2.0
// Checks of global memory: which bytes were written by any thread, and races between accesses of a
// launch.
//
// Barriers order the warps of a CTA, as for shared memory (shadow.c). CTAs are ordered by atomics
// only: accesses of a warp before its release at an address happen before those of another warp
// after its acquire there. Releases are numbered through the launch, and an acquire of one covers
// all releases up to it: so some races are missed, but no false ones are reported.
//
// Threads of a CTA often hold copies of an element: all of them load it, one stores it back. So a
// read that races with a write of the same CTA counts as unwritten memory, and is reported only
// where the value decides something; a read before the write is not reported.
//
// A write that does not change memory is not a race: programs may write the same value, and read
// concurrently with such a write.
#ifndef TILE_SIMULATOR_GLOBAL_H
#define TILE_SIMULATOR_GLOBAL_H

#include "ptx-simulator/sim_machine.h"

struct global_shadow *global_create(struct run *r);
void global_start_warp(struct warp *w);

// One lane accesses global memory. `values` are the contents afterwards. A read returns the mask of
// bytes that another thread of the CTA wrote without ordering.
uint32_t global_read(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                     unsigned bytes, unsigned order);
void global_write(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                  unsigned bytes, unsigned order, const uint8_t *values);
void global_atomic(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                   unsigned bytes, unsigned order, const uint8_t *values);
// Whether global_read returned a mask for the operation; its value decides something.
bool global_is_raced(const struct run *r, const struct op *op);
void global_report_read(struct warp *w, const struct op *op, unsigned lane);

#endif
