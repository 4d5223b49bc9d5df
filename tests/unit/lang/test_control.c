// SPDX-License-Identifier: Apache-2.0
// Control flow: which variables are carried, what is folded, `break`, `continue` and `return`.
#include "emitted.h"
#include "suites_emit.h"

#include <stdio.h>

START_TEST(only_what_changes_is_carried) {
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  p = x\n  scale = load(x)\n  acc = 0.0\n"
           "  for i in range(n):\n"
           "    acc += load(p + i) * scale\n"
           "  store(x, acc)\n",
           "iter_args(%arg3 = %cst) -> (f32)", "scf.yield");
  struct emitted r = emit_good("def k(x: ptr[f32], n: i32):\n"
                               "  a = load(x)\n  b = a\n"
                               "  for i in range(n):\n"
                               "    a = a\n"
                               "    b = b\n"
                               "  store(x, a + b)\n");
  ck_assert_ptr_null(strstr(strbuf_cstr(&r.ir), "iter_args"));
  emitted_free(&r);
  // Swapped variables are both carried.
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  a, b = load(x), load(x + 1)\n"
           "  for i in range(n):\n"
           "    a, b = b, a\n"
           "  store(x, a)\n",
           "-> (f32, f32)", "scf.yield %arg4, %arg3");
}
END_TEST

// A condition that is a variable which the loop does not change, or changes to another type.
START_TEST(conditions_may_be_variables) {
  CHECK_IR("def k(x: ptr[i32], n: i32):\n"
           "  go = n > 3\n"
           "  while go:\n"
           "    store(x, 1)\n"
           "    go = go\n",
           "scf.while", "scf.condition", "tile.store");
  struct emitted r = emit_good("def k(x: ptr[i32], n: i32):\n"
                               "  go = n > 3\n"
                               "  while go:\n"
                               "    store(x, 1)\n"
                               "    go = load(x) > 0\n");
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&r.ir), "scf.while"));
  emitted_free(&r);
  check_error("def k(x: ptr[i32], n: i32):\n"
              "  go = n > 3\n"
              "  while go:\n"
              "    store(x, 1)\n"
              "    go = arange(0, 4) > 3\n",
              "E0213");
}
END_TEST

START_TEST(temporaries_may_change_type) {
  // `t` has another type in each loop and in each branch, and is never read across.
  struct emitted r = emit_good("def k(x: ptr[f32], n: i32):\n"
                               "  t = load(x + arange(0, 16))\n"
                               "  store(x + arange(0, 16), t)\n"
                               "  for i in range(n):\n"
                               "    t = load(x + i)\n"
                               "    store(x + i, t)\n"
                               "  if n > 3:\n"
                               "    t = n\n"
                               "  else:\n"
                               "    t = x\n");
  emitted_free(&r);
}
END_TEST

START_TEST(tuples_are_carried) {
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  s = (0.0, 0)\n"
           "  while s[1] < n:\n"
           "    s = (s[0] + load(x + s[1]), s[1] + 1)\n"
           "  store(x, s[0])\n",
           "scf.while", "f32, i32", "scf.condition", "scf.yield");
}
END_TEST

// A name that an expression assigns in a branch is merged, wherever in the expression it stands.
START_TEST(walruses_are_merged) {
  static const char *const values[] = {"t = (1, 2, 3)[(k := 1):]", "t = [(k := i) for i in (0, 1)]",
                                       "static_assert(True, f\"{(k := 1)}\")",
                                       "device_assert(n > 0, f\"{(k := 1)}\")"};
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    char text[256];
    snprintf(text, sizeof text,
             "def k(x: ptr[i32], n: i32):\n  k = 5\n  if n > 0:\n    %s\n  store(x, k)\n",
             values[i]);
    struct emitted r = emit_good(text);
    ck_assert_msg(strstr(strbuf_cstr(&r.ir), "-> (i32)") != NULL, "%s\n%s", text,
                  strbuf_cstr(&r.ir));
    emitted_free(&r);
  }
}
END_TEST

START_TEST(merging_of_branches) {
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  if n > 3:\n    a, b = load(x), 1\n  else:\n    a, b = 0, 1\n"
           "  store(x, a + b)\n",
           "-> (f32)", "0.000000e+00 : f32"); // b is 1 on both paths: not carried
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  t = (load(x), n)\n"
           "  if n > 3:\n    t = (t[0], n + 1)\n"
           "  store(x, t[0] + t[1])\n",
           "-> (i32)");
}
END_TEST

START_TEST(compile_time_branches) {
  struct emitted r = emit_good("def k(x: ptr[f32], n: i32, FAST: constexpr = True):\n"
                               "  if FAST and n is not None:\n    y = 1.0\n"
                               "  elif undefined_name:\n    y = None\n"
                               "  else:\n    y = nonsense()\n"
                               "  store(x, y if FAST else undefined_too)\n"
                               "  while False:\n    store(x, 2.0)\n");
  ck_assert_ptr_null(strstr(strbuf_cstr(&r.ir), "scf.if"));
  emitted_free(&r);
}
END_TEST

START_TEST(early_returns) {
  struct emitted r = emit_good("def k(x: ptr[f32], n: i32):\n"
                               "  if n < 1:\n    return\n"
                               "  store(x, 1.0)\n"
                               "  if n < 2:\n    store(x, 2.0)\n  else:\n    return\n"
                               "  store(x, 3.0)\n");
  const char *ir = strbuf_cstr(&r.ir);
  ck_assert_ptr_null(strstr(ir, "-> (i1)")); // the rest is nested: no flag is needed
  ck_assert(strstr(ir, "1.000000e+00") < strstr(ir, "3.000000e+00"));
  emitted_free(&r);
  // Where both branches may fall through a flag guards the rest, and the result is merged.
  CHECK_IR("@jit\n"
           "def f(a, b):\n"
           "  if a > 0:\n"
           "    if b > 0:\n"
           "      return a\n"
           "    b += 1.0\n"
           "  return a + b\n"
           "@jit\n"
           "def k(x: ptr[f32]):\n"
           "  store(x, f(load(x), load(x + 1)))\n",
           "scf.if", "-> (f32, i1, f32)", "arith.xori", "scf.if");
  // Unreachable code is not evaluated.
  struct emitted dead = emit_good("def k(n: i32):\n  return\n  nonsense()\n");
  emitted_free(&dead);
}
END_TEST

START_TEST(breaks_and_continues) {
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  for i in range(n):\n"
           "    v = load(x + i)\n"
           "    if v > 3:\n      break\n"
           "    store(x + i, v)\n",
           "scf.while", "arith.cmpi slt", "arith.xori", "arith.andi", "scf.condition", "scf.if");
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  for i in range(n):\n"
           "    if load(x + i) > 3:\n      continue\n"
           "    store(x + i, 1.0)\n",
           "scf.for", "scf.if", "} else {", "tile.store");
  // Nested: the inner break does not leave the outer loop.
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  for i in range(n):\n"
           "    for j in range(n):\n"
           "      if load(x + j) > 3:\n        break\n"
           "    store(x + i, 1.0)\n",
           "scf.for", "scf.while", "tile.store");
  // The condition of a while is not evaluated again after a break.
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  i = 0\n"
           "  while load(x + i) > 0:\n"
           "    i += 1\n"
           "    if i > n:\n      break\n"
           "  store(x, i)\n",
           "scf.while", "scf.if", "tile.load", "} else {", "scf.condition");
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  i = 0\n"
           "  while True:\n"
           "    i += 1\n"
           "    if i > n:\n      break\n"
           "  store(x, i)\n",
           "scf.while", "scf.condition");
}
END_TEST

START_TEST(steps_of_ranges) {
  CHECK_IR("def k(x: ptr[f32], n: i32):\n  for i in range(0, n, 4):\n    store(x + i, 1.0)\n",
           "scf.for %arg2 = %c0_i32 to %arg1 step %c4_i32");
  CHECK_IR("def k(x: ptr[f32], n: i32):\n  for i in range(n, 0, -4):\n    store(x + i, 1.0)\n",
           "arith.divsi", "scf.for", "arith.muli", "arith.addi");
  CHECK_IR(
      "def k(x: ptr[f32], n: i32, s: i32):\n  for i in range(0, n, s):\n    store(x + i, 1.0)\n",
      "arith.select", "arith.maxsi", "arith.divsi", "scf.for");
  struct emitted r = emit_good("def k(x: ptr[f32], n: i32):\n"
                               "  for i in range(program_id(0), n, num_programs(0) * 2):\n"
                               "    store(x + i, 1.0)\n");
  ck_assert_ptr_null(strstr(strbuf_cstr(&r.ir), "arith.divsi")); // known to be positive
  emitted_free(&r);
  CHECK_IR("def k(x: ptr[f32], n: u32):\n  for i in range(n):\n    store(x + i, 1.0)\n",
           "arith.extui", "scf.for", ": i64", "arith.trunci");
}
END_TEST

START_TEST(static_loops) {
  struct emitted r = emit_good("def k(x: ptr[f32], n: i32):\n"
                               "  for i in static_range(10, 0, -3):\n"
                               "    if i == 7:\n      continue\n"
                               "    static_print(i)\n"
                               "  for v in (1, 'a', 2.5):\n"
                               "    if v == 2.5:\n      break\n"
                               "    static_print(v)\n"
                               "  for i in static_range(3):\n"
                               "    if load(x + i) > 0:\n      break\n"
                               "    store(x + i, 1.0)\n");
  ck_assert_str_eq(strbuf_cstr(&r.printed), "10\n4\n1\n1\na\n");
  emitted_free(&r);
  // A return known at compile time leaves the loop and the function.
  struct emitted left = emit_good("def k(n: i32):\n  for i in static_range(3):\n    if i == 1:\n"
                                  "      return\n    static_assert(i < 1)\n  nonsense()\n");
  emitted_free(&left);
}
END_TEST

START_TEST(functions) {
  struct emitted r = emit_good("@jit\n"
                               "def twice(f, v, *rest, scale=2):\n"
                               "  static_print(len(rest), scale)\n"
                               "  return f(f(v)), rest\n"
                               "@jit\n"
                               "def inc(v):\n"
                               "  return v + 1\n"
                               "@jit\n"
                               "def k(x: ptr[f32], n: i32):\n"
                               "  def local(v):\n"
                               "    return v * n\n"
                               "  a, r = twice(inc, load(x), 7, 8)\n"
                               "  b, _ = twice(local, a, scale=5)\n"
                               "  store(x, b + r[1])\n");
  ck_assert_str_eq(strbuf_cstr(&r.printed), "2 2\n0 5\n");
  emitted_free(&r);
}
END_TEST

TCase *control_tests(void) {
  TCase *t = tcase_create("control");
  tcase_add_test(t, only_what_changes_is_carried);
  tcase_add_test(t, conditions_may_be_variables);
  tcase_add_test(t, temporaries_may_change_type);
  tcase_add_test(t, tuples_are_carried);
  tcase_add_test(t, walruses_are_merged);
  tcase_add_test(t, merging_of_branches);
  tcase_add_test(t, compile_time_branches);
  tcase_add_test(t, early_returns);
  tcase_add_test(t, breaks_and_continues);
  tcase_add_test(t, steps_of_ranges);
  tcase_add_test(t, static_loops);
  tcase_add_test(t, functions);
  return t;
}
