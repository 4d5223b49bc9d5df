// SPDX-License-Identifier: Apache-2.0
// Printed IR parses back to the same module, with and without locations.
#include "suites.h"

static void check_round_trip(bool debug_info) {
  struct session s = session_open();
  MlirModule m = every_op(s.c);
  struct strbuf first = {0}, second = {0};
  ir_print(mlirModuleGetOperation(m), debug_info, &first);
  ck_assert_msg(ir_verify(s.c, mlirModuleGetOperation(m)), "%s", diag_first_error(s.diag));

  // In another session, so that nothing is remembered.
  struct session t = session_open();
  MlirModule again = ir_parse(t.c, "dump.mlir", (struct str){first.ptr, first.len});
  ck_assert_msg(!mlirModuleIsNull(again), "%s", diag_first_error(t.diag));
  ck_assert(ir_verify(t.c, mlirModuleGetOperation(again)));
  ir_print(mlirModuleGetOperation(again), debug_info, &second);
  ck_assert_msg(strcmp(first.ptr, second.ptr) == 0, "the second text differs");
  mlirModuleDestroy(again);
  session_close(&t);

  strbuf_finish(&first);
  strbuf_finish(&second);
  mlirModuleDestroy(m);
  session_close(&s);
}

START_TEST(without_locations) { check_round_trip(false); }
END_TEST

START_TEST(with_locations) { check_round_trip(true); }
END_TEST

struct seen {
  struct ir_context *c;
  bool ids[OP_ID_COUNT];
};

static bool note(MlirOperation op, void *user) {
  struct seen *seen = user;
  seen->ids[op_id(seen->c, op)] = true;
  return true;
}

START_TEST(module_has_every_op) {
  struct session s = session_open();
  MlirModule m = every_op(s.c);
  struct seen seen = {.c = s.c};
  ir_walk(mlirModuleGetOperation(m), note, &seen);
  ck_assert_msg(!seen.ids[OP_UNKNOWN], "an op of the module is not in the table");
  for (enum op_id id = OP_UNKNOWN + 1; id < OP_ID_COUNT; id++)
    ck_assert_msg(seen.ids[id], "%s is missing", op_info(id)->name);
  mlirModuleDestroy(m);
  session_close(&s);
}
END_TEST

TCase *round_trip_tests(void) {
  TCase *t = tcase_create("round trip");
  tcase_add_test(t, without_locations);
  tcase_add_test(t, with_locations);
  tcase_add_test(t, module_has_every_op);
  return t;
}
