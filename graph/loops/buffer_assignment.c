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
  char *unique = arena_strdup(b->arena, strbuf_cstr(&text));
  for (unsigned i = 1; map_get(&b->names, str_from(unique)); i++)
    unique = arena_printf(b->arena, "%s_%u", strbuf_cstr(&text), i);
  strbuf_finish(&text);
  struct buffer *buffer = arena_new(b->arena, struct buffer);
  *buffer = (struct buffer){.id = (uint32_t)b->l->buffers.len,
                            .name = unique,
                            .dtype = t,
                            .role = role,
                            .index = index,
                            .numel = numel,
                            .value = v};
  map_put(b->arena, &b->names, str_from(unique), buffer);
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

struct assignment loops_assign(struct builder *b, struct value *v) {
  int32_t output = b->uses[v->id].output;
  return output >= 0 && !b->outputs[output] ? output_assignment(b, v, (uint32_t)output)
                                            : loops_temporary(b, v);
}

const struct expr *loops_offset(struct builder *b, const struct assignment *h, coordinates at) {
  const struct value *last = h->value;
  for (size_t i = 0; i < h->path_count; i++) {
    at = loops_view_back(b, h->path[i], at);
    assert(at); // a path has only views that reorder
    last = h->path[i]->results[0];
  }
  return loops_dot(b, last->rank, at, h->strides);
}

void loops_stored(struct builder *b, struct deferred *z, const struct assignment *h) {
  z->body = scalar_convert(b->s, scalar_load(b->s, h->buffer, loops_offset(b, h, z->at)),
                           dtype_to_compute(z->value->dtype));
  b->deferred[z->value->id] = z;
}
