// SPDX-License-Identifier: Apache-2.0
// Grid expressions.
#include "jit/grid_expr.h"
#include "suites.h"

static const char *names[] = {"n", "BLOCK", "M", "min_rows", "negative", "zero", "huge"};
static int64_t values[] = {1000, 128, 50, 3, -7, 0, INT64_MAX};
static const struct grid_names known = {names, values, COUNT_OF(names)};

static bool eval(const char *text, uint32_t grid[3]) {
  return grid_expr_eval(session.diag, session_text(text), &known, grid);
}

START_TEST(values_of_expressions) {
  static const struct {
    const char *text;
    uint32_t x;
  } rows[] = {{"1", 1},
              {"cdiv(n,BLOCK)", 8},
              {"cdiv( n , 100 )", 10},
              {"n/BLOCK", 0}, // 7.8
              {"n/8", 125},
              {"(n + BLOCK - 1) / BLOCK", 8},
              {"2 * n / 16", 125},
              {"2 * n / 300 + 1", 0},
              {"n // BLOCK", 7},
              {"n % BLOCK", 104},
              {"1+2*3", 7},
              {"(1+2)*3", 9},
              {"10-3-2", 5},
              {"100/5/2", 10},
              {"-negative", 7},
              {"--3", 3},
              {"+4", 4},
              {"min(n, BLOCK)", 128},
              {"max(n, BLOCK, )", 0},
              {"max(n, BLOCK)", 1000},
              {"min_rows", 3},
              {"0x10", 16},
              {"cdiv(negative, 2) + 4", 1}, // -3.5 goes up to -3
              {"negative // 2 + 4", 1},     // and toward zero
              {"negative % 4 + 4", 1},
              {"cdiv(min(n, M), max(1, zero))", 50},
              {"2147483647", 2147483647}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    uint32_t grid[3];
    bool ok = eval(rows[i].text, grid);
    ck_assert_msg(ok == (rows[i].x != 0), "%s", rows[i].text);
    if (!ok)
      session_error();
    else
      ck_assert_msg(grid[0] == rows[i].x && grid[1] == 1 && grid[2] == 1, "%s: %u", rows[i].text,
                    grid[0]);
  }
}
END_TEST

START_TEST(three_axes) {
  uint32_t grid[3];
  ck_assert(eval("cdiv(n,BLOCK), M ,2*3", grid));
  ck_assert(grid[0] == 8 && grid[1] == 50 && grid[2] == 6);
}
END_TEST

static void refuse(const char *text, enum diag_code code) {
  uint32_t grid[3] = {77, 77, 77};
  ck_assert_msg(!eval(text, grid), "accepted: %s", text);
  ck_assert_msg(session_error() == code, "%s", text);
  ck_assert_uint_eq(grid[0], 77);
}

START_TEST(refused) {
  const char *const malformed[] = {"",
                                   " ",
                                   "n +",
                                   "(n",
                                   "n)",
                                   "1,,2",
                                   "1,2,3,4",
                                   "1,",
                                   "k",
                                   "cdiv(n)",
                                   "cdiv(n,1,2)",
                                   "ceil(n,1)",
                                   "n n",
                                   "1.5",
                                   "n / BLOCK",
                                   "1, n / 3",
                                   "12abc",
                                   "n / 0",
                                   "n % zero",
                                   "cdiv(n,0)",
                                   "huge + 1",
                                   "huge * 2",
                                   "-huge - 2",
                                   "$",
                                   "*3",
                                   "n ** 2",
                                   "99999999999999999999",
                                   "(-huge-1) / -1"};
  for (size_t i = 0; i < COUNT_OF(malformed); i++)
    refuse(malformed[i], E0724);
  const char *const range[] = {"0", "-1", "zero", "2147483648", "1,65536", "1,1,65536", "1,0"};
  for (size_t i = 0; i < COUNT_OF(range); i++)
    refuse(range[i], E0725);
}
END_TEST

START_TEST(nesting_is_limited) {
  static char text[200001];
  uint32_t grid[3];
  memset(text, '(', 100000);
  refuse(text, E0724);
  memset(text, '-', 100000); // no recursion for signs
  strcpy(text + 100000, "1");
  ck_assert(eval(text, grid));
  memset(text, '(', 200);
  text[200] = '1';
  memset(text + 201, ')', 200);
  text[401] = 0;
  ck_assert(eval(text, grid));
}
END_TEST

START_TEST(carets) {
  uint32_t grid[3];
  ck_assert(!eval("cdiv(n, BLCK)", grid));
  session_expect("command line:1:9: error: unknown name `BLCK` [E0724]\n"
                 " 1 | cdiv(n, BLCK)\n"
                 "   |         ^~~~\n"
                 "   = help: did you mean `BLOCK`?\n");
  ck_assert(!eval("n // (M - 50)", grid));
  session_expect("command line:1:3: error: division by zero [E0724]\n"
                 " 1 | n // (M - 50)\n"
                 "   |   ^~\n");
  ck_assert(!eval("1, M * 2000", grid));
  session_expect("command line:1:4: error: a grid of 100000 programs along axis 1 [E0725]\n"
                 " 1 | 1, M * 2000\n"
                 "   |    ^~~~~~~~\n"
                 "   = help: at most 65535 programs are possible along this axis\n");
}
END_TEST

// What is known is computed, the rest becomes calls; `n` and `M` are arguments of the C program.
START_TEST(expressions_in_c) {
  static const char *const codes[] = {"(int64_t)n", NULL, "(int64_t)M", NULL, NULL, NULL, NULL};
  static const struct grid_names mixed = {names, values, COUNT_OF(names), codes};
  static const struct {
    const char *text, *x;
  } rows[] = {
      {"3", "(int64_t)3"},
      {"BLOCK*2-1", "(int64_t)255"},
      {"n", "(int64_t)n"},
      {"cdiv(n, BLOCK)", "tile_grid_cdiv((int64_t)n, (int64_t)128, &tile_failed)"},
      {"-n", "tile_grid_sub((int64_t)0, (int64_t)n, &tile_failed)"},
      {"n % M", "tile_grid_mod((int64_t)n, (int64_t)M, &tile_failed)"},
      {"min(n, 1) + 2", "tile_grid_add(tile_grid_min((int64_t)n, (int64_t)1, &tile_failed), "
                        "(int64_t)2, &tile_failed)"},
      {"n * 5000000000", "tile_grid_mul((int64_t)n, ((int64_t)5 * 1000000000 + 0), &tile_failed)"},
      {"n / (BLOCK - 128)", NULL},
      {"n + huge * 2", NULL},
      {"N", NULL},
      {"1, 65536", NULL},
      {"n, 0", NULL},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    const char *grid[3];
    bool ok = grid_expr_to_c(session.a, session.diag, session_text(rows[i].text), &mixed, grid);
    ck_assert_msg(ok == (rows[i].x != NULL), "%s", rows[i].text);
    if (!ok) {
      session_error();
      continue;
    }
    ck_assert_str_eq(grid[0], rows[i].x);
    ck_assert_str_eq(grid[1], "(int64_t)1");
    ck_assert_str_eq(grid[2], "(int64_t)1");
  }
}
END_TEST

TCase *grid_expr_tests(void) {
  TCase *t = tcase_create("grid_expr");
  tcase_add_checked_fixture(t, session_setup, session_teardown);
  tcase_add_test(t, values_of_expressions);
  tcase_add_test(t, three_axes);
  tcase_add_test(t, refused);
  tcase_add_test(t, nesting_is_limited);
  tcase_add_test(t, carets);
  tcase_add_test(t, expressions_in_c);
  return t;
}
