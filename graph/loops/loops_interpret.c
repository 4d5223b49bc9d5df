// SPDX-License-Identifier: Apache-2.0
// Interprets stages in double precision, for tests that compare the graph interpreter, loops and
// kernels.
#include "base/memory.h"
#include "graph/loops/loops_execution.h"
#include "graph/reference/interpret.h"

#include <math.h>
#include <stdlib.h>

// ---- maps and scatters ----

static void store_body(void *user) {
  struct execution *x = user;
  execution_put(x, x->s->out, tape_get(x->t, x->offset).integer, tape_get(x->t, x->body),
                x->s->body->dtype);
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
  execution_put(x, x->s->out, offset, scalar_eval(SCALAR_ADD, t, in), t);
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
    execution_put(x, x->s->out, tape_get(x->t, x->offset).integer, x->acc, x->s->dtype);
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
    execution_put(x, x->s->out, offset, (union element){.integer = r.best}, DTYPE_I64);
  else
    execution_put(x, x->s->out, offset, x->acc, x->s->dtype);
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
  union element e = tape_get(x->t, x->body);
  *x->fill++ = dtype_is_float(x->s->dtype) ? e.real : (double)e.integer;
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
  const double *ends; // of groups; NULL: none
  int64_t groups;
  int64_t m, n, k;
  int64_t at; // elements so far, row-major over batch, m, n
};

// The element of a row and a column of the group that has the row.
static double of_row(const struct multiplying *p, int64_t row, int64_t column) {
  int64_t g = 0;
  while (g < p->groups && p->ends[g] <= (double)row)
    g++;
  return g < p->groups ? dot(p->a + row * p->k, p->b + (g * p->n + column) * p->k, p->k) : 0;
}

// The element of inner indices of group g.
static double of_inner(const struct multiplying *p, int64_t g, int64_t row, int64_t column) {
  int64_t begin = g ? (int64_t)p->ends[g - 1] : 0, end = (int64_t)p->ends[g];
  row = g * p->m + row % p->m;
  return begin < end ? dot(p->a + row * p->k + begin, p->b + (g * p->n + column) * p->k + begin,
                           end - begin)
                     : 0;
}

static void product_one(void *user) {
  struct multiplying *p = user;
  int64_t at = p->at++, column = at % p->n, row = at / p->n, batch = row / p->m;
  const struct groups *g = p->x->s->groups;
  double e = !g           ? dot(p->a + row * p->k, p->b + (batch * p->n + column) * p->k, p->k)
             : g->of_rows ? of_row(p, row, column)
                          : of_inner(p, batch, row, column);
  execution_put(p->x, p->x->s->out, tape_get(p->x->t, p->x->offset).integer,
                (union element){.real = e}, DTYPE_F64);
}

static bool run_product(struct execution *x) {
  const struct stage *s = x->s;
  double *a = matrix(x, s->a, s->axes[0], s->axes[1], s->axes[3]);
  const struct groups *g = s->groups;
  double *b = matrix(x, s->b, g && g->of_rows ? g->group : s->axes[0], s->axes[2], s->axes[3]);
  const struct expr *one = expr_const(x->l->exprs, 1);
  const struct expr *axis = expr_symbol(x->l->exprs, "one", 0, 0, one);
  double *ends = g ? matrix(x, g->end, g->group, axis, axis) : NULL;
  struct multiplying p = {.x = x, .a = a, .b = b, .ends = ends};
  if (a && b && (!g || (ends && execution_size(x, axis_extent(g->group), &p.groups))) &&
      execution_size(x, axis_extent(s->axes[1]), &p.m) &&
      execution_size(x, axis_extent(s->axes[2]), &p.n) &&
      execution_size(x, axis_extent(s->axes[3]), &p.k)) {
    x->t = tape_create(&x->c, 3, s->axes);
    x->offset = tape_expr(x->t, s->offset);
    tape_loop(x->t, 0, 3, product_one, &p);
  }
  free(a);
  free(b);
  free(ends);
  return a && b && (ends || !g);
}

struct attending {
  struct execution *x;
  double *q, *k, *scores;
  struct tape *scoring;
  uint32_t score, kept;
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
    execution_put(w->x, a->lse, tape_get(w->x->t, w->x->offset).integer,
                  (union element){.real = lse}, DTYPE_F64);
}

static void keep_one(void *user) {
  struct attending *w = user;
  w->scores[w->at++] *= tape_get(w->scoring, w->kept).real;
}

static void keep(struct execution *x, struct attending *w) {
  const struct attention *a = x->s->attention;
  if (!a->kept)
    return;
  const struct expr *axes[3] = {x->s->axes[0], x->s->axes[1], a->key};
  w->scoring = tape_create(&x->c, 3, axes);
  w->kept = tape_scalar(w->scoring, a->kept);
  w->at = 0;
  tape_loop(w->scoring, 0, 3, keep_one, w);
}

static void attend(struct execution *x, struct attending *w, double *v, int64_t columns) {
  const struct stage *s = x->s;
  x->t = tape_create(&x->c, 2, s->axes);
  if (s->attention->lse)
    x->offset = tape_expr(x->t, s->attention->lse_offset);
  w->at = 0;
  tape_loop(x->t, 0, 2, soften_one, w);
  keep(x, w);
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
  if (!execution_size(x, axis_extent(s->axes[0]), &batches) ||
      !execution_size(x, axis_extent(s->axes[1]), &w.rows) ||
      !execution_size(x, axis_extent(s->axes[2]), &columns) ||
      !execution_size(x, axis_extent(a->key), &w.keys) ||
      !execution_size(x, axis_extent(a->depth), &w.depth))
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
  case STAGE_CALL: return false; // its subgraphs are no loops
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
  in->ok = execution_allocate(x) && execution_move_inputs(x, in->inputs);
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
            execution_move_outputs(&x, ret_outputs);
  for (size_t i = 0; memory && i < l->buffers.len; i++)
    if (l->buffers.at[i]->role != BUFFER_SLICE)
      free(memory[i].at);
  free(memory);
  arena_destroy(scratch);
  return ok;
}
