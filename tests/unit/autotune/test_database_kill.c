// SPDX-License-Identifier: Apache-2.0
// Tuning files and journals under several processes that are killed at random: finished writes are
// never lost, and readers always find a complete file. TILE_TEST_KILLS is the number of kills.
#include "autotune/database/database_internal.h"
#include "suites.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 4, VALUES = 1 << 8, MAX_DONE = VALUES * VALUES };

static char folder[64], path[96];

static void setup(void) {
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tile-tune-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/k.tune.json", folder);
  setenv("TILE_CACHE_DIR", folder, 1);
}

static void teardown(void) {
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}

static unsigned kills(void) {
  const char *text = getenv("TILE_TEST_KILLS");
  return text && atoi(text) > 0 ? (unsigned)atoi(text) : 40;
}

static uint32_t chance(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

// ---- what writers do ----

// Number n, of a writer of its own, has the key n.
static struct tune_entry entry_of(struct tune_key_value *value, int64_t n) {
  static struct tune_setting settings[] = {{"BLOCK", "64"}};
  *value = (struct tune_key_value){"n", n};
  return (struct tune_entry){.key = {.kernel = "k",
                                     .device = "d",
                                     .target = "cpu",
                                     .types = "i32",
                                     .values = value,
                                     .value_count = 1},
                             .settings = settings,
                             .setting_count = 1,
                             .ms = 1,
                             .version = "0.1.0"};
}

static bool put_entry(void *user, int64_t n) {
  struct tune_key_value value;
  struct tune_entry e = entry_of(&value, n);
  (void)user;
  return tune_file_put(path, &e) == TILE_OK;
}

// A space of so many values that every number has a configuration.
static struct tune_space *space_of(struct arena *a) {
  struct tune_space *s = arena_new(a, struct tune_space);
  const char **values = arena_array(a, const char *, VALUES);
  s->configs = arena_array(a, struct tune_config, MAX_DONE);
  for (size_t i = 0; i < VALUES; i++)
    values[i] = arena_printf(a, "%zu", i);
  for (size_t i = 0; i < MAX_DONE; i++) {
    s->configs[i].at[0] = (uint16_t)(i / VALUES);
    s->configs[i].at[1] = (uint16_t)(i % VALUES);
  }
  s->dims[0] = (struct tune_dim){TUNE_CONSTANT, "ROWS", values, VALUES};
  s->dims[1] = (struct tune_dim){TUNE_CONSTANT, "COLUMNS", values, VALUES};
  s->dim_count = 2;
  s->count = MAX_DONE;
  return s;
}

static struct tune_journal *open_journal(void) {
  struct tune_key_value value;
  struct tune_entry e = entry_of(&value, 1);
  return tune_journal_open(&e.key);
}

static bool append_line(void *user, int64_t n) {
  static struct tune_journal *j; // of this process
  if (!j && !(j = open_journal()))
    return false;
  struct tune_trial t = {.config = (uint32_t)n,
                         .outcome = TUNE_MEASURED,
                         .sample = {.median = (double)n + 0.5, .p20 = 1, .p80 = 2, .count = 3}};
  tune_journal_append(j, user, &t);
  return true;
}

// ---- processes that are killed ----

typedef bool write_fn(void *user, int64_t n);

// Writes numbers from `first` on, with a stride, and reports each finished one.
static void work(int to, write_fn *write_one, void *user, int64_t first) {
  for (int64_t n = first; n < MAX_DONE; n += WRITERS)
    if (!write_one(user, n) || write(to, &n, sizeof n) != sizeof n)
      _exit(1);
  for (;;) // out of numbers
    pause();
}

struct crowd {
  write_fn *write_one;
  void *user;
  pid_t pids[WRITERS];
  int64_t next[WRITERS]; // the first number of a writer's next life
  int from, to;          // a pipe of numbers that are done
  bool *done;
  size_t done_count;
};

static void start(struct crowd *c, int w) {
  c->pids[w] = fork();
  ck_assert_int_ge(c->pids[w], 0);
  if (c->pids[w] == 0) {
    close(c->from);
    work(c->to, c->write_one, c->user, c->next[w]);
  }
}

// Takes note of what was done, for about so long.
static void listen_for(struct crowd *c, int ms) {
  struct pollfd p = {.fd = c->from, .events = POLLIN};
  int64_t n;
  while (poll(&p, 1, ms) > 0 && read(c->from, &n, sizeof n) == sizeof n) {
    ck_assert(n >= 0 && n < MAX_DONE);
    c->done[n] = true;
    c->done_count++;
    int w = (int)(n % WRITERS);
    c->next[w] = n + WRITERS > c->next[w] ? n + WRITERS : c->next[w];
    ms = ms > 1 ? ms - 1 : 0;
  }
}

static void kill_one(struct crowd *c, int w) {
  int status;
  ck_assert_int_eq(kill(c->pids[w], SIGKILL), 0);
  ck_assert_int_eq(waitpid(c->pids[w], &status, 0), c->pids[w]);
  ck_assert_msg(WIFSIGNALED(status), "a writer failed by itself: %d", status);
  listen_for(c, 0);
  c->next[w] += WRITERS; // the number in progress may be written or not
}

static void run_crowd(struct crowd *c, void (*look)(void)) {
  int ends[2];
  uint64_t state = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
  fprintf(stderr, "# chance %llu\n", (unsigned long long)state);
  ck_assert_int_eq(pipe(ends), 0);
  c->from = ends[0];
  c->to = ends[1];
  c->done = calloc(MAX_DONE, sizeof *c->done);
  for (int w = 0; w < WRITERS; w++) {
    c->next[w] = w;
    start(c, w);
  }
  unsigned count = kills();
  for (unsigned i = 0; i < count; i++) {
    struct timespec t = {0, (long)(chance(&state) % 3000000)};
    nanosleep(&t, NULL);
    listen_for(c, 1);
    look();
    int w = (int)(chance(&state) % WRITERS);
    kill_one(c, w);
    start(c, w);
  }
  listen_for(c, 20);
  for (int w = 0; w < WRITERS; w++)
    kill_one(c, w);
  close(ends[0]);
  close(ends[1]);
  ck_assert_msg(c->done_count > count / 4, "only %zu numbers were written", c->done_count);
}

// ---- the file ----

static void look_into_file(void) {
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct tune_file f;
  ck_assert_msg(tune_file_read(a, diag, path, &f), "%s", diag_first_error(diag));
  arena_destroy(a);
}

START_TEST(a_finished_put_is_never_lost) {
  struct crowd c = {.write_one = put_entry};
  run_crowd(&c, look_into_file);
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct tune_file f;
  ck_assert_msg(tune_file_read(a, diag, path, &f), "%s", diag_first_error(diag));
  bool *found = calloc(MAX_DONE, sizeof *found);
  for (size_t i = 0; i < f.count; i++)
    found[f.entries[i].key.values[0].value] = true;
  for (size_t n = 0; n < MAX_DONE; n++)
    ck_assert_msg(!c.done[n] || found[n], "%zu of %zu was lost", n, c.done_count);
  // The next process continues, and leaves no other file.
  ck_assert(put_entry(NULL, 1));
  char lock[112];
  snprintf(lock, sizeof lock, "%s.lock", path);
  ck_assert_int_ne(access(lock, F_OK), 0);
  free(found);
  free(c.done);
  arena_destroy(a);
}
END_TEST

// Eight processes at once, none killed: every entry is there.
START_TEST(writers_at_once) {
  pid_t pids[8];
  for (int w = 0; w < 8; w++)
    if ((pids[w] = fork()) == 0) {
      for (int64_t n = 0; n < 12; n++)
        if (!put_entry(NULL, w * 12 + n))
          _exit(1);
      _exit(0);
    }
  for (int w = 0; w < 8; w++) {
    int status;
    ck_assert_int_eq(waitpid(pids[w], &status, 0), pids[w]);
    ck_assert_int_eq(status, 0);
  }
  struct arena *a = arena_create();
  struct tune_file f;
  ck_assert(tune_file_read(a, diag_engine_create(a), path, &f));
  ck_assert_uint_eq(f.count, 96);
  arena_destroy(a);
}
END_TEST

// ---- the journal ----

static void look_away(void) {}

START_TEST(a_line_of_the_journal_is_never_lost) {
  struct arena *a = arena_create();
  struct tune_space *s = space_of(a);
  struct crowd c = {.write_one = append_line, .user = s};
  run_crowd(&c, look_away);
  struct tune_trial *trials = arena_array(a, struct tune_trial, MAX_DONE);
  struct tune_journal *j = open_journal();
  ck_assert_uint_ge(tune_journal_read(j, a, s, trials), c.done_count);
  for (size_t n = 0; n < MAX_DONE; n++)
    ck_assert_msg(!c.done[n] || (trials[n].outcome == TUNE_MEASURED && trials[n].is_resumed &&
                                 trials[n].sample.median == (double)n + 0.5),
                  "%zu was lost", n);
  tune_journal_close(j);
  free(c.done);
  arena_destroy(a);
}
END_TEST

Suite *database_kill_suite(void) {
  Suite *s = suite_create("database_kill");
  TCase *t = tcase_create("processes");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 600);
  tcase_add_test(t, a_finished_put_is_never_lost);
  tcase_add_test(t, writers_at_once);
  tcase_add_test(t, a_line_of_the_journal_is_never_lost);
  suite_add_tcase(s, t);
  return s;
}
