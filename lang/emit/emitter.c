// SPDX-License-Identifier: Apache-2.0
// Places and messages of the emitter: which text an operation belongs to, and errors that say
// through which calls they were reached.
#include "lang/emit/emitter.h"

#include "lang/emit/consteval.h"
#include "lang/host/host.h"

#include <stdio.h>

// The nearest frame whose text the user wrote.
static const struct frame *user_frame(const struct emitter *e, struct span *at) {
  const struct frame *f = e->frame;
  while (f && f->is_std) {
    *at = f->call_span;
    f = f->caller;
  }
  return f;
}

void emit_at(struct emitter *e, struct span at) {
  if (e->host)
    return;
  const struct frame *f = e->frame;
  if (f && f->is_std) {
    e->b.loc = f->call_loc;
    e->span = SPAN_NONE;
    return;
  }
  if (at.source == e->span.source && at.begin == e->span.begin && at.end == e->span.end)
    return;
  e->span = at;
  e->b.loc = loc_from_span(e->c, at);
  if (f && !mlirLocationIsNull(f->call_loc))
    e->b.loc = mlirLocationCallSiteGet(e->b.loc, f->call_loc);
}

static struct diag *report(struct emitter *e, bool is_error, struct span at, enum diag_code code,
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
  uint32_t last = UINT32_MAX; // a recursion is shown once
  unsigned shown = 0;
  for (; f && f->caller && shown < 4; f = f->caller) {
    bool is_lambda = f->function->name[0] == '<'; // stands where it is called
    if (f->is_std || is_lambda || !f->call_span.source || f->call_span.begin == last)
      continue;
    last = f->call_span.begin;
    shown++;
    diag_note(d, f->call_span, "in the call of `%s`", f->function->name);
  }
  return d;
}

struct diag *emit_error(struct emitter *e, struct span at, enum diag_code code, const char *fmt,
                        ...) {
  va_list ap;
  va_start(ap, fmt);
  struct diag *d = report(e, true, at, code, fmt, ap);
  e->stopped = e->stopped || e->host; // as Python does
  va_end(ap);
  return d;
}

struct diag *emit_warning(struct emitter *e, struct span at, enum diag_code code, const char *fmt,
                          ...) {
  va_list ap;
  va_start(ap, fmt);
  struct diag *d = report(e, false, at, code, fmt, ap);
  va_end(ap);
  return d;
}

void emit_remark(struct emitter *e, struct span at, const char *topic, const char *text) {
  user_frame(e, &at);
  const void *key = at.source ? at.source->text.ptr + at.begin : NULL;
  if (!key || ptrmap_get(&e->remarked, key))
    return;
  ptrmap_put(e->a, &e->remarked, key, e);
  diag_remark(e->diag, at, topic, "%s", text);
}

bool emit_enter(struct emitter *e, struct span at) {
  if (e->depth++ < EMIT_MAX_DEPTH)
    return true;
  struct diag *d = emit_error(
      e, at, E0307, "more than %d expressions and statements in each other after inlining",
      EMIT_MAX_DEPTH);
  diag_help(d, "name intermediate results; a function that calls itself needs a condition known at "
               "compile time that ends the recursion");
  e->depth--;
  return false;
}

const char *value_type_text(struct emitter *e, struct value v) {
  switch (v.kind) {
  case VALUE_RT: return type_text(e->a, v.type);
  case VALUE_INT: return "int";
  case VALUE_FLOAT: return "float";
  case VALUE_BOOL: return "bool";
  case VALUE_NONE: return "None";
  case VALUE_STR: return "str";
  case VALUE_TYPE: return "type";
  case VALUE_CLASS: return "class";
  case VALUE_TUPLE: {
    if (v.tuple.record)
      return record_name(v.tuple.record);
    struct strbuf b = {.arena = e->a};
    strbuf_putc(&b, '(');
    for (size_t i = 0; i < v.tuple.len && i < 8; i++)
      strbuf_printf(&b, "%s%s", i ? ", " : "", value_type_text(e, v.tuple.at[i]));
    strbuf_puts(&b, v.tuple.len > 8 ? ", ...)" : ")");
    const char *r = arena_strdup(e->a, strbuf_cstr(&b));
    strbuf_finish(&b);
    return r;
  }
  case VALUE_FUNC:
  case VALUE_BUILTIN:
  case VALUE_BOUND: return "function";
  case VALUE_MODULE:
  case VALUE_FILE: return "module";
  case VALUE_RANGE: return "range";
  case VALUE_SLICE: return "slice";
  case VALUE_OPAQUE: return "unknown";
  case VALUE_ABSENT: return "nothing";
  case VALUE_POISON: return "an error";
  }
  return "?";
}

const char *value_describe(struct emitter *e, struct value v) {
  switch (v.kind) {
  case VALUE_INT:
  case VALUE_FLOAT:
  case VALUE_BOOL:
  case VALUE_STR: {
    struct strbuf b = {.arena = e->a};
    const_format(e, v, true, &b);
    const char *r = arena_printf(e->a, "`%s`", strbuf_cstr(&b));
    strbuf_finish(&b);
    return r;
  }
  case VALUE_NONE: return "`None`";
  case VALUE_TYPE: return arena_printf(e->a, "the type %s", type_text(e->a, v.type));
  case VALUE_TUPLE:
    return arena_printf(e->a, v.tuple.record ? "a %s" : "the tuple %s", value_type_text(e, v));
  case VALUE_CLASS: return arena_printf(e->a, "the class `%s`", record_name(v.class));
  case VALUE_FUNC: return arena_printf(e->a, "the function `%s`", v.func->ast->name);
  case VALUE_BUILTIN: return arena_printf(e->a, "the function `%s`", v.builtin->name);
  case VALUE_BOUND:
    return arena_printf(e->a, "the method `%s`",
                        v.bound.func ? v.bound.func->ast->name : v.bound.builtin->name);
  case VALUE_MODULE:
  case VALUE_FILE: return "a module";
  case VALUE_RANGE: return "a range";
  case VALUE_SLICE: return "a slice";
  case VALUE_OPAQUE: return arena_printf(e->a, "`%s`", v.opaque->path);
  case VALUE_RT:
  case VALUE_ABSENT:
  case VALUE_POISON: return value_type_text(e, v);
  }
  return "?";
}
