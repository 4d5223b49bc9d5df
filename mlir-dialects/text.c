// SPDX-License-Identifier: Apache-2.0
// The IR as text: printing and parsing.
#include "base/limits.h"
#include "mlir-dialects/ir_internal.h"

#include <ctype.h>

void ir_print(MlirOperation op, bool debug_info, struct strbuf *out) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, debug_info, false);
  mlirOperationPrintWithFlags(op, flags, ir_print_callback, out);
  mlirOpPrintingFlagsDestroy(flags);
  strbuf_check(out);
  if (out->len && out->ptr[out->len - 1] != '\n')
    strbuf_putc(out, '\n');
}

// Skips blanks and comments.
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

// MLIR requires one op at the top. A file of bare functions is wrapped in a module; the prefix is
// added to its first line, so that line numbers do not change.
static struct str with_module(struct ir_context *c, struct str text) {
  struct str code = skip_comments(text);
  if (!str_starts(code, "func.func") && !str_starts(code, "\"func.func\""))
    return text;
  return str_from(arena_printf(c->arena, "module {%.*s\n}\n", STR_ARG(text)));
}

#define NESTING_LIMIT LIMIT_IR_NESTING

// The byte after the string or comment that begins at `at`, or `at` itself.
static size_t skip_opaque(struct str text, size_t at) {
  if (text.ptr[at] == '"') {
    size_t end = at + 1;
    while (end < text.len && text.ptr[end] != '"' && text.ptr[end] != '\n')
      end += text.ptr[end] == '\\' ? 2 : 1;
    return end + 1;
  }
  if (text.ptr[at] != '/' || at + 1 >= text.len || text.ptr[at + 1] != '/')
    return at;
  const char *line_end = memchr(text.ptr + at, '\n', text.len - at);
  return line_end ? (size_t)(line_end - text.ptr) : text.len;
}

// MLIR's parser recurses with the nesting of the text: the offset at which that is too deep, or the
// length.
static size_t too_deep_at(struct str text) {
  size_t depth = 0;
  for (size_t i = 0, next; i < text.len; i = next) {
    next = skip_opaque(text, i);
    if (next != i)
      continue;
    next = i + 1;
    char ch = text.ptr[i];
    bool opens = ch == '(' || ch == '[' || ch == '{' || ch == '<';
    bool arrow = ch == '>' && i > 0 && text.ptr[i - 1] == '-';
    bool closes = (ch == ')' || ch == ']' || ch == '}' || ch == '>') && !arrow;
    depth += opens;
    depth -= closes && depth > 0;
    if (depth > NESTING_LIMIT)
      return i;
  }
  return text.len;
}

#define RESULTS_LIMIT_DIGITS 5

// MLIR's parser allocates as many results as the N of `%r#N`: the offset of an N with too many
// digits, or the length.
static size_t too_many_results_at(struct str text) {
  for (size_t i = 0, next; i < text.len; i = next) {
    next = skip_opaque(text, i);
    if (next != i)
      continue;
    next = i + 1;
    char before = i > 0 ? text.ptr[i - 1] : ' ';
    bool is_name = isalnum((unsigned char)before) || (before && strchr("_$.-", before));
    if (text.ptr[i] != '#' || !is_name)
      continue;
    while (next < text.len && isdigit((unsigned char)text.ptr[next]))
      next++;
    if (next - i > RESULTS_LIMIT_DIGITS + 1)
      return i;
  }
  return text.len;
}

// Rejects text that MLIR's parser cannot handle. False with a diagnostic.
static bool check_limits(struct ir_context *c, const struct source *source) {
  size_t deep = too_deep_at(source->text), many = too_many_results_at(source->text);
  struct span at = {source, (uint32_t)deep, (uint32_t)deep + 1};
  if (deep < source->text.len) {
    diag_error(c->diag, at, E0601, "nested more than %d levels deep", NESTING_LIMIT);
    return false;
  }
  at = (struct span){source, (uint32_t)many, (uint32_t)many + 1};
  if (many < source->text.len)
    diag_error(c->diag, at, E0601, "no operation has so many results");
  return many == source->text.len;
}

static MlirModule module_of(struct ir_context *c, MlirOperation op) {
  if (op_is(c, op, OP_BUILTIN_MODULE))
    return mlirModuleFromOperation(op);
  diag_error(c->diag, op_span(c, op), E0601, "expected a `module` at the top, found `%.*s`",
             STR_ARG(str_of_ref(mlirIdentifierStr(mlirOperationGetName(op)))));
  mlirOperationDestroy(op);
  return (MlirModule){NULL};
}

MlirModule ir_parse(struct ir_context *c, const char *name, struct str text) {
  MlirModule none = {NULL};
  unsigned errors = diag_error_count(c->diag);
  text = with_module(c, text);
  if (text.len > SOURCE_MAX_BYTES) {
    diag_error(c->diag, SPAN_NONE, E0901, "`%s` is larger than %u MiB", name,
               SOURCE_MAX_BYTES >> 20);
    return none;
  }
  struct source *source = source_create(c->arena, name, text);
  map_put(c->arena, &c->sources, str_from(name), source);
  if (!check_limits(c, source))
    return none;
  MlirOperation op = mlirOperationCreateParse(
      c->mlir, mlirStringRefCreate(source->text.ptr, source->text.len), ref_of(name));
  if (!mlirOperationIsNull(op))
    return module_of(c, op);
  if (diag_error_count(c->diag) == errors)
    diag_error(c->diag, SPAN_NONE, E0601, "`%s` is not a module of IR", name);
  return none;
}
