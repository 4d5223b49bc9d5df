// SPDX-License-Identifier: Apache-2.0
// Finds attention, in any spelling. If an operand of a product is a softmax over the scores of
// another product,
//
//   s[b, m, j] = sum over d of q[b, m, d] * k[b, j, d]
//   p[b, m, j] = exp(f(s[b, m, j]) - max[b, m]) / sum[b, m]
//   o[b, m, n] = sum over j of p[b, m, j] * v[b, j, n]
//
// both products and everything between become one stage; p may have a factor (dropout). f is any
// elementwise function of the score at its index: scales, masks and biases, in any order.
// Expression trees are compared after inlining materialised values, so that it does not matter
// which ones were stored.
#include "graph/fuse/attention_match.h"

#include <math.h>

enum { MAX_HEAD = 256 };

// ---- the softmax ----

static const struct scalar *bare(const struct scalar *v) {
  while (v->kind == SCALAR_CONVERT && dtype_is_float(v->dtype) && dtype_is_float(v->in[0]->dtype))
    v = v->in[0];
  return v;
}

static bool is_op(const struct scalar *v, enum scalar_op op) {
  return v->kind == SCALAR_APPLY && v->op == op;
}

// The reduction over keys that v loads for this query, with its expression tree at the key; NULL: v
// is not one.
static const struct scalar *row_reduction(struct match *m, const struct scalar *v,
                                          enum reduce_op op) {
  v = bare(v);
  const struct stage *s = v->kind == SCALAR_LOAD && v->buffer ? m->writer[v->buffer->id] : NULL;
  const struct expr *at[GRAPH_MAX_RANK];
  if (!s || s->kind != STAGE_REDUCE || s->op != op || s->reduced != 1 ||
      s->rank >= GRAPH_MAX_RANK || axis_extent(s->axes[s->rank]) != axis_extent(m->j) ||
      !offset_solve(m->f, s->offset, s->rank, s->axes, v->index, at))
    return NULL;
  at[s->rank] = m->j;
  return scalar_expr_write_in(m, scalar_substitute(m->f->s, s->body, s->rank + 1, s->axes, at));
}

static bool is_number(const struct scalar *v, double value) {
  v = bare(v);
  return v->kind == SCALAR_CONST && dtype_is_float(v->dtype) && v->constant.real == value;
}

// The maximum score of the row; also where(largest == -inf, 0, largest), which avoids NaN in empty
// rows.
static const struct scalar *row_maximum(struct match *m, const struct scalar *v) {
  v = bare(v);
  if ((v->kind == SCALAR_MASKED || is_op(v, SCALAR_WHERE)) && is_number(v->in[1], 0)) {
    const struct scalar *c = v->in[0];
    if (!is_op(c, SCALAR_EQ) || bare(c->in[0]) != bare(v->in[2]) ||
        !is_number(c->in[1], -(double)INFINITY))
      return NULL;
    v = v->in[2];
  }
  return row_reduction(m, v, REDUCE_MAX);
}

// exp(score - max), or exp(score) without a maximum.
static const struct scalar *score_of(struct match *m, const struct scalar *e) {
  e = bare(e);
  if (!is_op(e, SCALAR_EXP))
    return NULL;
  const struct scalar *d = bare(e->in[0]);
  if (!is_op(d, SCALAR_SUB))
    return d;
  const struct scalar *largest = row_maximum(m, d->in[1]);
  if (!largest)
    return d;
  return bare(largest) == bare(d->in[0]) ? bare(d->in[0]) : NULL;
}

// e / sum of e, in any form of the division.
static const struct scalar *score_of_softmax(struct match *m, const struct scalar *p) {
  p = bare(p);
  const struct scalar *e = NULL, *sum = NULL;
  if (is_op(p, SCALAR_DIV)) {
    e = p->in[0];
    sum = p->in[1];
  } else if (is_op(p, SCALAR_MUL)) {
    for (int i = 0; i < 2; i++) {
      const struct scalar *r = bare(p->in[i]);
      if (is_op(r, SCALAR_RECIPROCAL) || (is_op(r, SCALAR_DIV) && is_number(r->in[0], 1))) {
        sum = r->in[is_op(r, SCALAR_DIV)];
        e = p->in[1 - i];
      }
    }
  }
  if (!sum)
    return NULL;
  const struct scalar *added = row_reduction(m, sum, REDUCE_SUM);
  return added && bare(added) == bare(e) ? score_of(m, e) : NULL;
}

// Is v true exactly where all scores of the row are -inf?
static bool is_empty_row(struct match *m, const struct scalar *v, const struct scalar *score) {
  if (is_op(v, SCALAR_EQ) && is_number(v->in[1], -(double)INFINITY)) {
    const struct scalar *largest = row_reduction(m, v->in[0], REDUCE_MAX);
    if (largest && bare(largest) == score)
      return true;
  }
  bool negated = false;
  while (is_op(v, SCALAR_NOT)) {
    negated = !negated;
    v = v->in[0];
  }
  const struct scalar *each = row_reduction(m, v, negated ? REDUCE_ANY : REDUCE_ALL);
  for (; each && is_op(each, SCALAR_NOT); each = each->in[0])
    negated = !negated;
  return each && is_op(each, negated ? SCALAR_NE : SCALAR_EQ) && bare(each->in[0]) == score &&
         is_number(each->in[1], -(double)INFINITY);
}

static bool match_softmax(struct match *m, const struct scalar *p) {
  p = bare(p);
  const struct scalar *choice = NULL;
  if (p->kind == SCALAR_MASKED || is_op(p, SCALAR_WHERE)) {
    choice = p->in[0];
    bool zero_first = is_number(p->in[1], 0);
    if (!zero_first && !is_number(p->in[2], 0))
      return false;
    if (!zero_first) { // where(not empty, softmax, 0)
      const struct scalar *in[1] = {choice};
      choice = scalar_apply(m->f->s, SCALAR_NOT, DTYPE_I1, in);
    }
    p = p->in[zero_first ? 2 : 1];
  }
  m->score = score_of_softmax(m, p);
  m->zero_empty_rows = choice != NULL;
  return m->score && (!choice || is_empty_row(m, choice, m->score));
}

static void note_anchor(void *user, const struct scalar *v) {
  struct match *m = user;
  if (v->kind == SCALAR_LOAD && v->buffer)
    m->found_anchor |= m->has_anchor[v->buffer->id];
}

// A softmax times what reads no product or reduction: dropout, drawn or stored.
static bool match_weights(struct match *m, const struct scalar *p) {
  if (match_softmax(m, p))
    return true;
  p = bare(p);
  for (int i = 0; i < 2 && is_op(p, SCALAR_MUL); i++) {
    m->found_anchor = false;
    scalar_loads(p->in[1 - i], note_anchor, m);
    const struct scalar *before = m->kept,
                        *factor = scalar_convert(m->f->s, p->in[1 - i], DTYPE_F32);
    if (m->found_anchor)
      continue;
    const struct scalar *both[2] = {before, factor};
    m->kept = before ? scalar_apply(m->f->s, SCALAR_MUL, DTYPE_F32, both) : factor;
    if (match_weights(m, p->in[i]))
      return true;
    m->kept = before;
  }
  return false;
}

// ---- the product of queries and keys ----

struct find_product {
  struct match *m;
  const struct scalar *load;
  unsigned count;
};

static void note_product(void *user, const struct scalar *load) {
  struct find_product *p = user;
  struct match *m = p->m;
  struct stage *s = load->buffer ? m->writer[load->buffer->id] : NULL;
  const struct expr *at[GRAPH_MAX_RANK];
  if (!s || s->kind != STAGE_PRODUCT || s->groups ||
      !offset_solve(m->f, s->offset, s->rank, s->axes, load->index, at))
    return;
  bool one_key = expr_is(axis_extent(m->j), 1), one_query = expr_is(axis_extent(m->m), 1);
  if ((at[1] != m->m && !one_query) || (at[2] != m->j && !one_key) ||
      expr_has_symbol(at[0], m->m) || expr_has_symbol(at[0], m->j) ||
      axis_extent(s->axes[1]) != axis_extent(m->m) || axis_extent(s->axes[2]) != axis_extent(m->j))
    return;
  p->load = load;
  p->count++;
  m->inner = s;
  m->batch = at[0];
}

// A program keeps a block of queries and one of results in registers.
static bool fits(const struct expr *axis) {
  int64_t extent;
  return expr_is_const(axis_extent(axis), &extent) && extent <= MAX_HEAD;
}

static bool match_inner(struct match *m) {
  struct find_product p = {.m = m};
  scalar_loads(m->score, note_product, &p);
  m->product = p.load;
  return p.count == 1 && fits(m->inner->axes[3]) && fits(m->outer->axes[2]);
}

// ---- other users of removed stages ----

struct needs {
  struct match *m;
  uint32_t *left; // loads of each buffer by remaining stages
  bool *goes;     // by stage: is removed
  VEC(struct stage *) open;
  uint32_t *last, number; // by buffer: the last stage whose load was counted
};

static bool is_first_load(struct needs *n, const struct scalar *v) {
  if (v->kind != SCALAR_LOAD || !v->buffer || n->last[v->buffer->id] == n->number)
    return false;
  n->last[v->buffer->id] = n->number;
  return true;
}

static void keep_load(void *user, const struct scalar *v) {
  struct needs *n = user;
  if (is_first_load(n, v))
    n->left[v->buffer->id]++;
}

static void drop_load(void *user, const struct scalar *v) {
  struct needs *n = user;
  if (!is_first_load(n, v))
    return;
  struct stage *s = n->m->writer[v->buffer->id];
  if (--n->left[v->buffer->id] == 0 && s && v->buffer->role == BUFFER_TEMP)
    vec_push(n->m->f->arena, &n->open, s);
}

// Marks the stages that are dead once `new` replaces the outer product.
static struct needs drop_unneeded(struct match *m, const struct stage *new) {
  struct fuser *f = m->f;
  struct needs n = {.m = m};
  n.left = arena_array(f->arena, uint32_t, f->buffer_count + 1);
  n.last = arena_array(f->arena, uint32_t, f->buffer_count + 1);
  n.goes = arena_array(f->arena, bool, f->l->stages.len + 1);
  for (uint32_t i = 0; i < f->buffer_count; i++)
    n.left[i] = f->uses[i].loads;
  n.number = 1;
  stage_scalar_exprs(f, new, keep_load, &n);
  vec_push(f->arena, &n.open, m->outer);
  for (size_t i = 0; i < n.open.len; i++) {
    n.number++;
    n.goes[n.open.at[i]->id] = true;
    stage_scalar_exprs(f, n.open.at[i], drop_load, &n);
  }
  return n;
}

// ---- replacement ----

static struct attention *build(struct match *m) {
  struct fuser *f = m->f;
  struct attention *t = arena_new(f->arena, struct attention);
  const struct stage *in = m->inner, *out = m->outer;
  t->key = axis_create(f, "key", axis_extent(m->j));
  t->depth = axis_create(f, "depth", axis_extent(in->axes[3]));
  const struct expr *to[4] = {m->batch, m->m, t->key, t->depth};
  t->q = scalar_substitute(f->s, in->a, 4, in->axes, to);
  t->k = scalar_substitute(f->s, in->b, 4, in->axes, to);
  t->v = scalar_substitute(f->s, out->b, 1, &m->j, &t->key);
  t->product = scalar_load(f->s, NULL, expr_const(f->x, 0));
  const struct scalar *parts[2] = {scalar_convert(f->s, m->product, DTYPE_F32), m->product};
  const struct scalar *with[2] = {t->product, t->product};
  t->score = scalar_replace(f->s, m->score, 2, parts, with);
  t->score = scalar_substitute(f->s, t->score, 1, &m->j, &t->key);
  t->score = scalar_convert(f->s, t->score, DTYPE_F32);
  if (m->kept)
    t->kept = scalar_substitute(f->s, m->kept, 1, &m->j, &t->key);
  t->zero_empty_rows = m->zero_empty_rows;
  return t;
}

static bool match_product(struct match *m, struct stage *s) {
  m->outer = s;
  m->m = s->axes[1];
  m->j = s->axes[3];
  m->kept = NULL;
  return match_weights(m, scalar_expr_write_in(m, s->a)) && match_inner(m);
}

static void replace(struct match *m) {
  struct fuser *f = m->f;
  struct stage *s = arena_dup(f->arena, m->outer, sizeof *s, _Alignof(struct stage));
  s->kind = STAGE_ATTENTION;
  s->reduced = 0;
  s->a = s->b = NULL;
  s->attention = build(m);
  s->origins.at = NULL;
  s->origins.len = s->origins.cap = 0;
  vec_push(f->arena, &s->origins, "attention");
  struct needs n = drop_unneeded(m, s);
  if (!n.goes[m->inner->id]) {
    diag_remark(
        f->l->diag, s->span, "fusion",
        "the softmax between two products is not fused into attention: its scores or probabilities "
        "are needed elsewhere");
    return;
  }
  for (uint32_t i = 0; i < f->buffer_count; i++)
    f->uses[i].loads = n.left[i];
  size_t kept = 0;
  for (size_t i = 0; i < f->stages.len; i++) {
    struct stage *old = f->stages.at[i];
    if (old == m->outer)
      f->stages.at[kept++] = s;
    else if (!n.goes[old->id])
      f->stages.at[kept++] = old;
  }
  f->stages.len = kept;
}

static void find_writers(struct match *m) {
  struct fuser *f = m->f;
  m->writer = arena_array(f->arena, struct stage *, f->buffer_count + 1);
  m->has_anchor = arena_array(f->arena, bool, f->buffer_count + 1);
  for (size_t i = 0; i < f->stages.len; i++) {
    struct stage *s = f->stages.at[i];
    if (f->uses[s->out->id].writers != 1 || s->out->role == BUFFER_INPUT)
      continue;
    m->writer[s->out->id] = s;
    m->found_anchor = s->kind == STAGE_PRODUCT || s->kind == STAGE_REDUCE;
    if (s->kind == STAGE_MAP)
      stage_scalar_exprs(f, s, note_anchor, m);
    m->has_anchor[s->out->id] = m->found_anchor;
  }
}

void attention_match(struct fuser *f) {
  struct match m = {.f = f};
  find_writers(&m);
  for (size_t i = 0; i < f->l->stages.len; i++) {
    struct stage *s = f->l->stages.at[i];
    if (s->kind == STAGE_PRODUCT && !s->groups && match_product(&m, s))
      replace(&m);
  }
}
