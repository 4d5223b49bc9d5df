// SPDX-License-Identifier: Apache-2.0
// Reports for people: the table, the groups of dropped configurations, options to paste; valid JSON
// and well-formed SVG, whatever names and reasons contain.
#include "../xml_check.h"
#include "autotune/report/report.h"
#include "base/json.h"
#include "fake_tuning.h"
#include "suites.h"

static struct arena *a;
static struct tune_space space;
static struct tune_result result;
static struct strbuf out;

// Eight configurations: the default, six more that run, some that do not.
static void setup(void) {
  static const char *const texts[] = {"16", "32"}, *const kinds[] = {"None", "<\"a&b\">"};
  static const char *const warps[] = {"0", "4", "8"};
  a = arena_create();
  out = (struct strbuf){0};
  space = (struct tune_space){.dim_count = 3, .count = 12, .origin = "made up"};
  space.dims[0] = (struct tune_dim){TUNE_CONSTANT, "BLOCK", arena_array(a, const char *, 2), 2};
  space.dims[1] = (struct tune_dim){TUNE_CONSTANT, "ACT", arena_array(a, const char *, 2), 2};
  space.dims[2] = (struct tune_dim){TUNE_WARPS, "num_warps", arena_array(a, const char *, 3), 3};
  memcpy(space.dims[0].values, texts, sizeof texts);
  memcpy(space.dims[1].values, kinds, sizeof kinds);
  memcpy(space.dims[2].values, warps, sizeof warps);
  space.configs = arena_array(a, struct tune_config, 12);
  result = (struct tune_result){.trials = arena_array(a, struct tune_trial, 12),
                                .count = 12,
                                .has_best = true,
                                .best = 2,
                                .elapsed_ms = 1500,
                                .agreed = 6,
                                .disagreed = 1};
  strcpy(result.device.name, "made up");
  strcpy(result.device.target, "sm_90a");
  result.device.memory_gbs = 4000;
  for (uint32_t i = 0; i < 12; i++) {
    struct tune_trial *t = &result.trials[i];
    space.configs[i] =
        (struct tune_config){{(uint16_t)(i % 2), (uint16_t)(i / 2 % 2), (uint16_t)(i / 4)}};
    t->config = i;
    if (i < 7) {
      double ms = i == 2 ? 0.5 : 1 + 0.125 * i;
      t->outcome = TUNE_MEASURED;
      t->sample = (struct tune_sample){ms, 0.9 * ms, 1.1 * ms, 20};
      t->prediction = (struct prediction){.ms = ms, .limiter = "memory", .bound_ms = 0.25};
    }
  }
  result.trials[7].outcome = TUNE_WRONG;
  result.trials[7].reason = "`out`[3] is <5> & not 6";
  result.trials[8].outcome = result.trials[9].outcome = TUNE_PRUNED;
  result.trials[8].reason = "needs 300000 bytes of shared memory; a program may use 232448";
  result.trials[9].reason = "needs 400000 bytes of shared memory; a program may use 232448";
  result.trials[10].outcome = TUNE_SAME_CODE;
  result.trials[10].same_as = 2;
  result.trials[10].sample = result.trials[2].sample;
}

static void teardown(void) {
  strbuf_finish(&out);
  arena_destroy(a);
}

static void has(const char *text) {
  ck_assert_msg(strstr(strbuf_cstr(&out), text), "no `%s` in:\n%s", text, strbuf_cstr(&out));
}
static void lacks(const char *text) {
  ck_assert_msg(!strstr(strbuf_cstr(&out), text), "`%s` in:\n%s", text, strbuf_cstr(&out));
}

START_TEST(table) {
  tune_report(&space, &result, 2e9, 1e9, &out);
  has("7 of 12 configurations measured on made up (sm_90a) in 1.50 s\n");
  has("  same     1 have the code of another one\n");
  has("  untried  1 promised less\n");
  has("  1             0.5000    0.4500    0.5500    2.00x  BLOCK=16, ACT=<\"a&b\">");
  has("  2 default     1.0000");
  has("  5 ");
  lacks("  6 "); // five are enough
  has("  memory   2000 GB/s, 50.0% of the peak (4000.0 GB/s)\n");
  has("  compute  4 TFLOP/s\n");
  has("  bound    50.0%: bytes and operations alone take 0.2500 ms\n");
  has("  options  -D BLOCK=16 -D ACT='<\"a&b\">'\n"); // num_warps 0 is the default
  lacks("warning");
  lacks("stopped");
}
END_TEST

// The default has a row if it is not among the best.
START_TEST(slow_default) {
  result.trials[0].sample.median = 100;
  result.copy_gbs = 2500;
  tune_report(&space, &result, 0, 1e9, &out);
  has("  default     100.0000");
  has("200.00x  BLOCK=16");
  has("80.0% of a device copy (2500.0 GB/s)");
  lacks("compute");
}
END_TEST

START_TEST(groups) {
  tune_report(&space, &result, 0, 0, &out);
  has("      1 wrong: `out`[3] is <5> & not 6\n          BLOCK=32, ACT=<\"a&b\">, num_warps=4\n");
  // One represents all with the same reason, ignoring numbers.
  has("      2 pruned: needs 300000 bytes of shared memory; a program may use 232448\n");
  has("          and 1 more\n");
  lacks("400000");
  lacks("memory   ");
}
END_TEST

static void make_spill(uint32_t config) {
  result.trials[config].outcome = TUNE_SPILLS;
  result.trials[config].reason = "48 bytes a thread";
  result.trials[config].registers = 255;
  result.trials[config].local_bytes = result.trials[config].spilled_bytes = 48;
}

// Configurations that spill form a group with times, the fastest first.
START_TEST(spills) {
  make_spill(4);
  make_spill(3);
  make_spill(0);
  tune_report(&space, &result, 0, 0, &out);
  has("7 of 12 configurations measured");
  has("  default       1.0000"); // others are compared with it
  has("BLOCK=16, ACT=None, num_warps=0  (spills)\n");
  has("      3 spills registers: not chosen, since others do not\n"
      "          1.0000 ms, 48 bytes a thread: BLOCK=16, ACT=None, num_warps=0\n"
      "          1.3750 ms, 48 bytes a thread: BLOCK=32, ACT=<\"a&b\">, num_warps=0\n"
      "          1.5000 ms, 48 bytes a thread: BLOCK=16, ACT=None, num_warps=4\n");
  has("  1             0.5000");
  has("  2             1.1250");
  lacks("all that are right");
  struct json_error error;
  strbuf_clear(&out);
  tune_report_json(&space, &result, 0, 0, &out);
  struct json *j = json_parse(a, (struct str){strbuf_cstr(&out), out.len}, &error);
  ck_assert_int_eq(json_get(j, "spills registers")->integer, 3);
  ck_assert_int_eq(json_get(j, "measured")->integer, 4);
  ck_assert(!json_get(j, "all_spill")->boolean);
  const struct json *trial = json_get(j, "trials")->items[4];
  ck_assert(str_is(json_get(trial, "outcome")->string, "spills registers"));
  ck_assert(str_is(json_get(trial, "reason")->string, "48 bytes a thread"));
  ck_assert(json_get(trial, "ms")->number == 1.5);
  ck_assert_int_eq(json_get(trial, "spilled_bytes")->integer, 48);
  ck_assert(json_get(json_get(j, "best"), "speedup")->number == 2);
}
END_TEST

START_TEST(all_spill) {
  for (uint32_t i = 0; i < 7; i++)
    result.trials[i].spilled_bytes = 16;
  tune_report(&space, &result, 0, 0, &out);
  has("  spills   all that are right spill registers; the fastest is chosen\n");
  has("  2 default     1.0000");
  lacks("spills registers");
  strbuf_clear(&out);
  tune_report_json(&space, &result, 0, 0, &out);
  has("\"all_spill\": true");
}
END_TEST

START_TEST(only_predicted) {
  for (size_t i = 0; i < result.count; i++)
    result.trials[i].outcome = TUNE_UNTRIED;
  result.has_best = false;
  tune_report(&space, &result, 0, 0, &out);
  has("  untried  12 were not measured\n");
  lacks("promised less");
}
END_TEST

START_TEST(suspicion) {
  result.agreed = 3;
  result.disagreed = 4;
  tune_report(&space, &result, 0, 0, &out);
  lacks("may be wrong"); // the reference is one of those that agree
  result.disagreed = 5;
  strbuf_clear(&out);
  tune_report(&space, &result, 0, 0, &out);
  has("5 of 8 configurations have other results than the reference (BLOCK=16, ACT=None");
  has("the reference itself may be wrong");
}
END_TEST

START_TEST(nothing_ran) {
  for (size_t i = 0; i < 12; i++)
    result.trials[i] = (struct tune_trial){.config = (uint32_t)i, .prediction.ms = 3};
  tune_report(&space, &result, 0, 0, &out);
  has("  nothing was measured; 3.0000 ms are predicted for BLOCK=16");
  result.has_best = false;
  tune_report(&space, &result, 0, 0, &out);
  has("  no configuration could be run\n");
  strbuf_clear(&out);
  result.stopped = true;
  tune_report(&space, &result, 0, 0, &out);
  has("stopped early");
  has("  untried  12 were not reached\n");
  has("  nothing was measured yet\n");
}
END_TEST

START_TEST(json) {
  struct json_error error;
  tune_report_json(&space, &result, 2e9, 1e9, &out);
  struct json *j = json_parse(a, (struct str){strbuf_cstr(&out), out.len}, &error);
  ck_assert_ptr_nonnull(j);
  const struct json *best = json_get(j, "best"), *trials = json_get(j, "trials");
  ck_assert(json_get(best, "speedup")->number == 2);
  ck_assert(json_get(best, "tflops")->number == 4);
  ck_assert(str_is(json_get(json_get(best, "config"), "ACT")->string, "<\"a&b\">"));
  ck_assert_int_eq(json_get(json_get(best, "config"), "BLOCK")->integer, 16);
  ck_assert_uint_eq(trials->count, 11); // not the untried one
  ck_assert(str_is(json_get(trials->items[7], "outcome")->string, "wrong"));
  ck_assert_ptr_null(json_get(trials->items[7], "ms"));
  ck_assert_int_eq(json_get(json_get(trials->items[10], "same_as"), "BLOCK")->integer, 16);
  ck_assert_int_eq(json_get(j, "pruned")->integer, 2);
  result.has_best = false;
  strbuf_clear(&out);
  tune_report_json(&space, &result, 0, 0, &out);
  j = json_parse(a, (struct str){strbuf_cstr(&out), out.len}, &error);
  ck_assert(j && !json_get(j, "best"));
}
END_TEST

static void well_formed(void) { ck_assert_uint_gt(xml_check(strbuf_cstr(&out)), 100); }

static size_t times(const char *text) {
  size_t n = 0;
  for (const char *p = strbuf_cstr(&out); (p = strstr(p, text)); p++)
    n++;
  return n;
}

START_TEST(svg) {
  tune_svg(&space, &result, "k<1> & \"more\"\x01", &out);
  well_formed();
  has("k&lt;1&gt; &amp; &quot;more&quot;");
  ck_assert_uint_eq(times("class=\"best\""), 3); // in each panel
  ck_assert_uint_eq(times("class=\"default\""), 3);
  ck_assert_uint_eq(times("class=\"dot\""), 3 * 6);
  ck_assert_uint_eq(times("class=\"spills\""), 0);
  ck_assert_uint_eq(times("class=\"failed\""), 3);
  has("&lt;5&gt; &amp; not 6</title>");
  make_spill(4);
  strbuf_clear(&out);
  tune_svg(&space, &result, "spills", &out);
  well_formed();
  ck_assert_uint_eq(times("class=\"spills\""), 3);
  ck_assert_uint_eq(times("class=\"dot\""), 3 * 5);
  has(": 1.5 ms, spills registers, 48 bytes a thread</title>");
  // A space without times is drawn too.
  for (size_t i = 0; i < 12; i++)
    result.trials[i].outcome = TUNE_UNTRIED;
  result.has_best = false;
  strbuf_clear(&out);
  tune_svg(&space, &result, "nothing", &out);
  well_formed();
}
END_TEST

// Pairs of parameters, by the least time over everything else; launch options only for want of
// parameters.
START_TEST(heat_maps) {
  tune_svg(&space, &result, "maps", &out);
  well_formed();
  ck_assert_uint_eq(times("class=\"heat\""), 1); // BLOCK and ACT, not num_warps
  has("<title>ACT=None, BLOCK=16: 1 ms</title>");
  has("<title>ACT=&lt;&quot;a&amp;b&quot;&gt;, BLOCK=16: 0.5 ms</title>");
  has("<title>ACT=None, BLOCK=32: 1.125 ms</title>");
  has("fill=\"#224a8c\" class=\"winner\"");        // the fastest of all
  ck_assert_uint_eq(times("class=\"winner\""), 2); // drawn again on top
  // A pair that was only pruned is empty, one that only failed has a cross.
  for (uint32_t i = 1; i < 12; i += 4)
    result.trials[i].outcome = TUNE_PRUNED;
  for (uint32_t i = 3; i < 12; i += 4)
    result.trials[i].outcome = TUNE_WRONG;
  strbuf_clear(&out);
  tune_svg(&space, &result, "maps", &out);
  well_formed();
  has("<title>ACT=None, BLOCK=32: not measured</title>");
  has("<title>ACT=&lt;&quot;a&amp;b&quot;&gt;, BLOCK=32: failed</title>");
  // One parameter: with warps.
  space.dims[1].kind = TUNE_STAGES;
  space.dims[1].count = 1;
  for (uint32_t i = 0; i < 12; i++)
    space.configs[i].at[1] = 0;
  strbuf_clear(&out);
  tune_svg(&space, &result, "maps", &out);
  well_formed();
  ck_assert_uint_eq(times("class=\"heat\""), 1);
  has("<title>num_warps=4, BLOCK=16: 1.5 ms</title>");
  // One dimension has no pairs.
  space.dims[2].count = 1;
  strbuf_clear(&out);
  tune_svg(&space, &result, "maps", &out);
  well_formed();
  ck_assert_uint_eq(times("class=\"heat\""), 0);
}
END_TEST

START_TEST(progress_line) {
  struct tune_progress p = {.measured = 37, .to_measure = 120, .elapsed_ms = 4100};
  tune_progress_line(&p, &out);
  ck_assert_str_eq(strbuf_cstr(&out), "tuning 37/120  4.1 s");
  strbuf_clear(&out);
  p.best = "BLOCK_M=128, num_warps=4";
  p.best_ms = 0.82;
  tune_progress_line(&p, &out);
  ck_assert_str_eq(strbuf_cstr(&out),
                   "tuning 37/120  best 0.82 ms (BLOCK_M=128, num_warps=4)  4.1 s");
}
END_TEST

Suite *report_suite(void) {
  Suite *s = suite_create("report");
  TCase *t = tcase_create("report");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, table);
  tcase_add_test(t, slow_default);
  tcase_add_test(t, groups);
  tcase_add_test(t, spills);
  tcase_add_test(t, all_spill);
  tcase_add_test(t, only_predicted);
  tcase_add_test(t, suspicion);
  tcase_add_test(t, nothing_ran);
  tcase_add_test(t, json);
  tcase_add_test(t, svg);
  tcase_add_test(t, heat_maps);
  tcase_add_test(t, progress_line);
  suite_add_tcase(s, t);
  return s;
}
