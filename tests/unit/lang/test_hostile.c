// SPDX-License-Identifier: Apache-2.0
// No text may crash the front end, or make it slow: programs cut off at each byte, with each
// token removed, doubled or exchanged, with random bytes in it, and pure noise. What matters is
// that parsing ends, under the sanitizers, and that a broken file always has an error or a tree.
#include "base/file.h"
#include "lang/syntax/lexer.h"
#include "parsed.h"
#include "suites.h"

#include <time.h>

static const char *const programs[] = {"expressions", "statements", "host", "recovery"};

static struct str program(struct arena *a, int i) {
  struct str text;
  const char *path = arena_printf(a, "%s/lang/%s.tile", TESTS_DIR, programs[i]);
  ck_assert_int_eq(file_read(a, path, SOURCE_MAX_BYTES, &text), 0);
  return text;
}

// Parses, and calls every query of the tree.
static void swallow(struct str text) {
  struct parsed p = parsed_create("t.tile", text);
  struct strbuf out = {0};
  if (p.module) {
    const char *name;
    struct lang_param *params;
    size_t n;
    ast_print(p.module, &out);
    for (size_t i = 0; i < p.module->kernel_count && i < 4; i++)
      lang_kernel_params(p.arena, p.diag, p.unit, p.module->kernel_names[i], &name, &params, &n);
  } else {
    ck_assert_uint_gt(diag_error_count(p.diag), 0);
  }
  diag_render_text(p.diag, (struct diag_style){0}, &out);
  strbuf_finish(&out);
  parsed_destroy(&p);
}

START_TEST(cut_off) {
  struct arena *a = arena_create();
  struct str text = program(a, _i);
  for (size_t n = 0; n < text.len; n++) {
    // An exact copy, so that the sanitizer sees a read past the end.
    struct arena *copy = arena_create();
    swallow((struct str){arena_dup(copy, text.ptr, n + (n == 0), 1), n});
    arena_destroy(copy);
  }
  arena_destroy(a);
}
END_TEST

static struct token_list tokens_of(struct arena *a, struct str text) {
  struct diag_engine *diag = diag_engine_create(a);
  struct source *s = source_create(a, "t.tile", text);
  struct token_list tokens;
  ck_assert(lexer_run(a, diag, s, &tokens));
  return tokens;
}

START_TEST(changed_tokens) {
  struct arena *a = arena_create();
  struct str text = program(a, _i);
  struct token_list tokens = tokens_of(a, text);
  struct strbuf changed = {0};
  for (size_t i = 0; i < tokens.len; i++) {
    struct token t = tokens.at[i], other = tokens.at[(i * 7919 + 13) % tokens.len];
    for (int kind = 0; kind < 3; kind++) {
      strbuf_clear(&changed);
      strbuf_put(&changed, text.ptr, t.begin);
      if (kind == 1) // exchanged
        strbuf_put(&changed, text.ptr + other.begin, other.end - other.begin);
      if (kind == 2) // doubled
        strbuf_put(&changed, text.ptr + t.begin, t.end - t.begin);
      strbuf_put(&changed, text.ptr + (kind == 2 ? t.begin : t.end),
                 text.len - (kind == 2 ? t.begin : t.end));
      swallow((struct str){changed.ptr, changed.len});
    }
  }
  strbuf_finish(&changed);
  arena_destroy(a);
}
END_TEST

static uint64_t next_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

START_TEST(changed_bytes) {
  static const char alphabet[] = "()[]{}'\"\\\n\r\t #:,;=+-*/%&|^~<>!@.fFrRbB0x1e_\xc3\xff";
  struct arena *a = arena_create();
  struct str text = program(a, _i);
  for (uint64_t seed = 1; seed <= 500; seed++) {
    uint64_t state = seed;
    struct arena *copy = arena_create();
    char *bytes = arena_dup(copy, text.ptr, text.len, 1);
    for (unsigned i = 0; i < 1 + seed % 20; i++)
      bytes[next_random(&state) % text.len] = alphabet[next_random(&state) % (sizeof alphabet - 1)];
    swallow((struct str){bytes, text.len});
    arena_destroy(copy);
  }
  arena_destroy(a);
}
END_TEST

START_TEST(noise) {
  static const char *const words[] = {
      "def ",   "if ",     "for ",   "in ",    "else",   ":",      "\n",
      "\n  ",   "\n    ",  "(",      ")",      "[",      "]",      "{",
      "}",      ",",       "=",      "==",     "+",      "-",      "*",
      "**",     "@",       "jit",    "x",      "1",      "1.5",    "'s'",
      "f'{",    "}'",      "'''",    "\\\n",   "lambda", "not ",   "is ",
      "async ", "...",     "->",     ":=",     ";",      "with",   "try",
      "#",      "\t",      "import", "from",   "as ",    "match ", "f\"{x!r:{y}}\"",
      "class ", "return ", "elif ",  "while ", "break",  "$",      "?"};
  struct strbuf text = {0};
  for (uint64_t seed = 1; seed <= 2000; seed++) {
    uint64_t state = seed * 77;
    strbuf_clear(&text);
    strbuf_puts(&text, seed % 2 ? "def k(x):\n  " : "");
    for (unsigned i = 0; i < 200; i++)
      strbuf_puts(&text, words[next_random(&state) % COUNT_OF(words)]);
    swallow((struct str){text.ptr, text.len});
  }
  strbuf_finish(&text);
}
END_TEST

// Repetitions that make careless lexers and parsers quadratic or worse. 400 kB each.
START_TEST(large) {
  static const char *const bombs[] = {"(\n",
                                      "f'{",
                                      "f\"{f'{",
                                      "'",
                                      "a(\nb\n",
                                      "if a:\n",
                                      "@a\n",
                                      "lambda:",
                                      "a if ",
                                      "x = (\n",
                                      "def f():",
                                      "[(",
                                      "\"\"\"",
                                      "f'''{'''",
                                      "\\\n",
                                      "a\n b\n",
                                      "elif a: pass\n",
                                      "f'{a!r:{b}}' ",
                                      "x = [i for i in x]\n",
                                      "else:\n",
                                      "\xe2\x80\x9c",
                                      "a.b",
                                      "a, ",
                                      "1_",
                                      "def f(\n",
                                      "x = f(\n  a,\n",
                                      ")",
                                      "try:\n",
                                      "# c\n",
                                      "if a:",
                                      "x(a=1, "};
  struct strbuf text = {0};
  for (size_t i = 0; i < COUNT_OF(bombs); i++) {
    strbuf_clear(&text);
    strbuf_puts(&text, i % 2 ? "def k(x):\n  " : "");
    while (text.len < 400000)
      strbuf_puts(&text, bombs[i]);
    clock_t before = clock();
    swallow((struct str){text.ptr, text.len});
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    ck_assert_msg(seconds < 20, "%s takes %.1f s", bombs[i], seconds);
  }
  strbuf_finish(&text);
}
END_TEST

Suite *hostile_suite(void) {
  Suite *s = suite_create("hostile");
  TCase *t = tcase_create("hostile");
  tcase_set_timeout(t, 600);
  tcase_add_loop_test(t, cut_off, 0, (int)COUNT_OF(programs));
  tcase_add_loop_test(t, changed_tokens, 0, (int)COUNT_OF(programs));
  tcase_add_loop_test(t, changed_bytes, 0, (int)COUNT_OF(programs));
  tcase_add_test(t, noise);
  tcase_add_test(t, large);
  suite_add_tcase(s, t);
  return s;
}
