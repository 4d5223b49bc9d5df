// SPDX-License-Identifier: Apache-2.0
// Control flow: branches, loops, break and continue, early returns, in every nesting.
#include "program.h"

#include <math.h>

static double r_if(double a, int n) { return n > 2 ? a + 1 : a; }
static double r_if_else(double a, int n) { return n > 2 ? a + 1 : a * 2; }
static double r_elif(double a, int n) {
  return n == 0 ? a : n == 1 ? a + 10 : n < 5 ? a + 20 : a + 30;
}
static double r_nested_if(double a, int n) {
  return n > 1 ? (n > 4 ? a * 3 : a * 2) : (n == 0 ? a : -a);
}
static double r_both(double a, int n) { return (n > 0 && n < 10) || n == 16 ? a : -a; }
static double r_chain(double a, int n) { return 1 < n && n <= 5 ? a + n : a; }
static double r_by_value(double a, int n) { return a > 10 ? a - n : a + n; }
static double r_sum(double a, int n) { return a * n + n * (n - 1) / 2.0; }
static double r_product(double a, int n) { return n ? a * pow(2, n) : a; }
static double r_bounds(double a, int n) {
  double r = a;
  for (int k = 2; k < n; k++)
    r += k;
  return r;
}
static double r_step(double a, int n) {
  double r = a;
  for (int k = 0; k < n; k += 3)
    r = r * 2 + k;
  return r;
}
static double r_down(double a, int n) {
  double r = a;
  for (int k = n; k > 0; k -= 2)
    r = r + k * k;
  return r;
}
static double r_step_n(double a, int n) {
  double r = a;
  for (int k = 0; k < 20; k += n + 1)
    r += k;
  return r;
}
static double r_nested(double a, int n) {
  double r = a;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      r += i * k;
  return r;
}
static double r_triangle(double a, int n) {
  double r = a;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      r += 1;
  return r;
}
static double r_break(double a, int n) {
  double r = a;
  for (int k = 0; k < n && k != 4; k++)
    r += k;
  return r;
}
static double r_continue(double a, int n) {
  double r = a;
  for (int k = 0; k < n; k++)
    r += k % 3 == 1 ? 0 : k;
  return r;
}
static double r_inner_break(double a, int n) {
  double r = a;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 10 && k <= i; k++)
      r += 1;
  return r;
}
static double r_break_continue(double a, int n) {
  double r = a;
  for (int k = 0; k < n; k++) {
    if (k % 2 == 0)
      continue;
    if (k > 8)
      break;
    r += k;
  }
  return r;
}
static double r_fibonacci(double a, int n) {
  double b = 0, c = a;
  for (int k = 0; k < n; k++) {
    double next = b + c;
    b = c;
    c = next;
  }
  return b;
}
static double r_log(double a, int n) {
  double r = a;
  for (int m = n; m > 0; m /= 2)
    r += 1;
  return r;
}
static double r_collatz(double a, int n) {
  long v = (long)a, steps = 0;
  for (; v != 1 && steps < n; steps++)
    v = v % 2 ? 3 * v + 1 : v / 2;
  return (double)steps;
}
static double r_gcd(double a, int n) {
  long x = (long)a, y = n;
  while (y) {
    long rest = x % y;
    x = y;
    y = rest;
  }
  return (double)x;
}
static double r_while_break(double a, int n) {
  double r = a;
  for (int k = 0; k < 100 && k < n; k++)
    r += k;
  return r;
}
static double r_while_in_for(double a, int n) {
  double r = a;
  for (int i = 0; i < n; i++)
    for (int k = i; k > 0; k -= 2)
      r += 1;
  return r;
}
static double r_static(double a, int n) { return a + 0 + 1 + 2 + 3 + n; }
static double r_grows(double a, int n) { return a + (n > 3 ? n : 0) * 4.0; }
static double r_sign(double a, int n) { return n < 2 ? -a : n < 6 ? 0 : a; }
static double r_early(double a, int n) { return n == 0 ? 7 : n < 3 ? a * 2 : a + n; }
static double r_same(double a, int n) { return (void)n, a; }

static const char helpers[] =
    "@jit\ndef sign(a, n):\n    if n < 2:\n        return -a\n    elif n < 6:\n"
    "        return a * 0\n    else:\n        return a\n\n"
    "@jit\ndef early(a, n):\n    if n == 0:\n        return a * 0 + 7\n    if n < 3:\n"
    "        return a * 2\n    return a + n\n\n";

static const struct program programs[] = {
    {"if", NULL, "    r = a\n    if n > 2:\n        r = a + 1\n", r_if},
    {"if else", NULL, "    if n > 2:\n        r = a + 1\n    else:\n        r = a * 2\n",
     r_if_else},
    {"if of a changed value", NULL, "    r = a * 2\n    if n > 2:\n        r = a\n        r += 1\n",
     r_if_else},
    {"elif", NULL,
     "    if n == 0:\n        r = a\n    elif n == 1:\n        r = a + 10\n    elif n < 5:\n"
     "        r = a + 20\n    else:\n        r = a + 30\n",
     r_elif},
    {"nested if", NULL,
     "    if n > 1:\n        if n > 4:\n            r = a * 3\n        else:\n            r = a * "
     "2\n"
     "    else:\n        if n == 0:\n            r = a\n        else:\n            r = -a\n",
     r_nested_if},
    {"conditional expression", NULL, "    r = a + 1 if n > 2 else a * 2\n", r_if_else},
    {"and, or", NULL, "    r = -a\n    if (n > 0 and n < 10) or n == 16:\n        r = a\n", r_both},
    {"not", NULL, "    r = a\n    if not ((n > 0 and n < 10) or n == 16):\n        r = -a\n",
     r_both},
    {"chained comparison", NULL, "    r = a\n    if 1 < n <= 5:\n        r = a + n\n", r_chain},
    {"if by value", NULL, "    if a > 10:\n        r = a - n\n    else:\n        r = a + n\n",
     r_by_value, true},
    {"if of an integer", NULL, "    r = a\n    if n - 2 > 0:\n        r += 1\n", r_if},
    {"if of a tile of one element", NULL,
     "    if tl.full([1, 1], n, tl.int32) > 2:\n        r = a + 1\n    else:\n        r = a * 2\n",
     r_if_else},
    {"conditional expression of a tile of one element", NULL,
     "    r = a + 1 if tl.full([1], n, tl.int32) > 2 else a * 2\n", r_if_else},
    {"a tl.tuple, sliced without a step", NULL,
     "    t = tl.tuple([n, 5, 7, 2])[1:None:None]\n    r = a\n    if n > t[2]:\n        r = a + 1\n",
     r_if},
    {"isinstance of a pointer's type", NULL,
     "    r = a\n    if isinstance(tl.pointer_type(tl.int8), tl.pointer_type) and not "
     "isinstance(tl.int8, tl.pointer_type):\n        if n > 2:\n            r = a + 1\n",
     r_if},
    {"for", NULL, "    r = a * 0\n    for k in range(n):\n        r += a + k\n", r_sum},
    {"for of tl.range", NULL,
     "    r = a * 0\n    for k in tl.range(0, n, num_stages=2):\n        r += a + k\n", r_sum},
    {"for that multiplies", NULL, "    r = a\n    for k in range(0, n):\n        r = r + r\n",
     r_product},
    {"for with bounds", NULL, "    r = a\n    for k in range(2, n):\n        r += k\n", r_bounds},
    {"for with a step", NULL, "    r = a\n    for k in range(0, n, 3):\n        r = r * 2 + k\n",
     r_step},
    {"for downward", NULL, "    r = a\n    for k in range(n, 0, -2):\n        r = r + k * k\n",
     r_down},
    {"for with a step known at run time", NULL,
     "    r = a\n    for k in range(0, 20, n + 1):\n        r += k\n", r_step_n},
    {"for downward by a step known at run time", NULL,
     "    r = a\n    for k in range(n, 0, -(n // 100 + 2)):\n        r = r + k * k\n", r_down},
    {"nested for", NULL,
     "    r = a\n    for i in range(n):\n        for k in range(3):\n            r += i * k\n",
     r_nested},
    {"triangle of loops", NULL,
     "    r = a\n    for i in range(n):\n        for k in range(i):\n            r += 1\n",
     r_triangle},
    {"break", NULL,
     "    r = a\n    for k in range(n):\n        if k == 4:\n            break\n        r += k\n",
     r_break},
    {"continue", NULL,
     "    r = a\n    for k in range(n):\n        if k % 3 == 1:\n            continue\n        r "
     "+= k\n",
     r_continue},
    {"break of the inner loop", NULL,
     "    r = a\n    for i in range(n):\n        for k in range(10):\n            if k > i:\n"
     "                break\n            r += 1\n",
     r_inner_break},
    {"break and continue", NULL,
     "    r = a\n    for k in range(n):\n        if k % 2 == 0:\n            continue\n"
     "        if k > 8:\n            break\n        r += k\n",
     r_break_continue},
    {"swap in a loop", NULL,
     "    r = a * 0\n    c = a\n    for k in range(n):\n        r, c = c, r + c\n", r_fibonacci},
    {"while", NULL, "    r = a\n    m = n\n    while m > 0:\n        m //= 2\n        r += 1\n",
     r_log},
    {"while by value", NULL,
     "    v = a.to(tl.int64)\n    r = a * 0\n    while (v != 1) & (r < n):\n"
     "        if v % 2 == 1:\n            v = v * 3 + 1\n        else:\n            v = v // 2\n"
     "        r += 1\n",
     r_collatz, true},
    {"while of two", NULL,
     "    x = a.to(tl.int64)\n    y = n.to(tl.int64)\n    while y != 0:\n        x, y = y, x % y\n"
     "    r = x\n",
     r_gcd, true},
    {"while with break", NULL,
     "    r = a\n    k = 0\n    while k < 100:\n        if k >= n:\n            break\n"
     "        r += k\n        k += 1\n",
     r_while_break},
    {"while with continue", NULL,
     "    r = a\n    k = -1\n    while k + 1 < n:\n        k += 1\n        if k % 3 == 1:\n"
     "            continue\n        r += k\n",
     r_continue},
    {"while in for", NULL,
     "    r = a\n    for i in range(n):\n        k = i\n        while k > 0:\n            r += 1\n"
     "            k -= 2\n",
     r_while_in_for},
    {"static_range", NULL, "    r = a + n\n    for k in tl.static_range(4):\n        r += k\n",
     r_static},
    {"for over a tuple", NULL, "    r = a + n\n    for k in (0, 1, 2, 3):\n        r += k\n",
     r_static},
    {"range known at compile time", NULL, "    r = a + n\n    for k in range(4):\n        r += k\n",
     r_static},
    {"if in a loop", NULL,
     "    r = a\n    for k in range(4):\n        if n > 3:\n            r += n\n        else:\n"
     "            r += 0\n",
     r_grows},
    {"loop in an if", NULL,
     "    r = a\n    if n > 3:\n        for k in range(4):\n            r += n\n", r_grows},
    {"function with returns in branches", helpers, "    r = sign(a, n)\n", r_sign},
    {"function with early returns", helpers, "    r = early(a, n)\n", r_early},
    {"function with early returns in a loop", helpers,
     "    r = a\n    for k in range(1):\n        r = early(a, n)\n", r_early},
    {"pass", NULL, "    r = a\n    for k in range(n):\n        pass\n    if n > 2:\n        pass\n",
     r_same},
    {"walrus", NULL, "    r = a\n    if (m := n * 2) > 4:\n        r = a + m - 2 * n + 1\n", r_if},
    {"loop variable of i64", NULL,
     "    r = a * 0\n    for k in range(n.to(tl.int64)):\n        r += a + k.to(tl.int32)\n",
     r_sum},
};

// A kernel that returns early stores nothing.
static void returned(struct suite *s, int n, unsigned warps) {
  if (!case_begin(s, "return from the kernel n=%d warps=%u", n, warps))
    return;
  case_source(s, "@jit\ndef k(out, n):\n    p = program_id(0)\n    if p >= n:\n        return\n"
                 "    i = arange(0, 32)\n    store(out + p * 32 + i, i + p)\n");
  case_warps(s, warps);
  struct array *out = case_output(s, DTYPE_I32, 32 * 8);
  case_int(s, n);
  bool ran = case_run(s, 8);
  for (int i = 0; ran && i < 32 * 8; i++)
    if (i / 32 < n)
      case_expect(s, out, (size_t)i, num_int(DTYPE_I32, i % 32 + i / 32), 0, 0);
    else
      case_expect_untouched(s, out, (size_t)i);
  case_end(s);
}

void family_control(struct suite *s) {
  for (size_t k = 0; k < COUNT_OF(programs); k++)
    program_cases(s, &programs[k]);
  for (int n = 0; n <= 8; n += 2)
    for (unsigned warps = 1; warps <= 8; warps *= 2)
      returned(s, n, warps);
}
