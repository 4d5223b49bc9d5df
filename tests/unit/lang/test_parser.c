// SPDX-License-Identifier: Apache-2.0
// Trees of expressions and statements, their spans and literal values, errors and recovery. The
// wide coverage of forms is in tests/lang (see test_goldens.c).
#include "parsed.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>

static const struct stmt *only_stmt(const struct parsed *p) {
  ck_assert_uint_eq(p->module->function_count, 1);
  ck_assert_uint_eq(p->module->functions[0]->body.len, 1);
  return p->module->functions[0]->body.at[0];
}

static struct parsed parse_line(const char *line) {
  struct strbuf text = {0};
  strbuf_printf(&text, "def k():\n  %s\n", line);
  struct parsed p = parsed_create("t.tile", (struct str){text.ptr, text.len});
  strbuf_finish(&text);
  return p;
}

static void check_expr(const char *text, const char *want) {
  struct parsed p = parse_line(text);
  ck_assert_msg(diag_error_count(p.diag) == 0, "%s: %s", text, diag_first_error(p.diag));
  const struct stmt *s = only_stmt(&p);
  ck_assert_int_eq(s->kind, STMT_EXPR);
  struct strbuf out = {0};
  ast_print_expr(s->expr, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
  parsed_destroy(&p);
}

START_TEST(precedence) {
  check_expr("a + b * c", "(+ a (* b c))");
  check_expr("(a + b) * c", "(* (+ a b) c)");
  check_expr("-a ** -b", "(- (** a (- b)))");
  check_expr("a ** b ** c", "(** a (** b c))");
  check_expr("a - b - c", "(- (- a b) c)");
  check_expr("not a == b", "(not (== a b))");
  check_expr("a or b and c", "(or a (and b c))");
  check_expr("a | b ^ c & d << e + f", "(| a (^ b (& c (<< d (+ e f)))))");
  check_expr("a < b < c", "(compare a < b < c)");
  check_expr("(a < b) < c", "(< (< a b) c)");
  check_expr("a if b else c if d else e", "(if-else b a (if-else d c e))");
  check_expr("not a in b", "(not (in a b))");
  check_expr("a not in b", "(not in a b)");
  check_expr("a is not b", "(is not a b)");
}
END_TEST

START_TEST(values) {
  struct parsed p = parse_line("f(255, 1e3, 'a' 'b\\0', 18446744073709551616, 0.1)");
  const struct expr *call = only_stmt(&p)->expr;
  ck_assert_uint_eq(call->call.args[0].value->integer.value, 255);
  ck_assert(!call->call.args[0].value->integer.overflow);
  ck_assert_double_eq(call->call.args[1].value->floating.value, 1000.0);
  struct str s = call->call.args[2].value->string.value;
  ck_assert_uint_eq(s.len, 3);
  ck_assert(memcmp(s.ptr, "ab\0", 4) == 0);
  ck_assert(call->call.args[3].value->integer.overflow);
  ck_assert_double_eq(call->call.args[4].value->floating.value, 0.1);
  parsed_destroy(&p);
}
END_TEST

static void check_span(const struct parsed *p, struct span span, const char *want) {
  struct str text = {p->source->text.ptr + span.begin, span.end - span.begin};
  ck_assert_msg(str_is(text, want), "%.*s instead of %s", STR_ARG(text), want);
}

START_TEST(spans) {
  struct parsed p = parse_line("x.y = f(a, key=b[1:2]) + (c * d)  # comment");
  const struct stmt *s = only_stmt(&p);
  check_span(&p, s->span, "x.y = f(a, key=b[1:2]) + (c * d)");
  const struct expr *sum = s->assign.value;
  check_span(&p, sum->span, "f(a, key=b[1:2]) + (c * d)");
  check_span(&p, sum->binary.op_span, "+");
  check_span(&p, sum->binary.right->span, "c * d");
  ck_assert(sum->binary.right->in_parens);
  const struct expr *call = sum->binary.left;
  check_span(&p, call->span, "f(a, key=b[1:2])");
  check_span(&p, call->call.args[1].span, "key=b[1:2]");
  check_span(&p, call->call.args[1].name_span, "key");
  check_span(&p, call->call.args[1].value->subscript.items.at[0]->span, "1:2");
  check_span(&p, s->assign.targets.at[0]->attribute.name_span, "y");
  parsed_destroy(&p);
  p = parse_line("static_assert(n > 1, f\"{n + 1} is small\")");
  const struct expr *message = only_stmt(&p)->expr->call.args[1].value;
  check_span(&p, message->fstring.parts[0].value->span, "n + 1");
  parsed_destroy(&p);
}
END_TEST

START_TEST(headers) {
  struct parsed p = parsed_create("t.tile", STR("def k(x: ptr[f32], n=3):\n"
                                                "  \"\"\"Doc.\"\"\"\n"
                                                "  for i in range(n):\n"
                                                "    pass\n"));
  const struct ast_function *f = p.module->functions[0];
  ck_assert_uint_eq(diag_error_count(p.diag), 0);
  ck_assert(str_is(f->docstring, "Doc."));
  check_span(&p, f->span, "def k(x: ptr[f32], n=3)");
  check_span(&p, f->name_span, "k");
  check_span(&p, f->params[0].span, "x: ptr[f32]");
  check_span(&p, f->params[1].name_span, "n");
  check_span(&p, f->body.at[1]->span, "for i in range(n)");
  parsed_destroy(&p);
}
END_TEST

// Names are interned: readers may compare pointers.
START_TEST(interning) {
  struct parsed p = parse_line("abc + abc");
  const struct expr *e = only_stmt(&p)->expr;
  ck_assert_ptr_eq(e->binary.left->name, e->binary.right->name);
  parsed_destroy(&p);
}
END_TEST

static const struct {
  const char *text;
  unsigned errors;
  enum diag_code first;
} broken[] = {
    {"a = ", 1, E0102},
    {"a = b c", 1, E0114},
    {"a = (b", 1, E0103},
    {"a = [b)", 1, E0103},
    {"if a\n    b", 1, E0101},
    {"if a:\n  b", 1, E0105},
    {"    a", 0, E0101},
    {"break", 1, E0107},
    {"for i in a:\n    def f():\n      break", 1, E0107},
    {"while a:\n    pass\n  else:\n    break", 1, E0107},
    {"f(a=1, a=2)", 1, E0112},
    {"f(a=1, b)", 1, E0112},
    {"f(**a, *b)", 0, E0101},
    {"f() = 1", 1, E0108},
    {"a += 1 = 2", 1, E0106},
    {"f(a == 1):\n    b = 1\n  elif c:\n    d = 1", 1, E0114},
    {"a = f x)", 1, E0103},
    {"for i in range(3:\n    a = 1\n  b = 2", 1, E0103},
    {"f(a=1 b)", 1, E0102},
    {"lambda x, x: 1", 1, E0109},
    {"a = 0x", 1, E0004},
    {"a = 1 +\n  b = 2 *\n  c = 3 /", 3, E0102},
    {"if (a = 1):\n    b = +\n  c = +", 3, E0106},
    {"x = {1: 2, 3}", 1, E0102},
    {"x = {1, 2: 3}", 1, E0102},
    {"x = a[", 1, E0103},
    {"x = a[]", 1, E0102},
    {"x = a[1:2:3:4]", 1, E0102},
    {"return return", 1, E0102},
    {"assert", 1, E0102},
    {"import", 1, E0102},
    {"from a import", 1, E0102},
    {"with a as 1: pass", 1, E0108},
    {"x = a not b", 1, E0114},
    {"x = a + not b", 1, E0102},
    {"x: ", 1, E0102},
    {"try:\n    a\n  except E:\n    b\n  else:\n    c\n  finally:\n    d", 1, E0111},
    {"if a:\n    raise b", 0, E0111},
    {"f\"{a b}\"", 1, E0102},
    {"f\"{a:{b}}}\"", 1, E0010},
    {"@f\n  a = 1", 1, E0116},
    {"x = yield", 0, E0111},
};

START_TEST(diagnosed) {
  for (size_t i = 0; i < COUNT_OF(broken); i++) {
    struct parsed p = parse_line(broken[i].text);
    unsigned found = diag_error_count(p.diag);
    ck_assert_msg(found == broken[i].errors, "%s: %u errors, first: %s", broken[i].text, found,
                  diag_first_error(p.diag));
    if (found)
      ck_assert_msg(diag_first_error_code(p.diag) == broken[i].first, "%s: %s", broken[i].text,
                    diag_first_error(p.diag));
    ck_assert_ptr_nonnull(p.module);
    parsed_destroy(&p);
  }
}
END_TEST

// Trees deeper than AST_MAX_HEIGHT are refused, so that readers may recurse.
static unsigned errors_of_chain(const char *head, const char *link, size_t n, const char *tail) {
  struct strbuf text = {0};
  strbuf_printf(&text, "def k():\n  x = %s", head);
  for (size_t i = 0; i < n; i++)
    strbuf_puts(&text, link);
  strbuf_printf(&text, "%s\n", tail);
  struct parsed p = parsed_create("t.tile", (struct str){text.ptr, text.len});
  unsigned errors = diag_error_count(p.diag);
  if (errors) {
    ck_assert_int_eq(diag_first_error_code(p.diag), E0902);
    ck_assert_uint_eq(errors, 1);
  }
  struct strbuf out = {0};
  if (p.module) // too many brackets stop the lexer already
    ast_print(p.module, &out);
  strbuf_finish(&out);
  strbuf_finish(&text);
  parsed_destroy(&p);
  return errors;
}

START_TEST(depth) {
  ck_assert_uint_eq(errors_of_chain("a", " + a", AST_MAX_HEIGHT, ""), 0);
  ck_assert_uint_eq(errors_of_chain("a", " + a", AST_MAX_HEIGHT + 1, ""), 1);
  ck_assert_uint_eq(errors_of_chain("a", ".b", AST_MAX_HEIGHT + 1, ""), 1);
  ck_assert_uint_eq(errors_of_chain("a", "()", AST_MAX_HEIGHT + 1, ""), 1);
  ck_assert_uint_eq(errors_of_chain("a", "[0]", AST_MAX_HEIGHT + 1, ""), 1);
  ck_assert_uint_eq(errors_of_chain("", "-", 500, "a"), 0);
  ck_assert_uint_eq(errors_of_chain("", "-", 100000, "a"), 1);
  ck_assert_uint_eq(errors_of_chain("", "not ", 100000, "a"), 1);
  ck_assert_uint_eq(errors_of_chain("", "a ** ", 100000, "a"), 1);
  ck_assert_uint_eq(errors_of_chain("", "lambda: ", 100000, "a"), 1);
  ck_assert_uint_eq(errors_of_chain("", "a if a else ", 100000, "a"), 1);
  ck_assert_uint_eq(errors_of_chain("", "(", 100000, "a"), 1);
  ck_assert_uint_eq(errors_of_chain("a", ", a", 100000, ""), 0);
  ck_assert_uint_eq(errors_of_chain("a", " and a", AST_MAX_HEIGHT - 1, ""), 0);
  ck_assert_uint_eq(errors_of_chain("a", " and a", 100000, ""), 1);
  ck_assert_uint_eq(errors_of_chain("a", " < a", AST_MAX_HEIGHT - 1, ""), 0);
  ck_assert_uint_eq(errors_of_chain("a", " < a", 100000, ""), 1);
}
END_TEST

START_TEST(branches) {
  for (unsigned n = 255; n <= 400; n += 145) {
    struct strbuf text = {0};
    strbuf_puts(&text, "def k():\n  if a: pass\n");
    for (unsigned i = 0; i < n; i++)
      strbuf_puts(&text, "  elif a: pass\n");
    struct parsed p = parsed_create("t.tile", (struct str){text.ptr, text.len});
    ck_assert_uint_eq(diag_error_count(p.diag), n > 256);
    parsed_destroy(&p);
    strbuf_finish(&text);
  }
}
END_TEST

Suite *parser_suite(void) {
  Suite *s = suite_create("parser");
  TCase *t = tcase_create("parser");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, precedence);
  tcase_add_test(t, values);
  tcase_add_test(t, spans);
  tcase_add_test(t, headers);
  tcase_add_test(t, interning);
  tcase_add_test(t, diagnosed);
  tcase_add_test(t, depth);
  tcase_add_test(t, branches);
  suite_add_tcase(s, t);
  return s;
}
