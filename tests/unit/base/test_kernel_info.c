// SPDX-License-Identifier: Apache-2.0
// Kernel infos: the JSON reads back the same, damage is refused.
#include "base/kernel_info.h"
#include "suites.h"

static struct kernel_param params[] = {{"x", true, DTYPE_F16, 16, true},
                                       {"n", false, DTYPE_I32, 1, false}};
static struct launch_term four[] = {{LAUNCH_PARAM, 1}, {LAUNCH_CONST, 4}, {LAUNCH_MUL, 0}},
                          n[] = {{LAUNCH_PARAM, 1}};
static struct kernel_map maps[] = {
    {.dtype = DTYPE_BF16,
     .rank = 2,
     .base = 0,
     .offset = {3, four},
     .sizes = {{1, n}, {3, four}},
     .strides = {{3, four}},
     .box = {128, 64},
     .swizzle = 128,
     .pads_nan = true},
    {.dtype = DTYPE_F8E5, .rank = 1, .base = 0, .offset = {1, n}, .sizes = {{1, n}}, .box = {256}}};
static const struct kernel_info info = {.name = "add",
                                        .target = "sm_90a",
                                        .num_warps = 4,
                                        .producer_warps = 2,
                                        .num_stages = 3,
                                        .num_ctas = 4,
                                        .launch_pdl = true,
                                        .shared_bytes = 49152,
                                        .uses_collectives = true,
                                        .param_count = 2,
                                        .params = params,
                                        .map_count = 2,
                                        .maps = maps};

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
  ck_assert_uint_eq(kernel_info_threads(&got), 192);
  ck_assert(got.launch_pdl);
  ck_assert_uint_eq(got.num_ctas, 4);
  ck_assert(kernel_info_cluster(&got, 8) == 4 && kernel_info_cluster(&got, 6) == 1);
  ck_assert_uint_eq(got.map_count, 2);
  const struct kernel_map *m = got.maps;
  ck_assert(m->dtype == DTYPE_BF16 && m->rank == 2 && m->base == 0 && m->swizzle == 128);
  ck_assert(m->pads_nan && m->box[0] == 128 && m->box[1] == 64 && m->strides[0].count == 3);
  ck_assert(m[1].rank == 1 && m[1].box[0] == 256 && !m[1].pads_nan && m[1].offset.count == 1);
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
                                          {"\"params\"", "\"parms\""},
                                          {"\"producer_warps\": 2", "\"producer_warps\": -1"},
                                          {"\"producer_warps\"", "\"producers\""},
                                          {"\"launch_pdl\": true", "\"launch_pdl\": 1"},
                                          {"\"launch_pdl\"", "\"pdl\""},
                                          {"\"num_ctas\": 4", "\"num_ctas\": 3"},
                                          {"\"num_ctas\": 4", "\"num_ctas\": 32"},
                                          {"\"maps\"", "\"map\""},
                                          {"\"bf16\"", "\"bf17\""},
                                          {"\"base\": 0", "\"base\": 1"}, // no pointer
                                          {"\"base\": 0", "\"base\": 2"},
                                          {"\"base\": 0", "\"base\": -1"},
                                          {"[\"p1\", 4, \"mul\"]", "[\"p2\", 4, \"mul\"]"},
                                          {"[\"p1\", 4, \"mul\"]", "[\"p1\", 4]"},
                                          {"\"sizes\": [[\"p1\"], ", "\"sizes\": [[], "},
                                          {"\"sizes\": [[\"p1\"], ", "\"sizes\": ["},
                                          {"\"strides\": [[", "\"strides\": [[1], ["},
                                          {"\"box\": [128, 64]", "\"box\": [128, 64, 1]"},
                                          {"\"box\": [128, 64]", "\"box\": [128, 0]"},
                                          {"\"box\": [128, 64]", "\"box\": [257, 64]"},
                                          {"\"box\": [128, 64]", "\"box\": []"},
                                          {"\"swizzle\": 128", "\"swizzle\": 16"},
                                          {"\"pads_nan\": true", "\"pads_nan\": 1"}};
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

static bool reads_many(struct arena *a, unsigned count) {
  struct kernel_map *all = arena_array(a, struct kernel_map, count);
  struct kernel_info many = {.map_count = count, .maps = all};
  struct kernel_info got = {.param_count = 2, .params = params};
  struct json_error error;
  for (unsigned i = 0; i < count; i++)
    all[i] = maps[1];
  return kernel_maps_read(a, json_parse(a, str_from(kernel_maps_text(a, &many)), &error), &got);
}

// The maps alone, as packs have them.
START_TEST(maps_as_text) {
  struct arena *a = arena_create();
  struct json_error error;
  struct kernel_info none = {0}, got = {.param_count = 2, .params = params};
  ck_assert_ptr_null(kernel_maps_text(a, &none));
  const char *text = kernel_maps_text(a, &info);
  ck_assert(kernel_maps_read(a, json_parse(a, str_from(text), &error), &got));
  ck_assert_uint_eq(got.map_count, 2);
  ck_assert_str_eq(kernel_maps_text(a, &got), text);
  ck_assert(reads_many(a, KERNEL_MAX_MAPS));
  ck_assert(!reads_many(a, KERNEL_MAX_MAPS + 1));
  arena_destroy(a);
}
END_TEST

TCase *kernel_info_tests(void) {
  TCase *t = tcase_create("kernel_info");
  tcase_add_test(t, reads_back);
  tcase_add_test(t, damage_is_refused);
  tcase_add_test(t, maps_as_text);
  return t;
}
