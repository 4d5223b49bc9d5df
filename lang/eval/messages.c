// SPDX-License-Identifier: Apache-2.0
// Errors with the chain of calls that led to them.
#include "lang/eval/consteval.h"
#include "lang/eval/objects.h"

#include <ctype.h>
#include <stdio.h>

// The innermost frame of user code.
static const struct frame *user_frame(const struct eval *e, struct span *at) {
  const struct frame *f = e->frame;
  while (f && f->is_std) {
    *at = f->call_span;
    f = f->caller;
  }
  return f;
}

static struct diag *report(struct eval *e, bool is_error, struct span at, enum diag_code code,
                           const char *fmt, va_list ap) {
  const struct frame *f = user_frame(e, &at);
  if (at.source) {
    const void *key = at.source->text.ptr + at.begin;
    if ((uintptr_t)ptrmap_get(&e->reported, key) == (uintptr_t)code + 1)
      return NULL;
    ptrmap_put(e->a, &e->reported, key, (void *)((uintptr_t)code + 1));
  }
  const char *text = arena_vprintf(e->a, fmt, ap);
  struct diag *d = (is_error ? diag_error : diag_warning)(e->diag, at, code, "%s", text);
  uint32_t last = UINT32_MAX; // show a recursion once
  unsigned shown = 0;
  for (; f && f->caller && shown < 4; f = f->caller) {
    bool is_lambda = f->function->name[0] == '<'; // is written where it is called
    if (f->is_std || is_lambda || !f->call_span.source || f->call_span.begin == last)
      continue;
    last = f->call_span.begin;
    shown++;
    diag_note(d, f->call_span, "in the call of `%s`", f->function->name);
  }
  return d;
}

struct diag *eval_error(struct eval *e, struct span at, enum diag_code code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  struct diag *d = report(e, true, at, code, fmt, ap);
  e->stopped = e->stopped || e->on->stops_at_errors;
  va_end(ap);
  return d;
}

struct diag *eval_warning(struct eval *e, struct span at, enum diag_code code, const char *fmt,
                          ...) {
  va_list ap;
  va_start(ap, fmt);
  struct diag *d = report(e, false, at, code, fmt, ap);
  va_end(ap);
  return d;
}

void eval_remark(struct eval *e, struct span at, const char *topic, const char *text) {
  user_frame(e, &at);
  const void *key = at.source ? at.source->text.ptr + at.begin : NULL;
  if (!key || ptrmap_get(&e->remarked, key))
    return;
  ptrmap_put(e->a, &e->remarked, key, e);
  diag_remark(e->diag, at, topic, "%s", text);
}

// The function of `t = tl.store(...)`, from behind the `t`; empty: another statement.
static struct str called_function(struct span target) {
  struct str none = {NULL, 0}, line;
  if (!target.source)
    return none;
  struct str rest = {target.source->text.ptr + target.end, target.source->text.len - target.end};
  str_split(rest, '\n', &line);
  line = str_trim(line);
  if (!str_starts(line, "=") || line.ptr[line.len - 1] != ')')
    return none;
  line = str_trim((struct str){line.ptr + 1, line.len - 1});
  size_t n = 0;
  while (isalnum((unsigned char)line.ptr[n]) || line.ptr[n] == '_' || line.ptr[n] == '.')
    n++;
  return line.ptr[n] == '(' ? (struct str){line.ptr, n} : none;
}

bool eval_help_none(struct eval *e, struct diag *d, struct operand x) {
  if (x.v.kind != VALUE_NONE || e->on->is_static)
    return false;
  struct str text = {NULL, 0};
  if (x.at.source)
    text = (struct str){x.at.source->text.ptr + x.at.begin, x.at.end - x.at.begin};
  bool is_name = text.len > 0;
  for (size_t i = 0; i < text.len; i++)
    is_name = is_name && (isalnum((unsigned char)text.ptr[i]) || text.ptr[i] == '_');
  if (!is_name || str_is(text, "None"))
    return false;
  struct str function = {NULL, 0};
  struct map_entry m;
  for (size_t i = 0; map_next(&e->frame->variables, &i, &m);)
    if (str_is(text, ((struct variable *)m.value)->name))
      function = called_function(((struct variable *)m.value)->span);
  if (function.len) {
    diag_help(d, "`%.*s` returns nothing: leave out the use of `%.*s`", STR_ARG(function),
              STR_ARG(text));
    return true;
  }
  diag_help(d, "where `%.*s` may be None, use it only under `if %.*s is not None:`", STR_ARG(text),
            STR_ARG(text));
  return true;
}

bool eval_enter(struct eval *e, struct span at) {
  if (e->depth++ < EVAL_MAX_DEPTH)
    return true;
  struct diag *d =
      eval_error(e, at, E0307, "more than %d nested expressions and statements after inlining",
                 EVAL_MAX_DEPTH);
  diag_help(d, "name intermediate results; a function that calls itself needs a condition known at "
               "compile time that ends the recursion");
  e->depth--;
  return false;
}
