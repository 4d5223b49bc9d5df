// SPDX-License-Identifier: Apache-2.0
// Random graphs: they verify, print and read back; decomposing, simplifying and lowering to loops
// do not change results. Arguments: the first seed and how many.
#include "graph/passes/passes.h"
#include "graph/read/fx.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"
#include "graph_fixture.h"
#include "loops_check.h"
#include "random_graph.h"
#include "regions_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t first_seed;
static int seeds = 60;

static void must(struct diag_engine *diag, const struct graph *g, bool ok, uint64_t seed,
                 const char *what) {
  struct strbuf out = {0};
  if (!ok) {
    diag_render_text(diag, (struct diag_style){0}, &out);
    if (g)
      graph_print(g, &out);
  }
  ck_assert_msg(ok, "seed %llu: %s\n%s", (unsigned long long)seed, what, strbuf_cstr(&out));
  strbuf_finish(&out);
}

static void check_text(struct arena *a, struct diag_engine *diag, struct graph *g, uint64_t seed) {
  struct strbuf once = {0}, twice = {0};
  graph_print(g, &once);
  struct graph *again = graph_fixture_in(a, "again", (struct str){once.ptr, once.len});
  must(diag, g, graph_verify(again), seed, "reading what was printed");
  graph_print(again, &twice);
  must(diag, again, str_eq((struct str){once.ptr, once.len}, (struct str){twice.ptr, twice.len}),
       seed, "printing again");
  strbuf_finish(&once);
  strbuf_finish(&twice);
}

// Equal but for the order of sums; what has overflown the one way may have overflown the other.
static bool agrees(double a, double b) {
  if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
    return isnan(a) == isnan(b) && (isnan(a) || !(a < b || a > b));
  return fabs(a - b) <= 1e-7 + 1e-7 * fabs(b);
}

static void check_same(const struct graph *g, struct tensor *const *have,
                       struct tensor *const *want, uint64_t seed, const char *what) {
  for (size_t i = 0; i < g->outputs.len; i++) {
    bool same = have[i]->dtype == want[i]->dtype && have[i]->numel == want[i]->numel,
         real = dtype_is_float(want[i]->dtype);
    for (int64_t k = 0; same && k < want[i]->numel; k++)
      same = real ? agrees(have[i]->at[k].real, want[i]->at[k].real)
                  : have[i]->at[k].integer == want[i]->at[k].integer;
    must(g->diag, g, same, seed, what);
  }
}

static void run(struct graph *g, const int64_t *symbols, struct tensor *const *in,
                struct tensor **out, uint64_t seed, const char *what) {
  struct interpret_options options = {.seed = 7};
  must(g->diag, g, graph_interpret(g, &options, symbols, in, out), seed, what);
}

static void destroy(struct tensor **t, size_t count) {
  for (size_t i = 0; i < count; i++)
    tensor_destroy(t[i]);
  free(t);
}

static void check_passes(struct graph *g, const int64_t *symbols, uint64_t seed) {
  size_t count = g->outputs.len;
  struct tensor **in = calloc(g->inputs.len + 1, sizeof *in),
                **want = calloc(count + 1, sizeof *want);
  ck_assert(in && want && graph_make_inputs(g, symbols, seed, in));
  run(g, symbols, in, want, seed, "interpreting");
  struct graph *after[2] = {graph_decompose(g, KEEPS_ATTENTION, false)};
  must(g->diag, g, after[0] && graph_verify(after[0]), seed, "decomposing");
  after[1] = graph_simplify(after[0]);
  must(g->diag, after[0], after[1] && graph_verify(after[1]), seed, "simplifying");
  static const char *const what[2] = {"decomposed otherwise", "simplified otherwise"};
  for (int i = 0; i < 2; i++) {
    struct tensor **have = calloc(count + 1, sizeof *have);
    ck_assert(have != NULL);
    run(after[i], symbols, in, have, seed, what[i]);
    check_same(i == 0 ? g : after[0], have, want, seed, what[i]);
    destroy(have, count);
  }
  destroy(in, g->inputs.len);
  destroy(want, count);
}

START_TEST(random_graphs) {
  uint64_t seed = first_seed + (uint64_t)_i;
  struct random_graph_options options = {.operators = 4 + (unsigned)(seed * 7 % 29),
                                         .symbolic = seed % 3 == 2,
                                         .half_precision = seed % 4 == 1,
                                         .products = seed % 2 == 1};
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct graph *g = random_graph(a, diag, seed, &options);
  must(diag, g, g != NULL && graph_verify(g), seed, "making");
  check_text(a, diag, g, seed);
  const int64_t symbols[] = {1 + (int64_t)(seed % 9)};
  check_passes(g, symbols, seed);
  char name[64];
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  struct loops *l = loops_of(g, name);
  loops_agree(g, l, symbols, name);
  struct regions *r = regions_form(l, &(struct fuse_options){0});
  must(diag, g, r != NULL, seed, "forming regions");
  regions_hold(r, name);
  loops_agree(g, loops_of_regions(r), symbols, name);
  arena_destroy(a);
}
END_TEST

int main(int argc, char **argv) {
  first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  seeds = argc > 2 ? atoi(argv[2]) : seeds;
  Suite *s = suite_create("random");
  TCase *t = tcase_create("random");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, random_graphs, 0, seeds);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
