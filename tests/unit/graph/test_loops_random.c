// SPDX-License-Identifier: Apache-2.0
// Random graphs of decomposed operators, moves, views and reductions: the loops compute what the
// graph does, and the size of expression trees is bounded. LOOPS_SEED=N runs only the graph of seed
// N.
#include "graph/ir/graph_build.h"
#include "loops_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GRAPHS = 150, MAX_VALUES = 64 };

struct random_graph {
  uint64_t state;
  struct build b;
  struct value *values[MAX_VALUES];
  unsigned count;
};

static uint64_t draw(struct random_graph *r, uint64_t below) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (r->state >> 33) % below;
}

// Rather one of the last, so that operators stand on top of each other.
static struct value *pick(struct random_graph *r) {
  unsigned among = draw(r, 4) == 0 || r->count < 4 ? r->count : 4;
  return r->values[r->count - 1 - draw(r, among)];
}
static int64_t extent(const struct value *v, uint32_t d) { return v->shape[d]->value; }

static int64_t numel(const struct value *v) {
  int64_t n = 1;
  for (uint32_t d = 0; d < v->rank; d++)
    n *= extent(v, d);
  return n;
}

static struct arg ints(struct random_graph *r, size_t count, const int64_t *at) {
  return arg_ints(r->b.g, count, at);
}
static struct arg one(struct random_graph *r, int64_t value) { return arg_int(r->b.g, value); }

// ---- operators ----

static bool broadcasts(const struct value *a, const struct value *b) {
  for (uint32_t i = 1; i <= a->rank && i <= b->rank; i++) {
    int64_t x = extent(a, a->rank - i), y = extent(b, b->rank - i);
    if (x != y && x != 1 && y != 1)
      return false;
  }
  return true;
}

static struct value *pointwise(struct random_graph *r, struct value *x) {
  static const enum operator_id unary[] = {OP_NEG, OP_TANH, OP_SIN, OP_ABS, OP_SIGMOID};
  static const enum operator_id binary[] = {OP_ADD_TENSOR, OP_SUB_TENSOR, OP_MUL_TENSOR,
                                            OP_MAXIMUM};
  struct value *y = pick(r);
  if (!broadcasts(x, y) || draw(r, 3) == 0)
    return BUILD(&r->b, unary[draw(r, COUNT_OF(unary))], TENSOR(x));
  if (draw(r, 4) == 0) {
    struct value *c = BUILD(&r->b, OP_GT_TENSOR, TENSOR(x), TENSOR(y));
    return BUILD(&r->b, OP_WHERE_SELF, TENSOR(c), TENSOR(x), TENSOR(y));
  }
  return BUILD(&r->b, binary[draw(r, COUNT_OF(binary))], TENSOR(x), TENSOR(y));
}

static struct value *reshaped(struct random_graph *r, struct value *x) {
  int64_t sizes[4], n = numel(x);
  size_t rank = 1 + draw(r, 3);
  for (size_t i = 0; i + 1 < rank; i++) {
    static const int64_t factors[] = {2, 3, 4, 1};
    int64_t f = factors[draw(r, 4)];
    sizes[i] = n % f == 0 ? f : 1;
    n /= sizes[i];
  }
  sizes[rank - 1] = n;
  return BUILD(&r->b, OP_RESHAPE, TENSOR(x), ints(r, rank, sizes));
}

static struct value *viewed(struct random_graph *r, struct value *x) {
  uint32_t d = x->rank ? (uint32_t)draw(r, x->rank) : 0;
  int64_t dims[GRAPH_MAX_RANK];
  switch (draw(r, 7)) {
  case 0:
    for (uint32_t i = 0; i < x->rank; i++)
      dims[i] = (int64_t)((i + d) % x->rank);
    return BUILD(&r->b, OP_PERMUTE, TENSOR(x), ints(r, x->rank, dims));
  case 1:
    if (x->rank == 0 || extent(x, d) < 3)
      return NULL;
    return BUILD(&r->b, OP_SLICE, TENSOR(x), one(r, d), one(r, 1), one(r, extent(x, d)),
                 one(r, 1 + (int64_t)draw(r, 2)));
  case 2:
    return x->rank > 1 ? BUILD(&r->b, OP_SELECT, TENSOR(x), one(r, d), one(r, extent(x, d) / 2))
                       : NULL;
  case 3: return x->rank < 4 ? BUILD(&r->b, OP_UNSQUEEZE, TENSOR(x), one(r, d)) : NULL;
  case 4:
    if (x->rank == 0 || extent(x, 0) != 1)
      return NULL;
    for (uint32_t i = 0; i < x->rank; i++)
      dims[i] = i ? extent(x, i) : 3;
    return BUILD(&r->b, OP_EXPAND, TENSOR(x), ints(r, x->rank, dims));
  default: return reshaped(r, x);
  }
}

static struct value *moved(struct random_graph *r, struct value *x) {
  if (x->rank == 0)
    return NULL;
  uint32_t d = (uint32_t)draw(r, x->rank);
  int64_t dims[1] = {d}, pads[2] = {(int64_t)draw(r, 3) - 1, (int64_t)draw(r, 3)};
  struct value *parts[3] = {x, x, x}, *y;
  switch (draw(r, 6)) {
  case 0: return BUILD(&r->b, OP_FLIP, TENSOR(x), ints(r, 1, dims));
  case 1:
    return extent(x, x->rank - 1) > 1
               ? BUILD(&r->b, OP_CONSTANT_PAD_ND, TENSOR(x), ints(r, 2, pads), ARG_F(0.5))
               : NULL;
  case 2:
    parts[1] = BUILD(&r->b, OP_NEG, TENSOR(x));
    return BUILD(&r->b, OP_CAT, arg_values(r->b.g, 2 + draw(r, 2), parts), one(r, d));
  case 3: return BUILD(&r->b, OP_CUMSUM, TENSOR(x), one(r, d));
  case 4:
    if (extent(x, d) < 2)
      return NULL;
    y = BUILD(&r->b, OP_SELECT, TENSOR(x), one(r, d), one(r, 0));
    return BUILD(&r->b, OP_SELECT_SCATTER, TENSOR(x), TENSOR(y), one(r, d), one(r, 1));
  default:
    if (extent(x, d) < 3)
      return NULL;
    y = BUILD(&r->b, OP_SLICE, TENSOR(x), one(r, d), one(r, 0), one(r, extent(x, d) - 1),
              one(r, 2));
    return BUILD(&r->b, OP_SLICE_SCATTER, TENSOR(x), TENSOR(y), one(r, d), one(r, 1),
                 one(r, extent(x, d)), one(r, 2));
  }
}

static struct value *reduced(struct random_graph *r, struct value *x) {
  if (x->rank == 0)
    return NULL;
  int64_t dims[2] = {(int64_t)draw(r, x->rank), 0};
  struct arg keep = ARG_B(draw(r, 2) == 0);
  struct node *n;
  switch (draw(r, 5)) {
  case 0: return BUILD(&r->b, OP_SUM_DIM, TENSOR(x), ints(r, 1, dims), keep);
  case 1: return BUILD(&r->b, OP_AMAX, TENSOR(x), ints(r, dims[0] ? 2 : 1, dims), keep);
  case 2: return BUILD(&r->b, OP_MEAN_DIM, TENSOR(x), ints(r, 1, dims), keep);
  case 3: return BUILD(&r->b, OP_SOFTMAX, TENSOR(x), one(r, dims[0]), ARG_B(false));
  default:
    n = graph_append(r->b.g, OP_MAX_DIM, (struct arg[]){TENSOR(x), one(r, dims[0]), keep}, 3,
                     SPAN_NONE);
    return n ? n->results[0] : NULL;
  }
}

static struct value *gathered(struct random_graph *r, struct value *x) {
  if (x->rank == 0)
    return NULL;
  int64_t d = (int64_t)draw(r, x->rank), n = extent(x, (uint32_t)d);
  struct value *i = BUILD(&r->b, OP_ARGMAX, TENSOR(x), one(r, d), ARG_B(true)), *v;
  switch (draw(r, 4)) {
  case 0: return BUILD(&r->b, OP_GATHER, TENSOR(x), one(r, d), TENSOR(i));
  case 1: return BUILD(&r->b, OP_SCATTER_VALUE, TENSOR(x), one(r, d), TENSOR(i), ARG_F(2.0));
  case 2:
    i = BUILD(&r->b, OP_ARGMAX, TENSOR(x), ARG_V(NULL));
    i = BUILD(&r->b, OP_REMAINDER_SCALAR, TENSOR(i), one(r, extent(x, 0)));
    i = BUILD(&r->b, OP_UNSQUEEZE, TENSOR(i), one(r, 0));
    v = BUILD(&r->b, OP_INDEX_SELECT, TENSOR(x), one(r, 0), TENSOR(i));
    return v;
  default:
    return n > 1 ? BUILD(&r->b, OP_SCATTER_ADD, TENSOR(x), one(r, d), TENSOR(i), TENSOR(x)) : NULL;
  }
}

static struct value *multiplied(struct random_graph *r, struct value *x) {
  if (x->rank != 2)
    return NULL;
  struct value *t = BUILD(&r->b, OP_T, TENSOR(x));
  struct value *y = draw(r, 2) ? BUILD(&r->b, OP_MM, TENSOR(x), TENSOR(t))
                               : BUILD(&r->b, OP_MM, TENSOR(t), TENSOR(x));
  return build_real(&r->b, OP_MUL_TENSOR, y, 0.01);
}

// ---- graphs ----

static struct value *step(struct random_graph *r) {
  struct value *x = pick(r);
  switch (draw(r, 12)) {
  case 0:
  case 1:
  case 2:
  case 3: return pointwise(r, x);
  case 4:
  case 5:
  case 6: return viewed(r, x);
  case 7:
  case 8: return moved(r, x);
  case 9: return gathered(r, x);
  case 10: return multiplied(r, x);
  default: return reduced(r, x);
  }
}

static void keep(struct random_graph *r, struct value *v) {
  if (v && numel(v) > 0 && numel(v) <= 4096 && r->count < MAX_VALUES && v->dtype != DTYPE_I64)
    r->values[r->count++] = v;
}

static struct graph *make(struct arena *a, uint64_t seed) {
  struct random_graph r = {.state = seed * 7919 + 17};
  struct exprs *x = exprs_create(a);
  struct graph *g = graph_create(a, diag_engine_create(a), x, "random");
  r.b = (struct build){.g = g, .at = SPAN_NONE};
  static const int64_t shapes[4][3] = {{4, 6, 8}, {6, 1, 8}, {1, 12, 16}, {3, 20, 4}};
  for (unsigned i = 0; i < 3; i++) {
    const int64_t *s = shapes[draw(&r, 4)];
    uint32_t rank = 1 + (uint32_t)draw(&r, 3);
    const struct expr *shape[3];
    for (uint32_t d = 0; d < rank; d++)
      shape[d] = expr_const(x, s[3 - rank + d]);
    char *name = arena_printf(a, "x%u", i);
    keep(&r,
         graph_add_input(g, name, i == 2 ? DTYPE_BF16 : DTYPE_F32, rank, shape, NULL, SPAN_NONE));
  }
  unsigned steps = 5 + (unsigned)draw(&r, 40);
  for (unsigned i = 0; i < steps; i++)
    keep(&r, step(&r));
  for (unsigned i = 0; i < 3; i++)
    graph_add_output(g, r.values[r.count - 1 - i % r.count]);
  graph_add_output(g, pick(&r));
  return g;
}

static void within_bounds(const struct loops *l, const char *name) {
  for (size_t i = 0; i < l->stages.len; i++)
    if (l->stages.at[i]->body)
      ck_assert_msg(scalar_cost(l->stages.at[i]->body) < 2000, "%s: stage %zu", name, i);
}

START_TEST(random_graphs) {
  const char *only = getenv("LOOPS_SEED");
  uint64_t seed = only ? strtoull(only, NULL, 10) : (uint64_t)_i;
  if (only && _i > 0)
    return;
  struct arena *a = arena_create();
  struct graph *g = make(a, seed);
  char name[32];
  snprintf(name, sizeof name, "seed %d", (int)seed);
  ck_assert_msg(diag_error_count(g->diag) == 0, "%s: %s", name, diag_first_error(g->diag));
  ck_assert(graph_verify(g));
  if (only) {
    struct strbuf out = {0};
    graph_print(g, &out);
    printf("%s\n", strbuf_cstr(&out));
    strbuf_finish(&out);
  }
  struct loops *l = loops_of(g, name);
  if (only) {
    struct strbuf out = {0};
    loops_print(l, &out);
    printf("%s\n", strbuf_cstr(&out));
    strbuf_finish(&out);
  }
  within_bounds(l, name);
  loops_agree(g, l, NULL, name);
  // Casts that are kept take other paths through folding.
  g->keeps_casts = true;
  loops_agree(g, loops_of(g, name), NULL, name);
  arena_destroy(a);
}
END_TEST

// A chain in which each step uses the one before twice: expression trees must not double.
START_TEST(doubling) {
  struct arena *a = arena_create();
  struct exprs *x = exprs_create(a);
  struct graph *g = graph_create(a, diag_engine_create(a), x, "chain");
  struct build b = {.g = g, .at = SPAN_NONE};
  const struct expr *shape[2] = {expr_const(x, 4), expr_const(x, 4)};
  struct value *v = graph_add_input(g, "x", DTYPE_F32, 2, shape, NULL, SPAN_NONE);
  for (int i = 0; i < 400; i++) {
    struct value *t = BUILD(&b, OP_T, TENSOR(v));
    v = BUILD(&b, OP_MAXIMUM, TENSOR(v), TENSOR(BUILD(&b, OP_TANH, TENSOR(t))));
  }
  graph_add_output(g, v);
  struct loops *l = loops_of(g, "chain");
  within_bounds(l, "chain");
  loops_agree(g, l, NULL, "chain");
  arena_destroy(a);
}
END_TEST

// Time and memory grow with the number of operators, not faster.
START_TEST(many_operators) {
  struct arena *a = arena_create();
  struct exprs *x = exprs_create(a);
  struct graph *g = graph_create(a, diag_engine_create(a), x, "many");
  struct build b = {.g = g, .at = SPAN_NONE};
  const struct expr *shape[2] = {expr_const(x, 4), expr_const(x, 6)};
  const int64_t flipped[2] = {6, 4};
  struct value *v = graph_add_input(g, "x", DTYPE_F32, 2, shape, NULL, SPAN_NONE);
  for (int i = 0; i < 25000; i++) {
    struct value *w = BUILD(&b, OP_SIN, TENSOR(v));
    w = BUILD(&b, OP_VIEW, TENSOR(w), arg_ints(g, 2, flipped));
    v = BUILD(&b, OP_ADD_TENSOR, TENSOR(v),
              TENSOR(BUILD(&b, OP_PERMUTE, TENSOR(w), arg_ints(g, 2, (int64_t[]){1, 0}))));
  }
  graph_add_output(g, v);
  clock_t start = clock();
  struct loops *l = loops_build(g);
  ck_assert_ptr_nonnull(l);
  ck_assert_msg((double)(clock() - start) / CLOCKS_PER_SEC < 20.0, "lowering takes too long");
  within_bounds(l, "many");
  arena_destroy(a);
}
END_TEST

// Sizes that are symbols: the same loops for all of them.
START_TEST(symbols) {
  struct arena *a = arena_create();
  struct exprs *x = exprs_create(a);
  struct graph *g = graph_create(a, diag_engine_create(a), x, "symbols");
  struct build b = {.g = g, .at = SPAN_NONE};
  const struct expr *n = expr_size(x, "n", 2, 1 << 20, 32), *m = expr_size(x, "m", 2, 1 << 20, 48);
  vec_push(a, &g->symbols, n);
  vec_push(a, &g->symbols, m);
  const struct expr *shape[2] = {n, m}, *flat[1] = {expr_mul(x, n, m)};
  struct value *v = graph_add_input(g, "x", DTYPE_F32, 2, shape, NULL, SPAN_NONE);
  struct value *s = BUILD(&b, OP_SOFTMAX, TENSOR(v), arg_int(g, 1), ARG_B(false));
  struct value *t = BUILD(&b, OP_T, TENSOR(s));
  struct value *p = BUILD(&b, OP_MM, TENSOR(v), TENSOR(t));
  struct value *f =
      BUILD(&b, OP_VIEW, TENSOR(t = BUILD(&b, OP_CLONE, TENSOR(BUILD(&b, OP_SIN, TENSOR(t))))),
            arg_exprs(g, 1, flat));
  struct value *parts[2] = {v, s};
  struct value *c = BUILD(&b, OP_CAT, arg_values(g, 2, parts), arg_int(g, 0));
  ck_assert(p && t && c);
  graph_add_output(g, p);
  graph_add_output(g, f ? f : t);
  graph_add_output(g, BUILD(&b, OP_SUM_DIM, TENSOR(c), arg_ints(g, 1, (int64_t[]){0})));
  struct loops *l = loops_of(g, "symbols");
  static const int64_t sizes[3][2] = {{5, 7}, {32, 48}, {2, 33}};
  for (unsigned i = 0; i < 3; i++)
    loops_agree(g, l, sizes[i], "symbols");
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("loops-random");
  TCase *c = tcase_create("random");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, random_graphs, 0, GRAPHS);
  tcase_add_test(c, doubling);
  tcase_add_test(c, many_operators);
  tcase_add_test(c, symbols);
  suite_add_tcase(s, c);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
