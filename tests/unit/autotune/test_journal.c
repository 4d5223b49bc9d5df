// SPDX-License-Identifier: Apache-2.0
// Tests of the journal of trials and of T4: trials are found by configuration in any space;
// truncated and foreign lines are skipped; another key has another journal.
#include "autotune/database/database_internal.h"
#include "suites.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct arena *a;
static char folder[64];
static struct tune_key_value values[] = {{"n", 8}};
static struct tune_key key;

static void setup(void) {
  a = arena_create();
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tile-tune-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TILE_CACHE_DIR", folder, 1);
  key = (struct tune_key){.kernel = "k",
                          .device = "d",
                          .target = "sm_80",
                          .types = "*f32",
                          .values = values,
                          .value_count = 1};
}

static void teardown(void) {
  char command[96];
  arena_destroy(a);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

// BLOCK=64, 128, 256 with 4 warps, then with 8; and KIND.
static struct tune_space *space(void) {
  static const char *blocks[] = {"64", "128", "256"}, *warps[] = {"4", "8"},
                    *kinds[] = {"\"relu\""};
  struct tune_space *s = arena_new(a, struct tune_space);
  s->dims[0] = (struct tune_dim){TUNE_CONSTANT, "BLOCK", blocks, 3};
  s->dims[1] = (struct tune_dim){TUNE_CONSTANT, "KIND", kinds, 1};
  s->dims[2] = (struct tune_dim){TUNE_WARPS, "num_warps", warps, 2};
  s->dim_count = 3;
  s->count = 6;
  s->configs = arena_array(a, struct tune_config, 6);
  for (uint16_t i = 0; i < 6; i++)
    s->configs[i] = (struct tune_config){{i % 3, 0, i / 3}};
  return s;
}

static const struct tune_trial trials[] = {
    {.config = 0,
     .outcome = TUNE_MEASURED,
     .sample = {0.125, 0.1, 0.2, 40},
     .prediction = {.ms = 0.5, .limiter = "memory"},
     .shared_bytes = 4096,
     .registers = 96,
     .local_bytes = 8,
     .spilled_bytes = 4,
     .compile_ms = 30.5,
     .load_ms = 2.25,
     .is_checked = true},
    {.config = 1, .outcome = TUNE_SAME_CODE, .same_as = 0},
    {.config = 2, .outcome = TUNE_PRUNED, .reason = "needs 245760 bytes of \"shared\" memory"},
    {.config = 3,
     .outcome = TUNE_WRONG,
     .reason = "17 of 64 differ",
     .sample = {0.01, 0.01, 0.01, 3}},
    {.config = 5, .outcome = TUNE_TIMEOUT, .reason = "no end in 10 s"},
};

static void append_all(const struct tune_space *s) {
  struct tune_journal *j = tune_journal_open(&key);
  ck_assert_ptr_nonnull(j);
  for (size_t i = 0; i < COUNT_OF(trials); i++)
    tune_journal_append(j, s, &trials[i]);
  tune_journal_append(j, s, &(struct tune_trial){.config = 4, .outcome = TUNE_UNTRIED});
  tune_journal_close(j);
}

static size_t read_all(const struct tune_space *s, struct tune_trial *got) {
  struct tune_journal *j = tune_journal_open(&key);
  size_t n = tune_journal_read(j, a, s, got);
  tune_journal_close(j);
  return n;
}

// The only file of the journal's folder.
static const char *journal_path(void) {
  const char *path = NULL, *tune = arena_printf(a, "%s/" CACHE_TUNE_FOLDER, folder);
  DIR *d = opendir(tune);
  ck_assert_ptr_nonnull(d);
  for (struct dirent *e; (e = readdir(d));)
    if (e->d_name[0] != '.') {
      ck_assert_ptr_null(path);
      path = arena_printf(a, "%s/%s", tune, e->d_name);
    }
  closedir(d);
  ck_assert_ptr_nonnull(path);
  return path;
}

static void add_bytes(const char *text) {
  int fd = open(journal_path(), O_WRONLY | O_APPEND);
  ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
}

START_TEST(trials_come_back) {
  struct tune_space *s = space();
  append_all(s);
  struct tune_trial got[6] = {{0}};
  ck_assert_uint_eq(read_all(s, got), 5);
  ck_assert_int_eq(got[4].outcome, TUNE_UNTRIED);
  for (size_t i = 0; i < COUNT_OF(trials); i++) {
    const struct tune_trial *t = &trials[i], *g = &got[t->config];
    ck_assert_int_eq(g->outcome, t->outcome);
    ck_assert(g->is_resumed && g->config == t->config && g->is_checked == t->is_checked);
    ck_assert(g->same_as == t->same_as);
    ck_assert_int_eq(memcmp(&g->sample, &t->sample, sizeof t->sample), 0);
    ck_assert(!t->reason == !g->reason && (!t->reason || strcmp(t->reason, g->reason) == 0));
    ck_assert(g->prediction.ms == t->prediction.ms && g->shared_bytes == t->shared_bytes &&
              g->registers == t->registers && g->local_bytes == t->local_bytes &&
              g->spilled_bytes == t->spilled_bytes && g->compile_ms == t->compile_ms &&
              g->load_ms == t->load_ms);
  }
  ck_assert_str_eq(got[0].prediction.limiter, "memory");
}
END_TEST

// A configuration is identified by its settings, not by its index.
START_TEST(another_space_of_the_same_names) {
  append_all(space());
  struct tune_space *s = space();
  s->configs[0] = (struct tune_config){{2, 0, 1}};
  s->configs[1] = (struct tune_config){{0, 0, 0}};
  s->count = 2;
  struct tune_trial got[2] = {{0}};
  ck_assert_uint_eq(read_all(s, got), 2);
  ck_assert_int_eq(got[0].outcome, TUNE_TIMEOUT);
  ck_assert_int_eq(got[1].outcome, TUNE_MEASURED);
  s->dim_count = 2; // "BLOCK=256, KIND=..." was measured with 4 warps and with 8
  struct tune_trial none[2] = {{0}};
  ck_assert_uint_eq(read_all(s, none), 0);
}
END_TEST

START_TEST(the_latest_line_counts) {
  struct tune_space *s = space();
  append_all(s);
  struct tune_journal *j = tune_journal_open(&key);
  tune_journal_append(
      j, s, &(struct tune_trial){.config = 5, .outcome = TUNE_MEASURED, .sample = {3, 3, 3, 1}});
  struct tune_trial got[6] = {{0}};
  ck_assert_uint_eq(tune_journal_read(j, a, s, got), 5);
  ck_assert_int_eq(got[5].outcome, TUNE_MEASURED);
  ck_assert_ptr_null(got[5].reason);
  tune_journal_close(j);
}
END_TEST

START_TEST(torn_and_foreign_lines) {
  struct tune_space *s = space();
  append_all(s);
  static const char *const lines[] = {
      "", "[]", "null", "{\"config\": 3, \"settings\": {}, \"outcome\": \"measured\"}",
      "{\"config\": \"BLOCK=64\", \"settings\": [], \"outcome\": \"pruned\"}",
      // a measurement without its times
      "{\"config\": \"BLOCK=128, KIND=\\\"relu\\\", num_warps=8\", \"settings\": {}, \"outcome\": "
      "\"measured\"}",
      "{\"config\": \"BLOCK=128, KIND=\\\"relu\\\", num_warps=8\", \"settings\": {}, \"outcome\": "
      "\"untried\"}",
      "{\"config\": \"BLOCK=128, KIND=\\\"relu\\\", num_warps=8\", \"settings\": {}, \"outcome\": "
      "\"same code\", \"same_as\": \"BLOCK=7\"}",
      "\xff\xfe\x01", "{\"config\": \"BLOCK=128, KI"};
  for (size_t i = 0; i < COUNT_OF(lines); i++)
    add_bytes(arena_printf(a, i ? "\n%s" : "%s", lines[i]));
  struct tune_trial got[6] = {{0}};
  ck_assert_uint_eq(read_all(s, got), 5);
  // The last line was truncated; the next one begins on a new line.
  struct tune_journal *j = tune_journal_open(&key);
  tune_journal_append(
      j, s,
      &(struct tune_trial){.config = 4, .outcome = TUNE_BAD_LAUNCH, .reason = "illegal address"});
  tune_journal_close(j);
  struct tune_trial again[6] = {{0}};
  ck_assert_uint_eq(read_all(s, again), 6);
  ck_assert_str_eq(again[4].reason, "illegal address");
}
END_TEST

// A journal truncated at any byte gives its complete lines.
START_TEST(a_journal_that_ends_anywhere) {
  struct tune_space *s = space();
  append_all(s);
  const char *path = journal_path();
  FILE *f = fopen(path, "r");
  static char text[1 << 14];
  size_t n = fread(text, 1, sizeof text, f);
  fclose(f);
  for (size_t i = n; i-- > 0;) {
    size_t lines = 0;
    for (size_t k = 0; k < i; k++)
      lines += text[k] == '\n';
    ck_assert_int_eq(truncate(path, (off_t)i), 0);
    struct tune_trial got[6] = {{0}};
    ck_assert_uint_eq(read_all(s, got), lines ? lines - 1 : 0); // the first line is a heading
  }
}
END_TEST

START_TEST(another_key_is_another_journal) {
  struct tune_space *s = space();
  struct tune_setting fixed[] = {{"MODE", "1"}};
  struct tune_key_value other[] = {{"n", 9}};
  append_all(s);
  const struct tune_key same = key;
  for (int part = 0; part < 7; part++) {
    switch (part) {
    case 0: key.kernel = "l"; break;
    case 1: key.device = "e"; break;
    case 2: key.target = "sm_90a"; break;
    case 3: key.types = "*f16"; break;
    case 4: key.fixed = fixed, key.fixed_count = 1; break;
    case 5: key.values = other; break;
    case 6: key.hash[0] = 1; break;
    }
    struct tune_trial got[6] = {{0}};
    ck_assert_msg(read_all(s, got) == 0, "part %d", part);
    key = same;
  }
  struct tune_trial got[6] = {{0}};
  ck_assert_uint_eq(read_all(s, got), 5);
}
END_TEST

START_TEST(no_cache_folder) {
  setenv("TILE_CACHE_DIR", "", 1);
  ck_assert_ptr_null(tune_journal_open(&key));
  tune_journal_append(NULL, space(), &trials[0]);
  ck_assert_uint_eq(tune_journal_read(NULL, a, space(), NULL), 0);
  tune_journal_close(NULL);
}
END_TEST

// ---- T4 ----

static struct str string_of(const struct json *j, const char *name) {
  const struct json *v = json_get(j, name);
  ck_assert(v && v->kind == JSON_STRING);
  return v->string;
}

static double measured(const struct json *record, const char *name) {
  const struct json *m = json_get(record, "measurements");
  for (size_t i = 0; i < m->count; i++)
    if (str_is(string_of(m->items[i], "name"), name))
      return json_get(m->items[i], "value")->number;
  return -1;
}

// What the schema requires of records, and the contents of ours.
static void check_records(const char *text, size_t count) {
  static const char *const validity[] = {"correct", "correct", "constraints", "correctness",
                                         "timeout"};
  struct json_error error;
  const struct json *j = json_parse(a, str_from(text), &error);
  ck_assert_msg(j, "%s", text);
  ck_assert(str_is(string_of(j, "schema_version"), "1.0.0"));
  const struct json *results = json_get(j, "results");
  ck_assert_uint_eq(results->count, count);
  for (size_t i = 0; i < count; i++) {
    const struct json *r = results->items[i], *times = json_get(r, "times");
    bool is_correct = i < 2;
    ck_assert_msg(str_is(string_of(r, "invalidity"), validity[i]), "%zu: %s", i, text);
    ck_assert(json_get(json_get(r, "configuration"), "BLOCK")->integer > 0);
    ck_assert_int_eq(json_get(r, "correctness")->integer, is_correct);
    ck_assert_uint_eq(json_get(times, "runtimes")->count, is_correct);
    ck_assert(measured(r, "time") == (is_correct ? 0.125 : -1)); // that of the equal code, too
    ck_assert(measured(r, "n") == 8);
  }
  ck_assert(json_get(json_get(results->items[0], "times"), "compilation_time")->number == 30.5);
}

START_TEST(a_result_as_t4) {
  struct tune_space *s = space();
  struct tune_trial all[6] = {{0}};
  for (size_t i = 0; i < COUNT_OF(trials); i++)
    all[trials[i].config] = trials[i];
  struct tune_result r = {.trials = all, .count = 6};
  struct strbuf out = {0};
  tune_export_t4(s, &r, &key, &out);
  check_records(out.ptr, 5);
  strbuf_finish(&out);
}
END_TEST

START_TEST(a_file_as_t4) {
  struct tune_setting settings[] = {{"BLOCK", "64"}};
  struct tune_entry e = {.key = key, .settings = settings, .setting_count = 1, .ms = 0.125};
  struct tune_file f = {&e, 1};
  struct strbuf out = {0};
  tune_export_file_t4(a, &f, &out); // the entry alone
  struct json_error error;
  const struct json *j = json_parse(a, (struct str){out.ptr, out.len}, &error);
  ck_assert_uint_eq(json_get(j, "results")->count, 1);
  ck_assert(measured(json_get(j, "results")->items[0], "time") == 0.125);
  append_all(space());
  strbuf_clear(&out);
  tune_export_file_t4(a, &f, &out); // what the journal knows of its key
  check_records(out.ptr, 5);
  strbuf_finish(&out);
}
END_TEST

static void append_measured(const struct tune_space *s, uint32_t config, double ms, int spilled) {
  struct tune_journal *j = tune_journal_open(&key);
  tune_journal_append(j, s,
                      &(struct tune_trial){.config = config,
                                           .outcome = TUNE_MEASURED,
                                           .sample = {ms, ms, ms, 9},
                                           .spilled_bytes = spilled});
  tune_journal_close(j);
}

static const struct json *t4_of_file(void) {
  struct tune_setting settings[] = {{"BLOCK", "64"}};
  struct tune_entry e = {.key = key, .settings = settings, .setting_count = 1, .ms = 0.125};
  struct tune_file f = {&e, 1};
  struct strbuf out = {0};
  struct json_error error;
  tune_export_file_t4(a, &f, &out);
  const char *text = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return json_get(json_parse(a, str_from(text), &error), "results");
}

// Readers of T4 take "correct" configurations: if one does not spill, those that do are not
// correct, but have times.
START_TEST(spills_in_t4) {
  struct tune_space *s = space();
  append_measured(s, 0, 0.5, 48);
  const struct json *results = t4_of_file();
  ck_assert(str_is(string_of(results->items[0], "invalidity"), "correct"));
  struct tune_journal *j = tune_journal_open(&key);
  tune_journal_append(j, s,
                      &(struct tune_trial){.config = 1, .outcome = TUNE_SAME_CODE, .same_as = 0});
  tune_journal_close(j);
  append_measured(s, 2, 0.75, 0);
  results = t4_of_file();
  ck_assert_uint_eq(results->count, 3);
  for (size_t i = 0; i < 3; i++) {
    const struct json *r = results->items[i];
    ck_assert(str_is(string_of(r, "invalidity"), i < 2 ? "constraints" : "correct"));
    ck_assert_int_eq(json_get(r, "correctness")->integer, 1);
    ck_assert(measured(r, "time") == (i < 2 ? 0.5 : 0.75));
    ck_assert(measured(r, "spilled_bytes") == (i < 2 ? 48 : 0));
  }
}
END_TEST

Suite *journal_suite(void) {
  Suite *s = suite_create("journal");
  TCase *t = tcase_create("trials");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, trials_come_back);
  tcase_add_test(t, another_space_of_the_same_names);
  tcase_add_test(t, the_latest_line_counts);
  tcase_add_test(t, torn_and_foreign_lines);
  tcase_add_test(t, a_journal_that_ends_anywhere);
  tcase_add_test(t, another_key_is_another_journal);
  tcase_add_test(t, no_cache_folder);
  tcase_add_test(t, a_result_as_t4);
  tcase_add_test(t, a_file_as_t4);
  tcase_add_test(t, spills_in_t4);
  suite_add_tcase(s, t);
  return s;
}
