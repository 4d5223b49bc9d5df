// SPDX-License-Identifier: Apache-2.0
// Graphs printed by PyTorch are printed as the same text, except for blank lines and comments; the
// infer rules give the strides in it. Names of values without a text.
#include "base/file.h"
#include "graph/ir/infer.h"
#include "graph/read/fx.h"
#include "graph_fixture.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>

static struct arena *arena;
static struct diag_engine *diag;

static void setup(void) {
  arena = arena_create();
  diag = diag_engine_create(arena);
}

static void teardown(void) { arena_destroy(arena); }

// The next line that says something, without its newline; false at the end.
static bool next_line(struct str *rest, struct str *ret) {
  while (rest->ptr && rest->len > 0) {
    *rest = str_split(*rest, '\n', ret);
    struct str trimmed = str_trim(*ret);
    if (trimmed.len > 0 && trimmed.ptr[0] != '#')
      return true;
  }
  return false;
}

static void check_same_lines(struct str have, struct str want, const char *name) {
  struct str a = {0}, b = {0};
  for (;;) {
    bool more = next_line(&want, &b);
    ck_assert_msg(next_line(&have, &a) == more, "%s: numbers of lines", name);
    if (!more)
      return;
    ck_assert_msg(str_eq(a, b), "%s: %.*s\nis printed as\n%.*s", name, STR_ARG(b), STR_ARG(a));
  }
}

// Strides of dimensions of size 1 may be any.
static void check_strides(struct graph *g, struct node *n, const char *name) {
  struct node copy = *n;
  const struct operator_row *row = operator_row(n->op);
  copy.result_count = row->results;
  copy.results = arena_array(g->arena, struct value *, row->results);
  struct infer in = {g, &copy, row};
  ck_assert(row->infer(&in));
  for (uint32_t i = 0; i < n->result_count; i++)
    for (uint32_t d = 0; n->results[i] && d < n->results[i]->rank; d++)
      ck_assert_msg(n->results[i]->strides[d] == copy.results[i]->strides[d] ||
                        expr_is(n->results[i]->shape[d], 1),
                    "%s: strides of %s", name, n->results[i]->name);
}

static unsigned check_folder(const char *folder) {
  DIR *d = opendir(folder);
  ck_assert_msg(d != NULL, "%s", folder);
  unsigned count = 0;
  for (struct dirent *e; (e = readdir(d));) {
    if (!str_ends(str_from(e->d_name), ".py"))
      continue;
    struct str text;
    ck_assert_int_eq(
        file_read(arena, arena_printf(arena, "%s/%s", folder, e->d_name), SOURCE_MAX_BYTES, &text),
        0);
    struct graph *g = graph_fixture_in(arena, e->d_name, text);
    graph_fixture_require(g->diag, graph_verify(g), e->d_name);
    struct strbuf out = {0};
    graph_print(g, &out);
    check_same_lines((struct str){out.ptr, out.len}, text, e->d_name);
    strbuf_finish(&out);
    for (size_t i = 0; i < g->nodes.len; i++)
      check_strides(g, g->nodes.at[i], e->d_name);
    count++;
  }
  closedir(d);
  return count;
}

START_TEST(captures) { ck_assert_uint_gt(check_folder(CAPTURES), 0); }
END_TEST

START_TEST(more_captures) {
  const char *folder = getenv("TILE_GRAPHS");
  if (folder)
    ck_assert_uint_gt(check_folder(folder), 0);
}
END_TEST

static void check_text(const struct graph *g, const char *want) {
  struct strbuf out = {0};
  graph_print(g, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  struct str text = {out.ptr, out.len};
  struct graph *again = graph_fixture_in(arena, "again", text);
  struct strbuf twice = {0};
  graph_print(again, &twice);
  ck_assert_str_eq(strbuf_cstr(&twice), want);
  strbuf_finish(&twice);
  strbuf_finish(&out);
}

// Made by calls: names are made up and told apart; a result that nothing uses dies at once.
START_TEST(built) {
  struct graph *g = graph_create(arena, diag, exprs_create(arena), "G");
  const struct expr *n = expr_size(g->exprs, "s0", 1, 1 << 20, 8),
                    *shape[2] = {n, expr_const(g->exprs, 3)};
  vec_push(arena, &g->symbols, n);
  g->device = "cuda:0";
  struct value *x = graph_add_input(g, "mul", DTYPE_F32, 2, shape, NULL, SPAN_NONE);
  struct value *a =
      graph_apply(g, OP_MUL_TENSOR, (struct arg[]){ARG_V(x), ARG_F(1e-5)}, 2, SPAN_NONE);
  struct value *b = graph_apply(g, OP_MUL_SCALAR,
                                (struct arg[]){ARG_V(a), ARG_F((double)-INFINITY)}, 2, SPAN_NONE);
  graph_apply(g, OP_NEG, (struct arg[]){ARG_V(a)}, 1, SPAN_NONE);
  struct node *parts = graph_append(
      g, OP_SPLIT, (struct arg[]){ARG_V(b), arg_int(g, 2), arg_int(g, 1)}, 3, SPAN_NONE);
  graph_add_output(g, parts->results[1]);
  graph_add_output(g, NULL);
  graph_add_mutation(g, x, b);
  check_text(g,
             "class G(torch.nn.Module):\n"
             "    def forward(self, s0: \"Sym(s0)\", mul: \"f32[s0, 3][3, 1]cuda:0\"):\n"
             "        mul_1: \"f32[s0, 3][3, 1]cuda:0\" = torch.ops.aten.mul.Tensor(mul, 1e-05)\n"
             "        mul_2: \"f32[s0, 3][3, 1]cuda:0\" = torch.ops.aten.mul.Scalar(mul_1, -inf)\n"
             "        neg: \"f32[s0, 3][3, 1]cuda:0\" = torch.ops.aten.neg.default(mul_1);  mul_1 "
             "= neg = None\n"
             "        split = torch.ops.aten.split.Tensor(mul_2, 2, 1)\n"
             "        split_r1: \"f32[s0, 1][3, 1]cuda:0\" = split[1];  split = None\n"
             "        copy_: \"f32[s0, 3][3, 1]cuda:0\" = torch.ops.aten.copy_.default(mul, "
             "mul_2);  mul = mul_2 = copy_ = None\n"
             "        return (split_r1, None)\n\n"
             "Range constraints: {s0: VR[1, 1048576]}\n");
}
END_TEST

static const struct {
  double value;
  const char *text;
} reals[] = {{0, "0.0"},
             {1, "1.0"},
             {-2.5, "-2.5"},
             {0.1, "0.1"},
             {1e-4, "0.0001"},
             {1e-5, "1e-05"},
             {1.1111111111111112, "1.1111111111111112"},
             {-1e9, "-1000000000.0"},
             {1e15, "1000000000000000.0"},
             {1e16, "1e+16"},
             {1.5e300, "1.5e+300"},
             {123456.75, "123456.75"},
             {(double)INFINITY, "inf"},
             {(double)NAN, "nan"},
             {-0.0, "-0.0"}};

START_TEST(numbers) {
  struct graph *g = graph_create(arena, diag, exprs_create(arena), "G");
  struct value *x = graph_add_input(g, "x", DTYPE_F32, 0, NULL, NULL, SPAN_NONE);
  x = graph_apply(g, OP_MUL_TENSOR, (struct arg[]){ARG_V(x), ARG_F(reals[_i].value)}, 2, SPAN_NONE);
  graph_add_output(g, x);
  check_text(g,
             arena_printf(arena,
                          "class G(torch.nn.Module):\n    def forward(self, x: \"f32[][]\"):\n"
                          "        mul: \"f32[][]\" = torch.ops.aten.mul.Tensor(x, %s);  x = None\n"
                          "        return (mul,)\n",
                          reals[_i].text));
}
END_TEST

int main(void) {
  Suite *s = suite_create("print");
  TCase *t = tcase_create("print");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, captures);
  tcase_add_test(t, more_captures);
  tcase_add_test(t, built);
  tcase_add_loop_test(t, numbers, 0, COUNT_OF(reals));
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
