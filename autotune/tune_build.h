// SPDX-License-Identifier: Apache-2.0
// Computes costs and code of configurations, on all cores. Every configuration is a tile_kernel of
// its own (jit/), so the disk cache is used as by any launch.
#ifndef TILE_AUTOTUNE_BUILD_H
#define TILE_AUTOTUNE_BUILD_H

#include "autotune/predict.h"
#include "autotune/space/space.h"

struct lang_tuning; // lang/tuning/tuning.h
struct lang_setting;

// The problem: a kernel with arguments, filled by the CLI or the C API.
struct tune_array { // what a pointer argument points at
  uint64_t bytes;   // 0: the argument is a scalar
  uint64_t offset;  // into the worker's data (worker.h)
  bool reset;       // restored before every timed launch (reset_to_zero: zeroed)
  bool zero;
  // Expected contents after a launch, also in the worker's data: compared with instead of the
  // reference's result, and for the reference itself.
  bool has_expected;
  uint64_t expected;
};
struct tune_problem {
  const char *file; // name of the file in messages
  struct str text;
  const char *kernel; // NULL: the only one
  const char *const *folders;
  size_t folder_count;
  const char *target;      // NULL: the device's own
  const tile_device *like; // kernels are compiled in this device's workers; NULL: in this process
  const struct lang_binding *fixed; // -D: constants that are not chosen
  size_t fixed_count;
  uint32_t num_warps, num_stages, max_registers, num_ctas; // without a dimension; 0: default
  enum warp_specialize warp_specialize;                    // likewise
  const tile_arg *args; // run-time parameters; pointers are placeholders with the right alignment
  size_t arg_count;
  struct tune_array *arrays; // one an argument
  const char *const *arg_names;
  // The grid of a configuration: an expression over arguments and constants, or a callback.
  const char *grid;
  bool (*grid_of)(void *user, const struct tune_space *s, size_t config, tile_grid *ret);
  void *grid_user;
};

// The default space of the problem's kernel: @autotune's list, filtered by `fixed` and
// early_config_prune, else a derived one. `target` is the device's. `tuning` gets the decorators'
// data. False with diagnostics; locations are in a source on `a`.
bool tune_problem_space(struct arena *a, struct diag_engine *diag, const struct tune_problem *p,
                        const char *target, struct tune_space *ret, struct lang_tuning *tuning);
// Marks the arrays that the decorators reset before every launch.
void tune_problem_reset(struct tune_problem *p, const struct lang_tuning *tuning);
// The problem's integer arguments.
struct cost_argument *tune_problem_integers(struct arena *a, const struct tune_problem *p,
                                            size_t *ret_count);
// Constants that @heuristics computes from the problem's arguments and these constants. False with
// diagnostics.
bool tune_problem_heuristics(struct arena *a, struct diag_engine *diag,
                             const struct tune_problem *p, const char *target,
                             const struct lang_setting *constants, size_t constant_count,
                             struct lang_setting **ret, size_t *ret_count);

enum tune_stage { TUNE_ANALYSED, TUNE_COMPILED };
struct tune_built {
  uint32_t config;
  bool ok;
  bool is_out_of_memory; // not ok, for reasons outside the configuration
  bool is_limit;         // not ok: a limit of the compiler
  const char *reason;    // not ok: the first line of the diagnostics; on `a`
  struct kernel_cost cost;
  struct prediction prediction;
  tile_grid grid;
  struct kernel_info info;
  struct str code; // PTX or object; TUNE_COMPILED only
  // Local memory that the kernel itself declares, per thread (for device_print, for example).
  uint32_t local_bytes;
  uint8_t hash[32];
  double ms;
  bool from_disk;
};

struct tune_builder;
// Starts `threads` (0: one per core) threads. `device` gives properties only, of the device or of a
// typical one (tune_device_assumed); no device is opened except the CPU. The problem and the space
// outlive the builder.
tile_status tune_builder_open(const struct tune_problem *p, const struct tune_space *s,
                              const tile_device_properties *device, unsigned threads,
                              struct tune_builder **ret);
// The device's real properties, for later predictions.
void tune_builder_device(struct tune_builder *b, const tile_device_properties *device);
// Queues work; results come in the order of completion. A job that runs out of memory also gives a
// result, with is_out_of_memory; its `config` may be another one.
void tune_builder_submit(struct tune_builder *b, enum tune_stage stage, uint32_t config);
// The next result, waiting up to `timeout_ms` (negative: as long as there is work). False: none.
// Its pointers are valid until the builder is closed.
bool tune_builder_next(struct tune_builder *b, int timeout_ms, struct tune_built *ret);
int tune_builder_fd(const struct tune_builder *b); // readable when a result is there, for poll
void tune_builder_close(struct tune_builder *b);   // drops what has not begun

#endif
