// SPDX-License-Identifier: Apache-2.0
// Measures on first use: the launch's own problem, with copies of its arrays, is tuned, and the
// result is written to the file. The program's arrays are only read.
#include "autotune/tune.h"

#include "autotune/tuned/tuned.h"
#include "lang/tuning/tuning.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DATA_ALIGN 256 // of arrays among the data

// ---- the arrays ----

struct block { // the memory behind a pointer
  const void *pointer;
  size_t size;
  uint64_t offset; // into the data
};

// State of one tuning.
struct work {
  const struct tuned_request *request;
  const struct tune_space *space;
  struct block *blocks;
  size_t block_count;
  uint64_t data_bytes;
  tile_status status; // of the thread that copies the arrays, with its message
  char message[512];
};

static uint64_t round_up(uint64_t n) { return (n + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN; }

// Equal pointers share a block; pointers that overlap otherwise do not, and neither do the worker's
// copies.
static struct block *block_of(struct work *w, const void *pointer, size_t size) {
  for (size_t i = 0; i < w->block_count; i++)
    if (w->blocks[i].pointer == pointer)
      return &w->blocks[i];
  struct block *b = &w->blocks[w->block_count++];
  *b = (struct block){pointer, size, w->data_bytes};
  w->data_bytes += round_up(size);
  return b;
}

// An array extends from its pointer to the end of the allocation: how much of it the kernel uses is
// unknown.
static tile_status find_arrays(struct work *w, struct tune_problem *p) {
  const struct tuned_request *r = w->request;
  const tile_kernel *k = r->tuned->kernel;
  for (size_t i = 0; i < r->arg_count; i++) {
    const char *pointer = arg_memory(&r->args[i]);
    if (!pointer)
      continue;
    void *base;
    size_t size;
    tile_status s = device_allocation(r->tuned->device, pointer, &base, &size);
    if (s != TILE_OK)
      return status_set(s, "kernel `%s` cannot be tuned: argument %zu (`%s`): %s", k->name, i + 1,
                        k->params[i].name, tile_error_message());
    const struct block *b = block_of(w, pointer, size - (size_t)(pointer - (const char *)base));
    p->arrays[i].bytes = b->size;
    p->arrays[i].offset = b->offset;
  }
  return TILE_OK;
}

// The data is memory of this machine; requesting more than there is would have the program killed.
static tile_status check_size(const struct work *w) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
  if (w->data_bytes <= memory / 2)
    return TILE_OK;
  return status_set(TILE_LIMIT,
                    "kernel `%s` cannot be tuned: the allocations that its arguments lie in have "
                    "%llu bytes, and copies of them may take %llu of this machine's memory\n"
                    "  = help: tune it on smaller arrays, or with `tilec --autotune`",
                    w->request->tuned->kernel->name, (unsigned long long)w->data_bytes,
                    (unsigned long long)(memory / 2));
}

static bool fill(void *user, void *data) {
  struct work *w = user;
  const struct tuned_request *r = w->request;
  for (size_t i = 0; i < w->block_count && w->status == TILE_OK; i++)
    w->status = tile_copy_to_host(r->tuned->device, r->stream, (char *)data + w->blocks[i].offset,
                                  w->blocks[i].pointer, w->blocks[i].size);
  if (w->status != TILE_OK)
    snprintf(w->message, sizeof w->message, "%s", tile_error_message());
  return w->status == TILE_OK;
}

// ---- progress ----

static bool tell(void *user, const struct tune_progress *p) {
  const struct work *w = user;
  const struct tuned_settings *s = w->request->settings;
  const struct tune_trial *trial = p->latest;
  if (!s->callback || !trial)
    return true;
  struct strbuf config = {0};
  tune_config_print(w->space, trial->config, &config);
  if (config.failed) // skips the callback for this event
    return true;
  bool ran = trial->outcome == TUNE_MEASURED || trial->outcome == TUNE_SAME_CODE;
  tile_tune_event event = {
      .config = strbuf_cstr(&config),
      .ms = ran ? trial->sample.median : -1,
      .why = ran ? NULL : (trial->reason ? trial->reason : tune_outcome_name(trial->outcome)),
      .best = p->best,
      .best_ms = p->best_ms,
      .done = p->measured,
      .planned = p->to_measure};
  bool go_on = s->callback(s->user, &event) == 0;
  strbuf_finish(&config);
  return go_on;
}

// A result that could not be written is used anyway; the callback is told.
static void tell_unwritten(const struct tuned_request *r, const char *config, double ms) {
  tile_tune_event event = {
      .config = config, .ms = -1, .why = tile_error_message(), .best = config, .best_ms = ms};
  if (r->settings->callback)
    r->settings->callback(r->settings->user, &event);
}

// ---- results ----

// Why nothing ran: the first reason that is not a prediction.
static tile_status nothing_ran(const struct work *w, struct arena *a,
                               const struct tune_result *result) {
  const char *name = w->request->tuned->kernel->name;
  const struct tune_trial *failed = NULL;
  for (size_t i = 0; i < result->count; i++) {
    const struct tune_trial *t = &result->trials[i];
    if (t->reason && (!failed || (failed->outcome == TUNE_PRUNED && t->outcome != TUNE_PRUNED)))
      failed = t;
  }
  if (!failed)
    return status_set(TILE_LAUNCH_FAILED, "kernel `%s`: the tuning ended before anything ran",
                      name);
  struct strbuf config = {.arena = a};
  tune_config_print(w->space, failed->config, &config);
  const char *spelling = arena_strdup(a, strbuf_cstr(&config));
  strbuf_finish(&config);
  return status_set(failed->is_limit ? TILE_LIMIT : TILE_LAUNCH_FAILED,
                    "kernel `%s`: none of %zu configurations runs; %s: %s", name, result->count,
                    spelling, failed->reason);
}

static void put_on_file(const struct tuned_request *r, const struct work *w,
                        const struct tuned_work *of, const struct tune_result *result,
                        struct tune_setting *settings, size_t count) {
  double ms = result->trials[result->best].sample.median;
  const struct tune_trial *normal = &result->trials[0];
  struct tune_entry entry = {.key = *of->key,
                             .settings = settings,
                             .setting_count = count,
                             .ms = ms,
                             .default_ms = normal->sample.count ? normal->sample.median : 0,
                             .spilled_bytes = result->trials[result->best].spilled_bytes,
                             .version = tile_version()};
  if (tune_file_put(of->file, &entry) == TILE_OK)
    return;
  struct strbuf config = {0};
  tune_config_print(w->space, result->best, &config);
  if (!config.failed)
    tell_unwritten(r, strbuf_cstr(&config), ms);
  strbuf_finish(&config);
}

static struct tune_options options_of(const struct tuned_request *r, const char *device,
                                      struct work *w) {
  const struct tuned_settings *s = r->settings;
  return (struct tune_options){
      .device = device,
      .effort = TUNE_EFFORT_QUICK,
      .candidates = s->candidates,
      .budget_ms = 1e3 * (s->seconds > 0 ? s->seconds : TUNED_DEFAULT_SECONDS),
      .rtol = -1,
      .atol = -1,
      .resume = true,
      .progress = tell,
      .user = w,
  };
}

static tile_status measure(struct work *w, struct arena *a, const struct tuned_work *of,
                           struct tune_setting **ret, size_t *ret_count) {
  const struct tuned_request *r = w->request;
  char device[32];
  device_open_name(r->tuned->device, device);
  struct tune_options options = options_of(r, device, w);
  struct tune_result result = {0};
  struct tune_journal *journal = tune_journal_open(of->key);
  tile_status s =
      tune_run(a, of->problem, of->space, &options, journal, fill, w, w->data_bytes, &result);
  tune_journal_close(journal);
  if (w->status != TILE_OK)
    return status_set(w->status, "%s", w->message);
  if (s != TILE_OK)
    return s;
  if (!result.has_best && !result.stopped)
    return nothing_ran(w, a, &result);
  size_t best = result.has_best ? result.best : 0;
  *ret = tuned_config_settings(of->space, best, a, ret_count);
  if (result.has_best && result.trials[best].outcome == TUNE_MEASURED)
    put_on_file(r, w, of, &result, *ret, *ret_count);
  return TILE_OK;
}

tile_status tuned_measure(const struct tuned_request *r, struct arena *a,
                          const struct tuned_work *of, struct tune_setting **ret,
                          size_t *ret_count) {
  tile_tuned *t = r->tuned;
  struct work w = {.request = r, .space = of->space};
  w.blocks = arena_array(a, struct block, r->arg_count + 1);
  if (!r->settings->grid)
    return status_set(TILE_INVALID_ARGUMENT,
                      "kernel `%s` cannot be tuned without a grid\n  = help: call "
                      "tile_tuned_set_grid",
                      t->kernel->name);
  tile_status s = find_arrays(&w, of->problem);
  if (s == TILE_OK)
    s = check_size(&w);
  // Waits for earlier launches: they write the arrays, and would disturb measurements.
  if (s == TILE_OK)
    s = tile_stream_synchronize(t->device, r->stream);
  if (s != TILE_OK)
    return s;
  tune_problem_reset(of->problem, of->tuning);
  return measure(&w, a, of, ret, ret_count);
}
