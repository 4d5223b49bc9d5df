// SPDX-License-Identifier: Apache-2.0
// Search spaces: dimensions (values of a compile-time parameter, num_warps, num_stages,
// max_registers, warp_specialize) and configurations, which select one value of each. A list of
// configurations
// (@triton.autotune) is a space too: its dimensions have the values that occur.
#ifndef TILE_AUTOTUNE_SPACE_SPACE_H
#define TILE_AUTOTUNE_SPACE_SPACE_H

#include "base/diag.h"
#include "jit/jit.h"
#include "lang/extents/extents.h"
#include "lowering/cost/kernel_cost.h"

#define TUNE_MAX_DIMS 32
#define TUNE_MAX_CONFIGS 65536

enum tune_dim_kind {
  TUNE_CONSTANT,
  TUNE_WARPS,
  TUNE_STAGES,
  TUNE_REGISTERS,
  TUNE_CTAS,
  TUNE_SPECIALIZE // values "auto", "on", "off"
};

struct tune_dim {
  enum tune_dim_kind kind;
  const char *name;    // of the parameter, or "num_warps", ..., "warp_specialize"
  const char **values; // texts as of -D, integers in decimal, ascending where all are integers
  size_t count;
};

struct tune_config {
  uint16_t at[TUNE_MAX_DIMS]; // index into the values of each dimension
};

struct tune_space {
  struct tune_dim dims[TUNE_MAX_DIMS]; // parameters in the kernel's order, then warps and so on
  size_t dim_count;
  struct tune_config *configs; // without duplicates; configuration 0 is the default
  size_t count;
  bool is_list;       // the source's own list: all are candidates, no others are derived
  const char *origin; // "@autotune of matmul.tile:42", "--space", "space.json", "derived"
};

// "BLOCK=64..1024:x2, num_warps=1,2,4, num_stages=1..5": comma between dimensions and between
// values; `a..b` steps by 1, `a..b:xK` multiplies, `a..b:+K` adds. The product of all dimensions.
// Parameters without a dimension keep the kernel's default; the default configuration has the
// declared defaults of the parameters if they are among the values, else the middle ones. False
// with a diagnostic (E0727: bad syntax, E0728: unknown or run-time parameter, E0729: too large) at
// `where`.
bool tune_space_from_text(struct arena *a, struct diag_engine *diag, struct span where,
                          struct str text, const struct lang_param *params, size_t param_count,
                          struct tune_space *ret);
// {"dims": {"BLOCK": [64, 128], "num_warps": [4, 8]}} or {"configs": [{"BLOCK": 64, "num_warps":
// 4}, ...]}
bool tune_space_from_json(struct arena *a, struct diag_engine *diag, const struct source *file,
                          const struct lang_param *params, size_t param_count,
                          struct tune_space *ret);
// The list of @autotune; parameters that a configuration omits keep their default.
struct lang_tuning; // lang/tuning/tuning.h
bool tune_space_from_decorator(struct arena *a, struct diag_engine *diag,
                               const struct lang_tuning *tuning, const struct lang_param *params,
                               size_t param_count, struct tune_space *ret);
// Derived from the kernel: powers of two for compile-time parameters that are tile extents
// (lang/extents/extents.h), by the use of the tiles: extents of dots 16..256, K of dots 16..128,
// row accesses whole, elementwise 128..8192; num_warps by the size of the tiles (1..16, for rows
// 32), num_stages if there is a loop with loads. Parameters in `fixed` (given by -D; without a text
// if the value is not known yet) are not tuned, and neither are those that decide what is computed.
// Known scalar arguments bound the values: rows are covered whole, and no block is longer than the
// dimension it covers. Contains at least the default.
bool tune_space_derived(struct arena *a, struct diag_engine *diag, const struct lang_unit *unit,
                        const char *kernel, const struct lang_binding *fixed, size_t fixed_count,
                        const struct cost_argument *args, size_t arg_count, struct tune_space *ret);

// Keeps the configurations that have the values in `fixed` (-D of a parameter that is also a
// dimension; a BIND_SCALAR with a text is a launch option, such as num_warps), and drops those
// dimensions. False with a diagnostic (E0728) at `where` when none is left.
bool tune_space_fix(struct arena *a, struct diag_engine *diag, struct span where,
                    const struct lang_binding *fixed, size_t fixed_count, struct tune_space *s);

// The value of dimension `name`, or NULL.
const char *tune_config_value(const struct tune_space *s, size_t config, const char *name);
uint32_t tune_config_warps(const struct tune_space *s, size_t config);     // 0: default
uint32_t tune_config_stages(const struct tune_space *s, size_t config);    // 0: default
uint32_t tune_config_registers(const struct tune_space *s, size_t config); // 0: no bound
uint32_t tune_config_ctas(const struct tune_space *s, size_t config);
enum warp_specialize tune_config_specialize(const struct tune_space *s, size_t config);
// Appends "BLOCK=128, num_warps=4": the canonical spelling, used in reports and files.
void tune_config_print(const struct tune_space *s, size_t config, struct strbuf *out);
// The values that a canonical spelling names; false if a dimension has no such value.
bool tune_space_parse(const struct tune_space *s, struct str spelling, struct tune_config *ret);
// Index of a configuration by its canonical spelling; false if it is not in the space.
bool tune_space_find(const struct tune_space *s, struct str spelling, size_t *ret);
// Configurations that differ from `config` by one step in one dimension (in two dimensions if
// `far`), in a fixed order. Returns how many were written to `ret` (at most `cap`).
size_t tune_space_neighbours(const struct tune_space *s, size_t config, bool far, uint32_t *ret,
                             size_t cap);

#endif
