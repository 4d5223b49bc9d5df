// SPDX-License-Identifier: Apache-2.0
// Kernel infos: the JSON reads back the same, damage is refused.
#include "base/kernel_info.h"
#include "suites.h"

static struct kernel_param params[] = {{"x", true, DTYPE_F16, 16, true},
                                       {"n", false, DTYPE_I32, 1, false}};
static const struct kernel_info info = {.name = "add",
                                        .target = "sm_90a",
                                        .num_warps = 4,
                                        .num_stages = 3,
                                        .shared_bytes = 49152,
                                        .uses_collectives = true,
                                        .param_count = 2,
                                        .params = params};

static void write_info(struct strbuf *out) {
  struct json_writer w = {.out = out};
  kernel_info_write(&info, &w);
}

START_TEST(reads_back) {
  struct arena *a = arena_create();
  struct strbuf first = {0}, second = {0};
  struct json_error error;
  struct kernel_info got;
  write_info(&first);
  struct json *j = json_parse(a, (struct str){first.ptr, first.len}, &error);
  ck_assert(kernel_info_read(a, j, &got));
  ck_assert_str_eq(got.name, "add");
  ck_assert_uint_eq(got.shared_bytes, 49152);
  ck_assert_uint_eq(got.param_count, 2);
  ck_assert(got.params[0].is_pointer && got.params[0].is_const && got.params[0].divisible_by == 16);
  ck_assert_int_eq((int)got.params[1].dtype, (int)DTYPE_I32);
  struct json_writer w = {.out = &second};
  kernel_info_write(&got, &w);
  ck_assert_str_eq(first.ptr, second.ptr);
  strbuf_finish(&first);
  strbuf_finish(&second);
  arena_destroy(a);
}
END_TEST

START_TEST(damage_is_refused) {
  static const char *const damage[][2] = {{"\"name\"", "\"nam\""},
                                          {"\"sm_90a\"", "90"},
                                          {"49152", "-1"},
                                          {"49152", "4294967296"},
                                          {"\"f16\"", "\"f17\""},
                                          {"\"divisible_by\": 16", "\"divisible_by\": 1.5"},
                                          {"\"uses_collectives\": true", "\"uses_collectives\": 1"},
                                          {"\"params\"", "\"parms\""}};
  struct arena *a = arena_create();
  struct strbuf text = {0};
  write_info(&text);
  for (size_t i = 0; i < COUNT_OF(damage); i++) {
    struct json_error error;
    struct kernel_info got;
    const char *at = strstr(text.ptr, damage[i][0]);
    ck_assert_ptr_nonnull(at);
    const char *changed = arena_printf(a, "%.*s%s%s", (int)(at - text.ptr), text.ptr, damage[i][1],
                                       at + strlen(damage[i][0]));
    struct json *j = json_parse(a, str_from(changed), &error);
    ck_assert_ptr_nonnull(j);
    ck_assert_msg(!kernel_info_read(a, j, &got), "%s", changed);
  }
  strbuf_finish(&text);
  arena_destroy(a);
}
END_TEST

TCase *kernel_info_tests(void) {
  TCase *t = tcase_create("kernel_info");
  tcase_add_test(t, reads_back);
  tcase_add_test(t, damage_is_refused);
  return t;
}
