// SPDX-License-Identifier: Apache-2.0
// Faults in rings that TMA fills, in wgmma that reads them, and in stores by TMA: for seeded.c, of
// its kernels `ring` and `persistent`. Only sm_90a has these instructions.
#ifndef TESTS_SIMULATOR_RING_FAULTS_H
#define TESTS_SIMULATOR_RING_FAULTS_H

#include "mutate.h"

#include <stddef.h>

#define HOPPER "sm_90a"
#define INIT "mbarrier.init"     // of slot 0: full, empty; then of slot 1, 2
#define WAIT "mbarrier.try_wait" // 1: for an empty slot; 2: for a full one
#define LOOP "@!p bra $wait"     // of these waits
#define EXPECT "mbarrier.arrive.expect_tx"
#define RELEASE "mbarrier.arrive.shared"      // 1: in the loop; 2: behind it
#define COPY "cp.async.bulk.tensor.2d.shared" // 1: of A; from 2 on: of B
#define STORE "cp.async.bulk.tensor.2d.global"
#define COMMIT "cp.async.bulk.commit_group"
#define READ "cp.async.bulk.wait_group.read" // 1 to 4: before parts of a tile; 5: at the end
#define NAMED "bar.sync \t%r"   // of a warpgroup, 1 to 4: before parts of a tile are stored
#define ELECTED "@%p9 bra \t$L" // around waits and stores of one thread, alternating

// ---- a ring of three slots, 64x64x32, 4 warps that compute ----

static const struct mutation ring_faults[] = {
    {"no init of a full barrier", DROP, INIT, 1, 0, NULL, NULL, HOPPER},
    {"no init of an empty barrier", DROP, INIT, 2, 0, NULL, NULL, HOPPER},
    {"no init of the last slot", DROP, INIT, 5, 0, NULL, NULL, HOPPER},
    {"two inits of one barrier", INSERT, INIT, 3, 0, NULL, "mbarrier.init.shared::cta.b64 [$1], 1;",
     HOPPER},
    {"init of a full barrier for two arrivals", OPERAND, INIT, 1, 0, "2", "2", HOPPER},
    {"init of an empty barrier for one warp less", OPERAND, INIT, 2, 0, "2", "3", HOPPER},
    {"init of an empty barrier for one warp more", OPERAND, INIT, 4, 0, "2", "5", HOPPER},
    {"init for no arrivals", OPERAND, INIT, 6, 0, "2", "0", HOPPER},
    {"no fence behind the inits", DROP, "fence.mbarrier_init", 1, 0, NULL, NULL, HOPPER},
    {"no barrier behind the inits", DROP, "bar.sync", 1, 0, NULL, NULL, HOPPER},
    {"no wait for an empty slot", DROP, LOOP, 1, 0, NULL, NULL, HOPPER},
    {"a wait for empty slots of the other parity", OPERAND, WAIT, 1, 0, "3", "0", HOPPER},
    {"a wait for empty slots of one parity", OPERAND, WAIT, 1, 0, "3", "1", HOPPER},
    {"a wait for another empty slot", OPERAND, WAIT, 1, 0, "2", "[$1+8]", HOPPER},
    {"fewer bytes expected", OPERAND, EXPECT, 1, 0, "3", "4096", HOPPER},
    {"16 bytes less expected", OPERAND, EXPECT, 1, 0, "3", "8176", HOPPER},
    {"more bytes expected", OPERAND, EXPECT, 1, 0, "3", "12288", HOPPER},
    {"16 bytes more expected", OPERAND, EXPECT, 1, 0, "3", "8208", HOPPER},
    {"an arrival that expects no bytes", REWRITE, EXPECT, 1, 0, NULL,
     "mbarrier.arrive.shared::cta.b64 _, [$1];", HOPPER},
    {"bytes expected without an arrival", REWRITE, EXPECT, 1, 0, NULL,
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$1], $2;", HOPPER},
    {"no bytes expected and no arrival", DROP, EXPECT, 1, 0, NULL, NULL, HOPPER},
    {"bytes expected at another slot's barrier", OPERAND, EXPECT, 1, 0, "2", "[$1+8]", HOPPER},
    {"no copy of A", DROP, COPY, 1, 0, NULL, NULL, HOPPER},
    {"two copies of B", INSERT, COPY, 2, 0, NULL,
     COPY "::cluster.global.tile.mbarrier::complete_tx::bytes [$1], [$2, {$3, $4}], [$5];", HOPPER},
    {"coordinates of A exchanged", OPERAND, COPY, 1, 0, "2", "[$2, {$4, $3}]", HOPPER},
    {"coordinates of B exchanged", OPERAND, COPY, 2, 0, "2", "[$2, {$4, $3}]", HOPPER},
    {"a copy by the other map", OPERAND, COPY, 1, 0, "2", "[%rd17, {$3, $4}]", HOPPER},
    {"a copy that another slot's barrier counts", OPERAND, COPY, 1, 0, "3", "[$5+8]", HOPPER},
    {"a copy that an empty barrier counts", OPERAND, COPY, 2, 0, "3", "[$5+24]", HOPPER},
    {"a copy to a wrong byte", OPERAND, COPY, 1, 0, "1", "[$1+64]", HOPPER},
    {"a copy to another slot", OPERAND, COPY, 2, 0, "1", "[$1+4096]", HOPPER},
    {"slots of A that overlap", REPLACE, ", 12;", 1, 0, ", 12;", ", 11;", HOPPER},
    {"slots of B in those of A", REPLACE, ", 12288;", 1, 0, ", 12288;", ", 8192;", HOPPER},
    {"one slot more for the producer", REPLACE, ", 3;", 1, 0, ", 3;", ", 4;", HOPPER},
    {"one slot less for the producer", REPLACE, ", 3;", 1, 0, ", 3;", ", 2;", HOPPER},
    {"one slot less for those who compute", REPLACE, ", 3;", 2, 0, ", 3;", ", 2;", HOPPER},
    {"one slot less to release", REPLACE, ", 3;", 3, 0, ", 3;", ", 2;", HOPPER},
    {"copies by the whole producer", NEGATE, "bra \t$L", 3, 0, NULL, NULL, HOPPER},
    {"one block more than is read", REPLACE, ".ge.", 1, 0, ".ge.", ".gt.", HOPPER},
    {"one block more than is copied", REPLACE, ".ge.", 2, 0, ".ge.", ".gt.", HOPPER},
    {"no wait for a full slot", DROP, LOOP, 2, 0, NULL, NULL, HOPPER},
    {"a wait for full slots of the other parity", OPERAND, WAIT, 2, 0, "3", "1", HOPPER},
    {"a wait for full slots of one parity", OPERAND, WAIT, 2, 0, "3", "0", HOPPER},
    {"a wait for another full slot", OPERAND, WAIT, 2, 0, "2", "[$1+8]", HOPPER},
    {"a wait for an empty slot before it is read", OPERAND, WAIT, 2, 0, "2", "[$1+24]", HOPPER},
    {"no release", DROP, RELEASE, 1, 0, NULL, NULL, HOPPER},
    {"a release of the slot in use", REPLACE, "setp.gt.u32", 2, 0, ", 1;", ", 0;", HOPPER},
    {"a release of another slot", OPERAND, RELEASE, 1, 0, "2", "[$2+8]", HOPPER},
    {"a release of a full barrier", OPERAND, RELEASE, 1, 0, "2", "[$2+-24]", HOPPER},
    {"a release by every lane", UNGUARD, RELEASE, 1, 0, NULL, NULL, HOPPER},
    {"two releases of a slot", INSERT, RELEASE, 1, 0, NULL,
     "@$1 mbarrier.arrive.shared::cta.b64 _, [$2];", HOPPER},
    {"a release that orders nothing", REPLACE, RELEASE, 1, 0, "arrive", "arrive.relaxed.cta",
     HOPPER},
    {"a store to a barrier", INSERT, RELEASE, 1, 0, NULL, "st.shared.b32 [$2], $2;", HOPPER},
    {"a store to a slot that is read", INSERT, RELEASE, 1, 0, NULL, "st.shared.b32 [%r34], $2;",
     HOPPER},
    {"no fence in front of wgmma", DROP, "wgmma.fence", 1, 0, NULL, NULL, HOPPER},
    {"a fence behind the first wgmma", LOWER, "wgmma.fence", 1, 0, NULL, NULL, HOPPER},
    {"no group of wgmma", DROP, "wgmma.commit_group", 1, 0, NULL, NULL, HOPPER},
    {"no wait for wgmma before a release", DROP, "wgmma.wait_group", 1, 0, NULL, NULL, HOPPER},
    {"a wait for one wgmma less before a release", REPLACE, "wgmma.wait_group", 1, 0, " 1;", " 2;",
     HOPPER},
    {"sums that are read in flight", DROP, "wgmma.wait_group", 2, 0, NULL, NULL, HOPPER},
    {"a wait for one wgmma less behind the loop", REPLACE, "wgmma.wait_group", 2, 0, " 0;", " 1;",
     HOPPER},
    {"A without a swizzle", OPERAND, "or.b64", 1, 0, "3", "137439019008", HOPPER},
    {"slots of A that overlap where they are read", REPLACE, ", 12;", 2, 0, ", 12;", ", 11;",
     HOPPER},
    {"B at a wrong byte", REPLACE, ", 12288;", 2, 0, ", 12288;", ", 12320;", HOPPER},
};

// ---- two warpgroups that compute, a ring of two slots, and tiles of 128x256 that TMA stores ----

static const struct mutation persistent_faults[] = {
    {"no fence between stmatrix and the store", DROP, "fence.proxy.async", 1, 0, NULL, NULL,
     HOPPER},
    {"no fence before the last part is stored", DROP, "fence.proxy.async", 4, 0, NULL, NULL,
     HOPPER},
    {"no barrier before the store", DROP, NAMED, 1, 0, NULL, NULL, HOPPER},
    {"no barrier before the last part is stored", DROP, NAMED, 4, 0, NULL, NULL, HOPPER},
    {"a barrier that the producer is to join", REPLACE, NAMED, 1, 0, "128", "256", HOPPER},
    {"a barrier of half a warpgroup", REPLACE, NAMED, 2, 0, "128", "64", HOPPER},
    {"a barrier of one warp more", REPLACE, NAMED, 3, 0, "128", "160", HOPPER},
    {"a barrier of no whole warps", REPLACE, NAMED, 3, 0, "128", "120", HOPPER},
    {"a barrier of the whole program", REPLACE, NAMED, 1, 0, ", 128", "", HOPPER},
    {"a barrier that does not exist", OPERAND, NAMED, 2, 0, "1", "16", HOPPER},
    {"a barrier of the other threads", OPERAND, NAMED, 4, 0, "1", "0", HOPPER},
    {"a store in no group", DROP, COMMIT, 1, 0, NULL, NULL, HOPPER},
    {"the last store in no group", DROP, COMMIT, 4, 0, NULL, NULL, HOPPER},
    {"no wait for the buffer of the tile before", DROP, READ, 1, 0, NULL, NULL, HOPPER},
    {"no wait for the first buffer", DROP, READ, 2, 0, NULL, NULL, HOPPER},
    {"no wait for the second buffer", DROP, READ, 3, 0, NULL, NULL, HOPPER},
    {"a wait for one store less", REPLACE, READ, 2, 0, "read 0", "read 1", HOPPER},
    {"a wait for two stores less", REPLACE, READ, 3, 0, "read 0", "read 2", HOPPER},
    {"a wait by threads that store nothing", NEGATE, ELECTED, 3, 0, NULL, NULL, HOPPER},
    {"a wait behind the barrier", DROP, READ, 4, 0, NULL, NULL, HOPPER},
    {"no wait for stores at the end", DROP, READ, 5, 0, NULL, NULL, HOPPER},
    {"a wait at the end for one store less", REPLACE, READ, 5, 0, "read 0", "read 1", HOPPER},
    {"stores by all threads", DROP, ELECTED, 2, 0, NULL, NULL, HOPPER},
    {"coordinates of a store exchanged", OPERAND, STORE, 1, 0, "1", "[$1, {$3, $2}]", HOPPER},
    {"a store one column too far", OPERAND, STORE, 2, 0, "1", "[$1, {65, $3}]", HOPPER},
    {"a store of the other buffer", OPERAND, STORE, 3, 0, "2", "[$4+16384]", HOPPER},
    {"a store of a slot", OPERAND, STORE, 4, 0, "2", "[%r161]", HOPPER},
    {"a store by the map of B", OPERAND, STORE, 1, 0, "1", "[%rd2, {$2, $3}]", HOPPER},
    {"a swizzle of other chunks", REPLACE, ", 16;", 1, 0, ", 16;", ", 48;", HOPPER},
    {"stmatrix to the other buffer", OPERAND, "stmatrix", 5, 0, "1", "[$1+49152]", HOPPER},
    {"no stmatrix", DROP, "stmatrix", 16, 0, NULL, NULL, HOPPER},
    {"too many registers asked for", REPLACE, "setmaxnreg.inc", 1, 0, "232", "240", HOPPER},
    {"registers that are not released", DROP, "setmaxnreg.dec", 1, 0, NULL, NULL, HOPPER},
    {"too few registers released", REPLACE, "setmaxnreg.dec", 1, 0, "40", "48", HOPPER},
    {"registers released that the warps lack", REPLACE, "setmaxnreg.dec", 1, 0, "40", "176",
     HOPPER},
    {"registers asked for that the warps have", REPLACE, "setmaxnreg.inc", 1, 0, "232", "160",
     HOPPER},
    {"setmaxnreg twice", INSERT, "setmaxnreg.inc", 1, 0, NULL,
     "setmaxnreg.inc.sync.aligned.u32 240;", HOPPER},
    {"setmaxnreg of some warps", REPLACE, "setmaxnreg.dec", 1, 0, "setmaxnreg",
     "setp.lt.u32 %p2, %r1, 288; @%p2 setmaxnreg", HOPPER},
    {"more registers at entry than there are", REPLACE, ".maxnreg", 1, 0, "168", "128", HOPPER},
    {"no wait for an empty slot", DROP, LOOP, 1, 0, NULL, NULL, HOPPER},
    {"no wait for a full slot", DROP, LOOP, 2, 0, NULL, NULL, HOPPER},
    {"a wait for empty slots of one parity", OPERAND, WAIT, 1, 0, "3", "1", HOPPER},
    {"a wait for full slots of one parity", OPERAND, WAIT, 2, 0, "3", "0", HOPPER},
    {"a box of B less", DROP, COPY, 4, 0, NULL, NULL, HOPPER},
    {"a box of B over another one", REPLACE, ", 8192;", 1, 0, ", 8192;", ", 4096;", HOPPER},
    {"a box of B at wrong columns", OPERAND, COPY, 3, 0, "2", "[$2, {128, $4}]", HOPPER},
    {"bytes of A alone expected", OPERAND, EXPECT, 1, 0, "3", "8192", HOPPER},
    {"bytes of another box expected", OPERAND, EXPECT, 1, 0, "3", "28672", HOPPER},
    {"no release in the loop", DROP, RELEASE, 1, 0, NULL, NULL, HOPPER},
    {"no release behind the loop", DROP, RELEASE, 2, 0, NULL, NULL, HOPPER},
    {"a release behind the loop of the other slot", OPERAND, RELEASE, 2, 0, "2", "[$2+8]", HOPPER},
    {"a release by one warpgroup", OPERAND, INIT, 2, 0, "2", "4", HOPPER},
    {"no fence in front of wgmma", DROP, "wgmma.fence", 1, 0, NULL, NULL, HOPPER},
    {"no wait for wgmma before a release", DROP, "wgmma.wait_group", 1, 0, NULL, NULL, HOPPER},
    {"sums that are read in flight", DROP, "wgmma.wait_group", 2, 0, NULL, NULL, HOPPER},
    {"both warpgroups with the same rows", REPLACE, ", -4096;", 1, 0, "-4096", "0", HOPPER},
};

#endif
