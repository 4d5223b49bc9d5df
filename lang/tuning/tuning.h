// SPDX-License-Identifier: Apache-2.0
// @triton.autotune and @triton.heuristics of a kernel: lists of configurations, keys, and
// compile-time parameters computed from the arguments. Evaluated as Python would: lists,
// comprehensions, and calls of the file's own functions (get_autotune_config()).
#ifndef TILE_LANG_HOST_TUNING_H
#define TILE_LANG_HOST_TUNING_H

#include "base/warp_specialize.h"
#include "lang/frontend.h"

struct lang_setting {
  const char *name, *text; // of a compile-time parameter, in the syntax of -D
};
struct lang_config {
  struct lang_setting *settings;
  size_t setting_count;
  uint32_t num_warps, num_stages, max_registers, num_ctas; // 0: not given
  enum warp_specialize warp_specialize;
  struct span span;
};
// A launch argument or chosen constant, which heuristics and pruning functions receive by name.
struct lang_known {
  const char *name;
  bool is_pointer;    // its value is unknown; element size only
  bool is_descriptor; // likewise
  bool is_unknown;    // so is that of this scalar
  enum dtype dtype;   // DTYPE_NONE: not known
  bool is_text;       // a constant: `text` in the syntax of -D
  const char *text;
  bool is_integer;
  int64_t integer;
  double real;
};
struct lang_tuning {
  struct lang_config *configs; // of @autotune; of pre_hook only blocks count (lang_set_blocks)
  size_t config_count;
  const char **key, **reset_to_zero, **restore_value;
  size_t key_count, reset_count, restore_count;
  const char **heuristics; // parameters whose values @heuristics computes, in order
  size_t heuristic_count;
  struct span span;                  // of @autotune
  struct lang_tuning_source *source; // for the calls below
};

// False with diagnostics (E0460 not evaluable, E0461 not a list of Config, E0462 unknown name in
// it). Neither decorator: everything empty. `kernel` NULL: the only one. Device queries follow the
// unit's target ("sm_90a"); `host` and NULL are treated as sm_80. The vendor is CUDA.
bool lang_tuning_of(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                    const char *kernel, struct lang_tuning *ret);
// Values of the heuristics for these arguments and constants, in their order (a later one sees
// earlier ones). False with a diagnostic (E0463) where one cannot be evaluated.
bool lang_heuristics(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                     const struct lang_known *known, size_t known_count, struct lang_setting *ret);
// prune_configs_by={'early_config_prune': f}: which configurations are kept (`keep`, all true if
// there is none). False with a diagnostic (E0464) where it cannot be evaluated.
bool lang_prune(struct arena *a, struct diag_engine *diag, const struct lang_tuning *t,
                const struct lang_known *known, size_t known_count, bool *keep);

// ---- parameters that were not given (defaults.c) ----

// Parameters that were not given, and their values. Of @autotune's configurations that agree with
// the given values, the one with the declared defaults is used, else the first; if none agrees, the
// first one supplies the missing parameters. Then @heuristics are computed.
struct lang_defaults {
  struct lang_setting *settings;
  size_t setting_count;
  uint32_t num_warps, num_stages, max_registers, num_ctas; // 0: no value, or already given
  enum warp_specialize warp_specialize;
};
// Constants, arguments (lang_known) and the numbers of warps and stages (0: not given) are given.
// False with diagnostics if a parameter has no value and the decorators cannot be evaluated; if all
// have one, such decorators are ignored.
struct lang_defaults_request {
  const struct lang_unit *unit;
  const char *kernel; // NULL: the only one
  const struct lang_known *known;
  size_t known_count;
  uint32_t num_warps, num_stages;
};
bool lang_defaults(struct arena *a, struct diag_engine *diag, const struct lang_defaults_request *r,
                   struct lang_defaults *ret);
// Sets the blocks of tensor descriptors, BIND_DESCRIPTOR without an annotation, that the `pre_hook`
// of the configuration in use sets (blocks.c). `bindings` has all constants. False with a
// diagnostic (E0463) if a descriptor has no block otherwise and the hook cannot be evaluated.
bool lang_set_blocks(struct arena *a, struct diag_engine *diag, const struct lang_unit *u,
                     const char *kernel, struct lang_binding *bindings, size_t count);
// Whether the kernel has tuning decorators: otherwise lang_defaults gives nothing.
bool lang_is_tuned(const struct lang_unit *u, const char *kernel, bool *ret_heuristics);
// Bindings as known values.
struct lang_known *lang_known_of(struct arena *a, const struct lang_binding *bindings,
                                 size_t count);

#endif
