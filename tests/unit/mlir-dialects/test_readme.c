// SPDX-License-Identifier: Apache-2.0
// The op reference names every op of the table.
#include "base/file.h"
#include "suites.h"

START_TEST(every_op_is_documented) {
  struct arena *a = arena_create();
  struct str text;
  ck_assert_int_eq(file_read(a, DIALECTS_README, 1u << 20, &text), 0);
  for (enum op_id id = OP_UNKNOWN + 1; id < OP_ID_COUNT; id++)
    ck_assert_msg(strstr(text.ptr, arena_printf(a, "`%s`", op_info(id)->name)) != NULL,
                  "mlir-dialects/README.md lacks %s", op_info(id)->name);
  arena_destroy(a);
}
END_TEST

TCase *readme_tests(void) {
  TCase *t = tcase_create("readme");
  tcase_add_test(t, every_op_is_documented);
  return t;
}
