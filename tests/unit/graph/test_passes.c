// SPDX-License-Identifier: Apache-2.0
// Passes do not change results: each operator by itself, small graphs, captured ones. The text of
// simplified masks, views and constants is compared.
#include "base/file.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/decompose.h"
#include "graph/passes/passes.h"
#include "graph/read/fx.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"
#include "graph_fixture.h"
#include "tests/sample.h"

#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- running graphs ----

struct run {
  struct tensor **inputs, **outputs;
  size_t input_count, output_count;
};

static void interpret(const struct graph *g, const int64_t *symbols, struct run *r,
                      const char *name) {
  struct interpret_options options = {.seed = 7};
  r->output_count = g->outputs.len + g->mutations.len;
  r->outputs = calloc(r->output_count + 1, sizeof(struct tensor *));
  bool ok = graph_interpret(g, &options, symbols, r->inputs, r->outputs);
  graph_fixture_require(g->diag, ok, name);
}

static void free_tensors(struct tensor **at, size_t count) {
  for (size_t i = 0; i < count; i++)
    tensor_destroy(at[i]);
  free(at);
}

static bool agree(double a, double b) {
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  return !(a < b || a > b) || fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void compare(const struct tensor *have, const struct tensor *want, size_t output,
                    const char *name) {
  ck_assert_msg(!have == !want, "%s: output %zu is there in one only", name, output);
  if (!have)
    return;
  ck_assert_msg(have->dtype == want->dtype && have->rank == want->rank,
                "%s: output %zu has another type", name, output);
  for (uint32_t i = 0; i < have->rank; i++)
    ck_assert_msg(have->shape[i] == want->shape[i], "%s: output %zu has another shape", name,
                  output);
  bool is_real = dtype_is_float(have->dtype);
  for (int64_t i = 0; i < have->numel; i++) {
    double a = is_real ? have->at[i].real : (double)have->at[i].integer;
    double b = is_real ? want->at[i].real : (double)want->at[i].integer;
    if (!agree(a, b)) // an assertion that holds is a write to a file, too
      ck_abort_msg("%s: output %zu, element %lld: %.17g for %.17g", name, output, (long long)i, a,
                   b);
  }
}

static void same_results(const struct graph *after, const struct run *want, const int64_t *symbols,
                         const char *name) {
  struct run have = {.inputs = want->inputs};
  interpret(after, symbols, &have, name);
  ck_assert_uint_eq(have.output_count, want->output_count);
  for (size_t i = 0; i < want->output_count; i++)
    compare(have.outputs[i], want->outputs[i], i, name);
  free_tensors(have.outputs, have.output_count);
}

static void same_interface(const struct graph *a, const struct graph *b, const char *name) {
  ck_assert_uint_eq(a->inputs.len, b->inputs.len);
  ck_assert_uint_eq(a->outputs.len, b->outputs.len);
  ck_assert_uint_eq(a->mutations.len, b->mutations.len);
  for (size_t i = 0; i < a->outputs.len; i++) {
    const struct value *x = a->outputs.at[i], *y = b->outputs.at[i];
    ck_assert_msg(!x == !y, "%s", name);
    for (uint32_t k = 0; x && k < x->rank; k++)
      ck_assert_msg(x->strides[k] == y->strides[k] || expr_is(x->shape[k], 1),
                    "%s: output %zu lies otherwise", name, i);
  }
}

static void only_primitives(const struct graph *g, bool keeps_attention, const char *name) {
  for (size_t i = 0; i < g->nodes.len; i++) {
    enum operator_id op = g->nodes.at[i]->op;
    ck_assert_msg(operator_is_primitive(op), "%s: %s is left", name, operator_row(op)->name);
    ck_assert_msg(keeps_attention || op != OP_TILE_ATTENTION, "%s: attention is left", name);
  }
}

static void verified(struct graph *g, const char *name) {
  ck_assert_ptr_nonnull(g);
  graph_fixture_require(g->diag, graph_verify(g), name);
}

// Number of nodes at the end. What runs long runs only when both passes are through.
static size_t check_passes(struct graph *g, const int64_t *symbols, bool is_long,
                           const char *name) {
  struct run want = {.input_count = g->inputs.len};
  want.inputs = calloc(want.input_count + 1, sizeof(struct tensor *));
  ck_assert(graph_make_inputs(g, symbols, 3, want.inputs));
  interpret(g, symbols, &want, name);
  size_t left = 0;
  for (int keeps = 0; keeps < 2; keeps++) {
    struct graph *after = graph_decompose(g, keeps, false);
    graph_fixture_require(g->diag, after != NULL, name);
    verified(after, name);
    only_primitives(after, keeps, name);
    same_interface(g, after, name);
    if (!is_long)
      same_results(after, &want, symbols, name);
    after = graph_simplify(after);
    graph_fixture_require(g->diag, after != NULL, name);
    verified(after, name);
    only_primitives(after, keeps, name);
    same_interface(g, after, name);
    same_results(after, &want, symbols, name);
    left = after->nodes.len;
    ck_assert_msg(graph_simplify(after)->nodes.len == left, "%s: once more is simpler", name);
  }
  free_tensors(want.inputs, want.input_count);
  free_tensors(want.outputs, want.output_count);
  return left;
}

static struct graph *read_graph(struct arena *a, const char *text, const char *name) {
  return graph_fixture_in(a, name, str_from(text));
}

// ---- one operator each ----

struct operator_case {
  const char *parameters, *call;
  int results; // 0: one that is not a tuple
};

#define X "x: \"f32[4, 6]\""
#define XY X ", y: \"f32[4, 6]\""
#define H "x: \"bf16[4, 6]\""
#define I "x: \"i64[4, 6]\""
#define IMAGE "x: \"f32[2, 4, 7, 9]\""
#define QKV "q: \"f32[2, 4, 5, 8]\", k: \"f32[2, 4, 7, 8]\", v: \"f32[2, 4, 7, 6]\""

#include "passes_cases.h"

START_TEST(operators) {
  const struct operator_case *c = &cases[_i];
  struct strbuf text = {0};
  strbuf_printf(&text,
                "class M(torch.nn.Module):\n    def forward(self, %s):\n        r = torch.ops.%s\n "
                "       return (",
                c->parameters, c->call);
  for (int i = 0; i < c->results; i++)
    strbuf_printf(&text, "r[%d], ", i);
  strbuf_puts(&text, c->results ? ")\n" : "r,)\n");
  struct arena *a = arena_create();
  struct graph *g = read_graph(a, strbuf_cstr(&text), c->call);
  check_passes(g, NULL, false, c->call);
  strbuf_finish(&text);
  arena_destroy(a);
}
END_TEST

// Every row has its lowering, and every one that is written out a case.
START_TEST(every_operator) {
  bool is_seen[OPERATOR_COUNT] = {false};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct str name;
    str_split(str_from(cases[i].call), '(', &name);
    enum operator_id id;
    ck_assert_msg(operator_find(name, &id), "%.*s", STR_ARG(name));
    is_seen[id] = true;
  }
  for (int id = 0; id < OPERATOR_COUNT; id++) {
    ck_assert_msg(operator_has_lowering((enum operator_id)id), "%s has no row in lowering.def",
                  operator_row((enum operator_id)id)->name);
    bool wants_case = !operator_is_primitive((enum operator_id)id) && id != OP_COPY_;
    ck_assert_msg(is_seen[id] || !wants_case, "%s has no case",
                  operator_row((enum operator_id)id)->name);
  }
}
END_TEST

// ---- small graphs as text ----

struct text_case {
  const char *name, *before, *after; // bodies; those after without annotations
};

#include "passes_texts.h"

// The text of a graph's body, annotations left out.
static void body_of(const struct graph *g, struct strbuf *out) {
  struct strbuf all = {0};
  graph_print(g, &all);
  const char *at = strbuf_cstr(&all);
  for (int i = 0; i < 2 && at; i++) { // class, def
    at = strchr(at, '\n');
    at = at ? at + 1 : NULL;
  }
  while (at && *at) {
    const char *end = strchr(at, '\n'), *type = strstr(at, ": \""), *kills = strstr(at, ";  ");
    size_t length = end ? (size_t)(end - at) : strlen(at);
    while (length && *at == ' ')
      at++, length--;
    if (kills && kills < at + length)
      length = (size_t)(kills - at);
    if (type && type < at + length && strstr(type, "\" =")) {
      const char *rest = strstr(type, "\" =") + 1;
      strbuf_put(out, at, (size_t)(type - at));
      strbuf_put(out, rest, (size_t)(at + length - rest));
    } else
      strbuf_put(out, at, length);
    if (length)
      strbuf_putc(out, '\n');
    at = end ? end + 1 : NULL;
  }
  strbuf_finish(&all);
}

START_TEST(simplified_texts) {
  const struct text_case *c = &texts[_i];
  struct strbuf text = {0}, body = {0};
  strbuf_printf(&text, "class M(torch.nn.Module):\n    def forward(self, %s", c->before);
  struct arena *a = arena_create();
  struct graph *g = read_graph(a, strbuf_cstr(&text), c->name);
  const int64_t symbols[] = {5, 3};
  ck_assert_uint_le(g->symbols.len, 2);
  check_passes(g, symbols, false, c->name);
  g = graph_simplify(graph_decompose(g, KEEPS_ATTENTION, false));
  body_of(g, &body);
  ck_assert_msg(strcmp(strbuf_cstr(&body), c->after) == 0, "%s gives:\n%s", c->name,
                strbuf_cstr(&body));
  strbuf_finish(&text);
  strbuf_finish(&body);
  arena_destroy(a);
}
END_TEST

// ---- captured graphs ----

static void check_capture(const char *folder, const char *file) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  struct arena *a = arena_create();
  struct str text;
  ck_assert_msg(file_read(a, path, 1 << 24, &text) == 0, "%s", path);
  struct graph *g = graph_fixture_in(a, file, text);
  size_t left = check_passes(g, NULL, true, file);
  if (getenv("TILE_TEST_PRINT"))
    printf("# %s: %zu nodes, then %zu\n", file, g->nodes.len, left);
  arena_destroy(a);
}

static void check_folder(const char *folder) {
  const char *only = getenv("TILE_TEST_GRAPH"); // part of a name
  DIR *d = opendir(folder);
  ck_assert_msg(d != NULL, "%s", folder);
  unsigned step = only ? 1 : sample_step(), seen = 0;
  for (struct dirent *e; (e = readdir(d));)
    if (str_ends(str_from(e->d_name), ".py") && (!only || strstr(e->d_name, only)) &&
        seen++ % step == 0)
      check_capture(folder, e->d_name);
  closedir(d);
}

START_TEST(captures) {
  const char *folder = getenv("TILE_GRAPHS");
  check_folder(folder ? folder : CAPTURES);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("graph passes");
  TCase *t = tcase_create("operators");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, every_operator);
  tcase_add_loop_test(t, operators, 0, sizeof cases / sizeof *cases);
  suite_add_tcase(suite, t);
  t = tcase_create("simplified texts");
  tcase_add_loop_test(t, simplified_texts, 0, sizeof texts / sizeof *texts);
  suite_add_tcase(suite, t);
  t = tcase_create("captures");
  tcase_set_timeout(t, 3600);
  tcase_add_test(t, captures);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
