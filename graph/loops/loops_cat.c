// SPDX-License-Identifier: Apache-2.0
// Concatenations. A short one selects a part for each element. A long one has a buffer, to which
// most parts have been written by the stages that compute them; the others are copied, several by
// one stage. A concatenation whose parts follow each other in a longer one is a slice of that one's
// buffer: a dense block concatenates ever more of the same values, and copies none.
#include "graph/loops/loops_internal.h"

enum { MOST_COPIED = 16 }; // parts that one stage copies: each element tests their bounds

static const struct expr **copy_offset(struct builder *b, uint32_t rank, coordinates at) {
  const struct expr **ret = loops_coordinates(b, rank);
  for (uint32_t i = 0; i < rank; i++)
    ret[i] = at[i];
  return ret;
}

static const struct expr *extent_of(struct builder *b, const struct arg *parts, size_t count,
                                    uint32_t dim) {
  const struct expr *sum = expr_const(b->x, 0);
  for (size_t i = 0; i < count; i++)
    sum = expr_add(b->x, sum, parts[i].value->shape[dim]);
  return sum;
}

// The element of `count` parts, one after another, at coordinates of a tensor of that rank.
static const struct scalar *select_part(struct builder *b, const struct arg *parts, size_t count,
                                        uint32_t rank, uint32_t dim, coordinates of) {
  const struct expr *end = extent_of(b, parts, count, dim), *start;
  const struct scalar *body = scalar_int(b->s, dtype_to_compute(parts[0].value->dtype), 0);
  const struct expr **at = copy_offset(b, rank, of);
  for (size_t i = count; i-- > 0; end = start) {
    const struct value *part = parts[i].value;
    start = i ? expr_sub(b->x, end, part->shape[dim]) : expr_const(b->x, 0);
    at[dim] = expr_sub(b->x, of[dim], start);
    // A part of one element has no axis.
    if (expr_is(part->shape[dim], 1))
      at[dim] = expr_const(b->x, 0);
    body = scalar_masked(b->s, loops_between(b, of[dim], start, end), loops_element(b, part, at),
                         body);
  }
  return body;
}

// ---- long ones ----

// A stage that copies parts first..last-1 to their slice.
static void copy_parts(struct builder *b, struct concatenation *c, size_t first, size_t last) {
  struct assignment h = loops_assign_range(b, c, first, last);
  const struct value *whole = c->node->results[0];
  const struct expr **at = loops_coordinates(b, whole->rank);
  for (uint32_t i = 0; i < whole->rank; i++)
    at[i] = loops_axis(
        b, 'x', i, i == c->dim ? extent_of(b, c->parts + first, last - first, i) : whole->shape[i]);
  struct stage *s = loops_stage(b, STAGE_MAP, c->node);
  loops_add_axes(b, s, whole->rank, at, false);
  s->body = select_part(b, c->parts + first, last - first, whole->rank, c->dim, at);
  s->dtype = s->body->dtype;
  s->out = h.buffer;
  s->offset = loops_part_offset(b, c, first, h.buffer, at);
  vec_push(b->arena, &s->origins, "cat");
  loops_add_slice(b, c, first, last, h.buffer);
}

// Copies those of the parts that no stage has written to their slices.
static void copy_others(struct builder *b, struct concatenation *c, size_t first, size_t last) {
  for (size_t i = first; i < last; i++) {
    size_t end = i;
    while (end < last && end < i + MOST_COPIED && !c->slices[end])
      end++;
    if (end == i)
      continue;
    copy_parts(b, c, i, end);
    i = end - 1;
  }
}

static bool lower_long(struct builder *b, const struct node *n, struct deferred *z,
                       struct concatenation *c) {
  const struct assignment *whole = loops_assign_whole(b, c);
  copy_others(b, c, 0, c->count);
  loops_inherit(b, z, n);
  loops_stored(b, z, whole);
  return true;
}

// ---- slices of longer ones ----

static bool lower_slice(struct builder *b, const struct node *n, struct deferred *z,
                        struct concatenation *c, size_t first) {
  const struct arg *parts;
  size_t last = first + node_list(n, 0, &parts);
  loops_assign_whole(b, c);
  copy_others(b, c, first, last);
  struct assignment h = loops_assign_range(b, c, first, last);
  bool is_whole = last - first == c->count;
  if (h.buffer == c->whole->buffer && !is_whole)
    return false;
  for (size_t i = first; i < last && !is_whole; i++)
    if (!h.buffer->parts.len || vec_last(&h.buffer->parts) != c->slices[i])
      vec_push(b->arena, &h.buffer->parts, c->slices[i]);
  const struct scalar *load =
      scalar_load(b->s, h.buffer, loops_part_offset(b, c, first, h.buffer, z->at));
  return loops_define(b, n, z, scalar_convert(b->s, load, dtype_to_compute(z->value->dtype)));
}

bool loops_lower_cat(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  const struct arg *parts;
  size_t count = node_list(n, 0, &parts), first;
  uint32_t dim = node_dim(n, 1, z->value->rank);
  struct concatenation *longer = loops_longer_concatenation(b, n, &first);
  if (longer && lower_slice(b, n, z, longer, first))
    return true;
  if (b->concatenations[z->value->id])
    return lower_long(b, n, z, b->concatenations[z->value->id]);
  return loops_define(b, n, z, select_part(b, parts, count, z->value->rank, dim, z->at));
}
