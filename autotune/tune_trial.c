// SPDX-License-Identifier: Apache-2.0
// The states of a configuration: built, merged with equal code, loaded, checked against the
// reference, measured as often as the search requests. A failure at any step becomes its outcome.
#include "autotune/tune_internal.h"

#include <math.h>

#define GIVE_UP_FIRST 3.0 // times the best: a short measurement may stop
#define GIVE_UP_LATER 1.5
#define MOST_RUNNING 2

static bool is_failure(enum tune_outcome o) {
  return o != TUNE_UNTRIED && o != TUNE_MEASURED && o != TUNE_SAME_CODE;
}

// The search gets the result; an untimed slice has none.
static void report_outcome(struct tune_loop *l, uint32_t config) {
  struct tune_item *item = &l->items[config];
  struct tune_trial *t = &l->trials[config];
  if (!item->is_wanted)
    return;
  item->is_wanted = false;
  enum tune_outcome outcome =
      item->step.is_slice && t->outcome == TUNE_MEASURED ? TUNE_UNTRIED : t->outcome;
  bool has_sample = outcome == TUNE_MEASURED || outcome == TUNE_SAME_CODE;
  if (t->spilled_bytes > 0)
    tune_search_spills(l->search, config);
  tune_search_measured(l->search, config, outcome, has_sample ? &t->sample : NULL);
}

// Results that cost time or a worker are recorded.
static bool is_worth_writing(enum tune_outcome o) {
  return o == TUNE_MEASURED || o == TUNE_WRONG || o == TUNE_BAD_LAUNCH || o == TUNE_TIMEOUT;
}

static void take_outcome(struct tune_loop *l, uint32_t config, enum tune_outcome outcome,
                         const char *reason) {
  struct tune_trial *t = &l->trials[config];
  t->outcome = outcome;
  t->reason = reason && *reason ? arena_strdup(l->arena, reason) : NULL;
  t->is_resumed = false;
  if (is_failure(outcome))
    l->items[config].stop = STOP_FAILED;
  l->latest = t;
}

static void conclude(struct tune_loop *l, uint32_t config, enum tune_outcome outcome,
                     const char *reason) {
  take_outcome(l, config, outcome, reason);
  if (l->journal && is_worth_writing(outcome))
    tune_journal_append(l->journal, l->space, &l->trials[config]);
  report_outcome(l, config);
}

// The worker has no result: it is gone for good, or lacks the reference. That says nothing about
// the configuration: earlier results stay, and nothing is recorded.
static void conclude_without_reply(struct tune_loop *l, uint32_t config, const char *reason) {
  if (l->trials[config].outcome == TUNE_MEASURED)
    l->items[config].stop = STOP_READY;
  else
    take_outcome(l, config, TUNE_BAD_LAUNCH, reason);
  report_outcome(l, config);
}

// ---- equal code ----

// Equal code, launched in the same way.
static bool is_twin(const struct tune_built *a, const struct tune_built *b) {
  return memcmp(a->hash, b->hash, sizeof a->hash) == 0 && a->grid.x == b->grid.x &&
         a->grid.y == b->grid.y && a->grid.z == b->grid.z &&
         kernel_info_threads(&a->info) == kernel_info_threads(&b->info) &&
         a->info.shared_bytes == b->info.shared_bytes;
}

// The first built configuration with this one's code: itself, if it is the first.
static uint32_t find_twin(struct tune_loop *l, uint32_t config) {
  const struct tune_built *b = &l->items[config].built;
  size_t at = 0;
  memcpy(&at, b->hash, sizeof at);
  for (at %= l->by_hash_size; l->by_hash[at]; at = (at + 1) % l->by_hash_size)
    if (is_twin(&l->items[l->by_hash[at] - 1].built, b))
      return l->by_hash[at] - 1;
  l->by_hash[at] = config + 1;
  return config;
}

static uint32_t first_twin(const struct tune_loop *l, uint32_t config) {
  return l->items[config].stop == STOP_TWIN ? l->trials[config].same_as : config;
}

// Copies the twin's result, if there is one. True: the search got a result.
static bool follow_twin(struct tune_loop *l, uint32_t config) {
  struct tune_trial *t = &l->trials[config];
  const struct tune_trial *twin = &l->trials[t->same_as];
  if (l->items[t->same_as].is_wanted)
    return false;
  if (twin->outcome == TUNE_UNTRIED) { // built as reference only: it must be timed itself
    struct tune_step step = l->items[config].step;
    step.config = t->same_as;
    step.is_slice = false;
    tune_loop_want(l, &step);
    return false;
  }
  t->registers = twin->registers;
  t->local_bytes = twin->local_bytes;
  t->spilled_bytes = twin->spilled_bytes;
  t->is_checked = twin->is_checked;
  t->sample = twin->sample;
  conclude(l, config, is_failure(twin->outcome) ? twin->outcome : TUNE_SAME_CODE, twin->reason);
  return true;
}

// ---- from builder and worker ----

static void note_built(struct tune_loop *l, const struct tune_built *b) {
  struct tune_trial *t = &l->trials[b->config];
  if (b->prediction.ms > 0) // the prediction was computed earlier
    t->prediction = b->prediction;
  t->shared_bytes = b->cost.shared_bytes;
  tune_search_analysed(l->search, b->config, &b->prediction);
}

// The default is tried whatever its prediction: others are compared with it. Its cost is unknown if
// it was compiled without an analysis.
static const char *prune(struct tune_loop *l, const struct tune_built *b) {
  return b->config == 0 || b->cost.num_warps == 0
             ? NULL
             : tune_prune_reason(l->arena, &l->device, l->target, &b->cost, b->grid);
}

void tune_loop_analysed(struct tune_loop *l, const struct tune_built *b) {
  struct tune_item *item = &l->items[b->config];
  bool is_compiled = item->stop == STOP_BUILDING && (b->code.ptr || !b->ok);
  const char *reason = b->ok ? prune(l, b) : b->reason;
  l->building--;
  if (!is_compiled)
    l->progress.analysed++;
  l->trials[b->config].compile_ms += b->ms;
  l->trials[b->config].is_limit = !b->ok && b->is_limit;
  if (reason || !b->ok) {
    tune_search_analysed(l->search, b->config, NULL);
    if (!is_failure(l->trials[b->config].outcome))
      conclude(l, b->config, b->ok ? TUNE_PRUNED : TUNE_BAD_BUILD, reason);
    return;
  }
  note_built(l, b);
  if (!is_compiled)
    return;
  l->progress.compiled++;
  item->built = *b;
  item->stop = STOP_BUILT;
  uint32_t twin = find_twin(l, b->config);
  if (twin != b->config) {
    item->stop = STOP_TWIN;
    l->trials[b->config].same_as = twin;
  }
}

static void note_loaded(struct tune_loop *l, const struct tune_reply *r) {
  struct tune_trial *t = &l->trials[r->config];
  t->registers = r->registers;
  t->local_bytes = r->local_bytes;
  int64_t spilled = (int64_t)r->local_bytes - l->items[r->config].built.local_bytes;
  t->spilled_bytes = spilled > 0 ? (int)spilled : 0;
  t->load_ms = r->load_ms;
  if (r->outcome == TUNE_MEASURED)
    l->items[r->config].stop = STOP_LOADED;
}

static void note_checked(struct tune_loop *l, const struct tune_reply *r) {
  bool is_reference = l->is_reference_sought && r->config == l->reference;
  l->is_reference_sought &= !is_reference;
  if (r->outcome == TUNE_MEASURED) {
    l->trials[r->config].is_checked = true;
    l->items[r->config].stop = STOP_READY;
    l->has_reference |= is_reference;
    l->agreed += !is_reference;
  }
  l->disagreed += r->outcome == TUNE_WRONG && !is_reference;
}

void tune_loop_replied(struct tune_loop *l, const struct tune_reply *r) {
  struct tune_item *item = &l->items[r->config];
  enum tune_stop at = item->stop;
  l->running -= at == STOP_CHECKING || at == STOP_MEASURING;
  if (at == STOP_LOADING)
    note_loaded(l, r);
  else if (at == STOP_CHECKING)
    note_checked(l, r);
  if (r->outcome == TUNE_UNTRIED) {
    conclude_without_reply(l, r->config, r->reason);
  } else if (r->outcome != TUNE_MEASURED) {
    conclude(l, r->config, r->outcome, r->reason);
  } else if (at == STOP_MEASURING && item->step.is_slice) {
    item->stop = STOP_READY;
    item->is_wanted = false;
    tune_search_measured(l->search, r->config, TUNE_MEASURED, &r->sample);
  } else if (at == STOP_MEASURING) {
    item->stop = STOP_READY;
    // An interrupted measurement does not replace an earlier one.
    if (r->sample.count >= l->trials[r->config].sample.count)
      l->trials[r->config].sample = r->sample;
    conclude(l, r->config, TUNE_MEASURED, NULL);
  }
}

// ---- moving on ----

static void submit(struct tune_loop *l, enum tune_stage stage, uint32_t config) {
  if (stage == TUNE_COMPILED)
    l->items[config].stop = STOP_BUILDING;
  l->building++;
  l->hooks->submit(l->builder, stage, config);
}

void tune_loop_want(struct tune_loop *l, const struct tune_step *step) {
  struct tune_item *item = &l->items[step->config];
  if (step->action == TUNE_ANALYSE) {
    submit(l, TUNE_ANALYSED, step->config);
    return;
  }
  item->is_wanted = true;
  item->step = *step;
  vec_push(l->arena, &l->active, step->config);
}

// The worker always has work queued, but little, so that urgent requests do not wait long.
static bool may_run(const struct tune_loop *l) { return l->running < MOST_RUNNING; }

// The CPU shares its cores with the compiler threads: measurements wait for compilations. The
// reference does not wait, so that there is an early result; it is timed again in the finals.
static bool may_measure(const struct tune_loop *l, uint32_t config) {
  return may_run(l) && (!l->device.is_cpu || l->building == 0 ||
                        (config == l->reference && l->trials[config].sample.count == 0));
}

static void measure(struct tune_loop *l, uint32_t config) {
  const struct tune_step *s = &l->items[config].step;
  uint32_t best;
  double give_up = 0;
  if (tune_search_best(l->search, &best) && l->trials[best].sample.count)
    give_up = l->trials[best].sample.median *
              (l->trials[config].sample.count ? GIVE_UP_LATER : GIVE_UP_FIRST);
  if (config == 0 || s->is_slice) // its time is reported; all slices of a round are alike
    give_up = 0;
  l->items[config].stop = STOP_MEASURING;
  l->running++;
  l->hooks->measure(l->worker, config, s->budget_ms, s->least, s->most, give_up);
}

static void check(struct tune_loop *l, uint32_t config) {
  if (!may_run(l) || (!l->has_reference && !(l->is_reference_sought && l->reference == config)))
    return;
  l->items[config].stop = STOP_CHECKING;
  l->running++;
  l->hooks->check(l->worker, config, !l->has_reference);
}

// Advances one configuration by one state. True: the search got a result, or the state changed.
static bool move(struct tune_loop *l, uint32_t config, bool with_checks) {
  struct tune_item *item = &l->items[config];
  enum tune_stop before = item->stop;
  switch (item->stop) {
  case STOP_NOWHERE: submit(l, TUNE_COMPILED, config); break;
  case STOP_BUILT:
    item->stop = STOP_LOADING;
    l->hooks->load(l->worker, &item->built);
    break;
  case STOP_LOADED:
    if (with_checks)
      check(l, config);
    break;
  case STOP_READY:
    if (item->is_wanted && may_measure(l, config))
      measure(l, config);
    break;
  case STOP_TWIN: return item->is_wanted && follow_twin(l, config);
  case STOP_FAILED: report_outcome(l, config); return true;
  case STOP_BUILDING:
  case STOP_LOADING:
  case STOP_CHECKING:
  case STOP_MEASURING: break;
  }
  return item->stop != before;
}

static bool is_hopeless(const struct tune_loop *l, uint32_t config) {
  return is_failure(l->trials[first_twin(l, config)].outcome);
}

// The reference configuration: the default, or, if that does not run, the first one that does.
static void seek_reference(struct tune_loop *l) {
  if (l->has_reference || l->active.len == 0)
    return;
  if (l->is_reference_sought && is_hopeless(l, l->reference))
    l->is_reference_sought = false;
  uint32_t next = 0;
  for (size_t i = 0; is_hopeless(l, next) && i < l->active.len; i++)
    next = l->active.at[i];
  if (!l->is_reference_sought && !is_hopeless(l, next)) {
    l->reference = next;
    l->is_reference_sought = true;
  }
  if (l->is_reference_sought)
    l->reference = first_twin(l, l->reference);
}

bool tune_loop_advance(struct tune_loop *l) {
  bool has_moved = false;
  seek_reference(l);
  if (l->is_reference_sought && !l->items[l->reference].is_wanted)
    has_moved = move(l, l->reference, true);
  for (size_t i = 0; i < l->active.len; i++)
    has_moved |= move(l, l->active.at[i], false);
  size_t kept = 0;
  for (size_t i = 0; i < l->active.len; i++) { // checks come after measurements: they may hang
    uint32_t config = l->active.at[i];
    has_moved |= move(l, config, true);
    if (l->items[config].is_wanted)
      l->active.at[kept++] = config;
    else
      has_moved = true;
  }
  l->active.len = kept;
  return has_moved;
}

void tune_loop_mark_spills(struct tune_loop *l) {
  for (uint32_t i = 0; i < l->space->count; i++) {
    struct tune_trial *t = &l->trials[i];
    struct tune_sample sample = tune_search_sample(l->search, i);
    if (t->outcome != TUNE_MEASURED || sample.rounds == 0 ||
        (t->is_resumed && t->sample.rounds && t->sample.median == sample.median))
      continue;
    t->sample = sample;
    t->is_resumed = false;
    if (l->journal)
      tune_journal_append(l->journal, l->space, t);
  }
  for (uint32_t i = 0; i < l->space->count; i++)
    if (l->trials[i].outcome == TUNE_SAME_CODE &&
        l->trials[l->trials[i].same_as].outcome == TUNE_MEASURED)
      l->trials[i].sample = l->trials[l->trials[i].same_as].sample;
}

void tune_loop_part_spills(struct tune_loop *l, uint32_t best) {
  if (l->trials[best].spilled_bytes > 0 || l->trials[best].sample.count == 0)
    return;
  for (uint32_t i = 0; i < l->space->count; i++) {
    struct tune_trial *t = &l->trials[i];
    if (t->spilled_bytes == 0 || (t->outcome != TUNE_MEASURED && t->outcome != TUNE_SAME_CODE))
      continue;
    t->is_twin = t->outcome == TUNE_SAME_CODE;
    t->outcome = TUNE_SPILLS;
    t->reason = tune_spills_reason(l->arena, t);
  }
}

// ---- an earlier run ----

void tune_loop_resume(struct tune_loop *l) {
  struct tune_trial *known = arena_array(l->arena, struct tune_trial, l->space->count + 1);
  for (uint32_t i = 0; i < l->space->count; i++)
    known[i].config = i;
  if (!tune_journal_read(l->journal, l->arena, l->space, known))
    return;
  for (uint32_t i = 0; i < l->space->count; i++) {
    struct tune_trial *t = &known[i];
    if (!is_worth_writing(t->outcome) || (t->outcome == TUNE_MEASURED && t->sample.count == 0) ||
        l->trials[i].outcome != TUNE_UNTRIED)
      continue;
    t->config = i;
    t->is_resumed = true;
    l->trials[i] = *t;
    if (is_failure(t->outcome))
      l->items[i].stop = STOP_FAILED;
    l->items[i].is_wanted = true; // as if the search had requested it
    report_outcome(l, i);
  }
}
