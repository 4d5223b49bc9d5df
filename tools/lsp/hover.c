// SPDX-License-Identifier: Apache-2.0
// `textDocument/hover`: the value of what is under the cursor, its layout and accesses, and the
// documentation of functions.
#include "tools/lsp/callee.h"
#include "tools/lsp/known.h"
#include "tools/lsp/lsp_server.h"
#include "tools/lsp/tree.h"

struct hovering {
  struct request *r;
  struct location at;
  struct known known;
  const struct ast_module *tree;
  struct mention mention;
  bool has_access; // the operation loads or stores
  struct strbuf text;
};

static void code(struct hovering *h, const char *line) {
  strbuf_printf(&h->text, "%s```python\n%s\n```\n", h->text.len ? "\n" : "", line);
}

static void put_fact(struct hovering *h, const char *name, const struct fact *f) {
  if (!f)
    return;
  const char *constant = f->constant && strcmp(f->constant, f->type) != 0 ? f->constant : NULL;
  code(h, arena_printf(h->r->a, "%s: %s%s%s", name, f->type, constant ? " = " : "",
                       constant ? constant : ""));
}

static void note_access(void *user, const struct layout_fact *f) {
  ((struct hovering *)user)->has_access |= f->vector > 0;
}

// Of a load or store, what is loaded or stored; not the pointers and masks made with it.
static void put_layout(void *user, const struct layout_fact *f) {
  struct hovering *h = user;
  if (h->has_access && !f->vector)
    return;
  strbuf_printf(&h->text, "\n%s: %u registers a thread", f->type, f->registers);
  if (f->vector)
    strbuf_printf(&h->text, ", accesses of %u elements (%u bytes)", f->vector,
                  (f->vector * f->element_bits + 7) / 8);
  strbuf_printf(&h->text, "  \nlayout `%s`\n", f->encoding);
}

static void put_callee(struct hovering *h, const struct callee *c) {
  code(h, c->signature);
  if (c->doc)
    strbuf_printf(&h->text, "\n%s\n", c->doc);
}

static const char *base_text(struct hovering *h, const struct expr *e) {
  const struct expr *object = e && e->kind == EXPR_ATTRIBUTE ? e->attribute.object : NULL;
  if (!object)
    return NULL;
  struct str text = {object->span.source->text.ptr + object->span.begin,
                     object->span.end - object->span.begin};
  return arena_strndup(h->r->a, text.ptr, text.len);
}

// A function of the file that is defined here, and what its parameters were assumed to be.
static bool put_definition(struct hovering *h) {
  const struct ast_function *f = ast_find_function(h->tree, h->mention.name);
  if (h->mention.expr || !f || f->name_span.begin != h->mention.at.begin)
    return false;
  struct callee c;
  callee_of_function(h->r->a, f, &c);
  put_callee(h, &c);
  const char *assumed = known_assumptions(&h->known, f->name);
  if (assumed)
    strbuf_printf(&h->text, "\nassumed, since nothing says so: `%s`\n", assumed);
  return true;
}

static const struct binding *local_of(struct hovering *h) {
  struct tree_scope scope = tree_scope_at(h->tree, h->at.offset);
  for (size_t i = scope.len; i-- > 0;) {
    binding_list all = {0};
    tree_bindings(h->r->a, scope.at[i], &all);
    const struct binding *b = tree_binding_of(&all, h->mention.name, h->at.offset);
    if (b) {
      struct binding *kept = arena_new(h->r->a, struct binding);
      *kept = *b;
      return kept;
    }
  }
  return NULL;
}

static void put_keyword(struct hovering *h) {
  const struct expr *callee = h->mention.call->call.callee;
  const char *name = callee->kind == EXPR_ATTRIBUTE ? callee->attribute.name
                     : callee->kind == EXPR_NAME    ? callee->name
                                                    : NULL;
  struct callee c;
  if (name && callee_find(h->r->a, h->at.document, h->tree, base_text(h, callee), name, &c))
    put_callee(h, &c);
}

static void put_name(struct hovering *h) {
  const struct mention *m = &h->mention;
  bool is_attribute = m->expr && m->expr->kind == EXPR_ATTRIBUTE;
  const struct binding *local = is_attribute ? NULL : local_of(h);
  uint32_t begin = m->expr ? m->expr->span.begin : m->at.begin;
  const struct fact *f = known_fact(&h->known, begin, m->at.end);
  if (!f && local)
    f = known_fact(&h->known, local->at.begin, local->at.end);
  put_fact(h, m->name, f);
  struct callee c;
  bool is_callee = m->call && m->expr == m->call->call.callee;
  if (local && !local->function)
    return;
  if (local) {
    callee_of_function(h->r->a, local->function, &c);
    put_callee(h, &c);
  } else if (callee_find(h->r->a, h->at.document, h->tree, base_text(h, m->expr), m->name, &c) &&
             (is_callee || !f)) {
    put_callee(h, &c);
  }
}

static void put_layouts(struct hovering *h, struct span of) {
  known_layouts(&h->known, of.begin, of.end, note_access, h);
  known_layouts(&h->known, of.begin, of.end, put_layout, h);
}

// The value and the layouts of the call whose function the cursor is on, or of the expression; of a
// variable, the layouts of what was assigned to it.
static void put_value(struct hovering *h) {
  const struct expr *e = h->mention.expr, *call = h->mention.call;
  const struct expr *of = call && e == call->call.callee ? call : e;
  const struct binding *b = of == call || (e && e->kind == EXPR_ATTRIBUTE) ? NULL : local_of(h);
  if (of && of == call)
    put_fact(h, "result", known_fact(&h->known, of->span.begin, of->span.end));
  if (b && b->value.source)
    put_layouts(h, b->value);
  else if (of)
    put_layouts(h, of->span);
}

// Of operators and literals.
static void put_around(struct hovering *h) {
  const struct fact *f = known_fact_around(&h->known, h->at.offset);
  if (!f)
    return;
  put_fact(h, "value", f);
}

static void answer(struct hovering *h) {
  struct json_writer *w = h->r->w;
  if (!h->text.len)
    return;
  json_begin_object(w);
  json_key(w, "contents"), json_begin_object(w);
  json_key(w, "kind"), json_cstring(w, "markdown");
  json_key(w, "value"), json_cstring(w, strbuf_cstr(&h->text));
  json_end_object(w);
  if (h->mention.name) {
    json_key(w, "range");
    text_write_range(w, &h->at.now->lines, h->mention.at.begin, h->mention.at.end);
  }
  json_end_object(w);
}

void request_hover(struct request *r) {
  struct hovering h = {.r = r, .text = {.arena = r->a}};
  if (!request_location(r, &h.at) || !h.at.now->unit)
    return;
  h.known = known_of(h.at.document);
  h.tree = h.at.now->unit->tree;
  if (!tree_mention_at(r->a, h.tree, h.at.offset, &h.mention)) {
    put_around(&h);
  } else if (h.mention.keyword) {
    put_keyword(&h);
  } else if (!put_definition(&h)) {
    put_name(&h);
    put_value(&h);
  }
  answer(&h);
  strbuf_finish(&h.text);
}
