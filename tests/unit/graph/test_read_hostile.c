// SPDX-License-Identifier: Apache-2.0
// No text crashes the reader of graphs or makes it slow.
#include "base/file.h"
#include "graph/ir/graph_operators.h"
#include "read_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void swallow(const char *bytes, size_t n) {
  // An exact copy, so that the sanitizer sees a read past the end.
  char *copy = malloc(n + (n == 0));
  memcpy(copy, bytes, n);
  struct graph_fixture r = graph_fixture_read("graph.py", (struct str){copy, n});
  struct strbuf out = {0};
  if (r.graph)
    graph_print(r.graph, &out);
  diag_render_text(r.diag, (struct diag_style){0}, &out);
  strbuf_finish(&out);
  graph_fixture_end(&r);
  free(copy);
}

static struct str capture(struct arena *a, const char *name) {
  struct str text;
  ck_assert_int_eq(file_read(a, arena_printf(a, "%s/%s", CAPTURES, name), SOURCE_MAX_BYTES, &text),
                   0);
  return text;
}

START_TEST(cut_off) {
  struct arena *a = arena_create();
  struct str text = capture(a, "gpt2.inductor.train.bw1.py");
  for (size_t n = 0; n < text.len; n++)
    swallow(text.ptr, n);
  text = capture(a, "gpt2.none.infer.inf1.py");
  for (size_t n = 0; n < text.len; n += 97)
    swallow(text.ptr, n);
  arena_destroy(a);
}
END_TEST

static uint64_t next(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

START_TEST(mutated) {
  static const char *const pieces[] = {"0",
                                       "-",
                                       "[",
                                       "]",
                                       "(",
                                       ")",
                                       ",",
                                       "=",
                                       "None",
                                       "\"",
                                       ";",
                                       "\n",
                                       "s0",
                                       "inf",
                                       "self",
                                       "torch.",
                                       "9223372036854775807",
                                       "** 62",
                                       "// 0",
                                       "\033[",
                                       "x[0]",
                                       "*",
                                       "        "};
  struct arena *a = arena_create();
  struct str text = capture(a, _i % 2 ? "gpt2.inductor.train.bw1.py" : "gpt2.none.train.bw2.py");
  uint64_t state = (uint64_t)_i;
  for (int round = 0; round < 60; round++) {
    struct strbuf b = {0};
    size_t from = 0;
    for (int k = (int)(next(&state) % 4) + 1; k > 0 && from < text.len; k--) {
      size_t at = from + next(&state) % (text.len - from);
      strbuf_put(&b, text.ptr + from, at - from);
      from = at + next(&state) % 8 * (next(&state) % 2);
      if (next(&state) % 4)
        strbuf_puts(&b, pieces[next(&state) % COUNT_OF(pieces)]);
      else
        strbuf_putc(&b, (char)next(&state));
    }
    if (from < text.len)
      strbuf_put(&b, text.ptr + from, text.len - from);
    swallow(b.ptr, b.len);
    strbuf_finish(&b);
  }
  arena_destroy(a);
}
END_TEST

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// What takes a second for this many lines would take hours if it were quadratic.
enum { LINES = 100000 };

static void check_time(const struct strbuf *b, bool is_good) {
  double begin = seconds();
  struct graph_fixture r = graph_fixture_read("graph.py", (struct str){b->ptr, b->len});
  if (is_good)
    read_must(&r);
  ck_assert_double_lt(seconds() - begin, 20);
  graph_fixture_end(&r);
}

START_TEST(many_lines) {
  static const struct {
    const char *line;
    bool is_good;
  } forms[] = {
      {"y%d: \"f32[8][1]cpu\" = torch.ops.aten.sin.default(y%d);  y%d = None\n", true},
      {"y%d: \"Sym(s0 + %d)\" = y%d * 1\n", false},
      {"y%d = torch.ops.aten.nope%d.default(y%d)\n", false},
      {"y%d = torch.ops.aten.neg.default(z%d, %d)\n", false},
      {"y%d = torch.ops.aten.view.default(y%d, [-1]);  z%d = None\n", true},
      {"y%d = torch.ops.aten.neg.default(y0);  z%d%d = None\n", true},
      {"y%d = torch.ops.aten.copy_.default(y0, x1);  z%d%d = None\n", true},
  };
  struct strbuf b = {0};
  strbuf_puts(
      &b,
      "class <lambda>(torch.nn.Module):\n    def forward(self, y0: \"f32[8]\", x1: \"f32[8]\"):\n");
  for (int i = 1; i <= LINES; i++) {
    char line[160];
    // The formats are the three above the array; each takes three numbers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(line, sizeof line, forms[_i].line, i, i - 1, i - 1);
#pragma GCC diagnostic pop
    strbuf_printf(&b, "        %s", line);
  }
  strbuf_printf(&b, "        return (y%d,)\n", LINES);
  check_time(&b, forms[_i].is_good);
  strbuf_finish(&b);
}
END_TEST

START_TEST(deep) {
  static const char *const opens[] = {"[", "(", "-", "neg(", "x + ", "x // ", "Max(1, "};
  for (size_t k = 0; k < COUNT_OF(opens); k++)
    for (int n = 200; n <= 200000; n *= 10) {
      struct strbuf b = {0};
      strbuf_puts(
          &b, "class G(torch.nn.Module):\n    def forward(self, x: \"Sym(s0)\"):\n        y = ");
      for (int i = 0; i < n; i++)
        strbuf_puts(&b, opens[k]);
      strbuf_puts(&b, "1\n        return y\n");
      swallow(b.ptr, b.len);
      strbuf_finish(&b);
    }
}
END_TEST

// Operators with very many results.
START_TEST(many_results) {
  struct strbuf b = {0};
  strbuf_puts(&b, "def forward(self, x: f32[65536]):\n");
  for (int i = 0; i < 200; i++)
    strbuf_printf(&b, "    y%d = torch.ops.aten.unbind.int(x)\n", i);
  strbuf_puts(&b, "    return (x,)\n");
  struct graph_fixture r = graph_fixture_read("graph.py", (struct str){b.ptr, b.len});
  ck_assert_ptr_null(r.graph);
  ck_assert_int_eq(diag_first_error_code(r.diag), E1009);
  graph_fixture_end(&r);
  strbuf_finish(&b);
}
END_TEST

// Symbolic numbers that grow from line to line end with a limit.
START_TEST(growing_sizes) {
  static const char *const steps[] = {"y%d = y%d * y%d\n", "y%d = y%d // x + y%d\n",
                                      "y%d = Max(y%d, y%d * x + 1)\n",
                                      "y%d = (y%d + x) * (y%d + z)\n"};
  for (size_t k = 0; k < COUNT_OF(steps); k++) {
    struct strbuf b = {0};
    strbuf_puts(&b, "class G(torch.nn.Module):\n    def forward(self, x: \"Sym(s0)\", z: "
                    "\"Sym(s1)\"):\n        y0 = x + z\n");
    for (int i = 1; i <= 2000; i++) {
      char line[96];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      snprintf(line, sizeof line, steps[k], i, i - 1, i - 1);
#pragma GCC diagnostic pop
      strbuf_printf(&b, "        %s", line);
    }
    strbuf_puts(&b, "        return (y2000,)\n");
    check_time(&b, false);
    strbuf_finish(&b);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("read_hostile");
  TCase *t;
  t = tcase_create("hostile");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, cut_off);
  tcase_add_loop_test(t, mutated, 0, 8);
  tcase_add_loop_test(t, many_lines, 0, 7);
  tcase_add_test(t, deep);
  tcase_add_test(t, many_results);
  tcase_add_test(t, growing_sizes);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
