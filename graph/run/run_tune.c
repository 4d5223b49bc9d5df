// SPDX-License-Identifier: Apache-2.0
// Tunes kernels during a run. The numbers of splits and of walking programs are not tuned: they are
// the numbers of partial results that other kernels read.
#include "graph/run/run_tune.h"

#include "autotune/database/database.h"
#include "autotune/tuned/tuned.h"
#include "base/clock.h"
#include "base/memory.h"
#include "graph/plan/kernel_config.h"
#include "graph/run/run.h"
#include "graph/run/run_tune_internal.h"
#include "runtime/runtime_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- one kernel ----

static double elapsed(const struct tuning *w) { return clock_ms() - w->began_ms; }

// Twice an equal share of the remaining time, since small kernels take less; 0: unbounded,
// negative: none left.
static double budget_of(const struct tuning *w) {
  double left = 1e3 * w->o->seconds - elapsed(w);
  if (!(w->o->seconds > 0))
    return 0;
  return left < 50 ? -1 : w->left > 1 ? 2 * left / (double)(w->left + 1) : left;
}

static const char *reason_of(struct arena *a, const struct tune_result *r) {
  if (r->stopped && !r->has_best)
    return "the time ran out before any configuration ran";
  for (size_t i = 0; !r->has_best && i < r->count; i++)
    if (r->trials[i].reason)
      return arena_printf(a, "none of its configurations runs: %s", r->trials[i].reason);
  if (!r->has_best)
    return "none of its configurations runs";
  if (r->disagreed > r->agreed)
    return "most configurations compute other results";
  return NULL;
}

static void put_on_file(const struct tuning *w, const struct tune_key *key,
                        const struct tune_result *r, struct tune_setting *settings, size_t count) {
  const struct tune_trial *best = &r->trials[r->best], *normal = &r->trials[0];
  struct tune_entry entry = {.key = *key,
                             .settings = settings,
                             .setting_count = count,
                             .ms = best->sample.median,
                             .default_ms =
                                 normal->sample.count ? normal->sample.median : (double)NAN,
                             .spilled_bytes = best->spilled_bytes,
                             .version = tile_version()};
  if (w->o->file && best->sample.count)
    tune_file_put(w->o->file, &entry); // on failure it is measured again another time
}

// Configures and loads. NULL, or why the kernel stays unchanged.
static const char *take(struct tuning *w, struct arena *a, struct graph_kernel *k,
                        const struct tune_setting *s, size_t count) {
  struct graph_kernel before = *k;
  if (kernel_has(a, k, s, count))
    return NULL;
  if (!kernel_configure(w->l->p, k, s, count))
    return "its configuration is not in its space";
  if (loaded_replace(w->l, k) == TILE_OK)
    return NULL;
  const char *why = arena_strdup(a, tile_error_message());
  struct tune_setting *old = arena_array(a, struct tune_setting, before.constants.len + 2);
  size_t n = 0;
  for (size_t i = 0; i < before.constants.len; i++)
    old[n++] = (struct tune_setting){before.constants.at[i].name, before.constants.at[i].value};
  kernel_configure(w->l->p, k, old, n);
  k->num_warps = before.num_warps;
  k->num_stages = before.num_stages;
  k->num_ctas = before.num_ctas;
  return why;
}

static struct tune_options options_of(const struct tuning *w, const char *device,
                                      double budget_ms) {
  const struct program_tune_options *o = w->o;
  return (struct tune_options){.device = device,
                               .guess = w->properties.target,
                               .effort = o->effort,
                               .candidates = o->candidates,
                               .seed = o->seed,
                               .budget_ms = budget_ms,
                               .timeout_ms = o->timeout_ms,
                               .rtol = -1,
                               .atol = -1,
                               .resume = o->resume,
                               .stop = o->stop};
}

static const char *measure(struct work *w, struct arena *a, const struct tune_problem *problem,
                           const struct tune_space *space, const struct tune_key *key,
                           struct kernel_choice *c) {
  struct tuning *t = w->tuning;
  double budget = budget_of(t);
  if (budget < 0 || (t->o->stop && *t->o->stop))
    return "the time for tuning is over";
  if (tune_exceeds_memory(w))
    return "copies of its arrays do not fit in memory";
  if (tile_stream_synchronize(t->l->device, t->stream) != TILE_OK)
    return arena_strdup(a, tile_error_message());
  char device[32];
  device_open_name(t->l->device, device);
  struct tune_options options = options_of(t, device, budget);
  struct tune_result r = {0};
  struct tune_journal *journal = tune_journal_open(key);
  tile_status s = tune_run(a, problem, space, &options, journal, tune_fill, w, w->data_bytes, &r);
  tune_journal_close(journal);
  const char *why = s == TILE_OK ? reason_of(a, &r) : arena_strdup(a, tile_error_message());
  if (why)
    return why;
  size_t count;
  struct tune_setting *settings = tuned_config_settings(space, r.best, a, &count);
  why = r.best == 0 ? NULL : take(t, a, w->launch->kernel, settings, count);
  if (why)
    return why;
  if (!r.stopped)
    put_on_file(t, key, &r, settings, count);
  c->is_measured = true;
  c->ms = r.trials[r.best].sample.median;
  c->default_ms = r.trials[0].sample.count ? r.trials[0].sample.median : 0;
  return NULL;
}

static bool has_settings(const struct tune_space *s, struct arena *a, const struct tune_setting *of,
                         size_t count) {
  struct strbuf text = {.arena = a};
  size_t unused;
  for (size_t d = 0; d < s->dim_count; d++) {
    const char *value = tune_setting_find(of, count, s->dims[d].name);
    strbuf_printf(&text, "%s%s=%s", d ? ", " : "", s->dims[d].name, value ? value : "?");
  }
  const char *spelling = arena_strdup(a, text.len ? strbuf_cstr(&text) : "");
  strbuf_finish(&text);
  return count == s->dim_count && tune_space_find(s, str_from(spelling), &unused);
}

static const struct tune_entry *on_file(struct arena *a, const struct tune_file *f,
                                        const struct tune_key *key, bool or_nearest,
                                        const struct tune_space *space) {
  const struct tune_entry *e = tune_file_find(f, key, or_nearest);
  return e && has_settings(space, a, e->settings, e->setting_count) ? e : NULL;
}

static const char *choose(struct work *w, struct arena *a, struct tune_space *space,
                          struct kernel_choice *c) {
  struct tuning *t = w->tuning;
  struct graph_kernel *k = w->launch->kernel;
  struct tune_key key;
  const char *why = kernel_space(a, t->l->p, k, space);
  if (why)
    return why;
  c->config = ""; // there is a choice; its text is set when known
  why = tune_find_arrays(w);
  if (why)
    return why;
  struct tune_problem problem =
      launch_problem_of(a, t->l->p->regions->loops->exprs, w->launch, w->args);
  problem.like = t->l->device;
  if (launch_key_of(a, w->launch, &problem, &t->properties, &key) != TILE_OK)
    return arena_strdup(a, tile_error_message());
  const struct tune_entry *e = on_file(a, &t->file, &key, !t->o->measures, space);
  if (e) {
    why = take(t, a, k, e->settings, e->setting_count);
    c->is_from_file = !why;
    c->ms = e->ms;
    c->default_ms = e->default_ms;
    return why;
  }
  if (!t->o->measures)
    return "it is not on file";
  tune_lay_out(w, &problem);
  return measure(w, a, &problem, space, &key, c);
}

static void tell(struct tuning *t, struct arena *a, const struct tune_space *space,
                 struct kernel_choice *c) {
  if (c->config)
    c->config = kernel_config_text(a, space, c->kernel);
  t->count.measured += c->is_measured;
  t->count.from_file += c->is_from_file;
  t->count.kept += c->why != NULL;
  if (t->o->told)
    t->o->told(t->o->user, c);
}

// If arrays cannot be copied, later calls on the device would fail too.
static tile_status meet(struct tuning *t, const struct launch *launch) {
  struct arena *a = arena_create();
  struct work *w = memory_zeroed(1, sizeof *w);
  struct tune_space *space = memory_zeroed(1, sizeof *space);
  jmp_buf out_of_memory;
  tile_status s = TILE_OK;
  if (!a || !w || !space || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a tuning");
  } else {
    arena_set_oom(a, &out_of_memory);
    *w = (struct work){.tuning = t, .launch = launch};
    struct kernel_choice c = {.kernel = launch->kernel};
    c.why = choose(w, a, space, &c);
    tell(t, a, space, &c);
    s = w->status;
  }
  arena_destroy(a);
  free(w);
  free(space);
  return s;
}

// ---- the run ----

static tile_status run(struct tuning *t, uint64_t seed) {
  const struct program *p = t->l->p;
  bool *met = memory_zeroed(p->kernels.len + 1, sizeof *met);
  tile_status s = met ? TILE_OK : status_set(TILE_OUT_OF_MEMORY, "out of memory for a tuning");
  t->left = p->kernels.len;
  for (size_t i = 0; s == TILE_OK && i < p->launches.len; i++) {
    const struct launch *launch = &p->launches.at[i];
    bool launches = false;
    s = loaded_clear(t->l, t->stream, launch);
    if (s == TILE_OK && launch->kernel && !met[launch->kernel->id]) {
      met[launch->kernel->id] = true;
      s = meet(t, launch);
      t->left--;
    }
    if (s == TILE_OK)
      s = loaded_launch(t->l, t->stream, seed, launch, LAUNCH_BEHIND_OTHERS, &launches);
  }
  if (s != TILE_OK) {
    tile_stream_synchronize(t->l->device, t->stream); // before the counters are cleared
    t->l->has_zeros = false;
  }
  free(met);
  return s;
}

tile_status program_tune(struct loaded_program *l, tile_stream *stream, uint64_t seed,
                         const struct tensor_view *inputs, const struct tensor_view *outputs,
                         const struct program_tune_options *o, struct program_tune_count *ret) {
  struct arena *a = arena_create();
  struct tuning t = {.l = l, .stream = stream, .o = o, .began_ms = clock_ms()};
  jmp_buf out_of_memory;
  volatile tile_status s;
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a tuning");
  } else {
    arena_set_oom(a, &out_of_memory);
    s = tune_read_file(a, o->file, &t.file);
    if (s == TILE_OK)
      s = tile_device_get_properties(l->device, &t.properties);
    if (s == TILE_OK)
      s = loaded_get_ready(l, inputs, outputs);
    program_await_best_code(l); // no background compilation during measurements
    if (s == TILE_OK)
      s = run(&t, seed);
  }
  arena_destroy(a);
  if (ret)
    *ret = t.count;
  return s;
}

// ---- without a device ----

static tile_status take_entry(struct program *p, struct arena *a, const struct tune_file *file,
                              struct graph_kernel *k, const struct launch *l,
                              const tile_device_properties *device, bool *ret_taken) {
  struct tune_space space;
  tile_arg args[LAUNCH_MOST_ARGS];
  struct tune_key key;
  *ret_taken = false;
  if (kernel_space(a, p, k, &space))
    return TILE_OK;
  launch_likely_args(l, args);
  struct tune_problem problem = launch_problem_of(a, p->regions->loops->exprs, l, args);
  tile_status s = launch_key_of(a, l, &problem, device, &key);
  if (s != TILE_OK)
    return s;
  for (size_t i = 0; i < file->count && !*ret_taken; i++) {
    if (!*device->name)
      key.device = file->entries[i].key.device;
    const struct tune_entry *e = on_file(a, file, &key, true, &space);
    *ret_taken = e && kernel_configure(p, k, e->settings, e->setting_count);
    if (*device->name)
      break;
  }
  return TILE_OK;
}

static tile_status take_all(struct program *p, struct arena *a, const char *path,
                            const tile_device_properties *device, size_t *ret_count) {
  struct tune_file file;
  tile_status s = tune_read_file(a, path, &file);
  for (size_t k = 0; s == TILE_OK && file.count && k < p->kernels.len; k++)
    for (size_t i = 0; i < p->launches.len; i++) {
      bool taken;
      if (p->launches.at[i].kernel != p->kernels.at[k])
        continue;
      s = take_entry(p, a, &file, p->kernels.at[k], &p->launches.at[i], device, &taken);
      *ret_count += s == TILE_OK && taken;
      break;
    }
  return s;
}

tile_status program_take_tunings(struct program *p, const char *file, const char *device,
                                 const char *target, size_t *ret_count) {
  struct arena *a = arena_create();
  tile_device_properties properties = {0};
  jmp_buf out_of_memory;
  volatile tile_status s;
  *ret_count = 0;
  snprintf(properties.name, sizeof properties.name, "%s", device ? device : "");
  snprintf(properties.target, sizeof properties.target, "%s", target);
  if (!a || setjmp(out_of_memory)) {
    s = status_set(TILE_OUT_OF_MEMORY, "out of memory for a file of tunings");
  } else {
    arena_set_oom(a, &out_of_memory);
    s = take_all(p, a, file, &properties, ret_count);
  }
  arena_destroy(a);
  return s;
}
