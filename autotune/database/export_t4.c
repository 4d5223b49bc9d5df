// SPDX-License-Identifier: Apache-2.0
// Results in T4, the open autotuning results format of Kernel Tuner (schema 1.0.0): one record per
// configuration, with its times in milliseconds or the stage at which it failed.
#include "autotune/database/database_internal.h"

#define T4_VERSION "1.0.0"

static const char *invalidity(enum tune_outcome o) {
  switch (o) {
  case TUNE_PRUNED:
  case TUNE_SPILLS: return "constraints"; // its results are correct and it has times
  case TUNE_BAD_BUILD: return "compile";
  case TUNE_BAD_LAUNCH: return "runtime";
  case TUNE_TIMEOUT: return "timeout";
  case TUNE_WRONG: return "correctness";
  case TUNE_SAME_CODE:
  case TUNE_MEASURED:
  case TUNE_UNTRIED: break;
  }
  return "correct";
}

static void begin_document(struct json_writer *w) {
  json_begin_object(w);
  json_key(w, "schema_version"), json_cstring(w, T4_VERSION);
  json_key(w, "results"), json_begin_array(w);
}

static void end_document(struct json_writer *w) {
  json_end_array(w);
  json_end_object(w);
  strbuf_putc(w->out, '\n');
}

static void measurement(struct json_writer *w, const char *name, double value, const char *unit) {
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, name);
  json_key(w, "value"), json_double(w, value);
  json_key(w, "unit"), json_cstring(w, unit);
  json_end_object(w);
}

static void word(struct json_writer *w, const char *name, const char *value) {
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, name);
  json_key(w, "value"), json_cstring(w, value);
  json_key(w, "unit"), json_cstring(w, "");
  json_end_object(w);
}

static void write_measurements(struct json_writer *w, const struct tune_key *key,
                               const struct tune_trial *t, const struct tune_sample *sample) {
  json_key(w, "measurements"), json_begin_array(w);
  if (sample->median > 0)
    measurement(w, "time", sample->median, "ms");
  if (sample->count) {
    measurement(w, "time_p20", sample->p20, "ms");
    measurement(w, "time_p80", sample->p80, "ms");
    measurement(w, "launches", sample->count, "");
    measurement(w, "registers", t->registers, "");
    measurement(w, "local_bytes", t->local_bytes, "B");
    measurement(w, "spilled_bytes", t->spilled_bytes, "B");
  }
  if (t->shared_bytes)
    measurement(w, "shared_bytes", t->shared_bytes, "B");
  if (t->prediction.ms > 0)
    measurement(w, "time_predicted", t->prediction.ms, "ms");
  if (t->reason)
    word(w, "reason", t->reason);
  word(w, "kernel", key->kernel);
  word(w, "device", key->device);
  word(w, "target", key->target);
  for (size_t i = 0; i < key->value_count; i++)
    measurement(w, key->values[i].name, (double)key->values[i].value, "");
  json_end_array(w);
}

// Members of a record after its configuration. `sample`: of the trial, or of the trial with equal
// code.
static void write_outcome(struct json_writer *w, const struct tune_key *key,
                          const struct tune_trial *t, const struct tune_sample *sample) {
  const char *validity = invalidity(t->outcome);
  bool is_correct = strcmp(validity, "correct") == 0 || t->outcome == TUNE_SPILLS;
  json_key(w, "objectives"), json_begin_array(w);
  json_cstring(w, "time");
  json_end_array(w);
  json_key(w, "times"), json_begin_object(w);
  json_key(w, "compilation_time"), json_double(w, t->compile_ms);
  json_key(w, "runtimes"), json_begin_array(w);
  if (is_correct && sample->median > 0)
    json_double(w, sample->median);
  json_end_array(w);
  json_key(w, "framework"), json_double(w, t->load_ms);
  json_end_object(w);
  json_key(w, "invalidity"), json_cstring(w, validity);
  json_key(w, "correctness"), json_int(w, is_correct);
  write_measurements(w, key, t, is_correct ? sample : &(struct tune_sample){0});
}

// ---- of a tuning ----

void tune_export_t4(const struct tune_space *s, const struct tune_result *r,
                    const struct tune_key *key, struct strbuf *out) {
  struct json_writer w = {.out = out};
  begin_document(&w);
  for (size_t i = 0; i < r->count; i++) {
    const struct tune_trial *t = &r->trials[i];
    if (t->outcome == TUNE_UNTRIED)
      continue;
    bool shares = t->outcome == TUNE_SAME_CODE && t->same_as < r->count;
    json_begin_object(&w);
    json_key(&w, "configuration"), json_begin_object(&w);
    for (size_t d = 0; d < s->dim_count; d++)
      tune_setting_write(
          &w, &(struct tune_setting){s->dims[d].name, s->dims[d].values[s->configs[i].at[d]]});
    json_end_object(&w);
    write_outcome(&w, key, t, shares ? &r->trials[t->same_as].sample : &t->sample);
    json_end_object(&w);
  }
  end_document(&w);
}

// ---- of a file and the journals of its keys ----

struct lines {
  struct arena *a;
  VEC(struct tune_line) all;
  struct map indices; // spelling of the configuration -> its index and one
};

static const struct tune_line *find_line(const struct lines *l, struct str config) {
  uintptr_t index = (uintptr_t)map_get(&l->indices, config);
  return index ? &l->all.at[index - 1] : NULL;
}

static void take_line(void *user, const struct tune_line *line) {
  struct lines *l = user;
  uintptr_t index = (uintptr_t)map_get(&l->indices, line->config);
  if (index) {
    l->all.at[index - 1] = *line; // the latest
    return;
  }
  vec_push(l->a, &l->all, *line);
  map_put(l->a, &l->indices, line->config, (void *)(uintptr_t)l->all.len);
}

static void write_settings(struct json_writer *w, const struct tune_setting *s, size_t count) {
  json_key(w, "configuration"), json_begin_object(w);
  for (size_t i = 0; i < count; i++)
    tune_setting_write(w, &s[i]);
  json_end_object(w);
}

// Some measured configurations do not spill, so those that do could not win.
static bool may_not_spill(const struct lines *l) {
  for (size_t i = 0; i < l->all.len; i++)
    if (l->all.at[i].trial.outcome == TUNE_MEASURED && l->all.at[i].trial.spilled_bytes == 0)
      return true;
  return false;
}

static void write_line(struct json_writer *w, const struct tune_key *key, const struct lines *all,
                       const struct tune_line *line, bool spills_lose) {
  const struct tune_line *same = line->same_as.ptr ? find_line(all, line->same_as) : NULL;
  const struct tune_trial *ran = same ? &same->trial : &line->trial;
  struct tune_trial t = line->trial;
  if (spills_lose && ran->outcome == TUNE_MEASURED && ran->spilled_bytes > 0) {
    t.outcome = TUNE_SPILLS;
    t.spilled_bytes = ran->spilled_bytes;
    t.reason = tune_spills_reason(all->a, &t);
  }
  json_begin_object(w);
  write_settings(w, line->settings, line->setting_count);
  write_outcome(w, key, &t, &ran->sample);
  json_end_object(w);
}

static void write_entry(struct json_writer *w, const struct tune_entry *e) {
  struct tune_trial t = {.outcome = TUNE_MEASURED};
  json_begin_object(w);
  write_settings(w, e->settings, e->setting_count);
  write_outcome(w, &e->key, &t, &(struct tune_sample){.median = e->ms});
  json_end_object(w);
}

void tune_export_file_t4(struct arena *a, const struct tune_file *f, struct strbuf *out) {
  struct json_writer w = {.out = out};
  begin_document(&w);
  for (size_t i = 0; i < f->count; i++) {
    const struct tune_entry *e = &f->entries[i];
    struct lines lines = {.a = a};
    struct tune_journal *j = tune_journal_open(&e->key);
    tune_journal_each(j, a, take_line, &lines);
    tune_journal_close(j);
    bool spills_lose = may_not_spill(&lines);
    for (size_t k = 0; k < lines.all.len; k++)
      write_line(&w, &e->key, &lines, &lines.all.at[k], spills_lose);
    if (!lines.all.len)
      write_entry(&w, e);
  }
  end_document(&w);
}
