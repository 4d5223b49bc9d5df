// SPDX-License-Identifier: Apache-2.0
// The pass manager: names, order, facts, prints, dumps, timings, early stops, memory.
#include "base/file.h"
#include "pass_session.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char add[] =
    "func.func @add(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) attributes "
    "{tile.kernel} {\n"
    "  %zero = arith.constant 0 : i32\n"
    "  %pid = \"tile.get_program_id\"() {axis = 0 : i32} : () -> i32\n"
    "  %block = arith.constant 1024 : i32\n"
    "  %start = arith.muli %pid, %block : i32\n"
    "  %same = arith.addi %start, %zero : i32\n"
    "  %r = \"tile.make_range\"() {start = 0 : i32, end = 1024 : i32} : () -> tensor<1024xi32>\n"
    "  %s = \"tile.splat\"(%same) : (i32) -> tensor<1024xi32>\n"
    "  %o = arith.addi %s, %r : tensor<1024xi32>\n"
    "  %ps = \"tile.splat\"(%p) : (!tile.ptr<f32>) -> tensor<1024x!tile.ptr<f32>>\n"
    "  %q = \"tile.addptr\"(%ps, %o) : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>) -> "
    "tensor<1024x!tile.ptr<f32>>\n"
    "  %x = \"tile.load\"(%q) {cache = \"\", evict = \"\", is_volatile = false, "
    "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1024x!tile.ptr<f32>>) -> "
    "tensor<1024xf32>\n"
    "  %y = arith.addf %x, %x : tensor<1024xf32>\n"
    "  \"tile.store\"(%q, %y) {cache = \"\", evict = \"\"} : (tensor<1024x!tile.ptr<f32>>, "
    "tensor<1024xf32>) -> ()\n"
    "  return\n"
    "}\n";

START_TEST(names) {
  for (int i = 0; i < PASS_COUNT; i++) {
    enum pass_id id = PASS_COUNT;
    const struct pass *pass = pass_info((enum pass_id)i);
    ck_assert(pass_find(str_from(pass->flag), &id) && id == (enum pass_id)i);
    ck_assert(pass->run != NULL && pass->doc[0] != '\0');
  }
  enum pass_id id;
  ck_assert(!pass_find(STR("canonicalise"), &id) && !pass_find(STR(""), &id));
}
END_TEST

// Every fact a pass of the pipeline needs has been given before and not been broken since.
START_TEST(pipeline_keeps_its_promises) {
  size_t count;
  unsigned facts = FACT_TILE;
  const enum pass_id *order = pipeline_passes(PIPELINE_WHOLE, &count);
  ck_assert_uint_gt(count, 0);
  for (size_t i = 0; i < count; i++) {
    const struct pass *pass = pass_info(order[i]);
    ck_assert_msg((pass->needs & ~facts) == 0, "%s lacks what it needs", pass->flag);
    facts = (facts & ~pass->breaks) | pass->gives;
  }
  ck_assert(facts & FACT_LAYOUTS);
}
END_TEST

// IR with layouts goes through the end of the whole pipeline.
START_TEST(shared_memory_pipeline_ends_the_whole_one) {
  size_t all, last;
  const enum pass_id *whole = pipeline_passes(PIPELINE_WHOLE, &all);
  const enum pass_id *end = pipeline_passes(PIPELINE_SHARED_MEMORY, &last);
  ck_assert_uint_lt(last, all);
  for (size_t i = 0; i < last; i++)
    ck_assert_int_eq(whole[all - last + i], end[i]);
  ck_assert_int_eq(end[0], PASS_spill_to_shared);
}
END_TEST

START_TEST(whole_pipeline) {
  struct pass_session s = pass_session_open(add);
  bool stopped = true;
  size_t scratch = arena_bytes(s.context.scratch);
  bool ok = pass_session_run(&s, (struct pass_options){.verify_each = true}, &stopped);
  ck_assert_msg(ok, "%s", diag_first_error(s.diag));
  ck_assert(!stopped);
  ck_assert_uint_eq(s.log.len, 0);
  const char *text = pass_session_text(&s);
  ck_assert_msg(strstr(text, "size_per_thread = [4]") != NULL, "%s", text);
  ck_assert_ptr_null(strstr(text, "convert_layout"));
  ck_assert_uint_le(arena_bytes(s.context.scratch), scratch + (1u << 20));
  pass_session_close(&s);
}
END_TEST

START_TEST(prints) {
  struct pass_session s = pass_session_open(add);
  ck_assert(pass_session_run(
      &s, (struct pass_options){.only = "canonicalize, dce , cse", .print_after = "all"}, NULL));
  const char *first = strstr(s.log.ptr, "after canonicalize ----");
  const char *second = strstr(s.log.ptr, "after dce (unchanged)");
  const char *third = strstr(s.log.ptr, "after cse");
  ck_assert(first && second && third && first < second && second < third);
  pass_session_close(&s);

  s = pass_session_open(add);
  ck_assert(pass_session_run(
      &s, (struct pass_options){.only = "canonicalize,dce", .print_after = "change"}, NULL));
  ck_assert(strstr(s.log.ptr, "after canonicalize") && !strstr(s.log.ptr, "after dce"));
  pass_session_close(&s);

  s = pass_session_open(add);
  ck_assert(pass_session_run(
      &s, (struct pass_options){.only = "canonicalize,dce", .print_after = "dce"}, NULL));
  ck_assert(!strstr(s.log.ptr, "after canonicalize") && strstr(s.log.ptr, "after dce"));
  pass_session_close(&s);
}
END_TEST

START_TEST(stops_early) {
  struct pass_session s = pass_session_open(add);
  bool stopped = false;
  ck_assert(pass_session_run(&s, (struct pass_options){.stop_after = "licm", .time_passes = true},
                             &stopped));
  ck_assert(stopped);
  ck_assert(strstr(s.log.ptr, "  licm\n") && strstr(s.log.ptr, "  all passes\n"));
  ck_assert_ptr_null(strstr(s.log.ptr, "assign-layouts"));
  ck_assert_ptr_null(strstr(pass_session_text(&s), "tilegpu.blocked"));
  pass_session_close(&s);
}
END_TEST

static void check_refused(struct pass_options options, const char *suggestion) {
  struct pass_session s = pass_session_open(add);
  const char *before = pass_session_text(&s);
  ck_assert(!pass_session_run(&s, options, NULL));
  ck_assert_int_eq(diag_first_error_code(s.diag), E0603);
  struct strbuf out = {0};
  diag_render_text(s.diag, (struct diag_style){0}, &out);
  ck_assert_msg(strstr(strbuf_cstr(&out), suggestion) != NULL, "%s", strbuf_cstr(&out));
  strbuf_finish(&out);
  ck_assert_str_eq(before, pass_session_text(&s)); // nothing ran
  pass_session_close(&s);
}

START_TEST(unknown_names) {
  check_refused((struct pass_options){.only = "canonicalize,cze"}, "`cse`");
  check_refused((struct pass_options){.stop_after = "canonicalise"}, "`canonicalize`");
  check_refused((struct pass_options){.print_after = "quite-different"}, "--list-passes");
}
END_TEST

// Layout passes want layouts, tile passes want none; the message says what to run instead.
START_TEST(needs_are_checked) {
  check_refused((struct pass_options){.only = "coalesce"}, "run `assign-layouts` before it");
  struct pass_session s = pass_session_open(add);
  ck_assert(!pass_session_run(
      &s, (struct pass_options){.only = "assign-layouts,reassociate-addresses"}, NULL));
  ck_assert_str_eq(diag_first_error(s.diag),
                   "pass `reassociate-addresses` needs tiles without layouts");
  pass_session_close(&s);
  s = pass_session_open(add);
  ck_assert(pass_session_run(&s, (struct pass_options){.only = "assign-layouts"}, NULL));
  // In a run of its own, on what the other left.
  ck_assert(pass_session_run(&s, (struct pass_options){.only = "coalesce"}, NULL));
  ck_assert(!pass_session_run(&s, (struct pass_options){.only = "assign-layouts"}, NULL));
  pass_session_close(&s);
}
END_TEST

START_TEST(dumps) {
  char dir[] = "/tmp/tile-dump-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(dir));
  struct pass_session s = pass_session_open(add);
  const char *inner = arena_printf(s.arena, "%s/a/b", dir);
  bool ok = pass_session_run(
      &s, (struct pass_options){.only = "canonicalize,cse", .dump_dir = inner}, NULL);
  ck_assert_msg(ok, "%s", diag_first_error(s.diag));
  struct str text;
  const char *second = arena_printf(s.arena, "%s/02-cse.mlir", inner);
  ck_assert_int_eq(file_read(s.arena, second, 1u << 20, &text), 0);
  // What was dumped can be read again, with its locations.
  MlirModule again = ir_parse(s.context.c, second, text);
  ck_assert_msg(!mlirModuleIsNull(again), "%s", diag_first_error(s.diag));
  ck_assert(strstr(text.ptr, "test.mlir") != NULL);
  mlirModuleDestroy(again);
  unlink(second);
  unlink(arena_printf(s.arena, "%s/01-canonicalize.mlir", inner));
  rmdir(inner);
  rmdir(arena_printf(s.arena, "%s/a", dir));
  rmdir(dir);
  pass_session_close(&s);
}
END_TEST

START_TEST(dump_that_cannot_be_written) {
  struct pass_session s = pass_session_open(add);
  ck_assert(!pass_session_run(
      &s, (struct pass_options){.only = "cse", .dump_dir = "/proc/no-such-folder"}, NULL));
  ck_assert_uint_eq(diag_error_count(s.diag), 1);
  pass_session_close(&s);
}
END_TEST

// No pass changes the module when it is run again on its own result, once cleanup has reached a
// fixpoint.
START_TEST(passes_reach_a_fixpoint) {
  static const char *const flags[] = {
      "canonicalize", "cse", "licm", "dce", "reassociate-addresses", "reorder-broadcast"};
  struct pass_session s = pass_session_open(add);
  for (size_t i = 0; i < COUNT_OF(flags); i++) {
    ck_assert(pass_session_run(&s, (struct pass_options){.only = flags[i]}, NULL));
    const char *once = pass_session_text(&s);
    enum pass_id id;
    ck_assert(pass_find(str_from(flags[i]), &id));
    ck_assert_msg(pass_info(id)->run(&s.context) == PASS_UNCHANGED, "%s", flags[i]);
    ck_assert_str_eq(once, pass_session_text(&s));
  }
  pass_session_close(&s);
}
END_TEST

START_TEST(every_pass_is_documented) {
  struct arena *a = arena_create();
  struct str text;
  ck_assert_int_eq(file_read(a, PASSES_DOC, 1u << 20, &text), 0);
  for (int i = 0; i < PASS_COUNT; i++) {
    const char *flag = pass_info((enum pass_id)i)->flag;
    ck_assert_msg(strstr(text.ptr, arena_printf(a, "**`%s`**", flag)) != NULL,
                  "docs/ir.md lacks %s", flag);
  }
  arena_destroy(a);
}
END_TEST

TCase *pass_manager_tests(void) {
  TCase *t = tcase_create("pass_manager");
  tcase_add_test(t, names);
  tcase_add_test(t, pipeline_keeps_its_promises);
  tcase_add_test(t, shared_memory_pipeline_ends_the_whole_one);
  tcase_add_test(t, whole_pipeline);
  tcase_add_test(t, prints);
  tcase_add_test(t, stops_early);
  tcase_add_test(t, unknown_names);
  tcase_add_test(t, needs_are_checked);
  tcase_add_test(t, dumps);
  tcase_add_test(t, dump_that_cannot_be_written);
  tcase_add_test(t, passes_reach_a_fixpoint);
  tcase_add_test(t, every_pass_is_documented);
  return t;
}
