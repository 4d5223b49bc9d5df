// SPDX-License-Identifier: Apache-2.0
// Matrix products: types of operands and sums, accumulators, precision, ranks.
#include "emitted.h"
#include "suites_emit.h"

#define INDICES                                                                                    \
  "  r = arange(0, 16)\n"                                                                          \
  "  o = r[:, None] * 16 + r[None, :]\n"
#define TYPES(t, u, v)                                                                             \
  "(tensor<16x16x" t ">, tensor<16x16x" u ">, tensor<16x16x" v ">) -> tensor<16x16x" v ">"

START_TEST(types_of_operands) {
  CHECK_IR("def k(x: ptr[f32], h: ptr[f16], b: ptr[bf16], d: ptr[f64], i: ptr[i8]):\n" INDICES
           "  store(h + o, tl.dot(load(h + o), load(h + o)))\n"
           "  store(h + o, tl.dot(load(h + o), load(h + o), out_dtype=tl.float16))\n"
           "  store(h + o, tl.dot(load(b + o), load(b + o), out_dtype=tl.float16))\n"
           "  store(x + o, tl.dot(load(x + o), load(x + o)))\n"
           "  store(d + o, tl.dot(load(d + o), load(d + o)))\n"
           "  store(x + o, tl.dot(load(i + o), load(i + o), out_dtype=tl.float32))\n",
           TYPES("f16", "f16", "f32"), TYPES("f16", "f16", "f16"), TYPES("bf16", "bf16", "f32"),
           "input_precision = \"tf32\", max_num_imprecise_acc = 0 : i32",
           TYPES("f32", "f32", "f32"), TYPES("f64", "f64", "f64"), TYPES("i8", "i8", "i32"),
           "arith.sitofp");
  CHECK_IR("def k(x: ptr[f32], e: ptr[f8e5], n: ptr[f8e4nv], s: ptr[f8e4b15]):\n" INDICES
           "  store(x + o, tl.dot(load(e + o), load(n + o)))\n"
           "  store(x + o, tl.dot(load(n + o), load(e + o), max_num_imprecise_acc=4))\n"
           "  store(x + o, tl.dot(load(s + o), load(e + o)))\n",
           "max_num_imprecise_acc = 1073741824", TYPES("f8E5M2", "f8E4M3FN", "f32"),
           "max_num_imprecise_acc = 4", TYPES("f8E4M3FN", "f8E5M2", "f32"), "arith.bitcast",
           "tile.fp_to_fp", "max_num_imprecise_acc = 0", TYPES("f16", "f16", "f32"));
}
END_TEST

START_TEST(accumulators) {
  CHECK_IR("def k(x: ptr[f32], h: ptr[f16]):\n" INDICES "  a = load(h + o)\n"
           "  c = tl.dot(a, a)\n"
           "  c = tl.dot(a, a, c)\n"
           "  c = tl.dot(a, a, acc=c, out_dtype=tl.float32)\n"
           "  g = tl.dot(a, a, a)\n"
           "  store(x + o, c + g)\n",
           "dense<0.000000e+00> : tensor<16x16xf32>", "%10 = \"tile.dot\"(%9, %9, %cst_0)",
           "%11 = \"tile.dot\"(%9, %9, %10)", "%12 = \"tile.dot\"(%9, %9, %11)",
           "\"tile.dot\"(%9, %9, %9)", TYPES("f16", "f16", "f16"));
  // Carried by a loop.
  CHECK_IR("def k(x: ptr[f32], h: ptr[f16], n: i32):\n" INDICES
           "  c = tl.zeros((16, 16), tl.float32)\n"
           "  for i in range(n):\n"
           "    c = tl.dot(load(h + o), load(h + i * 256 + o), c)\n"
           "  store(x + o, c)\n",
           "scf.for", "iter_args(%arg4 = %cst", "\"tile.dot\"", ", %arg4)", "scf.yield");
}
END_TEST

START_TEST(precision) {
  CHECK_IR("def k(x: ptr[f32], MODE: constexpr = 'bf16x6'):\n" INDICES "  a = load(x + o)\n"
           "  c = tl.dot(a, a, None, 'ieee')\n"
           "  c = tl.dot(a, a, c, 'TF32x3')\n"
           "  c = tl.dot(a, a, c, input_precision=MODE)\n"
           "  c = tl.dot(a, a, c, allow_tf32=True)\n"
           "  c = tl.dot(a, a, c, allow_tf32=False)\n"
           "  c = tl.dot(a, a, c, input_precision=None, allow_tf32=None, out_dtype=None)\n"
           "  store(x + o, c)\n",
           "\"ieee\"", "\"tf32x3\"", "\"bf16x6\"", "\"tf32\"", "\"ieee\"", "\"tf32\"");
  const char *head =
      "def k(x: ptr[f32], h: ptr[f16], e: ptr[f8e5]):\n" INDICES "  a = load(x + o)\n";
  static const struct {
    const char *line, *code;
  } bad[] = {{"  tl.dot(a, a, input_precision='tf64')\n", "E0504"},
             {"  tl.dot(a, a, input_precision=1)\n", "E0301"},
             {"  tl.dot(a, a, input_precision='ieee', allow_tf32=True)\n", "E0501"},
             {"  tl.dot(a, a, allow_tf32=x)\n", "E0301"},
             {"  tl.dot(load(e + o), load(e + o), max_num_imprecise_acc=17)\n", "E0503"},
             {"  tl.dot(a, a, max_num_imprecise_acc=-1)\n", "E0503"},
             {"  tl.dot(a, a, out_dtype=1)\n", "E0503"},
             {"  a.dot(a)\n", "E0211"},
             {"  b = a @ a\n", "E0203"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s%s", head, bad[i].line);
    check_error(text, bad[i].code);
  }
}
END_TEST

START_TEST(ranks) {
  CHECK_IR("def k(h: ptr[f16]):\n"
           "  a = load(h + arange(0, 1024))\n"
           "  p = tl.dot(a.reshape(4, 8, 32), a.reshape(4, 32, 8))\n"
           "  q = tl.dot(a.reshape(2, 2, 1, 16, 16), a.reshape(2, 2, 1, 16, 16))\n"
           "  store(h + arange(0, 256), p.ravel())\n"
           "  store(h + arange(0, 1024), q.ravel())\n",
           "(tensor<4x8x32xf16>, tensor<4x32x8xf16>, tensor<4x8x8xf32>) -> tensor<4x8x8xf32>",
           "(tensor<2x2x1x16x16xf16>) -> tensor<4x16x16xf16>",
           "(tensor<4x16x16xf16>, tensor<4x16x16xf16>, tensor<4x16x16xf32>) -> tensor<4x16x16xf32>",
           "(tensor<4x16x16xf32>) -> tensor<2x2x1x16x16xf32>");
  // Any power of two is a size.
  CHECK_IR("def k(h: ptr[f16]):\n"
           "  a = load(h + arange(0, 1))[:, None]\n"
           "  store(h + arange(0, 1), tl.dot(a, a).reshape(1))\n",
           "(tensor<1x1xf16>, tensor<1x1xf16>, tensor<1x1xf32>) -> tensor<1x1xf32>");
  // A product of two thin tiles may be too large.
  check_error("def k(h: ptr[f16]):\n"
              "  a = load(h + arange(0, 2048))\n"
              "  b = tl.dot(a[:, None], a[None, :])\n",
              "E0206");
}
END_TEST

// Elements and scales become bf16, or f16 beside an operand of f16; K is doubled where numbers are
// packed along it.
START_TEST(scaled) {
  const char *head = "def k(a: ptr[u8], h: ptr[f16], b: ptr[bf16], x: ptr[f32]):\n" INDICES
                     "  w = r[:, None] * 32 + arange(0, 32)[None, :]\n"
                     "  p, q = load(a + o), load(a + w)\n"
                     "  s = load(a + r)[:, None]\n";
  CHECK_IR("def k(a: ptr[u8], b: ptr[bf16], h: ptr[f16], x: ptr[f32]):\n" INDICES
           "  s, w = load(a + r)[:, None], r[None, :] + arange(0, 32)[:, None] * 16\n"
           "  c = tl.dot_scaled(load(a + o), s, 'e2m1', load(b + w), None, 'bf16')\n"
           "  c = tl.dot_scaled(load(a + o), s, 'e2m1', load(h + w), s, 'fp16', c, True)\n"
           "  store(x + o, c)\n",
           "(tensor<16x16xi8>, tensor<16x16xi8>) -> tensor<16x16x2xi8>",
           "(tensor<16x16x2xi8>) -> tensor<16x32xi8>", "dense<32704> : tensor<16x1xi16>",
           "(tensor<16x1x32xbf16>) -> tensor<16x32xbf16>", "\"tile.dot\"",
           "(tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>) -> tensor<16x16xf32>",
           "arith.truncf", "to tensor<16x32xf16>", "\"tile.trans\"", "\"tile.dot\"",
           "(tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>");
  static const struct {
    const char *call, *code, *message;
  } bad[] = {{"p, s, 'e3m0', q, s, 'e2m1'", "E0303", "not e3m0"},
             {"load(b + o), s, 'e2m1', q, s, 'e2m1'", "E0303", "two numbers in each uint8"},
             {"load(b + o), None, 'e4m3', q, s, 'e2m1'", "E0303", "f8e4nv, or u8 with its bits"},
             {"q, p, 'e4m3', q.T, None, 'e4m3'", "E0303", "(16, 1) of them, not (16, 16)"},
             {"q, load(h + r)[:, None], 'e4m3', q.T, None, 'e4m3'", "E0303", "not f16"},
             {"q, s, 'e4m3', q.T, None, 'e4m3', lhs_k_pack=False", "E0303", "only e2m1"},
             {"q, s, 'e4m3', q.T, None, 'e4m3', out_dtype=tl.float16", "E0303", "gives float32"},
             {"q, s, 'e4m3', q, None, 'e4m3'", "E0516", "32 columns, the second 16 rows"},
             {"load(a + r), None, 'e4m3', q, None, 'e4m3'", "E0303", "two dimensions or more"},
             {"q, None, 'e4m3', q.T, None, 'e4m3', acc=p", "E0517", "an accumulator of `uint8`"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s  tl.dot_scaled(%s)\n", head, bad[i].call);
    struct emitted r = emit_text(str_from(text), NULL, NULL);
    const char *said = strbuf_cstr(&r.messages);
    ck_assert_msg(r.errors == 1 && strstr(said, bad[i].code) && strstr(said, bad[i].message),
                  "%s\n%s", text, said);
    emitted_free(&r);
  }
}
END_TEST

// The default precision of f32 is reported once for each call, and only if none was given.
START_TEST(remark) {
  struct emitted r = emit_good("def k(x: ptr[f32], h: ptr[f16]):\n" INDICES "  a = load(x + o)\n"
                               "  for i in tl.static_range(3):\n"
                               "    a = tl.dot(a, a)\n"
                               "  a = tl.dot(a, a, input_precision='tf32')\n"
                               "  store(x + o, a + tl.dot(load(h + o), load(h + o)))\n");
  const char *at = strstr(strbuf_cstr(&r.messages), "multiplied as tf32");
  ck_assert_msg(at && !strstr(at + 1, "multiplied as tf32"), "%s", strbuf_cstr(&r.messages));
  emitted_free(&r);
}
END_TEST

TCase *dot_tests(void) {
  TCase *t = tcase_create("dot");
  tcase_add_test(t, types_of_operands);
  tcase_add_test(t, accumulators);
  tcase_add_test(t, precision);
  tcase_add_test(t, ranks);
  tcase_add_test(t, scaled);
  tcase_add_test(t, remark);
  return t;
}
