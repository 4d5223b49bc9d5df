// SPDX-License-Identifier: Apache-2.0
// A tuning from beginning to end: analyses, compilations, loads, checks and measurements overlap;
// results are recorded at once (database.h), so that killing the process loses nothing.
#ifndef TILE_AUTOTUNE_TUNE_H
#define TILE_AUTOTUNE_TUNE_H

#include "autotune/database/database.h"
#include "autotune/search/search.h"

struct tune_trial { // the state of a configuration
  uint32_t config;
  enum tune_outcome outcome;
  const char *reason; // why it is not TUNE_MEASURED; else NULL
  bool is_limit;      // TUNE_BAD_BUILD: a limit of the compiler
  struct tune_sample sample;
  struct prediction prediction;
  uint32_t same_as; // TUNE_SAME_CODE, and TUNE_SPILLS where is_twin
  bool is_twin;
  uint32_t shared_bytes;
  int registers, local_bytes,
      spilled_bytes; // per thread; spilled: local memory beyond the kernel's own
  double compile_ms, load_ms;
  bool is_checked, is_resumed; // taken from the journal of an earlier run
};

const char *tune_spills_reason(struct arena *a, const struct tune_trial *t); // of TUNE_SPILLS

struct tune_progress {
  uint32_t analysed, pruned, compiled, measured, to_measure;
  double elapsed_ms, budget_ms, best_ms;
  const char *best;                // spelling; NULL: none yet
  const struct tune_trial *latest; // NULL: nothing new
};

struct tune_options {
  const char *device; // "cuda", "cpu", ...
  // If the problem has no target: the device's probable one. Work begins with it, and restarts if
  // the device has another. NULL: wait for the device.
  const char *guess;
  enum tune_effort effort;
  uint32_t candidates; // 0: by effort
  uint64_t seed;
  double budget_ms;  // of the whole; 0: none
  double timeout_ms; // of one candidate; 0: 10 s
  double rtol, atol; // negative: by dtype
  unsigned threads;  // of the compiler; 0: one per core
  bool resume;       // take what the journal has
  // Opens the journal once the worker has reported the device, if tune_run was given none; may be
  // NULL. tune_run closes it.
  struct tune_journal *(*journal_of)(void *user, const tile_device_properties *device);
  // Called between steps, in the caller's thread; false: stop and keep the best.
  bool (*progress)(void *user, const struct tune_progress *p);
  void *user;
  const int *stop; // nonzero: stop and keep the best (set by a signal handler); NULL: never
};

struct tune_result {
  struct tune_trial *trials; // by configuration
  size_t count;
  bool has_best;
  // Indices of configurations. The best spills only if all measured ones do (otherwise those that
  // spill are TUNE_SPILLS); results are compared with the reference's.
  uint32_t best, reference;
  tile_device_properties device;
  double copy_gbs; // of a device copy, measured in the same run; 0: not measured
  double elapsed_ms, bound_ms;
  bool stopped;               // by budget, progress or signal
  uint32_t agreed, disagreed; // with the reference, which is suspect if more disagree
};

// Fills the arrays' first contents; called once, while the worker starts.
typedef bool (*tune_fill_fn)(void *user, void *data);

// `journal` may be NULL. All results are allocated on `a`.
tile_status tune_run(struct arena *a, const struct tune_problem *p, const struct tune_space *s,
                     const struct tune_options *o, struct tune_journal *journal, tune_fill_fn fill,
                     void *fill_user, uint64_t data_bytes, struct tune_result *ret);

#endif
