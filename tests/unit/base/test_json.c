// SPDX-License-Identifier: Apache-2.0
// JSON: what is accepted, what is refused and where, depth, writing.
#include "base/json.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

static struct arena *a;
static void setup(void) { a = arena_create(); }
static void teardown(void) { arena_destroy(a); }

START_TEST(reads_values) {
  struct json_error error;
  struct json *j = json_parse(a,
                              STR(" {\"a\": [1, -2.5e1, true, false, null], \"b\": {}, "
                                  "\"c\": \"\\u00e9\\ud83d\\ude00\\n\\\"\\/\"} "),
                              &error);
  ck_assert_ptr_nonnull(j);
  struct json *list = json_get(j, "a");
  ck_assert_uint_eq(list->count, 5);
  ck_assert(list->items[0]->is_integer && list->items[0]->integer == 1);
  ck_assert(!list->items[1]->is_integer && list->items[1]->number == -25.0);
  ck_assert(list->items[2]->boolean && !list->items[3]->boolean);
  ck_assert_int_eq((int)list->items[4]->kind, (int)JSON_NULL);
  ck_assert_uint_eq(json_get(j, "b")->count, 0);
  ck_assert(str_is(json_get(j, "c")->string, "\xc3\xa9\xf0\x9f\x98\x80\n\"/"));
  ck_assert_ptr_null(json_get(j, "d"));
  ck_assert_ptr_null(json_get(list, "d"));
  ck_assert_ptr_null(json_get(NULL, "d"));
  j = json_parse(a, STR("9223372036854775808"), &error);
  ck_assert(!j->is_integer && j->number == 9223372036854775808.0);
}
END_TEST

static void refuse(struct str text, size_t offset) {
  struct json_error error;
  ck_assert_msg(!json_parse(a, text, &error), "accepted: %.*s", STR_ARG(text));
  ck_assert_ptr_nonnull(error.message);
  ck_assert_msg(error.offset == offset, "%.*s: offset %zu", STR_ARG(text), error.offset);
}

START_TEST(refuses_malformed_text) {
  refuse(STR(""), 0);
  refuse(STR("  "), 2);
  refuse(STR("{"), 1);
  refuse(STR("[1,]"), 3);
  refuse(STR("[1 2]"), 3);
  refuse(STR("{\"a\" 1}"), 5);
  refuse(STR("{\"a\":1,}"), 7);
  refuse(STR("{a:1}"), 1);
  refuse(STR("\"abc"), 0);
  refuse(STR("\"a\\\""), 0);
  refuse(STR("\"\\x\""), 1);
  refuse(STR("\"\\u12g4\""), 1);
  refuse(STR("\"\\ud800\""), 1);
  refuse(STR("\"\\ud800\\u0041\""), 1);
  refuse(STR("\"\\udc00\""), 1);
  refuse(STR("\"\xff\""), 1);
  refuse(STR("\"\xc0\x80\""), 1);
  refuse(STR("\"a\nb\""), 2);
  refuse(STR("01"), 0);
  refuse(STR("-"), 0);
  refuse(STR("1."), 0);
  refuse(STR("1e"), 0);
  refuse(STR("+1"), 0);
  refuse(STR(".5"), 0);
  refuse(STR("nul"), 0);
  refuse(STR("true false"), 5);
  refuse(STR("NaN"), 0);
}
END_TEST

START_TEST(depth_is_limited) {
  static char text[2 * (JSON_MAX_DEPTH + 1) + 1];
  for (size_t depth = JSON_MAX_DEPTH; depth <= JSON_MAX_DEPTH + 1; depth++) {
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    struct json_error error;
    struct json *j = json_parse(a, (struct str){text, 2 * depth}, &error);
    ck_assert_int_eq(j != NULL, depth <= JSON_MAX_DEPTH);
  }
  // Unbounded nesting must not overflow the stack either.
  size_t n = 1 << 20;
  char *bomb = malloc(n);
  memset(bomb, '[', n);
  refuse((struct str){bomb, n}, JSON_MAX_DEPTH);
  free(bomb);
}
END_TEST

START_TEST(every_prefix_is_refused) {
  static const char whole[] = "{\"key\": [1.5, \"a\\u0041\", {\"x\": null}]}";
  struct json_error error;
  for (size_t n = 0; n + 1 < sizeof whole - 1; n++) {
    char *exact = malloc(n + 1); // so that a sanitizer sees reads past the end
    memcpy(exact, whole, n);
    ck_assert_ptr_null(json_parse(a, (struct str){exact, n}, &error));
    free(exact);
  }
}
END_TEST

// Changed documents are read or refused at a location within the text.
START_TEST(mutations) {
  static const char whole[] =
      "{\"key\": [1.5e3, \"a\\u0041\\n\", {\"x\": null}], \"y\": [true, -0]}";
  static const char bytes[] = "{}[]\",:\\u0e-+.tfn \x00\xff";
  uint64_t state = 3;
  unsigned accepted = 0;
  for (int round = 0; round < 20000; round++) {
    char *text = malloc(sizeof whole - 1); // exact, so that a sanitizer sees reads past the end
    memcpy(text, whole, sizeof whole - 1);
    for (int change = 0; change <= round % 3; change++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text[(state >> 40) % (sizeof whole - 1)] = bytes[(state >> 33) % (sizeof bytes - 1)];
    }
    struct json_error error;
    struct arena_mark m = arena_mark(a);
    struct json *j = json_parse(a, (struct str){text, sizeof whole - 1}, &error);
    accepted += j != NULL;
    if (!j)
      ck_assert_uint_le(error.offset, sizeof whole - 1);
    arena_release(a, m);
    free(text);
  }
  ck_assert(accepted > 100 && accepted < 10000);
}
END_TEST

START_TEST(writes) {
  struct strbuf out = {0};
  struct json_writer w = {.out = &out};
  json_begin_object(&w);
  json_key(&w, "s");
  json_cstring(&w, "a\"\\\n\x01\xc3\xa9\xff");
  json_key(&w, "list");
  json_begin_array(&w);
  json_int(&w, INT64_MIN);
  json_double(&w, 0.1);
  json_double(&w, NAN);
  json_bool(&w, true);
  json_null(&w);
  json_begin_object(&w);
  json_end_object(&w);
  json_end_array(&w);
  json_key(&w, "none");
  json_cstring(&w, NULL);
  json_end_object(&w);
  ck_assert_str_eq(out.ptr, "{\"s\": \"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\", \"list\": "
                            "[-9223372036854775808, 0.1, null, true, null, {}], "
                            "\"none\": null}");
  struct json_error error;
  ck_assert_ptr_nonnull(json_parse(a, (struct str){out.ptr, out.len}, &error));
  strbuf_finish(&out);
}
END_TEST

// Numbers are written as short as they can be and read back to the bit.
START_TEST(numbers_come_back) {
  uint64_t state = 7;
  for (int round = 0; round < 20000; round++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = state ^ state >> 29;
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
      continue;
    struct strbuf out = {0};
    json_double(&(struct json_writer){.out = &out}, value);
    double got;
    ck_assert_msg(str_to_f64(str_from(strbuf_cstr(&out)), &got) && got == value, "%s", out.ptr);
    strbuf_finish(&out);
  }
}
END_TEST

// Every value has its range of bytes in the text, every key its offset.
START_TEST(locations) {
  static const char text[] = " {\"a\": [1, -2.5e1 ], \"\\u0062\" :\"x\" }\n";
  struct json_error error;
  const struct json *j = json_parse(a, str_from(text), &error);
  ck_assert_ptr_nonnull(j);
  ck_assert(j->begin == 1 && text[j->end - 1] == '}' && text[j->end] == '\n');
  const struct json *list = j->items[0], *string = j->items[1];
  ck_assert(text[list->begin] == '[' && text[list->end - 1] == ']');
  const struct json *number = list->items[1];
  ck_assert_int_eq(strncmp(text + number->begin, "-2.5e1 ]", 8), 0);
  ck_assert_uint_eq(number->end - number->begin, 6);
  ck_assert_uint_eq(string->end - string->begin, 3);
  ck_assert_int_eq(strncmp(text + j->key_at[0], "\"a\"", 3), 0);
  ck_assert_int_eq(strncmp(text + j->key_at[1], "\"\\u0062\"", 8), 0);
}
END_TEST

TCase *json_tests(void) {
  TCase *t = tcase_create("json");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, reads_values);
  tcase_add_test(t, refuses_malformed_text);
  tcase_add_test(t, depth_is_limited);
  tcase_add_test(t, every_prefix_is_refused);
  tcase_add_test(t, mutations);
  tcase_add_test(t, writes);
  tcase_add_test(t, numbers_come_back);
  tcase_add_test(t, locations);
  return t;
}
