// SPDX-License-Identifier: Apache-2.0
// Collects loads and stores of planned kernels, in the order in which graph/emit/emit_value.c
// prints them.
#include "graph/plan/accesses.h"

struct access_known {
  const struct load_guard *guard;
  unsigned loops; // ended so far
  bool is_given, is_of_loop;
  struct access_known *next;
};

static bool is_known(const struct access_walk *w, const struct scalar *v) {
  for (const struct access_known *k = ptrmap_get(&w->known, v); k; k = k->next)
    if ((!k->is_of_loop || k->loops == w->loops) &&
        (k->guard == w->guard || k->is_given || !v->has_load))
      return true;
  return false;
}

// Does the value, or a condition of its load, depend on an axis of the loop?
static bool is_of_loop(const struct access_walk *w, const struct scalar *v) {
  bool found = false;
  for (size_t i = 0; i < COUNT_OF(w->loop_axes); i++) {
    const struct expr *axis = w->loop_axes[i];
    found = found || (axis && scalar_has_axis(v, axis));
    for (const struct load_guard *g = w->guard; g && axis; g = g->outer)
      found = found || scalar_has_axis(g->condition, axis);
  }
  return found;
}

static void note(struct access_walk *w, const struct scalar *v, bool is_given) {
  struct access_known *k = arena_new(w->arena, struct access_known);
  *k = (struct access_known){w->guard, w->loops, is_given, is_of_loop(w, v),
                             ptrmap_get(&w->known, v)};
  ptrmap_put(w->arena, &w->known, v, k);
}

void access_loop_end(struct access_walk *w) { w->loops++; }

void access_given(struct access_walk *w, const struct scalar *v) { note(w, v, true); }

static void push(struct access_walk *w, struct buffer *b, const struct expr *offset,
                 bool is_store) {
  assert(b);
  vec_push(w->arena, &w->k->accesses, (struct kernel_access){b, offset, is_store});
}

static void visit_offset(struct access_walk *w, const struct expr *e) {
  if (e->kind == EXPR_SYMBOL && e->symbol->indirect)
    access_value(w, e->symbol->indirect);
  for (uint32_t i = 0; i < e->count; i++)
    visit_offset(w, e->in[i]);
}

static void visit_load(struct access_walk *w, const struct scalar *v) {
  const struct load_guard *all = w->guard;
  for (const struct load_guard *g = all; g; g = g->outer) {
    w->guard = g->outer;
    access_value(w, g->condition);
  }
  w->guard = all;
  visit_offset(w, v->index);
  push(w, v->buffer, w->is_pipelined ? NULL : v->index, false);
}

const struct load_guard *load_guard_for(struct arena *a, struct load_guard **all,
                                        const struct load_guard *outer,
                                        const struct scalar *condition) {
  for (struct load_guard *g = *all; g; g = g->next)
    if (g->outer == outer && g->condition == condition)
      return g;
  struct load_guard *g = arena_new(a, struct load_guard);
  *g = (struct load_guard){outer, condition, *all};
  return *all = g;
}

static void visit_masked(struct access_walk *w, const struct scalar *v) {
  const struct load_guard *before = w->guard;
  access_value(w, v->in[0]);
  if (v->in[1]->has_load)
    w->guard = load_guard_for(w->arena, &w->guards, w->guard, v->in[0]);
  access_value(w, v->in[1]);
  w->guard = before;
  access_value(w, v->in[2]);
}

void access_value(struct access_walk *w, const struct scalar *v) {
  if (is_known(w, v))
    return;
  if (v->kind == SCALAR_LOAD)
    visit_load(w, v);
  else if (v->kind == SCALAR_MASKED)
    visit_masked(w, v);
  else if (v->index)
    visit_offset(w, v->index);
  if (v->kind != SCALAR_LOAD && v->kind != SCALAR_MASKED)
    for (unsigned i = 0, n = scalar_arity(v); i < n; i++)
      access_value(w, v->in[i]);
  note(w, v, false);
}

static void note_any(void *user, const struct scalar *load) {
  struct access_walk *w = user;
  if (load->buffer) // the placeholder in a score of attention has none
    push(w, load->buffer, NULL, false);
}

void access_any(struct access_walk *w, const struct scalar *v) { scalar_loads(v, note_any, w); }

void access_buffer(struct access_walk *w, struct buffer *b, bool is_store) {
  push(w, b, NULL, is_store);
}

void access_store(struct access_walk *w, struct buffer *b, const struct expr *offset) {
  visit_offset(w, offset);
  push(w, b, w->is_pipelined ? NULL : offset, true);
}

void access_write(struct access_walk *w, const struct write_part *write) {
  access_value(w, write->body);
  if (write->stage->kind == STAGE_SCATTER && write->stage->predicate)
    access_value(w, write->stage->predicate);
  access_store(w, write->buffer, write->offset);
}
