// SPDX-License-Identifier: Apache-2.0
// Proves that the protocols of rings (mlir-dialects/rings.h) and of stores through tensor maps hold
// in every execution of a kernel. The verifier between passes uses it.
//
//   who        one ring_init by all threads; ring_empty and map_copy by the first thread of the
//              producer; ring_full, ring_release, reads and barriers by the warps that compute; an
//              end of each buffer
//   producer   copies go to the slot that ring_empty returned, each buffer once, and have together
//              the bytes that it expects; boxes and swizzle of the map are those of the buffer
//   readers    a slot is read between its ring_full and its release; a product in flight reads
//              until the wait for it; no warp waits for a slot while it holds all; none is held at
//              the end
//   positions  both sides advance equally often: in loops and branches with equal bounds
//   stores     the buffer of a map_store is not written before a map_wait, and, where the barriers
//              are there, a barrier; and a barrier is between a write and the map_store
//   clusters   CTAs that share copies meet behind the inits of their rings, and before one of them
//              ends; each copies an equal part of the rows
//   registers  the shares of setmaxnreg are those that the CTA has
//
// PTX ISA: "mbarrier", "cp.async.bulk.tensor", "wgmma", "setmaxnreg".
#ifndef TILE_LOWERING_ANALYSIS_RING_PROTOCOL_H
#define TILE_LOWERING_ANALYSIS_RING_PROTOCOL_H

#include "mlir-dialects/ir.h"

// Checks all functions of the module; reports each violation at its op as E0602. True if there is
// none.
bool ring_protocol_check(struct ir_context *c, MlirOperation module, struct arena *scratch);

#endif
