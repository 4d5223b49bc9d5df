// SPDX-License-Identifier: Apache-2.0
// Regions without a kernel: outputs that alias inputs or other outputs, and zeros. They become
// device copies and memsets: copies of inputs before all launches, copies of outputs after them,
// zeros before the first launch that uses them.
#include "graph/plan/plan.h"

#include <math.h>

// Does the stage write every element of `out`?
static bool is_dense(struct exprs *x, const struct stage *s) {
  const struct expr *count = expr_const(x, 1);
  for (uint32_t i = 0; i < s->rank; i++)
    count = expr_mul(x, count, axis_extent(s->axes[i]));
  return count == s->out->numel;
}

// A load that is stored unchanged.
static const struct scalar *copied(const struct stage *s) {
  const struct scalar *v = s->body;
  if (v->kind == SCALAR_CONVERT && v->in[0]->kind == SCALAR_LOAD &&
      (v->in[0]->dtype == DTYPE_F16 || v->in[0]->dtype == DTYPE_BF16) && v->dtype == DTYPE_F32)
    v = v->in[0];
  return v->kind == SCALAR_LOAD && v->dtype == s->out->dtype ? v : NULL;
}

static bool find_copy(struct program *p, const struct stage *s, struct program_copy *ret) {
  struct exprs *x = p->regions->loops->exprs;
  const struct scalar *v = copied(s);
  if (!v || !v->buffer || s->out->role != BUFFER_OUTPUT || v->buffer->home->role == BUFFER_TEMP ||
      v->buffer->dtype != s->out->dtype)
    return false;
  const struct expr *offset = expr_sub(x, v->index, s->offset);
  if (v->buffer->role == BUFFER_SLICE)
    offset = expr_add(x, offset, v->buffer->start);
  if (!expr_is_const(offset, NULL) || offset->value < 0)
    return false;
  unsigned size = dtype_bytes(s->out->dtype);
  *ret = (struct program_copy){v->buffer->home, s->out, expr_muli(x, offset, size),
                               expr_muli(x, s->out->numel, size)};
  return true;
}

static bool is_zeros(const struct stage *s) {
  const struct scalar *v = s->body;
  if (v->kind != SCALAR_CONST)
    return false;
  return dtype_is_float(v->dtype) ? v->constant.real == 0 && !signbit(v->constant.real)
                                  : v->constant.integer == 0;
}

bool plan_without_kernel(struct program *p, const struct region *r) {
  struct program_copy copy;
  for (size_t i = 0; i < r->stages.len; i++) {
    const struct stage *s = r->stages.at[i];
    if (s->kind != STAGE_MAP || s->out->role == BUFFER_INPUT || s->out->role == BUFFER_SLICE ||
        !is_dense(p->regions->loops->exprs, s) || !(is_zeros(s) || find_copy(p, s, &copy)))
      return false;
  }
  for (size_t i = 0; i < r->stages.len; i++) {
    const struct stage *s = r->stages.at[i];
    if (find_copy(p, s, &copy))
      vec_push(p->arena, &p->copies, copy);
    else
      vec_push(p->arena, &p->zeros, (struct program_zeros){r, s->out, p->plans.len});
  }
  return true;
}

// ---- zeros ----

static bool touches(const struct kernel_plan *k, const struct buffer *b) {
  for (size_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.at[i].buffer == b)
      return true;
  return k->last_block && touches(k->last_block, b);
}

static bool clear_before_use(struct program *p, const struct program_zeros *z) {
  for (size_t i = z->launches; i < p->plans.len; i++) {
    struct kernel_plan *k = p->plans.at[i];
    if (!touches(k, z->buffer))
      continue;
    if (k->clears && k->clears != z->buffer)
      return false;
    k->clears = z->buffer;
    return true;
  }
  return false;
}

// Moves the last kernel to its index in region order.
static void move_last(struct program *p, size_t to) {
  struct kernel_plan *last = vec_last(&p->plans);
  memmove(&p->plans.at[to + 1], &p->plans.at[to], (p->plans.len - 1 - to) * sizeof p->plans.at[0]);
  p->plans.at[to] = last;
}

bool plan_zeros(struct program *p, const struct program_options *o) {
  for (size_t i = p->zeros.len; i-- > 0;) { // from the last, so that earlier indices stay valid
    const struct program_zeros *z = &p->zeros.at[i];
    if (clear_before_use(p, z))
      continue;
    struct region alone = *z->region;
    alone.stages.len = 0;
    alone.stages.cap = 0;
    alone.stages.at = NULL;
    alone.writes.len = 0;
    alone.writes.cap = 0;
    alone.writes.at = NULL;
    for (size_t k = 0; k < z->region->stages.len; k++)
      if (z->region->stages.at[k]->out == z->buffer)
        vec_push(p->arena, &alone.stages, z->region->stages.at[k]);
    vec_push(p->arena, &alone.writes, z->buffer);
    struct region *kept = arena_dup(p->arena, &alone, sizeof alone, _Alignof(struct region));
    if (!plan_map(p, kept, o))
      return false;
    move_last(p, z->launches);
  }
  return true;
}
