// SPDX-License-Identifier: Apache-2.0
// Undefined values (`check`). Each byte of a lane's register is defined or not; operations
// propagate this, and it is a violation only where such a value decides something: compilers also
// move values that are never used.
#include "ptx-simulator/decode.h"
#include "ptx-simulator/global.h"
#include "ptx-simulator/wgmma_fence.h"

void set_defined(struct warp *w, int32_t slot, uint32_t lanes) {
  if (w->undefined && slot != NO_SLOT)
    w->undefined[slot] &= ~lanes;
}

void set_undefined(struct warp *w, const struct op *op, int32_t slot, unsigned lane,
                   unsigned bytes) {
  if (!w->undefined || slot == NO_SLOT)
    return;
  uint32_t bit = 1u << lane;
  if (!bytes) {
    w->undefined[slot] &= ~bit;
    return;
  }
  w->undefined[slot] |= bit;
  w->undefined_bytes[slot][lane] = (uint8_t)bytes;
  w->origin[slot] = op;
}

// The operation that the undefined value comes from; NULL for a register that was never written.
static const struct op *origin_of(const struct warp *w, int32_t slot) {
  return slot == NO_SLOT ? NULL : w->origin[slot];
}

static void report_value(struct warp *w, const struct op *op, const struct op *origin,
                         unsigned lane, const char *what) {
  struct memory_site at = {SIM_GLOBAL, 0, 1};
  if (!origin) {
    warn(w, op, lane, SIM_UNINITIALISED, NULL, NULL, "%s is in a register that was never written",
         what);
    return;
  }
  at.address = unwritten_address(w, origin, lane);
  struct sim_site other = site_of(w, origin, lane);
  if (origin->wgmma && origin->wgmma->is_product) {
    warn(w, op, lane, SIM_UNINITIALISED, NULL, &other,
         "%s is a sum of the wgmma of line %u, which the warp has not waited for with "
         "wgmma.wait_group",
         what, other.line);
    return;
  }
  if (!at.address && global_is_raced(w->run, origin))
    global_report_read(w, origin, lane);
  else
    warn(w, op, lane, SIM_UNINITIALISED, at.address ? &at : NULL, &other,
         "%s was never written: it was read from memory", what);
}

void report_undefined(struct warp *w, const struct op *op, int32_t slot, uint32_t lanes,
                      unsigned bytes, const char *what) {
  EACH_LANE(lane, lanes & w->undefined[slot]) {
    if (!(w->undefined_bytes[slot][lane] & ((1u << bytes) - 1)))
      continue;
    const struct op *origin = origin_of(w, slot);
    report_value(w, op, origin, lane, what);
    w->undefined[slot] &= ~lanes; // once
    return;
  }
}

void spread_undefined(struct warp *w, const struct op *op, uint32_t lanes, const int32_t *results,
                      unsigned result_count, const int32_t *sources, unsigned source_count) {
  if (!w->undefined)
    return;
  uint32_t any = 0;
  const struct op *origin = NULL;
  for (unsigned i = 0; i < source_count; i++)
    if (w->undefined[sources[i]] & lanes) {
      any |= w->undefined[sources[i]];
      origin = w->origin[sources[i]];
    }
  (void)op;
  for (unsigned i = 0; i < result_count; i++) {
    if (results[i] == NO_SLOT)
      continue;
    w->undefined[results[i]] &= ~lanes;
    EACH_LANE(lane, any & lanes)
    set_undefined(w, origin, results[i], lane, 0xff);
  }
}
