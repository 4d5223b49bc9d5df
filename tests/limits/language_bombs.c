// SPDX-License-Identifier: Apache-2.0
// Kernels.
#include "tests/limits/bombs.h"

static void repeat(FILE *f, int count, const char *text) {
  for (int i = 0; i < count; i++)
    fputs(text, f);
}

static void head(FILE *f) {
  fputs("@jit\ndef k(x: ptr[f32], n: i32, B: constexpr = 128):\n  p = x + arange(0, B)\n", f);
}

// One expression of `size` parts: `open` size times, `core`, `close` size times.
static void around(FILE *f, int size, const char *open, const char *core, const char *close) {
  head(f);
  fputs("  y = ", f);
  repeat(f, size, open);
  fputs(core, f);
  repeat(f, size, close);
  fputs("\n  store(p, load(p) + y)\n", f);
}

static void constant_chain(FILE *f, int size) {
  fputs("A0 = 1\n", f);
  for (int i = 1; i <= size; i++)
    fprintf(f, "A%d = A%d + 1\n", i, i - 1);
  fprintf(f, "@jit\ndef k(x: ptr[f32]):\n  store(x, A%d * 1.0)\n", size);
}

static void literal(FILE *f, int size) {
  fputs("@jit\ndef k(x: ptr[f32]):\n  store(x, ", f);
  repeat(f, size, "9");
  fputs(" * 1.0)\n", f);
}

static void parameters(FILE *f, int size) {
  fputs("@jit\ndef k(x: ptr[f32]", f);
  for (int i = 0; i < size; i++)
    fprintf(f, ", a%d: i32", i);
  fputs("):\n  store(x, 1.0)\n", f);
}

static void parameters_untyped(FILE *f, int size) {
  fputs("import triton\nimport triton.language as tl\n@triton.jit\ndef k(x", f);
  for (int i = 0; i < size; i++)
    fprintf(f, ", a%d", i);
  fputs("):\n  tl.store(x + tl.arange(0, 16), 1.0)\n", f);
}

static void parameters_constexpr(FILE *f, int size) {
  fputs("@jit\ndef k(x: ptr[f32]", f);
  for (int i = 0; i < size; i++)
    fprintf(f, ", a%d: constexpr = %d", i, i);
  fputs("):\n  store(x, 1.0)\n", f);
}

static void parameters_of_helper(FILE *f, int size) {
  fputs("@jit\ndef h(a0", f);
  for (int i = 1; i < size; i++)
    fprintf(f, ", a%d", i);
  fputs("):\n  return a0\n", f);
  head(f);
  fputs("  y = h(n", f);
  repeat(f, size - 1, ", n");
  fputs(")\n  store(p, y)\n", f);
}

static void sorts(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)\n", f);
  repeat(f, size, "  y = sort(y)\n");
  fputs("  store(p, y)\n", f);
}

static void cumsums(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)\n", f);
  repeat(f, size, "  y = cumsum(y, 0)\n");
  fputs("  store(p, y)\n", f);
}

static void dots(FILE *f, int size) {
  fputs("@jit\ndef k(x: ptr[f32]):\n  p = x + arange(0, 64)[:, None] * 64 + arange(0, 64)[None, "
        ":]\n  y = load(p)\n",
        f);
  repeat(f, size, "  y = dot(y, y)\n");
  fputs("  store(p, y)\n", f);
}

static void stores(FILE *f, int size) {
  head(f);
  repeat(f, size, "  store(p, load(p) + 1.0)\n");
}

static void doubling_helpers(FILE *f, int size) {
  fputs("@jit\ndef h0(y):\n  return y * 2.0 + 1.0\n", f);
  for (int i = 1; i < size; i++)
    fprintf(f, "@jit\ndef h%d(y):\n  return h%d(h%d(y))\n", i, i - 1, i - 1);
  head(f);
  fprintf(f, "  store(p, h%d(load(p)))\n", size - 1);
}

static void doubling_constants(FILE *f, int size) {
  fputs("@jit\ndef h0(y: constexpr):\n  return y + 1\n", f);
  for (int i = 1; i < size; i++)
    fprintf(f, "@jit\ndef h%d(y: constexpr):\n  return h%d(y) + h%d(y)\n", i, i - 1, i - 1);
  head(f);
  fprintf(f, "  store(p, load(p) + h%d(1))\n", size - 1);
}

static void doubling_host(FILE *f, int size) {
  fputs("def h0(y):\n  return y + 1\n", f);
  for (int i = 1; i < size; i++)
    fprintf(f, "def h%d(y):\n  return h%d(y) + h%d(y)\n", i, i - 1, i - 1);
  fprintf(f, "N: constexpr = h%d(1)\n", size - 1);
  fprintf(f, "@autotune(configs=[Config({'B': 128 + 0 * h%d(1)})], key=['n'])\n", size - 1);
  head(f);
  fputs("  store(p, load(p) + 1)\n", f);
}

static void doubling_noinline(FILE *f, int size) {
  fputs("@jit(noinline=True)\ndef h0(y):\n  return y * 2.0 + 1.0\n", f);
  for (int i = 1; i < size; i++)
    fprintf(f, "@jit(noinline=True)\ndef h%d(y):\n  return h%d(h%d(y))\n", i, i - 1, i - 1);
  head(f);
  fprintf(f, "  store(p, h%d(load(p)))\n", size - 1);
}

static void calls_in_row(FILE *f, int size) {
  fputs("@jit\ndef h(y):\n  return y * 2.0 + 1.0\n", f);
  head(f);
  fputs("  y = load(p)\n", f);
  repeat(f, size, "  y = h(y)\n");
  fputs("  store(p, y)\n", f);
}

static void recursion(FILE *f, int size) {
  fprintf(f, "@jit\ndef h(y, N: constexpr):\n  if N == 0:\n    return y\n  else:\n    return h(y, "
             "N - 1) + h(y, N - 1)\n");
  head(f);
  fprintf(f, "  store(p, h(load(p), %d))\n", size);
}

static void ands(FILE *f, int size) {
  head(f);
  fputs("  y = (n > 0)", f);
  repeat(f, size, " and (n > 1)");
  fputs("\n  store(p, load(p), mask=y)\n", f);
}
static void ands_bits(FILE *f, int size) { around(f, size, "(n > 1) & ", "(n > 0)", ""); }
static void sums(FILE *f, int size) { around(f, size, "n + ", "n", ""); }
static void comparisons(FILE *f, int size) { around(f, size, "n < ", "n", ""); }
static void brackets(FILE *f, int size) { around(f, size, "(", "n", ")"); }
static void lists(FILE *f, int size) { around(f, size, "[", "n", "]"); }
static void minuses(FILE *f, int size) { around(f, size, "-", "n", ""); }
static void nots(FILE *f, int size) { around(f, size, "not ", "n", ""); }
static void subscripts(FILE *f, int size) { around(f, size, "", "n", "[0]"); }
static void attributes(FILE *f, int size) { around(f, size, "", "n", ".a"); }
static void calls(FILE *f, int size) { around(f, size, "abs(", "n", ")"); }
static void powers(FILE *f, int size) { around(f, size, "2 ** ", "1", ""); }
static void ternaries(FILE *f, int size) { around(f, size, "n if n > 0 else ", "n", ""); }
static void lambdas(FILE *f, int size) { around(f, size, "lambda: ", "n", ""); }
static void wheres(FILE *f, int size) { around(f, size, "where(n > 0, n, ", "n", ")"); }
static void list_long(FILE *f, int size) {
  head(f);
  fputs("  y = [n", f);
  repeat(f, size, ",n");
  fputs("]\n  store(p, load(p) + len(y))\n", f);
}
static void fstrings(FILE *f, int size) { around(f, size, "f'{", "n", "}'"); }

// `text` with a number for each '#'.
static void numbered(FILE *f, const char *text, int number) {
  for (; *text; text++)
    if (*text == '#')
      fprintf(f, "%d", number);
    else
      putc(*text, f);
}

static void blocks(FILE *f, int size, const char *text, const char *end) {
  head(f);
  fputs("  y = load(p)\n", f);
  for (int i = 0; i < size; i++) {
    fprintf(f, "%*s", i + 2, "");
    numbered(f, text, i);
    fputs("\n", f);
  }
  fprintf(f, "%*sy += 1.0\n%s  store(p, y)\n", size + 2, "", end);
}
static void ifs(FILE *f, int size) { blocks(f, size, "if n > #:", ""); }
static void loops(FILE *f, int size) { blocks(f, size, "for i# in range(n):", ""); }
static void whiles(FILE *f, int size) { blocks(f, size, "while n > #:", ""); }
static void functions(FILE *f, int size) { blocks(f, size, "def f#():", ""); }
static void static_loops(FILE *f, int size) { blocks(f, size, "for i# in static_range(16):", ""); }

static void elifs(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)\n  if n == 0:\n    y += 1.0\n", f);
  for (int i = 0; i < size; i++)
    fprintf(f, "  elif n == %d:\n    y += %d.0\n", i, i);
  fputs("  store(p, y)\n", f);
}

static void ifs_in_row(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)\n", f);
  for (int i = 0; i < size; i++)
    fprintf(f, "  if n == %d:\n    y += %d.0\n", i, i);
  fputs("  store(p, y)\n", f);
}

static void returns_in_row(FILE *f, int size) {
  head(f);
  for (int i = 0; i < size; i++)
    fprintf(f, "  if n == %d:\n    return\n", i);
  fputs("  store(p, 1.0)\n", f);
}

static void loops_in_row(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)\n", f);
  for (int i = 0; i < size; i++)
    fprintf(f, "  for i in range(n):\n    y += sum(y, 0)\n");
  fputs("  store(p, y)\n", f);
}

// Nested loops with reductions, which need barriers.
static void barrier_nest(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)\n", f);
  for (int i = 0; i < size; i++) {
    fprintf(f, "%*sfor i%d in range(n):\n", i + 2, "", i);
    fprintf(f, "%*sy += sum(y, 0)\n%*sy += cumsum(y, 0)\n", i + 3, "", i + 3, "");
  }
  for (int i = size; i > 0; i--)
    fprintf(f, "%*sy = y * 0.5 + max(y, 0)\n%*sy += cumsum(y, 0)\n", i + 2, "", i + 2, "");
  fputs("  store(p, y)\n", f);
}

static void chain(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)\n", f);
  repeat(f, size, "  y = y * 1.5 + y\n");
  fputs("  store(p, y)\n", f);
}

static void doubling_chain(FILE *f, int size) {
  head(f);
  fputs("  y = n\n", f);
  repeat(f, size, "  y = y + y * y\n");
  fputs("  store(p + y, 1.0)\n", f);
}

static void constants(FILE *f, const char *text) {
  head(f);
  fprintf(f, "  y: constexpr = %s\n  store(p, load(p) + y)\n", text);
}
static void shift_far(FILE *f, int size) { (void)size, constants(f, "1 << 10**9"); }
static void power_far(FILE *f, int size) { (void)size, constants(f, "2 ** 10**8"); }
static void string_far(FILE *f, int size) { (void)size, constants(f, "len('a' * 10**9)"); }
static void list_far(FILE *f, int size) { (void)size, constants(f, "len([0] * 10**9)"); }
static void tuple_far(FILE *f, int size) { (void)size, constants(f, "len((0, 1) * 10**8)"); }
static void range_far(FILE *f, int size) {
  (void)size, constants(f, "len([i for i in range(10**9)])");
}
static void format_far(FILE *f, int size) { (void)size, constants(f, "len(f'{1:1000000000}')"); }

static void float_digits(FILE *f, int size) {
  head(f);
  fputs("  y = 1.0", f);
  repeat(f, size, "1");
  fputs("\n  store(p, load(p) + y)\n", f);
}
static void exponent(FILE *f, int size) {
  head(f);
  fprintf(f, "  y = 1e%d\n  store(p, load(p) + y)\n", size);
}

static void list_doubling(FILE *f, int size) {
  head(f);
  fputs("  l: constexpr = [1, 2]\n", f);
  repeat(f, size, "  l = l + l\n");
  fputs("  store(p, load(p) + len(l))\n", f);
}
static void string_doubling(FILE *f, int size) {
  head(f);
  fputs("  s: constexpr = 'abc'\n", f);
  repeat(f, size, "  s = s + s\n");
  fputs("  store(p, load(p) + len(s))\n", f);
}
static void nested_doubling(FILE *f, int size) {
  head(f);
  fputs("  t = (n, n)\n", f);
  repeat(f, size, "  t = (t, t)\n");
  fputs("  store(p, load(p))\n", f);
}
static void integer_doubling(FILE *f, int size) {
  head(f);
  fputs("  t: constexpr = 3\n", f);
  repeat(f, size, "  t = t * t\n");
  fputs("  store(p, load(p) + t)\n", f);
}

static void static_range_far(FILE *f, int size) {
  head(f);
  fprintf(f, "  y = load(p)\n  for i in static_range(%d):\n    y = y * 1.5 + i\n  store(p, y)\n",
          size);
}
static void static_while(FILE *f, int size) {
  head(f);
  fprintf(f, "  i: constexpr = 0\n  while i < %d:\n    i = i + 1\n  store(p, load(p) + i)\n", size);
}
static void unroll_far(FILE *f, int size) {
  head(f);
  fprintf(f,
          "  y = load(p)\n  for i in range(0, %d, loop_unroll_factor=%d):\n    y = y * 1.5 + i\n  "
          "store(p, y)\n",
          size, size);
}
static void host_loop(FILE *f, int size) {
  fprintf(f,
          "def count():\n  s = 0\n  for i in range(%d):\n    s += i\n  return [Config({'B': "
          "128})]\n@autotune(configs=count(), key=['n'])\n",
          size);
  head(f);
  fputs("  store(p, load(p))\n", f);
}

static void tile_far(FILE *f, int size) {
  fprintf(f, "@jit\ndef k(x: ptr[f32]):\n  store(x + arange(0, %d), 1.0)\n", size);
}
static void tile_wide(FILE *f, int size) {
  (void)size;
  fputs("@jit\ndef k(x: ptr[f32]):\n  y = zeros((1 << 40, 1 << 40), f32)\n  store(x, sum(sum(y, "
        "0), 0))\n",
        f);
}
static void tile_heavy(FILE *f, int size) {
  fprintf(f,
          "@jit\ndef k(x: ptr[f32]):\n  i = arange(0, %d)\n  y = load(x + i)\n  store(x + i, y + "
          "cumsum(y, 0))\n",
          size);
}
static void sort_wide(FILE *f, int size) {
  fprintf(f, "@jit\ndef k(x: ptr[f32]):\n  i = arange(0, %d)\n  store(x + i, sort(load(x + i)))\n",
          size);
}
static void dims(FILE *f, int size) {
  head(f);
  fputs("  y = load(p)", f);
  repeat(f, size, "[:, None]");
  fputs("\n  store(p, sum(y))\n", f);
}

static void kernels(FILE *f, int size) {
  for (int i = 0; i < size; i++)
    fprintf(f,
            "@jit\ndef k%d(x: ptr[f32], n: i32):\n  i = arange(0, 128)\n  store(x + i, load(x + i) "
            "+ %d, mask=i < n)\n",
            i, i);
}
static void lines(FILE *f, int size) {
  head(f);
  repeat(f, size, "\n");
  fputs("  store(p, 1.0)\n", f);
}
static void line_long(FILE *f, int size) {
  head(f);
  fputs("  # ", f);
  repeat(f, size, "x");
  fputs("\n  store(p, y)\n", f); // an error on a line behind
}
static void line_long_wrong(FILE *f, int size) {
  head(f);
  fputs("  y = ", f);
  repeat(f, size, "1 + ");
  fputs("z\n", f);
}
static void errors(FILE *f, int size) {
  head(f);
  for (int i = 0; i < size; i++)
    fprintf(f, "  a%d = unknown%d + 1\n", i, i);
}
static void constants_module(FILE *f, int size) {
  fputs("C0: constexpr = 1\n", f);
  for (int i = 1; i < size; i++)
    fprintf(f, "C%d: constexpr = C%d + C%d\n", i, i - 1, i - 1);
  head(f);
  fprintf(f, "  store(p, load(p) + (C%d %% 7))\n", size - 1);
}
static void name_long(FILE *f, int size) {
  head(f);
  fputs("  ", f);
  repeat(f, size, "a");
  fputs(" = 1\n", f);
}
static void string_long(FILE *f, int size) {
  head(f);
  fputs("  static_assert(True, '", f);
  repeat(f, size, "a");
  fputs("')\n", f);
}
static void assembly(FILE *f, int size) {
  head(f);
  fputs("  y = inline_asm_elementwise('", f);
  repeat(f, size, "mov.b32 $0, $1;");
  fputs("', '=r,r', [load(p)], dtype=f32, is_pure=True, pack=1)\n  store(p, y)\n", f);
}
static void variables(FILE *f, int size) {
  head(f);
  for (int i = 0; i < size; i++)
    fprintf(f, "  v%d = load(p + %d)\n", i, i);
  fputs("  for i in range(n):\n", f);
  for (int i = 0; i < size; i++)
    fprintf(f, "    v%d = v%d * 1.5\n", i, i);
  for (int i = 0; i < size; i++)
    fprintf(f, "  store(p + %d, v%d)\n", i, i);
}
static void classes(FILE *f, int size) {
  fputs("@aggregate\nclass C0:\n  x: i32\n  def __init__(self, x):\n    self.x = x\n", f);
  (void)size;
  head(f);
  fputs("  c = C0(n)\n  store(p, c.x)\n", f);
}

#define PTX "@ --emit=ptx --target=sm_90a"
#define HOST "@ --emit=llvm --target=cpu"
// A layer norm of one block: `size` / 128 elements a thread.
static void layer_norm(FILE *f, int size) {
  fprintf(f,
          "@jit\ndef k(x: ptr[f16], w: ptr[f16], y: ptr[f16], n: i32):\n"
          "  i = arange(0, %d)\n  m = i < n\n"
          "  v = load(x + i, mask=m, other=0.).to(f32)\n"
          "  d = where(m, v - sum(v, 0) / n, 0.)\n"
          "  r = rsqrt(sum(d * d, 0) / n + 1e-5)\n"
          "  store(y + i, d * r * load(w + i, mask=m), mask=m)\n",
          size);
}

const struct bomb language_bombs[] = {
    {"layer-norm-65536.tile", layer_norm, 65536, PTX, ""},
    {"constants-20000.tile", constant_chain, 20000, PTX, "E0307"},
    {"constants-300.tile", constant_chain, 300, PTX, ""},
    {"literal-1000000.tile", literal, 1000000, PTX, "E0304"},
    {"parameters-20000.tile", parameters, 20000, PTX, "E0950"},
    {"parameters-2000.tile", parameters, 1000, PTX, ""},
    {"parameters-untyped.tile", parameters_untyped, 20000, PTX, "E0950"},
    {"parameters-constexpr.tile", parameters_constexpr, 20000, PTX, "E0950"},
    {"parameters-of-helper.tile", parameters_of_helper, 20000, PTX, "E0950"},
    {"sorts.tile", sorts, 200, PTX, "E0950"},
    {"sorts-10.tile", sorts, 10, PTX, ""},
    {"cumsums.tile", cumsums, 500, PTX, ""},
    {"dots.tile", dots, 1000, PTX, "E0950"},
    {"stores.tile", stores, 20000, PTX, "E0950"},
    {"stores-500.tile", stores, 500, PTX, ""},
    {"doubling-helpers.tile", doubling_helpers, 40, PTX, "E0950"},
    {"doubling-helpers-8.tile", doubling_helpers, 8, PTX, ""},
    {"doubling-constants.tile", doubling_constants, 40, PTX, "E0950"},
    {"doubling-host.tile", doubling_host, 60, PTX, ""},
    {"doubling-noinline.tile", doubling_noinline, 40, PTX, "E0313"},
    {"calls-in-row.tile", calls_in_row, 50000, PTX, "E0950"},
    {"recursion.tile", recursion, 60, PTX, "E0950"},
    {"ands.tile", ands, 50000, PTX, "E0902"},
    {"ands-bits.tile", ands_bits, 50000, PTX, "E0902"},
    {"sums.tile", sums, 50000, PTX, "E0902"},
    {"sums-990.tile", sums, 990, PTX, ""},
    {"comparisons.tile", comparisons, 50000, PTX, "E0902"},
    {"brackets.tile", brackets, 100000, PTX, "E0902"},
    {"lists.tile", lists, 100000, PTX, "E0902"},
    {"minuses.tile", minuses, 100000, PTX, "E0902"},
    {"nots.tile", nots, 100000, PTX, "E0902"},
    {"subscripts.tile", subscripts, 100000, PTX, "E0902"},
    {"attributes.tile", attributes, 100000, PTX, "E0902"},
    {"calls.tile", calls, 100000, PTX, "E0902"},
    {"powers.tile", powers, 100000, PTX, "E0902"},
    {"ternaries.tile", ternaries, 100000, PTX, "E0902"},
    {"lambdas.tile", lambdas, 100000, PTX, "E0902"},
    {"wheres.tile", wheres, 100000, PTX, "E0902"},
    {"wheres-200.tile", wheres, 200, PTX, ""},
    {"list-long.tile", list_long, 300000, PTX, "E0309"},
    {"fstrings.tile", fstrings, 1000, PTX, "E0010"},
    {"ifs.tile", ifs, 2000, PTX, "E0902"},
    {"ifs-200.tile", ifs, 200, PTX, ""},
    {"loops.tile", loops, 2000, PTX, "E0902"},
    {"loops-200.tile", loops, 200, PTX, ""},
    {"whiles-100.tile", whiles, 100, PTX, ""},
    {"functions.tile", functions, 200, PTX, ""},
    {"static-loops.tile", static_loops, 12, PTX, "E0950"},
    {"elifs.tile", elifs, 20000, PTX, "E0902"},
    {"elifs-200.tile", elifs, 200, PTX, ""},
    {"ifs-in-row.tile", ifs_in_row, 2000, PTX, ""},
    {"ifs-in-row-300.tile", ifs_in_row, 300, PTX, ""},
    {"returns-in-row.tile", returns_in_row, 5000, PTX, "E0307"},
    {"returns-in-row-100.tile", returns_in_row, 100, PTX, ""},
    {"loops-in-row.tile", loops_in_row, 1000, PTX, "E0950"},
    {"loops-in-row-50.tile", loops_in_row, 50, PTX, ""},
    {"barrier-nest.tile", barrier_nest, 12, PTX, ""},
    {"barrier-nest-60.tile", barrier_nest, 60, PTX, ""},
    {"chain.tile", chain, 50000, PTX, "E0950"},
    {"chain-2000.tile", chain, 2000, PTX, ""},
    {"doubling-chain.tile", doubling_chain, 2000, PTX, ""},
    {"shift-far.tile", shift_far, 0, PTX, "E0304"},
    {"power-far.tile", power_far, 0, PTX, "E0304"},
    {"string-far.tile", string_far, 0, PTX, "E0203"},
    {"list-far.tile", list_far, 0, PTX, "E0304"},
    {"tuple-far.tile", tuple_far, 0, PTX, "E0304"},
    {"range-far.tile", range_far, 0, PTX, "E0309"},
    {"format-far.tile", format_far, 0, PTX, "E0310"},
    {"float-digits.tile", float_digits, 1000000, PTX, "E0004"},
    {"exponent.tile", exponent, 2000000000, PTX, ""},
    {"list-doubling.tile", list_doubling, 60, PTX, "E0309"},
    {"string-doubling.tile", string_doubling, 60, PTX, "E0903"},
    {"nested-doubling.tile", nested_doubling, 60, PTX, "E0309"},
    {"integer-doubling.tile", integer_doubling, 60, PTX, "E0304"},
    {"static-range-far.tile", static_range_far, 1000000000, PTX, "E0309"},
    {"static-range-4000.tile", static_range_far, 4000, PTX, ""},
    {"static-while.tile", static_while, 1000000000, PTX, ""},
    {"unroll-far.tile", unroll_far, 1000000000, PTX, ""},
    {"unroll-1000.tile", unroll_far, 4096, PTX, ""},
    {"host-loop.tile", host_loop, 1000000000, PTX, ""},
    {"tile-far.tile", tile_far, 1 << 30, PTX, "E0206"},
    {"tile-wide.tile", tile_wide, 0, PTX, "E0206"},
    {"tile-heavy.tile", tile_heavy, 1 << 20, PTX, "E0608"},
    {"sort-wide-13.tile", sort_wide, 1 << 13, PTX, ""},
    {"dims.tile", dims, 900, PTX, "E0307"},
    {"kernels.tile", kernels, 10000, "@ --emit=tile", "E0402"},
    {"lines.tile", lines, 16000000, PTX, ""},
    {"lines-far.tile", lines, 18000000, PTX, "E0901"},
    {"line-long.tile", line_long, 10000000, PTX, "E0201"},
    {"line-long-wrong.tile", line_long_wrong, 500000, PTX, "E0902"},
    {"errors.tile", errors, 40000, PTX, "E0201"},
    {"constants-module.tile", constants_module, 100, PTX, ""},
    {"name-long.tile", name_long, 100000, PTX, "E0903"},
    {"string-long.tile", string_long, 1000000, PTX, "E0903"},
    {"assembly.tile", assembly, 4000, PTX, ""},
    {"variables.tile", variables, 2000, PTX, ""},
    {"variables-50.tile", variables, 50, PTX, ""},
    {"classes.tile", classes, 1, PTX, ""},
    {NULL, NULL, 0, NULL, NULL},
};
