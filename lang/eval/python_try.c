// SPDX-License-Identifier: Apache-2.0
// Exceptions of host code: `raise`, imports within functions, and `try`, whose handlers run where
// it is known which exception its block raises. What is not known stays an error.
//
// Recursion is the algorithm: a `try` holds statements (lang/eval/eval.h).
#include "lang/eval/import.h"
#include "lang/eval/outer.h"
#include "lang/eval/python.h"

struct value host_raise(struct eval *e, struct span at, const char *exception, const char *text) {
  eval_error(e, at, e->purpose->code, "%s needs %s, which raises %s", e->purpose->what, text,
             exception);
  e->raised = exception;
  return VALUE_ERROR;
}

void python_unread(struct eval *e, const struct stmt *s) {
  bool raises = s->unsupported && strcmp(s->unsupported, "raise") == 0;
  struct diag *d =
      eval_error(e, s->span, e->purpose->code,
                 raises ? "%s ends in an exception" : "%s needs a statement that is not evaluated",
                 e->purpose->what);
  if (!raises && e->purpose->code == E0460)
    diag_help(d, "only Python can run it; give the parameters by `-D NAME=...`");
  e->raised = raises ? s->exception : NULL;
}

// ---- imports ----

bool host_may_import(struct eval *e, const struct ast_import *im) {
  if (!e->attempts)
    return true;
  const char *text = arena_printf(e->a, "the import of `%s`", im->module);
  switch (import_exists(e, e->frame->module, im)) {
  case IMPORT_FOUND: return true;
  case IMPORT_NO_MODULE: host_raise(e, im->span, "ModuleNotFoundError", text); return false;
  case IMPORT_NO_NAME: host_raise(e, im->span, "ImportError", text); return false;
  case IMPORT_UNKNOWN: break;
  }
  eval_error(e, im->span, e->purpose->code, "%s needs to know whether `%s` has `%s`",
             e->purpose->what, im->module, im->name);
  return false;
}

// ---- try ----

static void run(struct eval *e, const struct stmt_list *body) {
  struct seq seq = {.list = body};
  eval_seq(e, &seq);
}

// The handler of the exception that stopped the block; NULL: none catches it, or it is not known.
static const struct try_handler *handler_of(const struct eval *e, const struct stmt *s) {
  for (size_t i = 0; e->stopped && e->raised && i < s->try_stmt.count; i++)
    if (outer_catches(&s->try_stmt.handlers[i].catches, e->raised))
      return &s->try_stmt.handlers[i];
  return NULL;
}

static bool has_left(const struct eval *e) {
  struct value skip = e->frame->flow->skip->value;
  return skip.kind == VALUE_BOOL && skip.b;
}

void python_attempt(struct eval *e, const struct stmt *s) {
  struct diag_engine *diag = e->diag;
  struct map reported = e->reported;
  e->diag = diag_engine_create(e->a);
  e->reported = (struct map){0};
  e->attempts++;
  run(e, &s->try_stmt.body);
  e->attempts--;
  const struct try_handler *h = handler_of(e, s);
  struct diag_engine *own = e->diag;
  e->diag = diag;
  e->reported = reported;
  if (h) {
    e->stopped = false;
    if (h->name)
      scope_assign(e, h->name, s->span, host_opaque(e, e->raised));
    e->raised = NULL;
    run(e, &h->body);
  } else {
    diag_add_all(e->diag, own);
    if (!e->stopped && !has_left(e))
      run(e, &s->try_stmt.orelse);
  }
  if (!e->stopped && !has_left(e))
    run(e, &s->try_stmt.last);
}

// ---- elements of what is not known ----

// The environment is empty. Python is 3.10 or newer, as Triton demands.
bool python_item(struct eval *e, const struct expr *x, const struct opaque *o, struct value *ret) {
  const struct expr *item = x->subscript.items.at[0];
  if (strcmp(o->path, "os.environ") == 0 && e->attempts)
    return *ret = host_raise(e, x->span, "KeyError", "a variable of the environment"), true;
  if (strcmp(o->path, PYTHON_VERSION) != 0)
    return false;
  if (item->kind == EXPR_SLICE && !item->slice.lo && !item->slice.step)
    return *ret = (struct value){.kind = VALUE_OPAQUE, .opaque = o}, true;
  if (item->kind == EXPR_INT && item->integer.value == 0)
    return *ret = value_int(3), true;
  return false;
}
