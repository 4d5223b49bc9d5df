// SPDX-License-Identifier: Apache-2.0
// Walks of the syntax tree for editors.
//
// Recursion is the algorithm: statements hold statements and expressions, as deep as the parser
// allows.
#include "tools/lsp/tree.h"

#include "lang/syntax/ast_visit.h"

#include <ctype.h>

// ---- where functions end ----

static void later(uint32_t *end, uint32_t other) { *end = other > *end ? other : *end; }

static void end_of_expr(void *user, const struct expr *e) { later(user, e->span.end); }

static void end_of_body(void *user, const struct stmt_list *body) {
  struct ast_visitor v = {
      .expr = end_of_expr, .target = end_of_expr, .body = end_of_body, .user = user};
  if (!body->len)
    return;
  const struct stmt *last = body->at[body->len - 1];
  later(user, last->span.end);
  ast_visit_stmt(&v, last);
}

uint32_t tree_function_end(const struct ast_function *f) {
  uint32_t end = f->span.end;
  end_of_body(&end, &f->body);
  return end;
}

// ---- scopes ----

static uint32_t line_begin(struct str text, uint32_t at) {
  while (at > 0 && text.ptr[at - 1] != '\n')
    at--;
  return at;
}

static uint32_t column_of(struct str text, uint32_t at) { return at - line_begin(text, at); }

// Whether the line with the offset is indented more than `column`, or the offset is in a blank line
// behind that column.
static bool is_indented(struct str text, uint32_t offset, uint32_t column) {
  uint32_t begin = line_begin(text, offset), i = begin;
  while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
    i++;
  bool is_blank = i >= text.len || text.ptr[i] == '\n' || text.ptr[i] == '\r';
  return (is_blank ? offset - begin : i - begin) > column;
}

static const struct ast_function *nested_at(const struct ast_function *f, uint32_t offset);

static bool contains(const struct ast_function *f, uint32_t offset) {
  return f->span.source && f->span.begin <= offset &&
         (offset <= tree_function_end(f) ||
          is_indented(f->span.source->text, offset,
                      column_of(f->span.source->text, f->span.begin)));
}

struct nested_search {
  uint32_t offset;
  const struct ast_function *found;
};

static void ignore_expr(void *user, const struct expr *e) { (void)user, (void)e; }

static void search_body(void *user, const struct stmt_list *body) {
  struct nested_search *s = user;
  struct ast_visitor v = {
      .expr = ignore_expr, .target = ignore_expr, .body = search_body, .user = user};
  for (size_t i = 0; i < body->len; i++)
    if (body->at[i]->kind != STMT_DEF)
      ast_visit_stmt(&v, body->at[i]);
    else if (contains(body->at[i]->def, s->offset))
      s->found = body->at[i]->def;
}

static const struct ast_function *nested_at(const struct ast_function *f, uint32_t offset) {
  struct nested_search s = {offset, NULL};
  search_body(&s, &f->body);
  return s.found;
}

// The last function that begins before the offset contains it, or none does.
static void consider(const struct ast_function *f, uint32_t offset,
                     const struct ast_function **best) {
  if (f->span.begin <= offset && (!*best || f->span.begin >= (*best)->span.begin))
    *best = f;
}

struct tree_scope tree_scope_at(const struct ast_module *m, uint32_t offset) {
  struct tree_scope s = {.len = 0};
  const struct ast_function *f = NULL;
  for (size_t i = 0; i < m->function_count; i++)
    consider(m->functions[i], offset, &f);
  for (size_t i = 0; i < m->class_count; i++)
    for (size_t k = 0; k < m->classes[i]->method_count; k++)
      consider(m->classes[i]->methods[k], offset, &f);
  if (f && !contains(f, offset))
    f = NULL;
  for (; f && s.len < TREE_MOST_NESTING; f = nested_at(f, offset))
    s.at[s.len++] = f;
  return s;
}

// ---- bindings ----

struct binding_walk {
  struct arena *a;
  binding_list *out;
  struct span statement, value; // of the bindings that are noted
};

static void bind(struct binding_walk *w, const char *name, struct span at,
                 const struct ast_function *f) {
  vec_push(w->a, w->out, (struct binding){name, at, w->statement, w->value, f});
}

static void bind_target(void *user, const struct expr *e) {
  struct binding_walk *w = user;
  if (e->kind == EXPR_NAME)
    bind(w, e->name, e->span, NULL);
  else if (e->kind == EXPR_TUPLE || e->kind == EXPR_LIST)
    for (size_t i = 0; i < e->items.len; i++)
      bind_target(w, e->items.at[i]);
  else if (e->kind == EXPR_STARRED)
    bind_target(w, e->inner);
}

static void bind_walruses(void *user, const struct expr *e) {
  struct binding_walk *w = user;
  struct ast_visitor v = {.expr = bind_walruses, .user = w};
  if (e->kind == EXPR_WALRUS)
    bind(w, e->walrus.name, e->walrus.name_span, NULL);
  ast_visit_expr(&v, e);
}

static void bind_body(void *user, const struct stmt_list *body) {
  struct binding_walk *w = user;
  struct ast_visitor v = {
      .expr = bind_walruses, .target = bind_target, .body = bind_body, .user = w};
  for (size_t i = 0; i < body->len; i++) {
    const struct stmt *s = body->at[i];
    w->statement = s->span;
    w->value = s->kind == STMT_ASSIGN && s->assign.targets.at[0]->kind == EXPR_NAME
                   ? s->assign.value->span
                   : SPAN_NONE;
    if (s->kind == STMT_DEF)
      bind(w, s->def->name, s->def->name_span, s->def);
    else if (s->kind == STMT_AUG_ASSIGN) // of a name that has a value
      bind_walruses(w, s->aug_assign.value);
    else
      ast_visit_stmt(&v, s);
  }
}

void tree_bindings(struct arena *a, const struct ast_function *f, binding_list *out) {
  struct binding_walk w = {.a = a, .out = out};
  for (size_t i = 0; i < f->param_count; i++)
    bind(&w, f->params[i].name, f->params[i].name_span, NULL);
  bind_body(&w, &f->body);
}

static bool covers(struct span s, uint32_t offset) {
  return s.source && s.begin <= offset && offset <= s.end;
}

const struct binding *tree_binding_of(const binding_list *all, const char *name, uint32_t offset) {
  const struct binding *first = NULL, *nearest = NULL;
  for (size_t i = 0; i < all->len; i++) {
    const struct binding *b = &all->at[i];
    if (strcmp(b->name, name) != 0)
      continue;
    if (covers(b->at, offset))
      return b;
    first = first ? first : b;
    if (b->at.begin < offset && !covers(b->statement, offset) &&
        (!nearest || b->at.begin >= nearest->at.begin))
      nearest = b;
  }
  return nearest ? nearest : first;
}

// ---- mentions ----

struct mention_walk {
  uint32_t offset;
  struct mention *found;
  const struct expr *call;
  bool done;
};

static void see_expr(void *user, const struct expr *e);

static void found(struct mention_walk *w, const struct expr *e, const char *name, struct span at) {
  if (w->done || !covers(at, w->offset))
    return;
  w->done = true;
  *w->found = (struct mention){.expr = e, .call = w->call, .at = at, .name = name};
}

static void see_call(struct mention_walk *w, const struct expr *e) {
  for (size_t i = 0; i < e->call.arg_count; i++) {
    const struct ast_arg *arg = &e->call.args[i];
    if (!arg->name || !covers(arg->name_span, w->offset) || w->done)
      continue;
    w->call = e;
    found(w, NULL, arg->name, arg->name_span);
    w->found->keyword = arg;
  }
}

// Of `e` and what it holds; calls are noted for what they hold.
static void see_expr(void *user, const struct expr *e) {
  struct mention_walk *w = user;
  struct ast_visitor v = {.expr = see_expr, .user = w};
  const struct expr *outer = w->call;
  if (w->done)
    return;
  if (e->kind == EXPR_CALL) {
    see_call(w, e);
    w->call = e;
  } else if (e->kind == EXPR_NAME) {
    found(w, e, e->name, e->span);
  } else if (e->kind == EXPR_ATTRIBUTE) {
    found(w, e, e->attribute.name, e->attribute.name_span);
  } else if (e->kind == EXPR_WALRUS) {
    found(w, NULL, e->walrus.name, e->walrus.name_span);
  }
  ast_visit_expr(&v, e);
  w->call = outer;
}

static void see_function(struct mention_walk *w, const struct ast_function *f);

static void see_body(void *user, const struct stmt_list *body) {
  struct ast_visitor v = {.expr = see_expr, .target = see_expr, .body = see_body, .user = user};
  for (size_t i = 0; i < body->len; i++)
    if (body->at[i]->kind == STMT_DEF)
      see_function(user, body->at[i]->def);
    else
      ast_visit_stmt(&v, body->at[i]);
}

static void see_function(struct mention_walk *w, const struct ast_function *f) {
  found(w, NULL, f->name, f->name_span);
  for (size_t i = 0; i < f->decorators.len; i++)
    see_expr(w, f->decorators.at[i]);
  for (size_t i = 0; i < f->param_count; i++) {
    found(w, NULL, f->params[i].name, f->params[i].name_span);
    if (f->params[i].annotation)
      see_expr(w, f->params[i].annotation);
    if (f->params[i].default_value)
      see_expr(w, f->params[i].default_value);
  }
  see_body(w, &f->body);
}

static void see_class(struct mention_walk *w, const struct ast_class *c) {
  found(w, NULL, c->name, c->name_span);
  for (size_t i = 0; i < c->field_count; i++)
    if (c->fields[i].annotation)
      see_expr(w, c->fields[i].annotation);
  for (size_t i = 0; i < c->method_count; i++)
    see_function(w, c->methods[i]);
}

// The word of an import that covers the offset.
static void see_import(struct mention_walk *w, struct arena *a, const struct ast_import *im) {
  if (w->done || !covers(im->span, w->offset))
    return;
  struct str text = im->span.source->text;
  uint32_t begin = w->offset, end = w->offset;
  while (begin > im->span.begin &&
         (text.ptr[begin - 1] == '_' || isalnum((unsigned char)text.ptr[begin - 1])))
    begin--;
  while (end < im->span.end && (text.ptr[end] == '_' || isalnum((unsigned char)text.ptr[end])))
    end++;
  if (end > begin)
    found(w, NULL, arena_strndup(a, text.ptr + begin, end - begin),
          (struct span){im->span.source, begin, end});
}

bool tree_mention_at(struct arena *a, const struct ast_module *m, uint32_t offset,
                     struct mention *ret) {
  struct mention_walk w = {.offset = offset, .found = ret};
  for (size_t i = 0; i < m->function_count && !w.done; i++)
    see_function(&w, m->functions[i]);
  for (size_t i = 0; i < m->class_count && !w.done; i++)
    see_class(&w, m->classes[i]);
  for (size_t i = 0; i < m->constant_count && !w.done; i++) {
    found(&w, NULL, m->constants[i].name, m->constants[i].name_span);
    if (m->constants[i].value)
      see_expr(&w, m->constants[i].value);
  }
  for (size_t i = 0; i < m->import_count; i++)
    see_import(&w, a, &m->imports[i]);
  return w.done;
}
