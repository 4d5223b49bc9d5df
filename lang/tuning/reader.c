// SPDX-License-Identifier: Apache-2.0
// Evaluates the decorators of a kernel.
#include "lang/tuning/reader.h"

#include "lang/builtins/builtins.h"

#include <ctype.h>

void reader_open(struct reader *r, struct arena *a, struct diag_engine *diag,
                 const struct lang_tuning_source *s, enum diag_code code, const char *what) {
  const struct lang_unit *u = s->unit;
  // A copy: the compilation finds the imports again.
  *r = (struct reader){.kernel = s->kernel, .imports = lang_unit_imports(a, u)};
  bool is_gpu = u->target && strncmp(u->target, "sm_", 3) == 0;
  r->options = (struct lang_options){.kernel = s->kernel->name,
                                     .target = is_gpu ? u->target : "sm_80",
                                     .num_warps = 4,
                                     .imports = &r->imports};
  r->purpose = (struct purpose){.code = code, .what = what};
  r->frame = (struct frame){.module = u->tree};
  r->autotune.v = value_of_kind(VALUE_ABSENT);
  r->e = (struct eval){.a = a,
                       .diag = diag,
                       .options = &r->options,
                       .module = u->tree,
                       .frame = &r->frame,
                       .on = &python_dialect,
                       .outer_on = &python_dialect,
                       .purpose = &r->purpose,
                       .rows = builtin_table,
                       .row_count = builtin_table_len,
                       .errors = diag_error_count(diag)};
}

static const char *last_word(const struct expr *e) {
  if (e->kind == EXPR_CALL)
    e = e->call.callee;
  return e->kind == EXPR_ATTRIBUTE ? e->attribute.name : e->kind == EXPR_NAME ? e->name : "";
}

bool reader_is_decorator(const struct expr *e, const char *name) {
  return e->kind == EXPR_CALL && strcmp(last_word(e), name) == 0;
}

// @heuristics may be given several times; of several @autotune the outermost counts.
bool reader_read(struct reader *r) {
  for (size_t i = 0; i < r->kernel->decorators.len; i++) {
    const struct expr *x = r->kernel->decorators.at[i];
    bool is_autotune = reader_is_decorator(x, "autotune");
    if (!is_autotune && !reader_is_decorator(x, "heuristics"))
      continue;
    struct operand v = {eval_expr(&r->e, x), x->span};
    if (!need_known(&r->e, v) || r->e.stopped)
      return false;
    if (!is_autotune)
      vec_push(r->e.a, &r->heuristics, v);
    else if (r->autotune.v.kind == VALUE_ABSENT)
      r->autotune = v;
  }
  return true;
}

struct value reader_autotune(const struct reader *r, enum host_autotune_field field) {
  return r->autotune.v.tuple.at[field];
}

// The value in the syntax of -D; false, and reported, if it has none.
bool reader_text(struct eval *e, struct value v, const char *name, struct span at,
                 const char **ret) {
  struct strbuf b = {.arena = e->a};
  struct value back;
  if (value_is_const(v))
    const_format(e, v, true, &b);
  *ret = arena_strdup(e->a, strbuf_cstr(&b));
  strbuf_finish(&b);
  if (const_parse(e->a, str_from(*ret), &back) && back.kind == v.kind &&
      (v.kind != VALUE_TUPLE || const_equal(back, v)))
    return true;
  struct diag *d = eval_error(e, at, E0462, "%s is no value for `%s`", value_describe(e, v), name);
  diag_help(d, "a number, True, False, None, a type, a string, or a tuple of these");
  return false;
}

bool reader_has_param(const struct ast_function *f, const char *name) {
  for (size_t i = 0; i < f->param_count; i++)
    if (strcmp(f->params[i].name, name) == 0)
      return true;
  return false;
}

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

struct span reader_word(struct span at, struct span otherwise, const char *name) {
  size_t n = strlen(name);
  const char *text = at.source ? at.source->text.ptr : NULL;
  for (size_t i = at.begin; text && i + n <= at.end; i++)
    if (memcmp(text + i, name, n) == 0 && (i == at.begin || !is_word_char(text[i - 1])) &&
        (i + n == at.end || !is_word_char(text[i + n])))
      return (struct span){at.source, (uint32_t)i, (uint32_t)(i + n)};
  return otherwise;
}

void reader_help_param(struct reader *r, struct diag *d, const char *name, struct span word) {
  const struct ast_function *f = r->kernel;
  const char **names = arena_array(r->e.a, const char *, f->param_count + 1);
  for (size_t i = 0; i < f->param_count; i++)
    names[i] = f->params[i].name;
  const char *near = str_nearest(str_from(name), names, f->param_count);
  struct strbuf list = {.arena = r->e.a};
  for (size_t i = 0; i < f->param_count; i++)
    strbuf_printf(&list, "%s`%s`", i ? ", " : "", names[i]);
  if (!near)
    diag_help(d, "its parameters are %s", f->param_count ? strbuf_cstr(&list) : "none");
  else if (word.source)
    diag_did_you_mean(d, word, near);
  else
    diag_help(d, "did you mean `%s`?", near);
  strbuf_finish(&list);
}

bool reader_unknown_param(struct reader *r, const char *name, struct span at) {
  struct diag *d =
      eval_error(&r->e, at, E0462, "the kernel `%s` has no parameter `%s`", r->kernel->name, name);
  bool is_word = at.source && at.end - at.begin == strlen(name);
  reader_help_param(r, d, name, is_word ? at : SPAN_NONE);
  return false;
}
