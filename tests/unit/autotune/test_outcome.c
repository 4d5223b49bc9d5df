// SPDX-License-Identifier: Apache-2.0
// Names of outcomes, which are stored in files: they never change and are distinct.
#include "autotune/worker/worker.h"
#include "suites.h"

START_TEST(words_are_those_of_files) {
  ck_assert_str_eq(tune_outcome_name(TUNE_MEASURED), "measured");
  ck_assert_str_eq(tune_outcome_name(TUNE_PRUNED), "pruned");
  ck_assert_str_eq(tune_outcome_name(TUNE_BAD_BUILD), "build failed");
  ck_assert_str_eq(tune_outcome_name(TUNE_TIMEOUT), "timeout");
  ck_assert_str_eq(tune_outcome_name(TUNE_WRONG), "wrong");
  ck_assert_str_eq(tune_outcome_name(TUNE_SPILLS), "spills registers");
  for (int i = 0; i <= TUNE_MEASURED; i++)
    for (int j = 0; j < i; j++)
      ck_assert_str_ne(tune_outcome_name((enum tune_outcome)i),
                       tune_outcome_name((enum tune_outcome)j));
}
END_TEST

Suite *outcome_suite(void) {
  Suite *s = suite_create("outcome");
  TCase *t = tcase_create("words");
  tcase_add_test(t, words_are_those_of_files);
  suite_add_tcase(s, t);
  return s;
}
