// SPDX-License-Identifier: Apache-2.0
// Approximate functions are used for values that only contribute to half-precision results, and
// nowhere else.
#include "emit_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct program_options on_cpu = {.target = "cpu"};

// Lines are `name = operator(arguments)`, of torch.ops.aten.
struct example {
  const char *what;
  const char *arguments; // of the graph
  const char *lines[10];
  const char *result;
  const char *has[3], *lacks[3]; // of the kernels' text
  double allowed;                // of the largest element
};

#define BF16 "x: \"bf16[24, 320]\""
#define F16 "x: \"f16[24, 320]\""
#define F32 "x: \"f32[24, 320]\""
static const double BF16_ERROR = 0x1p-8, F16_ERROR = 0x1p-11, F32_ERROR = 2e-6;

static const struct example examples[] = {
    {"gelu in half precision",
     BF16,
     {"y = gelu.default(x)"},
     "y",
     {"libdevice.fast_geluf(v0.to(tl.float32))"},
     {"tl.erf"},
     BF16_ERROR},
    {"gelu of f16", F16, {"y = gelu.default(x)"}, "y", {"fast_geluf"}, {"tl.erf"}, F16_ERROR},
    {"gelu of f32", F32, {"y = gelu.default(x)"}, "y", {"tl.erf("}, {"fast_"}, F32_ERROR},
    {"gelu written out",
     BF16,
     {"a = _to_copy.default(x, dtype = torch.float32)", "b = mul.Tensor(a, 0.5)",
      "c = mul.Tensor(a, 0.7071067811865476)", "d = erf.default(c)", "e = add.Tensor(d, 1)",
      "f = mul.Tensor(b, e)", "y = _to_copy.default(f, dtype = torch.bfloat16)"},
     "y",
     {"libdevice.fast_geluf("},
     {"0.5", "tl.erf"},
     BF16_ERROR},
    {"an f32 sees it too",
     BF16,
     {"a = _to_copy.default(x, dtype = torch.float32)", "b = erf.default(a)",
      "y = _to_copy.default(b, dtype = torch.bfloat16)"},
     "y, b",
     {"tl.erf("},
     {"fast_"},
     BF16_ERROR},
    {"a comparison sees it",
     BF16,
     {"a = erf.default(x)", "y = gt.Scalar(a, 0.99)"},
     "a",
     {"fast_erff"},
     {"tl.erf("},
     BF16_ERROR},
    {"a comparison alone sees it",
     F32,
     {"a = erf.default(x)", "b = gt.Scalar(a, 0.25)",
      "y = _to_copy.default(b, dtype = torch.bfloat16)"},
     "y",
     {"tl.erf("},
     {"fast_"},
     BF16_ERROR},
    {"an exponential sees it",
     BF16,
     {"a = erf.default(x)", "b = exp.default(a)", "y = exp.default(b)"},
     "y",
     {"tl.erf(", "tl.exp(", "fast_expf"},
     {"fast_erff"},
     BF16_ERROR},
    {"a sum of a row",
     BF16,
     {"a = gelu.default(x)", "y = sum.dim_IntList(a, [1])"},
     "y",
     {"fast_geluf"},
     {"tl.erf"},
     BF16_ERROR},
    {"a sum of a row in f32",
     BF16,
     {"a = gelu.default(x)", "y = sum.dim_IntList(a, [1], dtype = torch.float32)"},
     "y",
     {"tl.erf("},
     {"fast_"},
     F32_ERROR * 4},
    {"softmax",
     BF16,
     {"y = _softmax.default(x, -1, False)"},
     "y",
     {"libdevice.fast_expf", " * (1.0 / "},
     {"tl.exp("},
     BF16_ERROR},
    {"softmax of f32",
     F32,
     {"y = _softmax.default(x, -1, False)"},
     "y",
     {"tl.exp("},
     {"fast_", "1.0 /"},
     F32_ERROR},
    {"log of a sum of exponentials",
     F32,
     {"m = amax.default(x, [1], True)", "a = sub.Tensor(x, m)", "b = exp.default(a)",
      "c = sum.dim_IntList(b, [1], True)", "d = log.default(c)", "y = add.Tensor(d, m)"},
     "y",
     {"fast_expf", "tl.log("},
     {"tl.exp("},
     F32_ERROR},
    {"roots",
     BF16,
     {"a = abs.default(x)", "y = sqrt.default(a)"},
     "y",
     {"tl.sqrt("},
     {"sqrt_rn"},
     BF16_ERROR},
    {"roots of f32",
     F32,
     {"a = abs.default(x)", "y = sqrt.default(a)"},
     "y",
     {"tl.sqrt_rn("},
     {"tl.sqrt("},
     F32_ERROR},
    {"gelu backward",
     BF16 ", g: \"bf16[24, 320]\"",
     {"y = gelu_backward.default(g, x)"},
     "y",
     {"fast_normcdff", "fast_expf"},
     {"tl.erf", "tl.exp("},
     BF16_ERROR},
    {"gelu by tanh",
     F16,
     {"y = gelu.default(x, approximate = 'tanh')"},
     "y",
     {"fast_sigmoidf"},
     {"tanh", "0.5"},
     F16_ERROR},
    {"tanh", F16, {"y = tanh.default(x)"}, "y", {"fast_tanhf"}, {"tl.tanh"}, F16_ERROR},
    {"silu", BF16, {"y = silu.default(x)"}, "y", {"fast_sigmoidf"}, {"tl.sigmoid"}, BF16_ERROR},
    {"silu written out",
     BF16,
     {"a = _to_copy.default(x, dtype = torch.float32)", "b = neg.default(a)", "c = exp.default(b)",
      "d = add.Tensor(c, 1)", "e = div.Tensor(a, d)",
      "y = _to_copy.default(e, dtype = torch.bfloat16)"},
     "y",
     {"fast_sigmoidf"},
     {"exp(", "/"},
     BF16_ERROR},
    {"a quotient by a number",
     BF16,
     {"y = div.Tensor(x, 3.0)"},
     "y",
     {"* 0.333333"},
     {"/"},
     BF16_ERROR},
    {"a quotient by an element",
     BF16 ", z: \"bf16[24, 320]\"",
     {"a = abs.default(z)", "b = add.Tensor(a, 1)", "y = div.Tensor(x, b)"},
     "y",
     {" / "},
     {"1.0 /"},
     BF16_ERROR},
    {"an indirect use",
     BF16 ", w: \"bf16[320, 32]\"",
     {"a = gelu.default(x)", "y = mm.default(a, w)"},
     "y",
     {"fast_geluf"},
     {"tl.erf"},
     2 * BF16_ERROR},
};

static const char *text_of(struct arena *a, const struct example *x) {
  struct strbuf out = {0};
  strbuf_printf(&out, "class <lambda>(torch.nn.Module):\n    def forward(self, %s):\n",
                x->arguments);
  for (unsigned i = 0; x->lines[i]; i++) {
    const char *is = strstr(x->lines[i], "= ");
    strbuf_printf(&out, "        %.*storch.ops.aten.%s\n", (int)(is + 2 - x->lines[i]), x->lines[i],
                  is + 2);
  }
  strbuf_printf(&out, "        return (%s,)\n", x->result);
  const char *kept = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return kept;
}

START_TEST(functions_suit_what_sees_them) {
  const struct example *x = &examples[_i];
  struct arena *a = arena_create();
  struct program *p = check_program(a, text_of(a, x), &on_cpu, x->what);
  struct strbuf out = {0};
  for (size_t i = 0; i < p->kernels.len; i++) { // without comments and types of parameters
    const char *body = strstr(p->kernels.at[i]->source, "):\n");
    strbuf_puts(&out, body ? body : "");
  }
  for (unsigned i = 0; i < 3 && x->has[i]; i++)
    ck_assert_msg(strstr(strbuf_cstr(&out), x->has[i]), "%s: no %s in\n%s", x->what, x->has[i],
                  strbuf_cstr(&out));
  for (unsigned i = 0; i < 3 && x->lacks[i]; i++)
    ck_assert_msg(!strstr(strbuf_cstr(&out), x->lacks[i]), "%s: %s in\n%s", x->what, x->lacks[i],
                  strbuf_cstr(&out));
  strbuf_finish(&out);
  check_agrees(p, NULL, x->allowed, x->what);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("approximate");
  TCase *c = tcase_create("functions");
  tcase_set_timeout(c, 300);
  tcase_add_loop_test(c, functions_suit_what_sees_them, 0, (int)COUNT_OF(examples));
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
