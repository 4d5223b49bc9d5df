// SPDX-License-Identifier: Apache-2.0
// Failures of the runtime as diagnostics and exit statuses.
#include "runtime/runtime_internal.h"
#include "suites.h"
#include "tools/launch/launch.h"

START_TEST(statuses) {
  static const struct {
    tile_status status;
    enum diag_code code;
    int exit_status;
  } rows[] = {{TILE_NO_DEVICE, E0810, EXIT_NO_DEVICE},
              {TILE_DRIVER_TOO_OLD, E0811, EXIT_NO_DEVICE},
              {TILE_OUT_OF_DEVICE_MEMORY, E0812, EXIT_LIMIT},
              {TILE_LAUNCH_FAILED, E0813, EXIT_WRONG},
              {TILE_INVALID_ARGUMENT, E0813, EXIT_WRONG},
              {TILE_OUT_OF_MEMORY, E0991, EXIT_LIMIT},
              {TILE_LIMIT, E0813, EXIT_LIMIT},
              {TILE_INTERNAL, E0990, EXIT_INTERNAL}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct tool t = {.arena = session.a, .diag = session.diag};
    status_set(rows[i].status, "the words of case %zu", i);
    ck_assert_int_eq(launch_failed(&t, SPAN_NONE, rows[i].status), rows[i].exit_status);
    ck_assert_str_eq(diag_first_error(session.diag), tile_error_message());
    ck_assert_msg(session_error() == rows[i].code, "status %d", (int)rows[i].status);
  }
  struct tool t = {.arena = session.a, .diag = session.diag};
  ck_assert_int_eq(launch_failed(&t, SPAN_NONE, TILE_OK), EXIT_DONE);
  ck_assert_uint_eq(diag_count(session.diag), 0);
}
END_TEST

TCase *launch_tests(void) {
  TCase *c = tcase_create("launch");
  tcase_add_checked_fixture(c, session_setup, session_teardown);
  tcase_add_test(c, statuses);
  return c;
}
