// SPDX-License-Identifier: Apache-2.0
// See axis_cases.h.
#include "axis_cases.h"

#include "mlir-dialects/build.h"

static MlirValue last_result(MlirOperation func) {
  MlirValue last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(func_entry(func)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirOperationGetNumResults(op) > 0)
      last = mlirOperationGetResult(op, 0);
  return last;
}

struct axis_session axis_session_open(const char *body) {
  struct axis_session s = {.a = arena_create()};
  struct diag_engine *diag = diag_engine_create(s.a);
  s.c = ir_context_create(s.a, diag);
  s.module = ir_parse(s.c, "test.mlir", str_from(arena_printf(s.a, "%s%s", PREAMBLE, body)));
  ck_assert_msg(!mlirModuleIsNull(s.module), "%.400s", diag_first_error(diag));
  s.watched = last_result(module_kernel(s.c, s.module));
  return s;
}

void axis_session_close(struct axis_session *s) {
  mlirModuleDestroy(s->module);
  ir_context_destroy(s->c);
  arena_destroy(s->a);
}

void check_axis_case(const struct axis_case *k) {
  struct axis_session s = axis_session_open(k->body);
  struct axis_analysis *x = axis_analyse(s.c, mlirModuleGetOperation(s.module), s.a);
  struct strbuf got = {0};
  axis_describe_value(x, s.watched, &got);
  ck_assert_msg(strcmp(strbuf_cstr(&got), k->want) == 0, "%s:\n  got  %s\n  want %s", k->name,
                strbuf_cstr(&got), k->want);
  strbuf_finish(&got);
  axis_session_close(&s);
}
