// SPDX-License-Identifier: Apache-2.0
// Values that a kernel's decorators give to parameters of a launch, stored as if given, so that
// grids can name them.
#include "tools/launch/launch.h"

int launch_take_defaults(struct tool *t, struct launch *l) {
  struct options *o = &t->o;
  struct lang_known *known =
      arena_array(t->arena, struct lang_known, l->arg_count + o->defines.len + 1);
  size_t n = 0;
  for (size_t i = 0; i < o->defines.len; i++) {
    struct str text = o->defines.at[i].value;
    known[n++] = (struct lang_known){.name = o->defines.at[i].name,
                                     .is_text = true,
                                     .text = arena_strndup(t->arena, text.ptr, text.len)};
  }
  for (size_t i = 0; i < l->arg_count; i++)
    known[n++] = jit_known_argument(l->args[i].param->name, &l->packed[i]);
  struct lang_defaults_request r = {.unit = l->unit,
                                    .kernel = l->kernel_name,
                                    .known = known,
                                    .known_count = n,
                                    .num_warps = o->num_warps,
                                    .num_stages = o->num_stages};
  struct lang_defaults d;
  if (!tool_bind_constants(t, l->unit, o->target ? o->target : l->properties.target) ||
      !lang_defaults(t->arena, t->diag, &r, &d))
    return tool_error_status(t);
  for (size_t i = 0; i < d.setting_count; i++)
    vec_push(t->arena, &o->defines,
             (struct assignment){d.settings[i].name, str_from(d.settings[i].text), SPAN_NONE});
  tool_take_defaults(&d, &o->num_warps, &o->num_stages, &o->max_registers, &o->num_ctas,
                     &o->warp_specialize);
  return EXIT_DONE;
}
