// SPDX-License-Identifier: Apache-2.0
// Errors in the text of graphs: their codes and locations.
#include "read_check.h"

#include <check.h>

#define X "x: \"f32[2, 3][3, 1]cpu\""
static const struct {
  enum diag_code code;
  const char *text;
} wrongs[] = {
    {E1001, ""},
    {E1001, "x = 1\n"},
    {E1001, "class <lambda>(torch.nn.Module):\n    def forward(self, " X "):\n"},
    {E1001, GRAPH(X, "neg = torch.ops.aten.neg.default(x)")},
    {E1001, GRAPH("x", "return x")},
    {E1001, GRAPH(X, "return x") "Range constraints: {s0: 3}\n"},
    {E1001, GRAPH(X, "return x") "Range constraints: {s0: VR[4, 3]}\n"},
    {E1001, GRAPH(X, "return x") "Range constraints: {s0: VR[1, 3]} more\n"},
    {E1001, GRAPH(X, "return x") "Range\n"},
    {E1001, GRAPH(X, "return x") "Free strides: {x}\n"},
    {E1001, GRAPH(X, "n = torch.ops.aten.neg.default(x)\n        return n") "Free strides: {m}\n"},
    {E1001, GRAPH(X, "n = torch.ops.aten.neg.default(x)\n        return n") "Free strides: {}\n"},
    {E1001, GRAPH(X, "n = torch.ops.aten.neg.default(x)\n        return n") "Free strides {n}\n"},
    {E1001, GRAPH(X, "n = torch.ops.aten.neg.default(x)\n        return n") "Free: {n}\n"},
    {E1001,
     GRAPH(X, "n = torch.ops.aten.neg.default(x)\n        m = torch.ops.aten.neg.default(n)\n"
              "        return m") "Free strides: {n}\n"},
    {E1001, GRAPH("x: \"f33[2]\"", "return x")},
    {E1001, GRAPH("x: \"f32[2\"", "return x")},
    {E1001, GRAPH("x: \"f32[2, 3][1]\"", "return x")},
    {E1001, GRAPH("x: \"f32[-2]\"", "return x")},
    {E1001, GRAPH("x: \"f32[2.5]\"", "return x")},
    {E0103, GRAPH(X, "neg = torch.ops.aten.neg.default(x\n        return neg")},
    {E1001, GRAPH(X, "neg = torch.ops.aten.neg.default(x) x\n        return neg")},
    {E1001, GRAPH(X, "x = torch.ops.aten.neg.default(x)\n        return x")},
    {E1001, GRAPH(X, "c = self.c\n        return c")},
    {E1001, GRAPH(X, "return x\n        neg = torch.ops.aten.neg.default(x)")},
    {E1001, GRAPH(X, "return 1.5")},
    {E1001, GRAPH("x: \"f32[s0//0]\"", "return x")},
    {E1002, GRAPH(X, "neg = torch.ops.aten.negg.default(x)\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default(x, x)\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default()\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default(y = x)\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default(x, self = x)\n        return neg")},
    {E1003, GRAPH(X, "s = torch.ops.aten.sym_size.int(x, 2)\n        return s")},
    {E1003, GRAPH(X, "s = torch.ops.aten.split.Tensor(x, 1)\n        g = s[2]\n        return g")},
    {E1006, GRAPH(X, "neg: \"f32[3, 2]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"f16[2, 3]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"f32[6]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"f32[u0, 3]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"Sym(3)\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "s: \"Sym(3)\" = torch.ops.aten.sym_size.int(x, 0)\n        return s")},
    {E1007, GRAPH(X, "neg = torch.ops.aten.neg.default(y)\n        return neg")},
    {E1007, GRAPH(X, "a = torch.ops.aten.neg.default(b)\n        b = "
                     "torch.ops.aten.neg.default(a)\n        return a")},
    {E1007, GRAPH(X, "a = torch.ops.aten.neg.default(x);  x = None\n        return x")},
    {E1008, GRAPH(X, "a = x.float()\n        return a")},
    {E1008, GRAPH(X, "a = x + x\n        return a")},
    {E1008, GRAPH(X, "a = x > 1\n        return a")},
    {E1008, GRAPH(X, "a = x[0]\n        return a")},
    {E1008, GRAPH(X, "x += 1\n        return x")},
    {E1008, GRAPH(X, "a = torch.nn.functional.relu(x)\n        return a")},
    {E1008, GRAPH(X, "a = self.linear(x)\n        return a")},
    {E1003, GRAPH(X, "a = torch.ops.higher_order.cond(x, x, x)\n        return a")},
    {E1008, GRAPH(X, "a = len(x)\n        return a")},
    {E1008, GRAPH("args_list", "return args_list")},
    {E1001, GRAPH("x: \"c16[2]\"", "return x")},
    {E1008, GRAPH("x: \"DTensor(f32[2])\"", "return x")},
    {E1008, GRAPH(X, "return x\n\nclass B(torch.nn.Module):\n    def forward(self):\n        "
                     "return 1")},
    {E1008, GRAPH(X, "v = torch.ops.aten.view.dtype(x, torch.int32)\n        "
                     "c = torch.ops.aten.fill_.Scalar(v, 1)\n        return c")},
    {E1008, GRAPH("x: \"c64[2]\"", "v = torch.ops.aten.view_as_real.default(x)\n        "
                                   "c = torch.ops.aten.fill_.Scalar(v, 1)\n        return c")},
    {E1008,
     GRAPH("x: \"f32[2, 3][1, 2]\"", "v = torch.ops.aten.as_strided.default(x, [2], [3])\n        "
                                     "c = torch.ops.aten.fill_.Scalar(v, 1)\n        return c")},
    {E1003, GRAPH(X, "a = torch.ops.aten.copy_.default(x, 1)\n        return a")},
    {E1003, GRAPH(X, "a = torch.ops.aten.relu_.default(1)\n        return a")},
    {E1009, GRAPH("x: \"f32[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\"", "return x")},
    {E1009, GRAPH("x: \"f32[18446744073709551616]\"", "return x")},
    {E1009, GRAPH("x: \"f32[9223372036854775807 * 2]\"", "return x")},
    {E0911, GRAPH("x: \"f32[1099511627776, 1099511627776]\"", "return x")},
    {E0911, GRAPH("x: \"f32[2][9223372036854775807]\"", "return x")},
    {E0911, GRAPH("x: \"f32[1]\"",
                  "y = torch.ops.aten.expand.default(x, [9223372036854775807])\n        return y")},
};

START_TEST(wrong) {
  struct graph_fixture r = graph_fixture_read("graph.py", str_from(wrongs[_i].text));
  struct strbuf out = {0};
  diag_render_text(r.diag, (struct diag_style){0}, &out);
  ck_assert_msg(!r.graph && diag_first_error_code(r.diag) == wrongs[_i].code, "%s\n%s",
                wrongs[_i].text, strbuf_cstr(&out));
  // Each with a location.
  ck_assert_msg(strncmp(strbuf_cstr(&out), "graph.py:", 9) == 0, "%s", strbuf_cstr(&out));
  strbuf_finish(&out);
  graph_fixture_end(&r);
}
END_TEST

// All unknown operators in one message, with their uses; what depends on them stays silent.
START_TEST(unknown_operators) {
  struct graph_fixture r = graph_fixture_read(
      "graph.py", STR(GRAPH(X, "a = torch.ops.aten.frobnicate.default(x)\n        b = "
                               "torch.ops.aten.frobnicate.default(a)\n"
                               "        c: \"f32[7]\" = torch.ops.aten.sofmax.int(b)\n        d = "
                               "torch.ops.aten.neg.default(c)\n"
                               "        return (a, b, c, d)")));
  ck_assert_uint_eq(diag_error_count(r.diag), 1);
  ck_assert_int_eq(diag_first_error_code(r.diag), E1002);
  ck_assert_ptr_nonnull(
      strstr(diag_first_error(r.diag), "`aten.frobnicate.default` (2), `aten.sofmax.int` (1)"));
  struct strbuf out = {0};
  diag_render_text(r.diag, (struct diag_style){0}, &out);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&out), "`aten.softmax.int`"));
  strbuf_finish(&out);
  graph_fixture_end(&r);
}
END_TEST

int main(void) {
  Suite *s = suite_create("read_errors");
  TCase *t;
  t = tcase_create("wrong");
  tcase_add_loop_test(t, wrong, 0, COUNT_OF(wrongs));
  tcase_add_test(t, unknown_operators);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
