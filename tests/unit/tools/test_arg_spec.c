// SPDX-License-Identifier: Apache-2.0
// The grammar of --arg.
#include "suites.h"
#include "tools/launch/arg_spec.h"

static bool parse(const char *text, struct arg_value *ret) {
  return arg_spec_parse(session.a, session.diag, session_text(text), str_from(text), DTYPE_NONE,
                        ret);
}

static void refuse(const char *text, enum diag_code code) {
  struct arg_value v;
  ck_assert_msg(!parse(text, &v), "accepted: %s", text);
  ck_assert_msg(session_error() == code, "%s", text);
}

START_TEST(scalars) {
  static const struct {
    const char *text;
    bool is_integer;
    int64_t integer;
    double real;
    enum dtype type;
  } rows[] = {{"1000", true, 1000, 1000, DTYPE_NONE},
              {"-3", true, -3, -3, DTYPE_NONE},
              {"0x10", true, 16, 16, DTYPE_NONE},
              {"1_000", true, 1000, 1000, DTYPE_NONE},
              {"0.5", false, 0, 0.5, DTYPE_NONE},
              {"1e-3", false, 0, 1e-3, DTYPE_NONE},
              {"f32:2", true, 2, 2, DTYPE_F32},
              {"i64:-7", true, -7, -7, DTYPE_I64},
              {"u64:18446744073709551615", true, -1, 0, DTYPE_U64},
              {"i8:-128", true, -128, -128, DTYPE_I8},
              {"u8:255", true, 255, 255, DTYPE_U8},
              {"True", true, 1, 1, DTYPE_I1},
              {"False", true, 0, 0, DTYPE_I1},
              {"9223372036854775807", true, INT64_MAX, 9223372036854775807.0, DTYPE_NONE}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct arg_value v;
    ck_assert_msg(parse(rows[i].text, &v), "%s", rows[i].text);
    ck_assert(!v.is_array);
    ck_assert_int_eq(v.is_integer, rows[i].is_integer);
    if (v.is_integer)
      ck_assert_int_eq(v.integer, rows[i].integer);
    if (rows[i].type != DTYPE_U64)
      ck_assert(v.real == rows[i].real);
    ck_assert_int_eq((int)v.scalar_type, (int)rows[i].type);
  }
}
END_TEST

START_TEST(wrong_scalars) {
  const char *const wrong[] = {"",      "abc",    "1.2.3",   "12abc",    "i8:128",
                               "u8:-1", "u8:256", "i32:1.5", "f99:1",    "u64:-1",
                               "i1:2",  "1 2",    "i32:",    "i16:32768"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++)
    refuse(wrong[i], E0720);
}
END_TEST

static void expect_array(const char *text, enum dtype type, unsigned rank, uint64_t count,
                         double first, double last) {
  struct arg_value v;
  ck_assert_msg(parse(text, &v), "%s", text);
  ck_assert(v.is_array);
  struct array *x = &v.array;
  ck_assert_int_eq((int)x->dtype, (int)type);
  ck_assert_uint_eq(x->rank, rank);
  ck_assert_uint_eq(x->count, count);
  if (count) {
    char *p = x->data;
    ck_assert_msg(dtype_load(type, p) == first, "%s: %g", text, dtype_load(type, p));
    ck_assert_msg(dtype_load(type, p + (count - 1) * dtype_bytes(type)) == last, "%s", text);
  }
  array_finish(x);
  ck_assert_ptr_null(x->data);
}

START_TEST(arrays) {
  expect_array("f32[10]", DTYPE_F32, 1, 10, 0, 0);
  expect_array("f32[10]:zeros", DTYPE_F32, 1, 10, 0, 0);
  expect_array("i32[10]:empty", DTYPE_I32, 1, 10, -1, -1);
  expect_array("f16[16x32]:ones", DTYPE_F16, 2, 512, 1, 1);
  expect_array("bf16[2x3x4]:iota", DTYPE_BF16, 3, 24, 0, 23);
  expect_array("i64[7]:fill(-5)", DTYPE_I64, 1, 7, -5, -5);
  expect_array("f64[1]:fill( 0.25 )", DTYPE_F64, 1, 1, 0.25, 0.25);
  expect_array("i1[4]:ones", DTYPE_I1, 1, 4, 1, 1);
  expect_array("f8e4nv[3]:fill(1000)", DTYPE_F8E4NV, 1, 3, 448, 448);
  expect_array("float32[2]:ones", DTYPE_F32, 1, 2, 1, 1);
  expect_array("f32[0]:rand(0)", DTYPE_F32, 1, 0, 0, 0);
  expect_array("i32[1x1x1x1x1x1x1x2]:iota", DTYPE_I32, 8, 2, 0, 1);
}
END_TEST

START_TEST(wrong_arrays) {
  const char *const wrong[] = {"f33[10]",
                               "[10]",
                               "f32[]",
                               "f32[10",
                               "f32[x]",
                               "f32[1xx2]",
                               "f32[-1]",
                               "f32[1.5]",
                               "f32[10]zeros",
                               "f32[10]:",
                               "f32[10]:zero",
                               "f32[10]:fill",
                               "f32[10]:fill(",
                               "f32[10]:fill(a)",
                               "f32[10]:zeros(1)",
                               "f32[10]:empty(1)",
                               "f32[10]:rand",
                               "f32[10]:rand()",
                               "f32[10]:rand(x)",
                               "f32[10]:rand(1,2)",
                               "f32[10]:rand(0,1,1)",
                               "f32[10]:rand(0,1,2,3)",
                               "f32[1x1x1x1x1x1x1x1x1]",
                               "f32[10]:rand(-1)"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++)
    refuse(wrong[i], E0720);
  refuse("f32[99999999999999]", E0911);
  refuse("f32[4194305x4194305x211106198978564]", E0911); // the product is small modulo 2^64
  refuse("f32[0x99999999999999]", E0911);
  refuse("@no-such-file.npy", E0710);
}
END_TEST

START_TEST(locations_and_suggestions) {
  struct arg_value v;
  ck_assert(!parse("f32[10]:rnad(0)", &v));
  session_expect("command line:1:9: error: unknown way to fill an array: `rnad` [E0720]\n"
                 " 1 | f32[10]:rnad(0)\n"
                 "   |         ^~~~\n"
                 "   = help: did you mean `rand`?\n");
  ck_assert(!parse("ff32[10]", &v));
  session_expect("command line:1:1: error: unknown element type `ff32` [E0720]\n"
                 " 1 | ff32[10]\n"
                 "   | ^~~~\n"
                 "   = help: did you mean `f32`?\n");
}
END_TEST

TCase *arg_spec_tests(void) {
  TCase *t = tcase_create("arg_spec");
  tcase_add_checked_fixture(t, session_setup, session_teardown);
  tcase_add_test(t, scalars);
  tcase_add_test(t, wrong_scalars);
  tcase_add_test(t, arrays);
  tcase_add_test(t, wrong_arrays);
  tcase_add_test(t, locations_and_suggestions);
  return t;
}
