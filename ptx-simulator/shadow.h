// SPDX-License-Identifier: Apache-2.0
// The shadow of a CTA's shared memory, reused by CTAs that run one after another: what asynchronous
// copies, the async proxy and mbarriers do to it. Accesses of threads: sim_machine.h.
#ifndef TILE_SIMULATOR_SHADOW_H
#define TILE_SIMULATOR_SHADOW_H

#include "ptx-simulator/sim_machine.h"

// Starts the CTAs of a cluster: nothing is written, and all earlier accesses are ordered.
void shadow_start(struct cluster *k);

// ---- cp.async ----
void shadow_copy_begins(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                        unsigned bytes);
// At the thread's wait. With an agent (mbarrier_agent): whoever acquires its `clock` has waited.
#define NO_AGENT UINT32_MAX
void shadow_copy_arrives(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                         unsigned bytes, uint32_t undefined_bytes, unsigned agent, uint32_t clock);

// ---- the async proxy ----

// Executes fence.proxy.async for these lanes; a fence.mbarrier_init.
void shadow_proxy_fence(struct warp *w, const struct op *op, uint32_t lanes);
void shadow_init_fence(struct warp *w, const struct op *op, uint32_t lanes);
// A read of shared memory by a thread through the async proxy, for `reader` ("wgmma"). Returns
// `hash` mixed with what is there and who wrote it.
uint64_t shadow_async_read(struct warp *w, const struct op *op, unsigned lane,
                           const struct location *at, unsigned bytes, const char *reader,
                           uint64_t hash);
// A bulk load is under way to these bytes of a CTA.
void shadow_load_begins(struct warp *w, const struct op *op, unsigned lane, struct cta *to,
                        uint32_t offset, unsigned bytes);
// Up to 16 of its bytes have come; for agent and clock see shadow_copy_arrives.
void shadow_load_arrives(struct warp *w, const struct op *op, unsigned lane, struct cta *to,
                         uint32_t offset, unsigned bytes, uint32_t undefined_bytes, unsigned agent,
                         uint32_t clock);
// A bulk store may read these bytes from now on; its thread has waited for that.
void shadow_store_begins(struct warp *w, uint32_t offset, unsigned bytes);
void shadow_store_has_read(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                           unsigned bytes);
// An mbarrier begins (mbarrier.init) or ends.
void shadow_mbarrier(struct warp *w, const struct op *op, unsigned lane, uint32_t offset,
                     bool begins);

#endif
