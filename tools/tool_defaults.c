// SPDX-License-Identifier: Apache-2.0
// Values that a kernel's decorators give to parameters set neither by the command line nor by
// FILE.tune.json, stored as if given, so that grids can name them.
#include "tools/aot.h"
#include "tools/launch.h"

static void take_options(const struct lang_defaults *d, uint32_t *warps, uint32_t *stages,
                         uint32_t *registers, uint32_t *ctas, enum warp_specialize *specialize) {
  *warps = *warps ? *warps : d->num_warps;
  *stages = *stages ? *stages : d->num_stages;
  *registers = *registers ? *registers : d->max_registers;
  *ctas = *ctas ? *ctas : d->num_ctas;
  *specialize = *specialize ? *specialize : d->warp_specialize;
}

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
  take_options(&d, &o->num_warps, &o->num_stages, &o->max_registers, &o->num_ctas,
               &o->warp_specialize);
  return EXIT_DONE;
}

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
  take_options(&d, &f->num_warps, &f->num_stages, &f->max_registers, &f->num_ctas,
               &f->warp_specialize);
  return true;
}

bool aot_take_defaults(struct aot *a) {
  for (size_t i = 0; i < a->functions.len; i++)
    if (!take(a, &a->functions.at[i]))
      return false;
  return true;
}
