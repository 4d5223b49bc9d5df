// SPDX-License-Identifier: Apache-2.0
// Concatenations of many parts: which values are parts of which, and the slices of their buffers. A
// part that a stage computes is written straight to its slice; others are copied
// (graph/loops/loops_cat.c).
#include "graph/loops/loops_internal.h"

enum { SHORTEST_RUN = 32 }; // contiguous bytes of a part; below, it is stored apart and copied

static double extent_hint(const struct value *v, uint32_t from, uint32_t to) {
  double n = 1;
  for (uint32_t i = from; i < to; i++)
    n *= (double)expr_likely(v->shape[i]);
  return n;
}

// Are the slices so narrow that a kernel would write a few bytes at a time?
static bool is_narrow(const struct value *part, uint32_t dim) {
  double run = extent_hint(part, dim, part->rank) * (double)dtype_bytes(part->dtype);
  return extent_hint(part, 0, dim) > 1 && run < SHORTEST_RUN;
}

void loops_find_parts(struct builder *b, const struct node *n) {
  const struct arg *parts;
  size_t count = n->op == OP_CAT ? node_list(n, 0, &parts) : 0;
  if (count <= LOOPS_MAX_PIECES)
    return;
  struct concatenation *c = arena_new(b->arena, struct concatenation);
  const struct value *whole = n->results[0];
  *c = (struct concatenation){.node = n, .count = count, .parts = parts};
  c->dim = node_dim(n, 1, whole->rank);
  c->starts = loops_coordinates(b, count);
  c->slices = arena_array(b->arena, struct buffer *, count);
  b->concatenations[whole->id] = c;
  const struct expr *start = expr_const(b->x, 0);
  for (size_t i = 0; i < count; i++) {
    const struct value *v = parts[i].value;
    struct uses *u = &b->uses[v->id];
    c->starts[i] = start;
    start = expr_add(b->x, start, v->shape[c->dim]);
    if (u->concatenation || v->dtype != whole->dtype)
      continue;
    u->concatenation = c;
    u->part = i;
  }
}

struct computed_source {
  const struct expr *numel;
  bool found;
};

static void note_source(void *user, const struct scalar *load) {
  struct computed_source *s = user;
  bool is_computed = load->buffer->role == BUFFER_TEMP || load->buffer->role == BUFFER_SLICE;
  s->found |= is_computed && load->buffer->value && load->buffer->numel == s->numel;
}

bool loops_is_part_of_stage(struct builder *b, const struct value *v, const struct scalar *body) {
  const struct uses *u = &b->uses[v->id];
  struct computed_source s = {value_numel(b->x, v), false};
  if (!u->concatenation || is_narrow(u->concatenation->parts[u->part].value, u->concatenation->dim))
    return false;
  scalar_loads(body, note_source, &s);
  return s.found;
}

bool loops_is_narrow_part(const struct concatenation *c, size_t part) {
  return is_narrow(c->parts[part].value, c->dim);
}

struct concatenation *loops_longer_concatenation(const struct builder *b, const struct node *n,
                                                 size_t *ret_first) {
  const struct arg *parts;
  size_t count = node_list(n, 0, &parts);
  const struct uses *u = count ? &b->uses[parts[0].value->id] : NULL;
  struct concatenation *c = u ? u->concatenation : NULL;
  if (!c || c->node == n || u->part_via || c->dim != node_dim(n, 1, n->results[0]->rank) ||
      n->results[0]->dtype != c->node->results[0]->dtype || count > c->count - u->part)
    return NULL;
  for (size_t i = 0; i < count; i++)
    if (c->parts[u->part + i].value != parts[i].value)
      return NULL;
  *ret_first = u->part;
  return c;
}
