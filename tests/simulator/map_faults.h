// SPDX-License-Identifier: Apache-2.0
// Faults in a tensor map that a program makes, for seeded.c: its fields, its fences, and changes
// while copies by it are under way. Of the kernel `made`: 64x64x32, a ring of three slots, two
// matrices.
#ifndef TESTS_SIMULATOR_MAP_FAULTS_H
#define TESTS_SIMULATOR_MAP_FAULTS_H

#include "ring_faults.h"

#define FIELD(name) "tensormap.replace.tile." name "."
#define ZEROS "st.shared.v2.b64"     // 1 to 8: of the map in shared memory
#define TO_GLOBAL "st.global.v2.b64" // 1 to 8: of its copy
#define PUBLISH "fence.proxy.tensormap::generic.release"
#define SEE "fence.proxy.tensormap::generic.acquire"

static const struct mutation made_faults[] = {
    {"a map that begins with what was there", DROP, ZEROS, 1, 0, NULL, NULL, HOPPER},
    {"no rank", DROP, FIELD("rank"), 1, 0, NULL, NULL, HOPPER},
    {"a rank of 1", REPLACE, FIELD("rank"), 1, 0, ", 1;", ", 0;", HOPPER},
    {"a rank of 3", REPLACE, FIELD("rank"), 1, 0, ", 1;", ", 2;", HOPPER},
    {"a rank of 6", REPLACE, FIELD("rank"), 1, 0, ", 1;", ", 5;", HOPPER},
    {"no box", DROP, FIELD("box_dim"), 1, 0, NULL, NULL, HOPPER},
    {"a box of half the columns", REPLACE, FIELD("box_dim"), 1, 0, ", 32;", ", 16;", HOPPER},
    {"a box of half the rows", REPLACE, FIELD("box_dim"), 2, 0, ", 64;", ", 32;", HOPPER},
    {"a box of no rows", REPLACE, FIELD("box_dim"), 2, 0, ", 64;", ", 0;", HOPPER},
    {"a box of 512 rows", REPLACE, FIELD("box_dim"), 2, 0, ", 64;", ", 512;", HOPPER},
    {"two boxes of one dimension", REPLACE, FIELD("box_dim"), 2, 0, " 1,", " 0,", HOPPER},
    {"no element stride", DROP, FIELD("element_stride"), 2, 0, NULL, NULL, HOPPER},
    {"an element stride of 0", REPLACE, FIELD("element_stride"), 1, 0, ", 1;", ", 0;", HOPPER},
    {"no element type", DROP, FIELD("elemtype"), 1, 0, NULL, NULL, HOPPER},
    {"elements of 4 bytes", REPLACE, FIELD("elemtype"), 1, 0, ", 6;", ", 7;", HOPPER},
    {"elements of 1 byte", REPLACE, FIELD("elemtype"), 1, 0, ", 6;", ", 0;", HOPPER},
    {"no such element type", REPLACE, FIELD("elemtype"), 1, 0, ", 6;", ", 16;", HOPPER},
    {"no layout", DROP, FIELD("interleave_layout"), 1, 0, NULL, NULL, HOPPER},
    {"no swizzle mode", DROP, FIELD("swizzle_mode"), 1, 0, NULL, NULL, HOPPER},
    {"no swizzle", REPLACE, FIELD("swizzle_mode"), 1, 0, ", 2;", ", 0;", HOPPER},
    {"a swizzle narrower than a row", REPLACE, FIELD("swizzle_mode"), 1, 0, ", 2;", ", 1;", HOPPER},
    {"a swizzle wider than a row", REPLACE, FIELD("swizzle_mode"), 1, 0, ", 2;", ", 3;", HOPPER},
    {"no fill mode", DROP, FIELD("fill_mode"), 1, 0, NULL, NULL, HOPPER},
    {"no address", DROP, FIELD("global_address"), 1, 0, NULL, NULL, HOPPER},
    {"an address that is not aligned", INSERT, "add.s64 \t%rd28", 1, 0, NULL, "add.s64 $1, $1, 8;",
     HOPPER},
    {"no size", DROP, FIELD("global_dim"), 1, 0, NULL, NULL, HOPPER},
    {"a size of 0", OPERAND, FIELD("global_dim"), 2, 0, "3", "0", HOPPER},
    {"fewer rows", OPERAND, FIELD("global_dim"), 2, 0, "3", "63", HOPPER},
    {"rows for columns", OPERAND, FIELD("global_dim"), 1, 0, "3", "64", HOPPER},
    {"no stride", DROP, FIELD("global_stride"), 1, 0, NULL, NULL, HOPPER},
    {"another stride", OPERAND, FIELD("global_stride"), 1, 0, "3", "64", HOPPER},
    {"a stride of no whole chunks", OPERAND, FIELD("global_stride"), 1, 0, "3", "72", HOPPER},
    {"16 bytes of the map stay behind", DROP, TO_GLOBAL, 2, 0, NULL, NULL, HOPPER},
    {"a map at another place", OPERAND, COPY, 1, 0, "2", "[$2+128, {$3, $4}]", HOPPER},
    {"a map at no multiple of 64", OPERAND, COPY, 1, 0, "2", "[$2+32, {$3, $4}]", HOPPER},
    {"no release fence", DROP, PUBLISH, 1, 0, NULL, NULL, HOPPER},
    {"a release fence of another proxy", REWRITE, PUBLISH, 1, 0, NULL, "fence.proxy.async;",
     HOPPER},
    {"a release fence behind the acquire fence", LOWER, PUBLISH, 1, 0, NULL, NULL, HOPPER},
    {"no acquire fence", DROP, SEE, 1, 0, NULL, NULL, HOPPER},
    {"an acquire fence of another map", OPERAND, SEE, 1, 0, "1", "[$1+128]", HOPPER},
    {"a fence of memory in place of the acquire fence", REWRITE, SEE, 1, 0, NULL,
     "fence.acq_rel.gpu;", HOPPER},
    {"a change behind the fences", INSERT, SEE, 1, 0, NULL, "st.global.b64 [$1+8], $1;", HOPPER},
    {"no wait for copies by the map", DROP, LOOP, 2, 0, NULL, NULL, HOPPER},
    {"a wait for the copy before the last one", OPERAND, WAIT, 3, 0, "3", "1", HOPPER},
    {"a wait for the copies before", OPERAND, WAIT, 2, 0, "3", "0", HOPPER},
    {"a wait for copies to come", OPERAND, WAIT, 2, 0, "3", "%r82", HOPPER},
    {"a slot of memory without taking it", DROP, "atom.acquire.gpu.global.cas", 1, 0, NULL, NULL,
     HOPPER},
};

#endif
