// SPDX-License-Identifier: Apache-2.0
// The shadow of a CTA's shared memory between CTAs that use it one after another.
#ifndef TILE_SIMULATOR_SHADOW_H
#define TILE_SIMULATOR_SHADOW_H

#include "ptx-simulator/sim_machine.h"

// A new CTA: nothing is written, and all that was before is ordered.
void shadow_start(struct cta *c);

#endif
