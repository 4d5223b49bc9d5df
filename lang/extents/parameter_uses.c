// SPDX-License-Identifier: Apache-2.0
// Which parameters are pointers: follows the first operands of loads and stores back through
// assignments, sums and calls to the parameters that they come from.
//
// Recursion is the algorithm: it follows expressions, and calls into functions of the file.
#include "lang/extents/parameter_uses.h"

#include "base/map.h"
#include "base/vec.h"
#include "lang/builtins/library.h"
#include "lang/eval/builtin_flags.h"
#include "lang/syntax/ast_visit.h"

enum { MOST_CALLS = 8, MOST_STEPS = 4000 };

struct flow_of {
  struct arena *a;
  const struct ast_module *m;
  const struct ast_function *f;
  unsigned calls;      // of functions around this one
  unsigned steps;      // done so far, in this function
  struct map values;   // name -> struct values *, what is assigned to it
  struct map followed; // names whose values were followed
  struct parameter_uses uses;
};

struct values {
  VEC(const struct expr *) all;
};

static void follow_calls(struct flow_of *w);

// ---- assignments ----

static void note_value(struct flow_of *w, const struct expr *target, const struct expr *value) {
  if (target->kind == EXPR_TUPLE && value->kind == EXPR_TUPLE &&
      target->items.len == value->items.len) {
    for (size_t i = 0; i < target->items.len; i++)
      note_value(w, target->items.at[i], value->items.at[i]);
    return;
  }
  if (target->kind != EXPR_NAME)
    return;
  struct values *v = ptrmap_get(&w->values, target->name);
  if (!v) {
    v = arena_new(w->a, struct values);
    ptrmap_put(w->a, &w->values, target->name, v);
  }
  vec_push(w->a, &v->all, value);
}

static void note_statements(struct flow_of *w, const struct stmt_list *l);

static void note_body(void *user, const struct stmt_list *body) { note_statements(user, body); }
static void skip_expr(void *user, const struct expr *e) { (void)user, (void)e; }

static void note_statements(struct flow_of *w, const struct stmt_list *l) {
  struct ast_visitor v = {.expr = skip_expr, .target = skip_expr, .body = note_body, .user = w};
  for (size_t i = 0; i < l->len; i++) {
    const struct stmt *s = l->at[i];
    if (s->kind == STMT_ASSIGN)
      for (size_t k = 0; k < s->assign.targets.len; k++)
        note_value(w, s->assign.targets.at[k], s->assign.value);
    else if (s->kind == STMT_ANN_ASSIGN && s->ann_assign.value)
      note_value(w, s->ann_assign.target, s->ann_assign.value);
    else
      ast_visit_stmt(&v, s);
  }
}

// ---- pointers ----

static int param_index(const struct ast_function *f, const char *name) {
  for (size_t i = 0; i < f->param_count; i++)
    if (strcmp(f->params[i].name, name) == 0)
      return (int)i;
  return -1;
}

// Marks the parameter that the expression is computed from as a pointer; false: there is none.
static bool mark_pointer(struct flow_of *w, const struct expr *e) {
  if (++w->steps > MOST_STEPS)
    return false;
  switch (e->kind) {
  case EXPR_NAME: {
    int i = param_index(w->f, e->name);
    if (i >= 0) {
      w->uses.use[i] = USE_POINTER;
      return true;
    }
    const struct values *v = ptrmap_get(&w->values, e->name);
    bool found = false;
    if (!v || ptrmap_get(&w->followed, e->name))
      return v != NULL;
    ptrmap_put(w->a, &w->followed, e->name, w);
    for (size_t k = 0; k < v->all.len; k++)
      found |= mark_pointer(w, v->all.at[k]);
    if (!found) // it is an offset: others may ask again
      ptrmap_put(w->a, &w->followed, e->name, NULL);
    return found;
  }
  case EXPR_BINARY:
    return (e->binary.op == OP_ADD || e->binary.op == OP_SUB) &&
           (mark_pointer(w, e->binary.left) || mark_pointer(w, e->binary.right));
  case EXPR_SUBSCRIPT: return mark_pointer(w, e->subscript.object);
  case EXPR_TERNARY:
    return mark_pointer(w, e->ternary.then) | mark_pointer(w, e->ternary.otherwise);
  case EXPR_CALL: {
    const char *name = ast_builtin_name(w->a, w->m, e->call.callee);
    if (e->call.callee->kind == EXPR_ATTRIBUTE && mark_pointer(w, e->call.callee->attribute.object))
      return true; // x.to(...)
    bool gives_first =
        name && (strcmp(name, "multiple_of") == 0 || strcmp(name, "advance") == 0 ||
                 strcmp(name, "max_contiguous") == 0 || strcmp(name, "cast") == 0 ||
                 strcmp(name, "make_block_ptr") == 0 || strcmp(name, "broadcast_to") == 0);
    return gives_first && e->call.arg_count && mark_pointer(w, e->call.args[0].value);
  }
  default: return false;
  }
}

// ---- calls ----

static const struct expr *argument(const struct expr *call, size_t index, const char *name) {
  for (size_t i = 0; i < call->call.arg_count; i++)
    if (call->call.args[i].name ? strcmp(call->call.args[i].name, name) == 0 : i == index)
      return call->call.args[i].value;
  return NULL;
}

static bool takes_pointer(const char *name) {
  struct library_function f;
  if (!library_find(str_from(name), LIBRARY_MODULE, &f))
    return false;
  unsigned form = f.flags & FORM_MASK;
  return form == FORM_LOAD || form == FORM_STORE || form == FORM_BLOCK || form == FORM_DESCRIPTOR ||
         strncmp(name, "atomic_", 7) == 0;
}

// `d.load([i, j])`.
static void see_method(struct flow_of *w, const struct expr *e) {
  const struct expr *callee = e->call.callee;
  struct library_function f;
  if (callee->kind != EXPR_ATTRIBUTE || callee->attribute.object->kind != EXPR_NAME ||
      !library_find(str_from(callee->attribute.name), LIBRARY_DESCRIPTOR, &f))
    return;
  int i = param_index(w->f, callee->attribute.object->name);
  const struct expr *offsets = argument(e, 0, "offsets");
  if (i < 0 || !offsets || (offsets->kind != EXPR_LIST && offsets->kind != EXPR_TUPLE))
    return;
  w->uses.use[i] = USE_DESCRIPTOR;
  w->uses.rank[i] =
      offsets->items.len < LANG_BLOCK_RANK ? (unsigned)offsets->items.len : LANG_BLOCK_RANK;
}

// A function of the file: its pointers are pointers here.
static void see_function(struct flow_of *w, const struct expr *e, const struct ast_function *f) {
  if (w->calls >= MOST_CALLS || f == w->f)
    return;
  struct flow_of inner = {.a = w->a, .m = w->m, .f = f, .calls = w->calls + 1};
  inner.uses.use = arena_array(w->a, enum parameter_use, f->param_count + 1);
  inner.uses.rank = arena_array(w->a, unsigned, f->param_count + 1);
  follow_calls(&inner);
  for (size_t i = 0; i < f->param_count; i++) {
    const struct expr *x = argument(e, i, f->params[i].name);
    if (!x || inner.uses.use[i] == USE_SCALAR)
      continue;
    int own = x->kind == EXPR_NAME ? param_index(w->f, x->name) : -1;
    if (inner.uses.use[i] == USE_POINTER)
      mark_pointer(w, x);
    else if (own >= 0)
      w->uses.use[own] = USE_DESCRIPTOR, w->uses.rank[own] = inner.uses.rank[i];
  }
}

static void see_expr(void *user, const struct expr *e) {
  struct flow_of *w = user;
  struct ast_visitor v = {.expr = see_expr, .user = w};
  ast_visit_expr(&v, e);
  if (e->kind != EXPR_CALL || ++w->steps > MOST_STEPS)
    return;
  const struct expr *callee = e->call.callee;
  const struct ast_function *f =
      callee->kind == EXPR_NAME ? ast_find_function(w->m, callee->name) : NULL;
  const char *name = ast_builtin_name(w->a, w->m, callee);
  if (f && !f->is_host) {
    see_function(w, e, f);
  } else if (name && takes_pointer(name)) {
    const struct expr *x = argument(e, 0, "pointer");
    x = x ? x : argument(e, 0, "base");
    if (x)
      mark_pointer(w, x);
  }
  see_method(w, e);
}

static void see_body(void *user, const struct stmt_list *body) {
  struct ast_visitor v = {.expr = see_expr, .target = skip_expr, .body = see_body, .user = user};
  for (size_t i = 0; i < body->len; i++)
    ast_visit_stmt(&v, body->at[i]);
}

static void follow_calls(struct flow_of *w) {
  note_statements(w, &w->f->body);
  see_body(w, &w->f->body);
}

struct parameter_uses parameter_uses_of(struct arena *a, const struct ast_module *m,
                                        const struct ast_function *f) {
  struct flow_of w = {.a = a, .m = m, .f = f};
  w.uses.use = arena_array(a, enum parameter_use, f->param_count + 1);
  w.uses.rank = arena_array(a, unsigned, f->param_count + 1);
  follow_calls(&w);
  return w.uses;
}

// ---- types ----

static bool has_word(const char *name, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strstr(name, words[i]))
      return true;
  return false;
}

static bool is_index_name(const char *name) {
  static const char *const words[] = {"idx",   "indic",  "index",   "_ids",   "label",
                                      "table", "seqlen", "offsets", "lengths"};
  return has_word(name, words, COUNT_OF(words));
}

static bool is_float_name(const char *name) {
  static const char *const words[] = {"eps",   "scale",    "alpha",         "beta",   "slope",
                                      "decay", "momentum", "learning_rate", "dropout"};
  return has_word(name, words, COUNT_OF(words)) || strcmp(name, "lr") == 0 ||
         strcmp(name, "p") == 0;
}

enum dtype parameter_dtype(enum parameter_use use, const char *name, enum dtype element) {
  if (use == USE_SCALAR)
    return is_float_name(name) ? DTYPE_F32 : DTYPE_I32;
  return is_index_name(name) ? DTYPE_I32 : element;
}
