// SPDX-License-Identifier: Apache-2.0
// Runs all suites of mlir-dialects/.
#include "suites.h"

#include <stdlib.h>

struct session session_open(void) {
  struct session s = {.arena = arena_create()};
  ck_assert_ptr_nonnull(s.arena);
  s.diag = diag_engine_create(s.arena);
  s.c = ir_context_create(s.arena, s.diag);
  ck_assert_msg(s.c != NULL, "%s", diag_first_error(s.diag));
  return s;
}

void session_close(struct session *s) {
  ir_context_destroy(s->c);
  arena_destroy(s->arena);
}

int main(void) {
  Suite *s = suite_create("mlir-dialects");
#define X(name) suite_add_tcase(s, name##_tests());
  SUITES(X)
#undef X
  SRunner *runner = srunner_create(s);
  srunner_set_fork_status(runner, CK_NOFORK); // no test crashes on purpose; LeakSanitizer sees all
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
