// SPDX-License-Identifier: Apache-2.0
// Runs parser and emitter on a text.
#include "emitted.h"

#include "suites_emit.h"

static size_t read_defines(struct arena *a, const char *defines, struct lang_binding *b,
                           size_t cap) {
  size_t n = 0;
  struct str rest = str_from(defines);
  while (defines && rest.len && n < cap) {
    struct str word, name;
    rest = str_split(rest, ' ', &word);
    struct str value = str_split(word, '=', &name);
    b[n++] = (struct lang_binding){.name = arena_strndup(a, name.ptr, name.len),
                                   .kind = BIND_CONSTANT,
                                   .divisible_by = 1,
                                   .text = arena_strndup(a, value.ptr, value.len)};
    if (!rest.ptr)
      break;
  }
  return n;
}

struct emitted emit_text(struct str text, const char *kernel, const char *defines) {
  struct emitted r = {0};
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct ir_context *c = ir_context_create(a, diag);
  ck_assert_ptr_nonnull(c);
  struct source *source = source_create(a, "test.tile", text);
  map_put(a, &c->sources, STR("test.tile"), source);
  struct lang_binding bindings[8];
  struct lang_options o = {.kernel = kernel,
                           .bindings = bindings,
                           .binding_count = read_defines(a, defines, bindings, 8),
                           .target = "sm_90a",
                           .num_warps = 4,
                           .debug = true,
                           .static_print = &r.printed};
  const struct lang_unit *m = lang_unit_read(a, diag, source);
  MlirModule ir = {NULL};
  if (m && diag_error_count(diag) == 0)
    ir = lang_emit(c, m, &o);
  r.ok = !mlirModuleIsNull(ir);
  r.errors = diag_error_count(diag);
  ck_assert(r.ok == (r.errors == 0));
  diag_render_text(diag, (struct diag_style){.remarks = true}, &r.messages);
  if (r.ok) {
    ir_print(mlirModuleGetOperation(ir), false, &r.ir);
    mlirModuleDestroy(ir);
  }
  ir_context_destroy(c);
  arena_destroy(a);
  return r;
}

void emitted_free(struct emitted *r) {
  strbuf_finish(&r->ir);
  strbuf_finish(&r->messages);
  strbuf_finish(&r->printed);
}

struct emitted emit_good(const char *text) {
  struct emitted r = emit_text(str_from(text), NULL, NULL);
  ck_assert_msg(r.ok, "%s\n%s", text, strbuf_cstr(&r.messages));
  return r;
}

void check_error(const char *text, const char *code) {
  struct emitted r = emit_text(str_from(text), NULL, NULL);
  char quoted[16];
  snprintf(quoted, sizeof quoted, "[%s]", code);
  ck_assert_msg(strstr(strbuf_cstr(&r.messages), quoted) != NULL, "%s\nexpected %s\n%s", text, code,
                strbuf_cstr(&r.messages));
  emitted_free(&r);
}

void check_ir(const char *text, size_t n, const char *const *pieces) {
  struct emitted r = emit_good(text);
  const char *at = strbuf_cstr(&r.ir);
  for (size_t i = 0; i < n; i++) {
    const char *found = strstr(at, pieces[i]);
    ck_assert_msg(found != NULL, "%s\nno `%s` in\n%s", text, pieces[i], at);
    at = found + strlen(pieces[i]);
  }
  emitted_free(&r);
}
