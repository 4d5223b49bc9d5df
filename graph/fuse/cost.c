// SPDX-License-Identifier: Apache-2.0
// Minimal traffic and operations of a region, and the traffic saved by fusing two groups.
#include "graph/fuse/fuse.h"

// The number of elements that an access touches: the product of the extents it depends on, at most
// the size of the buffer.
const struct expr *access_bytes(struct fuser *f, const struct group *g, const struct access *a) {
  const struct expr *count = expr_const(f->x, 1);
  for (size_t i = 0; i < g->loop_dims.len; i++)
    if (offset_has_axis(f, a->offset, g->loop_dims.at[i].axis))
      count = expr_mul(f->x, count, axis_extent(g->loop_dims.at[i].axis));
  const struct stage *s = g->members.at[0]->stage;
  // Keys and groups of rows are no loop dimensions.
  if (s->attention || s->call ||
      (a->member->stage->groups && offset_has_axis(f, a->offset, a->member->stage->groups->group)))
    count = a->buffer->numel;
  count = expr_min(f->x, count, a->buffer->numel);
  return expr_muli(f->x, count, dtype_bytes(a->buffer->dtype));
}

static bool has_buffer(struct buffer *const *list, size_t len, const struct buffer *b) {
  for (size_t i = 0; i < len; i++)
    if (list[i] == b)
      return true;
  return false;
}

static bool is_repeated(const struct group *g, size_t i) {
  const struct access *a = g->accesses.at;
  for (size_t j = 0; j < i; j++)
    if (a[j].buffer == a[i].buffer && a[j].offset == a[i].offset && a[j].is_store == a[i].is_store)
      return true;
  return false;
}

static const struct expr *bytes_of(struct fuser *f, const struct group *g, const struct buffer *b,
                                   bool is_store) {
  const struct expr *sum = expr_const(f->x, 0);
  for (size_t i = 0; i < g->accesses.len; i++)
    if (g->accesses.at[i].buffer == b && g->accesses.at[i].is_store == is_store &&
        !is_repeated(g, i))
      sum = expr_add(f->x, sum, access_bytes(f, g, &g->accesses.at[i]));
  return expr_min(f->x, sum, expr_muli(f->x, b->numel, dtype_bytes(b->dtype)));
}

static const struct expr *elements(struct fuser *f, const struct stage *s) {
  const struct expr *count = expr_const(f->x, 1);
  for (uint32_t i = 0; i < s->rank + s->reduced; i++)
    count = expr_mul(f->x, count, axis_extent(s->axes[i]));
  return count;
}

// Operations of all expression trees for each element, and two for each inner element of a product.
static const struct expr *stage_flops(struct fuser *f, const struct stage *s) {
  const struct expr *n = elements(f, s);
  if (s->kind == STAGE_CALL)
    return expr_const(f->x, 0);
  if (s->kind == STAGE_PRODUCT && s->groups && !s->groups->of_rows) // the batch has parts of k
    n = expr_floordiv(f->x, n, expr_max(f->x, axis_extent(s->axes[0]), expr_const(f->x, 1)));
  if (s->kind == STAGE_PRODUCT)
    return expr_muli(f->x, n, 2);
  if (s->kind == STAGE_ATTENTION) {
    const struct attention *t = s->attention;
    const struct expr *scores = expr_mul(f->x, axis_extent(s->axes[0]), axis_extent(s->axes[1]));
    scores = expr_mul(f->x, scores, axis_extent(t->key));
    const struct expr *depths = expr_add(f->x, axis_extent(t->depth), axis_extent(s->axes[2]));
    return expr_muli(f->x, expr_mul(f->x, scores, depths), 2);
  }
  return expr_muli(f->x, n, scalar_cost(s->body) + (s->kind != STAGE_MAP));
}

bool group_makes(const struct group *g, const struct buffer *b) {
  for (size_t i = 0; i < g->members.len && b->role != BUFFER_INPUT; i++)
    if (g->members.at[i]->stage->out == b && g->members.at[i]->stage->kind != STAGE_SCATTER)
      return true;
  return false;
}

uint32_t group_loads(const struct group *g, const struct buffer *b) {
  const struct member *last = NULL; // accesses of a member follow each other
  uint32_t count = 0;
  for (size_t i = 0; i < g->accesses.len; i++) {
    const struct access *a = &g->accesses.at[i];
    if (a->is_store || a->buffer != b || a->member == last)
      continue;
    last = a->member;
    count++;
  }
  return count;
}

bool group_stores(const struct fuser *f, const struct group *g, const struct buffer *b) {
  return b->role != BUFFER_TEMP || group_loads(g, b) < f->uses[b->id].loads;
}

// The region's reads, writes, minimal traffic and operations.
void region_count(struct fuser *f, const struct group *g, struct region *r) {
  r->bytes = r->flops = expr_const(f->x, 0);
  for (size_t i = 0; i < g->accesses.len; i++) {
    struct buffer *b = g->accesses.at[i].buffer;
    bool loads = !g->accesses.at[i].is_store;
    if (loads && (group_makes(g, b) || has_buffer(r->reads.at, r->reads.len, b)))
      continue;
    if (!loads && (!group_stores(f, g, b) || has_buffer(r->writes.at, r->writes.len, b)))
      continue;
    if (loads)
      vec_push(f->arena, &r->reads, b);
    else
      vec_push(f->arena, &r->writes, b);
    r->bytes = expr_add(f->x, r->bytes, bytes_of(f, g, b, !loads));
  }
  for (size_t i = 0; i < g->members.len; i++)
    r->flops = expr_add(f->x, r->flops, stage_flops(f, g->members.at[i]->stage));
}
