// SPDX-License-Identifier: Apache-2.0
// Global memory under `check`: which bytes were written by anybody, and which accesses of a launch
// nothing orders.
//
// Barriers order the warps of a CTA, as for shared memory (shadow.c). CTAs are ordered by atomics
// alone: what a warp did before it releases at an address is before what another warp does that then
// acquires there. Releases have a number, counted through the launch, and who acquires one knows
// all releases up to it: with an unrelated one too many, a race is missed, and none is made up.
//
// Threads of a CTA often hold copies of an element: all of them load it, one stores it back. So
// what a thread reads there beside the write of another counts as never written, and is found where
// it decides something; a read that came before the write is none of this.
//
// A write that leaves memory as it was changes nothing for others: programs may write the same
// value, and read beside such a write.
#ifndef TILE_SIMULATOR_GLOBAL_H
#define TILE_SIMULATOR_GLOBAL_H

#include "ptx-simulator/sim_machine.h"

struct global_shadow *global_create(struct run *r);
void global_start_warp(struct warp *w);

// The access of a lane to global memory. `values` are what is there afterwards. Of a read, the mask
// of bytes that another thread of the CTA wrote, unordered.
uint32_t global_read(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                     unsigned bytes, unsigned order);
void global_write(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                  unsigned bytes, unsigned order, const uint8_t *values);
void global_atomic(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                   unsigned bytes, unsigned order, const uint8_t *values);
// Whether global_read returned a mask for the operation; such a value decides something.
bool global_is_raced(const struct run *r, const struct op *op);
void global_report_read(struct warp *w, const struct op *op, unsigned lane);

#endif
