// SPDX-License-Identifier: Apache-2.0
// The insides of a tile_kernel, shared by opening (jit_kernel.c), settings (jit_settings.c),
// arguments (jit_arguments.c), decorators (jit_defaults.c), specialisations (specialise.c),
// building them (jit_build.c) and launching (jit_launch.c).
//
// A kernel has a list of configurations (constants, warps, ...), one of them current, each with a
// table of specialisations. Launches read the table without a lock: entries are published with a
// release store and never removed before the kernel is closed.
#ifndef TILE_JIT_KERNEL_H
#define TILE_JIT_KERNEL_H

#include "jit/jit.h"
#include "jit/orc.h"
#include "lang/tuning/tuning.h"
#include "runtime/args.h"

#include <pthread.h>
#include <stdatomic.h>

#define JIT_MAX_ARGS 256

// What one argument adds to the key of a specialisation: its tile_type in four bits, and these
// flags. KEY_NONE stands alone. A tensor descriptor adds KEY_DESCRIPTOR with its element type, a
// byte with its rank and padding, and one for each dimension, with its block and what divides its
// size.
enum {
  KEY_TYPE = 15,
  KEY_POINTER = 16,
  KEY_DIVISIBLE_16 = 32,
  KEY_IS_ONE = 64,
  KEY_NONE = 128,
  KEY_DESCRIPTOR = KEY_NONE | KEY_POINTER,
};

struct jit_key {
  size_t count;
  uint64_t hash;
  uint8_t bytes[JIT_MAX_ARGS]; // those beyond `count` up to a multiple of 8 are zero
};

struct jit_spec {
  uint64_t hash;
  size_t key_count;
  uint8_t *key;
  struct kernel_info info;
  uint16_t *arg_of_param; // index of the argument, of args_flatten, that is run-time parameter i
  struct str code;
  struct config *config;
  _Atomic(struct module *) module; // NULL: not loaded yet
  struct module *tier1;            // the code that ran before `module` was loaded; NULL: none
  bool is_tier1;                   // `module` is tier-1 code; under the kernel's lock
  struct arena *arena;             // holds all of this
  struct jit_timing timing;
  struct jit_spec *next; // in the list of all or, while it is built, of the pending ones
};

struct spec_table { // open addressing; replaced as a whole when it grows
  size_t cap;       // a power of two
  struct spec_table *older;
  _Atomic(struct jit_spec *) slots[];
};

struct config {
  struct config *next;
  const struct target *target;
  uint32_t num_warps, num_stages, max_registers, num_ctas; // 0: default
  enum warp_specialize warp_specialize;
  bool check, launch_pdl;
  const char **constants; // by declared parameter; NULL: not set
  const char **folders;   // in which imported modules are looked for
  size_t folder_count;
  // What decorators add to open settings (jit_defaults.c). `is_complete`: nothing is open.
  bool is_complete;
  _Atomic(struct config *) completed; // for a kernel without heuristics
  struct completion *completions;     // for a kernel with heuristics: by the arguments' values
  _Atomic(struct spec_table *) table;
  size_t spec_count;
};

struct tile_kernel {
  tile_device *device;
  struct arena *arena; // lives as long as the kernel; under `lock` after opening
  const struct source *source;
  struct lang_unit *unit; // the source, with definitions resolved for the device's target
  bool is_detached;       // the source has no file name, so it imports nothing from beside it
  const char *name;
  struct span at;              // of the name, in the source
  struct lang_param *declared; // all parameters
  size_t declared_count;
  struct lang_param *params; // those that are arguments
  size_t param_count;
  struct lang_binding *outer; // values of constants of the file, given by the caller
  size_t outer_count;
  bool is_tuned, has_heuristics; // by decorators of the kernel
  bool is_assembled_apart;       // assembled by threads of this process and cached (assemble.c)
  enum assembly first_assembly;  // of a kernel that is assembled apart
  bool is_kept_only;             // only what is in the disk cache is loaded; nothing is compiled
  struct disk_cache *cache;      // NULL: none
  const struct pass_options *passes;
  _Atomic(struct config *) config; // the current one

  pthread_mutex_t lock; // guards what follows
  pthread_cond_t built; // signalled when a pending specialisation is finished or has failed
  struct config *configs;
  struct jit_spec *specs, *pending;
  struct orc *orc;
};

static inline uint8_t jit_key_type(uint8_t byte) { return byte & KEY_TYPE; }

// ---- jit_arguments.c ----
// Checks the arguments against the declared parameters and builds the key.
tile_status jit_key_make(const tile_kernel *k, const tile_arg *args, size_t count,
                         struct jit_key *ret);
// Bindings of all declared parameters for the compiler, from a key and a configuration.
struct lang_binding *jit_bindings(const tile_kernel *k, const struct config *config,
                                  const uint8_t *key, struct arena *a, size_t *ret_count);

// The names of the arguments after args_flatten, at most JIT_MAX_ARGS.
const char **jit_flat_names(const tile_kernel *k, const uint8_t *key, struct arena *a,
                            size_t *ret_count);

// ---- jit_settings.c ----
// A copy of `from` (NULL: defaults) for `declared` parameters.
struct config *jit_config_create(struct arena *a, const struct config *from, size_t declared);
// `from` with open settings filled in, or an equal existing configuration; the kernel's lock is
// held. NULL without memory.
struct config *jit_config_complete(tile_kernel *k, const struct config *from,
                                   const struct lang_defaults *defaults);

// `from` with checks; NULL without memory.
struct config *jit_config_checked(tile_kernel *k, const struct config *from);

// ---- jit_kernel.c ----
// The values that select definitions in the source, for kernels of this target.
struct lang_outer jit_outer(const tile_kernel *k, const char *target,
                            const struct lang_imports *imports);
// The kernel's unit if it is valid for this configuration; NULL: the source must be parsed again.
const struct lang_unit *jit_unit(const tile_kernel *k, const struct config *c);

// ---- jit_defaults.c ----
// The configuration of a launch with these arguments: the current one, completed by the kernel's
// decorators.
tile_status jit_config(tile_kernel *k, const tile_arg *args, size_t count,
                       const struct jit_report *report, struct config **ret);

// ---- specialise.c ----
struct jit_spec *jit_find(const struct config *c, const struct jit_key *key);
tile_status jit_find_or_build(tile_kernel *k, struct config *config, const struct jit_key *key,
                              const struct jit_report *report, struct jit_spec **ret);

// ---- jit_launch.c ----
// A launch on the CPU failed: an access faulted, or threads diverged. Runs it again with checks,
// which report the violation and its location; if they find none, the first error stays.
tile_status jit_launch_checked(tile_kernel *k, const struct config *failed, tile_stream *stream,
                               tile_grid grid, const tile_arg *args, size_t arg_count);

// ---- assemble.c ----
// The module of a GPU specialisation, from optimized machine code in the disk cache, or assembled
// now; *ret_how is the level that it got.
tile_status jit_assemble(tile_kernel *k, const struct jit_spec *spec, enum assembly how,
                         enum assembly *ret_how, struct module **ret);

// ---- jit_build.c ----
// From the disk cache or the compiler. `spec` has arena, key and config.
tile_status jit_build(tile_kernel *k, struct jit_spec *spec, const struct jit_report *report);
// The status of an is_kept_only kernel when something is not in the disk cache.
tile_status jit_not_kept(const tile_kernel *k);

// The status for the errors in `diag`.
tile_status jit_diag_status(const struct diag_engine *diag);
// The same, and the thread's message: rendered in full, or in one line if the caller has the
// records (`reported`).
tile_status jit_diag_failure(const struct diag_engine *diag, bool reported);
// Sets this status with the diagnostics as message and as JSON; `otherwise`: the message if there
// are none. TILE_OUT_OF_MEMORY when they cannot be written.
tile_status jit_diag_fail(const struct diag_engine *diag, tile_status status,
                          const char *otherwise);

#endif
