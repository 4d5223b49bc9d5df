// SPDX-License-Identifier: Apache-2.0
// Interprets stages in double precision, for tests that compare the graph interpreter, loops and
// kernels.
#include "base/memory.h"
#include "graph/loops/tape.h"
#include "graph/reference/interpret.h"

#include <math.h>
#include <stdlib.h>

struct execution {
  const struct loops *l;
  struct tape_context c;
  struct tape *t;
  const struct stage *s;
  uint32_t body, offset, predicate, a, b; // registers
  union element acc;
  int64_t count; // elements of the reduction so far
  double *fill;  // the next element of the matrix being filled
};

static bool size_of(const struct execution *x, const struct expr *e, int64_t *ret) {
  const struct graph *g = x->l->graph;
  return expr_eval(e, g->symbols.len, g->symbols.at, x->c.sizes, ret);
}

// ---- tensors and buffers ----

static bool shape_of(const struct execution *x, const struct value *v, int64_t *shape,
                     int64_t *strides) {
  for (uint32_t i = 0; i < v->rank; i++)
    if (!size_of(x, v->shape[i], &shape[i]) || !size_of(x, v->strides[i], &strides[i]))
      return false;
  return true;
}

static void copy_strided(struct tensor *t, const int64_t *strides, struct memory *m,
                         bool to_tensor) {
  for (int64_t i = 0; i < t->numel; i++) {
    int64_t offset = 0, rest = i;
    for (uint32_t d = t->rank; d-- > 0; rest /= t->shape[d])
      offset += rest % t->shape[d] * strides[d];
    if (offset < 0 || offset >= m->numel)
      continue;
    if (to_tensor)
      t->at[i] = m->at[offset];
    else
      m->at[offset] = t->at[i];
  }
}

static bool allocate(struct execution *x) {
  for (size_t i = 0; i < x->l->buffers.len; i++) {
    struct memory *m = &x->c.memory[i];
    if (!size_of(x, x->l->buffers.at[i]->numel, &m->numel) || m->numel < 0 || m->numel > INT32_MAX)
      return false;
    m->at = memory_zeroed((size_t)m->numel + 1, sizeof *m->at);
    if (!m->at)
      return false;
  }
  return true;
}

static bool move_inputs(struct execution *x, struct tensor *const *inputs) {
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  for (size_t i = 0; i < x->l->buffers.len; i++) {
    const struct buffer *b = x->l->buffers.at[i];
    if (b->role != BUFFER_INPUT)
      continue;
    if (!shape_of(x, b->value, shape, strides))
      return false;
    copy_strided(inputs[b->index], strides, &x->c.memory[i], false);
  }
  return true;
}

static struct tensor *read_back(const struct execution *x, const struct value *v,
                                const struct buffer *b) {
  int64_t shape[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  if (!b || !shape_of(x, v, shape, strides))
    return NULL;
  struct tensor *t = tensor_create(v->dtype, v->rank, shape);
  if (t)
    copy_strided(t, strides, &x->c.memory[b->id], true);
  return t;
}

static const struct buffer *find_buffer(const struct loops *l, enum buffer_role role,
                                        uint32_t index) {
  for (size_t i = 0; i < l->buffers.len; i++)
    if (l->buffers.at[i]->role == role && l->buffers.at[i]->index == index)
      return l->buffers.at[i];
  return NULL;
}

static bool move_outputs(const struct execution *x, struct tensor **ret) {
  const struct graph *g = x->l->graph;
  bool ok = true;
  for (size_t i = 0; i < g->outputs.len; i++) {
    const struct value *v = g->outputs.at[i];
    ret[i] = v ? read_back(x, v, find_buffer(x->l, BUFFER_OUTPUT, (uint32_t)i)) : NULL;
    ok = ok && (!v || ret[i]);
  }
  for (size_t i = 0; i < g->mutations.len; i++) {
    const struct value *v = g->mutations.at[i].input;
    const struct buffer *b = NULL;
    for (size_t k = 0; k < x->l->buffers.len; k++)
      if (x->l->buffers.at[k]->role == BUFFER_INPUT && x->l->buffers.at[k]->value == v)
        b = x->l->buffers.at[k];
    ret[g->outputs.len + i] = read_back(x, v, b);
    ok = ok && ret[g->outputs.len + i];
  }
  return ok;
}

static void put(struct execution *x, struct buffer *b, int64_t offset, union element e,
                enum dtype from) {
  struct memory *m = &x->c.memory[b->id];
  if (offset < 0 || offset >= m->numel)
    return;
  m->at[offset] = element_cast(e, from, b->dtype, x->l->graph->keeps_casts);
  if (!dtype_is_float(b->dtype))
    m->at[offset] = element_round(m->at[offset], b->dtype);
}

// ---- maps and scatters ----

static void store_body(void *user) {
  struct execution *x = user;
  put(x, x->s->out, tape_get(x->t, x->offset).integer, tape_get(x->t, x->body), x->s->body->dtype);
}

static void scatter_body(void *user) {
  struct execution *x = user;
  if (x->s->predicate && !tape_get(x->t, x->predicate).integer)
    return;
  int64_t offset = tape_get(x->t, x->offset).integer;
  const struct memory *m = &x->c.memory[x->s->out->id];
  if (!x->s->accumulates || offset < 0 || offset >= m->numel) {
    store_body(x);
    return;
  }
  enum dtype t = x->s->body->dtype;
  union element in[2] = {element_convert(m->at[offset], x->s->out->dtype, t),
                         tape_get(x->t, x->body)};
  put(x, x->s->out, offset, scalar_eval(SCALAR_ADD, t, in), t);
}

static void run_map(struct execution *x) {
  const struct stage *s = x->s;
  x->t = tape_create(&x->c, s->rank, s->axes);
  x->body = tape_scalar(x->t, s->body);
  x->offset = tape_expr(x->t, s->offset);
  if (s->predicate)
    x->predicate = tape_scalar(x->t, s->predicate);
  tape_loop(x->t, 0, s->rank, s->kind == STAGE_MAP ? store_body : scatter_body, x);
}

// ---- reductions and scans ----

static bool is_better(const struct execution *x, union element e) {
  bool is_max = x->s->op == REDUCE_ARGMAX;
  if (!dtype_is_float(x->s->dtype))
    return is_max ? e.integer > x->acc.integer : e.integer < x->acc.integer;
  if (isnan(x->acc.real))
    return false;
  return isnan(e.real) || (is_max ? e.real > x->acc.real : e.real < x->acc.real);
}

struct reducing {
  struct execution *x;
  int64_t best;
};

static void accumulate(void *user) {
  struct reducing *r = user;
  struct execution *x = r->x;
  union element e = tape_get(x->t, x->body);
  bool first = x->count++ == 0;
  if (x->s->op == REDUCE_ARGMAX || x->s->op == REDUCE_ARGMIN) {
    if (first || is_better(x, e)) {
      x->acc = e;
      r->best = x->count - 1;
    }
  } else {
    union element in[2] = {x->acc, e};
    x->acc = first ? e : scalar_eval(reduce_scalar_op(x->s->op), x->s->dtype, in);
  }
  if (x->s->kind == STAGE_SCAN)
    put(x, x->s->out, tape_get(x->t, x->offset).integer, x->acc, x->s->dtype);
}

static union element empty_result(const struct stage *s) {
  int64_t value = s->op == REDUCE_PROD || s->op == REDUCE_ALL;
  return element_convert((union element){.integer = value}, DTYPE_I64, s->dtype);
}

static void reduce_one(void *user) {
  struct execution *x = user;
  struct reducing r = {.x = x};
  x->count = 0;
  x->acc = empty_result(x->s);
  tape_loop(x->t, x->s->rank, x->s->rank + x->s->reduced, accumulate, &r);
  if (x->s->kind == STAGE_SCAN)
    return;
  int64_t offset = tape_get(x->t, x->offset).integer;
  if (x->s->op == REDUCE_ARGMAX || x->s->op == REDUCE_ARGMIN)
    put(x, x->s->out, offset, (union element){.integer = r.best}, DTYPE_I64);
  else
    put(x, x->s->out, offset, x->acc, x->s->dtype);
}

static void run_reduction(struct execution *x) {
  const struct stage *s = x->s;
  x->t = tape_create(&x->c, s->rank + s->reduced, s->axes);
  x->body = tape_scalar(x->t, s->body);
  x->offset = tape_expr(x->t, s->offset);
  tape_loop(x->t, 0, s->rank, reduce_one, x);
}

// ---- products and attention: operands are evaluated once, into dense arrays ----

static void fill_body(void *user) {
  struct execution *x = user;
  *x->fill++ = tape_get(x->t, x->body).real;
}

// v at all points of three axes, row-major. NULL if out of memory.
static double *matrix(struct execution *x, const struct scalar *v, const struct expr *p,
                      const struct expr *q, const struct expr *r) {
  const struct expr *axes[3] = {p, q, r};
  x->t = tape_create(&x->c, 3, axes);
  x->body = tape_scalar(x->t, v);
  size_t count = 1;
  for (uint32_t i = 0; i < 3; i++)
    count *= (size_t)tape_extent(x->t, i);
  double *ret = memory_alloc((count + 1) * sizeof *ret);
  if (!ret)
    return NULL;
  x->fill = ret;
  tape_loop(x->t, 0, 3, fill_body, x);
  return ret;
}

static double dot(const double *a, const double *b, int64_t count) {
  double sum[4] = {0};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; k++)
      sum[k] += a[i + k] * b[i + k];
  for (; i < count; i++)
    sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

struct multiplying {
  struct execution *x;
  const double *a, *b;
  int64_t m, n, k;
  int64_t at; // elements so far, row-major over batch, m, n
};

static void product_one(void *user) {
  struct multiplying *p = user;
  int64_t at = p->at++, column = at % p->n, row = at / p->n, batch = row / p->m;
  double e = dot(p->a + row * p->k, p->b + (batch * p->n + column) * p->k, p->k);
  put(p->x, p->x->s->out, tape_get(p->x->t, p->x->offset).integer, (union element){.real = e},
      DTYPE_F64);
}

static bool run_product(struct execution *x) {
  const struct stage *s = x->s;
  double *a = matrix(x, s->a, s->axes[0], s->axes[1], s->axes[3]);
  double *b = matrix(x, s->b, s->axes[0], s->axes[2], s->axes[3]);
  struct multiplying p = {.x = x, .a = a, .b = b};
  if (a && b && size_of(x, axis_extent(s->axes[1]), &p.m) &&
      size_of(x, axis_extent(s->axes[2]), &p.n) && size_of(x, axis_extent(s->axes[3]), &p.k)) {
    x->t = tape_create(&x->c, 3, s->axes);
    x->offset = tape_expr(x->t, s->offset);
    tape_loop(x->t, 0, 3, product_one, &p);
  }
  free(a);
  free(b);
  return a && b;
}

struct attending {
  struct execution *x;
  double *q, *k, *scores;
  struct tape *scoring;
  uint32_t score;
  int64_t rows, keys, depth, at;
};

static void score_one(void *user) {
  struct attending *w = user;
  int64_t at = w->at++, key = at % w->keys, row = at / w->keys, batch = row / w->rows;
  tape_set_product(w->scoring,
                   dot(w->q + row * w->depth, w->k + (batch * w->keys + key) * w->depth, w->depth));
  w->scores[at] = tape_get(w->scoring, w->score).real;
}

static void soften(double *row, int64_t count, bool zero_empty, double *ret_lse) {
  double most = -(double)INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++)
    most = row[i] > most || isnan(row[i]) ? row[i] : most;
  bool empty = most == -(double)INFINITY;
  for (int64_t i = 0; i < count; i++)
    sum += row[i] = empty && zero_empty ? 0 : exp(row[i] - most);
  *ret_lse = most + log(sum);
  if (empty && zero_empty)
    *ret_lse = -(double)INFINITY;
  for (int64_t i = 0; i < count && !(empty && zero_empty); i++)
    row[i] /= sum;
}

static void soften_one(void *user) {
  struct attending *w = user;
  const struct attention *a = w->x->s->attention;
  double lse;
  soften(w->scores + w->at++ * w->keys, w->keys, a->zero_empty_rows, &lse);
  if (a->lse)
    put(w->x, a->lse, tape_get(w->x->t, w->x->offset).integer, (union element){.real = lse},
        DTYPE_F64);
}

static void attend(struct execution *x, struct attending *w, double *v, int64_t columns) {
  const struct stage *s = x->s;
  x->t = tape_create(&x->c, 2, s->axes);
  if (s->attention->lse)
    x->offset = tape_expr(x->t, s->attention->lse_offset);
  w->at = 0;
  tape_loop(x->t, 0, 2, soften_one, w);
  x->t = tape_create(&x->c, 3, s->axes);
  x->offset = tape_expr(x->t, s->offset);
  struct multiplying p = {.x = x, .a = w->scores, .b = v, .m = w->rows, .n = columns, .k = w->keys};
  tape_loop(x->t, 0, 3, product_one, &p);
}

static bool run_attention(struct execution *x) {
  const struct stage *s = x->s;
  const struct attention *a = s->attention;
  struct attending w = {.x = x};
  int64_t batches, columns;
  if (!size_of(x, axis_extent(s->axes[0]), &batches) ||
      !size_of(x, axis_extent(s->axes[1]), &w.rows) ||
      !size_of(x, axis_extent(s->axes[2]), &columns) || !size_of(x, axis_extent(a->key), &w.keys) ||
      !size_of(x, axis_extent(a->depth), &w.depth))
    return false;
  w.q = matrix(x, a->q, s->axes[0], s->axes[1], a->depth);
  w.k = matrix(x, a->k, s->axes[0], a->key, a->depth);
  double *v = matrix(x, a->v, s->axes[0], s->axes[2], a->key);
  w.scores = memory_alloc((size_t)(batches * w.rows * w.keys + 1) * sizeof *w.scores);
  bool ok = w.q && w.k && v && w.scores;
  if (ok) {
    const struct expr *axes[3] = {s->axes[0], s->axes[1], a->key};
    w.scoring = tape_create(&x->c, 3, axes);
    w.score = tape_scalar(w.scoring, a->score);
    tape_loop(w.scoring, 0, 3, score_one, &w);
    attend(x, &w, v, columns);
  }
  free(w.q);
  free(w.k);
  free(v);
  free(w.scores);
  return ok;
}

// ---- all stages ----

static bool run_stage(struct execution *x) {
  switch (x->s->kind) {
  case STAGE_REDUCE:
  case STAGE_SCAN: run_reduction(x); return true;
  case STAGE_PRODUCT: return run_product(x);
  case STAGE_ATTENTION: return run_attention(x);
  default: run_map(x); return true;
  }
}

struct interpretation {
  struct execution *x;
  struct tensor *const *inputs;
  bool ok;
};

static void run_stages(void *user) {
  struct interpretation *in = user;
  struct execution *x = in->x;
  in->ok = allocate(x) && move_inputs(x, in->inputs);
  for (size_t i = 0; in->ok && i < x->l->stages.len; i++) {
    struct arena_mark mark = arena_mark(x->c.arena);
    x->s = x->l->stages.at[i];
    in->ok = run_stage(x);
    arena_release(x->c.arena, mark);
  }
}

bool loops_interpret(const struct loops *l, uint64_t seed, const int64_t *symbols,
                     struct tensor *const *inputs, struct tensor **ret_outputs) {
  struct execution x = {.l = l};
  struct arena *scratch = arena_create();
  struct memory *memory = memory_zeroed(l->buffers.len + 1, sizeof *memory);
  struct interpretation in = {.x = &x, .inputs = inputs};
  x.c = (struct tape_context){
      .arena = scratch, .graph = l->graph, .sizes = symbols, .memory = memory, .seed = seed};
  bool ok = scratch && memory && arena_guard(scratch, run_stages, &in) && in.ok &&
            move_outputs(&x, ret_outputs);
  for (size_t i = 0; memory && i < l->buffers.len; i++)
    free(memory[i].at);
  free(memory);
  arena_destroy(scratch);
  return ok;
}
