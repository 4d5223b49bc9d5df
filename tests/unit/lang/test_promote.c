// SPDX-License-Identifier: Apache-2.0
// Promotion: the type of every operator on every pair of element types, and of literals, against
// a second statement of the rules (section 4.3 of the reference) as a table of ranks.
#include "emitted.h"
#include "suites_emit.h"
#include "tests/sample.h"

static bool is_fp8(enum dtype t) { return t == DTYPE_F8E5 || t == DTYPE_F8E4NV; }

// What `a + b` (division: `a / b`, `a % b`) is computed in; DTYPE_NONE: an error.
static enum dtype expected(enum dtype a, enum dtype b, bool division) {
  if (a == DTYPE_F8E4B15 || b == DTYPE_F8E4B15) // for storage
    return DTYPE_NONE;
  static const enum dtype strong[] = {DTYPE_F64, DTYPE_F32};
  if (dtype_is_float(a) || dtype_is_float(b)) {
    for (size_t i = 0; i < COUNT_OF(strong); i++)
      if (a == strong[i] || b == strong[i])
        return strong[i];
    if (a == DTYPE_F16 || b == DTYPE_F16)
      return division ? DTYPE_F32 : DTYPE_F16;
    if (a == DTYPE_BF16 && b == DTYPE_BF16)
      return division ? DTYPE_F32 : DTYPE_BF16;
    if (a == DTYPE_BF16 || b == DTYPE_BF16)
      return DTYPE_F32;
    if (is_fp8(a) && is_fp8(b))
      return a == b ? a : DTYPE_F16;
    return DTYPE_NONE;
  }
  if (division && dtype_is_signed(a) != dtype_is_signed(b))
    return DTYPE_NONE;
  // C's usual conversions: more bits win, at equal bits the unsigned one.
  if (dtype_bits(a) != dtype_bits(b))
    return dtype_bits(a) > dtype_bits(b) ? a : b;
  return dtype_is_signed(a) ? b : a;
}

// The name that static_print gives the type of `expression`, with a and b of the given types.
static void check_type_of(const char *expression, enum dtype a, enum dtype b, enum dtype want) {
  char text[256];
  snprintf(text, sizeof text,
           "def k(x: ptr[%s], y: ptr[%s]):\n  a = load(x)\n  b = load(y)\n"
           "  static_print((%s).dtype)\n",
           dtype_name(a), dtype_name(b), expression);
  struct emitted r = emit_text(str_from(text), NULL, NULL);
  char line[32];
  snprintf(line, sizeof line, "%s\n", want == DTYPE_NONE ? "" : dtype_name(want));
  if (want == DTYPE_NONE)
    ck_assert_msg(!r.ok, "%s of %s and %s is no error", expression, dtype_name(a), dtype_name(b));
  else
    ck_assert_msg(r.ok && strcmp(strbuf_cstr(&r.printed), line) == 0,
                  "%s of %s and %s: %s, not %s%s", expression, dtype_name(a), dtype_name(b),
                  strbuf_cstr(&r.printed), line, strbuf_cstr(&r.messages));
  emitted_free(&r);
}

START_TEST(every_pair) {
  enum dtype a = (enum dtype)_i;
  int step = (int)sample_step();
  for (int k = _i % step; k < DTYPE_COUNT; k += step) {
    enum dtype b = (enum dtype)k;
    enum dtype sum = expected(a, b, false), quotient = expected(a, b, true);
    check_type_of("a + b", a, b, sum);
    check_type_of("a * b", a, b, sum);
    check_type_of("a / b", a, b,
                  quotient != DTYPE_NONE && !dtype_is_float(quotient) ? DTYPE_F32 : quotient);
    check_type_of("a // b", a, b,
                  quotient != DTYPE_NONE && !dtype_is_float(quotient) ? quotient : DTYPE_NONE);
    bool ints = dtype_is_int(a) && dtype_is_int(b);
    check_type_of("a & b", a, b, ints ? sum : DTYPE_NONE);
    check_type_of("a < b", a, b, sum == DTYPE_NONE ? DTYPE_NONE : DTYPE_I1);
    if (a != DTYPE_F8E4B15 && b != DTYPE_F8E4B15)
      check_type_of("where(a < a, a, b)", a, b, sum);
    check_type_of("where(a.to(i1), a, a)", a, b, a);
  }
}
END_TEST

// A literal takes the type of the other operand when its kind is not higher.
START_TEST(literals) {
  enum dtype a = (enum dtype)_i;
  bool is_float = dtype_is_float(a), half = a == DTYPE_F16 || a == DTYPE_BF16;
  enum dtype with_float = is_float ? a : DTYPE_F32;
  check_type_of("a + 1.5", a, a, with_float);
  check_type_of("1.5 * a", a, a, with_float);
  check_type_of("a / 2.0", a, a, half ? DTYPE_F32 : with_float);
  check_type_of("a + True", a, a, a);
  check_type_of("a + 1", a, a, a == DTYPE_I1 ? DTYPE_I32 : a);
  check_type_of("-a", a, a, a);
  check_type_of("where(True, a, 1)", a, a, a == DTYPE_I1 ? DTYPE_I32 : a);
  if (!is_float && a != DTYPE_I1) {
    check_type_of("a & 1", a, a, a);
    check_type_of("a << 1", a, a, a);
    check_type_of("~a", a, a, a);
  }
}
END_TEST

START_TEST(literal_types) {
  static const struct {
    const char *literal;
    enum dtype type;
  } cases[] = {{"1", DTYPE_I32},
               {"-2147483648", DTYPE_I32},
               {"2147483647", DTYPE_I32},
               {"2147483648", DTYPE_U32},
               {"4294967295", DTYPE_U32},
               {"4294967296", DTYPE_I64},
               {"-2147483649", DTYPE_I64},
               {"9223372036854775807", DTYPE_I64},
               {"9223372036854775808", DTYPE_U64},
               {"1.0", DTYPE_F32},
               {"1e-45", DTYPE_F64},
               {"1e39", DTYPE_F64},
               {"0.0", DTYPE_F32},
               {"True", DTYPE_I1}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char expression[64];
    snprintf(expression, sizeof expression, "to_tensor(%s)", cases[i].literal);
    check_type_of(expression, DTYPE_I32, DTYPE_I32, cases[i].type);
  }
}
END_TEST

// Assigned to a name, a number has the type it would have as a value.
START_TEST(named_numbers) {
  static const struct {
    const char *assigned, *expression;
    enum dtype type; // of an f16 `a` or an i8 `b` with it
  } cases[] = {{"s = 2.0", "a * s", DTYPE_F32},
               {"s: constexpr = 2.0", "a * s", DTYPE_F16},
               {"s = 2", "a * s", DTYPE_F16},
               {"s = 2", "b * s", DTYPE_I32},
               {"s = 1 << 31", "b * s", DTYPE_U32},
               {"s = 2", "b * (s + 1)", DTYPE_I32},
               {"s = 2", "b * -s", DTYPE_I32},
               {"s = 1\n  s += 1", "b * s", DTYPE_I32},
               {"r, s = 1, 2", "b * s", DTYPE_I32},
               {"r = s = 1 << 40", "b * s", DTYPE_I64},
               {"s = True", "b * s", DTYPE_I8},
               {"s = 2.0", "where(b > 0, a, s)", DTYPE_F32},
               {"s = 3 if True else 4", "b + s", DTYPE_I32}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[256];
    snprintf(text, sizeof text,
             "def k(x: ptr[f16], y: ptr[i8]):\n  a = load(x)\n  b = load(y)\n  %s\n"
             "  static_print((%s).dtype)\n  c = arange(0, 16 if s == 0 else 32)\n",
             cases[i].assigned, cases[i].expression);
    struct emitted r = emit_text(str_from(text), NULL, NULL);
    char line[32];
    snprintf(line, sizeof line, "%s\n", dtype_name(cases[i].type));
    ck_assert_msg(r.ok && strcmp(strbuf_cstr(&r.printed), line) == 0, "%s, %s: %s%s",
                  cases[i].assigned, cases[i].expression, strbuf_cstr(&r.printed),
                  strbuf_cstr(&r.messages));
    emitted_free(&r);
  }
  // A literal that does not fit the common type wraps, like a value.
  CHECK_IR("def k(x: ptr[u32]):\n  s = -1\n  store(x, load(x) & s)\n", "arith.constant -1 : i32");
}
END_TEST

START_TEST(signs_choose_operations) {
  CHECK_IR("def k(x: ptr[u32]):\n  a = load(x)\n  store(x, a // 3 + a % 5 + (a >> 1))\n",
           "arith.divui", "arith.remui", "arith.shrui");
  CHECK_IR("def k(x: ptr[i32]):\n  a = load(x)\n  store(x, a // 3 + a % 5 + (a >> 1))\n",
           "arith.divsi", "arith.remsi", "arith.shrsi");
  CHECK_IR("def k(x: ptr[u32], y: ptr[f32]):\n  a = load(x)\n  store(y, a < 3)\n  store(y, a)\n"
           "  store(x, maximum(a, a))\n",
           "arith.cmpi ult", "arith.uitofp", "arith.uitofp", "arith.maxui");
  CHECK_IR("def k(x: ptr[f32]):\n  a = load(x)\n  store(x, a != 1.0)\n  store(x, a == 1.0)\n"
           "  store(x, a % 2.0)\n",
           "arith.cmpf une", "arith.cmpf oeq", "arith.remf");
}
END_TEST

// Every integer operator on every pair: the type, and the operation for the sign of that type.
START_TEST(operations_of_pairs) {
  static const struct {
    const char *op, *of_signed, *of_unsigned;
    bool is_division, is_comparison;
  } rows[] = {{"+", "arith.addi", "arith.addi", false, false},
              {"-", "arith.subi", "arith.subi", false, false},
              {"*", "arith.muli", "arith.muli", false, false},
              {"&", "arith.andi", "arith.andi", false, false},
              {"|", "arith.ori", "arith.ori", false, false},
              {"^", "arith.xori", "arith.xori", false, false},
              {"<<", "arith.shli", "arith.shli", false, false},
              {">>", "arith.shrsi", "arith.shrui", false, false},
              {"//", "arith.divsi", "arith.divui", true, false},
              {"%", "arith.remsi", "arith.remui", true, false},
              {"<", "arith.cmpi slt", "arith.cmpi ult", false, true},
              {">=", "arith.cmpi sge", "arith.cmpi uge", false, true},
              {"==", "arith.cmpi eq", "arith.cmpi eq", false, true}};
  enum dtype a = (enum dtype)_i;
  int step = (int)sample_step();
  for (int n = _i % step; dtype_is_int(a) && n < DTYPE_COUNT * (int)COUNT_OF(rows); n += step) {
    size_t i = (size_t)n % COUNT_OF(rows);
    enum dtype b = (enum dtype)(n / (int)COUNT_OF(rows));
    enum dtype t = dtype_is_int(b) ? expected(a, b, rows[i].is_division) : DTYPE_NONE;
    if (t == DTYPE_NONE || (t == DTYPE_I1 && (rows[i].is_division || rows[i].is_comparison)))
      continue;
    char text[256], line[32];
    snprintf(text, sizeof text,
             "def k(x: ptr[%s], y: ptr[%s]):\n  r = load(x + arange(0, 4)) %s load(y)\n"
             "  static_print(r.dtype)\n  store(x + arange(0, 4), r)\n",
             dtype_name(a), dtype_name(b), rows[i].op);
    struct emitted r = emit_text(str_from(text), NULL, NULL);
    snprintf(line, sizeof line, "%s\n", dtype_name(rows[i].is_comparison ? DTYPE_I1 : t));
    // Triton shifts by the sign of the left operand's own type.
    enum dtype sign = strcmp(rows[i].op, ">>") == 0 ? a : t;
    const char *op = dtype_is_signed(sign) ? rows[i].of_signed : rows[i].of_unsigned;
    ck_assert_msg(strcmp(strbuf_cstr(&r.printed), line) == 0, "%s%s", text,
                  strbuf_cstr(&r.printed));
    ck_assert_msg(strstr(strbuf_cstr(&r.ir), op) || (t == DTYPE_I1 && i == 7), "%s%s\nhas no %s",
                  text, strbuf_cstr(&r.ir), op);
    emitted_free(&r);
  }
}
END_TEST

START_TEST(offsets_of_pointers) {
  CHECK_IR("def k(x: ptr[f32], i: u32):\n  store(x + i, 1.0)\n", "arith.extui",
           "(!tile.ptr<f32>, i64)");
  CHECK_IR("def k(x: ptr[f32], i: i32):\n  store(x - i, 1.0)\n", "arith.subi", "tile.addptr");
  CHECK_IR("def k(x: ptr[i1], i: i32):\n  store(x + i, load(x))\n", "!tile.ptr<i8>",
           "arith.cmpi ne", "arith.extui", "(!tile.ptr<i8>, i8)");
}
END_TEST

TCase *promote_tests(void) {
  TCase *t = tcase_create("promote");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, every_pair, 0, DTYPE_COUNT);
  tcase_add_loop_test(t, literals, 0, DTYPE_F8E4B15);
  tcase_add_test(t, literal_types);
  tcase_add_test(t, named_numbers);
  tcase_add_test(t, signs_choose_operations);
  tcase_add_loop_test(t, operations_of_pairs, 0, DTYPE_COUNT);
  tcase_add_test(t, offsets_of_pointers);
  return t;
}
