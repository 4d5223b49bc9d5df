// SPDX-License-Identifier: Apache-2.0
// Configurations to costs and to code, on all cores. Every configuration is a tile_kernel of its
// own (jit/), so the disk cache is consulted and filled as by any launch.
#ifndef TILE_AUTOTUNE_BUILD_H
#define TILE_AUTOTUNE_BUILD_H

#include "autotune/predict.h"
#include "autotune/space/space.h"

struct lang_tuning; // lang/tuning/tuning.h
struct lang_setting;

// The problem: a kernel with arguments. Filled by the CLI, or by the C API.
struct tune_array { // what a pointer argument points at
  uint64_t bytes;   // 0: the argument is a scalar
  uint64_t offset;  // into the worker's data (worker.h)
  bool reset;       // to its first content before every timed launch (reset_to_zero: to zeros)
  bool zero;
  // What it has to hold after a launch, in the worker's data too: compared with this instead of
  // with the reference's result, the reference itself included.
  bool has_expected;
  uint64_t expected;
};
struct tune_problem {
  const char *file; // as messages name it
  struct str text;
  const char *kernel; // NULL: the only one
  const char *const *folders;
  size_t folder_count;
  const char *target;               // NULL: the device's own
  const tile_device *like;          // compiled where this one's kernels are; NULL: in this process
  const struct lang_binding *fixed; // -D: constants that are not chosen
  size_t fixed_count;
  uint32_t num_warps, num_stages, max_registers; // where no dimension says; 0: default
  const tile_arg *args; // run-time parameters; pointers are placeholders of their alignment
  size_t arg_count;
  struct tune_array *arrays; // one an argument
  const char *const *arg_names;
  // The grid of a configuration: an expression over arguments and constants, or a callback.
  const char *grid;
  bool (*grid_of)(void *user, const struct tune_space *s, size_t config, tile_grid *ret);
  void *grid_user;
};

// The space of the problem's kernel where nobody gives another: @autotune's list, less what `fixed`
// and early_config_prune take from it, else a derived one. `target` is the device's. `tuning` gets
// what the decorators say. False with diagnostics; locations are in a source on `a`.
bool tune_problem_space(struct arena *a, struct diag_engine *diag, const struct tune_problem *p,
                        const char *target, struct tune_space *ret, struct lang_tuning *tuning);
// Marks the arrays that the decorators want reset before every launch.
void tune_problem_reset(struct tune_problem *p, const struct lang_tuning *tuning);
// Its integer arguments.
struct cost_argument *tune_problem_integers(struct arena *a, const struct tune_problem *p,
                                            size_t *ret_count);
// Constants that @heuristics computes for the problem's arguments and these constants. False with
// diagnostics.
bool tune_problem_heuristics(struct arena *a, struct diag_engine *diag,
                             const struct tune_problem *p, const char *target,
                             const struct lang_setting *constants, size_t constant_count,
                             struct lang_setting **ret, size_t *ret_count);

enum tune_stage { TUNE_ANALYSED, TUNE_COMPILED };
struct tune_built {
  uint32_t config;
  bool ok;
  bool is_out_of_memory; // not ok, and no configuration is to blame
  bool is_limit;         // not ok: by a limit of the compiler
  const char *reason;    // not ok: the first line of the diagnostics; on `a`
  struct kernel_cost cost;
  struct prediction prediction;
  tile_grid grid;
  struct kernel_info info;
  struct str code; // PTX or object; TUNE_COMPILED only
  // Of local memory that the kernel itself asks for, a thread (what device_print prints, say).
  uint32_t local_bytes;
  uint8_t hash[32];
  double ms;
  bool from_disk;
};

struct tune_builder;
// Starts `threads` (0: one a core) threads. `device` gives properties only, those of the device or
// of one like it (tune_device_assumed); no device is opened but the CPU. The problem and the space
// outlive the builder.
tile_status tune_builder_open(const struct tune_problem *p, const struct tune_space *s,
                              const tile_device_properties *device, unsigned threads,
                              struct tune_builder **ret);
// The device has answered: later predictions are for it.
void tune_builder_device(struct tune_builder *b, const tile_device_properties *device);
// Queues work; results come in the order in which they are done. What memory does not suffice for
// is answered too, with is_out_of_memory; its `config` may be another.
void tune_builder_submit(struct tune_builder *b, enum tune_stage stage, uint32_t config);
// The next result, waiting up to `timeout_ms` (negative: as long as there is work). False: none.
// What it points at lives until the builder is closed.
bool tune_builder_next(struct tune_builder *b, int timeout_ms, struct tune_built *ret);
int tune_builder_fd(const struct tune_builder *b); // readable when a result is there, for poll
void tune_builder_close(struct tune_builder *b);   // drops what has not begun

#endif
