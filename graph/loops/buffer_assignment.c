// SPDX-License-Identifier: Apache-2.0
// Creates stages and assigns buffers to stored values. Outputs get the annotated strides, operands
// of products the order in which the product reads them.
#include "graph/loops/loops_internal.h"

// ---- stages ----

struct stage *loops_stage(struct builder *b, enum stage_kind kind, const struct node *n) {
  struct stage *s = arena_new(b->arena, struct stage);
  s->kind = kind;
  s->id = (uint32_t)b->l->stages.len;
  s->axes = loops_coordinates(b, GRAPH_MAX_RANK);
  s->span = n ? n->span : SPAN_NONE;
  s->part = n ? n->part : PART_FORWARD;
  vec_push(b->arena, &b->l->stages, s);
  return s;
}

void loops_add_axes(struct builder *b, struct stage *s, size_t count, coordinates at,
                    bool reduced) {
  (void)b;
  for (size_t i = 0; i < count; i++)
    if (at[i]->kind == EXPR_SYMBOL) {
      assert(s->rank + s->reduced < GRAPH_MAX_RANK && at[i]->symbol->limit);
      assert(reduced || s->reduced == 0); // reduced axes come last
      s->axes[s->rank + s->reduced] = at[i];
      s->reduced += reduced;
      s->rank += !reduced;
    }
}

// ---- buffers ----

struct buffer *loops_buffer(struct builder *b, enum buffer_role role, uint32_t index,
                            const struct value *v, const char *name, enum dtype t,
                            const struct expr *numel) {
  struct strbuf text = {.arena = b->arena};
  for (const char *c = name && *name ? name : "v"; *c; c++) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    bool digit = *c >= '0' && *c <= '9';
    if (digit && text.len == 0)
      strbuf_putc(&text, 'v');
    strbuf_putc(&text, letter || digit ? *c : '_');
  }
  const char *unique = unique_name(b->arena, &b->names, arena_strdup(b->arena, strbuf_cstr(&text)));
  strbuf_finish(&text);
  struct buffer *buffer = arena_new(b->arena, struct buffer);
  *buffer = (struct buffer){.id = (uint32_t)b->l->buffers.len,
                            .name = unique,
                            .dtype = t,
                            .role = role,
                            .index = index,
                            .numel = numel,
                            .value = v,
                            .home = buffer};
  vec_push(b->arena, &b->l->buffers, buffer);
  return buffer;
}

const struct expr *loops_span(struct builder *b, const struct value *v,
                              const struct expr *const *strides) {
  const struct expr *e = expr_const(b->x, 1);
  for (uint32_t i = 0; i < v->rank; i++) {
    if (expr_is(v->shape[i], 0))
      return v->shape[i];
    e = expr_add(b->x, e, expr_mul(b->x, expr_addi(b->x, v->shape[i], -1), strides[i]));
  }
  return e;
}

// Are the annotated strides those of a dense tensor, in any order of dimensions?
static bool is_dense(const struct value *v) {
  int64_t expected = 1;
  bool done[GRAPH_MAX_RANK] = {false};
  for (uint32_t left = v->rank; left > 0; left--) {
    uint32_t next = v->rank;
    for (uint32_t i = 0; i < v->rank; i++)
      if (!done[i] && (expr_is(v->shape[i], 1) || expr_is(v->strides[i], expected)) &&
          (next == v->rank || expr_is(v->shape[i], 1)))
        next = i;
    int64_t extent;
    if (next == v->rank || !expr_is_const(v->shape[next], &extent))
      return false;
    done[next] = true;
    expected *= extent;
  }
  return true;
}

static void add_path(struct builder *b, struct assignment *h, const struct node *n) {
  const struct node **path = arena_array(b->arena, const struct node *, h->path_count + 1);
  for (size_t i = 0; i < h->path_count; i++)
    path[i] = h->path[i];
  path[h->path_count++] = n;
  h->path = path;
}

static struct assignment output_assignment(struct builder *b, const struct value *v,
                                           uint32_t index) {
  struct assignment h = {.value = v};
  const struct value *last = v;
  for (const struct node *n; (n = b->uses[last->id].via); last = n->results[0])
    add_path(b, &h, n);
  h.strides = last->strides;
  h.buffer = loops_buffer(b, BUFFER_OUTPUT, index, last, last->name, last->dtype,
                          loops_span(b, last, last->strides));
  b->outputs[index] = h.buffer;
  return h;
}

// Is the offset linear in the last two dimensions, so that a tile can be stored as a block?
static bool is_linear(struct builder *b, const struct value *v, const struct expr *offset) {
  const struct expr *coefficient, *rest;
  for (uint32_t i = v->rank > 2 ? v->rank - 2 : 0; i < v->rank; i++) {
    const struct expr *at = loops_axis(b, 'x', i, v->shape[i]);
    if (at->kind == EXPR_SYMBOL && !expr_linear(b->x, offset, at, &coefficient, &rest))
      return false;
  }
  return true;
}

// Stores a value in the order in which a product reads it after views and pointwise operators, as
// long as tiles can be stored to it: the heads of attention go next to each other for the following
// product. Only views that merge permuted dimensions matter; a product reads transposed operands
// directly.
static bool toward_product(struct builder *b, const struct value *v, struct assignment *h) {
  enum { MAX_STEPS = 8 };
  const struct expr **at = loops_coordinates(b, v->rank);
  const struct value *last = v;
  struct assignment next = *h;
  const struct node *n;
  bool permutes = false, found = false;
  for (uint32_t i = 0; i < v->rank; i++)
    at[i] = loops_axis(b, 'x', i, v->shape[i]);
  for (unsigned step = 0; step < MAX_STEPS && (n = b->uses[last->id].toward); step++) {
    last = n->results[0];
    permutes |= n->op == OP_PERMUTE;
    if (!loops_is_view(n->op))
      continue; // pointwise: same coordinates
    add_path(b, &next, n);
    next.strides = contiguous_strides(b->x, b->arena, last->rank, last->shape);
    if (n->op != OP_VIEW || !permutes)
      continue;
    if (!is_linear(b, v, loops_offset(b, &next, at)))
      break;
    *h = next;
    found = true;
  }
  return found;
}

struct assignment loops_temporary(struct builder *b, struct value *v) {
  struct assignment h = {.value = v};
  if (!toward_product(b, v, &h)) {
    h.path_count = 0;
    h.strides = is_dense(v) ? v->strides : contiguous_strides(b->x, b->arena, v->rank, v->shape);
  }
  h.buffer = loops_buffer(b, BUFFER_TEMP, 0, v, v->name, v->dtype, value_numel(b->x, v));
  return h;
}

// ---- slices of concatenations ----

// The offset in the whole of an element of the parts from `first` on.
static const struct expr *offset_in_whole(struct builder *b, const struct concatenation *c,
                                          size_t first, coordinates at) {
  uint32_t rank = c->node->results[0]->rank;
  const struct expr **to = loops_coordinates(b, rank);
  for (uint32_t i = 0; i < rank; i++)
    to[i] = i == c->dim ? expr_add(b->x, at[i], c->starts[first]) : at[i];
  return loops_offset(b, c->whole, to);
}

static const struct expr *start_in_whole(struct builder *b, const struct concatenation *c,
                                         size_t first) {
  uint32_t rank = c->node->results[0]->rank;
  const struct expr **at = loops_coordinates(b, rank);
  for (uint32_t i = 0; i < rank; i++)
    at[i] = expr_const(b->x, 0);
  return offset_in_whole(b, c, first, at);
}

const struct expr *loops_part_offset(struct builder *b, const struct concatenation *c, size_t first,
                                     const struct buffer *of, coordinates at) {
  const struct expr *offset = offset_in_whole(b, c, first, at);
  return of == c->whole->buffer ? offset : expr_sub(b->x, offset, start_in_whole(b, c, first));
}

// The elements between the first and the last of the parts; NULL: offsets are not linear, so that
// elements may precede the first one.
static const struct expr *span_in_whole(struct builder *b, const struct concatenation *c,
                                        size_t first, size_t last) {
  const struct value *whole = c->node->results[0];
  const struct expr **at = loops_coordinates(b, whole->rank), *stride, *rest;
  const struct expr *end = last < c->count ? c->starts[last] : whole->shape[c->dim];
  for (uint32_t i = 0; i < whole->rank; i++)
    at[i] = loops_axis(b, 'x', i,
                       i == c->dim ? expr_sub(b->x, end, c->starts[first]) : whole->shape[i]);
  const struct expr *offset =
      expr_sub(b->x, offset_in_whole(b, c, first, at), start_in_whole(b, c, first));
  const struct expr *span = expr_const(b->x, 1);
  for (uint32_t i = 0; i < whole->rank; i++) {
    if (at[i]->kind != EXPR_SYMBOL)
      continue;
    if (!expr_linear(b->x, offset, at[i], &stride, &rest) || stride->lo < 0)
      return NULL;
    const struct expr *extent = expr_addi(b->x, axis_extent(at[i]), -1);
    span = expr_add(b->x, span, expr_mul(b->x, stride, extent));
    offset = rest;
  }
  return expr_is(offset, 0) ? span : NULL;
}

const struct assignment *loops_assign_whole(struct builder *b, struct concatenation *c) {
  if (c->whole)
    return c->whole;
  struct assignment *h = arena_new(b->arena, struct assignment);
  *h = loops_assign(b, c->node->results[0]);
  return c->whole = h;
}

struct assignment loops_assign_range(struct builder *b, struct concatenation *c, size_t first,
                                     size_t last) {
  const struct value *whole = c->node->results[0];
  struct buffer *of = c->whole->buffer;
  struct assignment h = {.value = whole, .buffer = of, .of = c, .part = first};
  const struct expr *span = span_in_whole(b, c, first, last), *start;
  if (!span || (first == 0 && last == c->count))
    return h;
  start = start_in_whole(b, c, first);
  if (of->role == BUFFER_SLICE)
    start = expr_add(b->x, start, of->start);
  const struct value *v = last == first + 1 ? c->parts[first].value : NULL;
  h.buffer = loops_buffer(b, BUFFER_SLICE, 0, v, v ? v->name : "cat", of->dtype, span);
  h.buffer->home = of->home;
  h.buffer->start = start;
  return h;
}

void loops_add_slice(struct builder *b, struct concatenation *c, size_t first, size_t last,
                     struct buffer *slice) {
  struct buffer *whole = c->whole->buffer, *home = whole->home;
  for (size_t i = first; i < last; i++)
    c->slices[i] = slice;
  if (slice == whole)
    return;
  vec_push(b->arena, &home->parts, slice);
  if (whole != home)
    vec_push(b->arena, &whole->parts, slice);
}

// Assigns a value to its slice, if the value is stored once and in order.
static bool assign_slice(struct builder *b, struct value *v, struct assignment *h) {
  const struct uses *u = &b->uses[v->id];
  struct concatenation *c = u->concatenation;
  *h = (struct assignment){.value = v};
  if (!c || c->slices[u->part] || loops_is_narrow_part(c, u->part) || toward_product(b, v, h))
    return false;
  *h = (struct assignment){.value = v};
  for (const struct node *n = u->part_via; n; n = b->uses[n->results[0]->id].part_via)
    add_path(b, h, n);
  loops_assign_whole(b, c);
  struct assignment slice = loops_assign_range(b, c, u->part, u->part + 1);
  if (slice.buffer->role != BUFFER_SLICE || slice.buffer == c->whole->buffer)
    return false;
  slice.buffer->value = v;
  loops_add_slice(b, c, u->part, u->part + 1, slice.buffer);
  h->buffer = slice.buffer;
  h->of = c;
  h->part = u->part;
  return true;
}

struct assignment loops_assign(struct builder *b, struct value *v) {
  int32_t output = b->uses[v->id].output;
  struct assignment slice;
  if (output >= 0 && !b->outputs[output])
    return output_assignment(b, v, (uint32_t)output);
  return assign_slice(b, v, &slice) ? slice : loops_temporary(b, v);
}

const struct expr *loops_offset(struct builder *b, const struct assignment *h, coordinates at) {
  const struct value *last = h->value;
  for (size_t i = 0; i < h->path_count; i++) {
    at = loops_view_back(b, h->path[i], at);
    assert(at); // a path has only views that reorder
    last = h->path[i]->results[0];
  }
  if (h->of)
    return loops_part_offset(b, h->of, h->part, h->buffer, at);
  return loops_dot(b, last->rank, at, h->strides);
}

void loops_stored(struct builder *b, struct deferred *z, const struct assignment *h) {
  z->body = scalar_convert(b->s, scalar_load(b->s, h->buffer, loops_offset(b, h, z->at)),
                           dtype_to_compute(z->value->dtype));
  b->deferred[z->value->id] = z;
}
