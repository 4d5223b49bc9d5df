// SPDX-License-Identifier: Apache-2.0
// Evaluates guards at module level: conditions, and the statements of a `try`.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/outer.h"

#include "lang/eval/consteval.h"
#include "lang/eval/import.h"
#include "lang/eval/python.h"

struct eval *outer_evaluator(struct eval *e) {
  if (e->is_outer)
    return e;
  if (e->outer)
    return e->outer;
  struct eval *h = e->outer = arena_new(e->a, struct eval);
  struct purpose *purpose = arena_new(e->a, struct purpose);
  *purpose = (struct purpose){.code = E0314, .what = "this"};
  *h = (struct eval){.a = e->a,
                     .diag = diag_engine_create(e->a),
                     .options = e->options,
                     .module = e->module,
                     .on = e->outer_on,
                     .outer_on = e->outer_on,
                     .purpose = purpose,
                     .rows = e->rows,
                     .row_count = e->row_count,
                     .is_outer = true};
  return h;
}

struct outer_saved outer_begin(struct eval *h, const struct ast_module *m, uint32_t limit) {
  struct outer_saved saved = {h->frame,  h->diag,       h->reported, h->limited, h->limit,
                              h->errors, h->statements, h->stopped,  h->raised};
  h->frame = arena_new(h->a, struct frame); // lambdas may capture it
  *h->frame = (struct frame){.module = m};
  h->diag = diag_engine_create(h->a);
  h->reported = (struct map){0};
  h->limited = m;
  h->limit = limit;
  h->errors = h->statements = 0;
  h->stopped = false;
  h->raised = NULL;
  return saved;
}

void outer_end(struct eval *h, const struct outer_saved *saved) {
  h->frame = saved->frame;
  h->diag = saved->diag;
  h->reported = saved->reported;
  h->limited = saved->limited;
  h->limit = saved->limit;
  h->errors = saved->errors;
  h->statements = saved->statements;
  h->stopped = saved->stopped;
  h->raised = saved->raised;
}

// The outcome of an evaluation.
struct outcome {
  enum ast_guard_state state; // HOLDS: true, or done; FAILS: false, or an exception
  const char *why;            // UNDECIDED
  const char *exception;      // of a `try`, where it FAILS
};

static struct outcome undecided(const char *why) {
  return (struct outcome){.state = GUARD_UNDECIDED, .why = why};
}

// The value of an expression at module level. *ret is the exception or what is not known.
static bool evaluate(struct eval *h, const struct ast_module *m, const struct expr *x,
                     struct value *ret_value, struct outcome *ret) {
  struct outer_saved saved = outer_begin(h, m, x->span.begin);
  h->outer_why = NULL;
  struct value v = *ret_value = eval_expr(h, x);
  bool failed = diag_error_count(h->diag) > 0 || h->stopped || value_is_poison(v);
  enum diag_code code = diag_first_error_code(h->diag);
  const char *text = diag_error_count(h->diag) ? diag_first_error(h->diag) : NULL;
  bool is_language =
      v.kind == VALUE_OPAQUE && str_starts(str_from(v.opaque->path), "triton.language.");
  if (is_language && !strchr(v.opaque->path, '('))
    *ret = (struct outcome){.state = GUARD_FAILS, .exception = "AttributeError"};
  else if (v.kind == VALUE_OPAQUE)
    *ret = undecided(arena_printf(h->a, "needs `%s`, which is not known here", v.opaque->path));
  else if (failed && code == E0201)
    *ret = (struct outcome){.state = GUARD_FAILS,
                            .exception = x->kind == EXPR_NAME ? "NameError" : "AttributeError"};
  else if (failed)
    *ret = undecided(h->outer_why ? h->outer_why : text ? arena_strdup(h->a, text) : NULL);
  outer_end(h, &saved);
  return !failed && v.kind != VALUE_OPAQUE;
}

static struct outcome truth_of(struct eval *h, const struct ast_module *m, const struct expr *x) {
  struct value v;
  struct outcome r;
  bool truth;
  if (!evaluate(h, m, x, &v, &r)) {
    if (r.state != GUARD_FAILS)
      return r;
    return undecided("not known at compile time"); // a name that is not known here
  }
  if (!const_truth(v, &truth))
    return undecided("not known at compile time");
  return (struct outcome){.state = truth ? GUARD_HOLDS : GUARD_FAILS};
}

// ---- `try` ----

static struct outcome run_step(struct eval *h, const struct ast_module *m,
                               const struct ast_step *s) {
  static const struct outcome done = {.state = GUARD_HOLDS};
  struct outcome r;
  struct value v;
  switch (s->kind) {
  case STEP_IMPORT: {
    enum import_found found = import_exists(h, m, s->import);
    if (found == IMPORT_FOUND)
      return done;
    if (found == IMPORT_UNKNOWN)
      return undecided(arena_printf(h->a, "whether `%s` has `%s` is not known here",
                                    s->import->module, s->import->name));
    return (struct outcome){.state = GUARD_FAILS,
                            .exception =
                                found == IMPORT_NO_NAME ? "ImportError" : "ModuleNotFoundError"};
  }
  case STEP_VALUE: return evaluate(h, m, s->value, &v, &r) ? done : r;
  case STEP_ASSERT:
    r = truth_of(h, m, s->value);
    r.exception = "AssertionError";
    return r;
  case STEP_RAISE:
    if (!s->exception)
      return undecided("which exception this raises is not known here");
    return (struct outcome){.state = GUARD_FAILS, .exception = s->exception};
  case STEP_HOST: break;
  }
  return undecided("whether this statement fails is not known here");
}

static struct outcome run_steps(struct eval *h, const struct ast_module *m, const struct ast_try *t,
                                size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct ast_step *s = &t->steps[i];
    enum ast_guard_state runs = outer_state(h, m, s->guard);
    if (runs == GUARD_FAILS)
      continue;
    if (runs == GUARD_UNDECIDED)
      return undecided(s->guard->why);
    struct outcome r = run_step(h, m, s);
    if (r.state != GUARD_HOLDS)
      return r;
  }
  return (struct outcome){.state = GUARD_HOLDS};
}

bool outer_catches(const struct ast_handler *h, const char *exception) {
  bool is_import = strcmp(exception, "ModuleNotFoundError") == 0;
  for (size_t i = 0; i < h->count; i++)
    if (strcmp(h->names[i], exception) == 0 || strcmp(h->names[i], "Exception") == 0 ||
        strcmp(h->names[i], "BaseException") == 0 ||
        (is_import && strcmp(h->names[i], "ImportError") == 0))
      return true;
  return h->count == 0;
}

static struct outcome try_state(struct eval *h, const struct ast_module *m,
                                const struct ast_guard *g) {
  const struct ast_try *t = g->attempt;
  struct outcome r = run_steps(h, m, t, g->wanted ? g->steps : t->step_count);
  if (g->wanted || r.state == GUARD_UNDECIDED)
    return r;
  bool is_taken = false;
  for (size_t i = 0; r.state == GUARD_FAILS && !is_taken && i <= g->handler; i++)
    is_taken = outer_catches(&t->handlers[i], r.exception) && i == g->handler;
  for (size_t i = 0; is_taken && i < g->handler; i++)
    is_taken = !outer_catches(&t->handlers[i], r.exception);
  r.state = is_taken ? GUARD_HOLDS : GUARD_FAILS;
  return r;
}

// ---- guards ----

static struct outcome own_state(struct eval *h, const struct ast_module *m,
                                const struct ast_guard *g) {
  struct outcome r;
  switch (g->kind) {
  case GUARD_IF:
    r = truth_of(h, m, g->condition);
    if (!g->wanted && r.state != GUARD_UNDECIDED)
      r.state = r.state == GUARD_HOLDS ? GUARD_FAILS : GUARD_HOLDS;
    return r;
  case GUARD_TRY: return try_state(h, m, g);
  case GUARD_HOST: break;
  }
  return undecided(g->what);
}

enum ast_guard_state outer_state(struct eval *e, const struct ast_module *m, struct ast_guard *g) {
  if (!g)
    return GUARD_HOLDS;
  if (g->state == GUARD_BUSY) // a condition that depends on a name bound under it
    return GUARD_UNDECIDED;
  if (g->state != GUARD_OPEN)
    return g->state;
  g->state = GUARD_BUSY;
  struct eval *h = outer_evaluator(e);
  enum ast_guard_state around = outer_state(h, m, g->outer);
  struct outcome own = {.state = GUARD_FAILS};
  if (around != GUARD_FAILS)
    own = own_state(h, m, g);
  g->why = own.why;
  g->state = own.state == GUARD_HOLDS ? around : own.state;
  return g->state;
}

// ---- all guards of a file ----

// As the parser left it.
static void reopen(struct ast_guard *g) {
  for (; g && g->state != GUARD_OPEN; g = g->outer) {
    g->state = GUARD_OPEN;
    for (size_t i = 0; g->attempt && i < g->attempt->step_count; i++)
      reopen(g->attempt->steps[i].guard);
  }
}

typedef void (*guard_fn)(struct eval *e, struct ast_module *m, struct ast_guard *g);

static void each_guard(struct eval *e, struct ast_module *m, guard_fn f) {
  for (size_t i = 0; i < m->import_count; i++)
    f(e, m, m->imports[i].guard);
  for (size_t i = 0; i < m->constant_count; i++)
    f(e, m, m->constants[i].guard);
  for (size_t i = 0; i < m->class_count; i++)
    f(e, m, m->classes[i]->guard);
  for (size_t i = 0; i < m->function_count; i++)
    f(e, m, m->functions[i]->guard);
}

static void forget(struct eval *e, struct ast_module *m, struct ast_guard *g) {
  (void)e, (void)m;
  reopen(g);
}

static void decide(struct eval *e, struct ast_module *m, struct ast_guard *g) {
  (void)outer_state(e, m, g);
}

void outer_resolve(struct eval *e, struct ast_module *m) {
  each_guard(e, m, forget);
  each_guard(e, m, decide);
}
