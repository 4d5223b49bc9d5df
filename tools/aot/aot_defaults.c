// SPDX-License-Identifier: Apache-2.0
// Values that a kernel's decorators give to parameters of the functions of a pack, stored as if
// given, so that grids can name them.
#include "tools/aot/aot.h"

static bool take(struct aot *a, struct aot_function *f) {
  struct tool *t = a->tool;
  struct lang_defaults_request r = {.unit = a->unit,
                                    .kernel = f->kernel,
                                    .known =
                                        lang_known_of(t->arena, f->bindings.at, f->bindings.len),
                                    .known_count = f->bindings.len,
                                    .num_warps = f->num_warps,
                                    .num_stages = f->num_stages};
  struct lang_defaults d;
  if (!tool_bind_constants(t, a->unit, a->targets.at[0]->name) ||
      !lang_defaults(t->arena, t->diag, &r, &d))
    return false;
  for (size_t i = 0; i < d.setting_count; i++)
    vec_push(t->arena, &f->bindings,
             tool_constant(t, d.settings[i].name, str_from(d.settings[i].text)));
  tool_take_defaults(&d, &f->num_warps, &f->num_stages, &f->max_registers, &f->num_ctas,
                     &f->warp_specialize);
  return true;
}

bool aot_take_defaults(struct aot *a) {
  for (size_t i = 0; i < a->functions.len; i++)
    if (!take(a, &a->functions.at[i]))
      return false;
  return true;
}
