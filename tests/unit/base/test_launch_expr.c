// SPDX-License-Identifier: Apache-2.0
// Launch expressions: values, what is refused, and JSON that reads back the same.
#include "base/launch_expr.h"
#include "suites.h"

#include <stdio.h>

static const int64_t params[] = {7, -3, 1000000, INT64_MAX};

// JSON of an expression, and its value; `valid`: well-formed; `works`: it has a value.
static const struct {
  const char *json;
  bool reads, valid, works;
  int64_t value;
} cases[] = {
    {"[5]", true, true, true, 5},
    {"[\"p1\"]", true, true, true, -3},
    {"[\"p0\", \"p1\", \"mul\", 4, \"add\"]", true, true, true, -17},
    {"[\"p0\", 2, \"div\", \"p0\", 2, \"rem\", \"sub\"]", true, true, true, 2},
    {"[\"p1\", 2, \"div\"]", true, true, true, -1},
    {"[\"p0\", \"p1\", \"min\", \"p2\", \"max\"]", true, true, true, 1000000},
    {"[\"p3\", 1, \"add\"]", true, true, false, 0},
    {"[\"p3\", 2, \"mul\"]", true, true, false, 0},
    {"[\"p0\", 0, \"div\"]", true, true, false, 0},
    {"[\"p0\", 0, \"rem\"]", true, true, false, 0},
    {"[]", true, false, false, 0},
    {"[1, 2]", true, false, false, 0},
    {"[\"add\"]", true, false, false, 0},
    {"[1, \"add\"]", true, false, false, 0},
    {"[\"p4\"]", true, false, false, 0},
    {"[1, 2, \"pow\"]", false, false, false, 0},
    {"[\"p\"]", false, false, false, 0},
    {"[\"p99999999999\"]", false, false, false, 0},
    {"[1.5]", false, false, false, 0},
    {"[null]", false, false, false, 0},
    {"7", false, false, false, 0},
};

START_TEST(values) {
  struct arena *a = arena_create();
  struct json_error error;
  struct launch_expr e;
  int64_t value = 0;
  const struct json *j = json_parse(a, str_from(cases[_i].json), &error);
  ck_assert_ptr_nonnull(j);
  ck_assert_int_eq(launch_expr_read(a, j, &e), cases[_i].reads);
  if (cases[_i].reads) {
    ck_assert_int_eq(launch_expr_is_valid(&e, COUNT_OF(params)), cases[_i].valid);
    if (cases[_i].valid)
      ck_assert_int_eq(launch_expr_value(&e, params, &value), cases[_i].works);
    if (cases[_i].works)
      ck_assert_int_eq(value, cases[_i].value);
  }
  arena_destroy(a);
}
END_TEST

START_TEST(written_as_read) {
  static const char text[] = "[\"p0\",-12,\"mul\",\"p31\",\"max\"]";
  struct arena *a = arena_create();
  struct json_error error;
  struct launch_expr e;
  struct strbuf out = {0};
  struct json_writer w = {.out = &out};
  ck_assert(launch_expr_read(a, json_parse(a, str_from(text), &error), &e));
  launch_expr_write(&e, &w);
  struct str got = {out.ptr, out.len};
  struct launch_expr again;
  ck_assert(launch_expr_read(a, json_parse(a, got, &error), &again));
  ck_assert_uint_eq(again.count, e.count);
  for (uint32_t i = 0; i < e.count; i++) {
    ck_assert_int_eq(again.terms[i].op, e.terms[i].op);
    ck_assert_int_eq(again.terms[i].number, e.terms[i].number);
  }
  strbuf_finish(&out);
  arena_destroy(a);
}
END_TEST

START_TEST(as_many_terms_as_fit) {
  struct launch_term terms[LAUNCH_EXPR_MAX + 1];
  for (unsigned i = 0; i < COUNT_OF(terms); i++)
    terms[i] = (struct launch_term){i == 0 || i % 2 ? LAUNCH_CONST : LAUNCH_ADD, 1};
  struct launch_expr e = {LAUNCH_EXPR_MAX - 1, terms};
  int64_t value = 0;
  ck_assert(launch_expr_is_valid(&e, 0) && launch_expr_value(&e, NULL, &value));
  ck_assert_int_eq(value, LAUNCH_EXPR_MAX / 2);
  e.count = LAUNCH_EXPR_MAX + 1;
  ck_assert(!launch_expr_is_valid(&e, 0));
}
END_TEST

TCase *launch_expr_tests(void) {
  TCase *t = tcase_create("launch_expr");
  tcase_add_loop_test(t, values, 0, COUNT_OF(cases));
  tcase_add_test(t, written_as_read);
  tcase_add_test(t, as_many_terms_as_fit);
  return t;
}
