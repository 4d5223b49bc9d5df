// SPDX-License-Identifier: Apache-2.0
// Tokens of texts: kinds and extents, indentation, line joining, literals, limits.
#include "base/arena.h"
#include "base/diag.h"
#include "lang/syntax/lexer.h"
#include "suites.h"

#include <stdlib.h>

// "NAME:x ASSIGN INT:1 NEWLINE EOF", or "FAILED".
static char *tokens_of(const char *text, size_t len, unsigned *ret_errors) {
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct source *source = source_create(a, "t.tile", (struct str){text, len});
  struct token_list tokens;
  struct strbuf out = {0};
  if (!lexer_run(a, diag, source, &tokens))
    strbuf_puts(&out, "FAILED");
  for (size_t i = 0; i < tokens.len; i++) {
    struct token t = tokens.at[i];
    strbuf_puts(&out, i > 0 ? " " : "");
    if (t.kind == TOK_NEWLINE)
      strbuf_puts(&out, "NL");
    else if (t.kind == TOK_INDENT)
      strbuf_puts(&out, "IN");
    else if (t.kind == TOK_DEDENT)
      strbuf_puts(&out, "OUT");
    else if (t.kind == TOK_ERROR)
      strbuf_puts(&out, "ERR");
    else if (t.kind == TOK_UNKNOWN)
      strbuf_puts(&out, "?");
    else if (t.kind != TOK_EOF)
      strbuf_put(&out, text + t.begin, t.end - t.begin);
  }
  while (out.len > 0 && out.ptr[out.len - 1] == ' ')
    out.ptr[--out.len] = '\0';
  *ret_errors = diag_error_count(diag);
  arena_destroy(a);
  return strbuf_take(&out);
}

static void check_tokens(const char *text, unsigned errors, const char *want) {
  unsigned found;
  char *got = tokens_of(text, strlen(text), &found);
  ck_assert_msg(strcmp(got ? got : "", want) == 0, "%s\n  gives %s\n  not   %s", text, got, want);
  ck_assert_msg(found == errors, "%s\n  gives %u errors, not %u", text, found, errors);
  free(got);
}

START_TEST(operators) {
  check_tokens("a<<=b>>c**=d//e->f:=g...h!=i", 0,
               "a <<= b >> c **= d // e -> f := g ... h != i NL");
  check_tokens("x.y[1:2]@{3}", 0, "x . y [ 1 : 2 ] @ { 3 } NL");
  check_tokens("a ? !b $ `", 0, "a ? ! b ? ? NL");
}
END_TEST

START_TEST(names_and_keywords) {
  check_tokens("If if iff _if if_ _", 0, "If if iff _if if_ _ NL");
  check_tokens("größe = λ", 0, "größe = λ NL");
  check_tokens("a “ b", 0, "a ? b NL");
}
END_TEST

START_TEST(numbers) {
  check_tokens("0 1_000 0xFf 0o7 0b1 1. .5 1e5 1E-5 1_0.5e+1_0 2j", 0,
               "0 1_000 0xFf 0o7 0b1 1. .5 1e5 1E-5 1_0.5e+1_0 2j NL");
  check_tokens("1if 2else 3.real 4..x 0x1g 1abc 1e 1e+", 0,
               "1 if 2 else 3.real 4. . x 0x1g 1abc 1e 1e + NL");
}
END_TEST

START_TEST(strings) {
  check_tokens("'a' r'\\' x", 1, "'a' ERR NL");
  check_tokens("'a' \"b\" r'\\'' f'x' Rb\"y\" u'z' b'' bb'' ", 0,
               "'a' \"b\" r'\\'' f'x' Rb\"y\" u'z' b'' bb '' NL");
  check_tokens("'''a\n'b''\n''' x", 0, "'''a\n'b''\n''' x NL");
  check_tokens("'a\\\nb' c", 0, "'a\\\nb' c NL");
  check_tokens("f'{a}{{' f\"{x[\"y\"]!r:{z}}\" c", 0, "f'{a}{{' f\"{x[\"y\"]!r:{z}}\" c NL");
  check_tokens("f'{a\nb", 1, "ERR NL b NL");
  check_tokens("'abc\nd", 1, "ERR NL d NL");
  check_tokens("x '''abc\nd", 1, "x ERR NL");
}
END_TEST

START_TEST(indentation) {
  check_tokens("a\n  b\n    c\nd", 0, "a NL IN b NL IN c NL OUT OUT d NL");
  check_tokens("a\n  b\n\n   # comment\n  c\n", 0, "a NL IN b NL c NL OUT");
  check_tokens("a\n\tb\n\tc\n", 0, "a NL IN b NL c NL OUT");
  check_tokens("a\n        b\n\tc\n", 1, "a NL IN b NL ERR c NL OUT");
  check_tokens("a\n    b\n  c\nd\n", 1, "a NL IN b NL c NL OUT d NL");
  check_tokens("a\r\n  b\r\nc", 0, "a NL IN b NL OUT c NL");
  check_tokens("\n\n  # only comments\n", 0, "");
  check_tokens("", 0, "");
  check_tokens("\xEF\xBB\xBF"
               "a",
               0, "a NL");
}
END_TEST

START_TEST(joining) {
  check_tokens("a = (1,\n2,\n\n  # c\n3)\nb", 0, "a = ( 1 , 2 , 3 ) NL b NL");
  check_tokens("a + \\\n  b\nc", 0, "a + b NL c NL");
  check_tokens("a \\ b\nc", 1, "a ERR NL c NL");
  check_tokens("a \\", 1, "a ERR NL");
}
END_TEST

START_TEST(unclosed_brackets) {
  // The statement ends where the indentation returns to its own.
  check_tokens("a = f(1,\n  2\nb = 3\n", 1, "a = f ( 1 , 2 ERR NL b = 3 NL");
  // A keyword that begins a statement ends it too.
  check_tokens("def f():\n  a = (1\n  return a\n", 1,
               "def f ( ) : NL IN a = ( 1 ERR NL return a NL OUT");
  check_tokens("f(\n  a)\nb)\nc\n", 1, "f ( a ) NL b ERR ) NL c NL");
  check_tokens("f(a]\nb\n", 1, "f ( a ERR ] NL b NL");
  check_tokens("f(a[1)\nb\n", 1, "f ( a [ 1 ERR ) NL b NL");
}
END_TEST

START_TEST(bad_text) {
  unsigned errors;
  char *got = tokens_of("a\xff", 2, &errors);
  ck_assert_str_eq(got, "FAILED");
  ck_assert_uint_eq(errors, 1);
  free(got);
  got = tokens_of("a\0b", 3, &errors);
  ck_assert_str_eq(got, "a ? b NL");
  free(got);
  // Overlong, surrogate, beyond the last code point, cut off.
  static const char *const bad[] = {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    got = tokens_of(bad[i], strlen(bad[i]), &errors);
    ck_assert_str_eq(got, "FAILED");
    free(got);
  }
}
END_TEST

static char *repeat(const char *s, size_t n) {
  struct strbuf out = {0};
  for (size_t i = 0; i < n; i++)
    strbuf_puts(&out, s);
  return strbuf_take(&out);
}

START_TEST(nesting_limit) {
  unsigned errors;
  for (size_t n = LEXER_MAX_NESTING; n <= LEXER_MAX_NESTING + 1; n++) {
    char *open = repeat("(", n), *close = repeat(")", n);
    struct strbuf text = {0};
    strbuf_printf(&text, "%sx%s\n", open, close);
    free(tokens_of(text.ptr, text.len, &errors));
    ck_assert_uint_eq(errors, n > LEXER_MAX_NESTING);
    strbuf_finish(&text);
    free(open);
    free(close);
  }
  for (size_t n = LEXER_MAX_NESTING - 1; n <= LEXER_MAX_NESTING; n++) {
    struct strbuf text = {0};
    for (size_t i = 0; i <= n; i++) {
      char *blanks = repeat(" ", i);
      strbuf_printf(&text, "%sx\n", blanks ? blanks : "");
      free(blanks);
    }
    free(tokens_of(text.ptr, text.len, &errors));
    ck_assert_uint_eq(errors, n == LEXER_MAX_NESTING);
    strbuf_finish(&text);
  }
}
END_TEST

START_TEST(values) {
  uint64_t i;
  double d;
  ck_assert(literal_int(STR("0xffff_ffff_ffff_ffff"), &i) && i == UINT64_MAX);
  ck_assert(!literal_int(STR("18446744073709551616"), &i) && i == UINT64_MAX);
  ck_assert(literal_int(STR("0b1_01"), &i) && i == 5);
  ck_assert(literal_int(STR("0o777"), &i) && i == 511);
  ck_assert(literal_float(STR("1_0.5e1"), &d) && d == 105.0);
  ck_assert(literal_float(STR(".5"), &d) && d == 0.5);
  ck_assert(literal_float(STR("1."), &d) && d == 1.0);
  ck_assert(literal_float(STR("1e999"), &d) && d > 1e308);
  static const char *const good[] = {"0", "00", "0_0", "012.5", "0e0", "1j", "012j", "0XF"};
  for (size_t k = 0; k < COUNT_OF(good); k++)
    ck_assert_msg(!literal_number_error(str_from(good[k])), "%s", good[k]);
  static const char *const bad[] = {"012", "1_", "1__0", "0x",   "0b2",  "0o8",  "0xg",
                                    "1e",  "1a", "0x1_", "1_.5", "1.5_", "1e5_", "1.2.3"};
  for (size_t k = 0; k < COUNT_OF(bad); k++)
    ck_assert_msg(literal_number_error(str_from(bad[k])) != NULL || strcmp(bad[k], "1.2.3") == 0,
                  "%s", bad[k]);
}
END_TEST

static void check_unescape(const char *literal, const char *want, size_t want_len, bool ok) {
  struct str text = str_from(literal);
  struct string_form form = literal_string_form(text, 0, (uint32_t)text.len);
  char out[200];
  const char *why;
  uint32_t begin, end;
  size_t n = literal_unescape(text, form.body_begin, form.body_end, &form, out, &why, &begin, &end);
  ck_assert_msg(ok == !why, "%s", literal);
  if (ok)
    ck_assert_msg(n == want_len && memcmp(out, want, n) == 0, "%s", literal);
}

START_TEST(escapes) {
  check_unescape("'a\\n\\t\\\\\\'\\\"'", "a\n\t\\'\"", 6, true);
  check_unescape("'\\0\\101\\x41'", "\0AA", 3, true);
  check_unescape("'\\u20ac\\U0001F600'", "\xe2\x82\xac\xf0\x9f\x98\x80", 7, true);
  check_unescape("'\\q\\d'", "\\q\\d", 4, true);
  check_unescape("r'\\n'", "\\n", 2, true);
  check_unescape("b'\\xff\\u'", "\xff\\u", 3, true);
  check_unescape("'''a\r\nb'''", "a\nb", 3, true);
  check_unescape("'a\\\nb'", "ab", 2, true);
  check_unescape("f'{{}}'", "{}", 2, true);
  check_unescape("'\\x4'", "", 0, false);
  check_unescape("'\\ud800'", "", 0, false);
  check_unescape("'\\U00110000'", "", 0, false);
}
END_TEST

Suite *lexer_suite(void) {
  Suite *s = suite_create("lexer");
  TCase *t = tcase_create("lexer");
  tcase_add_test(t, operators);
  tcase_add_test(t, names_and_keywords);
  tcase_add_test(t, numbers);
  tcase_add_test(t, strings);
  tcase_add_test(t, indentation);
  tcase_add_test(t, joining);
  tcase_add_test(t, unclosed_brackets);
  tcase_add_test(t, bad_text);
  tcase_add_test(t, nesting_limit);
  tcase_add_test(t, values);
  tcase_add_test(t, escapes);
  suite_add_tcase(s, t);
  return s;
}
