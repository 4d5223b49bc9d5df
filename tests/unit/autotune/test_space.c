// SPDX-License-Identifier: Apache-2.0
// Tests of spaces from texts, files and lists: values, order, defaults, spelling, neighbours,
// limits.
#include "autotune/space/space.h"
#include "lang/tuning/tuning.h"
#include "suites.h"

#include <stdio.h>

static struct arena *a;
static struct diag_engine *diag;
static struct lang_param *params;
static size_t param_count;

static const char kernel_text[] =
    "@jit\n"
    "def k(x: ptr[f32], n: i32, BLOCK: constexpr = 0x80, KIND: constexpr = 'relu', *,\n"
    "      ROWS: constexpr):\n"
    "    pass\n";

static void setup(void) {
  a = arena_create();
  diag = diag_engine_create(a);
  struct lang_unit *m = lang_unit_read(a, diag, source_create(a, "k.tile", str_from(kernel_text)));
  const char *name;
  ck_assert(lang_kernel_params(a, diag, m, NULL, &name, &params, &param_count));
  ck_assert_uint_eq(diag_error_count(diag), 0);
}

static void teardown(void) { arena_destroy(a); }

static bool parse(const char *text, struct tune_space *s) {
  struct source *line = source_create(a, "command line", str_from(text));
  return tune_space_from_text(a, diag, (struct span){line, 0, (uint32_t)line->text.len}, line->text,
                              params, param_count, s);
}

static bool parse_json(const char *text, struct tune_space *s) {
  return tune_space_from_json(a, diag, source_create(a, "space.json", str_from(text)), params,
                              param_count, s);
}

static void check_config(const struct tune_space *s, size_t config, const char *want) {
  struct strbuf out = {0};
  tune_config_print(s, config, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
}

static void check_values(const struct tune_space *s, size_t dim, const char *want) {
  struct strbuf out = {0};
  strbuf_puts(&out, s->dims[dim].name);
  for (size_t i = 0; i < s->dims[dim].count; i++)
    strbuf_printf(&out, " %s", s->dims[dim].values[i]);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
}

// The one error, as rendered.
static void check_error(const char *want) {
  struct strbuf out = {0};
  ck_assert_uint_eq(diag_error_count(diag), 1);
  diag_render_text(diag, (struct diag_style){0}, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
  diag = diag_engine_create(a);
}

// ---- Texts ----

START_TEST(dimensions_come_in_the_order_of_the_kernel) {
  struct tune_space s;
  ck_assert(parse(" num_stages=1..3, ROWS = 1,2 ,BLOCK=64..512:x2, num_warps=8,4", &s));
  ck_assert_uint_eq(s.dim_count, 4);
  check_values(&s, 0, "BLOCK 64 128 256 512");
  check_values(&s, 1, "ROWS 1 2");
  check_values(&s, 2, "num_warps 4 8");
  check_values(&s, 3, "num_stages 1 2 3");
  ck_assert_uint_eq(s.count, 4 * 2 * 2 * 3);
  ck_assert(!s.is_list);
  ck_assert_str_eq(s.origin, "--space");
  // Defaults that are values, and the lower middle of dimensions without one.
  check_config(&s, 0, "BLOCK=128, ROWS=1, num_warps=4, num_stages=3");
  check_config(&s, 1, "BLOCK=64, ROWS=1, num_warps=4, num_stages=1");
  ck_assert_str_eq(tune_config_value(&s, 0, "BLOCK"), "128");
  ck_assert_ptr_null(tune_config_value(&s, 0, "KIND"));
  ck_assert_uint_eq(tune_config_warps(&s, 0), 4);
  ck_assert_uint_eq(tune_config_stages(&s, 0), 3);
  ck_assert_uint_eq(tune_config_registers(&s, 0), 0);
}
END_TEST

START_TEST(steps_of_ranges) {
  struct tune_space s;
  ck_assert(parse("BLOCK=-4..4:+4, num_warps=1..20:x2, max_registers=0,128, ROWS=3,1..4,0x2", &s));
  check_values(&s, 0, "BLOCK -4 0 4");
  check_values(&s, 1, "ROWS 1 2 3 4");
  check_values(&s, 2, "num_warps 1 2 4 8 16");
  check_values(&s, 3, "max_registers 0 128");
  check_config(&s, 0, "BLOCK=0, ROWS=2, num_warps=4, max_registers=0");
  ck_assert_int_eq((int)tune_config_specialize(&s, 0), (int)WARP_SPECIALIZE_AUTO);
  struct tune_space own;
  ck_assert(parse("warp_specialize=on,auto,off", &own));
  check_config(&own, 0, "warp_specialize=auto");
  ck_assert_int_eq((int)tune_config_specialize(&own, 1), (int)WARP_SPECIALIZE_ON);
  ck_assert_int_eq((int)tune_config_specialize(&own, 2), (int)WARP_SPECIALIZE_OFF);
  ck_assert_uint_eq(tune_config_registers(&s, 1), 0);
  ck_assert(parse("ROWS=9223372036854775806..9223372036854775807", &s));
  check_values(&s, 0, "ROWS 9223372036854775806 9223372036854775807");
  ck_assert(parse("ROWS=4611686018427387904..9223372036854775807:x3", &s));
  check_values(&s, 0, "ROWS 4611686018427387904");
}
END_TEST

START_TEST(values_may_be_texts) {
  struct tune_space s;
  ck_assert(parse("KIND=\"relu\",\"a, BLOCK=1\",None,1.5,float16,gelu..x,True, BLOCK=64", &s) ==
            false);
  diag = diag_engine_create(a);
  ck_assert(parse("KIND=None,\"a, BLOCK=1\",\"relu\",1.5,float16,True, BLOCK=64", &s));
  check_values(&s, 1, "KIND None \"a, BLOCK=1\" \"relu\" 1.5 float16 True");
  check_config(&s, 0, "BLOCK=64, KIND=\"relu\"");
  // Finds each by its spelling.
  for (size_t i = 0; i < s.count; i++) {
    struct strbuf out = {0};
    size_t at;
    tune_config_print(&s, i, &out);
    ck_assert(tune_space_find(&s, str_from(strbuf_cstr(&out)), &at));
    ck_assert_uint_eq(at, i);
    strbuf_finish(&out);
  }
}
END_TEST

START_TEST(spellings_that_are_none) {
  struct tune_space s;
  size_t at;
  ck_assert(parse("BLOCK=64,128, num_warps=4", &s));
  ck_assert(tune_space_find(&s, STR("BLOCK=128, num_warps=4"), &at) && at == 0);
  ck_assert(tune_space_find(&s, STR("BLOCK=64, num_warps=4"), &at) && at == 1);
  static const char *const none[] = {"",
                                     "BLOCK=64",
                                     "BLOCK=64, num_warps=8",
                                     "BLOCK=64, num_warps=4, num_stages=3",
                                     "BLOCK=6, num_warps=4",
                                     "BLOCK=64,num_warps=4",
                                     "num_warps=4, BLOCK=64",
                                     "BLOCK=, num_warps=4"};
  for (size_t i = 0; i < COUNT_OF(none); i++)
    ck_assert_msg(!tune_space_find(&s, str_from(none[i]), &at), "%s", none[i]);
}
END_TEST

static const struct {
  const char *text, *error;
} bad_texts[] = {
    {"BLOK=64", "command line:1:1: error: the kernel has no parameter `BLOK` [E0728]\n"
                " 1 | BLOK=64\n"
                "   | ^~~~\n"
                "   = help: did you mean `BLOCK`?\n"},
    {"warps=4", "command line:1:1: error: the kernel has no parameter `warps` [E0728]\n"
                " 1 | warps=4\n"
                "   | ^~~~~\n"
                "   = help: there are `BLOCK`, `KIND`, `ROWS`, `num_warps`, `num_stages`, "
                "`max_registers`, `num_ctas` and `warp_specialize`\n"},
    {"num_warps=4, n=1",
     "command line:1:14: error: `n` is a run-time parameter [E0728]\n"
     " 1 | num_warps=4, n=1\n"
     "   |              ^\n"
     "   = help: what may be chosen are compile-time parameters (`n: constexpr`), "
     "num_warps, num_stages, max_registers, num_ctas and warp_specialize\n"},
    {"num_warps=3", "command line:1:11: error: `3` is no value for `num_warps` [E0727]\n"
                    " 1 | num_warps=3\n"
                    "   |           ^\n"
                    "   = help: it is 1, 2, 4, 8, 16 or 32\n"},
    {"BLOCK=64,", "command line:1:10: error: `BLOCK` lacks a value [E0727]\n"
                  " 1 | BLOCK=64,\n"
                  "   |          ^\n"
                  "   = help: for example `BLOCK=64..1024:x2`, or `BLOCK=64,128`\n"},
    {"BLOCK=64, num_warps=4, BLOCK=128",
     "command line:1:24: error: `BLOCK` stands here twice [E0727]\n"
     " 1 | BLOCK=64, num_warps=4, BLOCK=128\n"
     "   |                        ^~~~~\n"
     "   = help: give all its values at once\n"},
    {"BLOCK=64..16",
     "command line:1:7: error: `64..16` is not a range: it ends before it begins [E0727]\n"
     " 1 | BLOCK=64..16\n"
     "   |       ^~~~~~\n"
     "   = help: `1..5` steps by one, `64..1024:x2` doubles, `32..128:+32` adds 32\n"},
};

START_TEST(errors_say_where) {
  struct tune_space s;
  ck_assert(!parse(bad_texts[_i].text, &s));
  check_error(bad_texts[_i].error);
}
END_TEST

static const struct {
  const char *text;
  enum diag_code code;
} refused[] = {
    {"", E0727},
    {"64", E0727},
    {"BLOCK", E0727},
    {"BLOCK=", E0727},
    {",BLOCK=64", E0727},
    {"BLOCK=64;num_warps=4", E0727},
    {"BLOCK=1..", E0727},
    {"BLOCK=..4", E0727},
    {"BLOCK=1..8:2", E0727},
    {"BLOCK=1..8:x1", E0727},
    {"BLOCK=0..8:x2", E0727},
    {"BLOCK=1..8:+0", E0727},
    {"BLOCK=1..8:x", E0727},
    {"BLOCK='a", E0727},
    {"num_warps=1..64:x2", E0727},
    {"num_stages=0", E0727},
    {"num_stages=17", E0727},
    {"num_warps=True", E0727},
    {"max_registers=8", E0727},
    {"num_ctas=3", E0727},
    {"num_ctas=32", E0727},
    {"warp_specialize=1", E0727},
    {"warp_specialize=True", E0727},
    {"BLOCK=1..65537", E0729},
    {"BLOCK=1..9223372036854775807", E0729},
    {"BLOCK=1..300, ROWS=1..300", E0729},
};

START_TEST(texts_that_are_no_space) {
  struct tune_space s;
  ck_assert_msg(!parse(refused[_i].text, &s), "%s", refused[_i].text);
  ck_assert_uint_eq(diag_error_count(diag), 1);
  ck_assert_msg(diag_first_error_code(diag) == refused[_i].code, "%s: %s", refused[_i].text,
                diag_first_error(diag));
}
END_TEST

START_TEST(the_largest_space_is_one) {
  struct tune_space s;
  ck_assert(parse("BLOCK=1..256, ROWS=0..255", &s));
  ck_assert_uint_eq(s.count, TUNE_MAX_CONFIGS);
  check_config(&s, 0, "BLOCK=128, ROWS=127");
  check_config(&s, TUNE_MAX_CONFIGS - 1, "BLOCK=256, ROWS=255");
}
END_TEST

// ---- Files ----

START_TEST(files_of_dimensions) {
  struct tune_space s;
  ck_assert(parse_json("{\"dims\": {\"num_warps\": \"1..8:x2\", \"BLOCK\": [64, \"128\", 64],\n"
                       "          \"KIND\": [null, true, \"gelu\", 1.5]}}",
                       &s));
  check_values(&s, 0, "BLOCK 64 128");
  check_values(&s, 1, "KIND None True gelu 1.5");
  check_values(&s, 2, "num_warps 1 2 4 8");
  ck_assert_uint_eq(s.count, 2 * 4 * 4);
  ck_assert_str_eq(s.origin, "space.json");
}
END_TEST

START_TEST(files_of_configurations) {
  struct tune_space s;
  ck_assert(parse_json(
      "{\"configs\": [{\"ROWS\": 8, \"num_warps\": 8}, {\"BLOCK\": 128, \"ROWS\": 4},\n"
      " {\"ROWS\": 4, \"num_warps\": 4}, {\"num_warps\": 2, \"BLOCK\": 64, \"ROWS\": 8}]}",
      &s));
  ck_assert(s.is_list);
  // The second and the third are equal: omitted names have their default.
  ck_assert_uint_eq(s.count, 3);
  check_config(&s, 0, "BLOCK=128, ROWS=8, num_warps=8");
  check_config(&s, 1, "BLOCK=128, ROWS=4, num_warps=4");
  check_config(&s, 2, "BLOCK=64, ROWS=8, num_warps=2");
}
END_TEST

static const struct {
  const char *text;
  enum diag_code code;
  uint32_t col;
} bad_files[] = {
    {"", E0727, 1},
    {"{\"dims\": {\"BLOCK\": [64,]}}", E0727, 24},
    {"[]", E0727, 1},
    {"{}", E0727, 1},
    {"{\"dims\": {}}", E0727, 10},
    {"{\"dims\": {\"BLOCK\": []}}", E0727, 20},
    {"{\"dims\": {\"BLOCK\": 64}}", E0727, 20},
    {"{\"dims\": {\"BLOCK\": [[64]]}}", E0727, 21},
    {"{\"dims\": {\"BLOCK\": \"8..4\"}}", E0727, 20},
    {"{\"dims\": {\"num_warps\": [4, 5]}}", E0727, 28},
    {"{\"dims\": {\"BLOK\": [64]}}", E0728, 11},
    {"{\"configs\": []}", E0727, 13},
    {"{\"configs\": [64]}", E0727, 14},
    {"{\"configs\": [{\"BLOCK\": []}]}", E0727, 24},
    {"{\"configs\": [{\"ROWS\": 1}, {\"BLOCK\": 64}]}", E0727, 27},
    {"{\"configs\": [{\"x\": 1}]}", E0728, 20},
    {"{\"dims\": {\"BLOCK\": [64]}, \"configs\": []}", E0727, 1},
    {"{\"space\": {}}", E0727, 1},
};

START_TEST(files_that_are_no_space) {
  struct tune_space s;
  ck_assert_msg(!parse_json(bad_files[_i].text, &s), "%s", bad_files[_i].text);
  ck_assert_uint_eq(diag_error_count(diag), 1);
  ck_assert_msg(diag_first_error_code(diag) == bad_files[_i].code, "%s: %s", bad_files[_i].text,
                diag_first_error(diag));
  struct strbuf out = {0};
  diag_render_text(diag, (struct diag_style){0}, &out);
  char want[64];
  snprintf(want, sizeof want, "space.json:1:%u: error: ", bad_files[_i].col);
  ck_assert_msg(str_starts(str_from(strbuf_cstr(&out)), want), "%s", strbuf_cstr(&out));
  strbuf_finish(&out);
}
END_TEST

// ---- Decorators ----

START_TEST(lists_of_the_source) {
  struct lang_setting wide[] = {{"BLOCK", "256"}, {"ROWS", "2"}}, narrow[] = {{"ROWS", "2"}},
                      kind[] = {{"ROWS", "1"}, {"KIND", "'gelu'"}};
  struct lang_config configs[] = {
      {.settings = wide, .setting_count = 2, .num_warps = 8},
      {.settings = narrow, .setting_count = 1, .num_stages = 2},
      {.settings = kind, .setting_count = 2, .num_warps = 4, .max_registers = 128}};
  struct source *file = source_create(a, "k.tile", STR("\n@autotune(...)\n"));
  struct lang_tuning t = {.configs = configs, .config_count = 3, .span = {file, 1, 5}};
  struct tune_space s;
  ck_assert(tune_space_from_decorator(a, diag, &t, params, param_count, &s));
  ck_assert_str_eq(s.origin, "@autotune of k.tile:2");
  ck_assert(s.is_list);
  ck_assert_uint_eq(s.count, 3);
  // The entry with the parameters' defaults comes first, whatever its warps.
  check_config(&s, 0,
               "BLOCK=256, KIND=\"relu\", ROWS=2, num_warps=8, num_stages=3, max_registers=0");
  check_config(&s, 1,
               "BLOCK=128, KIND=\"relu\", ROWS=2, num_warps=4, num_stages=2, max_registers=0");
  check_config(&s, 2,
               "BLOCK=128, KIND='gelu', ROWS=1, num_warps=4, num_stages=3, max_registers=128");
  // An empty list has only the default.
  ck_assert(tune_space_from_decorator(a, diag, &(struct lang_tuning){0}, params, param_count, &s));
  ck_assert_uint_eq(s.count, 1);
  ck_assert_uint_eq(s.dim_count, 0);
  check_config(&s, 0, "");
}
END_TEST

START_TEST(defaults_come_first) {
  struct tune_space s;
  ck_assert(parse_json(
      "{\"configs\": [{\"BLOCK\": 64, \"num_warps\": 4}, {\"BLOCK\": 128, \"num_warps\": 8},\n"
      " {\"BLOCK\": 128, \"num_warps\": 4}, {\"BLOCK\": 256, \"num_warps\": 4}]}",
      &s));
  check_config(&s, 0, "BLOCK=128, num_warps=4");
  check_config(&s, 1, "BLOCK=64, num_warps=4");
  check_config(&s, 2, "BLOCK=128, num_warps=8");
  ck_assert(parse_json(
      "{\"configs\": [{\"BLOCK\": 64, \"num_warps\": 4}, {\"BLOCK\": 128, \"num_warps\": 8}]}",
      &s));
  check_config(&s, 0, "BLOCK=128, num_warps=8");
}
END_TEST

// ---- What -D says ----

START_TEST(given_values_leave_the_space) {
  struct tune_space s;
  struct lang_binding fixed[] = {{.name = "n", .kind = BIND_SCALAR},
                                 {.name = "BLOCK", .kind = BIND_CONSTANT, .text = "0x40"},
                                 {.name = "KIND", .kind = BIND_CONSTANT, .text = "gelu"}};
  ck_assert(parse("BLOCK=64,128, ROWS=1..4, num_warps=2,4", &s));
  ck_assert(tune_space_fix(a, diag, SPAN_NONE, fixed, 3, &s));
  ck_assert_uint_eq(s.count, 8);
  ck_assert_uint_eq(s.dim_count, 2);
  check_config(&s, 0, "ROWS=2, num_warps=4");
  check_config(&s, 1, "ROWS=1, num_warps=2");
  fixed[1].text = "512";
  ck_assert(parse("BLOCK=64,128", &s));
  ck_assert(!tune_space_fix(a, diag, SPAN_NONE, fixed, 3, &s));
  check_error("error: no configuration of the space has `BLOCK = 512` [E0728]\n"
              "    = help: leave `BLOCK` open, or give a space with this value\n");
}
END_TEST

// ---- Neighbours ----

static void check_neighbours(const struct tune_space *s, size_t config, bool far, size_t cap,
                             const char *want) {
  uint32_t at[64];
  struct strbuf out = {0};
  size_t n = tune_space_neighbours(s, config, far, at, cap);
  for (size_t i = 0; i < n; i++) {
    strbuf_puts(&out, i > 0 ? " | " : "");
    tune_config_print(s, at[i], &out);
  }
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
}

START_TEST(neighbours_are_a_step_away) {
  struct tune_space s;
  ck_assert(parse("BLOCK=64..1024:x2, num_warps=1,2,4", &s));
  size_t at;
  ck_assert(tune_space_find(&s, STR("BLOCK=256, num_warps=4"), &at));
  check_neighbours(&s, at, false, 64,
                   "BLOCK=128, num_warps=4 | BLOCK=256, num_warps=2 | BLOCK=512, num_warps=4");
  check_neighbours(&s, at, false, 1, "BLOCK=128, num_warps=4");
  check_neighbours(&s, at, true, 64,
                   "BLOCK=128, num_warps=4 | BLOCK=256, num_warps=2 | BLOCK=512, num_warps=4 | "
                   "BLOCK=128, num_warps=2 | BLOCK=512, num_warps=2");
  // Kinds have no order: all are neighbours.
  ck_assert(parse("KIND=a,b,c,d", &s));
  ck_assert(tune_space_find(&s, STR("KIND=a"), &at));
  check_neighbours(&s, at, false, 64, "KIND=b | KIND=c | KIND=d");
}
END_TEST

Suite *space_suite(void) {
  Suite *s = suite_create("space");
  TCase *t = tcase_create("space");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, dimensions_come_in_the_order_of_the_kernel);
  tcase_add_test(t, steps_of_ranges);
  tcase_add_test(t, values_may_be_texts);
  tcase_add_test(t, spellings_that_are_none);
  tcase_add_loop_test(t, errors_say_where, 0, COUNT_OF(bad_texts));
  tcase_add_loop_test(t, texts_that_are_no_space, 0, COUNT_OF(refused));
  tcase_add_test(t, the_largest_space_is_one);
  tcase_add_test(t, files_of_dimensions);
  tcase_add_test(t, files_of_configurations);
  tcase_add_loop_test(t, files_that_are_no_space, 0, COUNT_OF(bad_files));
  tcase_add_test(t, lists_of_the_source);
  tcase_add_test(t, defaults_come_first);
  tcase_add_test(t, given_values_leave_the_space);
  tcase_add_test(t, neighbours_are_a_step_away);
  suite_add_tcase(s, t);
  return s;
}
