// SPDX-License-Identifier: Apache-2.0
// Faults in the protocol of clusters: for seeded.c, of its kernel `pair`, two programs that copy
// half of each block of B to both. Only sm_90a has these instructions.
#ifndef TESTS_SIMULATOR_CLUSTER_FAULTS_H
#define TESTS_SIMULATOR_CLUSTER_FAULTS_H

#include "ring_faults.h"

#define MEET "barrier.cluster.arrive" // 1: behind the inits; 2: at the end
#define MET "barrier.cluster.wait"
#define MASK "mov.b16" // of the CTAs that a part is copied to
#define MULTICAST ".multicast::cluster"
#define FAR "mapa.shared::cluster" // 1: in the loop; 2: behind it
#define FAR_RELEASE "mbarrier.arrive.shared::cluster"
#define ONLY_ONE(what)                                                                             \
  "{ .reg .pred q; .reg .b32 c; mov.u32 c, %cluster_ctarank; setp.eq.u32 q, c, 1; " what "; }"

static const struct mutation pair_faults[] = {
    // ---- the beginning and the end ----
    {"no arrival at the cluster's barrier behind the inits", DROP, MEET, 1, 0, NULL, NULL, HOPPER},
    {"no wait for the cluster behind the inits", DROP, MET, 1, 0, NULL, NULL, HOPPER},
    {"an arrival behind the inits that orders nothing", REPLACE, MEET, 1, 0, "release", "relaxed",
     HOPPER},
    {"one CTA does not arrive behind the inits", REWRITE, MEET, 1, 0, NULL,
     ONLY_ONE("@!q barrier.cluster.arrive.release"), HOPPER},
    {"no arrival at the end", DROP, MEET, 2, 0, NULL, NULL, HOPPER},
    {"an arrival at the end that orders nothing", REPLACE, MEET, 2, 0, "release", "relaxed",
     HOPPER},
    {"one CTA ends without the other", REWRITE, MEET, 2, 0, NULL,
     ONLY_ONE("@q exit; barrier.cluster.arrive.release"), HOPPER},
    {"one CTA ends at the beginning", INSERT, MET, 1, 0, NULL, ONLY_ONE("@q exit"), HOPPER},
    {"the cluster's barrier twice at the end", INSERT, MEET, 2, 0, NULL, "barrier.cluster.arrive;",
     HOPPER},
    {"a warp that does not come to the end", REWRITE, MEET, 2, 0, NULL,
     "{ .reg .pred q; setp.lt.u32 q, %r1, 32; @!q barrier.cluster.arrive.release; }", HOPPER},
    // ---- copies ----
    {"a part for its own CTA only", REPLACE, MASK, 1, 0, ", 3;", ", 1;", HOPPER},
    {"a part for the other CTA only", REPLACE, MASK, 1, 0, ", 3;", ", 2;", HOPPER},
    {"a part for CTAs that do not exist", REPLACE, MASK, 1, 0, ", 3;", ", 7;", HOPPER},
    {"a part for nobody", REPLACE, MASK, 1, 0, ", 3;", ", 0;", HOPPER},
    {"no part", DROP, MULTICAST, 1, 0, NULL, NULL, HOPPER},
    {"no part of one CTA", REWRITE, MASK, 1, 0, NULL, ONLY_ONE("mov.b16 $1, 3; @q mov.b16 $1, 2"),
     HOPPER},
    {"a part that is copied twice", INSERT, MULTICAST, 1, 0, NULL,
     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
     ".multicast::cluster [$1], [$2, {$3, $4}], [$5], $6;",
     HOPPER},
    {"a part that another slot's barrier counts", OPERAND, MULTICAST, 1, 0, "3", "[$5+8]", HOPPER},
    {"parts at one offset", OPERAND, MULTICAST, 1, 0, "1", "[%r9]", HOPPER},
    {"parts of the same rows", OPERAND, MULTICAST, 1, 0, "2", "[$2, {$3, %r74}]", HOPPER},
    {"a part without a multicast", REWRITE, MULTICAST, 1, 0, NULL,
     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$1], [$2, "
     "{$3, $4}], [$5];",
     HOPPER},
    {"bytes of the own part expected", REPLACE, "8192", 1, 0, "8192", "6144", HOPPER},
    {"bytes of three parts expected", REPLACE, "8192", 1, 0, "8192", "10240", HOPPER},
    // ---- releases ----
    {"an empty barrier that counts one CTA", REPLACE, "selp.b32", 1, 0, "8, 4", "4, 4", HOPPER},
    {"an empty barrier that counts a warp more", REPLACE, "selp.b32", 1, 0, "8, 4", "9, 4", HOPPER},
    {"no release", DROP, FAR_RELEASE, 1, 0, NULL, NULL, HOPPER},
    {"releases of one CTA's slot", OPERAND, FAR, 1, 0, "3", "0", HOPPER},
    {"a release that orders nothing", REPLACE, FAR_RELEASE, 1, 0, "arrive.shared",
     "arrive.relaxed.cluster.shared", HOPPER},
    {"a wait for empty slots that orders nothing", REPLACE, WAIT, 1, 0, "parity.shared",
     "parity.relaxed.cluster.shared", HOPPER},
    {"no wait for an empty slot", DROP, LOOP, 1, 0, NULL, NULL, HOPPER},
    {"a release of a CTA that does not exist", OPERAND, FAR, 1, 0, "3", "2", HOPPER},
    {"a release without mapa", DROP, FAR, 1, 0, NULL, NULL, HOPPER},
    {"a release by every lane", UNGUARD, FAR_RELEASE, 1, 0, NULL, NULL, HOPPER},
};

#endif
