// SPDX-License-Identifier: Apache-2.0
// Named tuples and aggregates, functions that are not inlined, options of loops, constants of
// files.
#include "emitted.h"
#include "suites_emit.h"

START_TEST(named_tuples) {
  CHECK_IR("import typing\n"
           "class Size(typing.NamedTuple):\n"
           "  \"\"\"Rows and columns.\"\"\"\n"
           "  rows: tl.constexpr\n"
           "  columns: tl.constexpr = 4\n"
           "class State(NamedTuple):\n"
           "  total: tl.tensor\n"
           "  count: tl.tensor\n"
           "@triton.jit\n"
           "def step(s, v):\n"
           "  return State(count=s.count + 1, total=s.total + v)\n"
           "@triton.jit\n"
           "def k(x: ptr[f32], n: i32):\n"
           "  size = Size(2)\n"
           "  tl.static_assert(size.rows * size.columns == 8 and size == Size(2, 4))\n"
           "  tl.static_assert(len(size) == 2 and size[1] == 4 and isinstance(size, Size))\n"
           "  tl.static_assert(not isinstance(size, State))\n"
           "  s = State(0.0, 0)\n"
           "  for i in range(n):\n"
           "    s = step(s, tl.load(x + i))\n"
           "  if n > 3:\n"
           "    s = State(s.total * 2, s.count)\n"
           "  total, count = s\n"
           "  tl.store(x, total / count)\n"
           "  tl.store(x + 1, s.total)\n",
           "scf.for", "-> (f32, i32)", "scf.if", "-> (f32)", "tile.store");
  check_error("class P(NamedTuple):\n  x: int\n@jit\ndef k(n: i32):\n  a = P(1, 2)\n", "E0501");
  check_error("class P(NamedTuple):\n  x: int\n@jit\ndef k(n: i32):\n  a = P()\n", "E0501");
  check_error("class P(NamedTuple):\n  x: int\n@jit\ndef k(n: i32):\n  a = P(y=2)\n", "E0501");
  check_error("class P(NamedTuple):\n  x: int\n@jit\ndef k(n: i32):\n  a = P(1).y\n", "E0211");
  check_error("class P(NamedTuple):\n  x: int\n@jit\ndef k(n: i32):\n  a = P(1)\n  a.x = 2\n",
              "E0108");
  check_error("class P(NamedTuple):\n  x: int\nclass Q(NamedTuple):\n  x: int\n"
              "@jit\ndef k(n: i32):\n  a = P(n)\n  if n > 2:\n    a = Q(n)\n  b = a.x\n",
              "E0215");
}
END_TEST

// The forms that are calls; nested, unpacked, returned, in loops, with defaults and methods.
START_TEST(named_tuples_of_calls) {
  CHECK_IR(
      "from collections import namedtuple\n"
      "import typing, collections as c\n"
      "Pair = namedtuple('Pair', ['lo', 'hi'])\n"
      "Part = c.namedtuple(typename='Part', field_names='pair, weight  tag', defaults=(2.0, 7))\n"
      "Whole = typing.NamedTuple('Whole', [('part', Part), ('n', tl.constexpr)])\n"
      "class Named(namedtuple('Named', 'x y')):\n"
      "  @triton.jit\n"
      "  def area(self):\n"
      "    return self.x * self.y\n"
      "@triton.jit\n"
      "def turned(p):\n"
      "  return Pair(hi=p.lo, lo=p.hi)\n"
      "@triton.jit\n"
      "def k(x: ptr[f32], n: i32):\n"
      "  w = Whole(Part(Pair(1, n)), 3)\n"
      "  tl.static_assert(w.n == 3 and w.part.tag == 7 and w.part.weight == 2.0)\n"
      "  tl.static_assert(len(w.part) == 3 and isinstance(w.part.pair, Pair))\n"
      "  tl.static_assert(w[0][0].lo == 1 and Named(3, 4).area() == 12)\n"
      "  p = Pair(0.0, 1.0)\n"
      "  for i in range(n):\n"
      "    p = turned(Pair(p.lo + tl.load(x + i), p.hi))\n"
      "  lo, hi = p\n"
      "  tl.store(x, lo - hi)\n"
      "  tl.store(x + 1, turned(w.part.pair).lo)\n",
      "scf.for", "-> (f32, f32)", "tile.store", "tile.store");
  static const char head[] = "P = namedtuple('P', 'a b')\n@jit\ndef k(n: i32):\n  v = P";
  static const char *const wrong[][2] = {{"(1)", "E0501"},
                                         {"(1, 2, 3)", "E0501"},
                                         {"(1, c=2)", "E0501"},
                                         {"(1, 2, a=3)", "E0501"},
                                         {"(1, 2).c", "E0211"},
                                         {"(1, 2)[2]", "E0212"},
                                         {"(1, 2)\n  x, y, z = v", "E0218"}};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    char text[200];
    snprintf(text, sizeof text, "%s%s\n", head, wrong[i][0]);
    check_error(text, wrong[i][1]);
  }
  // Fields that only Python knows: an error where a kernel uses the class, not before.
  check_error("import sys\nfrom collections import namedtuple\n"
              "P = namedtuple('P', sys.argv)\n@jit\ndef k(n: i32):\n  v = P(1)\n",
              "E0301");
}
END_TEST

START_TEST(aggregates) {
  CHECK_IR("@tl.core._aggregate\n"
           "class Base:\n"
           "  ptr: tl.tensor\n"
           "  BLOCK: tl.constexpr\n"
           "  def __init__(self, ptr, BLOCK=16):\n"
           "    self.ptr = ptr\n"
           "    self.BLOCK = tl.constexpr(BLOCK)\n"
           "  @triton.jit\n"
           "  def load(self, i):\n"
           "    return tl.load(self.ptr + i * self.BLOCK + tl.arange(0, self.BLOCK))\n"
           "  @property\n"
           "  def size(self):\n"
           "    return self.BLOCK * 2\n"
           "  @staticmethod\n"
           "  def twice(n):\n"
           "    return 2 * n\n"
           "@tl.core._aggregate\n"
           "class Derived(Base):\n"
           "  scale: tl.tensor\n"
           "  @triton.constexpr_function\n"
           "  def __init__(self, ptr, scale):\n"
           "    self.ptr, self.BLOCK = ptr, 32\n"
           "    if scale is not None:\n"
           "      self.scale = scale\n"
           "  @triton.jit\n"
           "  def scaled(self, i):\n"
           "    return self.load(i) * self.scale\n"
           "@triton.jit\n"
           "def k(x: ptr[f32], n: i32):\n"
           "  d = Derived(x, tl.load(x))\n"
           "  tl.static_assert(d.size == 64 and Base.twice(3) == 6 and d.twice(4) == 8)\n"
           "  b = Base(x)\n"
           "  tl.store(x + tl.arange(0, 32), d.scaled(n))\n"
           "  tl.store(x + tl.arange(0, 16), b.load(1))\n",
           "tensor<32xf32>", "arith.mulf", "tensor<16xf32>");
  // Bases in a circle end.
  check_error("class A(B, B, B, B, B, NamedTuple):\n  x: int\n"
              "class B(A, A, A, A, A, NamedTuple):\n  y: int\n"
              "@jit\ndef k(n: i32):\n  a = B(1, 2).z\n",
              "E0211");
  check_error("@_aggregate\nclass A:\n  x: int\n  def __init__(self):\n    self.y = 2\n"
              "@jit\ndef k(n: i32):\n  a = A()\n",
              "E0501");
}
END_TEST

START_TEST(calls_that_stay) {
  CHECK_IR("@triton.jit(noinline=True)\n"
           "def part(x, i, N: tl.constexpr, scale=2):\n"
           "  if i > 100:\n"
           "    return tl.zeros((N,), tl.float32), i\n"
           "  v = tl.load(x + i + tl.arange(0, N))\n"
           "  return v * scale, i + 1\n"
           "@triton.jit\n"
           "def k(x: ptr[f32], n: i32):\n"
           "  i = n\n"
           "  for j in range(n):\n"
           "    v, i = part(x, i, N=16)\n"
           "    tl.store(x + tl.arange(0, 16), v)\n"
           "  w, _ = part(x, n, 16, scale=2)\n"
           "  u, _ = part(x, n, 16)\n"
           "  tl.store(x + tl.arange(0, 16), u + w)\n",
           "scf.for", "call @part_0(%arg0, %arg3) : (!tile.ptr<f32>, i32) -> (tensor<16xf32>, i32)",
           "call @part_1", "call @part_2",
           "func.func private @part_0(%arg0: !tile.ptr<f32>, %arg1: i32) -> (tensor<16xf32>, i32)",
           "scf.if", "return");
  check_error("@jit(noinline=True)\ndef f(t):\n  return t\n"
              "@jit\ndef k(x: ptr[f32]):\n  a = f(tl.load(x + arange(0, 4)))\n",
              "E0313");
  check_error("@jit(noinline=True)\ndef f(n):\n  return f(n)\n@jit\ndef k(n: i32):\n  a = f(n)\n",
              "E0307");
  // In a combine function everything is inlined.
  struct emitted r = emit_good("@jit(noinline=True)\ndef add(a, b):\n  return a + b\n"
                               "@jit\ndef sum(a, b):\n  return add(a, b)\n"
                               "@jit\ndef k(x: ptr[f32]):\n"
                               "  store(x, tl.reduce(load(x + arange(0, 4)), 0, sum))\n");
  ck_assert_ptr_null(strstr(strbuf_cstr(&r.ir), "call @"));
  emitted_free(&r);
}
END_TEST

START_TEST(options_of_loops) {
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  for i in tl.range(0, n, num_stages=3, loop_unroll_factor=4, flatten=True, "
           "warp_specialize=False, disable_licm=True, disallow_acc_multi_buffer=True):\n"
           "    store(x + i, 1.0)\n"
           "  for i in tl.range(n, num_stages=None):\n"
           "    store(x + i, 1.0)\n",
           "scf.for",
           "} {tile.disable_licm = true, tile.disallow_acc_multi_buffer = true, tile.flatten = "
           "true, tile.loop_unroll_factor = 4 : i32, tile.num_stages = 3 : i32, "
           "tile.warp_specialize = false}",
           "scf.for", "    }\n    return");
  check_error("def k(n: i32):\n  for i in tl.range(n, num_stages=-1):\n    pass\n", "E0306");
}
END_TEST

START_TEST(constants_of_files) {
  CHECK_IR("import math\n"
           "import triton.language as tl\n"
           "A = tl.constexpr(3)\n"
           "B: tl.constexpr = tl.constexpr(4)\n"
           "C, D = 5, (6, 7)\n"
           "RCP_LN2: tl.constexpr = 1.0 / math.log(2)\n"
           "@triton.constexpr_function\n"
           "def log2(n):\n"
           "  r = 0\n"
           "  while n > 1:\n"
           "    n //= 2\n"
           "    r += 1\n"
           "  return r\n"
           "@tl.constexpr_function\n"
           "def pick(name):\n"
           "  table = {'a': 1, 'b': math.ceil(2.5)}\n"
           "  return table[name] + int(math.sqrt(16)) + sum_of([i for i in range(4) if i % 2])\n"
           "@triton.constexpr_function\n"
           "def sum_of(items):\n"
           "  total = 0\n"
           "  for i in items:\n"
           "    total = total + i\n"
           "  return total\n"
           "@triton.jit\n"
           "def k(n: ptr[i32], x: ptr[f32], N: tl.constexpr = 64):\n"
           "  tl.store(n, A + B * 10 + C * 100 + D[1] * 1000)\n"
           "  tl.store(n, log2(N) + pick('b') * 10)\n"
           "  tl.store(x, RCP_LN2)\n",
           "arith.constant 7543 : i32", "arith.constant 116 : i32", "arith.constant 1.442695");
}
END_TEST

START_TEST(star_arguments) {
  CHECK_IR("@jit\n"
           "def total(*values, scale: tl.constexpr = 1):\n"
           "  acc = 0\n"
           "  for v in values:\n"
           "    acc += v\n"
           "  return acc * scale\n"
           "@jit\n"
           "def apply(f, *args):\n"
           "  return f(*args, scale=3)\n"
           "@jit\n"
           "def k(n: ptr[i32]):\n"
           "  t = (load(n), load(n + 1))\n"
           "  store(n, apply(total, *t, 5))\n",
           "arith.addi", "arith.addi", "arith.constant 5", "arith.addi", "arith.constant 3");
}
END_TEST

TCase *records_tests(void) {
  TCase *t = tcase_create("records");
  tcase_add_test(t, named_tuples);
  tcase_add_test(t, named_tuples_of_calls);
  tcase_add_test(t, aggregates);
  tcase_add_test(t, calls_that_stay);
  tcase_add_test(t, options_of_loops);
  tcase_add_test(t, constants_of_files);
  tcase_add_test(t, star_arguments);
  return t;
}
