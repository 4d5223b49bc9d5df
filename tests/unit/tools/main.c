// SPDX-License-Identifier: Apache-2.0
// Runs all unit-test suites of tools/.
#include "suites.h"

#include <stdlib.h>

struct session session;

void session_setup(void) {
  session.a = arena_create();
  session.diag = diag_engine_create(session.a);
}

void session_teardown(void) { arena_destroy(session.a); }

struct span session_text(const char *text) {
  struct source *s = source_create(session.a, "command line", str_from(text));
  return (struct span){s, 0, (uint32_t)s->text.len};
}

enum diag_code session_error(void) {
  ck_assert_uint_eq(diag_error_count(session.diag), 1);
  enum diag_code code = diag_first_error_code(session.diag);
  session.diag = diag_engine_create(session.a);
  return code;
}

void session_expect(const char *want) {
  struct strbuf out = {0};
  diag_render_text(session.diag, (struct diag_style){0}, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
  session.diag = diag_engine_create(session.a);
}

int main(void) {
  Suite *s = suite_create("tools");
#define X(name) suite_add_tcase(s, name##_tests());
  SUITES(X)
#undef X
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
