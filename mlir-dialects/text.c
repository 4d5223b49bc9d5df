// SPDX-License-Identifier: Apache-2.0
// The IR as text: printing and parsing.
#include "mlir-dialects/ir_internal.h"

void ir_print(MlirOperation op, bool debug_info, struct strbuf *out) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, debug_info, false);
  mlirOperationPrintWithFlags(op, flags, ir_print_callback, out);
  mlirOpPrintingFlagsDestroy(flags);
  if (out->len && out->ptr[out->len - 1] != '\n')
    strbuf_putc(out, '\n');
}

// The text after blanks and comments.
static struct str skip_comments(struct str text) {
  for (;;) {
    struct str line;
    text = str_trim(text);
    if (!str_starts(text, "//"))
      return text;
    struct str rest = str_split(text, '\n', &line);
    if (!rest.ptr)
      return STR("");
    text = rest;
  }
}

// MLIR wants one op at the top. A file of bare functions is one module all the same; what is put
// before it stays on its first line, so that lines keep their numbers.
static struct str with_module(struct ir_context *c, struct str text) {
  struct str code = skip_comments(text);
  if (!str_starts(code, "func.func") && !str_starts(code, "\"func.func\""))
    return text;
  return str_from(arena_printf(c->arena, "module {%.*s\n}\n", STR_ARG(text)));
}

MlirModule ir_parse(struct ir_context *c, const char *name, struct str text) {
  MlirModule none = {NULL};
  unsigned errors = diag_error_count(c->diag);
  text = with_module(c, text);
  struct source *source = source_create(c->arena, name, text);
  map_put(c->arena, &c->sources, str_from(name), source);
  MlirOperation op = mlirOperationCreateParse(
      c->mlir, mlirStringRefCreate(source->text.ptr, source->text.len), ref_of(name));
  if (mlirOperationIsNull(op)) {
    if (diag_error_count(c->diag) == errors)
      diag_error(c->diag, SPAN_NONE, E0601, "`%s` is not a module of IR", name);
    return none;
  }
  if (op_is(c, op, OP_BUILTIN_MODULE))
    return mlirModuleFromOperation(op);
  diag_error(c->diag, op_span(c, op), E0601, "expected a `module` at the top, found `%.*s`",
             STR_ARG(str_of_ref(mlirIdentifierStr(mlirOperationGetName(op)))));
  mlirOperationDestroy(op);
  return none;
}
