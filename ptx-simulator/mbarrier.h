// SPDX-License-Identifier: Apache-2.0
// mbarrier objects of a CTA (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"). An object has 8 bytes of shared memory, which stand for the state kept here.
//
// A phase completes when no arrivals and no bytes are pending. Completion orders what the arriving
// threads did before, and the copies whose bytes it counted, before what a thread does that has
// waited for the phase.
#ifndef TILE_SIMULATOR_MBARRIER_H
#define TILE_SIMULATOR_MBARRIER_H

#include "ptx-simulator/cluster.h"

enum { MBARRIER_BYTES = 8, MBARRIER_TEXT = 384 };
#define MBARRIER_MAX ((1 << 20) - 1) // of the arrivals and of the bytes of a phase

struct mbarrier {
  struct cta *cta;
  uint32_t offset; // in its shared memory
  bool live;
  uint32_t expected, pending;    // arrivals
  int32_t bytes;                 // pending; negative if copies were faster than expect_tx
  uint32_t phase;                // completed phases since init
  uint32_t completed;            // the same, since the CTA began: the clock of its copies
  const struct op *made, *ended; // the init and inval, or NULL
  unsigned warp, lane;           // of the init: the warp's number in the clocks
  const struct op *copy;         // the last bulk load that it counts; NULL: none
  const struct warp *copier;     // its thread
  unsigned copier_lane;
  uint32_t copied_to;       // in shared memory
  const struct op *arrival; // the last arrival; NULL: none
  uint32_t loaded, waited;  // like `completed`: with the last load, as of the last wait
  uint32_t clock, fences;   // of the initialising thread then
  // With `check`: what arrivals so far, and those of completed phases, order.
  struct clock_entry *arriving, *arrived;
  uint32_t acquiring, acquired; // the same, of global memory's releases
};

void mbarriers_start(struct cta *c); // a CTA begins: there is none
// The object at a lane's address. NULL after a fault: there is none.
struct mbarrier *mbarrier_find(struct warp *w, const struct op *op, unsigned lane,
                               enum sim_space space, uint64_t address);
// Its entry in the clocks.
unsigned mbarrier_agent(const struct mbarrier *m);
const struct mbarrier *mbarrier_of_agent(const struct cta *c, unsigned agent);
// From its number among the CTA's.
static inline const struct mbarrier *mbarrier_at(const struct cta *c, unsigned number) {
  return &c->mbarriers[number];
}

struct mbarrier *mbarrier_init(struct warp *w, const struct op *op, unsigned lane,
                               const struct location *at, uint32_t count);
void mbarrier_inval(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m);
// `count` arrivals; `drop`: and so many fewer are expected from the next phase on. They order what
// `releases` lanes did; `cluster`: writes for other CTAs, too. False after a fault.
bool mbarrier_arrive(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m,
                     uint32_t count, bool drop, uint32_t releases, bool cluster);
// Expects more bytes (positive) or completes some. False after a fault.
bool mbarrier_bytes(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m,
                    int64_t bytes);
// cp.async.mbarrier.arrive without .noinc: one more arrival in this phase.
bool mbarrier_add_pending(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m);

// "mbarrier 0x40 (`full`+8), phase 3, 1 of 2 arrivals and 512 bytes pending, last arrival in line
// 20, last copy in line 21 to shared 0x400"; with the CTA, if it is not the warp's
const char *mbarrier_text(const struct warp *w, const struct mbarrier *m, char *ret, size_t size);

#endif
