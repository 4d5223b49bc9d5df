// SPDX-License-Identifier: Apache-2.0
// Records of the shadow of shared memory, for the files of the shadow: shadow.c (accesses of
// threads) and shadow_async.c (asynchronous copies, the async proxy, mbarriers).
#ifndef TILE_SIMULATOR_SHADOW_RECORDS_H
#define TILE_SIMULATOR_SHADOW_RECORDS_H

#include "ptx-simulator/cluster.h"
#include "ptx-simulator/shadow.h"

enum { UNWRITTEN, WRITTEN, UNDEFINED, PENDING, MBARRIER };

struct write_record {
  uint32_t clock, op;
  uint32_t proxy_fences; // that the lane had executed
  uint32_t warp : 11;    // of the cluster; behind its warps: a copy that an mbarrier announces
  uint32_t lane : 5;
  uint32_t state : 3;
  uint32_t is_atomic : 1;
  uint32_t is_async : 1; // through the async proxy
  uint32_t pins : 11;    // bulk stores that may still read the byte
};
struct read_record { // by one warp since its last clock whose base is later
  uint32_t clock, op, lanes;
};
struct far_read { // the last one by a warp of another CTA of the cluster
  uint32_t warp;
  struct read_record at;
};
struct shadow {
  uint32_t bytes, warps, first_clock;
  struct write_record *writes;
  struct read_record *reads; // [byte][warp of the CTA]
  struct far_read *far;      // [byte]; NULL before the first
};

struct access_site {
  struct warp *w;
  const struct op *op;
  unsigned lane, bytes;
  const struct location *at;
};

static inline uint32_t op_index(const struct warp *w, const struct op *op) {
  return (uint32_t)(op - w->program->code.at);
}

static inline struct memory_site memory_of(const struct access_site *x) {
  return (struct memory_site){SIM_SHARED, x->at->offset, x->bytes};
}

// By its number in the clocks.
const struct warp *warp_of_cluster(const struct cta *c, unsigned id);
// The thread of a record; of the issue, if it is a copy's.
struct sim_site site_of_write(const struct cta *c, const struct write_record *r);
// Reports an access that finds another one there which is not ordered before it.
void check_write(const struct access_site *x, const struct write_record *r, bool is_read);
void check_reads(const struct access_site *x, uint32_t byte);
// Reports an access to bytes of a copy under way or of an mbarrier; whether it is one.
bool check_busy(const struct access_site *x, const struct write_record *r);
// A write to what a bulk store may still read.
void check_pins(const struct access_site *x, const struct write_record *r, uint32_t byte);
// `op` is what the record names as the access.
void record_write(const struct access_site *x, struct write_record *r, unsigned state,
                  bool is_atomic);
void record_read(const struct access_site *x, uint32_t byte);

#endif
