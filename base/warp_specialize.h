// SPDX-License-Identifier: Apache-2.0
// The choice whether warps of their own issue a kernel's loads
// (docs/decisions/008-producer-warps.md).
#ifndef TILE_BASE_WARP_SPECIALIZE_H
#define TILE_BASE_WARP_SPECIALIZE_H

#include "base/str.h"

enum warp_specialize {
  WARP_SPECIALIZE_AUTO, // wherever it is possible and the loop does not refuse it; the default
  WARP_SPECIALIZE_ON,   // wherever it is possible, whatever loops say
  WARP_SPECIALIZE_OFF,  // nowhere
  WARP_SPECIALIZE_COUNT
};

// "auto", "on", "off".
const char *warp_specialize_name(enum warp_specialize w);
// From such a name, or True (on) or False (off); false: it is neither.
bool warp_specialize_of(struct str name, enum warp_specialize *ret);

#endif
