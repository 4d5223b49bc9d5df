// SPDX-License-Identifier: Apache-2.0
// Lines and columns.
#include "base/source.h"
#include "suites.h"

START_TEST(lines_and_columns) {
  struct arena *a = arena_create();
  struct source *s = source_create(a, "a.tile", STR("ab\n\ncd\r\nlast"));
  ck_assert_uint_eq(s->line_count, 4);
  ck_assert(str_is(source_line(s, 1), "ab"));
  ck_assert(str_is(source_line(s, 2), ""));
  ck_assert(str_is(source_line(s, 3), "cd")); // without the carriage return
  ck_assert(str_is(source_line(s, 4), "last"));
  ck_assert_uint_eq(source_line(s, 5).len, 0);
  ck_assert_uint_eq(source_line(s, 0).len, 0);
  for (uint32_t at = 0; at <= s->text.len; at++) {
    struct line_col lc = source_line_col(s, at);
    ck_assert_uint_eq(source_offset(s, lc.line, lc.col), at);
  }
  struct line_col end = source_line_col(s, 1000);
  ck_assert(end.line == 4 && end.col == 5);
  ck_assert_uint_eq(source_offset(s, 9, 1), s->text.len);
  ck_assert_uint_eq(source_offset(s, 0, 0), 0);
  arena_destroy(a);
}
END_TEST

START_TEST(empty_text_has_one_line) {
  struct arena *a = arena_create();
  struct source *s = source_create(a, "e", STR(""));
  ck_assert_uint_eq(s->line_count, 1);
  struct line_col lc = source_line_col(s, 0);
  ck_assert(lc.line == 1 && lc.col == 1);
  arena_destroy(a);
}
END_TEST

START_TEST(joining_spans) {
  struct arena *a = arena_create();
  struct source *s = source_create(a, "s", STR("abcdef"));
  struct span j = span_join((struct span){s, 4, 5}, (struct span){s, 1, 2});
  ck_assert(j.begin == 1 && j.end == 5);
  j = span_join(SPAN_NONE, (struct span){s, 1, 2});
  ck_assert(j.source == s && j.begin == 1);
  arena_destroy(a);
}
END_TEST

TCase *source_tests(void) {
  TCase *t = tcase_create("source");
  tcase_add_test(t, lines_and_columns);
  tcase_add_test(t, empty_text_has_one_line);
  tcase_add_test(t, joining_spans);
  return t;
}
