// SPDX-License-Identifier: Apache-2.0
// Opening, running and printing a module for the tests of passes.
#include "pass_session.h"

#include "assertions.h"

struct pass_session pass_session_open(const char *text) {
  struct pass_session s = {.arena = arena_create()};
  s.diag = diag_engine_create(s.arena);
  struct ir_context *c = ir_context_create(s.arena, s.diag);
  ck_assert_ptr_nonnull(c);
  MlirModule m = ir_parse(c, "test.mlir", str_from(text));
  ck_assert_msg(!mlirModuleIsNull(m) && ir_verify(c, mlirModuleGetOperation(m)), "%s",
                diag_first_error(s.diag));
  s.context = (struct pass_context){.c = c,
                                    .module = m,
                                    .target = target_find(STR("sm_90a")),
                                    .num_warps = 4,
                                    .num_stages = 3,
                                    .scratch = arena_create()};
  return s;
}

void pass_session_replace(struct pass_session *s, MlirModule m) {
  mlirModuleDestroy(s->context.module);
  arena_destroy(s->context.scratch);
  s->context.scratch = arena_create();
  s->context.module = m;
}

void pass_session_close(struct pass_session *s) {
  mlirModuleDestroy(s->context.module);
  ir_context_destroy(s->context.c);
  arena_destroy(s->context.scratch);
  arena_destroy(s->arena);
  strbuf_finish(&s->log);
}

bool pass_session_run(struct pass_session *s, struct pass_options options, bool *ret_stopped) {
  bool stopped = false;
  options.log = &s->log;
  bool ok = passes_run(&s->context, &options, &stopped);
  if (ret_stopped)
    *ret_stopped = stopped;
  return ok;
}

char *pass_session_text(struct pass_session *s) {
  struct strbuf b = {0};
  ir_print(mlirModuleGetOperation(s->context.module), false, &b);
  char *text = arena_strdup(s->arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

struct search {
  struct ir_context *c;
  enum op_id id;
  unsigned left;
  MlirOperation found;
};

static bool count_down(MlirOperation op, void *user) {
  struct search *s = user;
  if (op_is(s->c, op, s->id) && s->left-- == 0)
    s->found = op;
  return true;
}

MlirOperation pass_session_op(const struct pass_session *s, enum op_id id, unsigned n) {
  struct search search = {s->context.c, id, n, {NULL}};
  ir_walk(mlirModuleGetOperation(s->context.module), count_down, &search);
  ck_assert_msg(!mlirOperationIsNull(search.found), "no op %u of kind %s", n, op_info(id)->name);
  return search.found;
}
