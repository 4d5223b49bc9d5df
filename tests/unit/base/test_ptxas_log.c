// SPDX-License-Identifier: Apache-2.0
// Which messages of ptxas are problems of wgmma and setmaxnreg.
#include "base/ptxas_log.h"
#include "suites.h"

START_TEST(problems) {
  static const char *const logs[][2] = {
      {"", ""},
      {"ptxas info    : Used 255 registers", ""},
      {"(C7)", ""},
      {"warning (C7499) x", ""},
      {"warning (C7600) x", ""},
      {"(C75x0) (C751) C7510", ""},
      {"ptxas info : (C7519) arrive is injected", "(C7519) arrive is injected"},
      {"first\nsecond (C7500) a \nthird (C7599) b", "(C7500) a"},
      {"x (C7599)", "(C7599)"},
  };
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
    ck_assert_msg(str_is(ptxas_log_problem(str_from(logs[i][0])), logs[i][1]), "%s", logs[i][0]);
}
END_TEST

TCase *ptxas_log_tests(void) {
  TCase *t = tcase_create("ptxas_log");
  tcase_add_test(t, problems);
  return t;
}
