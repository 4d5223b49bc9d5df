// SPDX-License-Identifier: Apache-2.0
// Compile-time evaluation: each expression must be what Python says it is.
#include "emitted.h"
#include "lang/eval/consteval.h"
#include "suites_emit.h"

static const char *const true_expressions[] = {
    // arithmetic
    "7 // 2 == 3",
    "-7 // 2 == -4",
    "7 // -2 == -4",
    "-7 // -2 == 3",
    "-8 // 2 == -4",
    "7 % 3 == 1",
    "-7 % 3 == 2",
    "7 % -3 == -2",
    "-7 % -3 == -1",
    "7 / 2 == 3.5",
    "2 ** 10 == 1024",
    "2 ** -1 == 0.5",
    "2.0 ** 3 == 8.0",
    "1 << 40 == 1099511627776",
    "-5 >> 1 == -3",
    "1 >> 200 == 0",
    "5 & 3 == 1",
    "(5 | 3) == 7",
    "5 ^ 3 == 6",
    "~5 == -6",
    "+5 == 5",
    "--5 == 5",
    "0xFF == 255 and 0b101 == 5 and 0o17 == 15 and 1_000 == 1000",
    "18446744073709551615 + 1 == 2 ** 64",
    "(2 ** 64 * 3) // 2 ** 64 == 3",
    "5.5 % 2 == 1.5",
    "-5.5 % 2 == 0.5",
    "5.5 // 2 == 2.0",
    "-5.5 // 2 == -3.0",
    "True + True == 2",
    "(True & False) == False",
    "1e3 == 1000",
    // comparison and logic
    "1 < 2 < 3",
    "not 1 < 2 > 3",
    "1 == 1.0",
    "True == 1",
    "not (1 != 1)",
    "None is None",
    "'a' == 'a'",
    "'a' < 'b'",
    "'ab' in 'xaby'",
    "3 in (1, 2, 3)",
    "4 not in (1, 2, 3)",
    "(1, 2) == (1, 2)",
    "(1, 2) != (1, 3)",
    "tl.float32 == tl.float32",
    "tl.float16 != tl.bfloat16",
    "(0 or 5) == 5",
    "(1 and 5) == 5",
    "(None or 'x') == 'x'",
    "not ''",
    "not ()",
    "not 0.0",
    "1 is not None",
    "(3 if 2 > 1 else 4) == 3",
    // sequences
    "len((1, 2, 3)) == 3",
    "len('four') == 4",
    "(1, 2) + (3,) == (1, 2, 3)",
    "(1, 2)[0] == 1",
    "(1, 2, 3)[-1] == 3",
    "(1, 2, 3, 4)[1:3] == (2, 3)",
    "(1, 2, 3, 4)[::2] == (1, 3)",
    "(1, 2, 3)[:-1] == (1, 2)",
    "(1,) * 3 == (1, 1, 1)",
    "[i * i for i in range(4)] == [0, 1, 4, 9]",
    "[i for i in range(6) if i % 2] == [1, 3, 5]",
    "[(i, j) for i in range(2) for j in (5, 6)] == [(0, 5), (0, 6), (1, 5), (1, 6)]",
    "[*(1, 2), 3] == [1, 2, 3]",
    "tuple(range(5, 0, -2)) == (5, 3, 1)",
    "[k for k in enumerate('ab' and ('a', 'b'))] == [(0, 'a'), (1, 'b')]",
    "[a + b for a, b in zip((1, 2), (3, 4))] == [4, 6]",
    "(y := 3) + y == 6",
    // functions
    "min(3, 1, 2) == 1",
    "max(3, 1, 2) == 3",
    "max((4, 9)) == 9",
    "abs(-3) == 3",
    "abs(-1.5) == 1.5",
    "int(3.9) == 3",
    "int(-3.9) == -3",
    "int('12') == 12",
    "float(2) == 2.0",
    "bool(3) == True",
    "str(12) == '12'",
    "tl.cdiv(10, 4) == 3",
    "tl.cdiv(8, 4) == 2",
    "isinstance(1, int)",
    "not isinstance(1.0, int)",
    "isinstance('a', (int, str))",
    "isinstance(n, tl.tensor)",
    "isinstance(B, tl.constexpr)",
    "isinstance((1,), tuple)",
    "triton.next_power_of_2(1000) == 1024",
    "tl.standard._log2(1) == 0 and tl.standard._log2(1024) == 10",
    "tl.constexpr(3) == 3",
    "B.value == 16",
    "math.pi > 3.14",
    "-math.inf < 0",
    // types and tiles
    "x.dtype.element_ty == tl.float32",
    "x.type.element_ty.is_floating()",
    "n.dtype.is_int()",
    "n.dtype.is_int_signed()",
    "x.dtype.is_ptr()",
    "n.dtype.primitive_bitwidth == 32",
    "tl.float16.itemsize == 2",
    "tl.arange(0, 16).shape == (16,)",
    "tl.arange(0, 16).shape[0] == 16",
    "tl.zeros((2, 4), tl.int8).numel == 8",
    "tl.float32.name == 'float32'",
    "len(tl.arange(0, 8)) == 8",
    "hasattr(n, 'dtype') and not hasattr(n, 'colour')",
    "getattr(n, 'dtype') == tl.int32",
    "n is not None",
    "not (n is None)",
    "n != None",
    "tl.uint8.is_int_unsigned()",
    "tl.int1.is_bool() and tl.float8e5.is_fp8()",
    "tl.zeros((4,), tl.float32).type.shape == (4,)",
    // strings
    "f'{3}' == '3'",
    "f'{3:04d}|{255:x}|{255:#>6X}' == '0003|ff|####FF'",
    "f'{1.5:.2f}' == '1.50'",
    "f'{B}-{tl.float32}' == '16-f32'",
    "f'{\"a\"!r}' == \"'a'\"",
    "f'{3=}' == '3=3'",
    "'a' + 'b' == 'ab'",
    "'a' 'b' == 'ab'",
    "f'{0.1}' == '0.1'",
    "f'{1e100}' == '1e+100'",
    "f'{True} {None} {(1,)}' == 'True None (1,)'",
    "f'{1.0}' == '1.0'",
    "f'{100000.0}' == '100000.0'",
    "f'{5:<4}|{5:>4}|{5:^5}' == '5   |   5|  5  '",
    "f'{1/3:.3e}' == '3.333e-01'",
    // the target
    "tl.extra.cuda.num_warps() == 4",
    "is_cuda() and not is_hip()",
    "cuda_capability_geq(9, 0)",
    "not cuda_capability_geq(10, 0)",
};

START_TEST(python_agrees) {
  const char *text = true_expressions[_i];
  char kernel[512];
  snprintf(kernel, sizeof kernel,
           "@jit\ndef k(x: ptr[f32], n: i32, B: constexpr = 16):\n  static_assert(%s)\n", text);
  struct emitted r = emit_good(kernel);
  emitted_free(&r);
}
END_TEST

START_TEST(printing) {
  struct emitted r = emit_good("def k(n: i32):\n"
                               "  static_print('a', 1, 2.5, True, None, (1, 'x'), sep='-')\n"
                               "  static_print(n, tl.arange(0, 4), tl.float32, end='!\\n')\n");
  ck_assert_str_eq(strbuf_cstr(&r.printed), "a-1-2.5-True-None-(1, 'x')\ni32 tile<4xi32> f32!\n");
  emitted_free(&r);
}
END_TEST

START_TEST(literals_of_a_command_line) {
  static const struct {
    const char *text, *shown;
  } cases[] = {{"128", "128"},
               {"0x10", "16"},
               {"-1", "-1"},
               {"1.5", "1.5"},
               {"True", "True"},
               {"false", "False"},
               {"None", "None"},
               {"\"relu\"", "relu"},
               {"relu", "relu"},
               {"float16", "f16"},
               {"tl.int8", "i8"},
               {" 7 ", "7"},
               {"18446744073709551615", "18446744073709551615"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char define[64];
    snprintf(define, sizeof define, "B=%s", cases[i].text);
    struct emitted r = emit_text(STR("def k(B: constexpr):\n  static_print(B)\n"), NULL, define);
    if (cases[i].text[0] == ' ') // the helper splits at blanks
      r.printed.len = 0;
    else
      ck_assert_msg(strncmp(strbuf_cstr(&r.printed), cases[i].shown, strlen(cases[i].shown)) == 0,
                    "%s: %s", cases[i].text, strbuf_cstr(&r.printed));
    emitted_free(&r);
  }
  struct arena *a = arena_create();
  struct value v;
  ck_assert(!const_parse(a, STR(""), &v) && !const_parse(a, STR("1 + 2"), &v));
  ck_assert(!const_parse(a, STR("12("), &v) && !const_parse(a, STR("(1, 2"), &v));
  ck_assert(const_parse(a, STR("(1, (2,))"), &v) && v.kind == VALUE_TUPLE && v.tuple.len == 2);
  ck_assert(const_parse(a, STR(" 7 "), &v) && v.kind == VALUE_INT && v.i == 7);
  arena_destroy(a);
}
END_TEST

START_TEST(constexpr_functions) {
  struct emitted r = emit_good("@triton.constexpr_function\n"
                               "def log2i(n):\n"
                               "  k = 0\n"
                               "  while n > 1:\n"
                               "    n //= 2\n"
                               "    k += 1\n"
                               "  return k\n"
                               "@triton.constexpr_function\n"
                               "def total(n):\n"
                               "  s = 0\n"
                               "  for i in range(n):\n"
                               "    if i == 5:\n"
                               "      break\n"
                               "    s += i\n"
                               "  return s\n"
                               "@triton.jit\n"
                               "def k(n: i32):\n"
                               "  static_assert(log2i(1024) == 10)\n"
                               "  static_assert(total(100) == 10 and total(3) == 3)\n");
  emitted_free(&r);
}
END_TEST

TCase *consteval_tests(void) {
  TCase *t = tcase_create("consteval");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, python_agrees, 0, (int)COUNT_OF(true_expressions));
  tcase_add_test(t, printing);
  tcase_add_test(t, literals_of_a_command_line);
  tcase_add_test(t, constexpr_functions);
  return t;
}
