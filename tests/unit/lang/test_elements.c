// SPDX-License-Identifier: Apache-2.0
// Gather, join and split, compare and swap, inline assembly, special registers, and the names under
// which functions are imported.
#include "emitted.h"
#include "suites_emit.h"

START_TEST(elements) {
  CHECK_IR("def k(x: ptr[f32], n: ptr[i32]):\n"
           "  o = arange(0, 16)\n"
           "  a, i = load(x + o), load(n + o)\n"
           "  p, q = join(a, i).split()\n"
           "  r, s = tl.join(load(x), 4.0).split()\n"
           "  g = a.gather(i.to(i8), -1)\n"
           "  store(x + o, p + q + r + s + g)\n"
           "  store(n + o, i.histogram(16) + tl.histogram(i, 16, mask=i < 7))\n"
           "  store(x, a.reshape((1, 16, 1)).reshape(16, 1).gather(zeros((1, 1), i32), "
           "axis=0).item())\n",
           "arith.sitofp", "(tensor<16xf32>, tensor<16xf32>) -> tensor<16x2xf32>",
           "(tensor<16x2xf32>) -> (tensor<16xf32>, tensor<16xf32>)", "\"tile.join\"",
           "(f32, f32) -> tensor<2xf32>", "(tensor<2xf32>) -> (f32, f32)", "arith.trunci",
           "arith.extsi", "\"tile.gather\"", "axis = 0", "\"tile.histogram\"",
           "(tensor<16xi32>) -> tensor<16xi32>", "\"tile.histogram\"",
           "(tensor<16xi32>, tensor<16xi1>) -> tensor<16xi32>", "\"tile.unsplat\"",
           "(tensor<1x1xf32>) -> f32");
  check_error("def k(x: ptr[f32]):\n  a, b = load(x + arange(0, 4)).split()\n", "E0223");
  check_error("def k(x: ptr[f32]):\n  a = load(x + arange(0, 4)).item()\n", "E0503");
  check_error("def k(x: ptr[f32]):\n  a = load(x + arange(0, 4)).histogram(4)\n", "E0503");
  check_error("def k(n: ptr[i32]):\n  a = load(n + arange(0, 4)).histogram(5)\n", "E0205");
  check_error(
      "def k(n: ptr[i32]):\n  a = load(n + arange(0, 4))\n  b = tl.gather(a, a[:, None], 0)\n",
      "E0214");
}
END_TEST

START_TEST(compare_and_swap) {
  CHECK_IR("def k(x: ptr[f32], n: ptr[i64]):\n"
           "  old = tl.atomic_cas(n, 0, 1, sem='acquire', scope='sys')\n"
           "  was = tl.atomic_cas(x + arange(0, 4), 0.0, load(x))\n"
           "  store(x + arange(0, 4), was + old)\n",
           "(!tile.ptr<i64>, i64, i64) -> i64", "\"tile.bitcast\"",
           "tensor<4x!tile.ptr<i32>>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>",
           "arith.bitcast");
  CHECK_IR("def k(n: ptr[i32], m: ptr[u16]):\n"
           "  tl.atomic_poll(n, 7)\n"
           "  if not tl.atomic_poll(m, 1, sem='relaxed', scope='cta', timeout_ns=1000):\n"
           "    store(n, 0)\n",
           "scf.while", "\"tile.atomic_cas\"", "sem = \"acquire\"", "scf.condition",
           "name = \"globaltimer\"", "arith.addi", "scf.while",
           "scope = \"cta\", sem = \"relaxed\"", "name = \"globaltimer\"", "arith.cmpi slt",
           "arith.andi", "scf.if");
  check_error("def k(n: ptr[i8]):\n  tl.atomic_cas(n, 0, 1)\n", "E0510");
  check_error("def k(n: const_ptr[i32]):\n  tl.atomic_cas(n, 0, 1)\n", "E0506");
  check_error("def k(x: ptr[f32]):\n  tl.atomic_poll(x, 1)\n", "E0510");
}
END_TEST

START_TEST(the_machine) {
  CHECK_IR(
      "def k(n: ptr[i32], x: ptr[f32]):\n"
      "  a = load(n + arange(0, 8))\n"
      "  b, c = tl.inline_asm_elementwise(asm='add.s32 $0, $2, $3;', "
      "constraints='=r,=r,r,r', args=[a, 3], dtype=(i32, f32), is_pure=False, pack=1)\n"
      "  d = tl.inline_asm_elementwise('mov.u32 $0, %laneid;', '=r', [], tl.uint32, True, 1)\n"
      "  store(n + arange(0, 8), b + d + tl.extra.cuda.smid())\n"
      "  tl.extra.cuda.gdc_wait()\n"
      "  tl.extra.cuda.gdc_launch_dependents()\n"
      "  tl.expect_zero(a, mask=a < 3)\n"
      "  store(x + arange(0, 8), c + tl.extra.cuda.num_warps() + tl.extra.cuda.globaltimer())\n",
      "(tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xf32>)", "() -> i32",
      "name = \"smid\"", "kind = \"wait\"", "kind = \"launch_dependents\"", "tile.assert",
      "name = \"globaltimer\"");
  check_error("def k(x: ptr[f32]):\n"
              "  y = tl.inline_asm_elementwise('', '=r', [], dtype=(), is_pure=True, pack=1)\n",
              "E0503");
}
END_TEST

START_TEST(external_functions) {
#define EXTERN(symbol)                                                                             \
  "def k(x: ptr[f32]):\n"                                                                          \
  "  y = tl.extern_elementwise('', '', [load(x + arange(0, 4))], {(tl.dtype('fp32'),): ('" symbol  \
  "f', tl.dtype('fp32')), (tl.dtype('fp64'),): ('" symbol "', tl.dtype('fp64'))}, is_pure=True)\n" \
  "  store(x + arange(0, 4), y)\n"
  CHECK_IR(EXTERN("__nv_exp"), "math.exp2", "tile.store");
  CHECK_IR(EXTERN("__nv_fabs"), "math.absf", "tile.store");
  check_error(EXTERN("__nv_no_such_function"), "E0502");
  check_error(EXTERN("my_exp"), "E0502");
  check_error(
      "def k(n: ptr[i32]):\n"
      "  y = tl.extern_elementwise('', '', [load(n)], {(f32,): ('__nv_expf', f32)}, True)\n",
      "E0503");
}
END_TEST

START_TEST(dictionaries) {
  CHECK_IR("def k(n: ptr[i32], W: constexpr = 2):\n"
           "  sizes = {1: 10, 2: 20, ('a', 3): 30}\n"
           "  store(n, sizes[W] + sizes['a', 3])\n",
           "arith.constant 50 : i32");
  struct emitted r = emit_good("def k(n: ptr[i32]):\n"
                               "  d = {1: 10, 'b': 20}\n"
                               "  static_assert('b' in d and 20 not in d and len(d) == 2)\n"
                               "  for key in d:\n"
                               "    static_print(key, d[key])\n");
  ck_assert_str_eq(strbuf_cstr(&r.printed), "1 10\nb 20\n");
  emitted_free(&r);
  check_error("def k(n: ptr[i32]):\n  a = {1: 2}\n  store(n, a[3])\n", "E0212");
  check_error("def k(n: ptr[i32]):\n  a = {load(n): 2}\n", "E0301");
}
END_TEST

START_TEST(imports) {
  struct emitted r =
      emit_good("import triton\n"
                "import triton.language as tl\n"
                "import triton.language.math as tlm\n"
                "from triton.language.extra import libdevice\n"
                "from triton.language.extra.cuda.libdevice import rsqrt as r\n"
                "from triton.language.math import exp, sqrt as root\n"
                "from torch._inductor.runtime.triton_helpers import libdevice as ld\n"
                "try:\n"
                "  from triton.language.extra.cuda import libdevice as cuda\n"
                "except ImportError:\n"
                "  cuda = None\n"
                "@triton.jit\n"
                "def k(x: tl.pointer_type(tl.float32)):\n"
                "  a = tl.load(x)\n"
                "  a = tlm.exp(a) + libdevice.exp(a) + r(a) + exp(a) + root(a) + ld.sqrt(a)\n"
                "  a += tl.extra.cuda.libdevice.exp(a) + tl.extra.libdevice.exp(a) + cuda.exp(a)\n"
                "  a += triton.language.math.floor(a) + tl.math.ceil(a)\n"
                "  tl.store(x, a)\n");
  emitted_free(&r);
}
END_TEST

TCase *elements_tests(void) {
  TCase *t = tcase_create("elements");
  tcase_add_test(t, elements);
  tcase_add_test(t, compare_and_swap);
  tcase_add_test(t, the_machine);
  tcase_add_test(t, external_functions);
  tcase_add_test(t, dictionaries);
  tcase_add_test(t, imports);
  return t;
}
