// SPDX-License-Identifier: Apache-2.0
// allocate-shared: writes down where in the CTA's shared memory every buffer and every op's scratch
// lies, as lowering/analysis/shared_places.h finds it. What park-registers wants comes on top.
//
//   %1 = tilegpu.local_alloc ...        %1 = tilegpu.local_alloc {tilegpu.shared_offset = 0}
//   %2 = tile.reduce ...            ->  %2 = tile.reduce {tilegpu.shared_offset = 8192}
//                                       module attributes {tilegpu.shared_bytes = 8256}
//
// A small op that is alone in a loop has two places, and attribute tilegpu.shared_toggle says how
// far they are apart.
#include "lowering/analysis/scratch.h"
#include "lowering/analysis/shared_places.h"
#include "lowering/pass.h"

struct state {
  struct ir_context *c;
  bool changed;
};

static void set_number(struct state *s, MlirOperation op, const char *name, uint32_t value) {
  if (op_attr_int(op, name, -1) == (int64_t)value)
    return;
  MlirStringRef ref = mlirStringRefCreateFromCString(name);
  mlirOperationSetAttributeByName(op, ref, attr_i32(s->c, (int32_t)value));
  s->changed = true;
}

// The end of what is parked, which begins behind `total`.
static uint32_t place_parked(struct state *s, MlirOperation kernel, uint32_t total) {
  uint32_t bytes = mlirOperationIsNull(kernel) ? 0 : parked_bytes(kernel);
  if (bytes == 0)
    return total;
  uint32_t at = (total + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
  set_number(s, kernel, "tilegpu.park_offset", at);
  return at + bytes;
}

enum pass_result pass_allocate_shared(struct pass_context *p) {
  struct state s = {.c = p->c};
  struct shared_places places =
      shared_places_of(p->c, p->module, p->target, p->num_warps, p->scratch);
  for (size_t i = 0; i < places.at.len; i++) {
    const struct shared_place *at = &places.at.at[i];
    set_number(&s, at->op, "tilegpu.shared_offset", at->offset);
    if (at->toggle || scratch_toggle(at->op))
      set_number(&s, at->op, "tilegpu.shared_toggle", at->toggle);
  }
  set_number(&s, mlirModuleGetOperation(p->module), "tilegpu.shared_bytes",
             place_parked(&s, module_kernel(p->c, p->module), places.total));
  return s.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
