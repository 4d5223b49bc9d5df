// SPDX-License-Identifier: Apache-2.0
// Functions and compile-time values: parameters of every kind, tuples, functions as values,
// recursion that ends at compile time, arithmetic of constants.
#include "program.h"

#include <math.h>

static double r_plus1(double a, int n) { return (void)n, a + 1; }
static double r_plus_n(double a, int n) { return a + n; }
static double r_twice_n(double a, int n) { return 2 * a + n; }
static double r_double(double a, int n) { return (void)n, 2 * a; }
static double r_plus10(double a, int n) { return (void)n, a + 10; }
static double r_plus6(double a, int n) { return (void)n, a + 6; }
static double r_times8(double a, int n) { return (void)n, a * 8; }
static double r_same(double a, int n) { return (void)n, a; }
static double r_minus_n(double a, int n) { return a - n; }
static double r_square(double a, int n) { return (void)n, a * a; }

static const struct program programs[] = {
    {"call", "@jit\ndef f(x):\n    return x + 1\n\n", "    r = f(a)\n", r_plus1},
    {"call of a call",
     "@jit\ndef g(x, y):\n    return x + y\n\n@jit\ndef f(x, y):\n    return g(x, y)\n\n",
     "    r = f(a, n)\n", r_plus_n},
    {"default", "@jit\ndef f(x, y=1):\n    return x + y\n\n", "    r = f(a)\n", r_plus1},
    {"keyword", "@jit\ndef f(x, y=1, z=2):\n    return x + y * z\n\n", "    r = f(z=5, y=2, x=a)\n",
     r_plus10},
    {"constexpr parameter",
     "@jit\ndef f(x, N: tl.constexpr):\n    if N == 10:\n        return x + N\n    return x\n\n",
     "    r = f(a, 10)\n", r_plus10},
    {"two results", "@jit\ndef f(x, y):\n    return x + y, x - y\n\n",
     "    p, m = f(a, n)\n    r = p + m - a\n", r_same},
    {"results within results", "@jit\ndef f(x, y):\n    return x, (y, x + y)\n\n",
     "    p, (q, t) = f(a, n)\n    r = t + p - q + n - p\n", r_plus_n},
    {"tuple kept and indexed", "@jit\ndef f(x, y):\n    return x, y\n\n",
     "    t = f(a, n)\n    r = t[0] + t[1]\n", r_plus_n},
    {"variable number of arguments",
     "@jit\ndef f(*xs):\n    r = xs[0]\n    for k in tl.static_range(1, len(xs)):\n        r += "
     "xs[k]\n    return r\n\n",
     "    r = f(a, n, a)\n", r_twice_n},
    {"arguments from a tuple", "@jit\ndef f(x, y):\n    return x + y\n\n",
     "    t = (a, n)\n    r = f(*t)\n", r_plus_n},
    {"function as an argument",
     "@jit\ndef g(x):\n    return x + 1\n\n@jit\ndef f(x, h):\n    return h(x)\n\n",
     "    r = f(a, g)\n", r_plus1},
    {"function as a constexpr argument",
     "@jit\ndef g(x):\n    return x + 1\n\n@jit\ndef f(x, H: tl.constexpr):\n    return H(x)\n\n",
     "    r = f(a, g)\n", r_plus1},
    {"function in a variable", "@jit\ndef g(x):\n    return x + 1\n\n", "    h = g\n    r = h(a)\n",
     r_plus1},
    {"recursion by a constant",
     "@jit\ndef f(x, N: tl.constexpr):\n    if N == 0:\n        return x\n    else:\n        "
     "return f(x, N - 1) + N\n\n",
     "    r = f(a, 4)\n", r_plus10},
    {"function within a function", NULL, "    def f(x):\n        return x + n\n    r = f(a)\n",
     r_plus_n},
    {"parameters are copies", "@jit\ndef f(x):\n    x += 5\n    return x\n\n",
     "    f(a)\n    r = a\n", r_same},
    {"local names", "@jit\ndef f(x):\n    n = x + 1\n    return n\n\n",
     "    m = f(a)\n    r = m - 1 + n\n", r_plus_n},
    {"function without a result", "@jit\ndef f(p, x):\n    store(p, x)\n\n",
     "    f(out + at, a * 0)\n    r = a\n", r_same},
    {"noinline", "@triton.jit(noinline=True)\ndef f(x, y):\n    return x + y\n\n",
     "    r = f(a, n)\n", r_plus_n, true},
    {"noinline called twice", "@triton.jit(noinline=True)\ndef f(x, y):\n    return x - y\n\n",
     "    r = f(f(a, n), -n) - n\n", r_minus_n, true},
    {"method", NULL, "    r = a.to(tl.float32).abs().to(a.dtype)\n", r_same},
    {"prefix", NULL, "    r = tl.where(tl.program_id(0) >= 0, a, a) + tl.to_tensor(1)\n", r_plus1},
    // Compile-time values.
    {"global constant", "STEP: tl.constexpr = 10\n\n", "    r = a + STEP\n", r_plus10},
    {"global constant by call", "STEP = tl.constexpr(10)\n\n", "    r = a + STEP\n", r_plus10},
    {"constant of constants", "A: tl.constexpr = 3\nB: tl.constexpr = A * 4 - 2\n\n",
     "    r = a + B\n", r_plus10},
    {"local constant", NULL, "    N: tl.constexpr = 2 * 5\n    r = a + N\n", r_plus10},
    {"power", NULL, "    r = a * 2 ** 3\n", r_times8},
    {"floor division rounds down", NULL, "    r = a + (-7 // 2) + 14\n", r_plus10},
    {"remainder has the divisor's sign", NULL, "    r = a + (-7 % 4) + 9\n", r_plus10},
    {"shifts and bits", NULL, "    r = a + ((1 << 4) >> 1 | 2) + (5 & 0) + (3 ^ 3)\n", r_plus10},
    {"conditional expression", NULL, "    r = a + (10 if 3 > 2 else 20)\n", r_plus10},
    {"comparison chain", NULL, "    r = a\n    if 1 < 2 < 3:\n        r += 10\n", r_plus10},
    {"minimum and maximum", NULL, "    r = a + min(10, 20) + max(-5, 0)\n", r_plus10},
    {"booleans", NULL, "    r = a\n    if True and not False:\n        r += 10\n", r_plus10},
    {"none", NULL, "    v = None\n    r = a\n    if v is None:\n        r += 10\n", r_plus10},
    {"strings", NULL,
     "    kind: tl.constexpr = \"ten\"\n    r = a\n    if kind == \"ten\":\n        r += 10\n",
     r_plus10},
    {"branch not taken is not compiled", NULL,
     "    if 1 == 1:\n        r = a\n    else:\n        r = no_such_function(a)\n", r_same},
    {"len", NULL, "    r = a + len((1, 2, 3)) * 2\n", r_plus6},
    {"tuple of constants", NULL, "    t = (1, 2, 3)\n    r = a + t[0] + t[1] + t[-1]\n", r_plus6},
    {"slice of a tuple", NULL, "    t = (9, 1, 2, 3)[1:]\n    r = a + t[0] + t[1] + t[2]\n",
     r_plus6},
    {"comprehension", NULL, "    t = [2 * k for k in (0, 1, 2)]\n    r = a + t[0] + t[1] + t[2]\n",
     r_plus6},
    {"enumerate", NULL, "    r = a\n    for i, k in enumerate((1, 2, 2)):\n        r += i * k\n",
     r_plus6},
    {"zip", NULL, "    r = a\n    for i, k in zip((1, 2), (2, 2)):\n        r += i * k\n", r_plus6},
    {"isinstance", NULL, "    r = a\n    if isinstance(3, int):\n        r += 6\n", r_plus6},
    {"type of a value", NULL,
     "    r = a\n    if a.dtype == tl.int32 or a.dtype == tl.float32 or a.dtype == tl.int64:\n"
     "        r += 6\n",
     r_plus6},
    {"type as a value", NULL, "    t: tl.constexpr = a.dtype\n    r = (a + n).to(t)\n", r_plus_n},
    {"static assertion", NULL, "    tl.static_assert(2 + 2 == 4, \"arithmetic\")\n    r = a\n",
     r_same},
    {"device assertion", NULL,
     "    tl.device_assert(n >= 0, \"n\")\n    assert n < 100, \"n\"\n    r = a\n", r_same},
    {"hints", NULL, "    tl.assume(n >= 0)\n    r = a + tl.multiple_of(n * 16, 16) // 16\n",
     r_plus_n},
    {"barrier", NULL, "    tl.debug_barrier()\n    r = a + n\n", r_plus_n},
    {"print", NULL, "    tl.static_print(\"type\", a.dtype)\n    r = a\n", r_same},
    {"augmented assignments", NULL, "    r = a\n    r += n\n    r *= 2\n    r -= n\n    r -= a\n",
     r_plus_n},
    {"multiple targets", NULL, "    r = s = a\n    s += 1\n", r_same},
    {"unpacking", NULL, "    (r, s), t = (a, n), 3\n    r = r + s\n", r_plus_n},
    {"square", NULL, "    r = a * a\n", r_square},
    {"double", NULL, "    r = a + a\n", r_double},
};

void family_functions(struct suite *s) {
  for (size_t k = 0; k < COUNT_OF(programs); k++)
    program_cases(s, &programs[k]);
}
