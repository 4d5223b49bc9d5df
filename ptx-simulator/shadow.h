// SPDX-License-Identifier: Apache-2.0
// The shadow of a CTA's shared memory, reused by CTAs that run one after another.
#ifndef TILE_SIMULATOR_SHADOW_H
#define TILE_SIMULATOR_SHADOW_H

#include "ptx-simulator/sim_machine.h"

// Executes fence.proxy.async for these lanes.
void shadow_proxy_fence(struct warp *w, const struct op *op, uint32_t lanes);
// A read of shared memory by the warp through the async proxy. Returns `hash` mixed with what is
// there and who wrote it.
uint64_t shadow_async_read(struct warp *w, const struct op *op, const struct location *at,
                           unsigned bytes, uint64_t hash);
// Starts a CTA: nothing is written, and all earlier accesses are ordered.
void shadow_start(struct cta *c);

#endif
