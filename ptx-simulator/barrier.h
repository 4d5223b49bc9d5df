// SPDX-License-Identifier: Apache-2.0
// Shared by the files of CTA barriers.
#ifndef TILE_SIMULATOR_BARRIER_H
#define TILE_SIMULATOR_BARRIER_H

#include "ptx-simulator/decode.h"

enum { BAR_SYNC, BAR_ARRIVE, BAR_RED };
enum { RED_POPC, RED_AND, RED_OR };

// The `info` of bar and barrier.
struct barrier_op {
  unsigned kind, reduction;
  bool has_count, aligned, negated;
};

#endif
