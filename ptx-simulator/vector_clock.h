// SPDX-License-Identifier: Apache-2.0
// Vector clocks: what of other warps' accesses is ordered before a warp's next ones (as in
// FastTrack, Flanagan and Freund, PLDI 2009). A clock has an entry for each warp of the cluster,
// then one for each mbarrier of its CTAs, whose clock counts its phases.
//
// In a cluster of several CTAs a second half has the same entries for reads: an arrival at another
// CTA's mbarrier with the scope of its own CTA orders reads, which have their values, and copies
// that are complete, before what follows the wait for it, but not writes. Rings whose slots are
// copied to several CTAs rely on that, as CUTLASS does (ClusterBarrier::arrive).
//
// A barrier orders all lanes of a warp, an arrival at an mbarrier only the lane that arrives: an
// entry says for which lanes it holds. When arrivals of several lanes are joined, the entry may
// cover accesses of the earlier ones that came after their arrival: so a race may be missed, but no
// false one is reported.
#ifndef TILE_SIMULATOR_VECTOR_CLOCK_H
#define TILE_SIMULATOR_VECTOR_CLOCK_H

#include "base/attrs.h"

#include <stdbool.h>
#include <stdint.h>

struct warp;
struct cta;
struct cluster;

// Covers accesses at clocks below `base`, and those up to `clock` by one of `lanes`. The entry of a
// warp itself has its present clock, and the first one since all its lanes were ordered.
struct clock_entry {
  uint32_t clock, base, lanes;
};

enum { MAX_MBARRIERS = 64 };

// Entries of the clocks in a cluster, in both halves; those of warps come first.
unsigned clock_count(const struct cta *c);
unsigned clock_warps(const struct cta *c);
// The first entry of the mbarriers of this CTA.
unsigned clock_mbarriers(const struct cta *c);
// The entries that order reads.
struct clock_entry *clock_reads(const struct warp *w);
// Whether accesses at `clock` by all of `lanes` are covered.
bool clock_covers(const struct clock_entry *e, uint32_t clock, uint32_t lanes);
// to := what either of them covers
void clock_join(struct clock_entry *to, const struct clock_entry *from, unsigned count);
// The warp's next accesses come after what `from` covers; without `cluster`: of writes, those of
// its own CTA.
void clock_acquire(struct warp *w, const struct clock_entry *from, bool cluster);
// Orders what these lanes did so far before what acquires `to`; without `writes`: reads and copies
// alone.
void clock_release(struct warp *w, uint32_t lanes, struct clock_entry *to, bool writes);
// The warp's own entry.
void clock_set_own(struct warp *w, struct clock_entry own);
// What the warp does from now on comes after a release. Does nothing without clocks.
void clock_advance(struct warp *w);
// The same; and all its lanes are ordered with each other.
void clock_converge(struct warp *w);

#endif
