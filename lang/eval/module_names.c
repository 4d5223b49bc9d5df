// SPDX-License-Identifier: Apache-2.0
// The value of a name at module level. As in Python, the last binding counts: of the constants,
// functions, classes and imports with that name, the last one whose conditions hold
// (lang/eval/outer.h).
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "base/limits.h"
#include "lang/eval/consteval.h"
#include "lang/eval/import.h"
#include "lang/eval/objects.h"
#include "lang/eval/outer.h"

struct binding {
  enum { BINDING_CONSTANT, BINDING_FUNCTION, BINDING_CLASS, BINDING_IMPORT } kind;
  union {
    const struct ast_constant *constant;
    const struct ast_function *function;
    const struct ast_class *class;
    const struct ast_import *import;
  };
  struct ast_guard *guard;
  uint32_t at; // its offset in the source
};
typedef VEC(struct binding) binding_vec;

// ---- finding them ----

// Keeps the list sorted, the last binding first.
static void add(struct eval *e, binding_vec *out, struct binding b) {
  vec_push(e->a, out, b);
  for (size_t i = out->len - 1; i > 0 && out->at[i - 1].at < out->at[i].at; i--) {
    struct binding other = out->at[i];
    out->at[i] = out->at[i - 1];
    out->at[i - 1] = other;
  }
}

static bool is_named(const char *x, const char *name) { return x && strcmp(x, name) == 0; }

// Host functions and nested functions count only if there are no others: kernels cannot mean a host
// function.
static int rank_of(const struct ast_function *f) { return f->is_host ? 0 : f->is_nested ? 1 : 2; }

static void add_functions(struct eval *e, const struct ast_module *m, const char *name,
                          binding_vec *out) {
  int best = -1;
  for (size_t i = 0; i < m->function_count; i++) {
    const struct ast_function *f = m->functions[i];
    if (is_named(f->name, name) && rank_of(f) > best && outer_state(e, m, f->guard) != GUARD_FAILS)
      best = rank_of(f);
  }
  for (size_t i = 0; i < m->function_count; i++) {
    const struct ast_function *f = m->functions[i];
    if (is_named(f->name, name) && rank_of(f) == best)
      add(e, out,
          (struct binding){.kind = BINDING_FUNCTION,
                           .function = f,
                           .guard = f->guard,
                           .at = f->is_nested ? 0 : f->name_span.begin});
  }
}

static binding_vec bindings_of(struct eval *e, const struct ast_module *m, const char *name) {
  binding_vec out = {0};
  for (size_t i = 0; i < m->constant_count; i++) {
    const struct ast_constant *k = &m->constants[i];
    if (is_named(k->name, name))
      add(e, &out, (struct binding){BINDING_CONSTANT, {k}, k->guard, k->name_span.begin});
  }
  for (size_t i = 0; i < m->class_count; i++) {
    const struct ast_class *c = m->classes[i];
    if (is_named(c->name, name))
      add(e, &out,
          (struct binding){
              .kind = BINDING_CLASS, .class = c, .guard = c->guard, .at = c->name_span.begin});
  }
  for (size_t i = 0; i < m->import_count; i++) {
    const struct ast_import *im = &m->imports[i];
    if (is_named(im->bound, name))
      add(e, &out,
          (struct binding){
              .kind = BINDING_IMPORT, .import = im, .guard = im->guard, .at = im->span.begin});
  }
  add_functions(e, m, name, &out);
  return out;
}

// While the module level of `m` is evaluated, later bindings do not exist yet. They are used if
// there are no others: a file of kernels is not run as a program.
static void drop_later(const struct eval *e, const struct ast_module *m, binding_vec *all) {
  size_t n = 0;
  if (e->limited != m)
    return;
  for (size_t i = 0; i < all->len; i++)
    n += all->at[i].at < e->limit;
  if (n == 0)
    return;
  all->at += all->len - n; // sorted, the last first
  all->len = n;
}

// ---- their values ----

// *ret_why: what the value needs and is not known here; else NULL.
static struct value evaluate_on_host(struct eval *e, const struct ast_module *m,
                                     const struct ast_constant *k, const char **ret_why) {
  struct eval *h = outer_evaluator(e);
  struct outer_saved saved = outer_begin(h, m, k->name_span.begin);
  struct value v = eval_expr(h, k->value);
  *ret_why = NULL;
  if (v.kind == VALUE_OPAQUE)
    *ret_why = arena_printf(e->a, "this needs `%s`, which is not known here", v.opaque->path);
  else if (diag_error_count(h->diag) && diag_first_error_code(h->diag) == h->purpose->code)
    *ret_why = arena_strdup(e->a, diag_first_error(h->diag));
  if (h->stopped || diag_error_count(h->diag) || !value_is_const(v))
    v = VALUE_ERROR;
  outer_end(h, &saved);
  return v;
}

// Evaluated as kernel code, else as host code. If both fail, the errors of the former are reported
// for every use, although the constant is evaluated only once.
struct value eval_constant(struct eval *e, const struct ast_module *m, const struct ast_constant *k,
                           struct span at) {
  struct diag_engine *diag = e->diag;
  struct map reported = e->reported;
  e->diag = diag_engine_create(e->a);
  e->reported = (struct map){0};
  struct value v = eval_expr(e, k->value);
  bool failed = diag_error_count(e->diag) > 0 || value_is_poison(v);
  if (!failed && !value_is_const(v)) {
    struct diag *d =
        eval_error(e, at, E0301, "the module constant `%s` is not known at compile time", k->name);
    diag_label(d, k->value->span, "%s", value_type_text(e, v));
    diag_help(d, "compute it inside the kernel");
    v = VALUE_ERROR;
  }
  struct diag_engine *own = e->diag;
  e->diag = diag;
  e->reported = reported;
  const char *why = NULL;
  struct value of_host = failed ? evaluate_on_host(e, m, k, &why) : VALUE_ERROR;
  if (!value_is_poison(of_host))
    return of_host;
  enum diag_code code = diag_first_error_code(own);
  bool is_host_code = code == E0201 || code == E0111; // which this reading does not know
  if (why && str_ends(str_from(why), "not known here") && is_host_code) {
    own = diag_engine_create(e->a);
    struct diag *d = diag_error(own, k->value->span, E0301,
                                "the module constant `%s` is not known at compile time", k->name);
    diag_primary_label(d, "%s", why);
    diag_help(d, "give its value: `-D %s=...`, or write it into the file", k->name);
  }
  if (diag_error_count(own) > 0)
    ptrmap_put(e->a, &e->module_errors, k, own);
  diag_add_all(e->diag, own);
  return failed ? VALUE_ERROR : v;
}

// Evaluating a constant evaluates the constants that it uses.
static bool enter_constant(struct eval *e, struct span at) {
  if (e->constant_depth < LIMIT_CONSTANT_CHAIN) {
    e->constant_depth++;
    return true;
  }
  const struct limit_row *limit = limit_row(LIMIT_ID_CONSTANT_CHAIN);
  diag_help(eval_error(e, at, E0307, "more than %llu %s", limit->value, limit->what), "%s",
            limit->instead);
  return false;
}

struct value scope_constant(struct eval *e, const struct ast_module *m,
                            const struct ast_constant *k, struct span at) {
  struct value *known = ptrmap_get(&e->module_values, k);
  if (known && known->kind == VALUE_ABSENT) {
    diag_help(eval_error(e, k->name_span, E0301, "the constant `%s` needs itself", k->name),
              "give it a value, or another name on the right");
    return VALUE_ERROR;
  }
  if (known) {
    const struct diag_engine *errors = ptrmap_get(&e->module_errors, k);
    if (errors)
      diag_add_all(e->diag, errors);
    return *known;
  }
  if (!enter_constant(e, at))
    return VALUE_ERROR;
  known = arena_new(e->a, struct value); // absent while it is computed
  ptrmap_put(e->a, &e->module_values, k, known);
  struct frame *f = arena_new(e->a, struct frame); // lambdas may keep it
  *f = (struct frame){
      .module = m, .call_loc = e->b.loc, .is_std = e->frame->is_std, .region = e->region};
  struct frame *saved = e->frame;
  const struct ast_module *limited = e->limited;
  uint32_t limit = e->limit;
  e->frame = f;
  e->limited = m;
  e->limit = k->name_span.begin;
  struct value v = e->on->constant(e, m, k, at);
  e->constant_depth--;
  e->frame = saved;
  e->limited = limited;
  e->limit = limit;
  return *known = v;
}

// `@use_tl_extra @triton.jit def trunc(x)`: the vendor's function of that name is used instead.
static bool gives_way(struct eval *e, const struct ast_function *f, struct value *ret) {
  const struct builtin *b = builtin_find(e, f->name);
  for (size_t i = 0; b && i < f->decorators.len; i++)
    if (f->decorators.at[i]->kind == EXPR_NAME &&
        strcmp(f->decorators.at[i]->name, "use_tl_extra") == 0) {
      *ret = (struct value){.kind = VALUE_BUILTIN, .builtin = b};
      return true;
    }
  return false;
}

// False: an import that is not found.
static bool binding_value(struct eval *e, const struct ast_module *m, const struct binding *b,
                          struct span at, struct value *ret) {
  switch (b->kind) {
  case BINDING_CONSTANT: *ret = scope_constant(e, m, b->constant, at); return true;
  case BINDING_FUNCTION:
    if (!gives_way(e, b->function, ret))
      *ret = function_value(e, b->function, m, NULL);
    return true;
  case BINDING_CLASS: *ret = class_value(e, b->class, m); return true;
  case BINDING_IMPORT: return import_value(e, m, b->import, ret);
  }
  return false;
}

// ---- the choice ----

static bool is_same(struct value x, struct value y) {
  if (x.kind != y.kind)
    return false;
  switch ((int)x.kind) {
  case VALUE_BUILTIN: return x.builtin == y.builtin;
  case VALUE_MODULE: return x.module == y.module;
  case VALUE_FUNC: return x.func->ast == y.func->ast;
  case VALUE_OPAQUE: return false;
  }
  return value_is_const(x) && value_is_const(y) && const_equal(x, y);
}

// Whether the first `n` bindings have the same value, so that their conditions are irrelevant.
static bool are_same(struct eval *e, const struct ast_module *m, const binding_vec *all, size_t n) {
  struct eval *h = outer_evaluator(e);
  struct outer_saved saved = outer_begin(h, m, UINT32_MAX);
  struct value first, v;
  bool same = true;
  for (size_t i = 0; i < n && same; i++) {
    const struct binding *b = &all->at[i];
    if (outer_state(h, m, b->guard) == GUARD_FAILS)
      continue;
    same = binding_value(h, m, b, SPAN_NONE, &v) && !value_is_poison(v);
    if (i == 0)
      first = v;
    same = same && is_same(first, v);
  }
  outer_end(h, &saved);
  return same;
}

static bool is_of_triton(const struct binding *b) {
  return b->kind == BINDING_IMPORT && (strcmp(b->import->module, "triton") == 0 ||
                                       strncmp(b->import->module, "triton.", 7) == 0);
}

// Whether kernels could not use the value: `None`, an instance of a host class, what is not known.
static bool is_stand_in(struct eval *e, const struct ast_module *m, const struct binding *b) {
  struct eval *h = outer_evaluator(e);
  struct outer_saved saved = outer_begin(h, m, UINT32_MAX);
  struct value v;
  bool known = binding_value(h, m, b, SPAN_NONE, &v) && !value_is_poison(v);
  outer_end(h, &saved);
  return !known || v.kind == VALUE_NONE || v.kind == VALUE_OPAQUE || v.kind == VALUE_CLASS ||
         (v.kind == VALUE_TUPLE && v.tuple.record);
}

// The one binding that imports from Triton, where all others stand in for it on machines without
// Triton (`else: tl = Placeholder()`): here it is not missing. NULL: none, or others are usable
// too.
static const struct binding *language_import(struct eval *e, const struct ast_module *m,
                                             const binding_vec *all, size_t n) {
  const struct binding *found = NULL;
  for (size_t i = 0; i < n; i++) {
    const struct binding *b = &all->at[i];
    if (outer_state(e, m, b->guard) == GUARD_FAILS)
      continue;
    if (is_of_triton(b) ? found != NULL : !is_stand_in(e, m, b))
      return NULL;
    found = is_of_triton(b) ? b : found;
  }
  return found;
}

static bool find_override(struct eval *e, const struct ast_module *m, const char *name,
                          const binding_vec *all, struct value *ret) {
  bool is_constant = false;
  for (size_t i = 0; i < all->len; i++)
    is_constant = is_constant || all->at[i].kind == BINDING_CONSTANT;
  for (size_t i = 0; is_constant && i < m->override_count; i++)
    if (strcmp(m->overrides[i].name, name) == 0)
      return const_parse(e->a, str_from(m->overrides[i].text), ret);
  return false;
}

static struct value report(struct eval *e, const struct ast_module *m, const struct binding *b,
                           const char *name, struct span at) {
  e->outer_why = b->guard->why;
  if (ast_report_undecided(e->diag, m, b->guard, name, at))
    e->stopped = e->stopped || e->on->stops_at_errors;
  return VALUE_ERROR;
}

// Each iteration of a loop gives a constant another value.
static bool varies(const struct binding *b) {
  bool in_loop = false;
  for (const struct ast_guard *g = b->guard; g && !in_loop; g = g->outer)
    in_loop = g->is_loop;
  return in_loop && b->kind == BINDING_CONSTANT;
}

bool scope_module_name(struct eval *e, const struct ast_module *m, const char *name, struct span at,
                       struct value *ret) {
  binding_vec all = bindings_of(e, m, name);
  if (find_override(e, m, name, &all, ret))
    return true;
  drop_later(e, m, &all);
  size_t first = all.len, open = 0, n = 0; // of the bindings that may take effect
  bool is_certain = false;
  for (; n < all.len && !is_certain; n++) {
    enum ast_guard_state s = outer_state(e, m, all.at[n].guard);
    is_certain = s == GUARD_HOLDS;
    open += s == GUARD_UNDECIDED;
    if (s != GUARD_FAILS && first == all.len)
      first = n;
  }
  if (first == all.len)
    return import_star(e, m, name, ret);
  // A single binding needs no decision: if its condition fails, the program does not run at all.
  bool has_other = open > 1 || is_certain || builtin_find_bare(e, name) || varies(&all.at[first]);
  all.at += first;
  if (open && has_other && ((open == 1 && !is_certain) || !are_same(e, m, &all, n - first))) {
    const struct binding *language = language_import(e, m, &all, n - first);
    if (language)
      return binding_value(e, m, language, at, ret);
    return *ret = report(e, m, &all.at[0], name, at), true;
  }
  return binding_value(e, m, &all.at[0], at, ret);
}
