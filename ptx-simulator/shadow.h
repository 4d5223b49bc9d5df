// SPDX-License-Identifier: Apache-2.0
// The shadow of a CTA's shared memory, reused by CTAs that run one after another.
#ifndef TILE_SIMULATOR_SHADOW_H
#define TILE_SIMULATOR_SHADOW_H

#include "ptx-simulator/sim_machine.h"

// Starts a CTA: nothing is written, and all earlier accesses are ordered.
void shadow_start(struct cta *c);

#endif
