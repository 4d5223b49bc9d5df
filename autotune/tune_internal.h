// SPDX-License-Identifier: Apache-2.0
// The insides of a tuning, shared by its event loop (tune.c) and the states of a configuration
// (tune_trial.c); and the functions it calls, as hooks, so that tests run it without compiler,
// device and clock.
#ifndef TILE_AUTOTUNE_TUNE_INTERNAL_H
#define TILE_AUTOTUNE_TUNE_INTERNAL_H

#include "autotune/tune.h"
#include "base/vec.h"

#include <poll.h>

struct tune_hooks {
  tile_status (*builder_open)(const struct tune_problem *p, const struct tune_space *s,
                              const tile_device_properties *device, unsigned threads,
                              struct tune_builder **ret);
  void (*builder_device)(struct tune_builder *b, const tile_device_properties *device);
  void (*submit)(struct tune_builder *b, enum tune_stage stage, uint32_t config);
  bool (*built)(struct tune_builder *b, int timeout_ms, struct tune_built *ret);
  int (*builder_fd)(const struct tune_builder *b);
  void (*builder_close)(struct tune_builder *b);
  tile_status (*worker_open)(const struct tune_worker_options *o, const struct tune_problem *p,
                             int data_fd, uint64_t data_bytes, struct tune_worker **ret);
  void (*data_ready)(struct tune_worker *w);
  void (*load)(struct tune_worker *w, const struct tune_built *b);
  void (*check)(struct tune_worker *w, uint32_t config, bool is_reference);
  void (*measure)(struct tune_worker *w, uint32_t config, double budget_ms, unsigned least,
                  unsigned most, double give_up_ms);
  bool (*replied)(struct tune_worker *w, int timeout_ms, struct tune_reply *ret);
  int (*worker_fd)(const struct tune_worker *w);
  bool (*device)(struct tune_worker *w, tile_device_properties *ret, tile_status *ret_status);
  double (*copy_gbs)(struct tune_worker *w);
  void (*worker_close)(struct tune_worker *w);
  double (*now_ms)(void);
  int (*wait)(struct pollfd *fds, unsigned long count, int timeout_ms);
};

// tune_run with other hooks.
tile_status tune_run_with(const struct tune_hooks *h, struct arena *a, const struct tune_problem *p,
                          const struct tune_space *s, const struct tune_options *o,
                          struct tune_journal *journal, tune_fill_fn fill, void *fill_user,
                          uint64_t data_bytes, struct tune_result *ret);

// The state of a configuration on its way to a measurement.
enum tune_stop {
  STOP_NOWHERE,
  STOP_BUILDING,
  STOP_BUILT,
  STOP_LOADING,
  STOP_LOADED, // waits for the reference
  STOP_CHECKING,
  STOP_READY, // checked: may be measured, repeatedly
  STOP_MEASURING,
  STOP_TWIN, // has the code of trial.same_as
  STOP_FAILED
};

struct tune_item {
  enum tune_stop stop;
  bool is_wanted; // the search waits for `step`
  struct tune_step step;
  struct tune_built built;
};

struct tune_loop {
  const struct tune_hooks *hooks;
  struct arena *arena;
  const struct tune_problem *problem;
  const struct tune_space *space;
  const struct tune_options *options;
  struct tune_journal *journal;
  struct tune_search *search;
  struct tune_builder *builder;
  struct tune_worker *worker;
  struct tune_item *items;
  struct tune_trial *trials;
  VEC(uint32_t) active; // wanted, in the order of requests
  uint32_t *by_hash;    // open addressing over code: configuration + 1
  size_t by_hash_size;
  tile_device_properties device;
  const struct target *target;
  bool is_misled; // the assumed target was wrong
  bool has_device, has_reference, is_reference_sought;
  uint32_t reference; // checked when has_reference, else being tried
  size_t building, running, agreed, disagreed;
  struct tune_progress progress;
  const struct tune_trial *latest;
  double began_ms;
};

// ---- tune_trial.c ----
void tune_loop_analysed(struct tune_loop *l, const struct tune_built *b);
void tune_loop_replied(struct tune_loop *l, const struct tune_reply *r);
// Executes the search's request for `step.config`.
void tune_loop_want(struct tune_loop *l, const struct tune_step *step);
// Advances all configurations. True: the search got a result.
bool tune_loop_advance(struct tune_loop *l);
// Stores the times of the finals in the trials.
void tune_loop_mark_spills(struct tune_loop *l);
// Marks trials that spill as TUNE_SPILLS if the best does not.
void tune_loop_part_spills(struct tune_loop *l, uint32_t best);
// Gives results of an earlier run to the search.
void tune_loop_resume(struct tune_loop *l);

#endif
