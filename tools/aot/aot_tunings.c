// SPDX-License-Identifier: Apache-2.0
// Applies FILE.tune.json to the functions of a pack. A function has one set of constants for all
// targets, since its grid depends on them.
#include "tools/aot/aot.h"
#include "tools/tuning/tunings.h"

static struct tune_setting *given_of(struct aot *a, const struct aot_function *f,
                                     size_t *ret_count) {
  struct arena *arena = a->tool->arena;
  struct tune_setting *s = arena_array(arena, struct tune_setting, f->bindings.len + 5);
  const struct {
    const char *name;
    uint32_t value;
  } options[] = {{"num_warps", f->num_warps},
                 {"num_stages", f->num_stages},
                 {"max_registers", f->max_registers},
                 {"num_ctas", f->num_ctas}};
  size_t n = 0;
  for (size_t i = 0; i < f->bindings.len; i++)
    if (f->bindings.at[i].kind == BIND_CONSTANT)
      s[n++] = (struct tune_setting){f->bindings.at[i].name,
                                     tune_setting_text(arena, f->bindings.at[i].text)};
  for (size_t i = 0; i < COUNT_OF(options); i++)
    if (options[i].value)
      s[n++] = (struct tune_setting){options[i].name,
                                     arena_printf(arena, "%u", (unsigned)options[i].value)};
  if (f->warp_specialize)
    s[n++] = (struct tune_setting){"warp_specialize", warp_specialize_name(f->warp_specialize)};
  *ret_count = n;
  return s;
}

static void bind(void *user, struct tool *t, const struct tune_setting *s, struct span where) {
  struct aot_function *f = user;
  (void)where;
  vec_push(t->arena, &f->bindings, tool_constant(t, s->name, str_from(s->value)));
}

// The entries for all targets, which must agree.
static bool choose(struct aot *a, const struct tunings *ts, struct tunings_query *q,
                   struct tuned *ret) {
  struct tool *t = a->tool;
  const struct target *of = NULL;
  *ret = (struct tuned){0};
  for (size_t i = 0; i < a->targets.len; i++) {
    struct tuned tuned;
    q->target = a->targets.at[i]->name;
    if (!tunings_for_build(ts, q, &tuned))
      return false;
    if (ret->entry && tuned.entry && !tunings_agree(ret->entry, tuned.entry)) {
      struct diag *d = diag_error(t->diag, tuned.entry->span, E0763,
                                  "`%s` was tuned for %s and %s in different ways, and a function "
                                  "has one for all targets",
                                  q->kernel, of->name, q->target);
      diag_note(d, ret->entry->span, "for %s", of->name);
      diag_help(d, "make a pack for each target, or give the constants with `-D`");
      return false;
    }
    if (tuned.entry && !ret->entry) {
      *ret = tuned;
      of = a->targets.at[i];
    }
  }
  return true;
}

static bool take(struct aot *a, const struct tunings *ts, struct aot_function *f) {
  struct tunings_query q = {.kernel = f->kernel,
                            .params = f->declared,
                            .param_count = f->declared_count,
                            .bindings = f->bindings.at,
                            .binding_count = f->bindings.len};
  struct tuned tuned;
  q.given = given_of(a, f, &q.given_count);
  return !tunings_leave_open(&q) ||
         (choose(a, ts, &q, &tuned) &&
          tunings_apply(a->tool, &tuned, &q,
                        &(struct tunings_target){.num_warps = &f->num_warps,
                                                 .num_stages = &f->num_stages,
                                                 .max_registers = &f->max_registers,
                                                 .num_ctas = &f->num_ctas,
                                                 .warp_specialize = &f->warp_specialize,
                                                 .user = f,
                                                 .set_constant = bind}));
}

bool aot_take_tunings(struct aot *a) {
  struct tunings ts;
  if (!tunings_check(a->tool))
    return false;
  if (a->tool->o.no_tunings || !a->tool->o.targets.len)
    return true;
  if (!tunings_open(a->tool, a->unit, &ts))
    return false;
  for (size_t i = 0; i < a->functions.len; i++)
    if (!take(a, &ts, &a->functions.at[i]))
      return false;
  return true;
}
