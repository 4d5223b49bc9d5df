// SPDX-License-Identifier: Apache-2.0
// What @triton.autotune and @triton.heuristics say of a kernel: lists of configurations, keys, and
// compile-time parameters that follow from the arguments. Evaluated as Python would: lists,
// comprehensions, and calls of the file's own functions (get_autotune_config()).
#ifndef TILE_LANG_HOST_TUNING_H
#define TILE_LANG_HOST_TUNING_H

#include "lang/frontend.h"

struct lang_setting {
  const char *name, *text; // of a compile-time parameter, as of -D
};
struct lang_config {
  struct lang_setting *settings;
  size_t setting_count;
  uint32_t num_warps, num_stages, max_registers; // 0: not said
  struct span span;
};
// A launch's arguments and chosen constants by name, for functions of them.
struct lang_known {
  const char *name;
  bool is_pointer;  // its value is unknown; element size only
  bool is_unknown;  // so is that of this scalar
  enum dtype dtype; // DTYPE_NONE: not known
  bool is_text;     // a constant: `text` as of -D
  const char *text;
  bool is_integer;
  int64_t integer;
  double real;
};
struct lang_tuning {
  struct lang_config *configs; // of @autotune; pre_hook and ir_override are not followed (a note)
  size_t config_count;
  const char **key, **reset_to_zero, **restore_value;
  size_t key_count, reset_count, restore_count;
  const char **heuristics; // parameters whose values @heuristics computes, in order
  size_t heuristic_count;
  struct span span;                  // of @autotune
  struct lang_tuning_source *source; // for the calls below
};

// False with diagnostics (E0460 not evaluable, E0461 not a list of Config, E0462 unknown name in
// it). Neither decorator: everything empty. `kernel` NULL: the only one. The unit's target answers
// questions for the device ("sm_90a"); `host` and NULL answer as sm_80. Questions for the vendor
// say CUDA.
bool lang_tuning_of(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                    const char *kernel, struct lang_tuning *ret);
// Values of the heuristics for these arguments and constants, in their order (a later one sees
// earlier ones). False with a diagnostic (E0463) where one cannot be evaluated.
bool lang_heuristics(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                     const struct lang_known *known, size_t known_count, struct lang_setting *ret);
// prune_configs_by={'early_config_prune': f}: which of the configurations stay (`keep`, all true
// where there is none). False with a diagnostic (E0464) where it cannot be evaluated.
bool lang_prune(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                const struct lang_known *known, size_t known_count, bool *keep);

// ---- what a compilation leaves open (defaults.c) ----

// Parameters that nobody gave, and what they get: of @autotune's configurations that agree with
// what was given the one with the declared defaults, else the first one, all of it; where none
// agrees, the first one where it adds something. Then what @heuristics computes.
struct lang_defaults {
  struct lang_setting *settings;
  size_t setting_count;
  uint32_t num_warps, num_stages, max_registers; // 0: not said, or given
};
// What is given is a constant, an argument (lang_known), or a number of warps or stages (0: not
// given). False with diagnostics where a parameter has no value and the decorators cannot be
// evaluated; where all have one, such decorators are passed over.
struct lang_defaults_request {
  const struct lang_unit *unit;
  const char *kernel; // NULL: the only one
  const struct lang_known *known;
  size_t known_count;
  uint32_t num_warps, num_stages;
};
bool lang_defaults(struct arena *a, struct diag_engine *diag, const struct lang_defaults_request *r,
                   struct lang_defaults *ret);
// Whether the kernel has decorators of tuning at all: without, lang_defaults gives nothing.
bool lang_is_tuned(const struct lang_unit *u, const char *kernel, bool *ret_heuristics);
// What bindings say.
struct lang_known *lang_known_of(struct arena *a, const struct lang_binding *bindings,
                                 size_t count);

#endif
