// SPDX-License-Identifier: Apache-2.0
// The expression trees of a region: substitutes its intermediate values into their users, which
// leaves two lists: reductions and stores.
#include "graph/plan/plan.h"

struct replacing {
  struct program *p;
  struct scalars *s;
  VEC(const struct scalar *) from, to;
};

static void replace(struct replacing *r, const struct scalar *from, const struct scalar *to) {
  if (from == to)
    return;
  vec_push(r->p->arena, &r->from, from);
  vec_push(r->p->arena, &r->to, to);
}

// Replaces loads of what `s` writes by `body`. It was computed in f32 if the buffer has half
// precision, and is not rounded.
static void make_known(struct replacing *r, const struct stage *s, const struct scalar *body) {
  const struct scalar *load = scalar_load(r->s, s->out, s->offset);
  bool is_half = s->out->dtype == DTYPE_F16 || s->out->dtype == DTYPE_BF16;
  if (is_half && body->dtype == DTYPE_F32)
    replace(r, scalar_convert(r->s, load, DTYPE_F32), body);
  replace(r, load, scalar_convert(r->s, body, s->out->dtype));
}

static const struct scalar *written_in(struct replacing *r, const struct scalar *v) {
  return v ? scalar_replace(r->s, v, r->from.len, r->from.at, r->to.at) : NULL;
}

// Where the stage writes. A scatter may find its indices by what the region computes.
static const struct expr *offset_in(struct replacing *r, const struct stage *s) {
  return index_replace(r->s, s->offset, r->from.len, r->from.at, r->to.at);
}

static bool goes_to_memory(const struct region *r, const struct buffer *b) {
  for (size_t i = 0; i < r->writes.len; i++)
    if (r->writes.at[i] == b)
      return true;
  return false;
}

// A placeholder for the result of a reduction or a scan in expression trees.
static const struct scalar *result_of(struct replacing *r, const struct stage *s) {
  struct buffer *b = arena_new(r->p->arena, struct buffer);
  b->name = "result";
  b->dtype = s->op == REDUCE_ARGMAX || s->op == REDUCE_ARGMIN ? DTYPE_I64
             : s->op == REDUCE_ANY || s->op == REDUCE_ALL     ? DTYPE_I1
                                                              : s->dtype;
  b->role = BUFFER_TEMP;
  b->home = b;
  b->id = UINT32_MAX;
  return scalar_load(r->s, b, s->offset);
}

struct region_parts region_parts_of(struct program *p, const struct region *region) {
  struct region_parts ret = {0};
  struct replacing r = {.p = p, .s = p->regions->loops->scalars};
  for (size_t i = 0; i < region->stages.len; i++) {
    const struct stage *s = region->stages.at[i];
    const struct scalar *body = written_in(&r, s->body);
    if (s->kind == STAGE_REDUCE || s->kind == STAGE_SCAN) {
      const struct scalar *result = result_of(&r, s);
      vec_push(p->arena, &ret.reductions, (struct reduction_part){s, body, result});
      body = result;
    }
    if (goes_to_memory(region, s->out) || s->out->role != BUFFER_TEMP)
      vec_push(p->arena, &ret.writes, (struct write_part){s, s->out, offset_in(&r, s), body});
    else if (s->kind == STAGE_MAP)
      vec_push(p->arena, &ret.maps, (struct map_part){s, body});
    if (s->kind == STAGE_MAP || s->kind == STAGE_REDUCE || s->kind == STAGE_SCAN)
      if (s->out->role != BUFFER_INPUT)
        make_known(&r, s, body);
  }
  return ret;
}
