// SPDX-License-Identifier: Apache-2.0
// Random graphs as programs on the CPU, with kernels and memory plan, and again with other
// configurations of their kernels. Arguments: the first seed and how many.
#include "emit_check.h"
#include "random_graph.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t first_seed;
static int seeds = 8;

// Seeds that once failed.
static const uint64_t remembered[] = {139};

static void check_seed(uint64_t seed) {
  struct random_graph_options options = {.operators = 3 + (unsigned)(seed * 7 % 12),
                                         .symbolic = seed % 3 == 2,
                                         .half_precision = seed % 4 == 1,
                                         .products = seed % 2 == 1,
                                         .max_elements = 512};
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct graph *g = random_graph(a, diag, seed, &options);
  ck_assert_ptr_nonnull(g);
  struct strbuf text = {0};
  graph_print(g, &text);
  struct program *p = check_program(a, strbuf_cstr(&text),
                                    &(struct program_options){.target = "cpu"}, strbuf_cstr(&text));
  const int64_t symbols[] = {1 + (int64_t)(seed % 9)};
  char name[64];
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  check_agrees(p, symbols, options.half_precision ? 2e-2 : 1e-3, name);
  snprintf(name, sizeof name, "seed %llu, configured", (unsigned long long)seed);
  if (check_configure(p, (unsigned)seed + 1, name))
    check_agrees(p, symbols, options.half_precision ? 2e-2 : 1e-3, name);
  strbuf_finish(&text);
  arena_destroy(a);
}

START_TEST(random_programs) { check_seed(first_seed + (uint64_t)_i); }
END_TEST

START_TEST(remembered_programs) { check_seed(remembered[_i]); }
END_TEST

int main(int argc, char **argv) {
  first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  seeds = argc > 2 ? atoi(argv[2]) : seeds;
  Suite *s = suite_create("random-programs");
  TCase *t = tcase_create("random-programs");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, random_programs, 0, seeds);
  tcase_add_loop_test(t, remembered_programs, 0, COUNT_OF(remembered));
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
