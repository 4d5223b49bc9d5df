// SPDX-License-Identifier: Apache-2.0
// Faults in kernels without a ring, for seeded.c: one table for each kernel of seeded.tile.
#ifndef TESTS_SIMULATOR_FAULTS_H
#define TESTS_SIMULATOR_FAULTS_H

#include "mutate.h"

#include <stddef.h>

static const struct mutation masked_add_faults[] = {
    {"a load without its mask", UNGUARD, "ld.global.b32", 2, 0, NULL, NULL, NULL},
    {"a load with the opposite mask", NEGATE, "ld.global.v2.b32", 1, 0, NULL, NULL, NULL},
    {"a store with the opposite mask", NEGATE, "st.global.v2.b32", 1, 0, NULL, NULL, NULL},
    {"a comparison that takes in one more", REPLACE, "setp.lt.s32", 2, 0, ".lt.", ".le.", NULL},
    {"a mask by or instead of and", REPLACE, "and.pred", 1, 0, "and.", "or.", NULL},
    {"a branch with the opposite condition", NEGATE, "bra", 1, 0, NULL, NULL, NULL},
    {"registers of a wide store exchanged", SWAP, "st.global.v2.b32", 2, 0, "3", "4", NULL},
    {"a wide access at an address for a narrow one", REPLACE, "st.global.v2.b32", 2, 0, "]", "+4]",
     NULL},
};
static const struct mutation total_faults[] = {
    {"a shuffle with another lane", REPLACE, "shfl.sync.bfly", 3, 0, ", 4, 31,", ", 2, 31,", NULL},
    {"a shuffle within half a warp", REPLACE, "shfl.sync.bfly", 5, 0, ", 16, 31,", ", 16, 15,",
     NULL},
    {"a shuffle of fewer lanes than come", REPLACE, "shfl.sync.bfly", 1, 0, "-1;", "65535;", NULL},
    {"a shuffle up instead of across", REPLACE, "shfl.sync.bfly", 2, 0, ".bfly.", ".up.", NULL},
    {"no barrier between store and load", DROP, "bar.sync", 1, 0, NULL, NULL, NULL},
    {"partial sums stored at a wrong stride", REPLACE, "mul.wide.u32", 2, 0, ", 4;", ", 2;", NULL},
    {"a load of shared memory behind what was stored", REPLACE, "ld.shared.v4", 1, 0, "global_smem",
     "global_smem+4", NULL},
    {"a load of too few bytes", REPLACE, "ld.global.b32", 5, 0, "b32", "u16", NULL},
};
static const struct mutation integers_faults[] = {
    {"redux of another operation", REPLACE, "redux.sync.max", 1, 0, ".max.", ".min.", NULL},
    {"redux of bits instead of numbers", REPLACE, "redux.sync.min.s32", 1, 0, ".min.s32",
     ".and.b32", NULL},
    {"redux by or instead of a sum", REPLACE, "redux.sync.add", 1, 0, "redux.sync.add.s32",
     "redux.sync.or.b32", NULL},
    {"redux and the shuffles that it stands for", INSERT, "redux.sync.add", 1, 0, NULL,
     "shfl.sync.bfly.b32 $2, $1, 1, 31, -1;\n\tadd.s32 $1, $1, $2;", NULL},
    {"a barrier that only some threads reach", INSERT, "redux.sync.max", 1, 1, NULL,
     "@%p1 bar.sync 0;", NULL},
    {"no barrier before memory is used again", DROP, "bar.sync", 3, 0, NULL, NULL, NULL},
};
static const struct mutation mixed_faults[] = {
    {"a shuffle with another lane", REPLACE, "shfl.sync.bfly", 2, 0, ", 31,", ", 15,", NULL},
    {"sums of both parts at one address", REPLACE, "st.shared.b32", 2, 0, "+16]", "]", NULL},
};
static const struct mutation running_faults[] = {
    {"a shuffle with another lane", REPLACE, "shfl.sync.bfly", 3, 0, ", 4, 31,", ", 12, 31,", NULL},
    {"operands of a selection exchanged", SWAP, "selp.f32", 6, 0, "1", "2", NULL},
    {"no barrier between store and load", DROP, "bar.sync", 1, 0, NULL, NULL, NULL},
    {"a shift that is wrong by one", REPLACE, "shr.u32", 1, 0, ", 5;", ", 4;", NULL},
};
static const struct mutation transpose_faults[] = {
    {"no barrier between store and load", DROP, "bar.sync", 1, 0, NULL, NULL, NULL},
    {"a wrong swizzle where it is stored", REPLACE, ", 264;", 1, 0, ", 264;", ", 268;", NULL},
    {"a wrong swizzle where it is loaded", REPLACE, ", 12;", 1, 0, ", 12;", ", 20;", NULL},
    {"registers of a wide store exchanged", SWAP, "st.global.v4.b32", 1, 0, "3", "4", NULL},
    {"a store past the end", REPLACE, "st.global.v4.b32", 2, 0, "+2048]", "+2064]", NULL},
};
static const struct mutation counts_faults[] = {
    {"another atomic operation", REPLACE, "atom.acq_rel.gpu.global.add", 1, 0, ".add.u32",
     ".or.b32", NULL},
    {"an atomic maximum of unsigned numbers", REPLACE, "atom.acq_rel.gpu.global.max", 1, 0,
     ".max.s32", ".min.s32", NULL},
    {"an atomic operation without its mask", UNGUARD, "atom.acq_rel.gpu.global.add", 2, 0, NULL,
     NULL, NULL},
    {"a remainder by another power of two", REPLACE, ", -16;", 1, 0, ", -16;", ", -8;", NULL},
    {"a load without its mask", UNGUARD, "ld.global.b32", 2, 0, NULL, NULL, NULL},
};
static const struct mutation unpack_faults[] = {
    {"a shift that is wrong by one", REPLACE, "shl.b32", 1, 0, ", 2;", ", 3;", NULL},
    {"a mask of three bits", REPLACE, ", 15;", 1, 0, ", 15;", ", 7;", NULL},
};
static const struct mutation product_faults[] = {
    {"rows of a fragment of A exchanged", SWAP, "mma.sync", 1, 2, "1", "2", "sm_80"},
    {"registers of a fragment of B exchanged", SWAP, "mma.sync", 2, 3, "1", "2", "sm_80"},
    {"registers of an accumulator exchanged", SWAP, "mma.sync", 9, 4, "2", "3", "sm_80"},
    {"ldmatrix without .trans", REPLACE, ".trans.shared", 1, 0, ".trans", "", "sm_80"},
    {"ldmatrix with .trans", REPLACE, "ldmatrix.sync.aligned.m8n8.x4.shared", 1, 0, ".x4.",
     ".x4.trans.", "sm_80"},
    {"ldmatrix from another row", REPLACE, "ldmatrix.sync", 2, 0, "+2048]", "+1024]", "sm_80"},
    {"no wait for asynchronous copies", DROP, "cp.async.wait_group", 1, 0, NULL, NULL, NULL},
    {"a wait for one group less", REPLACE, "cp.async.wait_group", 2, 0, "1;", "2;", "sm_80"},
    {"copies that are in no group", DROP, "cp.async.commit_group", 1, 0, NULL, NULL, NULL},
    {"no barrier behind the wait", DROP, "bar.sync", 2, 0, NULL, NULL, "sm_80"},
    {"a wait for one group less", REPLACE, "cp.async.wait_group", 1, 0, "1;", "2;", "sm_90a"},
    {"no fence between the proxies", DROP, "fence.proxy.async", 1, 0, NULL, NULL, "sm_90a"},
    {"no barrier in front of wgmma", DROP, "bar.sync", 1, 0, NULL, NULL, "sm_90a"},
    {"wgmma with B the other way", REPLACE, "wgmma.mma_async", 1, 0, ", 0, 1;", ", 0, 0;",
     "sm_90a"},
    {"wgmma with A the other way", REPLACE, "wgmma.mma_async", 2, 0, ", 0, 1;", ", 1, 1;",
     "sm_90a"},
    {"wgmma that forgets its accumulator", REPLACE, "setp.eq.u32 p", 1, 0, "eq", "ne", "sm_90a"},
    {"wgmma of half of K", DROP, "wgmma.mma_async", 2, 0, NULL, NULL, "sm_90a"},
    {"no group of wgmma", DROP, "wgmma.commit_group", 1, 0, NULL, NULL, "sm_90a"},
    {"no wait for wgmma", DROP, "wgmma.wait_group", 1, 0, NULL, NULL, "sm_90a"},
    {"a wait for one wgmma less", REPLACE, "wgmma.wait_group", 1, 0, " 1;", " 2;", "sm_90a"},
    {"sums that are read in flight", DROP, "wgmma.wait_group", 2, 0, NULL, NULL, "sm_90a"},
    {"registers of an accumulator exchanged", SWAP, "wgmma.mma_async", 2, 0, "2", "3", "sm_90a"},
    {"no barrier behind wgmma", DROP, "bar.sync", 2, 0, NULL, NULL, "sm_90a"},
    {"a copy one iteration too late", REPLACE, "setp.le.s32", 1, 0, ".le.", ".lt.", NULL},
    {"a copy to the wrong stage", REPLACE, ", 12288;", 1, 0, ", 12288;", ", 16384;", NULL},
};

static const struct mutation promoted_faults[] = {
    {"a sum that begins with what its registers have", REPLACE, "wgmma.mma_async", 1, 0, ", q, ",
     ", p, ", "sm_90a"},
    {"operands of another type", REPLACE, "wgmma.mma_async", 2, 0, ".e4m3.e5m2", ".e5m2.e5m2",
     "sm_90a"},
    {"a sum that is read in flight", DROP, "wgmma.wait_group", 1, 0, NULL, NULL, "sm_90a"},
    {"a sum that is subtracted", REPLACE, "add.rn.f32", 3, 0, "add", "sub", "sm_90a"},
    {"no barrier in front of the product", DROP, "bar.sync", 1, 0, NULL, NULL, "sm_90a"},
};

// stmatrix exists on Hopper and later.
static const struct mutation half_precision_faults[] = {
    {"stmatrix with .trans", REPLACE, "stmatrix.sync", 1, 0, ".x4.", ".x4.trans.", "sm_90a"},
    {"stmatrix to another row", REPLACE, "stmatrix.sync", 3, 0, "%rd30", "%rd28", "sm_90a"},
    {"registers of stmatrix exchanged", SWAP, "stmatrix.sync", 2, 0, "2", "3", "sm_90a"},
    {"no barrier between matrices and loads", DROP, "bar.sync", 3, 0, NULL, NULL, NULL},
    {"no barrier before memory is used again", DROP, "bar.sync", 2, 0, NULL, NULL, NULL},
    {"halves of a pair exchanged", SWAP, "cvt.rn.f16x2.f32", 3, 0, "2", "3", NULL},
};

#endif
