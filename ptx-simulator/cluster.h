// SPDX-License-Identifier: Apache-2.0
// Thread block clusters (PTX ISA, "Cluster of Cooperative Thread Arrays"): CTAs that run at the
// same time and access each other's shared memory.
//
// Addresses in the space shared::cluster have the rank of a CTA in the upper byte, and the offset in
// its memory: those that `mapa` gives, and also those of the executing CTA's own variables, as on an
// H100 (whoever writes such an address into the descriptor of wgmma has to mask it).
//
// barrier.cluster (PTX ISA, "barrier.cluster"): a phase completes when all threads of the cluster
// that have not exited have arrived. With `check`, an arrival with .release orders what the thread
// did before what another does after its wait.
#ifndef TILE_SIMULATOR_CLUSTER_H
#define TILE_SIMULATOR_CLUSTER_H

#include "ptx-simulator/decode.h"

enum { MAX_CLUSTER = 16 };

struct cluster {
  struct cta *ctas[MAX_CLUSTER]; // by rank
  unsigned count;
  unsigned id[3];
  bool done;           // its CTAs have ended
  uint32_t phase;      // completed phases of its barrier
  const struct op *op; // the first arrival of this phase; NULL: none
  // With `check`: what arrivals so far, and those of completed phases, order.
  struct clock_entry *arriving, *arrived;
  uint32_t acquiring, acquired; // the same, of global memory's releases
};

// Memory for clusters of the launch, with so many warps in each CTA (sim_cta.c).
struct cluster *cluster_create(struct run *r, unsigned warps);
// Starts the CTAs of the launch's cluster of this number.
void cluster_begin(struct cluster *k, struct run *r, uint64_t number);
// The barrier begins: part of that.
void cluster_start(struct cluster *k);
// A CTA of the cluster by its number in the grid; NULL: there is none.
const struct cta *cluster_cta(const struct cluster *k, uint32_t number);
// The CTA that an address in shared::cluster is of; *address becomes the offset there. NULL: the
// cluster has no such CTA.
struct cta *cluster_resolve(const struct cta *c, uint64_t *address);
// The address in shared::cluster of an offset in a CTA's memory.
static inline uint64_t cluster_address(unsigned rank, uint64_t offset) {
  return (uint64_t)rank << 24 | offset;
}
// Completes the phase of the barrier if nobody is missing. Called when threads arrive or exit.
void cluster_update(struct cluster *k);
// "phase 0 of the barrier of the cluster; missing: warp 2 of CTA 0"
const char *cluster_text(const struct warp *w, char *ret, size_t size);

// A warp accesses the shared memory of another CTA of its cluster, which has to have begun. False
// after a fault: the CTA has ended.
bool cluster_check_access(struct warp *w, const struct op *op, unsigned lane, struct cta *to,
                          uint64_t offset, unsigned bytes);
// With `check`: such an access of a thread has to be ordered before the end of the CTA. (Those of
// the async proxy are: the CTA has to wait for the copies.)
void cluster_touch(struct warp *w, const struct op *op, unsigned lane, struct cta *to);
// The last warp of the CTA exits: accesses of others that nothing orders before that.
void cluster_end(struct warp *w, const struct op *op);
// " of CTA 1 of the cluster", if the memory is another CTA's than the warp's; else "".
const char *cluster_whose(const struct warp *w, const struct cta *of, char *ret, size_t size);

#endif
