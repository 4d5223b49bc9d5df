// SPDX-License-Identifier: Apache-2.0
// The event loop with a fake builder, worker and clock: every kind of failure becomes a reason,
// equal code is measured once, the choice of the reference, stopping, and resuming.
#include "autotune/report/report.h"
#include "fake_tuning.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct arena *a;
static struct tune_space space;
static struct tune_options options;
static struct tune_result result;

static void setup(void) {
  a = arena_create();
  options = (struct tune_options){.device = "cuda", .effort = TUNE_EFFORT_QUICK};
  result = (struct tune_result){0};
}

static void teardown(void) { arena_destroy(a); }

static bool fill(void *user, void *data) {
  *(unsigned char *)data = 77;
  return *(bool *)user;
}

static tile_status run(struct tune_journal *journal) {
  bool is_good = true;
  struct tune_problem p = {.file = "made_up.tile"};
  tile_status s =
      tune_run_with(&fake_hooks, a, &p, &space, &options, journal, fill, &is_good, 100, &result);
  ck_assert_uint_eq(fake.open_builders, 0);
  ck_assert_uint_eq(fake.open_workers, 0);
  return s;
}

START_TEST(all_are_fine) {
  fake_reset(a, 20, &space);
  fake.ms[13] = 0.9;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert(result.has_best && result.best == 13);
  ck_assert_uint_eq(result.reference, 0);
  ck_assert_uint_eq(fake.reference, 0);
  ck_assert(fake.is_ready);
  ck_assert_uint_eq(result.agreed, 19);
  ck_assert_uint_eq(result.disagreed, 0);
  for (size_t i = 0; i < 20; i++) {
    ck_assert_int_eq(result.trials[i].outcome, TUNE_MEASURED);
    ck_assert_double_eq_tol(result.trials[i].sample.median, fake.ms[i], 1e-9);
    ck_assert(result.trials[i].is_checked);
    ck_assert_int_eq(result.trials[i].registers, 40);
    ck_assert_uint_eq(fake.checked[i], 1);
    ck_assert_uint_eq(fake.loaded[i], 1);
  }
  ck_assert_uint_ge(fake.measured[13], 2); // the finals
  ck_assert(!result.stopped);
  ck_assert(fake.was_measured_while_building); // measuring overlaps compiling
}
END_TEST

// Compiler threads disturb measurements on the CPU.
START_TEST(cpu_waits_for_builds) {
  fake_reset(a, 20, &space);
  fake.is_cpu = true;
  options.device = "cpu";
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert(!fake.was_measured_while_building);
  ck_assert_uint_eq(fake.device_told, 1); // the builder began before the device was known
}
END_TEST

START_TEST(failures_are_reasons) {
  static const struct {
    enum fake_conduct conduct;
    enum tune_outcome outcome;
    const char *reason;
  } rows[] = {{FAKE_NO_BUILD, TUNE_BAD_BUILD, "the compiler says no"},
              {FAKE_TOO_MUCH, TUNE_PRUNED,
               "needs 1048576 bytes of shared memory; a program may use 232448"},
              {FAKE_NO_LOAD, TUNE_BAD_BUILD, "the driver says no"},
              {FAKE_CRASH, TUNE_BAD_LAUNCH, "illegal address"},
              {FAKE_HANG, TUNE_TIMEOUT, "no answer"},
              {FAKE_WRONG, TUNE_WRONG, "other results"},
              {FAKE_CRASH_LATER, TUNE_BAD_LAUNCH, "fell over"}};
  fake_reset(a, 20, &space);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    fake.conduct[i + 3] = rows[i].conduct;
    fake.ms[i + 3] = 0.1; // they would win
  }
  ck_assert_int_eq(run(NULL), TILE_OK);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    const struct tune_trial *t = &result.trials[i + 3];
    ck_assert_msg(t->outcome == rows[i].outcome, "%zu: %s", i, tune_outcome_name(t->outcome));
    ck_assert_str_eq(t->reason, rows[i].reason);
  }
  ck_assert(result.has_best && result.best == 0);
  ck_assert_uint_eq(result.disagreed, 1);
}
END_TEST

// If the default does not run, there is still a reference.
START_TEST(default_does_not_run) {
  static const enum fake_conduct ways[] = {FAKE_NO_BUILD, FAKE_NO_LOAD, FAKE_CRASH, FAKE_HANG};
  for (size_t i = 0; i < COUNT_OF(ways); i++) {
    fake_reset(a, 8, &space);
    fake.conduct[0] = ways[i];
    fake.conduct[5] = FAKE_WRONG;
    ck_assert_int_eq(run(NULL), TILE_OK);
    ck_assert_uint_eq(result.reference, 1);
    ck_assert_uint_eq(fake.reference, 1);
    ck_assert_int_eq(result.trials[5].outcome, TUNE_WRONG);
    ck_assert(result.has_best && result.best == 1);
    ck_assert_int_ne(result.trials[0].outcome, TUNE_MEASURED);
  }
  // It is tried although its prediction says that it does not fit: predictions may be wrong.
  fake_reset(a, 8, &space);
  fake.conduct[0] = FAKE_TOO_MUCH;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert_int_eq(result.trials[0].outcome, TUNE_MEASURED);
}
END_TEST

START_TEST(nothing_runs) {
  fake_reset(a, 8, &space);
  for (size_t i = 0; i < 8; i++)
    fake.conduct[i] = (enum fake_conduct)(FAKE_NO_LOAD + i % 3);
  ck_assert_int_eq(run(NULL), TILE_OK);
  for (size_t i = 0; i < 8; i++) {
    ck_assert_int_ne(result.trials[i].outcome, TUNE_MEASURED);
    ck_assert_int_ne(result.trials[i].outcome, TUNE_UNTRIED);
  }
  ck_assert(!result.has_best || result.trials[result.best].sample.count == 0);
}
END_TEST

// A wrong default makes all others look wrong: nothing else wins, and this is reported.
START_TEST(suspect_reference) {
  fake_reset(a, 8, &space);
  fake.conduct[0] = FAKE_WRONG;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert_uint_eq(result.disagreed, 7);
  ck_assert_uint_eq(result.agreed, 0);
  ck_assert(result.has_best && result.best == 0);
  struct strbuf out = {0};
  tune_report(&space, &result, 0, 0, &out);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&out), "the reference itself may be wrong"));
  strbuf_finish(&out);
}
END_TEST

START_TEST(equal_code_once) {
  fake_reset(a, 12, &space);
  fake.code[4] = fake.code[7] = fake.code[2];
  fake.code[9] = fake.code[0];
  fake.code[11] = fake.code[5];
  fake.conduct[5] = FAKE_WRONG;
  fake.ms[2] = 0.5;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert_int_eq(result.trials[4].outcome, TUNE_SAME_CODE);
  ck_assert_int_eq(result.trials[7].outcome, TUNE_SAME_CODE);
  ck_assert_uint_eq(result.trials[7].same_as, 2);
  ck_assert_double_eq_tol(result.trials[7].sample.median, 0.5, 1e-9);
  ck_assert_int_eq(result.trials[9].outcome, TUNE_SAME_CODE);
  ck_assert_int_eq(result.trials[11].outcome, TUNE_WRONG); // so is its twin
  ck_assert_uint_eq(fake.loaded[4] + fake.loaded[7] + fake.loaded[9] + fake.loaded[11], 0);
  ck_assert(result.has_best && result.best == 2);
}
END_TEST

static void report_has(const char *text) {
  struct strbuf out = {0};
  tune_report(&space, &result, 0, 0, &out);
  ck_assert_msg(strstr(strbuf_cstr(&out), text), "no `%s` in:\n%s", text, strbuf_cstr(&out));
  strbuf_finish(&out);
}

// A candidate that spills registers is timed and reported, and does not win if one without spills
// does.
START_TEST(spills_do_not_win) {
  fake_reset(a, 20, &space);
  for (size_t i = 4; i < 8; i++) {
    fake.ms[i] = 0.99;
    fake.local_bytes[i] = 48;
  }
  fake.code[6] = fake.code[5];
  fake.asked_bytes[7] = 48; // as its source says
  fake.ms[7] = 0.995;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert(result.has_best && result.best == 7);
  for (uint32_t i = 4; i < 7; i++) {
    const struct tune_trial *t = &result.trials[i];
    ck_assert_int_eq(t->outcome, TUNE_SPILLS);
    ck_assert_str_eq(t->reason, "48 bytes a thread");
    ck_assert_double_eq_tol(t->sample.median, 0.99, 1e-9);
    ck_assert_uint_eq(fake.measured[i], i == 6 ? 0 : 1); // neither a longer measurement nor finals
  }
  ck_assert_int_eq(result.trials[7].outcome, TUNE_MEASURED);
  ck_assert_uint_ge(result.trials[7].sample.rounds, 2);
  report_has("19 of 20 configurations measured");
  report_has("      3 spills registers: ");
  report_has("          0.9900 ms, 48 bytes a thread: BLOCK=80\n");
}
END_TEST

// A default that spills is only compared with the others.
START_TEST(default_spills) {
  fake_reset(a, 20, &space);
  fake.local_bytes[0] = 8;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert(result.has_best && result.best == 1 && result.reference == 0);
  ck_assert_int_eq(result.trials[0].outcome, TUNE_SPILLS);
  ck_assert_uint_ge(fake.measured[0], 3); // its time is told, so the finals only compare it
  report_has("  default       1.0000");
  report_has("BLOCK=16  (spills)\n");
  report_has("1.0000 ms, 8 bytes a thread: BLOCK=16\n");
}
END_TEST

START_TEST(all_spill) {
  fake_reset(a, 12, &space);
  for (size_t i = 0; i < 12; i++)
    fake.local_bytes[i] = 16;
  fake.local_bytes[3] = fake.local_bytes[4] = 0; // but these two fail
  fake.conduct[3] = FAKE_WRONG;
  fake.conduct[4] = FAKE_CRASH_LATER;
  fake.ms[5] = 0.9;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert(result.has_best && result.best == 5);
  ck_assert_int_eq(result.trials[5].outcome, TUNE_MEASURED);
  ck_assert_int_eq(result.trials[0].outcome, TUNE_MEASURED);
  report_has("  spills   all that are right spill registers; the fastest is chosen\n");
}
END_TEST

// Those without spills fail in the finals: one that spills wins.
START_TEST(finals_leave_only_spills) {
  fake_reset(a, 12, &space);
  for (size_t i = 0; i < 12; i++) {
    fake.ms[i] = 0.3 * (1 + 0.01 * (double)i);
    fake.local_bytes[i] = i == 4 || i == 5 ? 0 : 16;
  }
  fake.crash_at[4] = fake.crash_at[5] = 4;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert_int_eq(result.trials[4].outcome, TUNE_BAD_LAUNCH);
  ck_assert_int_eq(result.trials[5].outcome, TUNE_BAD_LAUNCH);
  ck_assert(result.has_best && result.best == 0);
  ck_assert_int_eq(result.trials[0].outcome, TUNE_MEASURED);
}
END_TEST

// Slow ones get few launches.
START_TEST(give_up) {
  fake_reset(a, 8, &space);
  fake.ms[3] = 50;
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert_int_eq(result.trials[3].outcome, TUNE_MEASURED);
  ck_assert_uint_eq(result.trials[3].sample.count, 2);
}
END_TEST

static int stop_flag;
static unsigned told;

static bool stop_after_five(void *user, const struct tune_progress *p) {
  (void)user;
  told++;
  if (p->latest)
    ck_assert_uint_lt(p->latest->config, space.count);
  return p->measured < 5;
}

static bool set_flag_after_five(void *user, const struct tune_progress *p) {
  (void)user;
  stop_flag = p->measured >= 5;
  return true;
}

START_TEST(stopping_keeps_the_best) {
  for (int way = 0; way < 3; way++) {
    fake_reset(a, 20, &space);
    for (size_t i = 0; i < 20; i++)
      fake.ms[i] = 2 - 0.05 * (double)i;
    options = (struct tune_options){.device = "cuda", .effort = TUNE_EFFORT_QUICK};
    stop_flag = 0;
    options.progress = way == 0 ? stop_after_five : way == 1 ? set_flag_after_five : NULL;
    options.stop = &stop_flag;
    options.budget_ms = way == 2 ? 200 : 0;
    ck_assert_int_eq(run(NULL), TILE_OK);
    ck_assert(result.stopped);
    ck_assert(result.has_best);
    unsigned measured = 0;
    for (size_t i = 0; i < 20; i++)
      if (result.trials[i].outcome == TUNE_MEASURED) {
        measured++;
        ck_assert(result.trials[result.best].sample.median <= result.trials[i].sample.median);
      }
    ck_assert_uint_ge(measured, 3);
    ck_assert_uint_lt(measured, 20);
    if (way == 2)
      ck_assert(result.elapsed_ms >= 200 && result.elapsed_ms < 300);
  }
  ck_assert_uint_gt(told, 5);
}
END_TEST

START_TEST(no_device) {
  fake_reset(a, 4, &space);
  fake.device_fails = "no GPU here";
  ck_assert_int_eq(run(NULL), TILE_NO_DEVICE);
  ck_assert_str_eq(tile_error_message(), "no GPU here");
}
END_TEST

// A wrong guess of the target only restarts the work.
START_TEST(guesses) {
  fake_reset(a, 8, &space);
  options.guess = "sm_90a";
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert_uint_eq(fake.device_told, 1);
  ck_assert(result.has_best && result.best == 0);
  fake_reset(a, 8, &space);
  options.guess = "sm_80";
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert_uint_eq(fake.device_told, 0);
  ck_assert(result.has_best && result.best == 0);
  ck_assert_uint_eq(result.agreed, 7);
  ck_assert_str_eq(result.device.target, "sm_90a");
}
END_TEST

START_TEST(unfilled) {
  fake_reset(a, 4, &space);
  bool is_good = false;
  struct tune_problem p = {.file = "made_up.tile"};
  ck_assert_int_eq(
      tune_run_with(&fake_hooks, a, &p, &space, &options, NULL, fill, &is_good, 100, &result),
      TILE_IO_ERROR);
  ck_assert_uint_eq(fake.open_workers, 0);
}
END_TEST

// Clocks drop during the tuning: early and late candidates are compared fairly.
START_TEST(drifting_clock) {
  unsigned wrong = 0;
  for (int k = 0; k < 12; k++) {
    fake_reset(a, 20, &space);
    fake.drift = 0.06;
    fake.drift_period_ms = 150 + 37 * k;
    for (size_t i = 0; i < 20; i++)
      fake.ms[i] = 0.3 * (1 + 0.015 * (double)((i + 7) % 20));
    ck_assert_int_eq(run(NULL), TILE_OK);
    wrong += result.best != 13;
    for (size_t i = 0; i < 20; i++)
      ck_assert(result.trials[i].sample.median >= result.trials[result.best].sample.median);
    // The finalists' measured times have the true ratios.
    double ratio = result.trials[14].sample.median / result.trials[13].sample.median;
    wrong += fabs(ratio - 1.015) > 0.004;
  }
  ck_assert_msg(wrong == 0, "%u times", wrong);
}
END_TEST

// One fails in the finals; the best of the others wins.
START_TEST(crash_in_the_finals) {
  for (unsigned at = 3; at < 7; at++) {
    fake_reset(a, 20, &space);
    for (size_t i = 0; i < 20; i++)
      fake.ms[i] = 0.3 * (1 + 0.01 * (double)i);
    fake.crash_at[0] = at;
    ck_assert_int_eq(run(NULL), TILE_OK);
    ck_assert_int_eq(result.trials[0].outcome, TUNE_BAD_LAUNCH);
    ck_assert(result.has_best && result.best == 1);
    for (size_t i = 1; i < 20; i++)
      ck_assert_int_eq(result.trials[i].outcome, TUNE_MEASURED);
    ck_assert_uint_ge(result.trials[1].sample.rounds, 2);
  }
}
END_TEST

// A larger space: pruned ones are never compiled, 24 are measured, the rest stays untried.
START_TEST(guided) {
  fake_reset(a, 60, &space);
  for (size_t i = 0; i < 60; i++)
    fake.ms[i] = 1 + 0.02 * abs((int)i - 41);
  for (size_t i = 50; i < 60; i++)
    fake.conduct[i] = FAKE_TOO_MUCH;
  ck_assert_int_eq(run(NULL), TILE_OK);
  unsigned measured = 0;
  for (size_t i = 0; i < 60; i++) {
    measured += result.trials[i].outcome == TUNE_MEASURED;
    ck_assert_uint_eq(result.trials[i].outcome == TUNE_PRUNED, i >= 50);
    ck_assert_uint_le(fake.submitted[i], i >= 50 ? 1 : 2);
  }
  ck_assert_uint_le(measured, 24);
  ck_assert_uint_eq(result.best, 41);
  options.effort = TUNE_EFFORT_NONE;
  fake_reset(a, 60, &space);
  ck_assert_int_eq(run(NULL), TILE_OK);
  ck_assert(result.has_best && result.best == 0);
  for (size_t i = 0; i < 60; i++)
    ck_assert_uint_eq(fake.loaded[i], 0);
}
END_TEST

// If analysing would take all the time, the search continues with the known candidates.
START_TEST(slow_analysis) {
  fake_reset(a, 60, &space);
  fake.analyse_ms = 100;
  options.budget_ms = 3000;
  ck_assert_int_eq(run(NULL), TILE_OK);
  unsigned measured = 0, looked_at = 0;
  for (size_t i = 0; i < 60; i++) {
    measured += result.trials[i].outcome == TUNE_MEASURED;
    looked_at += result.trials[i].prediction.ms > 0;
  }
  ck_assert_uint_ge(looked_at, 10);
  ck_assert_uint_ge(measured, 8);
}
END_TEST

// A killed run, and another with its journal: measured candidates are not measured again.
START_TEST(resumed) {
  char folder[] = "/tmp/tile-tune-test-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TILE_CACHE_DIR", folder, 1);
  struct tune_key key = {.kernel = "k", .device = "d", .target = "t", .types = "i32"};
  for (int with = 0; with < 2; with++) {
    fake_reset(a, 20, &space);
    fake.conduct[6] = FAKE_HANG;
    fake.conduct[7] = FAKE_WRONG;
    options.budget_ms = with ? 0 : 1300;
    options.resume = true;
    struct tune_journal *journal = tune_journal_open(&key);
    ck_assert_ptr_nonnull(journal);
    ck_assert_int_eq(run(journal), TILE_OK);
    tune_journal_close(journal);
    ck_assert_int_eq(result.stopped, !with);
    unsigned known = 0;
    for (size_t i = 0; i < 20; i++) {
      const struct tune_trial *t = &result.trials[i];
      known += t->is_resumed;
      if (t->is_resumed && i != 0)
        ck_assert_uint_eq(fake.loaded[i], fake.measured[i] ? 1 : 0);
    }
    ck_assert_int_eq(known > 2, with);
  }
  ck_assert_int_eq(result.trials[6].outcome, TUNE_TIMEOUT);
  ck_assert_uint_eq(fake.checked[6], 0); // it is not waited for again
  ck_assert_int_eq(result.trials[7].outcome, TUNE_WRONG);
  ck_assert(result.has_best && result.best == 0);
  char *command = arena_printf(a, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
  setenv("TILE_CACHE_DIR", "", 1);
}
END_TEST

// The journal records spills.
START_TEST(resumed_spills) {
  char folder[] = "/tmp/tile-tune-test-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TILE_CACHE_DIR", folder, 1);
  struct tune_key key = {.kernel = "k", .device = "d", .target = "t", .types = "i32"};
  for (int with = 0; with < 2; with++) {
    fake_reset(a, 20, &space);
    fake.ms[9] = 0.5;
    fake.local_bytes[9] = 24;
    fake.local_bytes[2] = fake.asked_bytes[2] = 24;
    fake.ms[2] = 0.9;
    options.resume = true;
    struct tune_journal *journal = tune_journal_open(&key);
    ck_assert_int_eq(run(journal), TILE_OK);
    tune_journal_close(journal);
    ck_assert(result.has_best && result.best == 2);
    ck_assert_int_eq(result.trials[9].outcome, TUNE_SPILLS);
    ck_assert_int_eq(result.trials[9].spilled_bytes, 24);
    ck_assert_int_eq(result.trials[9].is_resumed, with);
    ck_assert_uint_eq(fake.measured[9], !with);
  }
  ck_assert_int_eq(system(arena_printf(a, "rm -rf %s", folder)), 0);
  setenv("TILE_CACHE_DIR", "", 1);
}
END_TEST

// A journal, and a space whose trials exceed memory.
static struct tune_journal *journal_of_too_many(void *user, const tile_device_properties *device) {
  (void)user, (void)device;
  struct tune_key key = {.kernel = "k", .device = "d", .target = "t", .types = "i32"};
  ck_assert_uint_eq(fake.open_workers, 1);
  space.count = SIZE_MAX / sizeof(struct tune_trial) - 1;
  return tune_journal_open(&key);
}

// Out of memory during the tuning: everything has ended when the caller is told.
START_TEST(out_of_memory) {
  char folder[] = "/tmp/tile-tune-test-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TILE_CACHE_DIR", folder, 1);
  fake_reset(a, 20, &space);
  options.resume = true;
  options.journal_of = journal_of_too_many;
  ck_assert_int_eq(run(NULL), TILE_OUT_OF_MEMORY); // counts what is open
  ck_assert_str_eq(tile_error_message(), "out of memory for the tuning");
  ck_assert_int_eq(system(arena_printf(a, "rm -rf %s", folder)), 0);
  setenv("TILE_CACHE_DIR", "", 1);
}
END_TEST

Suite *tune_suite(void) {
  Suite *s = suite_create("tune");
  TCase *t = tcase_create("loop");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, all_are_fine);
  tcase_add_test(t, cpu_waits_for_builds);
  tcase_add_test(t, out_of_memory);
  tcase_add_test(t, failures_are_reasons);
  tcase_add_test(t, default_does_not_run);
  tcase_add_test(t, nothing_runs);
  tcase_add_test(t, suspect_reference);
  tcase_add_test(t, equal_code_once);
  tcase_add_test(t, spills_do_not_win);
  tcase_add_test(t, default_spills);
  tcase_add_test(t, all_spill);
  tcase_add_test(t, finals_leave_only_spills);
  tcase_add_test(t, resumed_spills);
  tcase_add_test(t, give_up);
  tcase_add_test(t, stopping_keeps_the_best);
  tcase_add_test(t, no_device);
  tcase_add_test(t, guesses);
  tcase_add_test(t, unfilled);
  tcase_add_test(t, drifting_clock);
  tcase_add_test(t, crash_in_the_finals);
  tcase_add_test(t, guided);
  tcase_add_test(t, slow_analysis);
  tcase_add_test(t, resumed);
  suite_add_tcase(s, t);
  return s;
}
