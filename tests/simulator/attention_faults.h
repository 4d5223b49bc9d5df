// SPDX-License-Identifier: Apache-2.0
// Faults in ping-pong: for seeded.c, of its kernel `attention`, whose two warpgroups take turns at the
// products of an iteration. Only sm_90a has such kernels.
#ifndef TESTS_SIMULATOR_ATTENTION_FAULTS_H
#define TESTS_SIMULATOR_ATTENTION_FAULTS_H

#include "ring_faults.h"

#define ARRIVE "bar.arrive" // 1: for the first warpgroup, before the loop; 2: for the next one
#define TURN NAMED          // 1: a warpgroup waits for its turn

static const struct mutation attention_faults[] = {
    {"no arrival for the first turn", DROP, ARRIVE, 1, 0, NULL, NULL, HOPPER},
    {"two arrivals for the first turn", INSERT, ARRIVE, 1, 0, NULL, "bar.arrive $1, 256;", HOPPER},
    {"an arrival of half a warpgroup", OPERAND, ARRIVE, 1, 0, "2", "192", HOPPER},
    {"an arrival for the other warpgroup", OPERAND, ARRIVE, 1, 0, "1", "5", HOPPER},
    {"a round that does not end", DROP, ARRIVE, 2, 0, NULL, NULL, HOPPER},
    {"a round that ends twice", INSERT, ARRIVE, 2, 0, NULL, "bar.arrive $1, 256;", HOPPER},
    {"a round that ends at one barrier always", OPERAND, ARRIVE, 2, 0, "1", "4", HOPPER},
    {"a round that does not begin", DROP, TURN, 1, 0, NULL, NULL, HOPPER},
    {"a round that begins for a warpgroup alone", OPERAND, TURN, 1, 0, "2", "128", HOPPER},
    {"turns that begin at one barrier", OPERAND, TURN, 1, 0, "1", "4", HOPPER},
    {"turns at the barrier of all warps", OPERAND, TURN, 1, 0, "1", "1", HOPPER},
};

#endif
