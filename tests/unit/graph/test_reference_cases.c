// SPDX-License-Identifier: Apache-2.0
// The interpreter against reference_cases.txt: every operator on small tensors, with PyTorch's
// results. Each case is read from text.
#include "base/file.h"
#include "graph/ir/graph_operators.h"
#include "graph/read/fx.h"
#include "graph/reference/interpret.h"
#include "graph_fixture.h"
#include "listed_cases.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static bool agree(const struct tensor *t, int64_t i, union element want) {
  if (!dtype_is_float(t->dtype))
    return t->at[i].integer == want.integer;
  double a = t->at[i].real, b = want.real;
  if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
    return (isnan(a) && isnan(b)) || (!isnan(a) && !isnan(b) && !(a < b) && !(a > b));
  return fabs(a - b) <= 2e-6 * (1 + fabs(b));
}

static void compare(const struct listed_case *c, unsigned i, const struct tensor *t) {
  const struct listed *want = &c->out[i];
  ck_assert_msg(t->numel == want->count, "%.*s: result %u", STR_ARG(c->call), i);
  bool is_real = dtype_is_float(t->dtype);
  for (int64_t k = 0; k < t->numel; k++)
    ck_assert_msg(agree(t, k, want->at[k]), "%.*s: result %u: element %lld is %.9g, not %.9g",
                  STR_ARG(c->call), i, (long long)k,
                  is_real ? t->at[k].real : (double)t->at[k].integer,
                  is_real ? want->at[k].real : (double)want->at[k].integer);
}

static enum operator_id run_case(const struct listed_case *c) {
  struct strbuf text = {0};
  cases_write_graph(&c, 1, &text);
  struct graph_fixture f =
      graph_fixture_read("case.py", (struct str){strbuf_cstr(&text), text.len});
  struct graph *g = f.graph;
  struct tensor *in[CASE_TENSORS] = {0}, *out[CASE_TENSORS] = {0};
  for (unsigned i = 0; g && i < c->in_count; i++)
    in[i] = case_tensor(g->inputs.at[i], &c->in[i]);
  const struct interpret_options options = {0};
  bool ok = g && graph_interpret(g, &options, NULL, in, out);
  graph_fixture_require(f.diag, ok, arena_strndup(f.arena, c->call.ptr, c->call.len));
  for (unsigned i = 0; i < c->out_count; i++)
    if (c->out[i].type.len)
      compare(c, i, out[i]);
  for (unsigned i = 0; i < CASE_TENSORS; i++) {
    tensor_destroy(in[i]);
    tensor_destroy(out[i]);
  }
  strbuf_finish(&text);
  graph_fixture_end(&f);
  return case_operator(c);
}

// Operators whose results are not PyTorch's to say, or depend on the machine.
static bool is_tested_elsewhere(enum operator_id op) {
  switch (op) {
  case OP_COPY_:
  case OP_EMPTY:
  case OP_EMPTY_LIKE:
  case OP_SDPA_FLASH:
  case OP_SDPA_EFFICIENT:
  case OP_SDPA_CUDNN:
  case OP_NEW_EMPTY:
  case OP_NEW_EMPTY_STRIDED:
  case OP_EMPTY_STRIDED:
  case OP_EMPTY_PERMUTED:
  case OP_RAND_LIKE:
  case OP_RANDN_LIKE:
  case OP_RANDINT:
  case OP_RANDINT_LOW:
  case OP_RANDINT_LIKE:
  case OP_RANDINT_LIKE_LOW:
  case OP_BERNOULLI:
  case OP_UNIFORM:
  case OP_NORMAL_FUNCTIONAL:
  case OP_EXPONENTIAL:
  case OP_MULTINOMIAL: // test_compose.c
  case OP_SDPA_FLASH_BACKWARD: // test_compose.c
  case OP_SDPA_EFFICIENT_BACKWARD:
  case OP_SDPA_CUDNN_BACKWARD:
  case OP_MAX_POOL_OFFSETS:
  case OP_MAX_POOL_INDICES: return true;
  default:
    return operator_row(op)->class == CLASS_RANDOM ||
           strncmp(operator_row(op)->name, "tile.", 5) == 0 ||
           strncmp(operator_row(op)->name, "higher_order.", 13) == 0; // test_subgraphs.c
  }
}

START_TEST(cases) {
  struct arena *a = arena_create();
  struct case_reader reader = {0};
  ck_assert_int_eq(file_read(a, CASES, SOURCE_MAX_BYTES, &reader.rest), 0);
  struct listed_case *c = arena_new(a, struct listed_case);
  bool seen[OPERATOR_ALL] = {false};
  unsigned count = 0;
  for (; case_read(&reader, c); count++)
    seen[run_case(c)] = true;
  ck_assert_uint_gt(count, 500);
  for (unsigned op = 0; op < OPERATOR_ALL; op++)
    ck_assert_msg(seen[op] || is_tested_elsewhere((enum operator_id)op), "%s has no case",
                  operator_row((enum operator_id)op)->name);
  arena_destroy(a);
}
END_TEST

START_TEST(every_operator_has_a_function) {
  for (unsigned op = 0; op < OPERATOR_COUNT; op++)
    ck_assert_msg((operator_reference((enum operator_id)op) == NULL) == (op == OP_COPY_), "%s",
                  operator_row((enum operator_id)op)->name);
}
END_TEST

int main(void) {
  Suite *s = suite_create("reference-cases");
  TCase *t = tcase_create("reference-cases");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, cases);
  tcase_add_test(t, every_operator_has_a_function);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
