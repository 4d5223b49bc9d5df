// SPDX-License-Identifier: Apache-2.0
// Tensor maps that a program writes (PTX ISA, "tensormap.replace" and fence.proxy.tensormap in
// "membar / fence"). With `check`: a copy may use a map in global memory that the launch wrote only
// behind a release fence of the thread that wrote it and an acquire fence, of this map, of the
// thread that issues the copy; and a map may be written only when the thread has waited for the
// loads by it.
#ifndef TILE_SIMULATOR_MAP_FENCES_H
#define TILE_SIMULATOR_MAP_FENCES_H

#include "ptx-simulator/decode.h"
#include "ptx-simulator/mbarrier.h"

// The rest of fence.proxy, from "tensormap" on.
bool decode_map_fence(struct decoder *d);
// A thread writes global memory, in a program that makes maps.
void made_map_written(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                      unsigned bytes);
// A thread issues a copy by the map at an address of global memory; it begins, and the mbarrier
// counts it.
void made_map_used(struct warp *w, const struct op *op, unsigned lane, const struct location *at);
void made_map_copied(struct warp *w, const struct op *op, uint64_t map, const struct mbarrier *m);

#endif
