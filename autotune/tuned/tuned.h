// SPDX-License-Identifier: Apache-2.0
// The insides of a tile_tuned, shared by opening and settings (tuned.c), launching
// (autotune/tuned/tuned_launch.c), choosing (autotune/tuned/choose.c) and measuring
// (autotune/tuned/tuned_tune.c).
//
// Settings are immutable records; the current one has a table of launches, read without a lock:
// types and integer arguments map to a kernel and a grid. A launch that is not in it looks among
// the choices, which are fewer: one per set of types and of those integers that matter. A choice is
// a variant, a tile_kernel with its configuration set.
#ifndef TILE_AUTOTUNE_TUNED_TUNED_H
#define TILE_AUTOTUNE_TUNED_TUNED_H

#include "autotune/database/database.h"
#include "jit/grid_expr.h"
#include "jit/jit_kernel.h"

#include <tile/tune.h>

#define TUNED_DEFAULT_SECONDS 30
// Limits on remembered launches and choices: ever new integers would otherwise fill memory.
#define TUNED_MOST 65536
#define TUNED_BUCKETS 256 // a power of two

struct tuned_variant {
  struct tuned_variant *next;
  const struct tuned_settings *settings; // whose constants it has
  const char *spelling;                  // "BLOCK=128, num_warps=4"
  tile_kernel *kernel;
  struct lang_setting *constants; // chosen, given and declared; the first of a name counts
  size_t constant_count;
};

// Types of all arguments, eight per word, then integers, one word each.
#define TUNED_KEY_WORDS (JIT_MAX_ARGS / 8 + JIT_MAX_ARGS)
struct tuned_key {
  uint64_t hash;
  size_t count;
  uint64_t words[TUNED_KEY_WORDS];
};

struct tuned_launch { // the result for launches with that key
  uint64_t hash;
  size_t word_count;
  const uint64_t *words;
  struct tuned_variant *variant;
  tile_grid grid;
};

struct tuned_table { // open addressing; replaced as a whole when it grows
  size_t cap;        // a power of two
  struct tuned_table *older;
  _Atomic(struct tuned_launch *) slots[];
};

struct tuned_choice {
  struct tuned_choice *next; // in its bucket
  const uint64_t *words;
  size_t word_count;
  struct tuned_variant *variant; // NULL: a thread is choosing
};

struct tuned_settings {
  struct tuned_settings *next;
  tile_tune_policy policy;
  const char *grid, *space, *file; // NULL: not set
  const char **constants;          // by declared parameter of the kernel; NULL: not set
  double seconds;
  unsigned candidates;
  tile_tune_callback callback;
  void *user;
  _Atomic(struct tuned_table *) table;
  // Guarded by the handle's lock:
  size_t launch_count; // in the table
  size_t choice_count;
  struct tuned_choice *choices[TUNED_BUCKETS];
};

struct tile_tuned {
  tile_device *device;
  tile_device_properties properties;
  struct arena *arena;     // what lives as long as the handle; under `lock` after opening
  const char *path, *file; // the kernel's file, and the results file
  struct str text;
  tile_kernel *kernel;    // for its parameters; never launched
  bool *matters;          // by argument: choices depend on this integer
  const char **key_names; // the same as names, if @autotune gives them; else NULL
  size_t key_name_count;
  bool has_heuristics;                       // constants that follow from arguments
  _Atomic(struct tuned_settings *) settings; // the current ones

  pthread_mutex_t tuning; // held while measuring: concurrent measurements would disturb each other
  pthread_mutex_t lock;   // guards what follows
  pthread_cond_t chosen;  // a choice was made or has failed
  struct tuned_settings *all;
  struct tuned_variant *variants;
};

// One launch that needs a configuration.
struct tuned_request {
  tile_tuned *tuned;
  const struct tuned_settings *settings;
  tile_stream *stream;
  const tile_arg *args;
  size_t arg_count;
};

// ---- tuned.c ----
// Renders `diag` as the thread's message. Returns `status`, or the status for a limit, lack of
// memory or an internal error.
tile_status tuned_diag_failure(const struct diag_engine *diag, tile_status status);

// ---- autotune/tuned/choose.c ----
// Settings of a configuration, sorted by name.
struct tune_setting *tuned_config_settings(const struct tune_space *s, size_t config,
                                           struct arena *a, size_t *ret_count);
// The variant by the policy: from the file, measured, or the default. Created if needed.
tile_status tuned_choose(const struct tuned_request *r, struct tuned_variant **ret);
// The grid of `v` for the request's arguments.
tile_status tuned_grid(const struct tuned_request *r, const struct tuned_variant *v,
                       tile_grid *ret);

// ---- autotune/tuned/tuned_tune.c ----
struct tuned_work {
  struct tune_problem *problem; // without arrays
  const struct tune_space *space;
  const struct lang_tuning *tuning;
  const struct tune_key *key;
  const char *file; // for the results
};
// Measures, writes the best to the file and gives its settings, on `a`.
tile_status tuned_measure(const struct tuned_request *r, struct arena *a,
                          const struct tuned_work *work, struct tune_setting **ret,
                          size_t *ret_count);

#endif
