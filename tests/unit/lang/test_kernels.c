// SPDX-License-Identifier: Apache-2.0
// Which functions are kernels, their parameters, and what dotted names mean.
#include "parsed.h"
#include "suites.h"

static void check_kernels(const char *text, const char *want) {
  struct parsed p = parsed_create("t.tile", str_from(text));
  ck_assert_msg(diag_error_count(p.diag) == 0, "%s: %s", text, diag_first_error(p.diag));
  const char *const *names;
  size_t n = lang_kernels(p.unit, &names);
  struct strbuf out = {0};
  for (size_t i = 0; i < n; i++)
    strbuf_printf(&out, "%s%s", i > 0 ? " " : "", names[i]);
  ck_assert_msg(strcmp(strbuf_cstr(&out), want) == 0, "%s gives %s", text, strbuf_cstr(&out));
  strbuf_finish(&out);
  parsed_destroy(&p);
}

START_TEST(listing) {
  check_kernels("", "");
  check_kernels("def a(): pass\ndef b(): pass\n", "a b");
  check_kernels("def a(): pass\ndef b(): a()\n", "b");
  check_kernels("def a(x): a(x)\n", "a");
  check_kernels("def a(): b()\ndef b(): a()\n", "a b");
  check_kernels("def add(x, y): return x + y\ndef k(x): return reduce(x, 0, add)\n", "k");
  // A local variable of that name is not a call.
  check_kernels("def add(x): pass\ndef k(x):\n  add = x\n  store(x, add)\n", "add k");
  check_kernels("def add(x): pass\ndef k(add): add(1)\n", "add k");
  check_kernels("@jit\ndef a(): pass\ndef b(): pass\n", "a");
  check_kernels("@triton.jit\ndef a(): pass\n@triton.jit(debug=True)\ndef b(): a()\n", "b");
  check_kernels("@numba.jit\ndef a(): pass\n", "");
  check_kernels("@triton.autotune([], [])\ndef a(): pass\n", "a");
  check_kernels("def f(): return []\n@triton.autotune(f(), [])\ndef a(): pass\n", "a");
  check_kernels("@cache\ndef a(): raise 1\ndef b(): pass\n", "b");
  check_kernels("@constexpr_function\ndef a(n): return n\n@jit\ndef b(): a(1)\n", "b");
  check_kernels("class C:\n  @jit\n  def a(): pass\n", "a");
  check_kernels("def f():\n  @jit\n  def a(): pass\n@jit\ndef a(x): pass\n", "a");
}
END_TEST

static struct lang_param *params_of(struct parsed *p, const char *text, const char *kernel,
                                    size_t *ret_count) {
  *p = parsed_create("t.tile", str_from(text));
  const char *name;
  struct lang_param *params = NULL;
  bool ok = lang_kernel_params(p->arena, p->diag, p->unit, kernel, &name, &params, ret_count);
  ck_assert_msg(ok, "%s", diag_first_error(p->diag));
  return params;
}

START_TEST(annotations) {
  struct parsed p;
  size_t n;
  struct lang_param *q =
      params_of(&p,
                "import triton.language as T\n"
                "def k(a: ptr[f32], b: const_ptr[T.bfloat16] % 16, c: T.pointer_type(T.int8),\n"
                "      d: i32, e: u64 % 8, f: constexpr = 4, g: T.constexpr, h, i: T.tensor,\n"
                "      j: int, l=3, m: 'text' = None, o: float16 = 1.0): pass\n",
                NULL, &n);
  static const struct {
    const char *name;
    bool is_constexpr, has_default, is_typed, is_pointer, is_const;
    enum dtype dtype;
    uint32_t divisible_by;
  } want[] = {{"a", 0, 0, 1, 1, 0, DTYPE_F32, 1},  {"b", 0, 0, 1, 1, 1, DTYPE_BF16, 16},
              {"c", 0, 0, 1, 1, 0, DTYPE_I8, 1},   {"d", 0, 0, 1, 0, 0, DTYPE_I32, 1},
              {"e", 0, 0, 1, 0, 0, DTYPE_U64, 8},  {"f", 1, 1, 0, 0, 0, DTYPE_NONE, 1},
              {"g", 1, 0, 0, 0, 0, DTYPE_NONE, 1}, {"h", 0, 0, 0, 0, 0, DTYPE_NONE, 1},
              {"i", 0, 0, 0, 0, 0, DTYPE_NONE, 1}, {"j", 0, 0, 0, 0, 0, DTYPE_NONE, 1},
              {"l", 0, 1, 0, 0, 0, DTYPE_NONE, 1}, {"m", 0, 1, 0, 0, 0, DTYPE_NONE, 1},
              {"o", 0, 1, 1, 0, 0, DTYPE_F16, 1}};
  ck_assert_uint_eq(n, COUNT_OF(want));
  for (size_t i = 0; i < n; i++) {
    ck_assert_str_eq(q[i].name, want[i].name);
    ck_assert_msg(q[i].is_constexpr == want[i].is_constexpr &&
                      q[i].has_default == want[i].has_default &&
                      q[i].is_typed == want[i].is_typed && q[i].is_pointer == want[i].is_pointer &&
                      q[i].is_const == want[i].is_const && q[i].dtype == want[i].dtype &&
                      q[i].divisible_by == want[i].divisible_by,
                  "parameter %s", q[i].name);
  }
  parsed_destroy(&p);
}
END_TEST

// Defaults in the syntax of -D, for callers that replace them.
START_TEST(default_texts) {
  struct parsed p;
  size_t n;
  struct lang_param *q = params_of(
      &p,
      "import triton.language as tl\n"
      "A = 64\n"
      "B: tl.constexpr = tl.constexpr(A)\n"
      "def k(a, b: tl.constexpr = 0x80, c: tl.constexpr = -1.5, d: tl.constexpr = True,\n"
      "      e: tl.constexpr = None, f: tl.constexpr = 'relu', g: tl.constexpr = B,\n"
      "      h: tl.constexpr = tl.float16, i: tl.constexpr = 2 * A, j: tl.constexpr = -A,\n"
      "      l: tl.constexpr = nowhere): pass\n",
      NULL, &n);
  static const char *const want[] = {NULL, "128", "-1.5", "True", "None", "\"relu\"",
                                     "64", "f16", NULL,   NULL,   NULL};
  ck_assert_uint_eq(n, COUNT_OF(want));
  for (size_t i = 0; i < n; i++)
    ck_assert_pstr_eq(q[i].default_text, want[i]);
  parsed_destroy(&p);
}
END_TEST

static void check_refusal(const char *text, const char *kernel, enum diag_code code) {
  struct parsed p = parsed_create("t.tile", str_from(text));
  const char *name;
  struct lang_param *params;
  size_t n;
  ck_assert(!lang_kernel_params(p.arena, p.diag, p.unit, kernel, &name, &params, &n));
  ck_assert_int_eq(diag_first_error_code(p.diag), code);
  parsed_destroy(&p);
}

START_TEST(choosing) {
  check_refusal("def a(): pass\n", "b", E0401);
  check_refusal("@jit\ndef a(): pass\ndef b(): pass\n", "b", E0401);
  check_refusal("def a(): pass\ndef b(): pass\n", NULL, E0402);
  check_refusal("x = 1\n", NULL, E0403);
  check_refusal("def a(x: ptr[f33]): pass\n", NULL, E0404);
  check_refusal("def a(x: ptr[f32, 2]): pass\n", NULL, E0404);
  check_refusal("def a(x: i32 % 0): pass\n", NULL, E0404);
  check_refusal("def a(x: i32 % n): pass\n", NULL, E0404);
  check_refusal("def a(*x): pass\n", NULL, E0405);
  struct parsed p;
  size_t n;
  params_of(&p, "def helper(x, y): pass\ndef k(): helper(1, 2)\n", "helper", &n);
  ck_assert_uint_eq(n, 2); // helpers can be chosen by name
  parsed_destroy(&p);
  struct lang_param *q = params_of(&p, "def k(a): pass\ndef k(b): pass\n", NULL, &n);
  ck_assert_str_eq(q[0].name, "b"); // the last definition counts
  parsed_destroy(&p);
}
END_TEST

static void check_name(const char *imports, const char *expression, const char *qualified,
                       const char *builtin) {
  struct strbuf text = {0};
  strbuf_printf(&text, "%s\ndef k():\n  %s\n", imports, expression);
  struct parsed p = parsed_create("t.tile", (struct str){text.ptr, text.len});
  const struct expr *e = p.module->functions[0]->body.at[0]->expr;
  ck_assert_pstr_eq(ast_qualified_name(p.arena, p.module, e), qualified);
  ck_assert_pstr_eq(ast_builtin_name(p.arena, p.module, e), builtin);
  strbuf_finish(&text);
  parsed_destroy(&p);
}

START_TEST(names) {
  check_name("", "tl.exp", "triton.language.exp", "exp");
  check_name("", "exp", "exp", "exp");
  check_name("import triton.language as L", "L.math.exp", "triton.language.math.exp", "exp");
  check_name("from triton import language as L", "L.sum", "triton.language.sum", "sum");
  check_name("from triton.language.math import exp as e", "e", "triton.language.math.exp", "exp");
  check_name("import triton.language", "triton.language.load", "triton.language.load", "load");
  check_name("import torch", "torch.exp", "torch.exp", NULL);
  check_name("from torch import exp", "exp", "torch.exp", NULL);
  check_name("", "x.shape", "x.shape", NULL);
  check_name("", "f().x", NULL, NULL);
}
END_TEST

Suite *kernels_suite(void) {
  Suite *s = suite_create("kernels");
  TCase *t = tcase_create("kernels");
  tcase_add_test(t, listing);
  tcase_add_test(t, annotations);
  tcase_add_test(t, default_texts);
  tcase_add_test(t, choosing);
  tcase_add_test(t, names);
  suite_add_tcase(s, t);
  return s;
}
