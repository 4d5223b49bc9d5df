// SPDX-License-Identifier: Apache-2.0
// Reductions, scans and maps: the operations, and the functions beside the kernel that they name.
#include "emitted.h"
#include "suites_emit.h"

#define ADD                                                                                        \
  "@jit\n"                                                                                         \
  "def add(a, b):\n"                                                                               \
  "  return a + b\n"

static unsigned occurrences(const char *text, const char *piece) {
  unsigned n = 0;
  for (const char *at = text; (at = strstr(at, piece)); at++)
    n++;
  return n;
}

START_TEST(reductions) {
  CHECK_IR(ADD "@jit\n"
               "def k(x: ptr[f32]):\n"
               "  t = load(x + arange(0, 8)[:, None] * 16 + arange(0, 16)[None, :])\n"
               "  store(x + arange(0, 8), tl.reduce(t, 1, add))\n"
               "  store(x + arange(0, 16), t.reduce(-2, combine_fn=add))\n"
               "  store(x, tl.reduce(t, None, add))\n"
               "  store(x + arange(0, 8)[:, None], tl.reduce(t, axis=1, combine_fn=add, "
               "keep_dims=True))\n",
           "axis = 1 : i32, combine = @add_0", "(tensor<8x16xf32>) -> tensor<8xf32>",
           "axis = 0 : i32, combine = @add_0", "(tensor<8x16xf32>) -> tensor<16xf32>",
           "tile.reshape", "axis = 0 : i32, combine = @add_0", "(tensor<128xf32>) -> f32",
           "-> tensor<8xf32>", "tile.expand_dims", "-> tensor<8x1xf32>",
           "func.func private @add_0(%arg0: f32, %arg1: f32) -> f32", "arith.addf", "return");
  // One function for all uses with these types; another one for other types.
  struct emitted r = emit_good(ADD "@jit\n"
                                   "def k(x: ptr[f32], n: ptr[i32]):\n"
                                   "  o = arange(0, 16)\n"
                                   "  a = tl.reduce(load(x + o), 0, add)\n"
                                   "  b = tl.reduce(load(x + o + 16), 0, add)\n"
                                   "  c = tl.reduce(load(n + o), 0, add)\n"
                                   "  d = tl.reduce(load(n + o).to(u32), 0, add)\n"
                                   "  store(x, a + b + c + d)\n");
  ck_assert_uint_eq(occurrences(strbuf_cstr(&r.ir), "func.func private"), 3);
  emitted_free(&r);
}
END_TEST

START_TEST(several_operands) {
  CHECK_IR("@jit\n"
           "def larger(a, i, b, j):\n"
           "  better = (a > b) | ((a == b) & (i < j))\n"
           "  return tl.where(better, a, b), tl.where(better, i, j)\n"
           "@jit\n"
           "def k(x: ptr[f32], n: ptr[i32]):\n"
           "  o = arange(0, 16)\n"
           "  v, i = tl.reduce((load(x + o), o), 0, larger)\n"
           "  store(x, v)\n"
           "  store(n, i)\n",
           "\"tile.reduce\"", "combine = @larger_0",
           "(tensor<16xf32>, tensor<16xi32>) -> (f32, i32)",
           "@larger_0(%arg0: f32, %arg1: i32, %arg2: f32, %arg3: i32) -> (f32, i32)");
}
END_TEST

START_TEST(scans) {
  CHECK_IR(ADD "@jit\n"
               "def first(a, x, b, y):\n"
               "  if a > b:\n"
               "    return a, x\n"
               "  return b, 0\n"
               "@jit\n"
               "def k(x: ptr[f32]):\n"
               "  o = arange(0, 16)\n"
               "  t = tl.associative_scan(load(x + o), 0, add, reverse=True)\n"
               "  u, i = tl.associative_scan((t, o), -1, first)\n"
               "  store(x + o, u + i)\n",
           "\"tile.scan\"", "combine = @add_0", "reverse = true", "\"tile.scan\"",
           "combine = @first_1", "reverse = false", "@add_0", "@first_1", "scf.if");
}
END_TEST

START_TEST(maps) {
  CHECK_IR("@jit\n"
           "def step(a, n):\n"
           "  while a < n:\n"
           "    a = a * 2\n"
           "  return a, a > 100\n"
           "@jit\n"
           "def twice(a0, a1):\n"
           "  return a1, a0\n"
           "@jit\n"
           "def k(x: ptr[i32]):\n"
           "  o = arange(0, 16)\n"
           "  a, b = tl.map_elementwise(step, load(x + o), 7)\n"
           "  c, = tl.map_elementwise(twice, a, pack=2)\n"
           "  store(x + o, c, b)\n",
           "\"tile.map_elementwise\"", "function = @step_0", "pack = 1 : i32",
           "(tensor<16xi32>, tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi1>)",
           "function = @twice_1", "pack = 2 : i32", "(tensor<16xi32>) -> tensor<16xi32>",
           "func.func private @step_0(%arg0: i32, %arg1: i32) -> (i32, i1)", "scf.while",
           "func.func private @twice_1(%arg0: i32, %arg1: i32) -> (i32, i32)",
           "return %arg1, %arg0");
}
END_TEST

START_TEST(functions_of_other_functions) {
  // A combine function may call, see constants around it, and be a function of the language.
  CHECK_IR(ADD "@jit\n"
               "def k(x: ptr[f32], SCALE: constexpr = 3):\n"
               "  def scaled(a, b):\n"
               "    return add(a, b) * SCALE\n"
               "  t = load(x + arange(0, 16))\n"
               "  store(x, tl.reduce(t, 0, scaled))\n"
               "  store(x, tl.reduce(t, 0, tl.maximum))\n",
           "@scaled_0", "@maximum_1", "func.func private @scaled_0", "arith.addf", "3.000000e+00",
           "arith.mulf", "func.func private @maximum_1", "arith.maxnumf");
}
END_TEST

START_TEST(errors) {
  check_error("@jit\ndef f(a, b):\n  return a > b\n"
              "@jit\ndef k(x: ptr[f32]):\n  store(x, tl.reduce(load(x + arange(0, 4)), 0, f))\n",
              "E0513");
  check_error("@jit\ndef f(a, b):\n  return a, b\n"
              "@jit\ndef k(x: ptr[f32]):\n  store(x, tl.reduce(load(x + arange(0, 4)), 0, f))\n",
              "E0513");
  check_error(
      "@jit\ndef f(a):\n  return a, 1, 2\n"
      "@jit\ndef k(x: ptr[f32]):\n  a = tl.map_elementwise(f, load(x + arange(0, 4)), pack=2)\n",
      "E0501");
  check_error("@jit\ndef f(a, b):\n  tl.debug_barrier()\n  return a\n"
              "@jit\ndef k(x: ptr[f32]):\n  store(x, tl.reduce(load(x + arange(0, 4)), 0, f))\n",
              "E0514");
  check_error("@jit\ndef k(x: ptr[f32], n: i32):\n  def f(a, b):\n    return a + b + n\n"
              "  store(x, tl.reduce(load(x + arange(0, 4)), 0, f))\n",
              "E0312");
  check_error(ADD "@jit\ndef k(x: ptr[f32]):\n  store(x, tl.reduce(load(x), 0, add))\n", "E0503");
  check_error(ADD "@jit\ndef k(x: ptr[f32]):\n  t = tl.reduce(load(x + arange(0, 4)), 1, add)\n",
              "E0509");
  // Recursion that never ends.
  check_error("@jit\ndef f(a, b):\n  return f(a, b)\n"
              "@jit\ndef k(x: ptr[f32]):\n  store(x, tl.reduce(load(x + arange(0, 4)), 0, f))\n",
              "E0307");
}
END_TEST

TCase *collective_tests(void) {
  TCase *t = tcase_create("collective");
  tcase_add_test(t, reductions);
  tcase_add_test(t, several_operands);
  tcase_add_test(t, scans);
  tcase_add_test(t, maps);
  tcase_add_test(t, functions_of_other_functions);
  tcase_add_test(t, errors);
  return t;
}
