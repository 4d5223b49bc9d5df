// SPDX-License-Identifier: Apache-2.0
// The names of the choice, as of --warp-specialize.
#include "base/warp_specialize.h"

static const char *const names[WARP_SPECIALIZE_COUNT] = {
    [WARP_SPECIALIZE_AUTO] = "auto", [WARP_SPECIALIZE_ON] = "on", [WARP_SPECIALIZE_OFF] = "off"};

const char *warp_specialize_name(enum warp_specialize w) { return names[w]; }

bool warp_specialize_of(struct str name, enum warp_specialize *ret) {
  for (int w = 0; w < WARP_SPECIALIZE_COUNT; w++)
    if (str_is(name, names[w]))
      return *ret = (enum warp_specialize)w, true;
  bool on = str_is(name, "True"), off = str_is(name, "False");
  *ret = on ? WARP_SPECIALIZE_ON : off ? WARP_SPECIALIZE_OFF : WARP_SPECIALIZE_AUTO;
  return on || off;
}
