// SPDX-License-Identifier: Apache-2.0
// map_elementwise: scalar functions with control flow; inline assembly, on a GPU.
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char functions[] =
    "@jit\ndef choose(x, y):\n    if x > y:\n        return x - y\n    else:\n        return y\n\n"
    "@jit\ndef steps(x):\n    n = 0\n    while x > 0:\n        x = x // 2\n        n += 1\n"
    "    return n\n\n"
    "@jit\ndef both(x, y):\n    return x + y, x - y\n\n"
    "@jit\ndef swap(x0, x1):\n    return x1, x0\n\n";

static double r_choose(double x, double y) { return x > y ? x - y : y; }
static double r_steps(double x, double y) {
  (void)y;
  return x > 0 ? floor(log2(x)) + 1 : 0;
}
static double r_add(double x, double y) { return x + y; }
static double r_subtract(double x, double y) { return x - y; }

struct row {
  const char *statement, *kinds;
  double (*reference)(double x, double y);
};

static const struct row rows[] = {
    {"r = tl.map_elementwise(choose, a, b)", "fi", r_choose},
    {"r = tl.map_elementwise(steps, a)", "i", r_steps},
    {"r, t = tl.map_elementwise(both, a, b)", "fi", r_add},
    {"t, r = tl.map_elementwise(both, a, b)", "fi", r_subtract},
};

static void run(struct suite *s, const struct row *r, enum dtype t, unsigned n, unsigned block,
                unsigned warps) {
  if (!case_begin(s, "%s %s n=%u B=%u warps=%u", r->statement, dtype_name(t), n, block, warps))
    return;
  enum dtype out_type = r->reference == r_steps ? DTYPE_I32 : t;
  case_source(s,
              "%s@jit\ndef k(x, y, out, n):\n    i = program_id(0) * %u + arange(0, %u)\n"
              "    m = i < n\n    a = load(x + i, mask=m)\n    b = load(y + i, mask=m)\n    %s\n"
              "    store(out + i, r, mask=m)\n",
              functions, block, block, r->statement);
  case_warps(s, warps);
  struct array *x = case_input(s, t, n), *y = case_input(s, t, n),
               *out = case_output(s, out_type, n);
  array_draw(s, x, DRAW_SMALL);
  array_draw(s, y, DRAW_SMALL);
  case_int(s, (int32_t)n);
  if (case_run(s, (n + block - 1) / block))
    for (unsigned i = 0; i < n; i++) {
      double want = r->reference(num_double(array_get(x, i)), num_double(array_get(y, i)));
      case_expect(s, out, i, num_number(out_type, want), 0.5, 0);
    }
  case_end(s);
}

// With pack=2 the function takes two neighbours at once.
static void packed(struct suite *s, unsigned block, unsigned warps) {
  if (!case_begin(s, "map_elementwise of pairs B=%u warps=%u", block, warps))
    return;
  case_source(s,
              "%s@jit\ndef k(x, out):\n    i = arange(0, %u)\n"
              "    r = tl.map_elementwise(swap, load(x + i), pack=2)[0]\n    store(out + i, r)\n",
              functions, block);
  case_warps(s, warps);
  struct array *x = case_input(s, DTYPE_I32, block), *out = case_output(s, DTYPE_I32, block);
  array_draw(s, x, DRAW_ANY);
  if (case_run(s, 1))
    for (unsigned i = 0; i < block; i++)
      case_expect(s, out, i, array_get(x, i ^ 1), 0, 0);
  case_end(s);
}

// ---- assembly ----

static void assembly(struct suite *s, const char *name, const char *call, enum dtype t,
                     double (*reference)(double x, double y), unsigned warps) {
  enum { N = 256 };
  if (s->on_cpu || !case_begin(s, "assembly: %s %s warps=%u", name, dtype_name(t), warps))
    return;
  case_source(s,
              "@jit\ndef k(x, y, out):\n    i = arange(0, %d)\n    a = load(x + i)\n"
              "    b = load(y + i)\n    %s\n    store(out + i, r)\n",
              N, call);
  case_warps(s, warps);
  struct array *x = case_input(s, t, N), *y = case_input(s, t, N), *out = case_output(s, t, N);
  array_draw(s, x, DRAW_SMALL);
  array_draw(s, y, DRAW_SMALL);
  if (case_run(s, 1))
    for (unsigned i = 0; i < N; i++)
      case_expect(
          s, out, i,
          num_number(t, reference(num_double(array_get(x, i)), num_double(array_get(y, i)))), 0.5,
          0);
  case_end(s);
}

static void assemblies(struct suite *s) {
  for (unsigned warps = 1; warps <= 8; warps *= 2) {
    assembly(s, "add",
             "r = tl.inline_asm_elementwise(\"add.s32 $0, $1, $2;\", \"=r,r,r\", [a, b], "
             "dtype=tl.int32, is_pure=True, pack=1)",
             DTYPE_I32, r_add, warps);
    assembly(s, "subtract",
             "r = tl.inline_asm_elementwise(\"sub.f32 $0, $1, $2;\", \"=f,f,f\", [a, b], "
             "dtype=tl.float32, is_pure=True, pack=1)",
             DTYPE_F32, r_subtract, warps);
    assembly(s, "packed halves",
             "r = tl.inline_asm_elementwise(\"add.f16x2 $0, $1, $2;\", \"=r,r,r\", [a, b], "
             "dtype=tl.float16, is_pure=True, pack=2)",
             DTYPE_F16, r_add, warps);
    assembly(s, "two results",
             "t, r = tl.inline_asm_elementwise(\"add.s32 $0, $2, $3; sub.s32 $1, $2, $3;\", "
             "\"=&r,=r,r,r\", [a, b], dtype=(tl.int32, tl.int32), is_pure=True, pack=1)",
             DTYPE_I32, r_subtract, warps);
  }
}

void family_map(struct suite *s) {
  static const enum dtype types[] = {DTYPE_F32, DTYPE_I32, DTYPE_F64, DTYPE_I64, DTYPE_F16};
  for (size_t k = 0; k < COUNT_OF(rows); k++)
    for (size_t t = 0; t < COUNT_OF(types); t++) {
      if (!strchr(rows[k].kinds, num_kind(types[t])))
        continue;
      unsigned block = 64u << t;
      const unsigned lengths[] = {1, block - 1, block, block + 1, 331};
      for (size_t i = 0; i < COUNT_OF(lengths); i++)
        run(s, &rows[k], types[t], lengths[i], block, 1u << (k + t) % 4);
    }
  for (unsigned warps = 1; warps <= 4; warps *= 2)
    packed(s, 256, warps);
  assemblies(s);
}
