// SPDX-License-Identifier: Apache-2.0
// Writes in the text of a graph: to values, to views of them, to views of inputs.
#include "base/attrs.h"
#include "graph/ir/graph_operators.h"
#include "graph/reference/interpret.h"
#include "graph/reference/tensor.h"
#include "graph_fixture.h"

#include <check.h>
#include <stdio.h>

#define X "x: \"f32[2, 3]\""
#define GRAPH(parameters, ...)                                                                     \
  "class <lambda>(torch.nn.Module):\n    def forward(self, " parameters "):\n        " __VA_ARGS__ \
  "\n"

static struct graph_fixture good(const char *text) {
  struct graph_fixture r = graph_fixture_read("graph.py", str_from(text));
  graph_fixture_require(r.diag, r.graph, text);
  return r;
}

// Values of an interpreted graph with one input x of 2 x 3 elements 0, 1, .., 5 and one output.
static void check_written(const char *text, const double *want) {
  struct graph_fixture r = good(text);
  const int64_t shape[] = {2, 3};
  struct tensor *x = tensor_create(DTYPE_F32, 2, shape), *out = NULL;
  for (int i = 0; i < 6; i++)
    x->at[i].real = i;
  ck_assert(graph_interpret(r.graph, &(struct interpret_options){0}, NULL, &x, &out));
  for (int i = 0; i < 6; i++)
    ck_assert_msg(out->at[i].real == want[i], "%s\nelement %d is %g, not %g", text, i,
                  out->at[i].real, want[i]);
  tensor_destroy(x);
  tensor_destroy(out);
  graph_fixture_end(&r);
}

// A write to a view is one to what it is a view of; other views of that see it, also those made
// before. Writes to values change no input.
#define WRITTEN(body, ...)                                                                         \
  {                                                                                                \
    GRAPH(X, "y = torch.ops.aten.clone.default(x)\n        " body), { __VA_ARGS__ }                \
  }
#define LINE "\n        "
static const struct {
  const char *text;
  double want[6];
} written[] = {
    WRITTEN("v = torch.ops.aten.select.int(y, 0, -1)" LINE
            "m = torch.ops.aten.mul_.Tensor(v, 10)" LINE "return y",
            0, 1, 2, 30, 40, 50),
    WRITTEN("v = torch.ops.aten.view.default(y, [6])" LINE
            "a = torch.ops.aten.add_.Tensor(y, 1)" LINE
            "w = torch.ops.aten.view.default(v, [2, 3])" LINE "return w",
            1, 2, 3, 4, 5, 6),
    WRITTEN("t = torch.ops.aten.t.default(y)" LINE
            "s = torch.ops.aten.slice.Tensor(t, 0, 1, 3)" LINE
            "p = torch.ops.aten.permute.default(s, [-1, 0])" LINE
            "f = torch.ops.aten.fill_.Scalar(p, 7)" LINE "return y",
            0, 7, 7, 3, 7, 7),
    WRITTEN("split = torch.ops.aten.split.Tensor(y, 2, -1)" LINE "b = split[1]" LINE
            "u = torch.ops.aten.unbind.int(y, 0)" LINE "c = u[0]" LINE
            "n = torch.ops.aten.neg_.default(b)" LINE "m = torch.ops.aten.mul_.Tensor(c, 2)" LINE
            "return y",
            0, 2, -4, 3, 4, -5),
    WRITTEN("w = torch.ops.aten.split_with_sizes.default(y, [1, 2], 1)" LINE "b = w[1]" LINE
            "d = torch.ops.aten.diagonal.default(b)" LINE "z = torch.ops.aten.zero_.default(d)" LINE
            "return y",
            0, 0, 2, 3, 4, 0),
    WRITTEN("v = torch.ops.aten.unsqueeze.default(y, 1)" LINE
            "s = torch.ops.aten.transpose.int(v, 0, 2)" LINE
            "q = torch.ops.aten.squeeze.dim(s, 1)" LINE
            "r = torch.ops.aten.select.int(q, 1, 1)" LINE
            "c = torch.ops.aten.fill_.Scalar(r, 9)" LINE "return y",
            0, 1, 2, 9, 9, 9),
    // A changed shape: the name is a view from then on, also for the writes that follow.
    WRITTEN("v = torch.ops.aten.view.default(y, [6])" LINE
            "u = torch.ops.aten.unsqueeze_.default(y, 0)" LINE
            "t = torch.ops.aten.transpose_.default(u, 0, 2)" LINE
            "s = torch.ops.aten.select.int(y, 0, 1)" LINE
            "m = torch.ops.aten.mul_.Tensor(s, 10)" LINE
            "w = torch.ops.aten.view.default(v, [2, 3])" LINE "return w",
            0, 10, 2, 3, 40, 5),
    WRITTEN("t = torch.ops.aten.t_.default(y)" LINE "a = torch.ops.aten.add_.Tensor(y, 1)" LINE
            "b = torch.ops.aten.swapaxes_.default(y, 0, 1)" LINE "return y",
            1, 2, 3, 4, 5, 6),
    WRITTEN("u = torch.ops.aten.unsqueeze.default(y, 0)" LINE
            "q = torch.ops.aten.squeeze_.dim(u, 0)" LINE
            "f = torch.ops.aten.fill_.Scalar(q, 3)" LINE "return u",
            3, 3, 3, 3, 3, 3),
    // All elements of an expanded dimension are one.
    WRITTEN("r = torch.ops.aten.slice.Tensor(y, 0, 1, 2)" LINE
            "e = torch.ops.aten.expand.default(r, [4, 3])" LINE
            "f = torch.ops.aten.fill_.Scalar(e, 8)" LINE "return y",
            0, 1, 2, 8, 8, 8),
    WRITTEN("c = torch.ops.aten.select.int(y, 1, 2)" LINE
            "e = torch.ops.aten.expand.default(c, [5, 1, 2])" LINE
            "f = torch.ops.aten.zero_.default(e)" LINE "return y",
            0, 1, 0, 3, 4, 0),
    WRITTEN("s = torch.ops.aten.as_strided.default(y, [2, 2], [3, 1], 1)" LINE
            "m = torch.ops.aten.mul_.Tensor(s, 10)" LINE "return y",
            0, 10, 20, 3, 40, 50),
    WRITTEN("v = torch.ops.aten.view.default(y, [6])" LINE
            "s = torch.ops.aten.as_strided.default(v, [3], [2])" LINE
            "a = torch.ops.aten.add_.Tensor(s, 1)" LINE "b = torch.ops.aten.add_.Tensor(y, 1)" LINE
            "w = torch.ops.aten.view.default(v, [2, 3])" LINE "return w",
            2, 2, 4, 4, 6, 6),
    WRITTEN("w = torch.ops.aten.unfold.default(y, 1, 2, 1)" LINE
            "s = torch.ops.aten.select.int(w, 1, 1)" LINE
            "m = torch.ops.aten.mul_.Tensor(s, 10)" LINE "return y",
            0, 10, 20, 3, 40, 50),
    WRITTEN("w = torch.ops.aten.unfold.default(y, 1, 1, 1)" LINE
            "s = torch.ops.aten.select.int(w, 2, 0)" LINE
            "a = torch.ops.aten.add_.Tensor(y, 1)" LINE "m = torch.ops.aten.neg.default(s)" LINE
            "return m",
            -1, -2, -3, -4, -5, -6),
    WRITTEN("i = torch.ops.aten.view.dtype(y, torch.int32)" LINE
            "f = torch.ops.aten.fill_.Scalar(y, 2)" LINE
            "b = torch.ops.aten.bitwise_or.Scalar(i, 4194304)" LINE
            "c = torch.ops.aten.view.dtype(b, torch.float32)" LINE "return c",
            3, 3, 3, 3, 3, 3),
    WRITTEN("f = torch.ops.aten.ravel.default(y)" LINE
            "s = torch.ops.aten.slice.Tensor(f, 0, 4, 6)" LINE
            "z = torch.ops.aten.zero_.default(s)" LINE "return y",
            0, 1, 2, 3, 0, 0),
    // What an operator returns is what it wrote to.
    WRITTEN("a = torch.ops.aten.add_.Tensor(y, 1)" LINE "r = torch.ops.aten.mul_.Tensor(a, 2)" LINE
            "return y",
            2, 4, 6, 8, 10, 12),
    // A copy is not a view, a value copied from is not written to.
    WRITTEN("z = torch.ops.aten.zeros_like.default(y)" LINE
            "c = torch.ops.aten.copy_.default(z, y)" LINE
            "a = torch.ops.aten.add_.Tensor(c, 1)" LINE "return y",
            0, 1, 2, 3, 4, 5),
    WRITTEN("r = torch.ops.aten.relu.default(y)" LINE "f = torch.ops.aten.fill_.Scalar(y, -1)" LINE
            "return r",
            0, 1, 2, 3, 4, 5),
    WRITTEN("c = torch.ops.aten.contiguous.default(y)" LINE
            "d = torch.ops.aten.detach_.default(c)" LINE
            "f = torch.ops.aten.fill_.Scalar(d, -1)" LINE "return y",
            -1, -1, -1, -1, -1, -1),
};

START_TEST(writes_to_values) { check_written(written[_i].text, written[_i].want); }
END_TEST

// A view of an input that is written to, through another view.
START_TEST(writes_to_views_of_inputs) {
  struct graph_fixture r =
      good(GRAPH(X, "v = torch.ops.aten.view.default(x, [6])\n        "
                    "s = torch.ops.aten.select.int(x, 0, 0)\n        "
                    "a = torch.ops.aten.add_.Tensor(s, 1)\n        return (v, a)"));
  ck_assert_uint_eq(r.graph->mutations.len, 1);
  const struct value *now = r.graph->mutations.at[0].value;
  ck_assert_int_eq(now->def->op, OP_SELECT_SCATTER);
  ck_assert_ptr_eq(node_value(r.graph->outputs.at[0]->def, 0), now);
  ck_assert_str_eq(r.graph->outputs.at[0]->name, "v");
  ck_assert_str_eq(r.graph->outputs.at[1]->name, "a");
  graph_fixture_end(&r);
}
END_TEST

// PyTorch annotates statistics of half precision as its device computes them: on GPUs all are f32,
// of bf16 buffers too; on the CPU they are bf16, and empty where nothing is trained.
START_TEST(statistics_of_half_precision) {
  static const char *const texts[] = {
      GRAPH("x: \"bf16[2, 3, 4]cuda:0\", m: \"bf16[3]cuda:0\", v: \"bf16[3]cuda:0\"",
            "n = torch.ops.aten._native_batch_norm_legit_functional.default(x, None, None, m, v, "
            "True, 0.1, 1e-05)" LINE "y: \"bf16[2, 3, 4]cuda:0\" = n[0]" LINE
            "s: \"f32[3]cuda:0\" = n[1]" LINE "r: \"f32[3]cuda:0\" = n[2]" LINE
            "m1: \"f32[3]cuda:0\" = n[3]" LINE "v1: \"f32[3]cuda:0\" = n[4]" LINE
            "c = torch.ops.aten.copy_.default(m, m1)" LINE
            "d = torch.ops.aten.copy_.default(v, v1)" LINE "return (y, s, r)"),
      GRAPH("x: \"bf16[2, 3, 4]cpu\", m: \"bf16[3]cpu\", v: \"bf16[3]cpu\"",
            "n = torch.ops.aten._native_batch_norm_legit_functional.default(x, None, None, m, v, "
            "True, 0.1, 1e-05)" LINE "y: \"bf16[2, 3, 4]cpu\" = n[0]" LINE
            "s: \"bf16[3]cpu\" = n[1]" LINE "r: \"bf16[3]cpu\" = n[2]" LINE
            "m1: \"bf16[3]cpu\" = n[3]" LINE "v1: \"bf16[3]cpu\" = n[4]" LINE
            "c = torch.ops.aten.copy_.default(m, m1)" LINE
            "d = torch.ops.aten.copy_.default(v, v1)" LINE "return (y, s, r)"),
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    struct graph_fixture r = good(texts[i]);
    ck_assert_uint_eq(r.graph->mutations.len, 2);
    for (size_t k = 0; k < 2; k++)
      ck_assert_int_eq(r.graph->mutations.at[k].value->dtype, DTYPE_BF16);
    enum dtype want = i == 0 ? DTYPE_F32 : DTYPE_BF16;
    ck_assert_int_eq(r.graph->outputs.at[1]->dtype, want);
    ck_assert_int_eq(r.graph->outputs.at[2]->dtype, want);
    graph_fixture_end(&r);
  }
  struct graph_fixture r = good(
      GRAPH("x: \"f16[2, 3, 4]cpu\", m: \"f16[3]cpu\", v: \"f16[3]cpu\"",
            "n = torch.ops.aten._native_batch_norm_legit_no_training.default(x, None, None, m, "
            "v, 0.1, 1e-05)" LINE "y: \"f16[2, 3, 4]cpu\" = n[0]" LINE
            "s: \"f16[0]cpu\" = n[1]" LINE "r: \"f16[0]cpu\" = n[2]" LINE "return y"));
  graph_fixture_end(&r);
}
END_TEST

// A norm in training writes its running statistics, also through views and at each call.
START_TEST(norms_write_running_statistics) {
  static const char *const calls[] = {
      "n = torch.ops.aten.batch_norm.default(x, None, None, m, v, True, 0.5, 1e-05, True)" LINE,
      "n3 = torch.ops.aten._native_batch_norm_legit.default(x, None, None, m, v, True, 0.5, "
      "1e-05)" LINE "n = n3[0]" LINE,
      "n = torch.ops.aten.instance_norm.default(x, None, None, m, v, True, 0.5, 1e-05, True)" LINE};
  for (size_t i = 0; i < COUNT_OF(calls); i++) {
    char text[1024];
    snprintf(text, sizeof text,
             GRAPH("x: \"f32[2, 1, 3]\", m: \"f32[1]\", r: \"f32[1]\"",
                   "v = torch.ops.aten.view.default(r, [1])" LINE
                   "c = torch.ops.aten.clone.default(v)" LINE "%sreturn (n, v, c)"),
             calls[i]);
    struct graph_fixture r = good(text);
    ck_assert_uint_eq(r.graph->mutations.len, 2);
    const int64_t shape[] = {2, 1, 3}, one[] = {1};
    struct tensor *in[] = {tensor_create(DTYPE_F32, 3, shape), tensor_create(DTYPE_F32, 1, one),
                           tensor_create(DTYPE_F32, 1, one)},
                  *out[5] = {NULL};
    for (int k = 0; k < 6; k++)
      in[0]->at[k].real = k;
    in[1]->at[0].real = in[2]->at[0].real = 1;
    ck_assert(graph_interpret(r.graph, &(struct interpret_options){0}, NULL, in, out));
    // All six have the variance 3.5, three of them 1; the results come first, then what is written.
    double variance = i == 2 ? 1 : 3.5;
    ck_assert_double_eq_tol(out[1]->at[0].real, 0.5 + variance / 2, 1e-6);
    ck_assert_double_eq(out[2]->at[0].real, 1);
    ck_assert_double_eq_tol(out[3]->at[0].real, 0.5 + 2.5 / 2, 1e-6);
    ck_assert_double_eq_tol(out[4]->at[0].real, 0.5 + variance / 2, 1e-6);
    for (int k = 0; k < 5; k++)
      tensor_destroy(out[k]);
    for (int k = 0; k < 3; k++)
      tensor_destroy(in[k]);
    graph_fixture_end(&r);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("read_writes");
  TCase *t = tcase_create("writes");
  tcase_add_loop_test(t, writes_to_values, 0, COUNT_OF(written));
  tcase_add_test(t, writes_to_views_of_inputs);
  tcase_add_test(t, norms_write_running_statistics);
  tcase_add_test(t, statistics_of_half_precision);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
