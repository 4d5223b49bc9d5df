// SPDX-License-Identifier: Apache-2.0
// String views, strict numbers, edit distance, the builder.
#include "base/str.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

START_TEST(views) {
  ck_assert(str_starts(STR("tilegpu"), "tile"));
  ck_assert(!str_starts(STR("til"), "tile"));
  ck_assert(str_ends(STR("x.npy"), ".npy"));
  ck_assert(!str_ends(STR("npy"), ".npy"));
  ck_assert(str_is(str_trim(STR(" \t a b\r\n")), "a b"));
  ck_assert_uint_eq(str_trim(STR(" \n ")).len, 0);
  struct str head, rest = str_split(STR("a=b=c"), '=', &head);
  ck_assert(str_is(head, "a") && str_is(rest, "b=c"));
  rest = str_split(STR("abc"), '=', &head);
  ck_assert(str_is(head, "abc") && !rest.ptr);
  rest = str_split(STR("a="), '=', &head);
  ck_assert(rest.ptr && rest.len == 0);
}
END_TEST

static void check_i64(const char *text, bool ok, int64_t want) {
  int64_t value = -77;
  ck_assert_msg(str_to_i64(str_from(text), &value) == ok, "%s", text);
  ck_assert_int_eq(value, ok ? want : -77);
}

START_TEST(lists) {
  static const struct {
    const char *text, *head, *rest; // rest NULL: there was no comma
  } cases[] = {{"a,b", "a", "b"},
               {"(1, 2), 3", "(1, 2)", " 3"},
               {"[x,(y,z)]", "[x,(y,z)]", NULL},
               {"'a,b',c", "'a,b'", "c"},
               {"\"(\",1", "\"(\"", "1"},
               {"1,", "1", ""},
               {")),2", "))", "2"},
               {"", "", NULL},
               {"'open, 1", "'open, 1", NULL}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct str head, rest = str_split_list(str_from(cases[i].text), &head);
    ck_assert_msg(str_is(head, cases[i].head), "%s", cases[i].text);
    ck_assert_msg((rest.ptr != NULL) == (cases[i].rest != NULL), "%s", cases[i].text);
    ck_assert(!rest.ptr || str_is(rest, cases[i].rest));
  }
}
END_TEST

START_TEST(integers) {
  check_i64("0", true, 0);
  check_i64("-9223372036854775808", true, INT64_MIN);
  check_i64("9223372036854775807", true, INT64_MAX);
  check_i64("9223372036854775808", false, 0);
  check_i64("0x7f", true, 127);
  check_i64("-0b101", true, -5);
  check_i64("0o17", true, 15);
  check_i64("1_000_000", true, 1000000);
  check_i64("+3", true, 3);
  const char *const wrong[] = {"",   "-",   "+",   "_1",  "1_",   "1__0", " 1", "1 ",
                               "0x", "12a", "0b2", "--1", "0x_1", "1.0",  "0o8"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++)
    check_i64(wrong[i], false, 0);
  uint64_t u;
  ck_assert(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
  ck_assert(!str_to_u64(STR("18446744073709551616"), &u));
  ck_assert(!str_to_u64(STR("-1"), &u));
}
END_TEST

START_TEST(floats) {
  static const struct {
    const char *text;
    double value;
  } right[] = {{"1", 1},      {"1.5", 1.5},      {".5", 0.5},
               {"2.", 2},     {"-1e-3", -1e-3},  {"1_0.2_5", 10.25},
               {"1E+2", 100}, {"inf", INFINITY}, {"-Infinity", -INFINITY}};
  for (size_t i = 0; i < COUNT_OF(right); i++) {
    double v;
    ck_assert_msg(str_to_f64(str_from(right[i].text), &v), "%s", right[i].text);
    ck_assert_msg(v == right[i].value, "%s", right[i].text);
  }
  double v;
  ck_assert(str_to_f64(STR("nan"), &v) && isnan(v));
  const char *const wrong[] = {"", ".", "e5", "1e", "1.5x", " 1", "0x1p3", "1,5", "--1", "nanx"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++)
    ck_assert_msg(!str_to_f64(str_from(wrong[i]), &v), "%s", wrong[i]);
}
END_TEST

START_TEST(distances) {
  ck_assert_uint_eq(str_distance(STR(""), STR("")), 0);
  ck_assert_uint_eq(str_distance(STR("abc"), STR("")), 3);
  ck_assert_uint_eq(str_distance(STR("kitten"), STR("sitting")), 3);
  ck_assert_uint_eq(str_distance(STR("laod"), STR("load")), 1); // neighbours swapped
  ck_assert_uint_eq(str_distance(STR("load"), STR("load")), 0);
  const char *const names[] = {"load", "store", "arange", "num_warps", "x"};
  ck_assert_str_eq(str_nearest(STR("lod"), names, 5), "load");
  ck_assert_str_eq(str_nearest(STR("Store"), names, 5), "store");
  ck_assert_str_eq(str_nearest(STR("num_wraps"), names, 5), "num_warps");
  ck_assert_ptr_null(str_nearest(STR("softmax"), names, 5));
  ck_assert_ptr_null(str_nearest(STR("y"), names, 5)); // one letter is near everything
  char *longer = calloc(1, 5000);
  memset(longer, 'a', 4999);
  ck_assert_uint_eq(str_distance(str_from(longer), STR("a")), 4999);
  free(longer);
}
END_TEST

START_TEST(builder) {
  struct strbuf b = {0};
  ck_assert_str_eq(strbuf_cstr(&b), "");
  for (int i = 0; i < 1000; i++)
    strbuf_printf(&b, "%d,", i % 10);
  ck_assert_uint_eq(b.len, 2000);
  ck_assert_uint_eq(strlen(strbuf_cstr(&b)), 2000);
  strbuf_clear(&b);
  strbuf_puts(&b, "a");
  strbuf_putc(&b, 'b');
  strbuf_put(&b, "cde", 2);
  char *text = strbuf_take(&b);
  ck_assert_str_eq(text, "abcd");
  free(text);
  ck_assert_ptr_null(b.ptr);
  text = strbuf_take(&b);
  ck_assert_str_eq(text, "");
  free(text);
  strbuf_put(&b, "x", SIZE_MAX / 2);
  ck_assert(b.failed);
  ck_assert_ptr_null(strbuf_take(&b));
  strbuf_finish(&b);
}
END_TEST

START_TEST(times_have_units) {
  static const struct {
    double ms;
    const char *text;
  } rows[] = {
      {1234.5, "1234.5000 ms"}, {0.1, "0.1000 ms"}, {0.0999, "99.90 us"}, {0.00002, "0.02 us"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct strbuf b = {0};
    strbuf_time(&b, rows[i].ms);
    ck_assert_str_eq(strbuf_cstr(&b), rows[i].text);
    strbuf_finish(&b);
  }
}
END_TEST

TCase *str_tests(void) {
  TCase *t = tcase_create("str");
  tcase_add_test(t, views);
  tcase_add_test(t, lists);
  tcase_add_test(t, integers);
  tcase_add_test(t, floats);
  tcase_add_test(t, distances);
  tcase_add_test(t, builder);
  tcase_add_test(t, times_have_units);
  return t;
}
