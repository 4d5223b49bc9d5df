// SPDX-License-Identifier: Apache-2.0
// Reductions of rows: levels, and pairs that one pass computes.
#include "graph/plan/rows_plan.h"

bool reduce_is_index(const struct row_reduction *d) {
  return d->stage->op == REDUCE_ARGMAX || d->stage->op == REDUCE_ARGMIN;
}

enum dtype reduce_dtype(const struct row_reduction *d) {
  switch (d->stage->op) {
  case REDUCE_ANY:
  case REDUCE_ALL: return DTYPE_I32;
  case REDUCE_ARGMAX:
  case REDUCE_ARGMIN:
  case REDUCE_MAX:
  case REDUCE_MIN: return d->body->dtype == DTYPE_I1 ? DTYPE_I32 : d->body->dtype;
  default: return d->stage->dtype == DTYPE_I1 ? DTYPE_I64 : d->stage->dtype;
  }
}

// ---- levels ----

struct level_search {
  const struct rows *s;
  unsigned level;
};

static void note_level(void *user, const struct scalar *load) {
  struct level_search *l = user;
  for (size_t i = 0; i < l->s->reduction_count; i++)
    if (l->s->reductions[i].result == load && l->s->reductions[i].level + 1 > l->level)
      l->level = l->s->reductions[i].level + 1;
}

static unsigned level_of(const struct rows *s, const struct scalar *v) {
  struct level_search l = {s, 0};
  scalar_loads(v, note_level, &l);
  return l.level;
}

void rows_find_levels(struct rows *s) {
  s->levels = 0;
  for (size_t i = 0; i < s->reduction_count; i++)
    s->reductions[i].level = UINT32_MAX / 2;
  for (size_t i = 0; i < s->reduction_count; i++) {
    struct row_reduction *d = &s->reductions[i];
    d->level = d->pair ? d->first->level : level_of(s, d->body);
    if (d->level + 1 > s->levels)
      s->levels = d->level + 1;
  }
  for (size_t i = 0; i < s->write_count; i++) {
    s->writes[i].level = level_of(s, s->writes[i].body);
    s->writes[i].is_full =
        scalar_has_axis(s->writes[i].body, s->r) || expr_has_symbol(s->writes[i].offset, s->r);
  }
}

// ---- pairs ----

static bool is_apply(const struct scalar *v, enum scalar_op op) {
  return v->kind == SCALAR_APPLY && v->op == op;
}

static bool is_softmax_sum(const struct row_reduction *a, const struct row_reduction *b) {
  const struct scalar *v = b->body;
  return a->stage->op == REDUCE_MAX && b->stage->op == REDUCE_SUM && v->dtype == DTYPE_F32 &&
         (is_apply(v, SCALAR_EXP) || is_apply(v, SCALAR_FAST_EXP)) &&
         is_apply(v->in[0], SCALAR_SUB) && v->in[0]->in[0] == a->body &&
         v->in[0]->in[1] == a->result;
}

// Is m the mean of the row whose sum is a?
static bool is_mean(const struct rows *s, const struct scalar *m, const struct row_reduction *a) {
  int64_t n = 0;
  const struct scalar *by = is_apply(m, SCALAR_DIV) || is_apply(m, SCALAR_MUL) ? m->in[1] : NULL;
  if (!by || m->in[0] != a->result || !dtype_is_float(by->dtype))
    return false;
  if (by->kind == SCALAR_CONVERT && by->in[0]->kind == SCALAR_INDEX)
    return m->op == SCALAR_DIV && by->in[0]->index == axis_extent(s->r);
  if (by->kind != SCALAR_CONST || !expr_is_const(axis_extent(s->r), &n) || n < 1)
    return false;
  double want = m->op == SCALAR_DIV ? (double)n : 1.0 / (double)n;
  double off = by->constant.real / want - 1;
  return off < 1e-7 && off > -1e-7;
}

static bool is_variance_sum(const struct rows *s, const struct row_reduction *a,
                            const struct row_reduction *b) {
  const struct scalar *v = b->body;
  if (a->stage->op != REDUCE_SUM || b->stage->op != REDUCE_SUM || v->dtype != DTYPE_F32 ||
      !is_apply(v, SCALAR_MUL) || v->in[0] != v->in[1])
    return false;
  const struct scalar *d = v->in[0];
  return is_apply(d, SCALAR_SUB) && d->in[0] == a->body && is_mean(s, d->in[1], a);
}

void rows_find_pairs(struct rows *s) {
  for (size_t i = 0; i < s->reduction_count; i++)
    for (size_t j = 0; j < i && !s->reductions[i].pair; j++) {
      struct row_reduction *a = &s->reductions[j], *b = &s->reductions[i];
      if (a->pair || a->has_second)
        continue;
      b->pair = is_softmax_sum(a, b)       ? PAIR_SOFTMAX
                : is_variance_sum(s, a, b) ? PAIR_VARIANCE
                                           : PAIR_NONE;
      if (b->pair) {
        b->first = a;
        a->has_second = true;
      }
    }
  rows_find_levels(s);
}
