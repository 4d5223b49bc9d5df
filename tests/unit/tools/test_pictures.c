// SPDX-License-Identifier: Apache-2.0
// Pictures are well-formed XML without numbers that are none, whatever names and numbers they are
// made of, and say what limits a kernel.
#include "../xml_check.h"
#include "lowering/cost/cost_machine.h"
#include "suites.h"
#include "tools/graph/explain_fusion.h"
#include "tools/perf/explain_perf_report.h"

#include <math.h>
#include <stdio.h>

static const char *draw(const struct perf_report *r) {
  struct strbuf out = {.arena = session.a};
  perf_report_svg(r, &out);
  const char *text = strbuf_cstr(&out);
  ck_assert_uint_gt(xml_check(text), 100);
  ck_assert_msg(!strstr(text, "nan") && !strstr(text, "inf\"") && !strstr(text, "-inf"), "%s",
                text);
  return text;
}

static void has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "lacks `%s`: %s", part, text);
}

static const struct kernel_info info = {.name = "k<1> & \"more\"\x01", .num_warps = 4};

static struct perf_report report_for(const char *target) {
  return (struct perf_report){
      .arena = session.a, .target = target_find(str_from(target)), .info = &info, .num_warps = 4};
}

START_TEST(kernels_without_work) {
  struct perf_report r = report_for("sm_80");
  has(draw(&r), "nothing to compute");
  r.cost.global_read = 4096;
  has(draw(&r), "nothing to compute");
  r.cost.global_read = 0;
  r.cost.arithmetic = 10;
  has(draw(&r), "no memory accesses");
}
END_TEST

START_TEST(limits_are_named) {
  struct perf_report r = report_for("sm_90a");
  r.cost.global_read = r.cost.global_written = 65536;
  r.cost.arithmetic = 64;
  r.cost.instructions = 128;
  const char *text = draw(&r);
  has(text, "limited by memory, else by L2 cache");
  has(text, "k&lt;1&gt; &amp; &quot;more&quot; ");
  has(text, "arithmetic: 17 Top/s");
  // A thousand products for each byte: matrix instructions.
  r.cost.tensor_flops = 131072.0 * 1000;
  r.cost.tensor_cycles = r.cost.tensor_flops / 4096;
  text = draw(&r);
  has(text, "limited by tensor cores");
  has(text, "matrix instructions: 946 Top/s");
  has(text, "k&lt;1&gt; &amp; &quot;more&quot; : at most 946 Top/s");
  r.cost.special = 1e9;
  has(draw(&r), "limited by special functions");
}
END_TEST

START_TEST(any_numbers) {
  static const char *const targets[] = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a"};
  static const double sizes[] = {1e-3, 1, 1e6, 1e15};
  for (size_t t = 0; t < COUNT_OF(targets); t++)
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
      for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        struct perf_report r = report_for(targets[t]);
        r.cost.global_read = sizes[i];
        r.cost.arithmetic = sizes[k];
        draw(&r);
        r.cost.tensor_flops = sizes[k];
        r.cost.tensor_cycles = sizes[k] / 512;
        draw(&r);
      }
}
END_TEST

// The height of the peak, and of the higher one of the kernel's two dots.
static void read_peak(const char *text, double *peak, double *dot) {
  double x, y, ridge;
  const char *path = strstr(text, "class=\"bound\""), *circle = strstr(text, "class=\"cached\"");
  ck_assert(path && circle);
  while (strncmp(path, "<path d=\"M", 10) != 0)
    path--;
  while (strncmp(circle, "<circle ", 8) != 0)
    circle--;
  ck_assert_int_eq(sscanf(path, "<path d=\"M%lf %lfL%lf %lfH", &x, &y, &ridge, peak), 4);
  ck_assert_int_eq(sscanf(circle, "<circle cx=\"%lf\" cy=\"%lf\"", &x, dot), 2);
}

// No kernel is above the peak, whatever its instructions are: the operations that are counted are
// those whose peak is drawn.
START_TEST(below_the_peak) {
  uint32_t seed = 3;
  for (int round = 0; round < 500; round++) {
    double part[5], peak, dot;
    for (int i = 0; i < 5; i++)
      part[i] = 1 + ((seed = seed * 1664525 + 1013904223) >> 20);
    struct perf_report r = report_for(round % 2 ? "sm_90a" : "sm_86");
    r.cost.global_read = part[0];
    r.cost.arithmetic = part[1];
    r.cost.special = round % 3 ? fmin(part[2], part[1]) : 0; // a part of them
    double fused = round % 5 < 2 ? part[3] : 0; // instructions of two operations a lane
    r.cost.fma_flops = 64 * fused + (round % 7 ? 32 * part[1] * 0.9 : 0);
    r.cost.instructions = part[1] + fused + part[4];
    if (round % 4 == 0)
      r.cost.tensor_cycles = (r.cost.tensor_flops = 1e6 * part[4]) / 1024;
    read_peak(draw(&r), &peak, &dot);
    ck_assert_msg(dot >= peak - 0.2, "round %d: %g above %g", round, dot, peak);
  }
}
END_TEST

START_TEST(shared_memory_is_mapped) {
  struct perf_report r = report_for("sm_90a");
  struct shared_use uses[] = {
      {.offset = 0, .bytes = 49152, .purpose = "a ring", .name = "a<b>", .copies = 3},
      {.offset = 0, .bytes = 1024, .purpose = "a layout conversion", .copies = 1}};
  r.p.shared.at = uses;
  r.p.shared.len = COUNT_OF(uses);
  r.p.shared_bytes = 49152;
  const char *text = draw(&r);
  has(text, "a ring of a&lt;b&gt;: 49152 bytes at 0, 3 copies");
  has(text, "a layout conversion: 1024 bytes at 0, 1 copy");
  ck_assert(!strstr(text, "the ring of")); // no loop copies
  has(text, "shared memory: 49152 of ");
}
END_TEST

START_TEST(rings_over_time) {
  struct perf_report r = report_for("sm_90a");
  struct shared_use uses[] = {{.bytes = 65536,
                               .purpose = "a buffer",
                               .name = "a",
                               .copies = 4,
                               .engine = FEED_TMA,
                               .live = {2, 17}}};
  struct loop_points loops[] = {{.live = {3, 15}}, {.live = {5, 9}}, {.live = {16, 18}}};
  struct where lines[] = {{"7:3", ""}, {"8:5<", ""}, {"9:3", ""}};
  r.p.shared.at = uses;
  r.p.shared.len = 1;
  r.p.shared_bytes = 65536;
  r.p.loops.at = loops;
  r.loops.at = lines;
  r.p.loops.len = r.loops.len = 3;
  r.p.points = 20;
  r.cost.iterations = 100;
  r.cost.instructions = 1e5;
  const char *text = draw(&r);
  has(text, "the ring of 4 buffers over time: the first 10 iterations");
  has(text, "an iteration copies 16384 bytes");
  has(text, "iteration 0 is waited for from 0 to ");
  has(text, "iteration 9 is computed from ");
  has(text, ">buffer 3</text>");
  has(text, "loop, line 7:3</text>");
  has(text, "<title>loop, line 8:5&lt;</title>");
  // Copies without bytes, one iteration, more buffers than a picture has room for.
  uses[0].copies = 1000;
  r.cost.iterations = 1;
  has(draw(&r), "the ring of 1000 buffers over time: the first 1 iteration<");
  r.cost.iterations = 1e15;
  uses[0].bytes = 0;
  has(draw(&r), "the first 16 iterations");
}
END_TEST

// ---- fusion ----

static struct buffer input = {.name = "x<0>"}, between = {.name = "m&n"}, result = {.name = "out"};

static struct region *region_of(const char *name, struct stage *s, struct buffer *reads,
                                struct buffer *writes) {
  struct region *g = arena_new(session.a, struct region);
  g->name = name;
  vec_push(session.a, &g->stages, s);
  vec_push(session.a, &g->reads, reads);
  vec_push(session.a, &g->writes, writes);
  return g;
}

START_TEST(kernels_of_graphs) {
  struct stage exp = {.out = &between}, sum = {.out = &result};
  vec_push(session.a, &exp.origins, "exp");
  for (int i = 0; i < 30; i++) // longer than its box
    vec_push(session.a, &sum.origins, "a<&>\xc3\xa4\xc3\xb6");
  struct regions r = {0};
  vec_push(session.a, &r.list, region_of("exp", &exp, &input, &between));
  vec_push(session.a, &r.list, region_of("sum\"1\"", &sum, &between, &result));
  vec_push(session.a, &r.list.at[1]->reads, &input);
  vec_push(session.a, &r.temporaries, &between);
  struct strbuf out = {.arena = session.a};
  fusion_svg(&r, &out);
  const char *text = strbuf_cstr(&out);
  ck_assert_uint_gt(xml_check(text), 100);
  has(text, "2 loop nests in 2 kernels, 1 value between them");
  has(text, ">m&amp;n: exp</text>");
  has(text, ">x&lt;0&gt;</text>");
  has(text, "sum&quot;1&quot;");
  has(text, "<title>out: a&lt;&amp;&gt;");
}
END_TEST

START_TEST(no_kernels) {
  struct regions r = {0};
  struct strbuf out = {.arena = session.a};
  fusion_svg(&r, &out);
  xml_check(strbuf_cstr(&out));
  has(strbuf_cstr(&out), "0 loop nests in 0 kernels, 0 values");
}
END_TEST

TCase *pictures_tests(void) {
  TCase *t = tcase_create("pictures");
  tcase_add_checked_fixture(t, session_setup, session_teardown);
  tcase_add_test(t, kernels_without_work);
  tcase_add_test(t, limits_are_named);
  tcase_add_test(t, any_numbers);
  tcase_add_test(t, below_the_peak);
  tcase_add_test(t, shared_memory_is_mapped);
  tcase_add_test(t, rings_over_time);
  tcase_add_test(t, kernels_of_graphs);
  tcase_add_test(t, no_kernels);
  return t;
}
