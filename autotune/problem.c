// SPDX-License-Identifier: Apache-2.0
// What a problem's source says about its tuning: the space and the arrays to reset; arguments as
// inputs of source functions (heuristics, early_config_prune).
#include "autotune/tune_build.h"
#include "jit/jit.h"
#include "lang/tuning/tuning.h"

#include <string.h>

// The scalar arguments of a launch, and constants, by name, as inputs of source functions.
static struct lang_known *known_values(struct arena *a, const struct tune_problem *p,
                                       const struct lang_setting *constants, size_t constant_count,
                                       size_t *ret_count) {
  struct lang_known *known = arena_array(a, struct lang_known, p->arg_count + constant_count + 1);
  for (size_t i = 0; i < p->arg_count; i++)
    known[i] = jit_known_argument(p->arg_names[i], &p->args[i]);
  for (size_t i = 0; i < constant_count; i++)
    known[p->arg_count + i] = (struct lang_known){
        .name = constants[i].name, .dtype = DTYPE_NONE, .is_text = true, .text = constants[i].text};
  *ret_count = p->arg_count + constant_count;
  return known;
}

static struct lang_setting *fixed_settings(struct arena *a, const struct tune_problem *p) {
  struct lang_setting *s = arena_array(a, struct lang_setting, p->fixed_count + 1);
  for (size_t i = 0; i < p->fixed_count; i++)
    s[i] = (struct lang_setting){.name = p->fixed[i].name, .text = p->fixed[i].text};
  return s;
}

// The configurations that the source's early_config_prune keeps for these arguments.
static bool keep_listed(struct arena *a, struct diag_engine *diag, const struct tune_problem *p,
                        struct lang_tuning *tuning) {
  size_t known_count, kept = 0;
  const struct lang_known *known =
      known_values(a, p, fixed_settings(a, p), p->fixed_count, &known_count);
  bool *keep = arena_array(a, bool, tuning->config_count + 1);
  if (!lang_prune(a, diag, tuning, known, known_count, keep))
    return false;
  struct lang_config *configs = arena_array(a, struct lang_config, tuning->config_count + 1);
  for (size_t i = 0; i < tuning->config_count; i++)
    if (keep[i])
      configs[kept++] = tuning->configs[i];
  if (!kept) {
    diag_error(diag, tuning->span, E0464, "`early_config_prune` leaves no configuration");
    return false;
  }
  tuning->configs = configs;
  tuning->config_count = kept;
  return true;
}

struct cost_argument *tune_problem_integers(struct arena *a, const struct tune_problem *p,
                                            size_t *ret_count) {
  return jit_integers(a, p->args, p->arg_names, p->arg_count, ret_count);
}

// Parameters that are not tuned: -D, and those that @heuristics computes, which have no text yet.
static struct lang_binding *not_chosen(struct arena *a, const struct tune_problem *p,
                                       const struct lang_tuning *tuning, size_t *ret_count) {
  size_t n = tuning->heuristic_count;
  struct lang_binding *all = arena_array(a, struct lang_binding, n + p->fixed_count + 1);
  for (size_t i = 0; i < n; i++)
    all[i] = (struct lang_binding){.name = tuning->heuristics[i], .kind = BIND_CONSTANT};
  if (p->fixed_count)
    memcpy(all + n, p->fixed, p->fixed_count * sizeof *all);
  *ret_count = n + p->fixed_count;
  return all;
}

// The problem's file with its definitions resolved; NULL after lexical errors.
static struct lang_unit *read_unit(struct arena *a, struct diag_engine *diag,
                                   const struct tune_problem *p, const char *target) {
  struct lang_unit *u = lang_unit_read(a, diag, source_create(a, p->file, p->text));
  struct lang_imports imports = {.folders = p->folders, .folder_count = p->folder_count};
  if (u)
    lang_unit_resolve(u, &(struct lang_outer){target, &imports, p->fixed, p->fixed_count});
  return u;
}

bool tune_problem_space(struct arena *a, struct diag_engine *diag, const struct tune_problem *p,
                        const char *target, struct tune_space *ret, struct lang_tuning *tuning) {
  const struct lang_unit *u = read_unit(a, diag, p, target);
  struct lang_param *params;
  size_t param_count;
  const char *kernel;
  if (!u || diag_error_count(diag) ||
      !lang_kernel_params(a, diag, u, p->kernel, &kernel, &params, &param_count) ||
      !lang_tuning_of(a, diag, u, kernel, tuning))
    return false;
  if (!tuning->config_count) {
    size_t count, fixed_count;
    const struct cost_argument *args = tune_problem_integers(a, p, &count);
    const struct lang_binding *fixed = not_chosen(a, p, tuning, &fixed_count);
    return tune_space_derived(a, diag, u, kernel, fixed, fixed_count, args, count, ret);
  }
  if (!keep_listed(a, diag, p, tuning))
    return false;
  return tune_space_from_decorator(a, diag, tuning, params, param_count, ret) &&
         tune_space_fix(a, diag, tuning->span, p->fixed, p->fixed_count, ret);
}

bool tune_problem_heuristics(struct arena *a, struct diag_engine *diag,
                             const struct tune_problem *p, const char *target,
                             const struct lang_setting *constants, size_t constant_count,
                             struct lang_setting **ret, size_t *ret_count) {
  const struct lang_unit *u = read_unit(a, diag, p, target);
  struct lang_tuning tuning = {0};
  if (!u || !lang_tuning_of(a, diag, u, p->kernel, &tuning))
    return false;
  size_t known_count;
  const struct lang_known *known = known_values(a, p, constants, constant_count, &known_count);
  *ret = arena_array(a, struct lang_setting, tuning.heuristic_count + 1);
  *ret_count = tuning.heuristic_count;
  return lang_heuristics(a, diag, &tuning, known, known_count, *ret);
}

static bool is_among(const char *name, const char **names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

void tune_problem_reset(struct tune_problem *p, const struct lang_tuning *tuning) {
  for (size_t i = 0; i < p->arg_count; i++) {
    struct tune_array *array = &p->arrays[i];
    array->zero = is_among(p->arg_names[i], tuning->reset_to_zero, tuning->reset_count);
    array->reset =
        array->zero || is_among(p->arg_names[i], tuning->restore_value, tuning->restore_count);
  }
}
