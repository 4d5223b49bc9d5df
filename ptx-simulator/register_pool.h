// SPDX-License-Identifier: Apache-2.0
// The registers of a CTA's warps under setmaxnreg (PTX ISA, "setmaxnreg").
#ifndef TILE_SIMULATOR_REGISTER_POOL_H
#define TILE_SIMULATOR_REGISTER_POOL_H

#include "ptx-simulator/decode.h"

struct register_pool {
  unsigned entry; // registers of a thread at the start
  unsigned free;  // registers of a warp's thread that warps have released
  unsigned per_thread[MAX_WARPS];
  const struct op *last[MAX_WARPS]; // the last setmaxnreg, or NULL
  unsigned count[MAX_WARPS];        // how many of them
};

void registers_start(struct cta *c); // a CTA begins
void registers_exit(struct warp *w, const struct op *op);
// What a warp that waits wants: " for 64 more registers per thread; 24 are free". Returns `ret`.
const char *registers_text(const struct warp *w, char *ret, size_t size);

#endif
